package main

import (
	"errors"
	"fmt"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/store"
)

type authSealCmd struct {
	authFlags
	undo bool
}

func (w world) authSealVerb() *verb {
	var c authSealCmd
	v := w.verb(&c, "seal", "Encrypt the stored secrets as auth.encryption says; makes the key file when there is none. The daemon must be stopped.")
	c.place(v)
	return v
}

func (w world) authUnsealVerb() *verb {
	c := authSealCmd{undo: true}
	v := w.verb(&c, "unseal", "Keep the stored secrets unencrypted again. The daemon must be stopped.")
	c.place(v)
	return v
}

// Run rewrites all secrets.
func (c authSealCmd) Run(w world) error {
	path, _ := config.Find(c.Config, c.dir(w), w.getenv)
	var kept config.Encryption
	if path != "" {
		var faults []config.Fault
		if kept, faults = (config.Reader{Getenv: w.getenv}).Encryption(path); config.Broken(faults) {
			config.PrintFaults(w.stderr, faults)
			return exit{exitUsage, fmt.Sprintf("%s does not say how credentials are kept; mend the lines above", path)}
		}
	}
	s := store.Sealing(kept)
	if !s.On() {
		return exit{exitUsage, "the config names no key: write auth: {encryption: {keyFile: credentials.key}} into it first, or passphraseEnv in place of keyFile"}
	}
	to, o := s, c.options(w)
	o.Sealing = s
	if c.undo {
		to = store.Sealing{}
	}
	by := fallback.Deed{At: time.Now(), Who: whoami(w), Via: "command line"}
	did, err := store.Reseal(w.ctx, o, to, by)
	var locked *store.LockedError
	switch {
	case errors.As(err, &locked):
		return exit{exitUsage, "a daemon runs on this state and holds the key of before: stop it, run this again, start it. " + err.Error()}
	case err != nil:
		return exit{exitFault, err.Error()}
	}
	by.What = fallback.DeedSeal
	line := fmt.Sprintf("%d secrets are sealed now.", did.Secrets)
	if c.undo {
		by.What = fallback.DeedUnseal
		line = fmt.Sprintf("%d secrets lie unsealed now. Take auth.encryption out of the config, or the next ones are sealed again.", did.Secrets)
	} else if did.MadeKey {
		line = fmt.Sprintf("Made the key file %s: keep a copy away from this machine's backups. Without it the stored secrets are lost.\n%s", s.KeyFile, line)
	}
	c.Agent = "" // of all agents
	return c.done(w, by, did.Secrets > 0, line)
}
