package main

import (
	"fmt"

	"standin/bot"
	"standin/fallback"
)

type authShowCmd struct {
	authFlags
	Profile string
}

func (w world) authShowVerb() *verb {
	var c authShowCmd
	v := w.verb(&c, "show", "Tell all of one credential but its secret: rests, failures, turn, sessions, and who changed it.", profileArgument(&c.Profile))
	c.bind(v)
	return v
}

// shownDeeds is how far back the record is told.
const shownDeeds = 20

// Run tells it.
func (c authShowCmd) Run(w world) error {
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.close()
	s, found, err := bot.OneCredential(w.ctx, d, d.config, d.agent, fallback.ProfileID(c.Profile), shownDeeds, d.now)
	if err != nil {
		return err
	}
	if !found {
		return d.unknown(w, c.Profile)
	}
	if c.JSON {
		return printLine(w, s)
	}
	fmt.Fprintln(w.stdout, bot.SayCredential(s, d.now))
	return nil
}
