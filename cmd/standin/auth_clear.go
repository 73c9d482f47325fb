package main

import (
	"standin/bot"
	"standin/fallback"
)

type authClearCmd struct {
	authFlags
	Profile string
}

func (w world) authClearVerb() *verb {
	var c authClearCmd
	v := w.verb(&c, "clear", "End the rests of a credential and forget its failures, when their cause is mended.", profileArgument(&c.Profile))
	c.bind(v)
	return v
}

// Run ends its windows [IL-094].
func (c authClearCmd) Run(w world) error {
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	id, by := fallback.ProfileID(c.Profile), d.deed(w, "")
	was, known, err := d.Clear(w.ctx, d.agent, id, by)
	if err != nil {
		return err
	}
	if !known {
		return d.unknown(w, c.Profile)
	}
	by.Profile, by.Provider, by.What = id, id.Provider(), fallback.DeedClear
	_, rested := was.Blocking("", d.now)
	return c.done(w, by, rested || was.Errors > 0, bot.SayCleared(id, was, d.now))
}
