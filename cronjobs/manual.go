package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Asked is what came of asking for a run by hand [R31].
type Asked string

// The answers.
const (
	Ran            Asked = "ran"    // it has begun
	Queued         Asked = "queued" // it begins when a place is free
	AlreadyRunning Asked = "already-running"
	NotDue         Asked = "not-due"
	InvalidSpec    Asked = "invalid-spec"
)

// manual is a run by hand that waits for a place.
type manual struct {
	job JobID
	run Run
}

// ErrLeaving says that the scheduler starts nothing any more.
var ErrLeaving = errors.New("standin is stopping")

// RunNow runs a job by hand, whether or not it is due or switched on; with due,
// only if it is due. The schedule stays as it is. The run's id is that of its
// line in the log.
func (s *Scheduler) RunNow(ctx context.Context, id JobID, due bool) (Asked, RunID, error) {
	cfg, now := s.Config(), s.Now()
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		return "", "", ErrLeaving
	}
	s.works.Add(1) // Stop waits for what is claimed here
	defer s.works.Done()
	s.byHand++
	n := s.byHand
	full := len(s.running) >= max(1, cfg.MaxConcurrent)
	s.mu.Unlock()
	var asked Asked
	var run Run
	j, err := s.Store.ChangeJob(ctx, id, func(j *Job) (Change, error) {
		st := &j.State
		switch _, err := j.ready(cfg.Home); {
		case st.Running != 0:
			asked, run.ID = AlreadyRunning, st.Run
			return Change{}, nil
		case due && (!j.Enabled || st.Next == 0 || st.Next.Time().After(now)):
			asked = NotDue
			return Change{}, nil
		case err != nil && due:
			asked = InvalidSpec
			return Change{}, nil
		}
		if due {
			run = newRun(j, OnSchedule, st.Slot, st.Attempt, now)
		} else {
			run = newRun(j, ByHand, 0, 0, now)
			run.ID = RunID(fmt.Sprintf("manual:%s:%d:%d", j.ID, At(now), n))
			run.Turn = word(string(run.ID))
		}
		st.Running, st.Run = run.Started, run.ID
		asked = Ran
		return Change{Write: true, Run: &run}, nil
	})
	if err != nil || asked != Ran {
		return asked, run.ID, err
	}
	if full {
		s.mu.Lock()
		s.waiting = append(s.waiting, manual{j.ID, run})
		s.mu.Unlock()
		return Queued, run.ID, nil
	}
	if err := s.launch(j, run); err != nil {
		return "", "", err
	}
	return Ran, run.ID, nil
}

// startWaiting starts runs by hand that waited for a place.
func (s *Scheduler) startWaiting() {
	for s.free(s.Config()) > 0 {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			s.mu.Unlock()
			return
		}
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		j, err := s.Store.Job(s.life, next.job)
		if err != nil && !errors.Is(err, ErrNoJob) {
			s.mu.Lock() // its job is marked as running: it keeps its place
			s.waiting = append([]manual{next}, s.waiting...)
			s.mu.Unlock()
			s.Log.Warn("a run by hand waits: its job cannot be read", "job", next.job, "err", err)
			return
		}
		if err != nil {
			s.Log.Warn("a run by hand was dropped", "job", next.job, "err", err)
			next.run.Ended = At(s.Now())
			_ = s.Store.PutRun(s.life, next.run.failed("removed", err.Error()))
			continue
		}
		if j.State.Run != next.run.ID {
			s.Log.Warn("a run by hand was dropped: somebody else has written its end", "job", next.job, "run", next.run.ID)
			continue
		}
		if s.launch(j, next.run) != nil {
			return
		}
	}
}

// Health is what the scheduler says of itself.
type Health struct {
	Enabled bool      `json:"enabled"`
	Running int       `json:"running"`
	Waiting int       `json:"waiting"`
	Next    time.Time `json:"next"`
}

// Status tells how the scheduler is.
func (s *Scheduler) Status(ctx context.Context) (st Health, err error) {
	st.Enabled = s.Config().Enabled
	s.mu.Lock()
	st.Running, st.Waiting = len(s.running), len(s.waiting)
	s.mu.Unlock()
	st.Next, err = s.Store.NextDue(ctx)
	return st, err
}
