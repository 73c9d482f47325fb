package fallback

import "time"

// Usage is the routing state of one profile (usageStats) [M23, D2]. The zero
// value is a fresh profile. It is a value: After and Success give a new one.
type Usage struct {
	LastUsed time.Time
	// Whole is the window over all models, Scopes the windows of single models
	// (rate_limit and timeout only), keyed by the bare model id.
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
	Errors int // failures of this scope: the step of the ladder
}
