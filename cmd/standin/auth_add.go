package main

import (
	"fmt"
	"strings"

	"standin/channels/console"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/store"
)

type authAddCmd struct {
	authFlags
	Provider string
	ID       string
	Env      string
}

func (w world) authAddVerb() *verb {
	var c authAddCmd
	v := w.verb(&c, "add", "Store an API key, typed unseen or piped in; several keys of one provider are used in turn.",
		argument{name: "provider", help: "Provider id, such as openai.", to: &c.Provider})
	c.bind(v)
	v.Flags().Var(text{&c.ID, "NAME"}, "id", "Name of the credential, such as work for openai:work (default: default).")
	v.Flags().Var(text{&c.Env, "NAME"}, "env", "Take the key from this environment variable. Never an argument: those end up in shell history.")
	return v
}

// Run stores one key.
func (c authAddCmd) Run(w world) error {
	id, err := profileID(c.Provider, c.ID)
	if err != nil {
		return err
	}
	key := w.getenv(c.Env)
	if c.Env == "" {
		if key, err = console.ReadSecret(w.ctx, w.stdin, w.stderr, "API key of "+id.Provider()+" (not shown): "); err != nil {
			return exit{exitUsage, "the key could not be read: " + err.Error()}
		}
	}
	switch {
	case key == "" && c.Env != "":
		return exit{exitUsage, fmt.Sprintf("the variable %s is not set, or empty; nothing was stored", c.Env)}
	case key == "" || !config.Printable(key):
		return exit{exitUsage, "no key given, or one with spaces or line breaks in it; nothing was stored"}
	}
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	by := d.deed(w, "")
	replaced, err := d.AddCredential(w.ctx, d.agent, store.NewAPIKey(id, key), by)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("Stored %s. A running daemon uses it from its next call on.", id)
	by.What = fallback.DeedAdd
	if replaced {
		line = fmt.Sprintf("Replaced %s: the key of before is gone, and its rests with it. A running daemon uses the new one from its next call on.", id)
		by.What = fallback.DeedReplace
	}
	if states, err := d.Usage(w.ctx, d.agent, id.Provider()); err == nil && !states[id].SwitchedOff.IsZero() {
		line += fmt.Sprintf(" It is still switched off; standin auth enable %s switches it on.", id)
	}
	if twin := d.twin(w, id, key); twin != "" {
		line += fmt.Sprintf(" It is the same key as %s, so the two fail together: one of them is enough.", twin)
	}
	by.Profile, by.Provider = id, id.Provider()
	return c.done(w, by, true, line)
}

// twin gives another credential of the provider that has the same key, "" for none.
func (d *desk) twin(w world, id fallback.ProfileID, key string) fallback.ProfileID {
	all, err := d.Profiles(w.ctx, d.agent, id.Provider())
	if err != nil {
		return "" // it is stored all the same
	}
	for _, p := range all {
		if p.ID != id && p.Key.Reveal() == key {
			return p.ID
		}
	}
	return ""
}

// profileID makes the id of a new credential from what was typed.
func profileID(vendor, name string) (fallback.ProfileID, error) {
	typed := name
	if vendor = fallback.NormalProvider(vendor); vendor == "" || strings.ContainsAny(vendor, ":/ ") {
		return "", exit{exitUsage, fmt.Sprintf("%q is no provider id; it looks like openai", vendor)}
	}
	if name = strings.TrimPrefix(name, vendor+":"); name == "" {
		name = "default"
	}
	if strings.ContainsAny(name, ":/") || !config.Printable(name) {
		return "", exit{exitUsage, fmt.Sprintf("%q cannot name a credential; it looks like work", typed)}
	}
	return fallback.ProfileID(vendor + ":" + name), nil
}
