package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"standin/bot"
	"standin/channels"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/heartbeat"
)

// beatStatus is an agent's heartbeat, for people and as --json. The names are
// stable.
type beatStatus struct {
	Agent    string        `json:"agent"`
	On       bool          `json:"on"`
	Off      string        `json:"off,omitempty"` // why it does not run
	Every    string        `json:"every,omitempty"`
	Hours    string        `json:"activeHours,omitempty"`
	PerDay   int           `json:"requestsPerDay"`
	Next     *time.Time    `json:"next,omitempty"`
	Paused   string        `json:"paused,omitempty"` // why the next one would not ask a model
	Last     *beatLast     `json:"last,omitempty"`
	Chain    []string      `json:"models"`
	Why      fallback.Why  `json:"source"`
	Rests    *time.Time    `json:"restsUntil,omitempty"`
	Session  string        `json:"session,omitempty"`
	Goes     string        `json:"goes"`
	Failures int           `json:"failures,omitempty"`
	Tasks    []beatTask    `json:"tasks,omitempty"`
	Faults   []string      `json:"faults,omitempty"` // of HEARTBEAT.md
	every    time.Duration // of Every
}

type beatLast struct {
	At      time.Time        `json:"at"`
	Status  heartbeat.Status `json:"status"`
	Why     heartbeat.Why    `json:"why"`
	InWords string           `json:"inWords"`
	Detail  string           `json:"detail,omitempty"`
	Model   string           `json:"model,omitempty"`
	Ran     *time.Time       `json:"ranAt,omitempty"` // when a model was asked last
	Posted  *time.Time       `json:"postedAt,omitempty"`
}

type beatTask struct {
	Name string     `json:"name"`
	Due  bool       `json:"due"`
	Last *time.Time `json:"last,omitempty"`
}

// beatStatusOf is what the config alone says.
func beatStatusOf(c *config.Compiled, a fallback.AgentID, now time.Time) beatStatus {
	h := c.Heartbeats.For(a)
	f := heartbeat.ForecastOf(c.Heartbeats, a, now)
	s := beatStatus{Agent: string(a), On: h.Every > 0, PerDay: f.PerDay, Why: f.Why, Goes: f.Goes, Session: string(h.BaseSession(a)), every: h.Every}
	for _, m := range f.Chain {
		s.Chain = append(s.Chain, m.String())
	}
	if !s.On {
		s.Off = "no interval is set (agents.defaults.heartbeat.every)"
		return s
	}
	s.Every, s.Hours = heartbeat.Span(h.Every), h.Hours.String()
	return s
}

// look adds what the state says.
func (s *beatStatus) look(p heartbeat.Preview, now time.Time) {
	row := p.Row
	if row.Off {
		s.On, s.Off = false, "it was switched off by hand; standin heartbeat enable switches it on"
	}
	s.Chain, s.Why = nil, p.Chain.Plan.Why
	for _, c := range p.Chain.Candidates {
		s.Chain = append(s.Chain, c.Model.String())
	}
	s.Session, s.Failures, s.Faults = string(p.Session), row.Failures, p.File.Faults
	s.Rests = sometime(p.Rests)
	if s.On {
		s.Next = sometime(p.Due)
		if why := p.Decision.Why; why != "" && why != heartbeat.WhyQuiet && why != heartbeat.WhyBusy {
			s.Paused = why.Says()
		}
	}
	for _, t := range p.File.Tasks {
		at, done := row.Tasks[t.Name]
		one := beatTask{Name: t.Name, Due: !done || now.Sub(at) >= t.Every}
		if done {
			one.Last = &at
		}
		s.Tasks = append(s.Tasks, one)
	}
	if row.Status != "" {
		s.Last = &beatLast{At: row.At, Status: row.Status, Why: row.Why, InWords: row.Why.Says(), Detail: row.Detail, Model: row.Model,
			Ran: sometime(row.Last), Posted: sometime(row.TextAt)}
	}
}

