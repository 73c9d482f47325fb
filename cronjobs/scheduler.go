package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// Outbound is what a Turner posts.
type Outbound = channels.Outbound

// Options are what a Scheduler works with. All but those that say what nil means
// must be set.
type Options struct {
	Config   func() *Config          // asked once per decision
	Models   func() *fallback.Config // the same
	Store    Store
	Turns    Turner
	Waker    Waker                                          // nil: a main job's text waits for the next turn
	Direct   Direct                                         // nil: a person is their own conversation
	Post     func(ctx context.Context, p WebhookCall) error // nil: over the network, guarded
	Probe    func(ctx context.Context, url string) error    // nil: over the network
	Channels []string                                       // that a delivery may name; nil: any
	Log      *slog.Logger
	Now      func() time.Time
	// Sleep waits for d or until ctx ends, and then gives ctx's error.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Scheduler runs jobs. It is made by New, begins with Start and ends with Stop;
// its methods may be called from many goroutines.
type Scheduler struct {
	Options
	local localServers

	life  context.Context // of runs; ended by Stop
	die   context.CancelCauseFunc
	works sync.WaitGroup // runs and what follows them
	loop  chan struct{}  // closed when the loop has ended

	mu       sync.Mutex
	started  bool
	stopping bool
	running  map[JobID]context.CancelCauseFunc
	waiting  []manual // runs by hand that wait for a place
	nudged   bool
	skipped  bool               // the clock was moved on purpose
	rouse    context.CancelFunc // of the rest; nil: it does not rest
	byHand   int                // counts them, for their ids
	ran      map[JobID]bool     // since the last sweep

	// The loop's own: when it last swept, and the runs of a former process that
	// could not be looked at yet.
	tidied, forgot time.Time
	former         map[RunID]bool
}

// New makes a scheduler. Nothing runs before Start.
func New(o Options) *Scheduler {
	s := &Scheduler{Options: o, running: map[JobID]context.CancelCauseFunc{}, ran: map[JobID]bool{}, former: map[RunID]bool{}, loop: make(chan struct{})}
	s.life, s.die = context.WithCancelCause(context.Background())
	if s.Post == nil {
		s.Post = s.postWebhook
	}
	if s.Probe == nil {
		s.Probe = probeServer
	}
	return s
}

// longestRest bounds a rest, so that jumps of the clock, a suspended machine and
// changes that nobody announced are noticed [R19].
const longestRest = time.Minute

// overslept is a rest that was so much longer than planned that the machine
// must have been asleep: what was due meanwhile is caught up with.
const overslept = 3 * longestRest

// Start takes up what a former process left [R57], plans what was missed [R58]
// and then runs jobs until Stop. The bot must be started.
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	if err := s.lookForMissed(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	go s.run()
	return nil
}

// run is the loop.
func (s *Scheduler) run() {
	defer close(s.loop)
	troubled := false
	for last := s.Now(); s.life.Err() == nil; {
		now := s.Now()
		next, err := s.tick(now, moved(last, now) && !s.hasSkipped())
		switch {
		case err != nil && s.life.Err() == nil && !troubled:
			s.Log.Error("jobs cannot be read; looking again each minute", "err", err)
		case err == nil && troubled:
			s.Log.Info("jobs can be read again")
		}
		troubled = err != nil
		last = s.Now()
		s.rest(next.Sub(last), !next.IsZero())
	}
}

// rest waits for the next job, a minute at most, or for a nudge.
func (s *Scheduler) rest(d time.Duration, due bool) {
	if !due || d > longestRest {
		d = longestRest
	}
	if d <= 0 {
		d = time.Millisecond
	}
	s.mu.Lock()
	if s.nudged {
		s.nudged = false
		s.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(s.life)
	s.rouse = cancel
	s.mu.Unlock()
	_ = s.Sleep(ctx, d)
	cancel()
	s.mu.Lock()
	s.rouse, s.nudged = nil, false
	s.mu.Unlock()
}

// Nudge has the scheduler look at its jobs now: somebody changed them.
func (s *Scheduler) Nudge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nudged = true
	if s.rouse != nil {
		s.rouse()
	}
}

// Skip says that the clock was moved ahead on purpose, as a demo does: what came
// due meanwhile runs now, and not as something that was missed.
func (s *Scheduler) Skip() {
	s.mu.Lock()
	s.skipped = true
	s.mu.Unlock()
	s.Nudge()
}

func (s *Scheduler) hasSkipped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.skipped
	s.skipped = false
	return was
}

