package provider

import (
	"context"
	"net/http/httptrace"
	"sync"
	"time"
)

// limitReached is the cancellation cause of a limit of ours. It is a type of
// its own so that a limit, an abort of the caller and the deadline of the run
// stay three different causes [I13].
type limitReached Transport

func (l limitReached) Error() string { return string(l) }

// errFinished ends the wait for a stream that has said its last word but whose
// connection stays open.
const errFinished = limitReached("finished")

// grace is how long a finished stream may take to close. Waiting for the end
// of the body lets HTTP/1 use the connection again.
const grace = 250 * time.Millisecond

// watch runs the limits of one attempt [D23]. Each limit is a timer that
// cancels ctx with its own cause; stop leaves none behind.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	limits Limits

	mu                          sync.Mutex
	stopped                     bool
	connect, first, idle, total *time.Timer
	last                        *time.Timer
}

// newWatch starts the limits that count from the first moment: the first token
// and the whole attempt.
func newWatch(ctx context.Context, l Limits) *watch {
	w := &watch{limits: l}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.first = w.after(l.FirstToken, FirstTokenTimeout)
	w.total = w.after(l.Total, AttemptTimeout)
	return w
}

func (w *watch) after(d time.Duration, t Transport) *time.Timer {
	if d <= 0 {
		return nil
	}
	return time.AfterFunc(d, func() { w.cancel(limitReached(t)) })
}

// traced gives a context under which net/http tells when it wants a connection
// and when it has one. A RoundTripper that makes no connections never tells,
// and then there is nothing to limit.
func (w *watch) traced() context.Context {
	return httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { w.connecting() },
		GotConn: func(httptrace.GotConnInfo) { w.connected() },
	})
}

func (w *watch) connecting() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.connect != nil {
		return
	}
	w.connect = w.after(w.limits.Connect, ConnectTimeout)
}

func (w *watch) connected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	halt(w.connect)
}

// piece notes a piece of the answer: the first one ends the wait for the first
// token, each one starts the idle time anew.
func (w *watch) piece() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.last != nil {
		return
	}
	halt(w.first)
	if w.idle == nil {
		w.idle = w.after(w.limits.Idle, IdleTimeout)
		return
	}
	w.idle.Reset(w.limits.Idle)
}

// finished notes that the vendor has said its last word. The answer is there,
// so no limit may turn it into a failure any more.
func (w *watch) finished() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.last != nil {
		return
	}
	halt(w.connect, w.first, w.idle, w.total)
	w.last = time.AfterFunc(grace, func() { w.cancel(errFinished) })
}

// stop ends all timers and what still runs under ctx.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	halt(w.connect, w.first, w.idle, w.total, w.last)
	w.cancel(errFinished)
}

// reached tells which limit ended the attempt, if one did.
func (w *watch) reached() (Transport, bool) {
	l, ok := context.Cause(w.ctx).(limitReached)
	if !ok || l == errFinished {
		return NoTransport, false
	}
	return Transport(l), true
}

func halt(timers ...*time.Timer) {
	for _, t := range timers {
		if t != nil {
			t.Stop()
		}
	}
}
