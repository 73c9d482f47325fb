package bot

import (
	"context"
	"sync"

	"standin/bot/policy"
	"standin/fallback"
)

// job is one piece of work of a session.
type job struct {
	// req is what it answers; nil for a background run.
	req *request
	run func(ctx context.Context)
	// dropped is called instead of run when the queue is emptied; nil: nobody waits.
	dropped func(cause error)
}

// lanes runs jobs: one at a time for each session [I9], at most limit() over
// all of them [S28]. Sessions take turns: one that has just run stands behind
// those that wait. A goroutine exists only while a job runs.
type lanes struct {
	limit   func() int // read when a job might start, so that a reload counts
	stirred func()     // told when a job has ended

	mu      sync.Mutex
	held    bool // collect, but start nothing (boot)
	closed  bool // start nothing any more (shutdown)
	busy    map[fallback.SessionID]*lane
	ready   []fallback.SessionID // sessions with work and nothing running, in order
	running int
	quiet   []chan struct{} // waiters of Quiet
}

// lane is a session that has work.
type lane struct {
	queue   []job
	current *job
	cancel  context.CancelCauseFunc // of current
}

func newLanes(limit func() int) *lanes {
	return &lanes{limit: limit, stirred: func() {}, held: true, busy: map[fallback.SessionID]*lane{}}
}

// Do queues a job behind the session's others.
func (l *lanes) Do(s fallback.SessionID, j job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.busy[s]
	if ln == nil {
		ln = &lane{}
		l.busy[s] = ln
		l.ready = append(l.ready, s)
	}
	ln.queue = append(ln.queue, j)
	l.startLocked()
}

// Join queues the job of a message as q says: interrupt stops the running
// message and takes the waiting ones' place, and of more than q.Cap waiting
// messages one makes room [S24, S25]. The zero Queue just queues. gone are the
// requests that get no turn, for the reason why. Background runs are nobody's
// message: they are neither stopped nor counted.
func (l *lanes) Join(s fallback.SessionID, j job, q policy.Queue) (gone []request, why string) {
	l.mu.Lock()
	if ln := l.busy[s]; ln != nil {
		if q.Mode == policy.Interrupt {
			gone, why = ln.takeLocked(len(ln.queue)), whyOvertaken
			if ln.current != nil && ln.current.req != nil {
				ln.cancel(errOvertaken)
			}
		}
		if q.Cap > 0 && ln.waitingLocked() >= q.Cap {
			why = "queue full"
			switch q.Drop {
			case policy.DropNew:
				l.mu.Unlock()
				return append(gone, *j.req), why
			case policy.DropOld:
				gone = append(gone, ln.takeLocked(1)...)
			default:
				oldest := ln.takeLocked(1)[0]
				ln.firstLocked(j.req).recall(oldest)
			}
		}
	}
	l.mu.Unlock()
	l.Do(s, j)
	return gone, why
}

// Gather hands all waiting messages of the session over to its running one, if
// may says so of them: take is called for each, in order. It is called under the
// lock, so that a Stop finds every message in one of the two.
func (l *lanes) Gather(s fallback.SessionID, may func([]*request) bool, take func(waiting request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.busy[s]
	if ln == nil || ln.current == nil || ln.current.req == nil {
		return
	}
	var waiting []*request
	for _, j := range ln.queue {
		if j.req != nil {
			waiting = append(waiting, j.req)
		}
	}
	if len(waiting) == 0 || !may(waiting) {
		return
	}
	for _, r := range ln.takeLocked(len(waiting)) {
		take(r)
	}
}

// takeLocked takes the first n waiting messages out of the queue.
func (ln *lane) takeLocked(n int) (taken []request) {
	var rest []job
	for _, j := range ln.queue {
		if j.req == nil || len(taken) == n {
			rest = append(rest, j)
			continue
		}
		taken = append(taken, *j.req)
	}
	ln.queue = rest
	return taken
}

// firstLocked is the next message of the queue, else the one that comes now.
func (ln *lane) firstLocked(now *request) *request {
	for _, j := range ln.queue {
		if j.req != nil {
			return j.req
		}
	}
	return now
}

func (ln *lane) waitingLocked() (n int) {
	for _, j := range ln.queue {
		if j.req != nil {
			n++
		}
	}
	return n
}

// Release lets the collected jobs start.
func (l *lanes) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
	l.startLocked()
}

// Close keeps further jobs from starting; what runs goes on.
func (l *lanes) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.tellLocked()
}

