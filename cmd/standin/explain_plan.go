package main

import (
	"context"
	"fmt"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/fallback"
)

// explanation is what a run would do now, for people and as --json. The names
// are stable.
type explanation struct {
	At      time.Time `json:"at"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Run     string    `json:"run"`    // chat, cron or heartbeat
	Stored  bool      `json:"stored"` // the session exists

	Selected string `json:"selected"` // what is meant to answer
	Default  string `json:"default"`  // what config gives the session
	Source   string `json:"source"`   // fallback.Why: default, agent, auto, user …
	Chosen   string `json:"chosen"`   // the source in words
	Strict   bool   `json:"strict"`   // no other model may answer
	Policy   string `json:"policy"`   // why it is strict or not
	Invalid  string `json:"invalid,omitempty"`
	Cleared  string `json:"cleared,omitempty"` // a stored choice that the run would take away first

	StandsIn *standingIn `json:"standsIn,omitempty"`

	Candidates []candidacy       `json:"candidates"`
	Simulation *simulationResult `json:"simulation,omitempty"`
}

// standingIn is a fallback that has been engaged.
type standingIn struct {
	Model  string    `json:"model"`
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Next is when the selected model is asked again. Due: with this very run.
	Next time.Time `json:"next,omitzero"`
	Due  bool      `json:"due"`
}

// candidacy is one model of the chain.
type candidacy struct {
	Position int          `json:"position"`
	Model    string       `json:"model"`
	Do       fallback.Do  `json:"do"`               // try, probe or skip
	Why      string       `json:"why,omitempty"`    // of a skip (rehearsal.md R10)
	Reason   string       `json:"reason,omitempty"` // what keeps its credentials away
	Until    time.Time    `json:"until,omitzero"`   // when the first of them may be used again
	Mend     string       `json:"mend,omitempty"`   // what to do about it
	Profiles []credential `json:"credentials"`
}

// credential is one profile of a candidate. A secret has no way in here [I12].
type credential struct {
	ID     string    `json:"id"`
	Type   string    `json:"type"`
	Place  int       `json:"place,omitempty"` // in the order of trying, 0: not tried
	Pin    string    `json:"pin,omitempty"`   // auto: the session's own; user: chosen by hand
	Until  time.Time `json:"restsUntil,omitzero"`
	Reason string    `json:"restsFor,omitempty"`
	Scope  string    `json:"restsOnlyFor,omitempty"` // the one model that the rest concerns
	Unfit  string    `json:"unfit,omitempty"`        // failover.md 8.6
}

// explain decides the run with the rule book's own functions.
func (q *question) explain(ctx context.Context) (*explanation, error) {
	next := bot.NextLook(q.steps, q.row.Origin)
	q.ask.NoProbe = next.After(q.now)
	var failed error
	creds := func(provider string) ([]fallback.Profile, map[fallback.ProfileID]fallback.Usage) {
		profiles, err := q.credentials.Profiles(ctx, q.ask.Agent, provider)
		if err != nil {
			failed = err
		}
		usage, err := q.credentials.Usage(ctx, q.ask.Agent, provider)
		if err != nil {
			failed = err
		}
		return profiles, usage
	}
	plan := fallback.Explain(q.ask, q.row, true, creds, q.now)
	if failed != nil {
		return nil, failed
	}
	e := &explanation{At: q.now, Session: string(q.ask.Session), Agent: string(q.ask.Agent), Run: string(q.ask.Kind), Stored: q.known}
	q.describe(e, plan, next)
	for i, c := range plan.Candidates {
		profiles, usage := creds(c.Model.Provider)
		_, unfit := fallback.Order(q.ask.Config, c.Model.Provider, profiles, usage, q.now)
		e.Candidates = append(e.Candidates, q.candidacy(i+1, c, usage, unfit))
	}
	return e, failed
}

// describe fills in where the model comes from and what that permits.
func (q *question) describe(e *explanation, x fallback.Explanation, next time.Time) {
	p := x.Plan
	e.Selected, e.Default, e.Source, e.Invalid = p.Selected.String(), p.Primary.String(), string(p.Why), p.Invalid
	e.Strict = p.Strict || len(x.Candidates) == 1
	story := q.story(p)
	e.Chosen, e.Policy = q.chosen(p, story), q.policy(p, len(x.Candidates))
	if from := q.from(); from != "" {
		e.Chosen += ", in " + string(from) + ", whose choice this session goes by"
	}
	if p.Clear && !q.own.Model.IsZero() {
		e.Cleared = fmt.Sprintf("the stored choice %s is taken away first: %s", p.Cleared, bot.Stale(p.ClearWhy))
	}
	if p.Why != fallback.FromAuto {
		return
	}
	in := &standingIn{Model: q.row.Model.String(), Since: q.row.Since, Reason: q.row.Told.Reason, Next: next, Due: p.Probe}
	if c := story.Change; c != nil && c.Kind == bot.ChangedFallback && c.Reason != "" {
		in.Reason = c.Reason
	}
	e.StandsIn = in
}

// chosen says in words where the model comes from.
func (q *question) chosen(p fallback.Plan, story bot.Story) string {
	switch p.Why {
	case fallback.FromAgent:
		return fmt.Sprintf("agents.list[%s].model in the config", q.ask.Agent)
	case fallback.FromChannel:
		return "channels.modelByChannel in the config"
	case fallback.FromAuto:
		return "the config; another model has stood in for it since it failed"
	case fallback.FromUser:
		if c := story.Change; c != nil && c.Kind == bot.ChangedByPerson && c.To == p.Selected.String() {
			who := c.By
			if who == "" {
				who = "somebody"
			}
			return fmt.Sprintf("%s, with %s at %s", who, c.Command, bot.Moment(c.At, q.now))
		}
		return "a person, with /model"
	case fallback.FromLegacy:
		return "a choice that was stored without its source, which counts as a person's"
	case fallback.FromCron:
		return "the job itself (payload.model)"
	case fallback.FromHeartbeat:
		return "the heartbeat itself (heartbeat.model)"
	case fallback.FromOneOff:
		return "the command line"
	}
	return "agents.defaults.model in the config"
}

// policy says whether other models may answer, and which rule says so [M4–M10].
func (q *question) policy(p fallback.Plan, candidates int) string {
	may := "other models may stand in: "
	if p.Strict || candidates == 1 {
		may = "strict, no other model answers: "
	}
	list := config.WhyOf(q.ask.Config, q.ask.Agent, candidates)
	switch {
	case p.Why == fallback.FromUser || p.Why == fallback.FromLegacy:
		return may + "a model that a person chose is exact; /model default ends that"
	case p.Why == fallback.FromOneOff:
		return may + "a model given on the command line is exact"
	case q.ask.Listed && p.Strict:
		return may + "the job's own list of fallbacks is empty"
	case q.ask.Listed:
		return may + "the job brings its own list of fallbacks"
	}
	return may + list
}

// candidacy puts a place of the chain into words and times.
func (q *question) candidacy(position int, c fallback.Candidacy, usage map[fallback.ProfileID]fallback.Usage, unfit []fallback.Ineligible) candidacy {
	out := candidacy{Position: position, Model: c.Model.String(), Do: c.Verdict.Do, Why: string(c.Verdict.Why), Reason: string(c.Verdict.Reason), Profiles: []credential{}}
	place := 0
	for _, p := range c.Profiles {
		one := credential{ID: string(p.ID), Type: string(p.Type)}
		if p.Tried {
			place++
			one.Place = place
		}
		if q.row.Pin.Profile == p.ID { // a fresh session has none that anybody would know of
			one.Pin = string(fallback.Auto)
			if q.row.Pin.ByPerson() {
				one.Pin = string(fallback.ByUser)
			}
		}
		if w := p.Window; w.Active(q.now) {
			one.Until, one.Reason = w.Until, string(w.Reason)
			if scope, ok := usage[p.ID].Scopes[c.Model.Name]; ok && scope.Until.Equal(w.Until) {
				one.Scope = c.Model.Name
			}
			if out.Do != fallback.Try && (out.Until.IsZero() || w.Until.Before(out.Until)) {
				out.Until = w.Until
			}
		}
		out.Profiles = append(out.Profiles, one)
	}
	for _, u := range unfit {
		out.Profiles = append(out.Profiles, credential{ID: string(u.ID), Unfit: u.Why})
	}
	switch fallback.SkipWhy(out.Why) {
	case fallback.SkipNoProfile, fallback.SkipPersistentAuth:
		out.Mend = fallback.MendCommand(c.Model.Provider)
	}
	return out
}
