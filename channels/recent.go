package channels

import (
	"sync"
	"time"
)

// Recent remembers values for a while: at most max of them, none longer than
// ttl. What was put longest ago goes first. It is safe for concurrent use.
type Recent[K comparable, V any] struct {
	max int
	ttl time.Duration

	mu    sync.Mutex
	items map[K]remembered[V]
	order []putting[K] // by time of put; holds keys also after they were put again or dropped
}

type remembered[V any] struct {
	v  V
	at time.Time
}

type putting[K comparable] struct {
	k  K
	at time.Time
}

// NewRecent makes an empty one.
func NewRecent[K comparable, V any](max int, ttl time.Duration) *Recent[K, V] {
	return &Recent[K, V]{max: max, ttl: ttl, items: map[K]remembered[V]{}}
}

// Get gives what was put under k, if it is not too old.
func (r *Recent[K, V]) Get(k K, now time.Time) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.getLocked(k, now)
}

func (r *Recent[K, V]) getLocked(k K, now time.Time) (v V, ok bool) {
	it, ok := r.items[k]
	if !ok || now.Sub(it.at) > r.ttl {
		return v, false
	}
	return it.v, true
}

// Put remembers v under k from now on.
func (r *Recent[K, V]) Put(k K, v V, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putLocked(k, v, now)
}

// Add puts v unless k is remembered already, and tells whether it did.
func (r *Recent[K, V]) Add(k K, v V, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.getLocked(k, now); known {
		return false
	}
	r.putLocked(k, v, now)
	return true
}

// All gives what is remembered.
func (r *Recent[K, V]) All(now time.Time) map[K]V {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[K]V{}
	for k := range r.items {
		if v, ok := r.getLocked(k, now); ok {
			all[k] = v
		}
	}
	return all
}

func (r *Recent[K, V]) putLocked(k K, v V, now time.Time) {
	r.items[k] = remembered[V]{v, now}
	r.order = append(r.order, putting[K]{k, now})
	for len(r.items) > r.max || len(r.order) > 2*r.max {
		old := r.order[0]
		r.order = r.order[1:]
		if r.items[old.k].at.Equal(old.at) { // not put again since
			delete(r.items, old.k)
		}
	}
}

// Drop forgets k.
func (r *Recent[K, V]) Drop(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, k)
}
