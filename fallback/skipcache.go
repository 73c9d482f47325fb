package fallback

import (
	"strings"
	"sync"
	"time"
)

// The bounds of the skip cache's time to live (failover.md 12.1).
const (
	minSkipTTL = time.Second
	maxSkipTTL = 10 * time.Minute
)

// ParseSkipTTL reads STANDIN_FALLBACK_SKIP_TTL_MS: the leading integer of the
// text in milliseconds, between 1 s and 10 min. 0 (off) for a blank, unreadable,
// zero or negative text [M12, failover.md 12.1].
func ParseSkipTTL(s string) time.Duration {
	s = strings.TrimPrefix(strings.TrimSpace(s), "+")
	var ms int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			break
		}
		ms = min(ms*10+int64(c-'0'), maxSkipTTL.Milliseconds()) // bounded, so it cannot overflow
	}
	if ms == 0 {
		return 0
	}
	return max(time.Duration(ms)*time.Millisecond, minSkipTTL)
}

// SkipCache remembers, per session, the fallbacks whose credential was refused,
// so that they are passed over for a while [M12]. Memory only, gone at restart.
// The zero value is ready; it is safe for concurrent use.
type SkipCache struct {
	mu      sync.Mutex
	refused map[skipKey]refusal
	pruned  time.Time
}

type skipKey struct {
	session SessionID
	model   Model
}

type refusal struct {
	reason Reason
	until  time.Time
}

// skipPrune is the least time between two sweeps over all entries (12.6).
const skipPrune = 5 * time.Second

// Mark remembers a candidate that failed with auth or auth_permanent at now.
// Other reasons, an empty session and a ttl of 0 do nothing. That the candidate
// was no primary is the caller's to know (12.3).
func (c *SkipCache) Mark(s SessionID, m Model, reason Reason, ttl time.Duration, now time.Time) {
	if ttl <= 0 || s == "" || (reason != AuthFailed && reason != AuthPermanent) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prune(now)
	c.refused = put(c.refused, skipped(s, m), refusal{reason, now.Add(ttl)})
}

// Lookup gives the reason for which a candidate is passed over at now. It does
// not renew the entry (12.5).
func (c *SkipCache) Lookup(s SessionID, m Model, now time.Time) (Reason, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prune(now)
	r, ok := c.refused[skipped(s, m)]
	if !ok || !now.Before(r.until) {
		return NoReason, false
	}
	return r.reason, true
}

// prune forgets what is over, at most every five seconds.
func (c *SkipCache) prune(now time.Time) {
	if now.Sub(c.pruned) < skipPrune {
		return
	}
	c.pruned = now
	for key, r := range c.refused {
		if !now.Before(r.until) {
			delete(c.refused, key)
		}
	}
}

func skipped(s SessionID, m Model) skipKey {
	return skipKey{s, Model{Provider: NormalProvider(m.Provider), Name: strings.TrimSpace(m.Name)}}
}
