package cronjobs_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/cronjobs"
)

// sick is a store whose jobs cannot be read for a while.
type sick struct {
	cronjobs.Store
	ill atomic.Bool
}

func (s *sick) Job(ctx context.Context, id cronjobs.JobID) (cronjobs.Job, error) {
	if s.ill.Load() {
		return cronjobs.Job{}, errors.New("the disk is away")
	}
	return s.Store.Job(ctx, id)
}

// A run by hand that waits for a place is not lost, and its job not marked as
// running for ever, because the store fails when the place is there.
func TestARunByHandWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.MaxConcurrent = 1
		rows := &sick{Store: h.db}
		h.s = cronjobs.New(h.options(rows))
		h.turns.took = func(bot.Turn) time.Duration { return time.Minute }
		h.start()
		defer h.stop()
		first := h.add(task("first", every(24*time.Hour)))
		second := h.add(task("second", every(24*time.Hour)))
		for i, want := range []cronjobs.Asked{cronjobs.Ran, cronjobs.Queued} {
			j := []cronjobs.Job{first, second}[i]
			if asked, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil || asked != want {
				t.Fatalf("%s: %s, %v", j.Name, asked, err)
			}
		}
		rows.ill.Store(true)
		time.Sleep(3 * time.Minute)
		rows.ill.Store(false)
		time.Sleep(5 * time.Minute)
		if runs := h.runs(second.ID); len(runs) != 1 || runs[0].Status != cronjobs.OK || h.job(second.ID).State.Running != 0 {
			t.Errorf("%+v", runs)
		}
	})
}

// A schedule that no clock can hold is refused, and not read as another one.
func TestAnIntervalBeyondAllBounds(t *testing.T) {
	h := newHouse(t)
	defer h.stop()
	for _, ms := range []int64{0, -1, 1 << 58, 1e13} { // 2^58 ms are no time at all in nanoseconds
		if _, err := h.book.Add(t.Context(), task("x", cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: ms}), ""); err == nil {
			t.Errorf("%d ms are taken", ms)
		}
	}
	far := int64(1 << 58)
	if _, err := h.book.Add(t.Context(), task("x", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "0 9 * * *", StaggerMs: &far}), ""); err == nil {
		t.Error("a stagger of 2^58 ms is taken")
	}
}

// Stop waits no longer than it may: a run that does not end keeps its mark for
// the next start [R62].
func TestStopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		stuck := make(chan struct{})
		h.turns.answer = func(bot.Turn) (string, error) { <-stuck; return "late", nil }
		h.start()
		j := h.add(task("stuck", every(24*time.Hour)))
		if asked, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil || asked != cronjobs.Ran {
			t.Fatal(asked, err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		if err := h.s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if h.job(j.ID).State.Running == 0 {
			t.Error("its mark is gone")
		}
		close(stuck)
		synctest.Wait()
		if err := h.db.Close(); err != nil {
			t.Error(err)
		}
	})
}
