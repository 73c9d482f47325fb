package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/heartbeat"
	"standin/store"
)

// heartbeatVerb is `standin heartbeat`: what agents do without being spoken to.
func (w world) heartbeatVerb() *verb {
	return w.group("heartbeat", "What agents look after by themselves, and when.",
		w.heartbeatStatusVerb(), w.heartbeatRunVerb(), w.heartbeatSwitchVerb(false), w.heartbeatSwitchVerb(true))
}

// beatFlags name the agent that a verb is about.
type beatFlags struct {
	questionFlags
	Agent string
}

func (f *beatFlags) bind(v *verb, help string) {
	f.questionFlags.bind(v)
	v.Flags().Var(text{&f.Agent, "ID"}, "agent", help)
}

// agents are the one that is named, or those that have a heartbeat.
func (f beatFlags) agents(c *config.Compiled) ([]fallback.AgentID, error) {
	if f.Agent == "" {
		return c.Heartbeats.Agents, nil
	}
	a := fallback.AgentID(f.Agent)
	if _, known := c.Bot.Agents[a]; !known {
		return nil, exit{exitUsage, fmt.Sprintf("there is no agent %q; the config has: %s", f.Agent, strings.Join(agentIDs(c), ", "))}
	}
	return []fallback.AgentID{a}, nil
}

func agentIDs(c *config.Compiled) (ids []string) {
	for a := range c.Bot.Agents {
		ids = append(ids, string(a))
	}
	slices.Sort(ids)
	return ids
}

// one is the agent that is named, or the default one.
func (f beatFlags) one(c *config.Compiled) (fallback.AgentID, error) {
	if f.Agent == "" {
		return c.Fallback.DefaultAgent, nil
	}
	list, err := f.agents(c)
	if err != nil {
		return "", err
	}
	return list[0], nil
}

