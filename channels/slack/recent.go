package slack

import (
	"sync"
	"time"
)

// recent remembers values for a while: at most max of them, none longer than
// ttl. The oldest goes first. It is safe for concurrent use.
type recent[K comparable, V any] struct {
	max int
	ttl time.Duration

	mu    sync.Mutex
	items map[K]item[V]
	order []entry[K] // by time of put; holds keys also after they were put again or dropped
}

type item[V any] struct {
	v  V
	at time.Time
}

type entry[K comparable] struct {
	k  K
	at time.Time
}

func newRecent[K comparable, V any](max int, ttl time.Duration) *recent[K, V] {
	return &recent[K, V]{max: max, ttl: ttl, items: map[K]item[V]{}}
}

// get gives what was put under k, if it is not too old.
func (r *recent[K, V]) get(k K, now time.Time) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	it, ok := r.items[k]
	if !ok || now.Sub(it.at) > r.ttl {
		return v, false
	}
	return it.v, true
}

// put remembers v under k from now on.
func (r *recent[K, V]) put(k K, v V, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items[k] = item[V]{v, now}
	r.order = append(r.order, entry[K]{k, now})
	for len(r.items) > r.max || len(r.order) > 2*r.max {
		old := r.order[0]
		r.order = r.order[1:]
		if r.items[old.k].at.Equal(old.at) { // not put again since
			delete(r.items, old.k)
		}
	}
}

// drop forgets k.
func (r *recent[K, V]) drop(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, k)
}
