package bot

import (
	"cmp"
	"slices"
	"strings"

	"standin/fallback"
)

// pastRun is what the record holds of one run, in order.
type pastRun struct {
	id    string
	kind  fallback.Kind
	steps []fallback.Step
	wrote int // place of its last write among all steps, -1 for none
}

// pastRuns sorts steps by their runs, in the order in which these began.
func pastRuns(steps []fallback.Step) []pastRun {
	var runs []pastRun
	at := map[string]int{}
	for i, s := range steps {
		n, known := at[s.Run]
		if !known {
			n = len(runs)
			at[s.Run] = n
			runs = append(runs, pastRun{id: s.Run, kind: s.Kind, wrote: -1})
		}
		runs[n].steps = append(runs[n].steps, s)
		if s.What == fallback.StepOverride && s.Write != nil {
			runs[n].wrote = i
		}
	}
	return runs
}

// net is what the run's writes come to: a choice that was rolled back is none.
func (r pastRun) net() (first, last fallback.Step, changed bool) {
	if r.wrote < 0 {
		return first, last, false
	}
	for _, s := range r.steps {
		if s.What != fallback.StepOverride || s.Write == nil {
			continue
		}
		if first.Write == nil {
			first = s
		}
		last = s
	}
	return first, last, differ(first.Write.Was, last.Write.Now)
}

// lastChange is the place of the run whose change is the latest, -1 for none.
// The order of writing counts: a person may choose while an older run goes on.
func lastChange(runs []pastRun) int {
	found := -1
	for i, r := range runs {
		if _, _, changed := r.net(); changed && (found < 0 || r.wrote > runs[found].wrote) {
			found = i
		}
	}
	return found
}

// change reads a run with a net change.
func (r pastRun) change(about About) *StoryChange {
	first, last, _ := r.net()
	was, now := first.Write.Was, last.Write.Now
	c := &StoryChange{At: last.At, Run: r.id, From: was.Model.String(), To: now.Model.String(), Origin: cmp.Or(now.Origin, was.Origin).String()}
	if by := last.Write.By; by != nil {
		c.Kind, c.By, c.Command = ChangedByPerson, by.Name, by.Command
		if renews(by.Command) {
			c.Kind = ChangedByReset
		}
		if now.Pin.ByPerson() {
			c.Pin = string(now.Pin.Profile)
		}
		return c
	}
	attempts := r.failures()
	switch {
	case now.IsAuto():
		c.Kind, c.Events, c.Open = ChangedFallback, r.events(), !r.answered()
		var pair fallback.Told
		c.Notice, pair, _ = fallback.Announce(fallback.Told{}, now.Origin, now.Model, attempts)
		c.Reason = pair.Reason
		c.Told = told(about, about.Selection.Told.Selected == pair.Selected && about.Selection.Told.Active == pair.Active)
	case last.Write.Rule != "":
		c.Kind, c.Rule = ChangedByRule, string(last.Write.Rule)
	default:
		c.Kind, c.Events = ChangedRecovered, r.events()
		c.Notice, _, _ = fallback.Announce(fallback.Told{Selected: was.Origin, Active: was.Model}, was.Origin, was.Origin, nil)
		c.Told = told(about, about.Selection.Told == fallback.Told{})
		c.StoodSince = was.Since
	}
	return c
}

// lookBack finds why the fallbacks that this change follows had begun.
func (c *StoryChange) lookBack(before []pastRun) {
	if c.Origin == "" || c.From == "" || c.Kind != ChangedRecovered && c.Kind != ChangedFallback {
		return
	}
	for _, r := range slices.Backward(before) {
		first, last, changed := r.net()
		if !changed {
			continue
		}
		now := last.Write.Now
		if !now.IsAuto() || now.Origin.String() != c.Origin {
			return
		}
		_, pair, _ := fallback.Announce(fallback.Told{}, now.Origin, now.Model, r.failures())
		c.Began = pair.Reason
		if !first.Write.Was.IsAuto() {
			return
		}
	}
}

func told(about About, known bool) NoticeState {
	switch {
	case !Shown(about.Notices, about.Session):
		return NoticeMute
	case known:
		return NoticeTold
	}
	return NoticeDue
}

// IsDirect tells whether a key is that of direct chats, agent:<id>:main or one of
// a narrower scope [S1, S2].
func IsDirect(s fallback.SessionID) bool {
	if rest, _, ok := strings.Cut(string(s), ":direct:"); ok && strings.HasPrefix(rest, "agent:") {
		return true
	}
	return strings.HasPrefix(string(s), "agent:") && strings.Count(string(s), ":") == 2 && strings.HasSuffix(string(s), ":main")
}

// renews tells whether a command begins a new session.
func renews(command string) bool {
	return command == "/new" || command == "/reset" || command == "sessions.reset"
}

