package fallback_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// The walks of this file look at how and when a walk ends. Each needs one guard,
// as those of run_row_test.go do.

// hears is a journal that keeps all steps and may do something at one.
type hears struct {
	steps []fallback.Step
	at    func(fallback.Step)
}

func (h *hears) Record(_ context.Context, s fallback.Step) {
	h.steps = append(h.steps, s)
	if h.at != nil {
		h.at(s)
	}
}

// The session's own choice goes before its parent's, and a job inherits nothing

// "Not written when the candidate equals the run's model" (13.4), though the row

// "Rolled back only while the fields still match": what was never written is not

// taken back, even if the row looks again as it did [M2, I5].
func TestALostRaceIsNothingToRollBack(t *testing.T) {
	a := ask()
	a.Config.Default.Fallbacks = a.Config.Default.Fallbacks[:1]
	busy := &provider.Error{Status: 503}
	var d *desk
	theirs := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser}
	free := fallback.Selection{Pin: fallback.Pin{Profile: "openai:default", Source: fallback.ByUser, Compactions: -1}}
	d = newDesk(t, func(m string) error {
		if m == "anthropic/claude-opus-4-6" { // and away from it again, with a credential of their own
			if ok, err := d.db.Swap(t.Context(), a.Session, theirs, free); !ok || err != nil {
				t.Error(ok, err)
			}
		}
		return busy
	})
	d.Selections = &meddled{d.db, func() error {
		_, err := d.db.Swap(t.Context(), a.Session, fallback.Selection{}, theirs)
		return err
	}}
	if _, err := d.Run(t.Context(), a); !errors.Is(err, busy) {
		t.Fatal(err)
	}
	if row := d.row(t, a.Session); row != free || len(d.writes) != 0 {
		t.Errorf("%+v after %+v", row, d.writes)
	}
}

// "The caller's abort stops the chain", also while a fallback is written down:

// its model is not asked, and nobody reads of a broken store [D6].
func TestAnAbortWhileTheChoiceIsWritten(t *testing.T) {
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	d := newDesk(t, func(string) error { return &provider.Error{Status: 503} })
	d.Selections = &meddled{d.db, func() error { leave(gone); return context.Canceled }}
	if _, err := d.Run(ctx, ask()); err != gone || len(d.asked) != 1 || strings.Contains(d.log.String(), "not written") {
		t.Errorf("%v, asked %v, logged %s", err, d.asked, &d.log)
	}
}

// "The caller's abort stops the chain", also between two candidates of which

// neither was asked; the error is the abort's cause and no trouble of a store

// that was read too late [D6, I13].
func TestAnAbortBetweenCandidates(t *testing.T) {
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	d := newDesk(t, func(string) error { return nil })
	d.Credentials = d.db.Credentials(nil)
	h := &hears{at: func(s fallback.Step) {
		if s.What == fallback.StepDecision {
			leave(gone)
		}
	}}
	d.Journal = h
	if _, err := d.Run(ctx, ask()); err != gone || len(h.steps) != 2 {
		t.Errorf("%v after %+v", err, h.steps)
	}
}

// "The deadline of the run ends it" [I13, D23]: no candidate is begun without

// time, and the record says that the chain ends there, whatever stood behind.
func TestTheEndOfTheRunsTime(t *testing.T) {
	for name, failure := range map[string]*provider.Error{
		"a candidate that was cut off":    {Transport: provider.AttemptTimeout},
		"a candidate that failed by then": {Status: 400, Message: "bad request"},
	} {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		a := ask()
		a.Config.RunTimeout = 10 * time.Minute
		d := newDesk(t, func(string) error { now = now.Add(11 * time.Minute); return failure })
		d.Now = func() time.Time { return now }
		h := &hears{}
		d.Journal = h
		_, err := d.Run(t.Context(), a)
		if !errors.Is(err, fallback.ErrRunDeadline) || len(d.asked) != 1 {
			t.Errorf("%s: asked %v, %v", name, d.asked, err)
		}
		last := h.steps[len(h.steps)-1]
		if failure.Transport != "" && (last.Record == nil || last.Record.StepOutcome != "chain_exhausted" || last.Record.NextModel != "") {
			t.Errorf("%s: the last step is %+v", name, last.Record)
		}
	}
}

