package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// These are the walks that no scenario of the whole daemon can bring about: the
// doubles here fail in ways in which vendors and disks of the scenarios do not.

// desk is a runner over a real store and scripted vendors.
type desk struct {
	*fallback.Runner
	db     *store.DB
	asked  []string
	calls  []provider.Call
	writes []fallback.Write
	log    strings.Builder
}

// call makes the vendors answer: with nil plainly, else with the error.
type call func(model string) error

// Call implements provider.Caller.
func (f vendors) Call(_ context.Context, c provider.Call) (*provider.Reply, error) {
	f.desk.asked = append(f.desk.asked, c.Endpoint.Provider+"/"+c.Model)
	f.desk.calls = append(f.desk.calls, c)
	if err := f.answer(c.Endpoint.Provider + "/" + c.Model); err != nil {
		return nil, err
	}
	return &provider.Reply{Text: "ok", Finish: "stop"}, nil
}

type vendors struct {
	desk   *desk
	answer call
}

// Record implements fallback.Journal: it keeps the changes of selections.
func (d *desk) Record(_ context.Context, s fallback.Step) {
	if s.What == fallback.StepOverride {
		d.writes = append(d.writes, *s.Write)
	}
}

func newDesk(t *testing.T, answer call) *desk {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	keys := []fallback.Profile{}
	for _, p := range []string{"openai", "anthropic", "groq"} {
		keys = append(keys, fallback.Profile{ID: fallback.ProfileID(p + ":default"), Provider: p, Type: fallback.APIKey, Key: provider.NewKey("k")})
	}
	d := &desk{db: db}
	d.Runner = &fallback.Runner{
		Selections: db, Credentials: db.Credentials(keys), Vendors: vendors{d, answer}, Journal: d,
		Log: slog.New(slog.NewTextHandler(&d.log, nil)), Now: time.Now,
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
	return d
}

func model(ref string) fallback.Model { m, _ := fallback.ParseRef(ref); return m }

// ask is a chat turn on openai/gpt-5.5 with two fallbacks.
func ask() fallback.Ask {
	c := &fallback.Config{
		Default: fallback.ModelChoice{Primary: model("openai/gpt-5.5"),
			Fallbacks: []fallback.Model{model("anthropic/claude-opus-4-6"), model("groq/b")}, Listed: true},
		Providers: map[string]provider.Endpoint{"openai": {Provider: "openai"}, "anthropic": {Provider: "anthropic"}, "groq": {Provider: "groq"}},
	}
	return fallback.Ask{Run: "r1", Session: "agent:main:main", Agent: "main", Kind: fallback.Chat, Config: c}
}

// only fails the one model, with the error.
func only(m string, err error) call {
	return func(asked string) error {
		if asked == m {
			return err
		}
		return nil
	}
}

// "Any other cancelled attempt counts as a timeout" [D6].
func TestACancellationThatIsNotTheCallersGoesOn(t *testing.T) {
	d := newDesk(t, only("openai/gpt-5.5", fmt.Errorf("call: %w", context.Canceled)))
	out, err := d.Run(t.Context(), ask())
	if err != nil || out.Used != model("anthropic/claude-opus-4-6") {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(out.Attempts) != 1 || out.Attempts[0].Reason != fallback.Timeout {
		t.Errorf("attempts %+v", out.Attempts)
	}
}

// "The caller's abort stops the chain", on its last candidate too: it is the
// run's cause and nobody's failure [D6, I13].
func TestTheCallersCancellationStops(t *testing.T) {
	alone := ask()
	alone.Config.Default.Fallbacks = nil
	for _, a := range []fallback.Ask{ask(), alone} {
		gone := errors.New("gone")
		ctx, leave := context.WithCancelCause(t.Context())
		d := newDesk(t, func(string) error { leave(gone); return &provider.Error{Status: 429} })
		var summary *fallback.SummaryError
		if _, err := d.Run(ctx, a); !errors.Is(err, gone) || errors.As(err, &summary) || len(d.asked) != 1 {
			t.Errorf("asked %v, %v", d.asked, err)
		}
		if usage, _ := d.Credentials.Usage(t.Context(), "main", "openai"); usage["openai:default"].Errors != 0 {
			t.Errorf("the caller's own leaving counts against the credential: %+v", usage)
		}
	}
}

// broken is a store that fails from the nth read of a selection on.
type broken struct {
	fallback.Selections
	reads int
}

func (b *broken) Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error) {
	if b.reads--; b.reads < 0 {
		return fallback.Selection{}, errLocked
	}
	return b.Selections.Selection(ctx, s)
}

// unwritable is a store that can be read only.
type unwritable struct{ fallback.Selections }

func (unwritable) Swap(context.Context, fallback.SessionID, fallback.Selection, fallback.Selection) (bool, error) {
	return false, errLocked
}

var errLocked = errors.New("database is locked")

// "Local coordination trouble must not burn candidates" (6.3): the error of our
// own store is the run's error, as it is.
func TestTroubleOfOurOwnBurnsNoCandidate(t *testing.T) {
	for reads, asked := range []int{0, 1} {
		d := newDesk(t, func(string) error { return &provider.Error{Status: 429} })
		d.Selections = &broken{d.db, reads}
		_, err := d.Run(t.Context(), ask())
		var summary *fallback.SummaryError
		if !errors.Is(err, errLocked) || errors.As(err, &summary) || len(d.asked) != asked {
			t.Errorf("after %d reads: asked %v, %v", reads, d.asked, err)
		}
	}
}

// "If the store write fails: log, and run the candidate anyway" (13.3).
func TestAChoiceThatCannotBeWrittenIsTriedAllTheSame(t *testing.T) {
	d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 503}))
	d.Selections = unwritable{d.db}
	out, err := d.Run(t.Context(), ask())
	if err != nil || out.Used != model("anthropic/claude-opus-4-6") {
		t.Errorf("%+v, %v", out, err)
	}
	if !strings.Contains(d.log.String(), "not written") {
		t.Errorf("nobody is told: %s", &d.log)
	}
}