// tick starts what is due and tells when to look again; zero: nothing is
// planned, or there is no place for it.
func (s *Scheduler) tick(now time.Time, jumped bool) (time.Time, error) {
	ctx, cfg := s.life, s.Config()
	if jumped {
		if err := s.lookForMissed(ctx); err != nil {
			return time.Time{}, err
		}
	}
	s.upkeep(ctx, cfg, now)
	s.startWaiting()
	if !cfg.Enabled {
		return time.Time{}, nil
	}
	free := s.free(cfg)
	if free <= 0 {
		return time.Time{}, nil // the end of a run nudges
	}
	due, err := s.Store.DueJobs(ctx, now, free)
	if err != nil {
		return time.Time{}, err
	}
	for _, j := range due {
		if err := s.claim(ctx, j.ID, now); err != nil {
			return time.Time{}, err
		}
	}
	if len(due) == free {
		return time.Time{}, nil
	}
	return s.Store.NextDue(ctx)
}

func (s *Scheduler) free(cfg *Config) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return 0
	}
	return max(1, cfg.MaxConcurrent) - len(s.running)
}

// claim takes a due job's slot and starts its run. The row decides who has it:
// of two that want the slot one finds it due.
func (s *Scheduler) claim(ctx context.Context, id JobID, now time.Time) error {
	var claimed *Run
	off := false
	j, err := s.Store.ChangeJob(ctx, id, func(j *Job) (Change, error) {
		claimed, off = nil, false
		st := &j.State
		if !j.Enabled || st.Running != 0 || st.Next == 0 || st.Next.Time().After(now) {
			return Change{}, nil
		}
		if st.Slot == 0 { // its schedule failed: try to read it again
			t, err := j.ready(s.Config().Home)
			if err == nil {
				err = j.plan(t, now)
			}
			if err != nil {
				off = scheduleFailed(j, err, now)
			}
			return Change{Write: true}, nil
		}
		trigger := st.Trigger
		if trigger == "" {
			trigger = OnSchedule
		}
		r := newRun(j, trigger, st.Slot, st.Attempt, now)
		st.Running, st.Run, claimed = r.Started, r.ID, &r
		return Change{Write: true, Run: &r}, nil
	})
	if errors.Is(err, ErrNoJob) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim job %s: %w", id, err)
	}
	if off {
		s.note(ctx, j.Agent, "cron-off:"+string(id), saySwitchedOff(j))
	}
	if claimed != nil {
		_ = s.launch(j, *claimed) // a claim that is undone is due at the next start
	}
	return nil
}

// launch runs a claimed run on its own, or undoes the claim and gives ErrLeaving:
// what begins after Stop has begun to wait would be cut short.
func (s *Scheduler) launch(j Job, r Run) error {
	ctx, cancel := context.WithCancelCause(s.life)
	s.mu.Lock()
	if s.stopping {
		s.mu.Unlock()
		cancel(nil)
		s.unclaim(r)
		return ErrLeaving
	}
	defer s.mu.Unlock()
	s.running[j.ID] = cancel
	s.works.Go(func() {
		after := s.work(ctx, j, r)
		s.mu.Lock()
		delete(s.running, j.ID)
		s.ran[j.ID] = true
		s.mu.Unlock()
		cancel(nil)
		s.Nudge()
		after() // its place is free: a slow receipt holds up no other job
	})
	return nil
}

// unclaim takes the mark off a job whose run has not begun: its slot is as due as
// before.
func (s *Scheduler) unclaim(r Run) {
	r.Ended = At(s.Now())
	r = r.skipped(whyInterrupted, "standin was stopped before it began")
	_, err := s.changeJob(context.WithoutCancel(s.life), r.Job, func(j *Job) (Change, error) {
		if j.State.Run != r.ID {
			return Change{}, nil
		}
		j.State.Running, j.State.Run = 0, ""
		return Change{Write: true, Run: &r}, nil
	})
	if err != nil {
		s.Log.Error("a claimed run that did not begin keeps its mark; the next start will look at it", "job", r.Job, "run", r.ID, "err", err)
	}
}

// hasHere tells whether this process runs the job, or will when a place is free.
func (s *Scheduler) hasHere(id JobID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id] != nil || slices.ContainsFunc(s.waiting, func(m manual) bool { return m.job == id })
}

// errRemoved ends the run of a job that is taken away [R70].
var errRemoved = errors.New("the job was removed")

// Cancel ends a job's run, because the job goes.
func (s *Scheduler) Cancel(id JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[id]; cancel != nil {
		cancel(errRemoved)
	}
}

// drain is how long Stop waits for runs that were told to end [R62].
const drain = 5 * time.Second

// Stop starts nothing any more and ends what runs: such a run is written down
// as interrupted, or keeps its mark for the next start to find [R62, IL-006].
func (s *Scheduler) Stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	started := s.started
	s.mu.Unlock()
	s.die(bot.ErrShutdown)
	if started {
		<-s.loop
	}
	ended := make(chan struct{})
	go func() { s.works.Wait(); close(ended) }()
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	late := make(chan struct{})
	go func() {
		if s.Sleep(waiting, drain) == nil {
			close(late)
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late:
		return errors.New("some jobs did not end in time; the next start records them as interrupted")
	}
}
