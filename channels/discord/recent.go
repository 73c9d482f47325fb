package discord

import (
	"sync"
	"time"
)

// recent remembers values for a while: at most max of them, none longer than
// ttl. The oldest goes first. It is safe for concurrent use.
type recent[V any] struct {
	max int
	ttl time.Duration

	mu    sync.Mutex
	items map[string]remembered[V]
	order []string // keys in order of their first put; may hold keys that were dropped
}

type remembered[V any] struct {
	v  V
	at time.Time
}

func newRecent[V any](max int, ttl time.Duration) *recent[V] {
	return &recent[V]{max: max, ttl: ttl, items: map[string]remembered[V]{}}
}

// get gives what was put under k, if it is not too old.
func (r *recent[V]) get(k string, now time.Time) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.getLocked(k, now)
}

func (r *recent[V]) getLocked(k string, now time.Time) (v V, ok bool) {
	it, ok := r.items[k]
	if !ok || now.Sub(it.at) > r.ttl {
		return v, false
	}
	return it.v, true
}

// put remembers v under k from now on.
func (r *recent[V]) put(k string, v V, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putLocked(k, v, now)
}

func (r *recent[V]) putLocked(k string, v V, now time.Time) {
	if _, known := r.items[k]; !known {
		r.order = append(r.order, k)
	}
	r.items[k] = remembered[V]{v, now}
	for len(r.order) > r.max {
		delete(r.items, r.order[0])
		r.order = r.order[1:]
	}
}

// add puts v unless k is remembered already, and tells whether it did.
func (r *recent[V]) add(k string, v V, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.getLocked(k, now); known {
		return false
	}
	r.putLocked(k, v, now)
	return true
}

// all gives what is remembered.
func (r *recent[V]) all(now time.Time) map[string]V {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := map[string]V{}
	for k := range r.items {
		if v, ok := r.getLocked(k, now); ok {
			m[k] = v
		}
	}
	return m
}

// drop forgets k.
func (r *recent[V]) drop(k string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, k)
}
