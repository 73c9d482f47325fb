package operator

import (
	"net/netip"
	"strconv"
	"sync"
	"time"
)

const (
	freeTries = 5                // wrong tokens before an address is made to wait
	firstWait = time.Second      // doubling
	lastWait  = 15 * time.Minute // at most
	mostTries = 4096             // addresses that are remembered
)

// tries slows guessing down, by address. A network of IPv6 counts as one: its
// owner has all of its addresses.
type tries struct {
	mu   sync.Mutex
	seen map[netip.Prefix]*tried
}

type tried struct {
	wrong int
	until time.Time
	last  time.Time
}

func newTries() *tries { return &tries{seen: map[netip.Prefix]*tried{}} }

func neighbourhood(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() && !a.Is4In6() {
		bits = 64
	}
	p, _ := a.WithZone("").Prefix(bits)
	return p
}

// wait is how long the address has to wait before its next try counts.
func (t *tries) wait(a netip.Addr, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.seen[neighbourhood(a)]; one != nil {
		return max(one.until.Sub(now), 0)
	}
	return 0
}

func (t *tries) failed(a netip.Addr, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := neighbourhood(a)
	one := t.seen[key]
	if one == nil || now.Sub(one.last) > lastWait {
		if one == nil && len(t.seen) >= mostTries {
			t.dropLocked()
		}
		one = &tried{}
		t.seen[key] = one
	}
	one.wrong++
	one.last = now
	if over := one.wrong - freeTries; over >= 0 {
		one.until = now.Add(min(firstWait<<min(over, 20), lastWait))
	}
}

// dropLocked forgets the address that was heard of longest ago.
func (t *tries) dropLocked() {
	var oldest netip.Prefix
	var at time.Time
	for k, one := range t.seen {
		if at.IsZero() || one.last.Before(at) {
			oldest, at = k, one.last
		}
	}
	delete(t.seen, oldest)
}

func (t *tries) passed(a netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, neighbourhood(a))
}

// seconds is a duration as Retry-After wants it: whole, and never too short.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
