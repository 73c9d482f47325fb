package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/cmd/standin/rehearsal"
	"standin/fallback"
	"standin/fallback/provider"
)

// simulationResult is a run that was played, not made.
type simulationResult struct {
	Spec     []string   `json:"spec"`
	Warnings []string   `json:"warnings,omitempty"`
	Steps    []playStep `json:"steps"`
	Answered string     `json:"answeredBy,omitempty"`
	Notice   string     `json:"notice,omitempty"`
	Failure  string     `json:"failure,omitempty"`
	// Silent says why the room would not read Notice or Failure.
	Silent string `json:"silent,omitempty"`
}

// simulate plays the run with the real engine. What it would write stays in
// memory; the vendors are the simulation's; time is the engine's own and moves
// only when a vendor hangs.
func (q *question) simulate(ctx context.Context, effects simulation) (*simulationResult, error) {
	clock := &playClock{now: q.now}
	notes := &playedSteps{}
	runner := &fallback.Runner{
		Selections:  &draftSelections{q: q, row: q.own},
		Credentials: &draftCredentials{stored: q.credentials, usage: map[fallback.ProfileID]fallback.Usage{}},
		Vendors:     playedVendors{effects, clock},
		Journal:     notes,
		Log:         slog.New(slog.DiscardHandler),
		Now:         clock.Now,
		Sleep:       func(_ context.Context, d time.Duration) error { clock.pass(d); return nil },
	}
	ask := q.ask
	ask.Run = "simulation"
	ask.Messages = []provider.Message{{Role: provider.User, Text: "hello"}}
	out, err := runner.Run(ctx, ask)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := &simulationResult{Spec: effects.spec, Steps: []playStep{}}
	r.Warnings = q.unmet(effects, runner, ask)
	for _, s := range notes.all {
		if one, ok := playedStep(s, r.Steps); ok {
			r.Steps = append(r.Steps, one)
		}
	}
	r.ending(q, out, err, clock.now)
	return r, nil
}

// ending says who answered and what people would read.
func (r *simulationResult) ending(q *question, out *fallback.Outcome, err error, now time.Time) {
	if err != nil {
		line, rooms := bot.FailureLine(err, now)
		r.Failure = line
		switch {
		case q.ask.Kind != fallback.Chat:
			r.Silent = "it goes to whoever watches the run, not into a room"
		case !rooms && !bot.IsDirect(q.ask.Session):
			r.Silent = "rooms are spared lines that help nobody"
		}
		return
	}
	r.Answered = out.Used.String()
	if out.Settle == nil || out.Settle.Quiet {
		return
	}
	r.Notice = out.Notice
	if !bot.Shown(q.config.Bot.Notices, q.ask.Session) {
		r.Silent = "messages.fallbackNotices: " + string(q.config.Bot.Notices)
	}
}

// unmet warns of patterns that concern no candidate of the run.
func (q *question) unmet(effects simulation, runner *fallback.Runner, ask fallback.Ask) (warnings []string) {
	chain := fallback.Chain(ask.Config, fallback.Resolve(ask, q.row, !ask.NoProbe))
	for _, p := range effects.rules {
		met := slices.ContainsFunc(chain, func(m fallback.Model) bool {
			if p.profile == "" {
				return p.matches(m, "")
			}
			known, _ := runner.Credentials.Profiles(context.Background(), ask.Agent, m.Provider)
			return p.matches(m, p.profile) && slices.ContainsFunc(known, func(one fallback.Profile) bool { return one.ID == p.profile })
		})
		if !met {
			warnings = append(warnings, fmt.Sprintf("%s concerns none of the models and credentials of this run (%s)", p.text, config.ChainText(chain, ", ")))
		}
	}
	return warnings
}

// playClock is the time of a played run.
type playClock struct{ now time.Time }

func (c *playClock) Now() time.Time       { return c.now }
func (c *playClock) pass(d time.Duration) { c.now = c.now.Add(max(d, 0)) }

// playedVendors answer as the simulation says, with the rehearsals' own words
// for it, and make no request.
type playedVendors struct {
	effects simulation
	clock   *playClock
}

// Call implements provider.Caller.
func (v playedVendors) Call(_ context.Context, c provider.Call) (*provider.Reply, error) {
	m := fallback.Model{Provider: c.Endpoint.Provider, Name: c.Model}
	reply, took, err := rehearsal.Answer(v.effects.effectOf(m, fallback.ProfileID(c.Profile)), &c, v.clock.now)
	v.clock.pass(took)
	return reply, err
}

// playedSteps collects what the engine records.
type playedSteps struct {
	mu  sync.Mutex
	all []fallback.Step
}

// Record implements fallback.Journal.
func (p *playedSteps) Record(_ context.Context, s fallback.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, s)
}

// draftSelections is the session's row, written on a copy.
type draftSelections struct {
	q   *question
	row fallback.Selection
}

// Selection gives the copy; of another session, what is stored.
func (d *draftSelections) Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error) {
	if s != d.q.ask.Session && d.q.db != nil {
		return d.q.db.Selection(ctx, s)
	}
	return d.row, nil
}

// Swap writes the copy, under the condition of the store's own Swap.
func (d *draftSelections) Swap(_ context.Context, _ fallback.SessionID, was, now fallback.Selection) (bool, error) {
	if d.row.Model != was.Model || d.row.Source != was.Source {
		return false, nil
	}
	d.row = now
	return true, nil
}

// Keep writes the copy's pin.
func (d *draftSelections) Keep(_ context.Context, _ fallback.SessionID, was fallback.Selection, pin fallback.Pin) (bool, error) {
	if d.row.Model != was.Model || d.row.Source != was.Source {
		return false, nil
	}
	d.row.Pin = pin
	return true, nil
}

// Consume clears the copy's flag.
func (d *draftSelections) Consume(context.Context, fallback.SessionID) error {
	d.row.Pending = false
	return nil
}

// draftCredentials reads the stored credentials and keeps changes of their
// routing state to itself.
type draftCredentials struct {
	stored fallback.Credentials
	usage  map[fallback.ProfileID]fallback.Usage // as the run has changed it
}

// Profiles gives the stored ones.
func (d *draftCredentials) Profiles(ctx context.Context, a fallback.AgentID, provider string) ([]fallback.Profile, error) {
	return d.stored.Profiles(ctx, a, provider)
}

// Usage gives the stored state with the run's own changes.
func (d *draftCredentials) Usage(ctx context.Context, a fallback.AgentID, provider string) (map[fallback.ProfileID]fallback.Usage, error) {
	all, err := d.stored.Usage(ctx, a, provider)
	if err != nil {
		return nil, err
	}
	for id := range all {
		if u, changed := d.usage[id]; changed {
			all[id] = u
		}
	}
	for id, u := range d.usage {
		if id.Provider() == fallback.NormalProvider(provider) {
			all[id] = u
		}
	}
	return all, nil
}

// Update changes the copy.
func (d *draftCredentials) Update(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, change func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	all, err := d.Usage(ctx, a, p.Provider())
	if err != nil {
		return was, now, err
	}
	was = all[p]
	now = change(was)
	d.usage[p] = now
	return was, now, nil
}
