package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"standin/fallback"
)

// Past reads the decision log back [I10].
type Past interface {
	// Steps gives the session's latest steps, newest first and about limit at
	// most, together with those of its last change of selection however long
	// ago that was.
	Steps(ctx context.Context, s fallback.SessionID, limit int) ([]fallback.Step, error)
}

// Story is a session's last change of model after the fact: what the row says
// now, how that came about, and what happened since. It is for people and for
// scripts; the JSON names are stable.
type Story struct {
	Session  string `json:"session"`
	Selected string `json:"selected"` // what is meant to answer
	Active   string `json:"active"`   // what answers; differs while a fallback stands in
	Default  string `json:"default,omitempty"`
	Cause    string `json:"cause"` // fallback.Why: default, agent, auto, user …
	Strict   bool   `json:"strict"`

	// Change is the last change, nil when none is on record since Since.
	Change *StoryChange `json:"change,omitempty"`
	// Since is how far the record that was read goes back; zero: there is none.
	Since time.Time `json:"recordSince,omitzero"`
	// Looks are the times at which the selected model was thought of again
	// after the change, nil when it was not.
	Looks *StoryLooks `json:"looks,omitempty"`
	// Next is when it is asked again, while a fallback stands in; a time that is
	// past or zero: with the next message. Guessed says that it was read off the
	// record: a restart since then makes it the next message.
	Next    time.Time `json:"next,omitzero"`
	Guessed bool      `json:"nextIsAGuess,omitempty"`
	// Unanswered is the latest message after the change that no model answered.
	Unanswered *StoryFailure `json:"unanswered,omitempty"`
}

// StoryChange is one change of the stored selection.
type StoryChange struct {
	Kind       ChangeKind   `json:"kind"`
	At         time.Time    `json:"at"`
	Run        string       `json:"run,omitempty"`
	From       string       `json:"from,omitempty"` // the stored model before, "" when none was
	To         string       `json:"to,omitempty"`   // the stored model after, "" when none is
	Origin     string       `json:"origin,omitempty"`
	Pin        string       `json:"credential,omitempty"` // chosen with it
	By         string       `json:"by,omitempty"`
	Command    string       `json:"command,omitempty"`
	Rule       string       `json:"rule,omitempty"`
	Reason     string       `json:"reason,omitempty"`    // of a fallback and of one that is over, as a notice says it
	StoodSince time.Time    `json:"stoodSince,omitzero"` // of a fallback that is over
	Events     []StoryEvent `json:"events,omitempty"`    // of the message that brought the change, in order
	Notice     string       `json:"notice,omitempty"`
	Told       NoticeState  `json:"told,omitempty"`
	// Open: nobody had answered yet when the record was read.
	Open bool `json:"open,omitempty"`
}

// ChangeKind says what sort of change it was.
type ChangeKind string

// The changes.
const (
	ChangedFallback  ChangeKind = "fallback"  // another model stands in
	ChangedRecovered ChangeKind = "recovered" // the selected model answers again
	ChangedByPerson  ChangeKind = "chosen"    // /model, sessions.patch
	ChangedByReset   ChangeKind = "reset"     // /new, /reset, sessions.reset
	ChangedByRule    ChangeKind = "rule"      // the stored choice had become stale
)

// NoticeState says what became of a change's notice.
type NoticeState string

// The states.
const (
	NoticeTold NoticeState = "told"
	NoticeDue  NoticeState = "due" // with the next visible answer [D11]
	NoticeMute NoticeState = "off" // messages.fallbackNotices
)

