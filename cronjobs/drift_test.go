package cronjobs_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"standin/cronjobs"
)

// R15, R19: what another clock or another zone planned is planned anew, at a
// start and while standin runs.
func TestWhatAnotherClockPlanned(t *testing.T) {
	hourly := cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 * * * *"}
	daily := cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 9 * * *"}
	scene := func(says string, f func(t *testing.T, h *house, skew *atomic.Int64, again func(func()))) {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := furnished(t, true)
				var skew atomic.Int64
				wire := func() {
					o := h.options(h.db)
					o.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
					h.s, h.book.Now = cronjobs.New(o), o.Now
					h.start()
				}
				wire()
				f(t, h, &skew, func(meanwhile func()) { h.stop(); meanwhile(); h.open(); wire() })
				h.stop()
			})
		})
	}
	scene("a clock that was a year ahead when the jobs last ran", func(t *testing.T, h *house, skew *atomic.Int64, again func(func())) {
		year := 365 * 24 * time.Hour
		skew.Store(int64(year))
		every, cron := h.add(task("every", every(10*time.Minute))), h.add(task("cron", hourly))
		h.pass(time.Hour)
		ran := len(h.runs(every.ID))
		if ran < 5 || len(h.runs(cron.ID)) != 1 {
			t.Fatalf("%d and %d runs", ran, len(h.runs(cron.ID)))
		}
		skew.Store(0) // somebody sets it right while standin runs
		h.pass(time.Hour + 2*time.Minute)
		if n := len(h.runs(every.ID)) - ran; n < 5 {
			t.Errorf("%d runs in the hour after", n)
		}
		if n := len(h.runs(cron.ID)); n != 2 {
			t.Errorf("the hourly one has %d runs", n)
		}
		// And its failures are told again, though the last alert lies ahead.
		again(func() {})
		h.pass(time.Hour)
		if n := len(h.runs(cron.ID)); n != 3 {
			t.Errorf("after a start the hourly one has %d runs", n)
		}
	})
	scene("a clock that is set back by hours: the slots that come again are new ones, and their answers are posted", func(t *testing.T, h *house, skew *atomic.Int64, _ func(func())) {
		j := h.add(task("cron", hourly))
		h.pass(5 * time.Hour)
		skew.Store(int64(-4 * time.Hour))
		h.pass(3 * time.Hour)
		if runs, said := h.runs(j.ID), h.turns.said(); len(runs) != 8 || len(said) != 8 {
			t.Errorf("%d runs, %d posts", len(runs), len(said))
		}
	})
	scene("a clock that is set back a little runs no slot twice", func(t *testing.T, h *house, skew *atomic.Int64, again func(func())) {
		j := h.add(task("daily", daily))
		h.pass(9*time.Hour + 35*time.Minute)
		skew.Store(int64(-10 * time.Minute))
		h.pass(time.Hour)
		again(func() {})
		h.pass(time.Hour)
		if got := begun(h.runs(j.ID), h.job(j.ID).CreatedAt.Time()); !slices.Equal(got, []string{"9h30m0s"}) {
			t.Errorf("began at %v", got)
		}
	})
	scene("another time zone of the machine", func(t *testing.T, h *house, _ *atomic.Int64, again func(func())) {
		j, named := h.add(task("daily", daily)), task("named", daily)
		named.Schedule.Zone = "UTC"
		named = h.add(named)
		again(func() { h.cfg.Home = time.FixedZone("east", 3600) })
		if at := h.job(j.ID).State.Next.Time(); !at.Equal(j.State.Next.Time().Add(-time.Hour)) {
			t.Errorf("planned for %v", at)
		}
		if at := h.job(named.ID).State.Next; at != named.State.Next {
			t.Errorf("the one with a zone of its own moved to %v", at.Time())
		}
	})
	scene("what waits for a reason stays: a start moves no retry, no back-off, no later beginning", func(t *testing.T, h *house, _ *atomic.Int64, again func(func())) {
		again(func() { h.cfg.Retry.MaxAttempts = 0 })
		h.fails("format")
		back := h.add(task("failing", every(time.Minute)))
		cron := h.add(task("failing too", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "* * * * *"}))
		later := task("later", every(time.Minute))
		later.Schedule.AnchorMs = cronjobs.At(time.Now().Add(48 * time.Hour))
		later = h.add(later)
		h.pass(40 * time.Minute)
		want := []cronjobs.Millis{h.job(back.ID).State.Next, h.job(cron.ID).State.Next, later.State.Next}
		again(func() {})
		if got := []cronjobs.Millis{h.job(back.ID).State.Next, h.job(cron.ID).State.Next, h.job(later.ID).State.Next}; !slices.Equal(got, want) {
			t.Errorf("next %v, want %v", got, want)
		}
	})
}