// previews reads what beats would do now, beside a running daemon.
func (q *inquiry) previews(ctx context.Context, agents []fallback.AgentID) (list []heartbeat.Preview, err error) {
	if q.db == nil {
		return nil, nil
	}
	r := &heartbeat.Runner{
		Settings: func() *heartbeat.Settings { return q.config.Heartbeats },
		Engine:   &fallback.Runner{Selections: q.db, Credentials: q.credentials, Now: func() time.Time { return q.now }},
		Rows:     lookedAt{q.db}, ReadFile: os.ReadFile, Log: quietLog(), Now: func() time.Time { return q.now },
		Model: q.channelModel, Known: q.hasAccount,
	}
	for _, a := range agents {
		p, err := r.Preview(ctx, a)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

type heartbeatStatusCmd struct{ beatFlags }

func (w world) heartbeatStatusVerb() *verb {
	var c heartbeatStatusCmd
	v := w.verb(&c, "status", "Say when agents look after things, what came of the last time, and which models they ask.")
	c.bind(v, "Only this agent.")
	return v
}

// Run reads config and state; it needs no daemon.
func (c heartbeatStatusCmd) Run(w world) error { return c.run(w, time.Now()) }

func (c heartbeatStatusCmd) run(w world, now time.Time) error {
	q, err := c.open(w, now)
	if err != nil {
		return err
	}
	defer q.close()
	agents, err := c.agents(q.config)
	if err != nil {
		return err
	}
	looks, err := q.previews(w.ctx, agents)
	if err != nil {
		return err
	}
	list := []beatStatus{}
	for i, a := range agents {
		s := beatStatusOf(q.config, a, now)
		if i < len(looks) {
			s.look(looks[i], now)
		}
		list = append(list, s)
	}
	if c.JSON {
		return printJSON(w, list)
	}
	for _, s := range list {
		s.print(w.stdout, now)
	}
	return nil
}

type heartbeatRunCmd struct {
	beatFlags
	Dry  bool
	Live bool
}

func (w world) heartbeatRunVerb() *verb {
	var c heartbeatRunCmd
	v := w.verb(&c, "run", "Have the running daemon run a heartbeat now, whatever the schedule says.")
	c.bind(v, "Agent (default: the one that answers where none is named).")
	v.Flags().BoolVar(&c.Dry, "dry-run", false, "Only show what it would do: no request, no post, the schedule stays.")
	v.Flags().BoolVar(&c.Live, "live", false, "With --dry-run: ask the model all the same and print its answer; nothing is posted or kept.")
	return v
}

// Run asks the daemon, or looks by itself with --dry-run. It exits with 1 when
// no model answered.
func (c heartbeatRunCmd) Run(w world) error {
	if c.Live && !c.Dry {
		return misuse{"--live goes with --dry-run; without it the heartbeat runs in earnest"}
	}
	q, err := c.open(w, time.Now())
	if err != nil {
		return err
	}
	defer q.close()
	a, err := c.one(q.config)
	if err != nil {
		return err
	}
	if c.Dry {
		if err := c.dry(w, q, a); err != nil || !c.Live {
			return err
		}
	}
	rep, err := daemon.RunBeat(w.ctx, c.dir(w), a, c.Dry)
	if err != nil {
		return exit{exitUsage, fmt.Sprintf("no daemon answers for %s, and a heartbeat runs in it: %v; start it with standin serve, or look with --dry-run", c.dir(w), err)}
	}
	if c.JSON {
		if err := printJSON(w, rep); err != nil {
			return err
		}
	} else {
		printBeat(w.stdout, rep)
	}
	if rep.Status == heartbeat.Failed {
		return exit{code: exitFault}
	}
	return nil
}

type heartbeatSwitchCmd struct {
	beatFlags
	off bool
}

func (w world) heartbeatSwitchVerb(off bool) *verb {
	c := heartbeatSwitchCmd{off: off}
	name, help := "enable", "Let the schedule run again."
	if off {
		name, help = "disable", "Stop the schedule until it is enabled again, also over restarts. The config stays as it is."
	}
	v := w.verb(&c, name, help)
	c.bind(v, "Only this agent (default: all that have a heartbeat).")
	return v
}

// Run writes the switch beside the daemon, which reads it with each beat.
func (c heartbeatSwitchCmd) Run(w world) error {
	q, err := c.open(w, time.Now())
	if err != nil {
		return err
	}
	defer q.close()
	agents, err := c.agents(q.config)
	if err != nil {
		return err
	}
	db, err := store.OpenBeside(w.ctx, c.options(w))
	if err != nil {
		return exit{exitUsage, "state: " + err.Error()}
	}
	defer db.Close()
	for _, a := range agents {
		if err := db.SwitchHeartbeat(w.ctx, a, c.off); err != nil {
			return err
		}
		switch h := q.config.Heartbeats.For(a); {
		case c.off:
			fmt.Fprintf(w.stdout, "%s: the heartbeat is off until standin heartbeat enable.\n", a)
		case h.Every <= 0:
			fmt.Fprintf(w.stdout, "%s: the heartbeat is not switched off, but has no interval: set agents.defaults.heartbeat.every in the config, such as 30m.\n", a)
		default:
			fmt.Fprintf(w.stdout, "%s: the heartbeat runs every %s.\n", a, heartbeat.Span(h.Every))
		}
	}
	return nil
}

// systemVerb is `standin system` [H23].
func (w world) systemVerb() *verb {
	return w.group("system", "Tell agents of things that happened.", w.systemEventVerb())
}

type systemEventCmd struct {
	beatFlags
	Text string
	Mode string
}

func (w world) systemEventVerb() *verb {
	var c systemEventCmd
	v := w.verb(&c, "event", "Have an agent told of something that happened, at once or with its next heartbeat or message.")
	c.bind(v, "Agent (default: the one that answers where none is named).")
	v.Flags().Var(text{&c.Text, "TEXT"}, "text", "What happened, in a line.")
	v.Flags().Var(text{&c.Mode, "now|next-heartbeat"}, "mode", "now: a heartbeat tells it at once; next-heartbeat: the next one does (default).")
	return v
}

// Run writes the event beside the daemon and wakes it when it is to tell it now.
func (c systemEventCmd) Run(w world) error {
	line := strings.Join(strings.Fields(c.Text), " ")
	mode := cmp.Or(c.Mode, "next-heartbeat")
	switch {
	case line == "":
		return misuse{`--text is missing: say what happened, such as --text "the backup has failed"`}
	case mode != "now" && mode != "next-heartbeat":
		return misuse{fmt.Sprintf("--mode is now or next-heartbeat, not %q", mode)}
	}
	q, err := c.open(w, time.Now())
	if err != nil {
		return err
	}
	defer q.close()
	a, err := c.one(q.config)
	if err != nil {
		return err
	}
	db, err := store.OpenBeside(w.ctx, c.options(w))
	if err != nil {
		return exit{exitUsage, "state: " + err.Error()}
	}
	defer db.Close()
	session := q.config.Heartbeats.For(a).BaseSession(a)
	e := bot.SystemEvent{Session: session, Key: "wake:" + strings.ToLower(rand.Text()[:12]), Text: line, At: time.Now()}
	if err := db.Note(w.ctx, e); err != nil {
		return err
	}
	if mode == "now" {
		if err := daemon.WakeBeat(w.ctx, c.dir(w), a); err != nil {
			fmt.Fprintf(w.stdout, "It is kept for %s. No daemon answers for %s, so it is told with the first heartbeat or message after standin serve has started.\n", a, c.dir(w))
			return nil
		}
		fmt.Fprintf(w.stdout, "%s is told now.\n", a)
		return nil
	}
	if h := q.config.Heartbeats.For(a); h.Every <= 0 {
		fmt.Fprintf(w.stdout, "It is kept for %s, whose heartbeat is off: it is told with the next message, or at once with --mode now.\n", a)
		return nil
	}
	fmt.Fprintf(w.stdout, "It is kept for %s, who is told with the next heartbeat or message.\n", a)
	return nil
}

// lookedAt is a store that is only read: it has no seed to make.
type lookedAt struct{ *store.DB }

// HeartbeatSeed gives the seed that the daemon has made, "" before its first start.
func (l lookedAt) HeartbeatSeed(ctx context.Context) (string, error) {
	seed, err := l.DB.HeartbeatSeed(ctx)
	if errors.Is(err, store.ErrReadOnly) {
		return "", nil
	}
	return seed, err
}
