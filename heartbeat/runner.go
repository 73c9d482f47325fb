package heartbeat

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// Bot runs the turns of beats.
type Bot interface {
	// Turn runs a turn in its session's lane and returns when it has ended.
	Turn(ctx context.Context, t bot.Turn) (bot.Result, error)
	// Busy tells whether a turn of the session runs or waits.
	Busy(s fallback.SessionID) bool
	// BusyBeside tells the same of the agent's other sessions.
	BusyBeside(a fallback.AgentID, s fallback.SessionID) bool
	// Post has something said that no turn says, once for each delivery id.
	Post(ctx context.Context, posts ...channels.Outbound) error
}

// Engine is what a beat asks of the rule book beside its turn; *fallback.Runner
// is it.
type Engine interface {
	// Foresee tells what a run would do, and until when its whole chain rests.
	Foresee(ctx context.Context, ask fallback.Ask) (fallback.Explanation, time.Time, error)
	// ClearStale applies the clearing rule to a session [M7].
	ClearStale(ctx context.Context, ask fallback.Ask) (fallback.Model, error)
}

// Runner is what beats. Its fields are set once, before Run.
type Runner struct {
	Settings func() *Settings // asked once for each beat
	Bot      Bot
	Engine   Engine
	Rows     Rows
	ReadFile func(path string) ([]byte, error)
	// Known tells whether a channel has such an account; nil: it is not asked.
	Known func(channels.Address) bool
	// Model gives channels.modelByChannel for an address, zero for none; nil:
	// there are none [H19].
	Model func(channels.Address) fallback.Model
	// JobRuns tells whether a cron job runs; nil: none ever does.
	JobRuns func() bool
	Log     *slog.Logger
	Now     func() time.Time
	// Sleep waits for d or until ctx ends, and then gives ctx's error.
	Sleep func(ctx context.Context, d time.Duration) error

	mu     sync.Mutex
	pulses map[fallback.AgentID]*pulse
	nudged context.CancelFunc // ends the wait of Run
	seed   string
	seen   time.Time // the clock on the wall when it was last looked at
	beats  sync.WaitGroup
}

// pulse is what the runner knows of an agent between beats. It is memory: after
// a restart the grid gives the same slots, and the row what was cut short.
type pulse struct {
	every time.Duration
	hours Hours
	due   time.Time // the next slot, zero for none
	again time.Time // a beat that was put off; zero: none
	from  Reason    // of that beat
	// resume is the turn id of a beat that a former process left behind.
	resume string
	last   time.Time // the slot that was taken last
	wake   *request
	ran    []time.Time // starts of the last beats, oldest first
	busy   chan struct{}
}

// longestWait bounds one wait, so that a clock that jumps and a machine that
// slept are noticed.
const longestWait = time.Minute

// Run beats until ctx ends. First it takes up what a former process left. Beats
// that run then go on until their turn ends, which the bot's Stop sees to; Run
// returns after them.
func (r *Runner) Run(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.resume(ctx)
	for ctx.Err() == nil {
		wait := r.step(ctx)
		sleep, nudge := context.WithCancel(ctx)
		r.mu.Lock()
		r.nudged = nudge
		r.mu.Unlock()
		if r.due(r.Now()) { // a wake that came in between
			nudge()
		}
		_ = r.Sleep(sleep, min(wait, longestWait)) // over, nudged, or ctx has ended
		nudge()
	}
	r.beats.Wait()
	return nil
}

// prepare reads the installation's seed.
func (r *Runner) prepare(ctx context.Context) error {
	seed, err := r.Rows.HeartbeatSeed(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seed = seed
	if r.pulses == nil {
		r.pulses = map[fallback.AgentID]*pulse{}
	}
	return nil
}

// planted is the seed, "" until Run has read it: a job or a person may want a beat
// before that.
func (r *Runner) planted() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seed
}

// Reload has new settings looked at now. The slots of an agent move only if its
// interval or hours did [H3, IL-221].
func (r *Runner) Reload() { r.nudge() }

func (r *Runner) nudge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nudged != nil {
		r.nudged()
	}
}

// pulseLocked is the agent's pulse, planned by its settings.
func (r *Runner) pulseLocked(a fallback.AgentID, c Config, now time.Time) *pulse {
	if r.pulses == nil {
		r.pulses = map[fallback.AgentID]*pulse{}
	}
	p := r.pulses[a]
	if p == nil {
		p = &pulse{}
		r.pulses[a] = p
	}
	if p.every != c.Every || p.hours != c.Hours {
		p.every, p.hours = c.Every, c.Hours
		p.due, _ = Next(now, c.Every, Phase(r.seed, a, c.Every), c.Hours)
		if p.from == Interval {
			p.again = time.Time{}
		}
	}
	return p
}

// next is when something of the pulse is due, and what; zero for nothing.
func (p *pulse) next(spacing time.Duration) (at time.Time, why Reason) {
	consider := func(t time.Time, r Reason) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at, why = t, r
		}
	}
	if p.wake != nil {
		consider(p.wake.at(p.ran, spacing), p.wake.reason)
	}
	consider(p.again, p.from)
	if p.again.IsZero() || p.from != Interval { // one that is put off has taken its slot
		consider(p.due, Interval)
	}
	return at, why
}

// due tells whether a beat should start at now.
func (r *Runner) due(now time.Time) bool {
	s := r.Settings()
	r.mu.Lock()
	defer r.mu.Unlock()
	for a, p := range r.pulses {
		if at, _ := p.next(s.For(a).Spacing); p.busy == nil && !at.IsZero() && !at.After(now) {
			return true
		}
	}
	return false
}

