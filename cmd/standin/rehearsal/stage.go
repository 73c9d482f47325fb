package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
)

// stage plays a rehearsal: it owns the clock, the vendors and the room, and the
// daemon between them is the real one.
//
// All that runs is set going by the stage: a step of the script, or somebody
// who is woken. It then waits until the daemon is at rest again (see settle),
// so that one thing happens after the other and each run tells the same story.
type stage struct {
	script  *rehearsal
	dir     string // of the databases, one folder in it for each process
	clock   *stageClock
	vendors *stagedVendors
	room    *stagedRoom
	tale    *tale
	log     *slog.Logger

	now    *process
	config *config.Compiled
	lives  int
	said   int
	seen   map[fallback.SessionID]bool // sessions in which something was done
	err    error                       // ends the rehearsal
	ids    atomic.Int64

	mu     sync.Mutex
	during map[fallback.SessionID]*middle
}

// process is one life of the daemon.
type process struct {
	*daemon.App
	alive context.Context
	die   context.CancelCauseFunc
}

// middle is what is to happen during a turn of a session.
type middle struct {
	asides []aside
	calls  int // of the turn so far
}

// errDied is the cause of everything that ends with a process.
var errDied = errors.New("the process of the rehearsal has ended")

// stuckAfter is how long a daemon may work, in real time, on what takes it
// milliseconds, before the rehearsal gives up.
const stuckAfter = time.Minute

// playIn performs the script in dir and gives what happened.
func playIn(ctx context.Context, r *rehearsal, dir string, log *slog.Logger) (*tale, error) {
	s := &stage{script: r, dir: dir, clock: newStageClock(r.start), vendors: &stagedVendors{start: r.start, rules: r.rules},
		log: log, config: r.config, seen: map[fallback.SessionID]bool{}, during: map[fallback.SessionID]*middle{}}
	s.tale = &tale{start: r.start, now: s.clock.Now, models: map[string]fallback.Model{}, turns: map[string]string{}}
	s.room = newStagedRoom(s.tale.posted)
	if err := s.begin(ctx, filepath.Join(dir, "1")); err != nil {
		return nil, err
	}
	err := s.perform(ctx)
	if err == nil {
		err = s.tale.end(ctx, s.now, r)
	}
	return s.tale, errors.Join(err, s.finish())
}

// begin starts a process on the databases in dir; the first one writes the
// stored rows of the script before.
func (s *stage) begin(ctx context.Context, dir string) error {
	s.lives++
	ctx = context.WithoutCancel(ctx)
	alive, die := context.WithCancelCause(ctx)
	l := life{s.clock, alive}
	witness := &witness{tale: s.tale, alive: alive}
	a, err := daemon.New(ctx, daemon.Parts{
		State: dir, Config: s.house(s.config), Channels: []channels.Channel{&connection{s.room, alive}},
		Vendors: line{l, s.vendors, s.asides},
		Witness: witness, Log: s.log, Now: s.clock.Now, Sleep: l.sleep,
		Staging: &daemon.Staging{
			ID: s.id, Pause: l.pause, Stirred: s.clock.stir, Ranks: s.script.ranks(),
			Store: func(db bot.Store) bot.Store { witness.Store = db; return witness },
			Tools: s.script.played(),
		},
	})
	if err != nil {
		die(errDied)
		return err
	}
	s.now = &process{App: a, alive: alive, die: die}
	if s.lives == 1 {
		if err := s.script.seed(ctx, a.DB); err != nil {
			return errors.Join(err, s.finish())
		}
	}
	return a.Start(ctx)
}

// finish ends the process: nothing is drained, and nobody hears of what it
// still does on its way out.
func (s *stage) finish() error {
	s.now.die(errDied)
	return s.now.Close()
}