// differ tells whether a selection has changed in a way that people care for:
// an automatic pin that moves is none.
func differ(was, now fallback.Selection) bool {
	return was.Model != now.Model || was.Source != now.Source || was.Origin != now.Origin || byPerson(was.Pin) != byPerson(now.Pin)
}

func byPerson(p fallback.Pin) fallback.ProfileID {
	if p.ByPerson() {
		return p.Profile
	}
	return ""
}

// events are a run's attempts, skips and windows as people are told.
func (r pastRun) events() []StoryEvent {
	var list []StoryEvent
	for _, s := range r.steps {
		switch e, ok := eventOf(s); {
		case !ok:
		case e.What != EventUsed || len(list) == 0:
			list = append(list, e)
		default:
			list = withUse(list, e)
		}
	}
	return list
}

// withUse takes in the use of a tool. The request before it was answered by asking
// for the tool, which is no answer; tools of one round are one event.
func withUse(list []StoryEvent, e StoryEvent) []StoryEvent {
	last := &list[len(list)-1]
	switch {
	case last.What == EventAnswered && last.Model == e.Model:
		e.Profile = last.Profile
		*last = e
	case last.What == EventUsed && last.Model == e.Model:
		last.Tools, last.Acted = append(last.Tools, e.Tools...), last.Acted || e.Acted
	default:
		return append(list, e)
	}
	return list
}

func eventOf(s fallback.Step) (StoryEvent, bool) {
	e := StoryEvent{At: s.At}
	switch {
	case s.Attempt != nil && s.Attempt.Skipped != fallback.SkipJumped:
		a := s.Attempt
		e.Model, e.Profile, e.Status, e.Detail, e.Why, e.Probe = a.Model.String(), string(a.Profile), a.Status, a.Detail, string(a.Skipped), string(a.Probe)
		e.Reason = cmp.Or(string(a.Reason), string(a.Label))
		switch {
		case a.OK:
			e.What = EventAnswered
		case a.Skipped != "":
			e.What = EventSkipped
		default:
			e.What = EventFailed
		}
	case s.Tool != nil:
		e.What, e.Model, e.Tools, e.Acted = EventUsed, s.Tool.Model.String(), []string{s.Tool.Name}, s.Tool.Acted
	case s.Window != nil:
		w := s.Window
		e.What, e.Profile, e.Model, e.Reason, e.Until = EventRests, string(w.Profile), w.Model, string(w.Window.Reason), w.Window.Until
	default:
		return e, false
	}
	return e, true
}

// failures are the run's failed attempts and skips, as Announce wants them.
func (r pastRun) failures() []fallback.Attempt {
	var list []fallback.Attempt
	for _, s := range r.steps {
		if s.Attempt != nil && !s.Attempt.OK && s.Attempt.Skipped != fallback.SkipJumped {
			list = append(list, *s.Attempt)
		}
	}
	return list
}

// answered tells whether the run came to an answer: a request for tools is none.
func (r pastRun) answered() bool {
	for _, s := range slices.Backward(r.steps) {
		switch {
		case s.Tool != nil:
			return false
		case s.Attempt != nil && s.Attempt.Skipped == "":
			return s.Attempt.OK
		}
	}
	return false
}

func (r pastRun) exhausted() bool {
	return slices.ContainsFunc(r.steps, func(s fallback.Step) bool { return s.Record != nil && s.Record.Exhausted() })
}

// unanswered tells whether a message of a person found no model.
func (r pastRun) unanswered() bool {
	return r.kind == fallback.Chat && !r.answered() && len(r.failures()) > 0
}

// lastFailure finds the latest message that no model answered.
func lastFailure(runs []pastRun) *StoryFailure {
	var f *StoryFailure
	for _, r := range runs {
		switch {
		case r.unanswered():
			next := &StoryFailure{At: r.steps[len(r.steps)-1].At, Run: r.id, Events: r.events(), Count: 1, Open: !r.exhausted()}
			if f != nil {
				next.Count += f.Count
			}
			f = next
		case f != nil && r.kind == fallback.Chat && r.answered():
			f.Answered = true
		}
	}
	return f
}

// looks collects what came of the selected model since the change.
func looks(runs []pastRun, selected fallback.Model) *StoryLooks {
	var l StoryLooks
	for _, r := range runs {
		for _, s := range r.steps {
			a := s.Attempt
			if a == nil || a.Model != selected || r.kind != fallback.Chat {
				continue
			}
			e, ok := eventOf(s)
			switch {
			case !ok:
			case a.Skipped != "":
				l.LastPassed, l.Passed = e, l.Passed+1
			default:
				l.LastAsked, l.Asked = e, l.Asked+1
			}
		}
	}
	if l.Asked+l.Passed == 0 {
		return nil
	}
	return &l
}