func sometime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s beatStatus) print(w io.Writer, now time.Time) {
	switch {
	case !s.On:
		fmt.Fprintf(w, "%s: off: %s\n", s.Agent, s.Off)
	case s.Next != nil:
		fmt.Fprintf(w, "%s: every %s, %s; the next is due %s\n", s.Agent, s.Every, s.Hours, bot.Moment(*s.Next, now))
	case s.Hours != "all day":
		fmt.Fprintf(w, "%s: every %s, %s; no time of the next seven days lies in these hours\n", s.Agent, s.Every, s.Hours)
	default:
		fmt.Fprintf(w, "%s: every %s, %s; the first is planned when standin serve starts\n", s.Agent, s.Every, s.Hours)
	}
	if s.Paused != "" {
		fmt.Fprintf(w, "    now it would not ask: %s\n", s.Paused)
	}
	if l := s.Last; l != nil {
		line := fmt.Sprintf("%s, %s", bot.Moment(l.At, now), l.InWords)
		if l.Status == heartbeat.Ran && l.Model != "" {
			line += " (" + l.Model + ")"
		}
		if l.Detail != "" {
			line += ": " + l.Detail
		}
		fmt.Fprintf(w, "    last: %s\n", line)
		if l.Status == heartbeat.Skipped && l.Ran != nil {
			fmt.Fprintf(w, "    a model was asked last %s\n", bot.Moment(*l.Ran, now))
		}
	}
	if s.Failures > 1 {
		fmt.Fprintf(w, "    %d in a row have failed\n", s.Failures)
	}
	fmt.Fprintf(w, "    asks: %s (%s)\n", strings.Join(s.Chain, " → "), beatSource(s.Why))
	if s.Rests != nil {
		fmt.Fprintf(w, "    all of them rest after failures; the first is ready %s\n", bot.Moment(*s.Rests, now))
	}
	fmt.Fprintf(w, "    %s\n", s.Goes)
	if s.On && s.PerDay > 0 {
		fmt.Fprintf(w, "    about %s a day, when each asks one model once\n", counted(s.PerDay, "request"))
	}
	for _, t := range s.Tasks {
		when := "never done"
		if t.Last != nil {
			when = "last done " + bot.Moment(*t.Last, now)
		}
		if t.Due {
			when += ", due"
		}
		fmt.Fprintf(w, "    task %s: %s\n", t.Name, when)
	}
	for _, f := range s.Faults {
		fmt.Fprintf(w, "    HEARTBEAT.md, %s\n", f)
	}
}

// beatSource says where a beat's model comes from.
func beatSource(why fallback.Why) string {
	switch why {
	case fallback.FromHeartbeat:
		return "heartbeat.model"
	case fallback.FromAuto:
		return "the session stands on a fallback"
	case fallback.FromUser, fallback.FromLegacy:
		return "chosen for the session with /model"
	case fallback.FromAgent:
		return "the agent's model"
	case fallback.FromChannel:
		return "channels.modelByChannel"
	}
	return "agents.defaults.model"
}

// printBeat tells what came of a beat that was asked for.
func printBeat(w io.Writer, rep daemon.BeatReport) {
	line := rep.InWords
	if rep.Model != "" {
		line += ", by " + rep.Model
	}
	if rep.Took != "" {
		line += ", after " + rep.Took
	}
	fmt.Fprintf(w, "%s: %s.\n", rep.Agent, line)
	if rep.Detail != "" {
		fmt.Fprintf(w, "    %s\n", rep.Detail)
	}
	if rep.Text != "" {
		fmt.Fprintf(w, "    it said: %s\n", strings.ReplaceAll(rep.Text, "\n", "\n    "))
	}
}

