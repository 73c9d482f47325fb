package operator

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

const (
	mostStandIns  = 100
	mostIncidents = 100
	mostFailures  = 5
)

// now is the first screen.
func (s *Server) now(c *call) (any, error) {
	cfg := s.Config()
	n := Now{
		At: c.now, Version: cfg.Version, StartedAt: s.started, Readiness: s.Daemon.Readiness(), Degraded: s.Daemon.Degraded(),
		Agents: []Agent{}, StandIns: []StandIn{}, Channels: s.Daemon.Channels(), Servers: s.Daemon.Servers(), Failures: []Decision{},
	}
	list, counts, err := s.Rows.StandIns(c.ctx, mostStandIns)
	if err != nil {
		return nil, err
	}
	for _, one := range list {
		n.StandIns = append(n.StandIns, s.standIn(cfg, one))
	}
	for _, count := range counts {
		n.StandInsTotal += count
	}
	for _, a := range sortedAgents(cfg) {
		agent, err := s.viewAgent(c.ctx, cfg, a, c.now)
		if err != nil {
			return nil, err
		}
		agent.StandIns = counts[a]
		n.Agents = append(n.Agents, agent)
	}
	n.Work.Running, n.Work.Waiting = s.Bot.Load()
	if n.Work.Unsent, n.Work.OldestSend, err = s.Rows.Unsent(c.ctx); err != nil {
		return nil, err
	}
	failures, err := s.failures(c.ctx, mostFailures)
	if err != nil {
		return nil, err
	}
	n.Failures = append(n.Failures, failures...)
	n.Cost = s.costToday(c.ctx, c.now)
	if s.Incidents != nil {
		if n.Incidents, err = s.Incidents(c.ctx, mostIncidents); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// viewAgent shows the chain that a message without a choice of its own would walk.
func (s *Server) viewAgent(ctx context.Context, cfg *bot.Config, a fallback.AgentID, now time.Time) (Agent, error) {
	out := Agent{ID: string(a), Name: cfg.Agents[a].Name, Default: a == cfg.DefaultAgent, Standing: channels.Exhausted, Chain: []Candidate{}}
	vendors, err := s.vendors(ctx, cfg, a, now)
	if err != nil {
		return out, err
	}
	ask := fallback.Ask{Agent: a, Kind: fallback.Chat, Config: cfg.Fallback, NewSession: true}
	plan := fallback.Explain(ask, fallback.Selection{}, false, vendors.find, now)
	if vendors.err != nil {
		return out, vendors.err
	}
	out.Strict = plan.Plan.Strict || len(plan.Candidates) == 1
	look := "" // the first that rests but may be looked at
	for i, c := range plan.Candidates {
		view := vendors.candidate(i+1, c, now)
		switch {
		case c.Verdict.Do == fallback.Try && out.Answers == "":
			out.Answers, out.Standing = view.Model, channels.Degraded
			if i == 0 {
				out.Standing = channels.Healthy
			}
		case c.Verdict.Do == fallback.Probe && look == "":
			look = view.Model
		}
		if i == 0 && c.Verdict.Do != fallback.Try {
			out.Why = view.Says
		}
		out.Chain = append(out.Chain, view)
	}
	if out.Answers == "" {
		out.Answers = look // when all rest, one of them may still be asked
	}
	return out, nil
}

// vendors are the credentials of an agent's providers, each read once.
type vendors struct {
	read func(provider string) ([]fallback.Profile, map[fallback.ProfileID]fallback.Usage, error)
	cfg  *bot.Config
	now  time.Time
	seen map[string]vendor
	err  error
}

type vendor struct {
	profiles []fallback.Profile
	usage    map[fallback.ProfileID]fallback.Usage
	views    []bot.CredentialView
}

func (s *Server) vendors(ctx context.Context, cfg *bot.Config, a fallback.AgentID, now time.Time) (*vendors, error) {
	return &vendors{cfg: cfg, now: now, seen: map[string]vendor{}, read: func(p string) ([]fallback.Profile, map[fallback.ProfileID]fallback.Usage, error) {
		profiles, err := s.Keyring.Profiles(ctx, a, p)
		if err != nil {
			return nil, nil, err
		}
		usage, err := s.Keyring.Usage(ctx, a, p)
		return profiles, usage, err
	}}, ctx.Err()
}

func (v *vendors) of(p string) vendor {
	one, known := v.seen[p]
	if known {
		return one
	}
	var err error
	if one.profiles, one.usage, err = v.read(p); err != nil && v.err == nil {
		v.err = fmt.Errorf("credentials of %s: %w", p, err)
	}
	one.views = bot.ViewCredentials(v.cfg.Fallback, p, one.profiles, one.usage, nil, v.now)
	v.seen[p] = one
	return one
}

func (v *vendors) find(p string) ([]fallback.Profile, map[fallback.ProfileID]fallback.Usage) {
	one := v.of(p)
	return one.profiles, one.usage
}

// candidate shows one model of a chain.
func (v *vendors) candidate(position int, c fallback.Candidacy, now time.Time) Candidate {
	out := Candidate{Position: position, Model: c.Model.String(), Do: string(c.Verdict.Do), Credentials: append([]bot.CredentialView{}, v.of(c.Model.Provider).views...)}
	var until time.Time
	for _, p := range c.Profiles {
		if p.Window.Active(now) && (until.IsZero() || p.Window.Until.Before(until)) {
			until = p.Window.Until
		}
	}
	switch c.Verdict.Do {
	case fallback.Skip:
		out.Why, out.Reason, out.Until = string(c.Verdict.Why), string(c.Verdict.Reason), until
		out.Says = "is passed over: " + bot.PassedOver(c.Verdict.Why, c.Verdict.Reason)
		if c.Verdict.Detail != "" {
			out.Says = "is passed over: " + c.Verdict.Detail
		}
		if !until.IsZero() {
			out.Says += ", until " + bot.Clock(until, now)
		}
	case fallback.Probe:
		out.Reason, out.Until = string(c.Verdict.Reason), until
		out.Says = "rests (" + bot.Word(c.Verdict.Reason) + ")"
		if !until.IsZero() {
			out.Says += " until " + bot.Clock(until, now)
		}
		out.Says += ", and may be asked once to see whether it is back"
	default:
		out.Says = "would be asked"
		if position == 1 {
			out.Says = "answers"
		}
	}
	return out
}

// standIn shows a session on a stand-in.
func (s *Server) standIn(cfg *bot.Config, one bot.SessionState) StandIn {
	sel := one.Selection
	out := StandIn{Session: string(one.Key), Agent: string(one.Agent), Room: roomOf(one.Route),
		Selected: sel.Origin.String(), Active: sel.Model.String(), Since: sel.Since}
	if sel.Told.Active == sel.Model {
		out.Reason = sel.Told.Reason
	}
	if s.Prober != nil {
		out.NextProbe = s.Prober.NextProbe(one.Key, sel.Origin)
	}
	return out
}

func roomOf(a channels.Address) Room {
	return Room{Channel: a.Channel, Account: a.Account, Conversation: a.Conversation, Thread: a.Thread}
}

// failures are the last attempts that failed. Skips are consequences, and there
// are many of them.
func (s *Server) failures(ctx context.Context, most int) (list []Decision, err error) {
	runs, err := s.Rows.Runs(ctx, RunsOf{Outcome: "failed", Limit: most})
	if err != nil {
		return nil, err
	}
	steps, err := s.Rows.Steps(ctx, StepsOf{What: fallback.StepCooldown, Limit: most})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	add := func(run string) error {
		if run == "" || seen[run] {
			return nil
		}
		seen[run] = true
		all, err := s.Rows.Steps(ctx, StepsOf{Run: run, What: fallback.StepAttempt, Limit: mostPage})
		for _, one := range all {
			if one.Attempt != nil && !one.Attempt.OK {
				list = append(list, viewStep(one.ID, one.Step))
				break
			}
		}
		return err
	}
	for _, r := range runs {
		if err := add(r.Run); err != nil {
			return nil, err
		}
	}
	for _, one := range steps {
		if err := add(one.Run); err != nil {
			return nil, err
		}
	}
	sortLatest(list)
	return list[:min(len(list), most)], nil
}

// costToday adds up the day in the agent's home zone; nil where that is not known.
func (s *Server) costToday(ctx context.Context, now time.Time) *CostToday {
	if s.Costs == nil {
		return nil
	}
	y, m, d := now.Local().Date()
	rows, err := s.Costs.Cost(ctx, "purpose", time.Date(y, m, d, 0, 0, 0, 0, time.Local), now.Add(time.Second))
	if err != nil {
		s.Log.Warn("today's cost was not read", "err", err)
		return nil
	}
	total := addUp(rows)
	return &CostToday{USD: total.USD, Calls: total.Calls, Unpriced: total.Unpriced}
}

// source says in one word where a session's model comes from.
func source(p fallback.Plan) string { return cmp.Or(strings.TrimSpace(string(p.Why)), "default") }
