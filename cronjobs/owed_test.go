package cronjobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// down is a receiver that does not answer yet.
func down(cronjobs.WebhookCall) error { return errors.New("it answers 502") }

// reopen ends the house's day while a webhook does not answer, and begins another
// on which it does. It gives the calls of that second day.
func (h *house) reopen() (calls []cronjobs.WebhookCall) {
	h.t.Helper()
	h.stop()
	h.turns.set(func() { h.hook = nil })
	tries := len(h.hooks)
	h.open()
	h.start()
	h.pass(time.Minute)
	return h.hooks[tries:]
}

// R55, R42: the job of a reminder goes with its one run, but not before its
// webhooks have been called: only it knows the URLs.
func TestAOneShotJobStaysUntilItsWebhooksAreCalled(t *testing.T) {
	hook := cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/secret"}
	for name, where := range map[string]cronjobs.Delivery{
		"where its answer goes":       {Place: hook},
		"that is told of its end":     {Place: cronjobs.Place{Mode: cronjobs.Announce, Channel: "console", To: "room"}, Completion: &hook},
		"both, and each is another's": {Place: hook, Completion: &cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/second"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := furnished(t, true)
				h.turns.set(func() { h.hook = down })
				h.start()
				j := task("once", in(time.Minute))
				j.Delivery = &where
				j = h.add(j)
				h.pass(time.Minute + 500*time.Millisecond) // between two tries
				if left := h.job(j.ID); left.Enabled || left.State.Next != 0 || len(h.hooks) == 0 {
					t.Fatalf("%+v after %d calls", left.State, len(h.hooks))
				}
				calls := h.reopen()
				want := 1
				if where.Mode == cronjobs.Webhook && where.Completion != nil {
					want = 2
				}
				if len(calls) != want || calls[len(calls)-1].URL != hook.To {
					t.Errorf("%d calls, want %d: %+v", len(calls), want, calls)
				}
				if _, err := h.db.Job(t.Context(), j.ID); !errors.Is(err, cronjobs.ErrNoJob) {
					t.Errorf("the job is still there: %v", err)
				}
				if r := h.runs(j.ID)[0]; r.Status != cronjobs.OK || r.Delivering() {
					t.Errorf("%+v", r)
				}
				h.stop()
			})
		})
	}
}

// A one-shot job that is switched on again before its webhook was called stays.
func TestAOneShotJobThatIsWantedAgainStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := furnished(t, true)
		h.turns.set(func() { h.hook = down })
		h.start()
		j := task("once", in(time.Minute))
		j.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/x"}}
		j = h.add(j)
		h.pass(time.Minute + 500*time.Millisecond)
		if _, err := h.book.Edit(t.Context(), j.ID, func(j *cronjobs.Job) error { j.Enabled, j.Schedule = true, in(time.Hour); return nil }); err != nil {
			t.Fatal(err)
		}
		if calls := h.reopen(); len(calls) != 1 || !h.job(j.ID).Enabled {
			t.Errorf("%d calls, %+v", len(calls), h.job(j.ID))
		}
		h.stop()
	})
}

// cut is a process that ends when it has something to say: what is posted after
// the end of a run was written is never posted.
type cut struct{ *played }

func (cut) Post(context.Context, ...channels.Outbound) error {
	return errors.New("the process is gone")
}

// R47, R48: an alert and the note that it was given are written as one: a crash
// right after loses neither, and so with a failure that has a place of its own.
func TestAnAlertIsWrittenWithTheEndOfItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.Retry.MaxAttempts = 0
		h.cfg.FailureDestination = &cronjobs.Place{Mode: cronjobs.Announce, Channel: "console", To: "ops"}
		o := h.options(h.db)
		o.Turns = cut{h.turns}
		h.s = cronjobs.New(o)
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("brief", every(2*time.Minute)))
		h.pass(5 * time.Minute)
		owed, err := h.db.Owed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var to []string
		for _, d := range owed {
			to = append(to, d.To.Conversation)
			if !strings.Contains(d.Text, `"brief"`) || d.Kind != channels.Failure {
				t.Errorf("%+v", d.Outbound)
			}
		}
		if h.job(j.ID).State.LastAlert == 0 || !slices.Equal(to, []string{"ops", "ops", "room"}) {
			t.Errorf("alerted at %d, owed to %q", h.job(j.ID).State.LastAlert, to)
		}
		h.stop()
	})
}

// R47: an alert for a webhook is owed until it is called, over a restart too, and
// is called once then.
func TestAnAlertIsOwedToItsWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := furnished(t, true)
		h.cfg.Retry.MaxAttempts = 0
		h.turns.set(func() { h.hook = down })
		h.start()
		h.fails(fallback.Format)
		j := task("brief", every(10*time.Minute))
		one := 1
		j.FailureAlert = &cronjobs.FailureAlert{After: &one, Place: cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/secret"}}
		j = h.add(j)
		h.pass(10*time.Minute + 500*time.Millisecond)
		if r := h.runs(j.ID)[0]; len(r.Owed) != 1 || !r.Delivering() || strings.Contains(r.Owed[0].Text, "secret") || len(h.hooks) != 1 {
			t.Fatalf("%+v after %d calls", r, len(h.hooks))
		}
		first := h.hooks[0].ID
		if calls := h.reopen(); len(calls) != 1 || calls[0].ID != first || calls[0].URL != "https://example.org/secret" {
			t.Errorf("%+v, first %s", calls, first)
		}
		if r := h.runs(j.ID)[0]; r.Delivering() {
			t.Errorf("%+v", r)
		}
		h.stop()
	})
}

// R47: an alert that had no place to go to is no alert: the next failure's goes
// where the agent has been spoken to since.
func TestAnAlertThatHadNoPlaceIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.Retry.MaxAttempts = 0
		h.cfg.Alert.Place = cronjobs.Place{Mode: cronjobs.Announce, Channel: cronjobs.Last}
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("brief", every(20*time.Minute)))
		h.pass(41 * time.Minute)
		if st := h.job(j.ID).State; st.Errors != 2 || st.LastAlert != 0 || len(h.turns.said()) != 0 {
			t.Fatalf("%+v, said %q", st, h.turns.said())
		}
		to := channels.Address{Channel: "console", Conversation: "room"}
		if err := h.db.PutSession(t.Context(), store.SessionState{Session: bot.Session{Key: "agent:main:main", Agent: "main", Epoch: "e", Route: to}}); err != nil {
			t.Fatal(err)
		}
		h.pass(20 * time.Minute)
		if posts := h.turns.posts; h.job(j.ID).State.LastAlert == 0 || len(posts) != 1 || posts[0].To != to {
			t.Errorf("%+v, %+v", h.job(j.ID).State, posts)
		}
		h.stop()
	})
}