// unsaid is a store whose changes of a choice are kept and reported as failed.
type unsaid struct{ fallback.Selections }

func (u unsaid) Swap(ctx context.Context, s fallback.SessionID, was, now fallback.Selection) (bool, error) {
	_, _ = u.Selections.Swap(ctx, s, was, now)
	return false, errLocked
}

// "If the candidate fails, roll back" [M2]: also what was written although the
// store said that it was not.
func TestAWriteThatWasKeptUnsaidIsTakenBackToo(t *testing.T) {
	d := newDesk(t, func(string) error { return &provider.Error{Status: 503} })
	d.Selections = unsaid{d.db}
	if _, err := d.Run(t.Context(), ask()); err == nil {
		t.Fatal("nobody was to answer")
	}
	row, err := d.db.Selection(t.Context(), "agent:main:main")
	if err != nil || !row.Model.IsZero() || len(d.writes) != 4 {
		t.Errorf("the session stands on %s after %d writes, %v", row.Model, len(d.writes), err)
	}
}

// unkept is a store that cannot write down whose credential answered.
type unkept struct{ fallback.Selections }

func (unkept) Keep(context.Context, fallback.SessionID, fallback.Selection, fallback.Pin) (bool, error) {
	return false, errLocked
}

// An answer is not thrown away because a row beside it could not be written.
func TestAnAnswerOutlivesARowThatCannotBeWritten(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	d.Selections = unkept{d.db}
	out, err := d.Run(t.Context(), ask())
	if err != nil || out.Reply.Text != "ok" || !strings.Contains(d.log.String(), "not brought up to date") {
		t.Errorf("%+v, %v, log %s", out, err, &d.log)
	}
}

// A model that works on a long answer is told from a silent one by its pieces
// [D23]: also where nobody reads along, such as in a job.
func TestEveryRunIsStreamed(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	a := ask()
	a.Kind = fallback.Cron
	if _, err := d.Run(t.Context(), a); err != nil || d.calls[0].OnText == nil {
		t.Errorf("streamed: %v, %v", d.calls[0].OnText != nil, err)
	}
}

