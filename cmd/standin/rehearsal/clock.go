package rehearsal

import (
	"context"
	"sync"
	"time"
)

// stageClock is the virtual time of a rehearsal. It moves in jumps, from one
// moment at which something is due to the next, and only when its owner says
// so: the owner sees to it that nothing runs meanwhile.
//
// Who sleeps on it is either a turn (an attempt that takes its time) or a timer
// of the daemon (the outbox that tries again later). The two are counted apart,
// since a daemon is at rest when each of its turns and each of its timers sleeps.
type stageClock struct {
	stirred chan struct{} // holds a token after each change that may bring rest

	mu       sync.Mutex
	now      time.Time
	bursts   int        // of activity so far
	sleepers []*sleeper // in the order in which they lay down
}

// sleeper is somebody who waits for a moment.
type sleeper struct {
	ctx    context.Context
	life   context.Context // of its process
	at     time.Time       // zero: for no moment, only for the end of ctx
	burst  int             // in which it lay down
	who    string          // a session
	turn   bool
	act    func() // what happens at the moment, before the sleeper goes on
	acting bool
	woken  chan struct{}
}

func newStageClock(start time.Time) *stageClock {
	return &stageClock{now: start, stirred: make(chan struct{}, 1)}
}

// burst begins a burst of activity: what lies down before the next one did so
// in an order that is nobody's.
func (c *stageClock) burst() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bursts++
}

// Now is the virtual time.
func (c *stageClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// stir says that something has changed. It never blocks.
func (c *stageClock) stir() {
	select {
	case c.stirred <- struct{}{}:
	default:
	}
}

// life is one life of the daemon on the clock: when its process dies, nobody of
// it sleeps any more.
type life struct {
	clock *stageClock
	ctx   context.Context
}

// sleep waits for d of virtual time in a turn, or until ctx ends, and then
// gives its cause.
func (l life) sleep(ctx context.Context, d time.Duration) error {
	return l.rest(ctx, &sleeper{turn: true, at: l.clock.Now().Add(max(d, 0))})
}

// pause is sleep for the daemon's own timers.
func (l life) pause(ctx context.Context, d time.Duration) error {
	return l.rest(ctx, &sleeper{at: l.clock.Now().Add(max(d, 0))})
}

// await keeps a turn waiting while the owner of the clock does act.
func (l life) await(ctx context.Context, act func()) error {
	return l.rest(ctx, &sleeper{turn: true, at: l.clock.Now(), act: act})
}

// hang keeps a turn waiting until ctx ends.
func (l life) hang(ctx context.Context) error {
	return l.rest(ctx, &sleeper{turn: true})
}

// queue keeps the turn of a session waiting until it comes first among those
// that are here at the same time.
func (l life) queue(ctx context.Context, session string) error {
	return l.rest(ctx, &sleeper{turn: true, at: l.clock.Now(), who: session})
}

func (l life) rest(ctx context.Context, s *sleeper) error {
	c := l.clock
	s.ctx, s.life, s.woken = ctx, l.ctx, make(chan struct{})
	c.mu.Lock()
	s.burst = c.bursts
	c.sleepers = append(c.sleepers, s)
	c.mu.Unlock()
	c.stir()
	select {
	case <-s.woken:
		return nil
	case <-ctx.Done():
		c.leave(s)
		return context.Cause(ctx)
	case <-l.ctx.Done():
		c.leave(s)
		return context.Cause(l.ctx)
	}
}

// awake tells whether the sleeper is about to get up by itself.
func (s *sleeper) awake() bool { return s.ctx.Err() != nil || s.life.Err() != nil }

// leave takes a sleeper off the list.
func (c *stageClock) leave(s *sleeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.sleepers {
		if c.sleepers[i] == s {
			c.sleepers = append(c.sleepers[:i], c.sleepers[i+1:]...)
			return
		}
	}
}

// asleep counts the turns and the timers that sleep. One whose ctx has ended is
// about to get up and does not count.
func (c *stageClock) asleep() (turns, timers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sleepers {
		switch {
		case s.awake():
		case s.turn:
			turns++
		default:
			timers++
		}
	}
	return turns, timers
}

// before tells whether s goes first: the earlier moment, the earlier burst, and
// within a burst the session's name.
func (s *sleeper) before(o *sleeper) bool {
	switch {
	case !s.at.Equal(o.at):
		return s.at.Before(o.at)
	case s.burst != o.burst:
		return s.burst < o.burst
	}
	return s.who < o.who
}

// next is the sleeper that is due first; nil when nobody waits for a moment.
func (c *stageClock) next() *sleeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first *sleeper
	for _, s := range c.sleepers {
		if !s.at.IsZero() && !s.acting && !s.awake() && (first == nil || s.before(first)) {
			first = s
		}
	}
	return first
}

// advance moves the time on; it never goes back.
func (c *stageClock) advance(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.now) {
		c.now = to
	}
}

// wake lets the sleeper go on, after its act if it has one.
func (c *stageClock) wake(s *sleeper) {
	c.burst()
	if s.act != nil {
		c.mu.Lock()
		s.acting = true
		c.mu.Unlock()
		s.act()
	}
	c.leave(s)
	close(s.woken)
}
