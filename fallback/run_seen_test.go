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

// The walks of this file look at what others see of a walk: the vendor, the
// journal, the reader of an error.

// declines is a vendor that answers without a word, as models do that will not.
type declines struct{ asked int }

func (v *declines) Call(context.Context, provider.Call) (*provider.Reply, error) {
	v.asked++
	return &provider.Reply{Finish: "content_filter"}, nil
}

// "Stops on: safety refusals of the model" [M28], also where the vendor says so
// with an empty answer.
func TestARefusalWithoutWordsStops(t *testing.T) {
	d, v := newDesk(t, nil), &declines{}
	d.Vendors = v
	_, err := d.Run(t.Context(), ask())
	if cause := fallback.CauseOf(err, time.Now()); v.asked != 1 || cause.Kind != fallback.CauseRefusal {
		t.Errorf("asked %d times, %v, %v", v.asked, cause.Kind, err)
	}
}

// "An attempt never takes more than the run's time less a reserve, at least 30 s
// for itself" [D23], and never more than the run has.
func TestAnAttemptHasNoMoreTimeThanItsRun(t *testing.T) {
	for run, want := range map[time.Duration]time.Duration{
		20 * time.Second: 20 * time.Second, // two candidates stand behind it
		time.Minute:      30 * time.Second,
		10 * time.Minute: 8 * time.Minute,
	} {
		d := newDesk(t, nil)
		v := &streaming{vendors: vendors{d, func(string) error { return nil }}}
		d.Vendors = v
		now := time.Now()
		d.Now = func() time.Time { return now }
		a := ask()
		a.Config.RunTimeout = run
		if _, err := d.Run(t.Context(), a); err != nil || !slices.Equal(v.limits, []time.Duration{want}) {
			t.Errorf("of %s an attempt has %v, want %s (%v)", run, v.limits, want, err)
		}
	}
}

// Who chooses another model while a repetition is waited for is not kept waiting
// by it (17.2) [M30].
func TestAChoiceDuringTheWaitEndsTheRepetition(t *testing.T) {
	a := ask()
	a.Config.Default.Fallbacks = nil
	d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 503}))
	d.Sleep = func(ctx context.Context, _ time.Duration) error {
		_, err := d.db.Swap(ctx, a.Session, fallback.Selection{}, fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Pending: true})
		return err
	}
	out, err := d.Run(t.Context(), a)
	if want := []string{"openai/gpt-5.5", "groq/b"}; err != nil || !slices.Equal(d.asked, want) || out.Used != model("groq/b") {
		t.Errorf("asked %v, want %v (%v)", d.asked, want, err)
	}
}

// A live switch is a chat turn's to follow: a job goes on with its own model and
// its next credential [M10, M30].
func TestAJobDoesNotFollowALiveSwitch(t *testing.T) {
	refused := 0
	d := newDesk(t, func(string) error {
		if refused++; refused == 1 {
			return &provider.Error{Status: 401, Message: "invalid api key"}
		}
		return nil
	})
	var keys []fallback.Profile
	for _, id := range []fallback.ProfileID{"openai:a", "openai:b"} {
		keys = append(keys, fallback.Profile{ID: id, Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("k")})
	}
	d.Credentials = d.db.Credentials(keys)
	a := ask()
	a.Kind, a.Model = fallback.Cron, model("openai/gpt-5.5")
	d.put(t, a.Session, fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Pending: true})
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != a.Model || len(d.asked) != 2 {
		t.Errorf("asked %v, %v", d.asked, err)
	}
}

// late is a journal that counts what reaches it with a context that has ended.
type late struct{ steps, dead int }

func (l *late) Record(ctx context.Context, _ fallback.Step) {
	l.steps++
	if ctx.Err() != nil {
		l.dead++
	}
}

// "Each attempt is in the decision log" [I10], the one that an abort cut short
// as well: the journal can still write it.
func TestTheJournalOutlivesAnAbort(t *testing.T) {
	ctx, leave := context.WithCancelCause(t.Context())
	d := newDesk(t, func(string) error { leave(errors.New("gone")); return &provider.Error{Status: 503} })
	l := &late{}
	d.Journal = l
	if _, err := d.Run(ctx, ask()); err == nil || l.steps == 0 || l.dead != 0 {
		t.Errorf("%d steps, %d of them with a dead context, %v", l.steps, l.dead, err)
	}
}

// "Secrets reach neither log nor error" [I12]: a vendor that repeats the key in
// its refusal is not quoted with it.
func TestAnAttemptQuotesNoKey(t *testing.T) {
	const key = "sk-proj-Abc123Def456Ghi789Jkl012Mno345"
	d := newDesk(t, func(string) error {
		return &provider.Error{Status: 401, Message: "Incorrect API key provided: " + key}
	})
	_, err := d.Run(t.Context(), ask())
	var summary *fallback.SummaryError
	if !errors.As(err, &summary) || len(summary.Attempts) == 0 {
		t.Fatal(err)
	}
	for _, a := range summary.Attempts {
		if strings.Contains(a.Detail, key) || !strings.Contains(a.Detail, "Incorrect API key") {
			t.Errorf("%s: %q", a.Model, a.Detail)
		}
	}
	if strings.Contains(d.log.String(), key) {
		t.Errorf("the log has the key:\n%s", &d.log)
	}
}