// "The deadline of the run ends it" [I13]: an attempt that begins in its last
// moment has that moment, not all the time in the world.
func TestAnAttemptInTheLastMomentIsLimited(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	start, looks := time.Now(), 0
	d.Now = func() time.Time { // the time is over between the look at it and the call
		if looks++; looks > 3 {
			return start.Add(time.Minute)
		}
		return start
	}
	a := ask()
	a.Config.RunTimeout = time.Minute
	if _, err := d.Run(t.Context(), a); err != nil || len(d.calls) != 1 || d.calls[0].Limits.Total <= 0 {
		t.Errorf("%d calls, %+v, %v", len(d.calls), d.calls, err)
	}
}

// "Success after a model_not_found logs a separate warning that names the
// missing and the used model" (6.7).
func TestAMissingModelIsWarnedOfWhenAnotherAnswers(t *testing.T) {
	missing := &provider.Error{Status: 404, Message: "Model not found: openai/gpt-5.5"}
	d := newDesk(t, only("openai/gpt-5.5", missing))
	out, err := d.Run(t.Context(), ask())
	if err != nil || out.Attempts[0].Reason != fallback.ModelNotFound {
		t.Fatalf("%+v, %v", out, err)
	}
	warned := func() bool {
		return slices.ContainsFunc(strings.Split(d.log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, "missing=openai/gpt-5.5 used=anthropic/claude-opus-4-6")
		})
	}
	if !warned() {
		t.Errorf("no warning in\n%s", &d.log)
	}
	d = newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 503}))
	if _, err := d.Run(t.Context(), ask()); err != nil || warned() {
		t.Errorf("%v, warned of a model that is only busy:\n%s", err, &d.log)
	}
}

// "The last candidate's error is the cause; all attempts are listed" [D5].
func TestASummaryHasEveryAttemptAndTheLastErrorAsItsCause(t *testing.T) {
	last := &provider.Error{Status: 418, Message: "strange"}
	d := newDesk(t, func(m string) error {
		switch m {
		case "openai/gpt-5.5":
			return &provider.Error{Status: 429, Message: "slow down"}
		case "groq/b":
			return last
		}
		return &provider.Error{Status: 529, Message: "busy"}
	})
	_, err := d.Run(t.Context(), ask())
	var summary *fallback.SummaryError
	if !errors.As(err, &summary) || !errors.Is(err, last) {
		t.Fatal(err)
	}
	var got []string
	for _, a := range summary.Attempts {
		got = append(got, fmt.Sprintf("%s %s%s", a.Model, a.Reason, a.Label))
	}
	want := []string{"openai/gpt-5.5 rate_limit", "anthropic/claude-opus-4-6 overloaded", "groq/b unclassified"}
	if !slices.Equal(got, want) {
		t.Errorf("attempts %q, want %q", got, want)
	}
}

// "A heartbeat clears the override of its own session, not one that is inherited
// from a parent" (16.1) [M7].
func TestAHeartbeatLeavesAParentsChoiceAlone(t *testing.T) {
	const room, thread = "agent:main:slack:channel:c1", "agent:main:slack:channel:c1:thread:t1"
	stale := fallback.Selection{Model: model("anthropic/claude-opus-4-6"), Source: fallback.Auto, Origin: model("openai/gpt-4")}
	beat := func(session, parent fallback.SessionID) (*desk, fallback.Selection) {
		d := newDesk(t, func(string) error { return nil })
		if ok, err := d.db.Swap(t.Context(), room, fallback.Selection{}, stale); !ok || err != nil {
			t.Fatal(ok, err)
		}
		a := ask()
		a.Kind, a.Session, a.Parent = fallback.Heartbeat, session, parent
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		row, err := d.db.Selection(t.Context(), room)
		if err != nil {
			t.Fatal(err)
		}
		return d, row
	}
	if d, row := beat(room, ""); !row.Model.IsZero() || len(d.writes) != 1 {
		t.Errorf("in the room itself: %+v after %+v", row, d.writes)
	}
	if d, row := beat(thread, room); row.Model != stale.Model || len(d.writes) != 0 {
		t.Errorf("in its thread: %+v after %+v", row, d.writes)
	}
}
