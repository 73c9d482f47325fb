package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/bot/operator"
	"standin/cmd/standin/daemon"
	"standin/cmd/standin/rehearsal"
	"standin/fallback"
)

// oracle plays outages and explains runs for the operator's page, by the config
// that the daemon runs with. It implements operator.Oracle.
type oracle struct {
	app    *daemon.App
	path   string // of the config file, for rehearsals: they read it anew
	getenv func(string) string
}

// Explain says what a message would do now.
func (o oracle) Explain(ctx context.Context, ask operator.Question) (json.RawMessage, error) {
	conf := o.app.Config()
	q := &inquiry{config: conf, db: o.app.DB, credentials: o.app.DB.Credentials(conf.Profiles), now: time.Now()}
	c := explainCmd{Session: ask.Session, Agent: ask.Agent, Model: ask.Model}
	var effects simulation
	if ask.Simulate != "" {
		var err error
		if effects, err = parseSimulation(ask.Simulate); err != nil {
			return nil, &operator.Wrong{Says: "simulate: " + err.Error()}
		}
	}
	about, err := c.question(ctx, q)
	var misused exit
	if errors.As(err, &misused) {
		return nil, &operator.Wrong{Says: misused.line}
	}
	if err != nil {
		return nil, err
	}
	e, err := about.explain(ctx)
	if err == nil && ask.Simulate != "" {
		e.Simulation, err = about.simulate(ctx, effects)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// Outages lists what can be rehearsed.
func (o oracle) Outages() (list []operator.Outage) {
	for _, one := range drills {
		list = append(list, one.Outage)
	}
	return list
}

// Rehearse plays one against the chain of an agent.
func (o oracle) Rehearse(ctx context.Context, id string, a fallback.AgentID) (out operator.Rehearsed, err error) {
	began := time.Now()
	at := slices.IndexFunc(drills, func(one drill) bool { return one.ID == id })
	if at < 0 {
		var ids []string
		for _, one := range drills {
			ids = append(ids, one.ID)
		}
		return out, &operator.Wrong{Says: fmt.Sprintf("there is no outage %q; there are %s", id, strings.Join(ids, ", "))}
	}
	conf := o.app.Config().Fallback
	chain := fallback.Chain(conf, fallback.Resolve(fallback.Ask{Agent: a, Kind: fallback.Chat, Config: conf, NewSession: true}, fallback.Selection{}, false))
	if len(chain) == 0 {
		return out, &operator.Wrong{Says: fmt.Sprintf("agent %s has no models", a)}
	}
	out = operator.Rehearsed{Outage: id, Agent: string(a), Chain: []string{}, Steps: []operator.RehearsalStep{}}
	for _, m := range chain {
		out.Chain = append(out.Chain, m.String())
	}
	session := "agent:" + string(a) + ":main"
	script, err := json.Marshal(drills[at].script(chain, session))
	if err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "standin-outage-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "outage.json") // JSON is YAML
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return out, err
	}
	var events, faults bytes.Buffer
	verdict := rehearsal.Play(ctx, rehearsal.Script{File: file, Config: o.path, Getenv: o.getenv, JSON: true, Out: &events, Err: &faults})
	if verdict == rehearsal.Unusable {
		return out, &operator.Wrong{Says: "it could not be played: " + strings.TrimSpace(strings.ReplaceAll(faults.String(), dir+string(filepath.Separator), ""))}
	}
	if out.Steps, err = storyOf(&events, drills[at].says); err != nil {
		return out, err
	}
	out.TookMs = time.Since(began).Milliseconds()
	return out, nil
}

// script is the outage as a script.
func (o drill) script(chain []fallback.Model, session string) map[string]any {
	var steps []map[string]any
	for i, at := range o.says {
		steps = append(steps, map[string]any{"at": at, "say": said(i), "session": session})
	}
	return map[string]any{"title": o.Title, "vendors": o.vendors(chain), "script": steps}
}

// said is what somebody writes as the i-th message.
func said(i int) string { return fmt.Sprintf("Question %d", i+1) }

// storyOf reads the events of a rehearsal, with the messages that they answer.
func storyOf(events *bytes.Buffer, says []string) ([]operator.RehearsalStep, error) {
	steps := []operator.RehearsalStep{}
	due := 0
	saying := func(until time.Duration) {
		for ; due < len(says); due++ {
			at, _ := time.ParseDuration(says[due]) // ours
			if at > until {
				return
			}
			facts, _ := json.Marshal(map[string]string{"at": says[due], "event": "say", "text": said(due)})
			steps = append(steps, operator.RehearsalStep{AtMs: at.Milliseconds(), Event: "say", Text: said(due), Facts: facts})
		}
	}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var e playedEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("an event of the rehearsal: %w", err)
		}
		if e.Event == "decision" || e.Event == "end" {
			continue // the other events say the same
		}
		at, err := time.ParseDuration(e.At)
		if err != nil {
			return nil, fmt.Errorf("an event of the rehearsal: %w", err)
		}
		saying(at)
		steps = append(steps, operator.RehearsalStep{AtMs: at.Milliseconds(), Event: e.Event, Model: e.Model, Credential: e.Profile, Reason: e.Reason, Text: e.text(), Facts: slices.Clone(lines.Bytes())})
	}
	saying(1 << 62)
	return steps, lines.Err()
}

// playedEvent is what a sentence about an event of a rehearsal is made of.
type playedEvent struct {
	At, Event, Model, Profile, Reason, Outcome, Why, Probe, Act, Until, Text, Source, Origin string
	Status                                                                                   int
}

func (e playedEvent) text() string {
	with := ""
	if e.Profile != "" {
		with = " with " + e.Profile
	}
	switch e.Event {
	case "attempt":
		if e.Probe == string(fallback.PrimaryProbe) {
			with += " (looking whether it is back)"
		}
		if e.Outcome == "ok" {
			return e.Model + with + " answers"
		}
		status := ""
		if e.Status != 0 {
			status = fmt.Sprintf(", HTTP %d", e.Status)
		}
		return fmt.Sprintf("%s%s fails: %s%s", e.Model, with, bot.Word(fallback.Reason(e.Reason)), status)
	case "skip":
		return e.Model + " is passed over, no request is made: " + bot.PassedOver(fallback.SkipWhy(e.Why), fallback.Reason(e.Reason))
	case "cooldown", "disabled", "blocked":
		only := ""
		if e.Model != "" {
			only = ", for " + e.Model + " only"
		}
		return fmt.Sprintf("%s rests until %s after the beginning (%s%s)", e.Profile, e.Until, bot.Word(fallback.Reason(e.Reason)), only)
	case "override":
		switch {
		case e.Act == "rollback":
			return "it did not answer: the session goes back to " + cmp.Or(e.Model, "the configured model")
		case e.Model == "":
			return "the session is free again: the configured model answers"
		}
		return "the session moves to " + e.Model
	}
	return cmp.Or(e.Text, e.Why, e.Event)
}
