package fallback

import (
	"maps"
	"time"
)

// Usage is the routing state of one profile (usageStats) [M23, D2]. The zero
// value is a fresh profile. It is a value: After and Success give a new one.
type Usage struct {
	LastUsed time.Time
	// Whole is the window over all models, Scopes the windows of single models
	// (rate_limit and timeout only), keyed by the bare model id. A scope whose
	// window has passed stays for its step count [D1]. The key "" has no window:
	// it counts failures of models that an older file did not name, and a model
	// without a ladder of its own goes on from there.
	Whole  Cooldown
	Scopes map[string]Cooldown
	// Disabled is the billing and permanent-auth window.
	Disabled Window
	// Blocked is a subscription's reset time [M19].
	Blocked      Window
	BlockSource  string
	BlockedModel string
	Errors       int            // errorCount: all failures since the last restart of the counters
	Failures     map[Reason]int // failureCounts
	LastFailure  time.Time
	// SwitchedOff is since when the operator does not want the profile used; zero:
	// it may be. See Usage.Switched.
	SwitchedOff time.Time
	// Cleared is when the operator last ended all windows; see Usage.Clear. It is
	// kept beside the state and is no part of UsageStats.
	Cleared time.Time
}

// Window is a time during which a profile must not be used; it is usable from
// the exact instant Until.
type Window struct {
	Until  time.Time
	Reason Reason
}

// Active tells whether the window is still open at now.
func (w Window) Active(now time.Time) bool { return now.Before(w.Until) }

// Cooldown is a window of the ladder with its own step count [D13a].
type Cooldown struct {
	Window
	Errors int       // failures of this scope: the step of the ladder
	Last   time.Time // the latest of them
}

// SubscriptionLimit is the reason of a Blocked window. It is no failure reason:
// scoring and attempts call the failure behind it rate_limit (7.16).
const SubscriptionLimit Reason = "subscription_limit"

// Bypasses tells whether a provider's profiles never cool: neither are their
// failures recorded nor old windows honoured (failover.md 7.11, 5.G.1).
func Bypasses(providerID string) bool {
	switch NormalProvider(providerID) {
	case "openrouter", "kilocode":
		return true
	}
	return false
}

// After is the state after a failure at now. Windows that are open stay as long
// as they are, counters rise all the same [D2, failover.md 7.4].
func (u Usage) After(f Failed, cfg CooldownConfig, now time.Time) Usage {
	if !f.Penalises() || Bypasses(f.Provider) || u.outdated(f) {
		return u
	}
	next := u.counting(cfg.orDefaults(), now)
	next.Errors++
	next.Failures[f.Reason]++
	next.LastFailure = now
	switch {
	case f.Reason == Billing || f.Reason == AuthPermanent:
		next.disable(f, cfg.orDefaults(), now)
	case f.Reason == RateLimit && now.Before(f.Reset):
		next.block(f)
	default:
		next.cool(f, now)
	}
	return next
}

// Success is the state after an answer at now: no window, no count and no
// reason is left (7.15), and the ladder starts again from its first step [D1].
// The operator's own word stays.
func (u Usage) Success(now time.Time) Usage {
	return Usage{LastUsed: now, SwitchedOff: u.SwitchedOff, Cleared: u.Cleared}
}

// counting is a copy to count a new failure into: what is over is gone, field
// by field (7.9), and the counters start again when nothing failed for a whole
// failure window. That a window has passed does not restart them [D1, 7.3b].
func (u Usage) counting(cfg CooldownConfig, now time.Time) Usage {
	peace := func(last time.Time) bool { return !last.IsZero() && now.Sub(last) > cfg.FailureWindow }
	next := u
	next.Failures = maps.Clone(u.Failures)
	if peace(u.LastFailure) {
		next.Errors, next.Failures = 0, nil
	}
	if next.Failures == nil {
		next.Failures = map[Reason]int{}
	}
	pass := func(c Cooldown) Cooldown {
		if !c.Active(now) {
			c.Window = Window{}
		}
		if peace(u.LastFailure) || peace(c.Last) {
			c.Errors = 0
		}
		return c
	}
	next.Whole = pass(u.Whole)
	next.Scopes = make(map[string]Cooldown, len(u.Scopes)+1)
	for model, c := range u.Scopes {
		if c = pass(c); c.Active(now) || c.Errors > 0 { // a model nobody asks for any more does not stay for ever
			next.Scopes[model] = c
		}
	}
	if !u.Disabled.Active(now) {
		next.Disabled = Window{}
	}
	if !u.Blocked.Active(now) {
		next.Blocked, next.BlockSource, next.BlockedModel = Window{}, "", ""
	}
	return next
}

