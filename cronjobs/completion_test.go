package cronjobs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/cronjobs"
	"standin/fallback"
)

// R5: completionDestination is a webhook beside where the answer goes. It is told
// of each end, good or bad, and its own failure changes nothing of the run.
func TestEachEndIsToldToAProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		j := task("brief", every(10*time.Minute))
		j.Delivery.Completion = &cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/secret"}
		j = h.add(j)
		h.pass(11 * time.Minute)
		r := h.runs(j.ID)[0]
		if r.Delivery.Status != cronjobs.Delivered || r.Delivery.Completion != cronjobs.Delivered || len(h.turns.said()) != 1 || len(h.hooks) != 1 {
			t.Fatalf("%+v, said %q, %d calls", r.Delivery, h.turns.said(), len(h.hooks))
		}
		body, _ := json.Marshal(h.hooks[0].Event)
		if !strings.Contains(string(body), `"text":"done"`) || !strings.Contains(string(body), `"status":"ok"`) || h.hooks[0].URL != "https://example.org/secret" {
			t.Errorf("%s", body)
		}
		h.fails(fallback.Format)
		h.turns.set(func() { h.hook = func(cronjobs.WebhookCall) error { return errors.New("it answers 502") } })
		h.pass(11 * time.Minute)
		r = h.runs(j.ID)[1]
		if r.Status != cronjobs.Failed || r.Delivery.Completion != cronjobs.NotDelivered || len(h.hooks) != 4 || h.hooks[3].ID != h.hooks[1].ID || h.hooks[1].ID == h.hooks[0].ID {
			t.Errorf("%+v, %d calls", r, len(h.hooks))
		}
		o, err := h.book.Look(t.Context(), j, 1)
		if err != nil || !strings.Contains(o.Delivery, "https://example.org") || strings.Contains(o.Delivery, "secret") {
			t.Errorf("explain says %q", o.Delivery)
		}
		for _, mode := range []cronjobs.Mode{cronjobs.Announce, ""} {
			if _, err := h.book.Edit(t.Context(), j.ID, func(j *cronjobs.Job) error { j.Delivery.Completion.Mode = mode; return nil }); err == nil || !strings.Contains(err.Error(), "completionDestination") {
				t.Errorf("mode %q: %v", mode, err)
			}
		}
		h.stop()
	})
}

// An end that a crash left untold is told after the next start.
func TestAnEndIsToldAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := furnished(t, true)
		h.start()
		j := task("brief", every(24*time.Hour))
		j.Delivery.Completion = &cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/x"}
		j = h.add(j)
		h.turns.set(func() { h.hook = func(cronjobs.WebhookCall) error { return errors.New("it answers 502") } })
		if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(500 * time.Millisecond) // between two tries
		h.stop()
		h.turns.set(func() { h.hook = nil })
		tries := len(h.hooks)
		h.open()
		h.start()
		h.pass(time.Minute)
		if r := h.runs(j.ID)[0]; r.Delivery.Completion != cronjobs.Delivered || len(h.hooks) != tries+1 {
			t.Errorf("%+v, %d calls more", r.Delivery, len(h.hooks)-tries)
		}
		h.stop()
	})
}

// A receipt that is long in coming holds up neither other jobs nor the job itself.
func TestASlowReceiptHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.MaxConcurrent = 1
		h.start()
		h.turns.set(func() {
			h.hook = func(cronjobs.WebhookCall) error { time.Sleep(20 * time.Second); return nil }
			h.turns.took = func(bot.Turn) time.Duration { return time.Second }
		})
		slow := task("slow", every(5*time.Second))
		slow.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/x"}}
		slow, other := h.add(slow), h.add(task("other", in(6*time.Second)))
		h.pass(31 * time.Second)
		if n := len(h.runs(slow.ID)); n < 5 {
			t.Errorf("the job itself ran %d times", n)
		}
		if runs := h.runs(other.ID); len(runs) != 1 || runs[0].Started.Time().Sub(slow.CreatedAt.Time()) > 8*time.Second {
			t.Errorf("the other %+v", runs)
		}
		if _, err := h.book.Switch(t.Context(), slow.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Minute)
		h.stop()
	})
}