// Stop ends the session's running job for the cause and empties its queue. It
// gives what this concerns; running is false when nothing ran, and its request
// nil for a background run.
func (l *lanes) Stop(s fallback.SessionID, cause error) (running bool, req *request, queued []request) {
	l.mu.Lock()
	if ln := l.busy[s]; ln != nil && ln.current != nil {
		running = true
		if r := ln.current.req; r != nil {
			stopped := *r // Gather may still write to the original
			req = &stopped
		}
		ln.cancel(cause)
	}
	// Under the same lock: the job that is cancelled ends at once, and the next
	// of the queue would start in between.
	dropped := l.takeLocked(s)
	l.mu.Unlock()
	return running, req, tellDropped(dropped, cause)
}

// Cut stops the session's running job and leaves its queue alone. req is
// what it answers, nil for a background run or when nothing runs.
func (l *lanes) Cut(s fallback.SessionID, cause error) (req *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.busy[s]
	if ln == nil || ln.current == nil || ln.current.req == nil {
		return nil
	}
	stopped := *ln.current.req // Gather may still write to the original
	ln.cancel(cause)
	return &stopped
}

// Drop empties the session's queue and leaves its running job alone.
func (l *lanes) Drop(s fallback.SessionID, cause error) []request {
	l.mu.Lock()
	dropped := l.takeLocked(s)
	l.mu.Unlock()
	return tellDropped(dropped, cause)
}

// takeLocked empties the session's queue.
func (l *lanes) takeLocked(s fallback.SessionID) (dropped []job) {
	if ln := l.busy[s]; ln != nil {
		dropped, ln.queue = ln.queue, nil
	}
	return dropped
}

// tellDropped tells those who wait for dropped jobs, and gives their requests.
func tellDropped(dropped []job, cause error) (requests []request) {
	for _, j := range dropped {
		if j.req != nil {
			requests = append(requests, *j.req)
		}
		if j.dropped != nil {
			j.dropped(cause)
		}
	}
	return requests
}

// Interrupt ends the session's running job for the cause, leaves its queue, and
// reports whether there was one.
func (l *lanes) Interrupt(s fallback.SessionID, cause error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.busy[s]
	if ln == nil || ln.current == nil {
		return false
	}
	ln.cancel(cause)
	return true
}

// InterruptAll ends every running job for the cause.
func (l *lanes) InterruptAll(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ln := range l.busy {
		if ln.current != nil {
			ln.cancel(cause)
		}
	}
}

// Depth tells whether a job of the session runs and how many wait.
func (l *lanes) Depth(s fallback.SessionID) (running bool, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.busy[s]
	if ln == nil {
		return false, 0
	}
	return ln.current != nil, len(ln.queue)
}

// Quiet waits until no job runs and none may start, or ctx ends.
func (l *lanes) Quiet(ctx context.Context) error {
	l.mu.Lock()
	if l.isQuietLocked() {
		l.mu.Unlock()
		return nil
	}
	ch := make(chan struct{})
	l.quiet = append(l.quiet, ch)
	l.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *lanes) isQuietLocked() bool {
	return l.running == 0 && (l.closed || len(l.ready) == 0)
}

func (l *lanes) tellLocked() {
	if !l.isQuietLocked() {
		return
	}
	for _, ch := range l.quiet {
		close(ch)
	}
	l.quiet = nil
}

// startLocked starts jobs of the sessions in front while there is room.
func (l *lanes) startLocked() {
	for !l.held && !l.closed && len(l.ready) > 0 && l.running < max(1, l.limit()) {
		s := l.ready[0]
		l.ready = l.ready[1:]
		ln := l.busy[s]
		if len(ln.queue) == 0 { // emptied by Drop while it waited
			delete(l.busy, s)
			continue
		}
		j := ln.queue[0]
		ln.queue = ln.queue[1:]
		ctx, cancel := context.WithCancelCause(context.Background())
		ln.current, ln.cancel = &j, cancel
		l.running++
		go l.run(ctx, s, ln)
	}
	l.tellLocked()
}

// run does one job and puts its session behind the waiting ones.
func (l *lanes) run(ctx context.Context, s fallback.SessionID, ln *lane) {
	ln.current.run(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	ln.cancel(nil)
	ln.current, ln.cancel = nil, nil
	l.running--
	if len(ln.queue) > 0 {
		l.ready = append(l.ready, s)
	} else {
		delete(l.busy, s)
	}
	l.startLocked()
	l.stirred()
}
