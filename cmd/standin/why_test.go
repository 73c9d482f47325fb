package main

import (
	"fmt"
	"testing"
	"time"

	"standin/bot"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/store"
)

// A change is told however long ago it was, and whole, although only the latest
// steps are read; what was rolled back since does not hide it.
func TestAnOldChangeIsFound(t *testing.T) {
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const session = fallback.SessionID("agent:main:main")
	a, b := fallback.Model{Provider: "anthropic", Name: "opus"}, fallback.Model{Provider: "openai", Name: "gpt"}
	onB := fallback.Selection{Model: b, Source: fallback.Auto, Origin: a}
	at := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	record := func(run string, s fallback.Step) {
		at = at.Add(time.Second)
		s.At, s.Run, s.Session, s.Kind = at, run, session, fallback.Chat
		db.Journal().Record(t.Context(), s)
	}
	record("first", fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: a, Position: 1, Reason: fallback.RateLimit}})
	record("first", fallback.Step{What: fallback.StepOverride, Write: &fallback.Write{Act: fallback.ActSet, Now: onB}})
	record("first", fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: b, Position: 2, OK: true}})
	for i := range 2 * bot.PastSteps {
		record(fmt.Sprint(i), fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: b, Position: 1, OK: true}})
	}
	steps, err := daemon.Past{DB: db}.Steps(t.Context(), session, bot.PastSteps)
	if err != nil {
		t.Fatal(err)
	}
	plan := fallback.Plan{Requested: b, Selected: a, Primary: a, Why: fallback.FromAuto}
	s := bot.Tell(bot.About{Session: session, Selection: onB, Plan: plan, Notices: bot.NoticesAll}, steps)
	if s.Change == nil || s.Change.Run != "first" || len(s.Change.Events) != 2 || s.Change.Reason != "rate limit" {
		t.Errorf("of %d steps the change is %+v", len(steps), s.Change)
	}
}
