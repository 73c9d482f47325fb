package bot

import (
	"context"
	"slices"
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
	Stored   string `json:"stored,omitempty"` // the model in the session's row, "" for none
	From     string `json:"from,omitempty"`   // the session whose choice this is, when it is not its own
	Cause    string `json:"cause"`            // fallback.Why: default, agent, auto, user …
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
	// Hands is what people did to the credentials around the change and since,
	// oldest first.
	Hands []fallback.Deed `json:"hands,omitempty"`
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
	Reason     string       `json:"reason,omitempty"`    // of a fallback, as its notice says it
	Began      string       `json:"began,omitempty"`     // the reason of the first of the fallbacks that this change follows
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
	// Tools are those of one round, in order; Acted says that something was done that
	// cannot be undone, so that no other model was asked after it [I8].
	Tools []string `json:"tools,omitempty"`
	Acted bool     `json:"acted,omitempty"`
}

// EventKind says what sort of thing it was.
type EventKind string

// The events.
const (
	EventFailed   EventKind = "failed"
	EventSkipped  EventKind = "skipped"
	EventAnswered EventKind = "answered"
	EventUsed     EventKind = "used"  // tools
	EventRests    EventKind = "rests" // a credential's window, of Model only or, without one, of all
)

// StoryLooks are the looks at the selected model since the change.
type StoryLooks struct {
	Asked      int        `json:"asked"` // requests
	LastAsked  StoryEvent `json:"lastAsked,omitzero"`
	Passed     int        `json:"passedOver"` // times at which it was due and no request was made
	LastPassed StoryEvent `json:"lastPassedOver,omitzero"`
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
	Selection fallback.Selection // that it goes by now
	From      fallback.SessionID // whose selection that is, "" for its own [T4]
	Plan      fallback.Plan      // what a message would do under it
	Notices   Notices
	// Next is the engine's word on when the selected model is asked again; nil
	// when there is no engine to ask: it is then read off the record.
	Next *time.Time
	// Deeds is the record of what was done to credentials by hand, newest first.
	Deeds []fallback.Deed
}

// Tell makes the story out of steps, newest first as Past gives them.
func Tell(about About, steps []fallback.Step) Story {
	plan := about.Plan
	s := Story{Session: string(about.Session), Selected: plan.Selected.String(), Active: plan.Requested.String(),
		Default: plan.Primary.String(), Stored: about.Selection.Model.String(), From: string(about.From), Cause: string(plan.Why), Strict: plan.Strict}
	steps = slices.Clone(steps)
	slices.Reverse(steps)
	if len(steps) > 0 {
		s.Since = steps[0].At
	}
	runs := pastRuns(steps)
	last := lastChange(runs)
	if last >= 0 {
		s.Change = runs[last].change(about)
		s.Change.lookBack(runs[:last])
	}
	after := runs[last+1:]
	if last >= 0 && s.Change.Kind == ChangedByRule {
		after = runs[last:] // the rule was kept before any model was asked
	}
	s.Unanswered = lastFailure(after)
	s.Hands = hands(about, s.Change)
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