// "Background runs never write a session's selection" [I6]: neither a pin nor

// What is cleared takes the automatic pin of its model along and leaves a

// "A pinned profile that no longer exists is cleared, also a user's" (9.4): the

// "At most one transient probe per provider per run", and a failure that says

// nothing of the provider leaves it to the next model (11.7) [M29].
func TestTheSlotOfAProvider(t *testing.T) {
	for status, asked := range map[int][]string{
		404: {"openai/gpt-5.5", "groq/a", "groq/b"},
		529: {"openai/gpt-5.5", "groq/a"},
	} {
		d := newDesk(t, func(m string) error {
			if m == "openai/gpt-5.5" {
				return &provider.Error{Status: 503}
			}
			return &provider.Error{Status: status, Message: "Model not found: " + m}
		})
		a := ask()
		a.Config.Default.Fallbacks = []fallback.Model{model("groq/a"), model("groq/b")}
		_, _, err := d.Credentials.Update(t.Context(), "main", "groq:default", func(u fallback.Usage) fallback.Usage {
			return u.After(fallback.Failed{Provider: "groq", Reason: fallback.Overloaded, Status: 529}, a.Config.Cooldowns, time.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Run(t.Context(), a); err == nil || !slices.Equal(d.asked, asked) {
			t.Errorf("after a %d: asked %v, want %v (%v)", status, d.asked, asked, err)
		}
	}
}

// "Marked only when a non-primary candidate fails with auth" (12.3): what was

// refused as the primary is asked when it stands further behind.
func TestARefusedPrimaryIsNotMarked(t *testing.T) {
	d := newDesk(t, func(m string) error {
		if m == "groq/b" {
			return nil
		}
		return &provider.Error{Status: 401, Message: "invalid api key"}
	})
	a := ask()
	a.Config.SkipTTL = 10 * time.Minute
	if _, err := d.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for _, p := range []fallback.ProfileID{"openai:default", "anthropic:default"} { // the gate's own windows are another matter
		if _, _, err := d.Credentials.Update(t.Context(), "main", p, func(fallback.Usage) fallback.Usage { return fallback.Usage{} }); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.db.Swap(t.Context(), a.Session, fallback.Selection{Model: model("groq/b"), Source: fallback.Auto}, fallback.Selection{}); err != nil {
		t.Fatal(err)
	}
	d.asked = nil
	a.Config.Default = fallback.ModelChoice{Primary: model("anthropic/other"), Listed: true,
		Fallbacks: []fallback.Model{model("openai/gpt-5.5"), model("anthropic/claude-opus-4-6"), model("groq/b")}}
	if _, err := d.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if want := []string{"anthropic/other", "openai/gpt-5.5", "groq/b"}; !slices.Equal(d.asked, want) {
		t.Errorf("asked %v, want %v", d.asked, want)
	}
}

// "Only the user's changes mark a live switch", and only a turn of theirs is it

// A stale row is cleared only as it was read: who chooses in that moment is

// answered by the choice [I5, M8].
func TestAChoiceWhileAStaleRowIsCleared(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	a := ask()
	stale := fallback.Selection{Model: model("openai/gone"), Source: fallback.Auto, Origin: model("openai/gpt-5.5")}
	theirs := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser}
	d.put(t, a.Session, stale)
	d.Selections = &meddled{d.db, func() error {
		_, err := d.db.Swap(t.Context(), a.Session, stale, theirs)
		return err
	}}
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != theirs.Model {
		t.Errorf("%+v, %v", out, err)
	}
}

// A choice that no provider of the config can serve is not asked, even where a

// key lies about for it [IL-060].
func TestAChoiceWithoutAProviderIsNotAsked(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	d.Credentials = d.db.Credentials([]fallback.Profile{{ID: "mistral:default", Provider: "mistral", Type: fallback.APIKey, Key: provider.NewKey("k")}})
	a := ask()
	theirs := fallback.Selection{Model: model("mistral/k"), Source: fallback.ByUser}
	d.put(t, a.Session, theirs)
	var summary *fallback.SummaryError
	if _, err := d.Run(t.Context(), a); !errors.As(err, &summary) || summary.Plan.Invalid == "" || len(d.asked) != 0 {
		t.Errorf("asked %v, %v", d.asked, err)
	}
	if row := d.row(t, a.Session); row != theirs {
		t.Errorf("the choice became %+v", row)
	}
}

// Since is for sessions on a stand-in, not for those whose user chose a model

// streaming is a vendor that says half a sentence and tells how long it may take.
type streaming struct {
	vendors
	limits []time.Duration
}

func (s *streaming) Call(ctx context.Context, c provider.Call) (*provider.Reply, error) {
	s.limits = append(s.limits, c.Limits.Total)
	if c.OnText != nil {
		c.OnText("half a ")
	}
	return s.vendors.Call(ctx, c)
}

// What a failed candidate has shown is taken back before the next one speaks
// [I8].
func TestHalfAnAnswerIsTakenBack(t *testing.T) {
	d := newDesk(t, nil)
	d.Vendors = &streaming{vendors: vendors{d, only("openai/gpt-5.5", &provider.Error{Transport: provider.IdleTimeout, Streamed: true})}}
	a := ask()
	shown, taken := "", 0
	a.OnText = func(piece string) { shown += piece }
	a.OnDiscard = func() { shown = ""; taken++ }
	if _, err := d.Run(t.Context(), a); err != nil || shown != "half a " || taken != 1 {
		t.Errorf("shown %q after %d discards, %v", shown, taken, err)
	}
}

// "A strict single-candidate run repeats once after 2.5 s, before any output"
// [D9]: one repetition, none of a job, none of what was seen.
func TestOneRepetition(t *testing.T) {
	for name, c := range map[string]struct {
		failure *provider.Error
		kind    fallback.Kind
		calls   int
	}{
		"a server fault":      {&provider.Error{Status: 503}, fallback.Chat, 2},
		"in the middle of it": {&provider.Error{Status: 503, Streamed: true}, fallback.Chat, 1},
		"of a job":            {&provider.Error{Status: 503}, fallback.Cron, 1},
		"a refusal":           {&provider.Error{Status: 400, Message: "bad request"}, fallback.Chat, 1},
	} {
		d := newDesk(t, func(string) error { return c.failure })
		var slept time.Duration
		d.Sleep = func(_ context.Context, d time.Duration) error { slept += d; return nil }
		a := ask()
		a.Kind, a.Config.Default.Fallbacks = c.kind, nil
		if _, err := d.Run(t.Context(), a); err == nil || len(d.asked) != c.calls || slept != time.Duration(c.calls-1)*2500*time.Millisecond {
			t.Errorf("%s: asked %v, slept %s, %v", name, d.asked, slept, err)
		}
	}
}

// The run's time counts from its start, however often the user's choice began
// the walk anew [D23, M30].
func TestALiveSwitchGivesNoMoreTime(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := ask()
	a.Config.RunTimeout = 10 * time.Minute
	a.Config.Providers["mistral"] = provider.Endpoint{Provider: "mistral"}
	var d *desk
	d = newDesk(t, func(m string) error {
		if m == "mistral/k" {
			return nil
		}
		now = now.Add(6 * time.Minute)
		chosen := fallback.Selection{Model: model("mistral/k"), Source: fallback.ByUser, Pending: true}
		if ok, err := d.db.Swap(t.Context(), a.Session, fallback.Selection{}, chosen); !ok || err != nil {
			t.Error(ok, err)
		}
		return &provider.Error{Status: 400, Message: "bad request"}
	})
	d.Now = func() time.Time { return now }
	d.Credentials = d.db.Credentials([]fallback.Profile{
		{ID: "openai:default", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("k")},
		{ID: "mistral:default", Provider: "mistral", Type: fallback.APIKey, Key: provider.NewKey("k")}})
	v := &streaming{vendors: d.Vendors.(vendors)}
	d.Vendors = v
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != model("mistral/k") || v.limits[len(v.limits)-1] != 4*time.Minute {
		t.Errorf("%+v, %v, limits %v", out, err, v.limits)
	}
}

// Only a chat turn's look at its own primary puts the next one off [T14, I6].
func TestWhatCountsAsALookAtThePrimary(t *testing.T) {
	for kind, counts := range map[fallback.Kind]bool{fallback.Chat: true, fallback.Heartbeat: false, fallback.Cron: false} {
		d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 503}))
		a := ask()
		a.Kind = kind
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if got := d.NextProbe(a.Session, model("openai/gpt-5.5")); got.IsZero() == counts {
			t.Errorf("after a %s run the primary is looked at %v", kind, got)
		}
		if got := d.NextProbe(a.Session, model("anthropic/claude-opus-4-6")); !got.IsZero() {
			t.Errorf("after a %s run a fallback is looked at %v", kind, got)
		}
	}
}

