package cronjobs_test

import (
	"context"
	"errors"
	"strings"
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

// R24: a run by hand that waits for its place for longer than the bound of a
// forgotten mark is nobody's forgotten run: it runs once, and well.
func TestARunByHandMayWaitForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.cfg.MaxConcurrent = 1
		h.turns.took = func(turn bot.Turn) time.Duration {
			if strings.Contains(turn.Text, "do first") {
				return 3 * time.Hour
			}
			return time.Minute
		}
		h.start()
		defer h.stop()
		long := task("first", every(24*time.Hour))
		limit := 0
		long.Payload.TimeoutSeconds = &limit
		first, second := h.add(long), h.add(task("second", every(24*time.Hour)))
		for _, j := range []cronjobs.Job{first, second} {
			if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
				t.Fatal(err)
			}
		}
		h.pass(2*time.Hour + 30*time.Minute)
		if runs := h.runs(second.ID); len(runs) != 1 || runs[0].Ended != 0 || h.job(second.ID).State.Run != runs[0].ID {
			t.Fatalf("while it waits: %+v", runs)
		}
		h.pass(time.Hour)
		if runs := h.runs(second.ID); len(runs) != 1 || runs[0].Status != cronjobs.OK || h.job(second.ID).State.Errors != 0 {
			t.Errorf("%+v", runs)
		}
	})
}

// late is a store that holds back a change when it has been written.
type late struct {
	cronjobs.Store
	free chan struct{}
}

func (l *late) ChangeJob(ctx context.Context, id cronjobs.JobID, look func(*cronjobs.Job) (cronjobs.Change, error)) (cronjobs.Job, error) {
	j, err := l.Store.ChangeJob(ctx, id, look)
	<-l.free
	return j, err
}

// R62: Stop waits for whoever just asks for a run, and nothing begins then: the
// job keeps its slot and loses its mark.
func TestNothingBeginsOnceStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		rows := &late{Store: h.db, free: make(chan struct{})}
		h.s = cronjobs.New(h.options(rows))
		h.start()
		j := h.add(task("brief", every(24*time.Hour)))
		asked := make(chan error)
		go func() {
			_, _, err := h.s.RunNow(context.Background(), j.ID, false)
			asked <- err
		}()
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- h.s.Stop(context.Background()) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Stop did not wait for the claim")
		default:
		}
		close(rows.free)
		if err := <-asked; !errors.Is(err, cronjobs.ErrLeaving) {
			t.Errorf("whoever asked was told %v", err)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		r := h.runs(j.ID)[0]
		if st := h.job(j.ID).State; len(h.turns.asked) != 0 || st.Running != 0 || st.Next != j.State.Next || st.Errors != 0 || r.Status != cronjobs.Skipped || r.Ended == 0 {
			t.Errorf("%d turns, %+v, %+v", len(h.turns.asked), st, r)
		}
		if err := h.db.Close(); err != nil {
			t.Error(err)
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
