package operator

import (
	"slices"
	"time"

	"standin/fallback"
)

// decisions is a page of steps.
func (s *Server) decisions(c *call) (any, error) {
	at, err := c.page()
	if err != nil {
		return nil, err
	}
	what, err := c.word("what", "attempt", "skip", "override", "cooldown", "disabled", "blocked", "decision", "tool")
	if err != nil {
		return nil, err
	}
	of := StepsOf{Session: fallback.SessionID(c.r.FormValue("session")), Run: c.r.FormValue("run"), Model: c.r.FormValue("model"), Reason: c.r.FormValue("reason"),
		What: fallback.StepKind(what), Before: at.before, Limit: at.limit}
	if of.From, of.To, err = c.span(); err != nil {
		return nil, err
	}
	list, err := s.Rows.Steps(c.ctx, of)
	if err != nil {
		return nil, err
	}
	out := Decisions{Decisions: []Decision{}}
	for _, one := range list {
		out.Decisions = append(out.Decisions, viewStep(one.ID, one.Step))
	}
	if len(list) == at.limit {
		out.Next = cursorOf(list[len(list)-1].ID)
	}
	return out, nil
}

// runs is a page of the run log.
func (s *Server) runs(c *call) (any, error) {
	at, err := c.page()
	if err != nil {
		return nil, err
	}
	kind, err := c.word("kind", "chat", "cron", "heartbeat", "compaction", "probe")
	if err != nil {
		return nil, err
	}
	outcome, err := c.word("outcome", "answered", "failed", "changed", "open")
	if err != nil {
		return nil, err
	}
	of := RunsOf{Session: fallback.SessionID(c.r.FormValue("session")), Agent: fallback.AgentID(c.r.FormValue("agent")), Kind: fallback.Kind(kind),
		Answered: c.r.FormValue("model"), Reason: c.r.FormValue("reason"), Outcome: outcome, Before: at.before, Limit: at.limit}
	if of.From, of.To, err = c.span(); err != nil {
		return nil, err
	}
	list, err := s.Rows.Runs(c.ctx, of)
	if err != nil {
		return nil, err
	}
	out := Runs{Runs: []Run{}}
	for _, r := range list {
		out.Runs = append(out.Runs, viewRun(r))
	}
	if len(list) == at.limit {
		out.Next = cursorOf(list[len(list)-1].Seq)
	}
	return out, nil
}

func viewRun(r LoggedRun) Run {
	return Run{ID: r.Run, Session: string(r.Session), Agent: string(r.Agent), Kind: string(r.Kind), Began: r.Began, Ended: r.Ended, TookMs: r.Ended.Sub(r.Began).Milliseconds(),
		Outcome: r.Outcome, Requested: r.Requested, Answered: r.Answered, Reason: r.Reason, Attempts: r.Attempts, Skips: r.Skips, Probes: r.Probes}
}

// mostSteps bounds the steps of one run that are shown.
const mostSteps = 1000

// run is one run with every step, in order.
func (s *Server) run(c *call) (any, error) {
	id := c.r.PathValue("id")
	list, err := s.Rows.Runs(c.ctx, RunsOf{Run: id, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, notFound("there is no run %s; runs are kept for 30 days", clip(id, 100))
	}
	steps, err := s.Rows.Steps(c.ctx, StepsOf{Run: id, Limit: mostSteps})
	if err != nil {
		return nil, err
	}
	out := RunDetail{Run: viewRun(list[0]), Steps: []Decision{}}
	// An attempt is dated by its end; its run began when the first was sent.
	for _, one := range slices.Backward(steps) {
		out.Steps = append(out.Steps, viewStep(one.ID, one.Step))
	}
	if len(steps) > 0 {
		if a := steps[len(steps)-1].Attempt; a != nil && !a.At.IsZero() && a.At.Before(out.Began) {
			out.Began = a.At
			out.TookMs = out.Ended.Sub(out.Began).Milliseconds()
		}
	}
	return out, nil
}

func sortLatest(list []Decision) {
	slices.SortStableFunc(list, func(a, b Decision) int { return b.At.Compare(a.At) })
}

// dayBefore is the usual span of a picture.
const dayBefore = -24 * time.Hour
