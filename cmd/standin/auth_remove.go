package main

import (
	"fmt"
	"strings"

	"standin/fallback"
)

type authRemoveCmd struct {
	authFlags
	Profile string
}

func (w world) authRemoveVerb() *verb {
	var c authRemoveCmd
	v := w.verb(&c, "remove", "Remove a stored credential with its rests; its record stays.", profileArgument(&c.Profile))
	c.bind(v)
	return v
}

// Run forgets one credential and its windows.
func (c authRemoveCmd) Run(w world) error {
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	id, by := fallback.ProfileID(c.Profile), d.deed(w, "")
	found, err := d.RemoveCredential(w.ctx, d.agent, id, by)
	if err != nil {
		return err
	}
	if !found {
		return c.refuse(w, d)
	}
	by.Profile, by.Provider, by.What = id, id.Provider(), fallback.DeedRemove
	return c.done(w, by, true, fmt.Sprintf("Removed %s. It is still good at %s: revoke it there if nobody else uses it.", id, id.Provider()))
}

// refuse says why there is nothing to remove.
func (c authRemoveCmd) refuse(w world, d *desk) error {
	for _, p := range d.named {
		if string(p.ID) != c.Profile {
			continue
		}
		where := "the config"
		if strings.HasPrefix(p.Origin, "$") {
			where = "the variable " + p.Origin[1:]
		}
		return exit{exitFault, fmt.Sprintf("%s is not stored: it comes from %s, and goes when that does. standin auth disable %s keeps it from being used", c.Profile, where, c.Profile)}
	}
	if d.agent != "main" {
		return exit{exitFault, fmt.Sprintf("there is no stored credential %s of agent %s itself; standin auth list shows what it uses, --agent main is where others' come from", c.Profile, d.agent)}
	}
	return d.unknown(w, c.Profile)
}
