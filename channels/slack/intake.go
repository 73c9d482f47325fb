package slack

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"standin/channels"
)

// intake takes events while Run runs. Those of one conversation are worked off
// one after the other, different conversations side by side.
type intake struct {
	ctx     context.Context // of Run; ends with it
	c       *Channel
	receive channels.Receiver

	mu     sync.Mutex
	lanes  map[string][]func()
	held   int
	closed bool
	wg     sync.WaitGroup
}

// maxHeld bounds the events that wait for the store. Beyond it an event is left
// to Slack, which delivers again what is not acknowledged.
const maxHeld = 2000

func newIntake(ctx context.Context, c *Channel, receive channels.Receiver) *intake {
	return &intake{ctx: ctx, c: c, receive: receive, lanes: map[string][]func(){}}
}

// do runs f after everything that came before it in the lane; false when too
// much waits. It never blocks.
func (in *intake) do(lane string, f func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || in.held >= maxHeld {
		return false
	}
	in.held++
	waiting, busy := in.lanes[lane]
	in.lanes[lane] = append(waiting, f)
	if !busy {
		in.wg.Add(1)
		go in.work(lane)
	}
	return true
}

// after is do once the wait is over, unless the intake ends before.
func (in *intake) after(wait time.Duration, lane string, f func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return
	}
	in.wg.Go(func() {
		if channels.Sleep(in.ctx, wait) == nil {
			in.do(lane, f)
		}
	})
}

func (in *intake) work(lane string) {
	defer in.wg.Done()
	for {
		in.mu.Lock()
		if len(in.lanes[lane]) == 0 {
			delete(in.lanes, lane)
			in.mu.Unlock()
			return
		}
		f := in.lanes[lane][0]
		in.lanes[lane] = in.lanes[lane][1:]
		in.mu.Unlock()
		if in.ctx.Err() == nil {
			in.attend(f)
		}
		in.mu.Lock()
		in.held--
		in.mu.Unlock()
	}
}

// attend works one event off. A panic costs that event alone, which Slack, not
// having its acknowledgement, delivers again.
func (in *intake) attend(f func()) {
	defer func() {
		if r := recover(); r != nil {
			in.c.log.Error("an event's handling panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	f()
}

// wait ends the intake: nothing more is begun, and what runs is waited for.
func (in *intake) wait() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.wg.Wait()
}
