package operator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// sessions is a page of them.
func (s *Server) sessions(c *call) (any, error) {
	cfg := s.Config()
	state, err := c.word("state", "standin", "chosen", "running")
	if err != nil {
		return nil, err
	}
	of := SessionsOf{Agent: fallback.AgentID(c.r.FormValue("agent")), Channel: c.r.FormValue("channel"), Part: strings.ToLower(c.r.FormValue("q")),
		StandIn: state == "standin", Chosen: state == "chosen"}
	if of.Limit, err = c.limit(); err != nil {
		return nil, err
	}
	if text := c.r.FormValue("cursor"); text != "" {
		at, key, ok := strings.Cut(text, ".")
		ms, err := strconv.ParseInt(at, 36, 64)
		if err != nil || !ok {
			return nil, &Wrong{"cursor is not one that a page gave; leave it out for the first page"}
		}
		of.After, of.AfterID = fromMillis(ms), fallback.SessionID(key)
	}
	depths := s.Bot.Depths()
	if state == "running" {
		of.Keys = []fallback.SessionID{}
		for key, d := range depths {
			if d.Running {
				of.Keys = append(of.Keys, key)
			}
		}
	}
	list, err := s.Rows.Sessions(c.ctx, of)
	if err != nil {
		return nil, err
	}
	out := Sessions{Sessions: []Session{}}
	for _, one := range list {
		goes, _, err := s.goes(c, one)
		if err != nil {
			return nil, err
		}
		out.Sessions = append(out.Sessions, viewSession(cfg, one, goes, depths[one.Key]))
	}
	if len(list) == of.Limit {
		last := list[len(list)-1]
		out.Next = strconv.FormatInt(toMillis(last.LastInteraction), 36) + "." + string(last.Key)
	}
	return out, nil
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// goes is the selection that a message in the session would go by: its own, or
// its parent's (failover.md 3.8), and whose that is.
func (s *Server) goes(c *call, one bot.SessionState) (fallback.Selection, fallback.SessionID, error) {
	parent := one.ParentOf()
	if parent == "" || !one.Selection.Model.IsZero() {
		return one.Selection, "", nil
	}
	sel, err := s.Rows.Selection(c.ctx, parent)
	if err != nil || sel.Model.IsZero() {
		return one.Selection, "", err
	}
	goes := one.Selection
	goes.Model, goes.Source, goes.Origin = sel.Model, sel.Source, sel.Origin
	return goes, parent, nil
}

// planOf is what a message in the session would do now.
func planOf(cfg *bot.Config, one bot.SessionState, goes fallback.Selection) fallback.Plan {
	return fallback.Resolve(fallback.Ask{Session: one.Key, Agent: one.Agent, Kind: fallback.Chat, Config: cfg.Fallback, Channel: cfg.Rules.Model(one.Route, "")}, goes, false)
}

func viewSession(cfg *bot.Config, one bot.SessionState, goes fallback.Selection, d bot.Depth) Session {
	plan := planOf(cfg, one, goes)
	sel := one.Selection
	v := Session{
		Key: string(one.Key), Agent: string(one.Agent), Room: roomOf(one.Route), StartedAt: one.StartedAt, LastSpoken: one.LastInteraction,
		Turns: one.Turns, Compactions: one.Compactions, Selected: plan.Selected.String(), Active: plan.Requested.String(), Source: source(plan),
		Strict: plan.Strict, Since: sel.Since, Credential: string(sel.Pin.Profile), Chosen: sel.Pin.ByPerson(), Running: d.Running, Waiting: d.Waiting,
	}
	if v.Active != v.Selected && sel.Told.Active == plan.Requested {
		v.Reason = sel.Told.Reason
	}
	return v
}

// find reads a session that a path names.
func (s *Server) find(c *call) (one bot.SessionState, err error) {
	key := fallback.SessionID(c.r.PathValue("key"))
	if one.Session, err = s.Rows.Session(c.ctx, key); err != nil {
		return one, err
	}
	if one.Epoch == "" {
		return one, notFound("there is no session %s", clip(string(key), 200))
	}
	one.Selection, err = s.Rows.Selection(c.ctx, key)
	return one, err
}

// view reads a session again and shows it.
func (s *Server) view(c *call) (Session, error) {
	one, err := s.find(c)
	if err != nil {
		return Session{}, err
	}
	goes, _, err := s.goes(c, one)
	return viewSession(s.Config(), one, goes, s.Bot.Depths()[one.Key]), err
}

// session is one with its story.
func (s *Server) session(c *call) (any, error) {
	cfg := s.Config()
	one, err := s.find(c)
	if err != nil {
		return nil, err
	}
	goes, from, err := s.goes(c, one)
	if err != nil {
		return nil, err
	}
	plan := planOf(cfg, one, goes)
	about := bot.About{Session: one.Key, Selection: goes, From: from, Plan: plan, Notices: cfg.Notices}
	if s.Prober != nil {
		next := s.Prober.NextProbe(one.Key, plan.Selected)
		about.Next = &next
	}
	if about.Deeds, err = s.Keyring.Deeds(c.ctx, one.Agent, "", bot.PastDeeds); err != nil {
		return nil, err
	}
	steps, err := s.past(c, one.Key)
	if err != nil {
		return nil, err
	}
	out := SessionDetail{Session: viewSession(cfg, one, goes, s.Bot.Depths()[one.Key]), Models: []string{}, Chain: []string{}, Story: bot.Tell(about, steps)}
	for _, m := range cfg.Fallback.Models() {
		if cfg.Fallback.Permits(m) {
			out.Models = append(out.Models, m.String())
		}
	}
	for _, m := range fallback.Chain(cfg.Fallback, plan) {
		out.Chain = append(out.Chain, m.String())
	}
	return out, nil
}

// past gives the session's latest steps and those of the run that last changed
// its choice, newest first.
func (s *Server) past(c *call, key fallback.SessionID) (list []fallback.Step, err error) {
	kept, err := s.Rows.Steps(c.ctx, StepsOf{Session: key, Limit: bot.PastSteps})
	if err != nil {
		return nil, err
	}
	last := ""
	for _, one := range kept {
		list = append(list, one.Step)
		if one.What == fallback.StepOverride {
			last = one.Run
		}
	}
	if last != "" || len(kept) < bot.PastSteps {
		return list, nil
	}
	writes, err := s.Rows.Steps(c.ctx, StepsOf{Session: key, What: fallback.StepOverride, Limit: 1})
	if err != nil || len(writes) == 0 {
		return list, err
	}
	run, err := s.Rows.Steps(c.ctx, StepsOf{Run: writes[0].Run, Limit: bot.PastSteps})
	for _, one := range run {
		list = append(list, one.Step)
	}
	return list, err
}

// chooseModel chooses a session's model.
func (s *Server) chooseModel(c *call) (any, error) {
	in, err := read[ChooseModel](c)
	if err != nil {
		return nil, err
	}
	one, err := s.find(c)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Model) == "" {
		return nil, &Wrong{`model is missing: name one as provider/model, or say "default"`}
	}
	err = s.act(c, "session.model", string(one.Key), in.Model, func() error {
		return s.Bot.PatchBy(c.ctx, c.who.label(), one.Key, in.Model)
	})
	if err != nil {
		return nil, err
	}
	s.changed("sessions", one.Key)
	return s.view(c)
}