// restart ends the process like a crash and starts another on what is on the
// disk at this moment: a copy, so that the old one cannot write to it.
func (s *stage) restart(ctx context.Context) error {
	dir := filepath.Join(s.dir, fmt.Sprint(s.lives+1))
	if err := s.now.DB.CopyTo(ctx, dir); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	return s.begin(ctx, dir)
}

// id makes the daemon's ids of turns and epochs.
func (s *stage) id() string { return fmt.Sprintf("id%d", s.ids.Add(1)) }

// perform plays the steps in the order of time. A step waits for the turns
// before it in its session; the steps of other sessions do not wait with it.
func (s *stage) perform(ctx context.Context) error {
	waiting := slices.Clone(s.script.steps)
	for {
		if err := s.settle(ctx); err != nil {
			return err
		}
		now := s.clock.Now()
		due := s.clock.next()
		if due != nil && !due.at.After(now) {
			s.clock.wake(due)
			continue
		}
		i, next := s.ready(waiting, now)
		switch {
		case i == 0:
			sc := waiting[0]
			waiting = waiting[1:] // the usual case, without moving a month of steps
			s.enter(ctx, sc)
		case i > 0:
			sc := waiting[i]
			waiting = slices.Delete(waiting, i, i+1)
			s.enter(ctx, sc)
		case due != nil && (next.IsZero() || !due.at.After(next)):
			s.clock.advance(due.at)
		case !next.IsZero():
			s.clock.advance(next)
		default:
			return nil
		}
	}
}

// ready gives the place of the first step that may start now, -1 for none, and
// the time of the first one that is still to come, zero for none.
func (s *stage) ready(waiting []*scene, now time.Time) (i int, next time.Time) {
	held := map[fallback.SessionID]bool{}
	for i, sc := range waiting {
		if at := s.script.start.Add(sc.at); at.After(now) {
			return -1, at
		}
		session := sc.act.session()
		if session == "" {
			return i, next
		}
		if held[session] || s.now.Bot.Busy(session) {
			held[session] = true
			continue
		}
		return i, next
	}
	return -1, time.Time{}
}

// enter does a step. Nothing else runs when it begins.
func (s *stage) enter(ctx context.Context, sc *scene) {
	s.clock.burst()
	if sc.act.turn() {
		s.mu.Lock()
		s.during[sc.act.session()] = &middle{asides: sc.during}
		s.mu.Unlock()
	}
	s.do(ctx, sc.act)
}

// asides gives what is to be done in the middle of this call of the session.
func (s *stage) asides(session string) (list []func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.during[fallback.SessionID(session)]
	if m == nil {
		return nil
	}
	m.calls++
	for _, d := range m.asides {
		if d.attempt == m.calls {
			list = append(list, func() { s.aside(d.act) })
		}
	}
	return list
}

// aside does an act while an attempt waits for it: all that it sets going
// without taking time has happened when the attempt goes on.
func (s *stage) aside(a deed) {
	ctx := context.Background()
	s.do(ctx, a)
	for s.err == nil {
		if s.err = s.settle(ctx); s.err != nil {
			return
		}
		due := s.clock.next()
		if due == nil || due.at.After(s.clock.Now()) {
			return
		}
		s.clock.wake(due)
	}
}

// settle waits until nothing of the daemon can run before time passes: each
// running turn and each timer sleeps on the clock, and nothing is being posted.
func (s *stage) settle(ctx context.Context) error {
	for s.err == nil {
		turns, timers, posting := s.now.Bot.Activity()
		if sleepingTurns, sleepingTimers := s.clock.asleep(); !posting && turns == sleepingTurns && timers == sleepingTimers {
			// A turn may have ended and another begun between the two counts; its
			// posts would show now.
			if t, m, posting := s.now.Bot.Activity(); !posting && t == turns && m == timers {
				return nil
			}
			continue
		}
		select {
		case <-s.clock.stirred:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(stuckAfter):
			return fmt.Errorf("the daemon does not come to rest at %s: %d turns run", short(s.clock.Now().Sub(s.script.start)), turns)
		}
	}
	return s.err
}
