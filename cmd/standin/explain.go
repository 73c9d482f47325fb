package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/store"
)

// explainCmd is `standin explain`: what a message would do now. It reads config
// and state beside a running daemon, asks no vendor and writes nothing.
type explainCmd struct {
	questionFlags
	Agent     string
	Session   string
	Heartbeat string
	Model     string
	Fallbacks *string
	Simulate  string
}

func (w world) explainVerb() *verb {
	var c explainCmd
	v := w.verb(&c, "explain", "Say what a message would do now: which models, which credentials, and why. Asks nobody, changes nothing.")
	c.bind(v)
	f := v.Flags()
	f.Var(text{&c.Agent, "ID"}, "agent", "Agent (default: the session's, else the one that answers where none is named).")
	f.Var(text{&c.Session, "KEY"}, "session", "Session, as /status shows it (default: the agent's direct chats).")
	f.Var(text{&c.Heartbeat, "AGENT"}, "heartbeat", "A heartbeat of this agent instead of a message.")
	f.Var(text{&c.Model, "MODEL"}, "model", "A job with this payload.model instead of a message; with --heartbeat: heartbeat.model.")
	f.Var(given{&c.Fallbacks, "A,B"}, "fallbacks", "The job's payload.fallbacks: models with commas between them, or none for a strict run.")
	f.Var(text{&c.Simulate, "SPEC"}, "simulate", "Let vendors fail and show what would follow: openai/*=429,anthropic/x=timeout,openai/gpt-5.5@openai:work=401")
	return v
}

// questionFlags are common to the verbs that look and change nothing.
type questionFlags struct {
	Config string
	stateFlag
	JSON bool
}

func (f *questionFlags) bind(v *verb) {
	v.Flags().VarP(text{&f.Config, "FILE"}, "config", "c", configHelp)
	f.stateFlag.bind(v)
	v.Flags().BoolVar(&f.JSON, "json", false, "One JSON document.")
}

// Run prints the explanation.
func (c explainCmd) Run(w world) error { return c.run(w, time.Now()) }

func (c explainCmd) run(w world, now time.Time) error {
	var effects simulation
	if c.Simulate != "" {
		var err error
		if effects, err = parseSimulation(c.Simulate); err != nil {
			return exit{exitUsage, "--simulate: " + err.Error()}
		}
	}
	q, err := c.open(w, now)
	if err != nil {
		return err
	}
	defer q.close()
	about, err := c.question(w.ctx, q)
	if err != nil {
		return err
	}
	e, err := about.explain(w.ctx)
	if err != nil {
		return err
	}
	if c.Simulate != "" {
		if e.Simulation, err = about.simulate(w.ctx, effects); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(w, e)
	}
	e.print(w.stdout, now)
	return nil
}