// resetSession begins a session anew.
func (s *Server) resetSession(c *call) (any, error) {
	one, err := s.find(c)
	if err != nil {
		return nil, err
	}
	if err := s.act(c, "session.reset", string(one.Key), "", func() error { return s.Bot.ResetBy(c.ctx, c.who.label(), one.Key) }); err != nil {
		return nil, err
	}
	s.changed("sessions", one.Key)
	return s.view(c)
}

// forgetSession drops a session.
func (s *Server) forgetSession(c *call) (any, error) {
	one, err := s.find(c)
	if err != nil {
		return nil, err
	}
	err = s.act(c, "session.forget", string(one.Key), "", func() error {
		if s.Bot.Busy(one.Key) {
			return conflict(string(one.Key) + " is being answered; try again when that is done")
		}
		gone, err := s.Rows.Forget(c.ctx, one.Key, c.now)
		if err == nil && !gone {
			return conflict("a message waits for an answer in " + string(one.Key) + "; try again when it has one")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	s.changed("sessions", one.Key)
	return Done{fmt.Sprintf("%s is forgotten, with all that was said in it. A message there begins it anew.", one.Key)}, nil
}

// transcript is a page of what was said.
func (s *Server) transcript(c *call) (any, error) {
	at, err := c.page()
	if err != nil {
		return nil, err
	}
	one, err := s.find(c)
	if err != nil {
		return nil, err
	}
	list, err := s.Rows.Transcript(c.ctx, one.Key, at.before, at.limit)
	if err != nil {
		return nil, err
	}
	out := Transcript{Session: string(one.Key), Entries: []Entry{}}
	for _, e := range list {
		view := Entry{Seq: e.Seq, At: e.At, Turn: e.Turn, Role: string(e.Role), Text: provider.Redact(e.Text), Model: e.Model.String(), Results: len(e.Results)}
		if e.Summary {
			view.Role = "summary"
		}
		for _, call := range e.Calls {
			view.Tools = append(view.Tools, call.Name)
		}
		slices.Sort(view.Tools)
		view.Tools = slices.Compact(view.Tools)
		out.Entries = append(out.Entries, view)
	}
	if len(list) == at.limit {
		out.Next = cursorOf(list[len(list)-1].Seq)
	}
	return out, nil
}