// "What was seen is kept even if the caller has gone": a credential that answered
// is no longer under suspicion [I10].
func TestAnAnswerThatComesTooLateClearsItsCredential(t *testing.T) {
	ctx, leave := context.WithCancelCause(t.Context())
	d := newDesk(t, func(string) error { leave(errors.New("gone")); return nil })
	_, _, err := d.Credentials.Update(t.Context(), "main", "openai:default", func(fallback.Usage) fallback.Usage {
		return fallback.Usage{Errors: 3, LastFailure: time.Now().Add(-time.Hour)}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = d.Run(ctx, ask())
	if usage, err := d.Credentials.Usage(t.Context(), "main", "openai"); err != nil || usage["openai:default"].Errors != 0 {
		t.Errorf("%+v, %v", usage, err)
	}
}

// The throttle is the primary's: a probe of the same provider further down a
// chain does not put it off (11.4) [M29].
func TestAFallbacksProbeDoesNotThrottleThePrimarys(t *testing.T) {
	d := newDesk(t, func(string) error { return &provider.Error{Status: 529} })
	a := ask()
	a.Config.Default.Fallbacks = []fallback.Model{model("groq/b")}
	_, _, err := d.Credentials.Update(t.Context(), "main", "groq:default", func(u fallback.Usage) fallback.Usage {
		return u.After(fallback.Failed{Provider: "groq", Reason: fallback.Overloaded, Status: 529}, a.Config.Cooldowns, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = d.Run(t.Context(), a)
	a.Session, a.Config.Default.Primary, a.Config.Default.Fallbacks = room, model("groq/b"), nil
	d.asked = nil
	_, _ = d.Run(t.Context(), a)
	if !slices.Contains(d.asked, "groq/b") {
		t.Errorf("asked %v", d.asked)
	}
}

// "A 429 or 5xx of a vendor with Retry-After" [D14]: other answers' hints are not
// believed.
func TestHintsOfOtherAnswersDoNotCount(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for status, want := range map[int]time.Duration{401: time.Minute, 429: 2 * time.Hour, 503: 2 * time.Hour} {
		f := fallback.Failed{Provider: "openai", Model: "m", Reason: fallback.AuthFailed, Status: status, RetryAfter: 2 * time.Hour}
		w, _ := fallback.Usage{}.After(f, fallback.DefaultCooldowns(), now).Blocking("m", now)
		if w.Until.Sub(now) != want {
			t.Errorf("after a %d the window is %s, want %s", status, w.Until.Sub(now), want)
		}
	}
}
