package operator

import (
	"cmp"
	"slices"
	"time"

	"standin/fallback"
)

const (
	mostStretches = 1000 // that sessions are made of
	mostSwitches  = 200
	mostWrites    = 1000 // that are looked through for switches
	pieces        = 500  // that the picture of an agent is at most cut into
)

// timeline is which model answered when, and why that changed.
func (s *Server) timeline(c *call) (any, error) {
	to, err := c.moment("to", c.now)
	if err != nil {
		return nil, err
	}
	from, err := c.moment("from", to.Add(dayBefore))
	if err != nil {
		return nil, err
	}
	if err := ordered(from, to); err != nil {
		return nil, err
	}
	of := StretchesOf{Session: fallback.SessionID(c.r.FormValue("session")), Agent: fallback.AgentID(c.r.FormValue("agent")), From: from, To: to, Limit: mostStretches}
	out := Timeline{From: from, To: to, Agents: []AgentTimeline{}, Sessions: []SessionTimeline{}, Switches: []Switch{}}
	agents, err := s.Rows.AgentStretches(c.ctx, of, max(to.Sub(from)/pieces, time.Second))
	if err != nil {
		return nil, err
	}
	out.Agents = agentTimelines(agents, from, to)
	stretches, err := s.Rows.Stretches(c.ctx, of)
	if err != nil {
		return nil, err
	}
	out.Sessions = sessionTimelines(stretches, from, to)
	writes, err := s.Rows.Steps(c.ctx, StepsOf{Session: of.Session, What: fallback.StepOverride, From: from, To: to, Limit: mostWrites})
	if err != nil {
		return nil, err
	}
	out.Switches = switches(writes, of.Agent)
	out.More = len(stretches) == mostStretches || len(writes) == mostWrites || len(out.Switches) > mostSwitches
	out.Switches = out.Switches[:min(len(out.Switches), mostSwitches)]
	for i := range out.Switches {
		// The choice is written before its model is asked; why, the run's row says.
		if one := &out.Switches[i]; one.Kind == "fallback" {
			runs, err := s.Rows.Runs(c.ctx, RunsOf{Run: one.Run, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(runs) > 0 {
				one.Reason = runs[0].Reason
			}
		}
	}
	return out, nil
}

func within(at, from, to time.Time) time.Time {
	if at.Before(from) {
		return from
	}
	if at.After(to) {
		return to
	}
	return at
}

func agentTimelines(list []AgentStretch, from, to time.Time) []AgentTimeline {
	out := []AgentTimeline{}
	at := map[fallback.AgentID]int{}
	for _, a := range list {
		i, known := at[a.Agent]
		if !known {
			i = len(out)
			at[a.Agent] = i
			out = append(out, AgentTimeline{Agent: string(a.Agent), Intervals: []Interval{}})
		}
		out[i].Intervals = append(out[i].Intervals, Interval{Model: a.Model, From: within(a.Began, from, to), To: within(a.Ended, from, to), Turns: a.Turns})
	}
	for _, a := range out {
		slices.SortFunc(a.Intervals, func(a, b Interval) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Model, b.Model)) })
	}
	slices.SortFunc(out, func(a, b AgentTimeline) int { return cmp.Compare(a.Agent, b.Agent) })
	return out
}

func sessionTimelines(list []Stretch, from, to time.Time) []SessionTimeline {
	out := []SessionTimeline{}
	at := map[fallback.SessionID]int{}
	for _, one := range list {
		i, known := at[one.Session]
		if !known {
			i = len(out)
			at[one.Session] = i
			out = append(out, SessionTimeline{Session: string(one.Session), Agent: string(one.Agent), Intervals: []Interval{}})
		}
		out[i].Intervals = append(out[i].Intervals, Interval{Model: one.Model, From: within(one.Began, from, to), To: within(one.Ended, from, to), Turns: one.Turns, Reason: one.Reason})
	}
	for _, one := range out {
		slices.SortFunc(one.Intervals, func(a, b Interval) int { return a.From.Compare(b.From) })
	}
	// What changed is what people look for; after that, who spoke last.
	slices.SortStableFunc(out, func(a, b SessionTimeline) int { return cmp.Compare(eventful(b), eventful(a)) })
	return out
}

func eventful(t SessionTimeline) int {
	if len(t.Intervals) > 1 {
		return 2
	}
	for _, i := range t.Intervals {
		if i.Model == "" || i.Reason != "" {
			return 1
		}
	}
	return 0
}

// switches reads what runs and people did to the stored choices, the latest
// first. What a run set and rolled back is no switch.
func switches(writes []KeptStep, only fallback.AgentID) []Switch {
	out := []Switch{}
	type net struct{ first, last fallback.Step }
	runs := map[string]*net{}
	var order []string // by their last write
	for _, w := range writes {
		if w.Write == nil || only != "" && w.Agent != only {
			continue
		}
		key := w.Run + "\x00" + string(w.Session)
		if n := runs[key]; n != nil {
			n.first = w.Step
			continue
		}
		runs[key], order = &net{w.Step, w.Step}, append(order, key)
	}
	for _, key := range order {
		n := runs[key]
		was, now := n.first.Write.Was, n.last.Write.Now
		if was.Model == now.Model && was.Source == now.Source {
			continue
		}
		one := Switch{At: n.last.At, Session: string(n.last.Session), Agent: string(n.last.Agent), Run: n.last.Run,
			From: cmp.Or(was.Model, was.Origin, now.Origin).String(), To: cmp.Or(now.Model, was.Origin).String()}
		switch by := n.last.Write.By; {
		case by != nil:
			one.Kind, one.By = "chosen", by.Name
		case now.IsAuto():
			one.Kind = "fallback"
		case n.last.Write.Rule != "":
			one.Kind, one.Reason = "cleared", string(n.last.Write.Rule)
		default:
			one.Kind = "recovered"
		}
		out = append(out, one)
	}
	return out
}
