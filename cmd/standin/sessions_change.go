package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/store"
)

// sessionChange is what the verbs that change sessions have in common.
type sessionChange struct {
	stateFlag
	Config  string
	Session string
}

func (f *sessionChange) bind(v *verb) {
	f.stateFlag.bind(v)
	v.Flags().VarP(text{&f.Config, "FILE"}, "config", "c", configHelp)
}

// act has the running daemon do it, or does it as the state folder's owner.
func (f sessionChange) act(w world, act daemon.SessionAct, ask daemon.SessionAsk) error {
	ask.Key = sessionKey(f.Session)
	dir := f.dir(w)
	err := askDaemon(w.ctx, dir, http.MethodPost, "/sessions/"+string(act), ask, nil)
	if !errors.Is(err, errNoDaemon) {
		return faulty(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "standin.sqlite")); errors.Is(err, fs.ErrNotExist) {
		return exit{exitFault, fmt.Sprintf("there are no sessions: no daemon has kept its state in %s", dir)}
	}
	conf, err := f.settings(w, ask.Model != nil)
	if err != nil {
		return err
	}
	db, err := store.Open(w.ctx, store.Options{Dir: dir, Sealing: store.Sealing(conf.Encryption)})
	if err != nil {
		return exit{exitUsage, "state: " + err.Error()}
	}
	desk := bot.Desk(bot.Options{
		Config: func() *bot.Config { return conf.Bot }, Store: db, Credentials: db.Credentials(conf.Profiles), Journal: db.Journal(),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Sleep: daemon.Sleep,
	})
	err = daemon.ActOnSession(w.ctx, desk, db, act, ask, time.Now())
	if closed := db.Close(); err == nil {
		err = closed
	}
	return faulty(err)
}

// faulty is an error for people, told as it is.
func faulty(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return exit{exitFault, err.Error()}
}

// settings reads the config; needed says that it cannot be done without.
func (f sessionChange) settings(w world, needed bool) (*config.Compiled, error) {
	path, tried := config.Find(f.Config, f.dir(w), w.getenv)
	switch {
	case path == "" && needed:
		fmt.Fprint(w.stderr, config.NoneFound(tried))
		return nil, exit{code: exitUsage}
	case path == "":
		b := bot.Defaults()
		b.Fallback = &fallback.Config{DefaultAgent: "main"}
		return &config.Compiled{Bot: &b, Fallback: b.Fallback}, nil
	}
	conf, faults := config.Load(path, w.getenv)
	if conf == nil {
		config.PrintFaults(w.stderr, faults)
		return nil, exit{exitUsage, fmt.Sprintf("%s cannot be used, so nothing was changed; mend the lines above", path)}
	}
	return conf, nil
}

type sessionsPatchCmd struct {
	sessionChange
	Model, Send, Queue                       *string
	Think, Verbose, Usage, Activation, Label *string
}

func (w world) sessionsPatchVerb() *verb {
	var c sessionsPatchCmd
	v := w.verb(&c, "patch", "Change settings of a session. What is not named stays.", sessionArgument(&c.Session))
	c.bind(v)
	f := v.Flags()
	f.Var(given{&c.Model, "MODEL"}, "model", "Its model, as /model takes it: an alias or provider/model, with @profile; default: the config's.")
	f.Var(given{&c.Think, "LEVEL"}, "think", "How much models think: off, minimal, low, medium, high, xhigh, max, or default.")
	f.Var(given{&c.Verbose, "LEVEL"}, "verbose", "Whether tools are told: off, on, full, or default.")
	f.Var(given{&c.Usage, "LEVEL"}, "usage", "What answers tell of what they took: off, tokens, full, cost.")
	f.Var(given{&c.Activation, "WORD"}, "activation", "What a room's session answers to: mention, always, or default.")
	f.Var(given{&c.Send, "WORD"}, "send", "Whether its answers are posted: on, off, or inherit.")
	f.Var(given{&c.Queue, "MODE"}, "queue", "What becomes of messages that wait, as /queue takes it, or default.")
	f.Var(given{&c.Label, "TEXT"}, "label", "What you call it; empty for nothing.")
	return v
}

// Run changes it.
func (c sessionsPatchCmd) Run(w world) error {
	ask := daemon.SessionAsk{Model: c.Model, Send: c.Send, Queue: c.Queue}
	for _, one := range []struct {
		name  bot.SettingName
		value *string
	}{{bot.SetThink, c.Think}, {bot.SetVerbose, c.Verbose}, {bot.SetUsage, c.Usage}, {bot.SetActivation, c.Activation}, {bot.SetLabel, c.Label}} {
		if one.value != nil {
			ask.Set = append(ask.Set, bot.Setting{Name: one.name, Value: *one.value})
		}
	}
	if ask.Model == nil && ask.Send == nil && ask.Queue == nil && ask.Set == nil {
		return misuse{"nothing is to be changed: name what, such as --model or --think"}
	}
	if err := c.act(w, daemon.PatchSession, ask); err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "%s is changed, from its next message on.\n", sessionKey(c.Session))
	return nil
}

type sessionsActCmd struct {
	sessionChange
	act string
}

func (w world) sessionsActVerb(act, help string) *verb {
	c := sessionsActCmd{act: act}
	v := w.verb(&c, act, help, sessionArgument(&c.Session))
	c.bind(v)
	return v
}

// Run does it.
func (c sessionsActCmd) Run(w world) error {
	if err := c.sessionChange.act(w, daemon.SessionAct(c.act), daemon.SessionAsk{}); err != nil {
		return err
	}
	done := "begins anew with its next message"
	if c.act == string(daemon.DeleteSession) {
		done = "is deleted"
	}
	fmt.Fprintf(w.stdout, "%s %s.\n", sessionKey(c.Session), done)
	return nil
}
