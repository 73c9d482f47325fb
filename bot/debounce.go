package bot

import (
	"context"
	"sync"
	"time"

	"standin/channels"
	"standin/fallback"
)

// bundles holds messages for a moment, in case their sender is not done yet
// [S32]. The messages have their inbox rows: a process that dies meanwhile
// answers them one by one.
type bundles struct {
	b *Bot

	mu      sync.Mutex
	held    map[voice]*bundle
	waiters []chan struct{}
}

// voice is one person in one place.
type voice struct {
	to   channels.Address
	user string
}

// bundle is what a voice has said so far.
type bundle struct {
	request
	cancel context.CancelFunc // of the timer
}

func newBundles(b *Bot) *bundles { return &bundles{b: b, held: map[voice]*bundle{}} }

// take holds the request for d, together with what its sender said just before.
// With d 0 it goes on at once, behind what was held.
func (h *bundles) take(r request, d time.Duration) {
	key := voice{r.row.In.To, r.row.In.From.ID}
	if d <= 0 {
		h.release(key, nil)
		h.b.queue(r)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.held[key]
	if held == nil {
		held = &bundle{request: r}
		h.held[key] = held
	} else {
		held.cancel()
		held.join(r)
		held.batch = true
	}
	ctx, cancel := context.WithCancel(h.b.life)
	held.cancel = cancel
	go func() {
		defer cancel()
		if h.b.Sleep(ctx, d) == nil {
			h.release(key, ctx)
		}
	}()
}

// release sends a voice's messages on their way. With a timer's ctx it does so
// only if that timer is still the one that counts.
func (h *bundles) release(key voice, timer context.Context) {
	h.mu.Lock()
	held := h.held[key]
	if held == nil || timer != nil && timer.Err() != nil {
		h.mu.Unlock()
		return
	}
	held.cancel()
	// Under the lock, so that a /stop finds it here or in its lane.
	crowdedOut := h.b.enqueue(held.request)
	h.forgetLocked(key)
	h.mu.Unlock()
	crowdedOut() // a write, which may have to be repeated for long
}

// drop forgets the held messages of a session and gives them.
func (h *bundles) drop(s fallback.SessionID) (dropped []request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, held := range h.held {
		if held.row.Session == s {
			held.cancel()
			dropped = append(dropped, held.request)
			h.forgetLocked(key)
		}
	}
	return dropped
}

func (h *bundles) forgetLocked(key voice) {
	delete(h.held, key)
	if len(h.held) > 0 {
		return
	}
	for _, ch := range h.waiters {
		close(ch)
	}
	h.waiters = nil
}

// count is how many timers run.
func (h *bundles) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.held)
}

// empty waits until nothing is held.
func (h *bundles) empty(ctx context.Context) error {
	h.mu.Lock()
	if len(h.held) == 0 {
		h.mu.Unlock()
		return nil
	}
	ch := make(chan struct{})
	h.waiters = append(h.waiters, ch)
	h.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