// step starts what is due and gives how long nothing else is.
func (r *Runner) step(ctx context.Context) time.Duration {
	s, now := r.Settings(), r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setBackLocked(now)
	for _, a := range s.Agents {
		r.pulseLocked(a, s.Of[a], now)
	}
	wait := longestWait
	for a, p := range r.pulses {
		c := s.For(a)
		if p.every != c.Every { // its block has gone from the config
			r.pulseLocked(a, c, now)
		}
		at, why := p.next(c.Spacing)
		switch {
		case p.busy != nil || at.IsZero():
		case at.After(now):
			wait = min(wait, at.Sub(now))
		default:
			r.startLocked(ctx, s, a, p, why, now)
		}
	}
	return wait
}

// setBackLocked notices that the clock was set back, by more than a correction
// moves it: what was planned and counted by it is planned anew, or an agent would
// not beat until the clock shows that time again.
func (r *Runner) setBackLocked(now time.Time) {
	wall := now.Round(0) // without the reading that never jumps
	if back := r.seen.Sub(wall); back > longestWait {
		for _, p := range r.pulses {
			p.every, p.ran = 0, nil
			if p.again.After(now) {
				p.again = now
			}
			if p.wake != nil && p.wake.since.After(now) {
				p.wake.since = now
			}
		}
		r.Log.Warn("the clock was set back; heartbeats are planned anew", "by", back)
	}
	r.seen = wall
}

// startLocked begins the beat that is due and moves what caused it.
func (r *Runner) startLocked(ctx context.Context, s *Settings, a fallback.AgentID, p *pulse, why Reason, now time.Time) {
	id := p.resume
	switch {
	case p.wake != nil && !p.wake.at(p.ran, s.For(a).Spacing).After(now):
		why, p.wake = p.wake.reason, nil
		id = ""
	case !p.again.IsZero() && !p.again.After(now):
		p.again, p.resume = time.Time{}, ""
	}
	if why == Interval {
		id = p.planLocked(r.seed, a, id, now)
	}
	p.busy = make(chan struct{})
	work := context.WithoutCancel(ctx) // the bot ends what runs, after its drain
	r.beats.Go(func() {
		rep := r.beat(work, s, a, why, id)
		r.ended(a, p, rep)
	})
}

// planLocked moves the schedule to its next slot; a slot has one turn id, so
// that the same beat never posts twice.
func (p *pulse) planLocked(seed string, a fallback.AgentID, id string, now time.Time) string {
	if !p.due.After(now) && !p.due.IsZero() {
		if id == "" && p.due.After(p.last) { // else the clock was set back: this is another beat
			id = turnID(seed, a, p.due)
		}
		p.last = latest(p.last, p.due)
		p.due, _ = Next(now, p.every, Phase(seed, a, p.every), p.hours)
	}
	return id
}

// ended takes the report of a beat: a reason that passes has it tried again,
// without moving the schedule [H12].
func (r *Runner) ended(a fallback.AgentID, p *pulse, rep Report) {
	r.mu.Lock()
	close(p.busy)
	p.busy = nil
	if rep.Status != Skipped {
		p.ran = note(p.ran, rep.At)
	}
	if !rep.Next.IsZero() && rep.Why != WhyInterrupted {
		if p.again.IsZero() || rep.Next.Before(p.again) || rep.Then.rank() > p.from.rank() {
			p.again, p.from, p.resume = rep.Next, rep.Then, ""
			if rep.Status == Skipped {
				p.resume = rep.Turn
			}
		}
	}
	r.mu.Unlock()
	r.nudge()
}

// Wake asks for a beat of the agent soon: wakes that come together are one beat,
// and one that follows another too closely waits [H13]. It does not wait itself.
func (r *Runner) Wake(a fallback.AgentID, why Reason) {
	now := r.Now()
	s := r.Settings()
	r.mu.Lock()
	p := r.pulseLocked(a, s.For(a), now)
	p.wake = p.wake.join(why, now)
	r.mu.Unlock()
	r.nudge()
}

// Beat runs a beat of the agent now and tells what came of it, for a job that
// left something for the main session and for a person who asks. A beat that
// runs already, or too many of them, make it give Skipped, except for a person's:
// that one waits its turn [H13, R26]. ctx ends that waiting; a beat that has begun
// goes on.
func (r *Runner) Beat(ctx context.Context, a fallback.AgentID, why Reason) Report {
	for {
		now, s := r.Now(), r.Settings()
		r.mu.Lock()
		p := r.pulseLocked(a, s.For(a), now)
		busy := p.busy
		if busy == nil {
			if end := flooded(p.ran); !why.byHand() && end.After(now) {
				r.mu.Unlock()
				return Report{Agent: a, Reason: why, Status: Skipped, Why: WhyFlood, At: now, Next: end}
			}
			p.busy = make(chan struct{})
			r.beats.Add(1)
			r.mu.Unlock()
			rep := r.beat(context.WithoutCancel(ctx), s, a, why, "")
			own := rep
			own.Next = time.Time{} // whoever asked decides whether to ask again
			r.ended(a, p, own)
			r.beats.Done()
			return rep
		}
		r.mu.Unlock()
		if !why.byHand() {
			return Report{Agent: a, Reason: why, Status: Skipped, Why: WhyBusy, At: now, Next: now.Add(busyRetry)}
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return Report{Agent: a, Reason: why, Status: Skipped, Why: WhyInterrupted, At: r.Now(), Detail: context.Cause(ctx).Error()}
		}
	}
}

// Due is when the agent's next beat is planned, zero for none.
func (r *Runner) Due(a fallback.AgentID) time.Time {
	s := r.Settings()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pulseLocked(a, s.For(a), r.Now())
	at, _ := p.next(s.For(a).Spacing)
	return at
}
