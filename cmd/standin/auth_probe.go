package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"standin/bot"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
)

type authProbeCmd struct {
	authFlags
	Profile string
	Model   string
	Yes     bool
}

func (w world) authProbeVerb() *verb {
	var c authProbeCmd
	v := w.verb(&c, "probe", "Try a credential with one tiny real request, and say in words what came of it.", profileArgument(&c.Profile))
	c.bind(v)
	v.Flags().Var(text{&c.Model, "MODEL"}, "model", "Model to ask (default: the first configured one that the credential serves).")
	v.Flags().BoolVar(&c.Yes, "yes", false, "Do not ask before the request is made.")
	return v
}

// Run asks, and makes the request.
func (c authProbeCmd) Run(w world) error {
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.close()
	t := fallback.Trial{Run: strings.ToLower(ulid.Make().String()), Agent: d.agent, Profile: fallback.ProfileID(c.Profile), Config: d.config}
	if c.Model != "" {
		if t.Model, _, err = d.config.ResolveRef(c.Model); err != nil {
			return exit{exitUsage, "--model " + err.Error()}
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	logins := &auth.Refresher{Store: d.Credentials, Log: quiet, Now: time.Now,
		Vendor: func(id string) (auth.Vendor, bool) { v, ok := d.logins[id]; return v, ok }}
	defer logins.Close()
	r := &fallback.Runner{Credentials: d, Vendors: provider.New(provider.Options{Log: quiet}), Logins: logins, Journal: nobody{},
		Log: quiet, Now: time.Now, Sleep: daemon.Sleep}
	m, p, err := r.Trial(w.ctx, t)
	if err != nil {
		return exit{exitFault, err.Error()}
	}
	if !c.Yes {
		fmt.Fprintf(w.stderr, "%s\nGo on? [y/N] ", bot.SayProbe(m, p))
		if !agrees(w) {
			return exit{exitUsage, "no request was made; --yes makes it without asking"}
		}
	}
	proof, err := r.Try(w.ctx, t)
	if err != nil {
		return exit{exitFault, err.Error()}
	}
	by := d.deed(w, bot.SayProofShort(proof))
	by.Profile, by.Provider, by.What = t.Profile, t.Profile.Provider(), fallback.DeedProbe
	if err := d.Note(w.ctx, d.agent, by); err != nil {
		return err
	}
	if err := c.print(w, by, proof); err != nil {
		return err
	}
	if !proof.Attempt.OK {
		return exit{code: exitFault}
	}
	return nil
}

func (c authProbeCmd) print(w world, by fallback.Deed, proof fallback.Proof) error {
	line := bot.SayProof(by.Profile, proof, time.Now())
	if !c.JSON {
		fmt.Fprintln(w.stdout, line)
		return nil
	}
	a := proof.Attempt
	return printLine(w, struct {
		fallback.Deed
		Agent  string `json:"agent"`
		Model  string `json:"model"`
		OK     bool   `json:"ok"`
		Reason string `json:"reason,omitempty"` // of failover.md 4.1
		Status int    `json:"status,omitempty"`
		Millis int64  `json:"tookMs"`
		Tokens int64  `json:"tokens,omitempty"`
		Says   string `json:"says"`
	}{by, c.Agent, a.Model.String(), a.OK, string(a.Reason), a.Status, a.Took.Milliseconds(), a.Tokens.Input + a.Tokens.Output, line})
}

// agrees reads a yes.
func agrees(w world) bool {
	line, _ := bufio.NewReader(w.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

// nobody is a journal that no one reads: a probe belongs to no session.
type nobody struct{}

// Record forgets the step.
func (nobody) Record(context.Context, fallback.Step) {}
