package fallback

import (
	"time"

	"standin/fallback/provider"
)

// Failed is a failed call as the profile's windows see it.
type Failed struct {
	Provider  string
	Model     string // bare id, "" when unknown
	Reason    Reason
	Status    int // HTTP status, 0 when there was no answer
	Transport provider.Transport
	Streamed  bool // the vendor had begun to answer before it failed
	// Asked is when the call began, zero when unknown.
	Asked time.Time
	// RetryAfter is the vendor's hint, 0 for none. It is a time to leave the
	// vendor alone, never one to wait in a turn [D14, I11].
	RetryAfter time.Duration
	// Reset is the end of an exhausted subscription window, zero for none, and
	// ResetSource where it was read, such as "codex_rate_limits" [M19].
	Reset       time.Time
	ResetSource string
}

// Penalises tells whether a failure reaches the profile's state at all
// [D13a, failover.md 7.12]. What the caller's own request, an empty answer or
// the network before any answer brought about is not the credential's fault.
func (f Failed) Penalises() bool {
	switch f.Reason {
	case AuthFailed, AuthPermanent, RateLimit, Overloaded, Billing, Timeout, SessionExpired, Unclassified, Unknown:
		return f.answered()
	}
	// format, server_error, model_not_found, context_overflow, empty_response,
	// no_error_details, our own budget, and failures without a class.
	return false
}

// answered tells whether the vendor had begun to answer. A timeout of ours
// counts only from the first piece on (7.12): before it nothing is known of the
// vendor but silence.
func (f Failed) answered() bool {
	switch f.Transport {
	case provider.NoTransport, provider.IdleTimeout:
		return true
	}
	return f.Streamed || f.Status != 0
}

// scoped tells whether the failure concerns one model only [M22, D2].
func (f Failed) scoped() bool {
	return f.Model != "" && (f.Reason == RateLimit || f.Reason == Timeout)
}

// hintCap is the longest pause that a hint alone can bring about [D14].
const hintCap = 24 * time.Hour

// hint is the time before which the vendor does not want to be asked again;
// zero when it did not say. 429 and 5xx carry hints, and what means the same in
// a vendor's other words.
func (f Failed) hint(now time.Time) time.Time {
	if f.RetryAfter <= 0 || (f.Reason != RateLimit && f.Status != 429 && f.Status < 500) {
		return time.Time{}
	}
	return now.Add(min(f.RetryAfter, hintCap))
}

// ladderTop is the longest window of the ladder.
const ladderTop = time.Hour

// ladder is the length of the n-th window: 1, 5, 25 and then 60 minutes
// [M23, D1, failover.md 7.2].
func ladder(n int) time.Duration {
	d := time.Minute
	for ; n > 1 && d < ladderTop; n-- {
		d *= 5
	}
	return min(d, ladderTop)
}

// doubling is the length of the n-th window of a lane that doubles from base up
// to top, which is never below the base (7.7, 7.8).
func doubling(base, top time.Duration, n int) time.Duration {
	top = max(top, base)
	d := base
	for ; n > 1 && d < top; n-- {
		if d > top/2 {
			return top
		}
		d *= 2
	}
	return min(d, top)
}

// billingBase is the first billing window of a provider: its own value where
// there is a usable one. Keys are compared normalised (7.7).
func (c CooldownConfig) billingBase(providerID string) time.Duration {
	id := NormalProvider(providerID)
	if d := c.BillingBackoffByProvider[id]; d > 0 {
		return d
	}
	for key, d := range c.BillingBackoffByProvider {
		if d > 0 && NormalProvider(key) == id {
			return d
		}
	}
	return c.BillingBackoff
}

// orDefaults replaces values that make no sense (7.10).
func (c CooldownConfig) orDefaults() CooldownConfig {
	d := DefaultCooldowns()
	positive := func(v *time.Duration, otherwise time.Duration) {
		if *v <= 0 {
			*v = otherwise
		}
	}
	positive(&c.BillingBackoff, d.BillingBackoff)
	positive(&c.BillingMax, d.BillingMax)
	positive(&c.AuthPermanentBackoff, d.AuthPermanentBackoff)
	positive(&c.AuthPermanentMax, d.AuthPermanentMax)
	positive(&c.FailureWindow, d.FailureWindow)
	if c.OverloadedProfileRotation < 0 {
		c.OverloadedProfileRotation = d.OverloadedProfileRotation
	}
	if c.RateLimitedRotation < 0 {
		c.RateLimitedRotation = d.RateLimitedRotation
	}
	return c
}

// LimitWindow is one usage window of a subscription as its vendor reports it.
type LimitWindow struct {
	Used  float64   // percent; 100 and more is exhausted
	Reset time.Time // when it starts afresh
}

// ResetTime is when a subscription can be used again: the latest reset of its
// exhausted windows or, when none is, the earliest reset to come. Zero when no
// window says (7.13).
func ResetTime(windows []LimitWindow, now time.Time) time.Time {
	var exhausted, next time.Time
	for _, w := range windows {
		if !w.Reset.After(now) {
			continue
		}
		if w.Used >= 100 {
			exhausted = later(exhausted, w.Reset)
		}
		if next.IsZero() || w.Reset.Before(next) {
			next = w.Reset
		}
	}
	if !exhausted.IsZero() {
		return exhausted
	}
	return next
}
