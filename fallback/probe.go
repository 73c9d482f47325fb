package fallback

import (
	"container/list"
	"sync"
	"time"
)

// ProbeInterval is how long a failing primary is left alone; it is not
// configurable [M11, failover.md 15.1].
const ProbeInterval = 5 * time.Minute

// The bounds of what is remembered.
const (
	maxProbes    = 4096 // 15.1
	maxThrottles = 256  // 11.4
	throttleKept = 24 * time.Hour
)

// Probes remembers when each session last asked its primary. Memory only: after
// a restart the first turn asks at once. The zero value is ready; it is safe for
// concurrent use.
type Probes struct {
	mu   sync.Mutex
	seen recent[probeKey]
}

type probeKey struct {
	session SessionID
	primary Model
}

// Due tells whether the session's primary may be asked again: five minutes
// after the last time, to the millisecond, or when nobody remembers.
func (p *Probes) Due(s SessionID, primary Model, now time.Time) bool {
	return !now.Before(p.Next(s, primary))
}

// Mark remembers that an attempt with the primary starts at now (15.4). The
// failure that created the fallback counts too [D13b].
func (p *Probes) Mark(s SessionID, primary Model, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.mark(probeKey{s, primary}, now, now.Add(-ProbeInterval), maxProbes)
}

// Next is when the primary may be asked again, zero when at once.
func (p *Probes) Next(s SessionID, primary Model) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.seen.last(probeKey{s, primary}); ok {
		return at.Add(ProbeInterval)
	}
	return time.Time{}
}

// Throttle remembers when a cooling primary was last probed, by agent and
// provider (11.4). The zero value is ready; it is safe for concurrent use.
type Throttle struct {
	mu   sync.Mutex
	seen recent[throttleKey]
}

type throttleKey struct {
	agent    AgentID
	provider string
}

// Last is the time of the latest probe, zero for none.
func (t *Throttle) Last(a AgentID, providerID string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, _ := t.seen.last(throttleKey{a, NormalProvider(providerID)})
	return at
}

// Take claims the probe that was decided at now, before its call, and tells
// whether it did: of two turns that decide at the same moment one gets it.
func (t *Throttle) Take(a AgentID, providerID string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := throttleKey{a, NormalProvider(providerID)}
	if at, ok := t.seen.last(key); ok && now.Sub(at) < ProbeGap {
		return false
	}
	t.seen.mark(key, now, now.Add(-throttleKept), maxThrottles)
	return true
}

// recent is a bounded memory of when each key was last marked. Marks come in
// the order of time, so the oldest is always at the front of the list.
type recent[K comparable] struct {
	at    map[K]*list.Element // of marks[K]
	order list.List
}

type mark[K comparable] struct {
	key K
	at  time.Time
}

// mark sets the key's time, forgets what is not younger than since, and then
// the oldest marks beyond bound.
func (r *recent[K]) mark(key K, now, since time.Time, bound int) {
	if r.at == nil {
		r.at = map[K]*list.Element{}
	}
	if e, ok := r.at[key]; ok {
		r.order.Remove(e)
	}
	r.at[key] = r.order.PushBack(mark[K]{key, now})
	for e := r.order.Front(); e != nil; e = r.order.Front() {
		oldest := e.Value.(mark[K])
		if oldest.at.After(since) && len(r.at) <= bound {
			return
		}
		r.order.Remove(e)
		delete(r.at, oldest.key)
	}
}

func (r *recent[K]) last(key K) (time.Time, bool) {
	e, ok := r.at[key]
	if !ok {
		return time.Time{}, false
	}
	return e.Value.(mark[K]).at, true
}