func printJSON(w world, v any) error {
	enc := json.NewEncoder(w.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// inquiry is a config and a state folder that are looked at.
type inquiry struct {
	config      *config.Compiled
	db          *store.DB // nil: no daemon has run here yet
	credentials *store.Credentials
	now         time.Time
}

// open reads the config and opens the state for reading. What cannot be used is
// an error for the person, told.
func (f questionFlags) open(w world, now time.Time) (*inquiry, error) {
	path, tried := config.Find(f.Config, f.dir(w), w.getenv)
	if path == "" {
		fmt.Fprint(w.stderr, config.NoneFound(tried))
		return nil, exit{code: exitUsage}
	}
	dir := f.dir(w)
	stored := store.ReadCredentials(store.Options{Dir: dir}, nil)
	defer stored.Close()
	conf, faults := config.Reader{Getenv: w.getenv, Stored: idsOf(w.ctx, stored)}.Load(path)
	if conf == nil {
		config.PrintFaults(w.stderr, faults)
		return nil, exit{exitUsage, fmt.Sprintf("%s cannot be used; mend the lines above (standin check tells when it is right)", path)}
	}
	q := &inquiry{now: now, config: conf, credentials: store.ReadCredentials(store.Options{Dir: dir, Sealing: store.Sealing(conf.Encryption)}, conf.Profiles)}
	if _, err := os.Stat(filepath.Join(dir, "standin.sqlite")); errors.Is(err, fs.ErrNotExist) {
		return q, nil // at most credentials have been stored there
	}
	var err error
	if q.db, err = store.OpenReadOnly(w.ctx, store.Options{Dir: dir}); err != nil {
		q.close()
		return nil, exit{exitUsage, "state: " + err.Error()}
	}
	return q, nil
}

// idsOf gives the ids of a provider's stored credentials, none when they cannot
// be read.
func idsOf(ctx context.Context, stored *store.Credentials) func(provider string) []string {
	return func(provider string) []string {
		ids, err := stored.IDs(ctx, store.MainAgent, provider)
		if err != nil {
			return nil
		}
		names := []string{}
		for _, id := range ids {
			names = append(names, string(id))
		}
		return names
	}
}

func (q *inquiry) close() {
	if q.db != nil {
		_ = q.db.Close()
	}
	_ = q.credentials.Close()
}

// question is a run that has not been made, with what is stored of its session.
type question struct {
	*inquiry
	ask   fallback.Ask
	known bool // the session is stored
	own   fallback.Selection
	row   fallback.Selection // what the run goes by: the session's own or its parent's (3.8)
	steps []fallback.Step    // of the session, newest first
	deeds []fallback.Deed    // done to credentials by hand, newest first
}

// question puts the flags together with what is stored.
func (c explainCmd) question(ctx context.Context, q *inquiry) (*question, error) {
	f := q.config.Fallback
	about := &question{inquiry: q, ask: fallback.Ask{Run: "explain", Kind: fallback.Chat, Config: f, NewSession: true}}
	if c.Heartbeat != "" {
		if c.Agent != "" && c.Agent != c.Heartbeat {
			return nil, exit{exitUsage, "--agent and --heartbeat name two agents"}
		}
		c.Agent, about.ask.Kind = c.Heartbeat, fallback.Heartbeat
	}
	var err error
	if about.ask.Session, about.ask.Agent, err = q.session(c.Session, c.Agent); err != nil {
		return nil, err
	}
	if about.ask.Kind == fallback.Heartbeat {
		h := q.config.Heartbeats.For(about.ask.Agent)
		about.ask.Model, about.ask.Fallbacks, about.ask.Listed = h.Model, h.Fallbacks, h.Listed
	}
	if c.Model != "" || c.Fallbacks != nil {
		if err := c.payload(&about.ask); err != nil {
			return nil, err
		}
		if c.Session == "" && about.ask.Kind == fallback.Cron {
			about.ask.Session = fallback.SessionID("agent:" + string(about.ask.Agent) + ":cron") // a job has its own
		}
	}
	if q.db == nil {
		return about, nil
	}
	sess, err := q.db.Session(ctx, about.ask.Session)
	if err != nil {
		return nil, err
	}
	about.known = sess.Epoch != ""
	about.ask.Compactions, about.ask.NewSession = sess.Compactions, sess.Turns == 0
	if about.own, err = q.db.Selection(ctx, about.ask.Session); err != nil {
		return nil, err
	}
	about.row, about.ask.Parent = about.own, sess.ParentOf()
	if about.inherits() {
		parent, err := q.db.Selection(ctx, about.ask.Parent)
		if err != nil {
			return nil, err
		}
		about.row.Model, about.row.Source, about.row.Origin = parent.Model, parent.Source, parent.Origin
	}
	if about.deeds, err = q.credentials.Deeds(ctx, about.ask.Agent, store.DeedFilter{Limit: bot.PastDeeds}); err != nil {
		return nil, err
	}
	about.steps, err = daemon.Past{DB: q.db}.Steps(ctx, about.ask.Session, bot.PastSteps)
	return about, err
}

// from is the session whose choice the run goes by, "" for its own or none.
func (q *question) from() fallback.SessionID {
	if q.inherits() && !q.row.Model.IsZero() {
		return q.ask.Parent
	}
	return ""
}

// inherits tells whether the run goes by the choice of its parent, such as a
// thread's room [T4].
func (q *question) inherits() bool {
	return q.own.Model.IsZero() && q.ask.Parent != "" && q.ask.Kind != fallback.Cron
}

// session finds the session and its agent: each may be left out, and a session
// may be named without its agent, as in "main".
func (q *inquiry) session(key, agent string) (fallback.SessionID, fallback.AgentID, error) {
	key = strings.ToLower(strings.TrimSpace(key))
	named, full := strings.CutPrefix(key, "agent:")
	owner, _, _ := strings.Cut(named, ":")
	switch {
	case full && agent != "" && owner != agent:
		return "", "", exit{exitUsage, fmt.Sprintf("session %s is agent %s's, not %s's", key, owner, agent)}
	case full:
		agent = owner
	case agent == "":
		agent = string(q.config.Fallback.DefaultAgent)
	}
	if _, known := q.config.Bot.Agents[fallback.AgentID(agent)]; !known {
		var ids []string
		for _, id := range slices.Sorted(maps.Keys(q.config.Bot.Agents)) {
			ids = append(ids, string(id))
		}
		return "", "", exit{exitUsage, fmt.Sprintf("there is no agent %q; the config has: %s", agent, strings.Join(ids, ", "))}
	}
	if !full {
		key = "agent:" + agent + ":" + cmp.Or(key, "main")
	}
	return fallback.SessionID(key), fallback.AgentID(agent), nil
}

// payload reads --model and --fallbacks into a job's or a heartbeat's ask.
func (c explainCmd) payload(ask *fallback.Ask) error {
	if ask.Kind == fallback.Chat {
		ask.Kind = fallback.Cron
	}
	resolve := func(flag, ref string) (fallback.Model, fallback.ProfileID, error) {
		m, p, err := ask.Config.ResolveRef(ref)
		if err != nil {
			err = exit{exitUsage, flag + " " + err.Error()}
		}
		return m, p, err
	}
	var err error
	if c.Model != "" {
		if ask.Model, ask.Profile, err = resolve("--model", c.Model); err != nil {
			return err
		}
	}
	if c.Fallbacks == nil {
		return nil
	}
	ask.Listed = true
	if s := strings.TrimSpace(*c.Fallbacks); s == "" || s == "none" {
		return nil
	}
	for _, ref := range strings.Split(*c.Fallbacks, ",") {
		m, _, err := resolve("--fallbacks", ref)
		if err != nil {
			return err
		}
		ask.Fallbacks = append(ask.Fallbacks, m)
	}
	return nil
}

// story is what the record says of the session.
func (q *question) story(plan fallback.Plan) bot.Story {
	return bot.Tell(bot.About{Session: q.ask.Session, Selection: q.row, From: q.from(), Plan: plan, Notices: q.config.Bot.Notices, Deeds: q.deeds}, q.steps)
}