// StoryEvent is one thing that befell a message.
type StoryEvent struct {
	At      time.Time `json:"at"`
	What    EventKind `json:"what"`
	Model   string    `json:"model,omitempty"`
	Profile string    `json:"profile,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Status  int       `json:"status,omitempty"`
	Why     string    `json:"why,omitempty"` // of a skip (rehearsal.md R10)
	Detail  string    `json:"detail,omitempty"`
	Probe   string    `json:"probe,omitempty"`
	Until   time.Time `json:"until,omitzero"` // of a window
}

// EventKind says what sort of thing it was.
type EventKind string

// The events.
const (
	EventFailed   EventKind = "failed"
	EventSkipped  EventKind = "skipped"
	EventAnswered EventKind = "answered"
	EventRests    EventKind = "rests" // a credential's window, of Model only or, without one, of all
)

// StoryLooks are the looks at the selected model since the change.
type StoryLooks struct {
	Asked   int        `json:"asked"`      // requests, failed ones too
	Skipped int        `json:"passedOver"` // turns on which it was due and passed over
	Last    StoryEvent `json:"last"`
}

// StoryFailure is a message that no model answered.
type StoryFailure struct {
	At       time.Time    `json:"at"`
	Run      string       `json:"run"`
	Events   []StoryEvent `json:"events"`
	Count    int          `json:"count"`          // such messages since the change, this one included
	Answered bool         `json:"answeredSince"`  // a later message was answered
	Open     bool         `json:"open,omitempty"` // the chain had not come to its end
}

// About is what Tell knows beside the record.
type About struct {
	Session   fallback.SessionID
	Selection fallback.Selection // as it is stored now
	Plan      fallback.Plan      // what a message would do under it
	Notices   Notices
	// Next is the engine's word on when the selected model is asked again; nil
	// when there is no engine to ask: it is then read off the record.
	Next *time.Time
}

// Tell makes the story out of steps, newest first as Past gives them.
func Tell(about About, steps []fallback.Step) Story {
	plan := about.Plan
	s := Story{Session: string(about.Session), Selected: plan.Selected.String(), Active: plan.Requested.String(),
		Default: plan.Primary.String(), Cause: string(plan.Why), Strict: plan.Strict}
	steps = slices.Clone(steps)
	slices.Reverse(steps)
	if len(steps) > 0 {
		s.Since = steps[0].At
	}
	runs := pastRuns(steps)
	last := lastChange(runs)
	if last >= 0 {
		s.Change = runs[last].change(about)
		if s.Change.Kind == ChangedRecovered {
			s.Change.lookBack(runs[:last])
		}
	}
	after := runs[last+1:]
	if last >= 0 && s.Change.Kind == ChangedByRule {
		after = runs[last:] // the rule was kept before any model was asked
	}
	s.Unanswered = lastFailure(after)
	if s.Selected != s.Active {
		s.Looks = looks(runs[last+1:], plan.Selected)
		if about.Next != nil {
			s.Next = *about.Next
		} else {
			s.Next, s.Guessed = NextLook(steps, plan.Selected), true
		}
	}
	return s
}

// NextLook is when a session's primary is asked again, as far as the session's
// steps can tell: five minutes after it was asked last [M11]; zero when it was
// not. A restart since then makes it the next message.
func NextLook(steps []fallback.Step, primary fallback.Model) time.Time {
	var last time.Time
	for _, s := range steps {
		if a := s.Attempt; s.What == fallback.StepAttempt && s.Kind == fallback.Chat && a != nil && a.Model == primary && a.At.After(last) {
			last = a.At
		}
	}
	if last.IsZero() {
		return last
	}
	return last.Add(fallback.ProbeInterval)
}

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

// lookBack finds why the fallback that is over had begun.
func (c *StoryChange) lookBack(before []pastRun) {
	for _, r := range slices.Backward(before) {
		first, last, changed := r.net()
		if !changed {
			continue
		}
		if now := last.Write.Now; now.IsAuto() {
			_, pair, _ := fallback.Announce(fallback.Told{}, now.Origin, now.Model, r.failures())
			c.Reason = pair.Reason
			if first.Write.Was.IsAuto() {
				continue // moved on from another fallback: the first one tells why
			}
		}
		return
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

// IsDirect tells whether a key is that of the direct chats, agent:<id>:main [S1].
func IsDirect(s fallback.SessionID) bool {
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
		if e, ok := eventOf(s); ok {
			list = append(list, e)
		}
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

func (r pastRun) answered() bool {
	return slices.ContainsFunc(r.steps, func(s fallback.Step) bool { return s.Attempt != nil && s.Attempt.OK })
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
			if l.Last, _ = eventOf(s); a.Skipped != "" {
				l.Skipped++
			} else {
				l.Asked++
			}
		}
	}
	if l.Asked+l.Skipped == 0 {
		return nil
	}
	return &l
}