// cool counts f into the ladder of its scope: the failing model for rate_limit
// and timeout, the whole profile for everything else [M22, D2, D13a].
func (u *Usage) cool(f Failed, now time.Time) {
	hint := f.hint(now)
	// Inside a window over the whole profile a model opens no window of its own
	// (7.6), unless the vendor asked for a longer pause of this very model.
	if f.scoped() && (!u.Whole.Active(now) || u.Whole.Until.Before(hint)) {
		c, known := u.Scopes[f.Model]
		if !known {
			c.Errors = u.Scopes[""].Errors
		}
		u.Scopes[f.Model] = c.count(f.Reason, hint, now)
		return
	}
	if !u.Whole.Active(now) {
		u.Whole.Until = u.running(f.Model, now)
	}
	u.Whole = u.Whole.count(f.Reason, hint, now)
	for model, c := range u.Scopes {
		if !c.Until.After(u.Whole.Until) {
			c.Window = Window{} // widened: never narrowed again within the window (7.6)
			u.Scopes[model] = c
		}
	}
}

// count is the ladder after one more failure: an open window keeps its end, a
// new one gets its step's, and a hint of the vendor ends neither of them
// earlier than it says [D2, D14].
func (c Cooldown) count(reason Reason, hint, now time.Time) Cooldown {
	c.Errors++
	c.Last, c.Reason = now, reason // the newest reason stands (7.4)
	if !c.Active(now) {
		c.Until = now.Add(ladder(c.Errors))
	}
	c.Until = later(c.Until, hint)
	return c
}

// running is the end of the scoped windows that a failure of the whole profile
// widens: their end stays (7.6). A window that a vendor's hint put beyond the
// ladder's reach belongs to its model alone and is not widened. Zero: none.
func (u *Usage) running(model string, now time.Time) time.Time {
	reach := now.Add(ladderTop)
	if own := u.Scopes[model]; own.Active(now) && !own.Until.After(reach) {
		return own.Until
	}
	var end time.Time
	for _, c := range u.Scopes {
		if c.Active(now) && !c.Until.After(reach) {
			end = later(end, c.Until)
		}
	}
	return end
}

// disable is the lane of billing and permanent auth, which leaves the cooldown
// lane alone [M24, failover.md 7.5].
func (u *Usage) disable(f Failed, cfg CooldownConfig, now time.Time) {
	base, top := cfg.AuthPermanentBackoff, cfg.AuthPermanentMax
	if f.Reason == Billing {
		base, top = max(cfg.billingBase(f.Provider), time.Minute), cfg.BillingMax
	}
	if !u.Disabled.Active(now) {
		u.Disabled.Until = now.Add(doubling(base, top, u.Failures[f.Reason]))
	}
	u.Disabled.Reason = f.Reason
}

// block keeps a subscription's reset time for all models, never earlier than a
// block that stands. The short cooldowns before it are dropped (7.13) [M19].
func (u *Usage) block(f Failed) {
	source := f.ResetSource
	if source == "" {
		source = "provider" // a block without a source would not count as one (11.5)
	}
	u.Blocked = Window{Until: later(u.Blocked.Until, f.Reset), Reason: SubscriptionLimit}
	u.BlockSource, u.BlockedModel = source, f.Model
	if !u.Whole.Until.After(u.Blocked.Until) {
		u.Whole.Window = Window{}
	}
	for model, c := range u.Scopes {
		if !c.Until.After(u.Blocked.Until) {
			c.Window = Window{}
			u.Scopes[model] = c
		}
	}
}

// Usable tells whether no window keeps the model from this profile at now
// (7.6, 7.9). For the empty model every window counts, whatever its scope: that
// is how the order of profiles and a session's pin are judged (8.5, 9.2).
func (u Usage) Usable(model string, now time.Time) bool {
	_, blocked := u.blocking(model, now)
	return !blocked
}

// Blocking is the window that keeps the model from this profile the longest;
// for the empty model, of all windows.
func (u Usage) Blocking(model string, now time.Time) (w Window, blocked bool) {
	return u.blocking(model, now)
}

// blocking is Blocking without copying the state: deciders look at all profiles
// of a provider.
func (u *Usage) blocking(model string, now time.Time) (longest Window, blocked bool) {
	for _, w := range [...]*Window{&u.Whole.Window, &u.Disabled, &u.Blocked} {
		if w.Active(now) && w.Until.After(longest.Until) {
			longest, blocked = *w, true
		}
	}
	of := "" // of windows that end together the first model's counts, so that the reason is one
	for scope, c := range u.Scopes {
		if model != "" && model != scope || !c.Active(now) {
			continue
		}
		if c.Until.After(longest.Until) || of > scope && c.Until.Equal(longest.Until) {
			longest, blocked, of = c.Window, true, scope
		}
	}
	return longest, blocked
}

// Subscribed tells whether a subscription's reset time, given by its provider,
// keeps this model away (11.5).
func (u Usage) Subscribed(model string, now time.Time) bool {
	return u.Blocked.Active(now) && u.Blocked.Reason == SubscriptionLimit && u.BlockSource != "" &&
		(u.BlockedModel == "" || u.BlockedModel == model)
}

// later is the later of two times; the zero time is the earliest.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