// dry shows what a beat of the agent would do.
func (c heartbeatRunCmd) dry(w world, q *inquiry, a fallback.AgentID) error {
	looks, err := q.previews(w.ctx, []fallback.AgentID{a})
	if err != nil {
		return err
	}
	if len(looks) == 0 {
		return exit{exitUsage, fmt.Sprintf("nothing is kept in %s yet: start standin serve once", c.dir(w))}
	}
	p := looks[0]
	size, turns := len(p.Text)+len(p.System)+len(q.config.Bot.Agents[a].System), 0
	if p.Session == p.Base.Key && p.Base.Epoch != "" {
		history, err := q.db.History(w.ctx, p.Session, p.Base.Epoch, q.config.Bot.HistoryTurns)
		if err != nil {
			return err
		}
		for _, e := range history {
			size += len(e.Text)
		}
		turns = len(history)
	}
	about := &question{inquiry: q, known: p.Base.Epoch != "", ask: fallback.Ask{Run: "heartbeat", Kind: fallback.Heartbeat, Config: q.config.Fallback,
		Session: p.Session, Agent: a, Model: p.Config.Model, Fallbacks: p.Config.Fallbacks, Listed: p.Config.Listed, Parent: p.Base.ParentOf()}}
	if about.own, err = q.db.Selection(w.ctx, p.Session); err != nil {
		return err
	}
	about.row = about.own
	e, err := about.explain(w.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(w, struct {
			Agent   string        `json:"agent"`
			Skipped heartbeat.Why `json:"skipped,omitempty"`
			InWords string        `json:"inWords,omitempty"`
			Chars   int           `json:"promptChars"`
			Entries int           `json:"historyEntries"`
			Prompt  string        `json:"prompt"`
			System  string        `json:"system,omitempty"`
			Place   string        `json:"place,omitempty"`
			Run     *explanation  `json:"run"`
		}{string(a), p.Decision.Why, p.Decision.Why.Says(), size, turns, p.Text, p.System, placeOf(p.Place), e})
	}
	if why := p.Decision.Why; why != "" {
		fmt.Fprintf(w.stdout, "By its schedule it would not ask a model now: %s. Asked for by hand it would do this:\n\n", why.Says())
	}
	fmt.Fprintf(w.stdout, "The request has about %d characters (some %d tokens); earlier entries of the conversation in it: %d.\n", size, (size+3)/4, turns)
	fmt.Fprintf(w.stdout, "An answer goes to: %s\n\nIt asks:\n    %s\n\n", cmp.Or(placeOf(p.Place), "nowhere ("+string(p.Place.Why)+")"), strings.ReplaceAll(p.Text, "\n", "\n    "))
	if p.System != "" {
		fmt.Fprintf(w.stdout, "With the agent's instructions goes (%d characters):\n    %s\n\n", utf8.RuneCountInString(p.System), strings.ReplaceAll(p.System, "\n", "\n    "))
	}
	e.print(w.stdout, q.now)
	return nil
}

func placeOf(p heartbeat.Place) string {
	if p.To.Channel == "" {
		return ""
	}
	parts := []string{p.To.Channel}
	for _, one := range []string{p.To.Account, p.To.Conversation, p.To.Thread} {
		if one != "" {
			parts = append(parts, one)
		}
	}
	return strings.Join(parts, " ")
}

// channelModel is channels.modelByChannel for a place.
func (q *inquiry) channelModel(to channels.Address) fallback.Model {
	return q.config.Bot.Rules.Model(to, "")
}

// hasAccount tells whether the config has the account; the terminal always is.
func (q *inquiry) hasAccount(to channels.Address) bool {
	for _, one := range q.config.Accounts {
		if one.Channel == to.Channel && one.Account == to.Account && !one.Off {
			return true
		}
	}
	return to.Channel == "console"
}

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

// printHeartbeats writes what agents do by themselves, before it costs anybody
// anything [IL-109].
func printHeartbeats(w io.Writer, c *config.Compiled, now time.Time) {
	for _, a := range c.Heartbeats.Agents {
		h := c.Heartbeats.For(a)
		name := ""
		if len(c.Heartbeats.Agents) > 1 {
			name = " of " + string(a)
		}
		if h.Every <= 0 {
			fmt.Fprintf(w, "heartbeat%s: off\n", name)
			continue
		}
		f := heartbeat.ForecastOf(c.Heartbeats, a, now)
		fmt.Fprintf(w, "heartbeat%s: every %s, %s: about %s a day\n", name, heartbeat.Span(h.Every), h.Hours, counted(f.PerDay, "request"))
		fmt.Fprintf(w, "    asks %s (%s); %s\n", config.ChainText(f.Chain, " → "), beatSource(f.Why), f.Goes)
		if usd, known := f.Cost(c.Bot.Agents[a].System); known {
			fmt.Fprintf(w, "    from %.2f USD a day on: that is what the questions alone cost, without conversation and workspace\n", usd)
		}
	}
	fmt.Fprintln(w)
}
