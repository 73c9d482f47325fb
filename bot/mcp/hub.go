package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"standin/bot/tools"
)

// Options are what a Hub works with; all must be set.
type Options struct {
	Version string   // ours, as servers are told
	Environ []string // ours, of which servers see a little
	Log     *slog.Logger
	Now     func() time.Time
	Sleep   func(ctx context.Context, d time.Duration) error
}

// Hub keeps the configured servers running and gives their tools.
type Hub struct {
	Options

	mu      sync.Mutex
	servers map[string]*running
	leaving map[string]*running // were told to stop and may not have ended yet
	closed  bool
}

// New makes a hub without servers.
func New(o Options) *Hub {
	return &Hub{Options: o, servers: map[string]*running{}, leaving: map[string]*running{}}
}

// Use makes the given servers the ones that run: new and changed ones are
// started, others stopped. It returns at once. After Close it does nothing.
func (h *Hub) Use(servers []Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	wanted := map[string]bool{}
	for _, s := range servers {
		wanted[s.Name] = true
		old := h.servers[s.Name]
		if old != nil && old.equal(s) {
			continue
		}
		if old != nil {
			old.stop()
		} else {
			old = h.leaving[s.Name]
			delete(h.leaving, s.Name) // whoever waits for the new one waits for both
		}
		ctx, cancel := context.WithCancel(context.Background())
		r := &running{Server: s, hub: h, stop: cancel, ended: make(chan struct{}), state: Starting, since: h.Now()}
		h.servers[s.Name] = r
		go r.run(ctx, old)
	}
	for name, r := range h.servers {
		if !wanted[name] {
			r.stop()
			delete(h.servers, name)
			h.leaving[name] = r
		}
	}
	for name, r := range h.leaving {
		select {
		case <-r.ended:
			delete(h.leaving, name)
		default:
		}
	}
}

// Close stops the servers and waits for their end, and for that of those that
// were removed before, as long as ctx lasts.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	var all []*running
	for _, r := range h.servers {
		r.stop()
		all = append(all, r)
	}
	for _, r := range h.leaving {
		all = append(all, r)
	}
	h.mu.Unlock()
	for _, r := range all {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Tools are those of the servers that run now, in a stable order: prompts stay
// the same for vendors' caches.
func (h *Hub) Tools() []tools.Tool {
	var all []tools.Tool
	for _, r := range h.list() {
		all = append(all, r.offered()...)
	}
	return all
}

// Status tells how the servers are.
func (h *Hub) Status() []Standing {
	var all []Standing
	for _, r := range h.list() {
		all = append(all, r.standing())
	}
	return all
}

func (h *Hub) list() []*running {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*running
	for _, r := range h.servers {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *running) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
