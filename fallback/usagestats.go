package fallback

import (
	"maps"
	"slices"
	"time"
)

// UsageStats is a Usage for readers outside: status, doctor, rehearsals and the
// store. The names of failover.md 7.1 are part of the contract; times are epoch
// milliseconds, absent fields mean none.
type UsageStats struct {
	LastUsed       int64  `json:"lastUsed,omitempty" yaml:"lastUsed,omitempty"`
	CooldownUntil  int64  `json:"cooldownUntil,omitempty" yaml:"cooldownUntil,omitempty"`
	CooldownReason string `json:"cooldownReason,omitempty" yaml:"cooldownReason,omitempty"`
	// CooldownModel is the scope of CooldownUntil. It is set when exactly one
	// scope is active and nothing cools the whole profile; with more of them
	// only CooldownModels tells, since CooldownUntil without a model means all
	// models [D2].
	CooldownModel  string                 `json:"cooldownModel,omitempty" yaml:"cooldownModel,omitempty"`
	CooldownModels map[string]ScopeStats  `json:"cooldownModels,omitempty" yaml:"cooldownModels,omitempty"`
	DisabledUntil  int64                  `json:"disabledUntil,omitempty" yaml:"disabledUntil,omitempty"`
	DisabledReason string                 `json:"disabledReason,omitempty" yaml:"disabledReason,omitempty"`
	BlockedUntil   int64                  `json:"blockedUntil,omitempty" yaml:"blockedUntil,omitempty"`
	BlockedReason  string                 `json:"blockedReason,omitempty" yaml:"blockedReason,omitempty"`
	BlockedSource  string                 `json:"blockedSource,omitempty" yaml:"blockedSource,omitempty"`
	BlockedModel   string                 `json:"blockedModel,omitempty" yaml:"blockedModel,omitempty"`
	ErrorCount     int                    `json:"errorCount,omitempty" yaml:"errorCount,omitempty"`
	FailureCounts  map[string]int         `json:"failureCounts,omitempty" yaml:"failureCounts,omitempty"`
	LastFailureAt  int64                  `json:"lastFailureAt,omitempty" yaml:"lastFailureAt,omitempty"`
	SwitchedOffAt  int64                  `json:"switchedOffAt,omitempty" yaml:"switchedOffAt,omitempty"` // by the operator
	Ladders        map[string]LadderStats `json:"ladders,omitempty" yaml:"ladders,omitempty"`             // steps by model, "*" for the whole profile
}

// ScopeStats is the open window of one model.
type ScopeStats struct {
	Until  int64  `json:"until" yaml:"until"`
	Reason string `json:"reason,omitempty" yaml:"reason,omitempty"`
}

// LadderStats is how far a scope has climbed; it outlives the window [D1].
type LadderStats struct {
	ErrorCount    int   `json:"errorCount" yaml:"errorCount"`
	LastFailureAt int64 `json:"lastFailureAt,omitempty" yaml:"lastFailureAt,omitempty"`
}

// wholeLadder is the key of the whole profile's ladder. No model is called so.
const wholeLadder = "*"

// Stats is the state at now: windows that have passed are not shown. The zero
// time shows them too.
func (u Usage) Stats(now time.Time) UsageStats {
	s := UsageStats{
		LastUsed: epoch(u.LastUsed), ErrorCount: u.Errors, LastFailureAt: epoch(u.LastFailure), SwitchedOffAt: epoch(u.SwitchedOff),
	}
	if u.Disabled.Active(now) {
		s.DisabledUntil, s.DisabledReason = ending(u.Disabled.Until), string(u.Disabled.Reason)
	}
	if u.Blocked.Active(now) {
		s.BlockedUntil, s.BlockedReason = ending(u.Blocked.Until), string(u.Blocked.Reason)
		s.BlockedSource, s.BlockedModel = u.BlockSource, u.BlockedModel
	}
	for r, n := range u.Failures {
		if n > 0 {
			s.FailureCounts = put(s.FailureCounts, string(r), n)
		}
	}
	if u.Whole.Errors > 0 || !u.Whole.Last.IsZero() {
		s.Ladders = put(s.Ladders, wholeLadder, LadderStats{u.Whole.Errors, epoch(u.Whole.Last)})
	}
	for model, c := range u.Scopes {
		if c.Errors > 0 || !c.Last.IsZero() {
			s.Ladders = put(s.Ladders, model, LadderStats{c.Errors, epoch(c.Last)})
		}
		if c.Active(now) {
			s.CooldownModels = put(s.CooldownModels, model, ScopeStats{ending(c.Until), string(c.Reason)})
		}
	}
	if s.Ladders == nil && u.Errors > 0 {
		// Failures that climbed nowhere (a vendor's own reset time): said aloud,
		// since no ladders at all mean an older file.
		s.Ladders = put(s.Ladders, wholeLadder, LadderStats{})
	}
	switch {
	case u.Whole.Active(now):
		s.CooldownUntil, s.CooldownReason = ending(u.Whole.Until), string(u.Whole.Reason)
	case len(s.CooldownModels) == 1:
		for model, c := range s.CooldownModels {
			s.CooldownModel, s.CooldownUntil, s.CooldownReason = model, c.Until, c.Reason
		}
	}
	return s
}

// Usage is the way back. Reasons that are not in our vocabulary are dropped;
// their windows stay, without a word. Without Ladders (older files, scripts)
// the steps are read from the counts.
func (s UsageStats) Usage() Usage {
	u := Usage{
		LastUsed: instant(s.LastUsed), Errors: s.ErrorCount, LastFailure: instant(s.LastFailureAt), SwitchedOff: instant(s.SwitchedOffAt),
		Disabled: Window{instant(s.DisabledUntil), known(s.DisabledReason)},
	}
	if s.BlockedUntil != 0 {
		u.Blocked = Window{Until: instant(s.BlockedUntil)}
		if s.BlockedReason == string(SubscriptionLimit) {
			u.Blocked.Reason = SubscriptionLimit
		}
		u.BlockSource, u.BlockedModel = s.BlockedSource, s.BlockedModel
	}
	for r, n := range s.FailureCounts {
		if reason := known(r); reason != NoReason && n > 0 {
			u.Failures = put(u.Failures, reason, n)
		}
	}
	for model, c := range s.CooldownModels {
		u.Scopes = put(u.Scopes, model, Cooldown{Window: Window{instant(c.Until), known(c.Reason)}})
	}
	switch w := (Window{instant(s.CooldownUntil), known(s.CooldownReason)}); {
	case s.CooldownUntil == 0:
	case s.CooldownModel == "":
		u.Whole.Window = w
	default:
		u.Scopes = put(u.Scopes, s.CooldownModel, Cooldown{Window: w})
	}
	if s.Ladders == nil {
		u.climb()
		return u
	}
	for model, l := range s.Ladders {
		c := &u.Whole
		if model != wholeLadder {
			c = &Cooldown{Window: u.Scopes[model].Window}
		}
		c.Errors, c.Last = l.ErrorCount, instant(l.LastFailureAt)
		if model != wholeLadder {
			u.Scopes = put(u.Scopes, model, *c)
		}
	}
	return u
}

// climb shares an older file's counts out among the ladders: rate limits and
// timeouts to the models that are named, or to whichever fails next when none
// is, everything else of the ladder to the whole profile.
func (u *Usage) climb() {
	single, whole := 0, 0
	for r, n := range u.Failures {
		switch r {
		case RateLimit, Timeout:
			single += n
		case Billing, AuthPermanent: // a lane of their own
		default:
			whole += n
		}
	}
	if len(u.Failures) == 0 {
		single, whole = u.Errors, u.Errors
	}
	if !u.Whole.Until.IsZero() {
		whole = max(whole, 1)
	}
	if whole > 0 {
		u.Whole.Errors, u.Whole.Last = whole, u.LastFailure
	}
	if len(u.Scopes) == 0 {
		if single > 0 {
			u.Scopes = put(u.Scopes, "", Cooldown{Errors: single, Last: u.LastFailure})
		}
		return
	}
	for _, model := range slices.Collect(maps.Keys(u.Scopes)) {
		c := u.Scopes[model]
		c.Errors, c.Last = max(1, single/len(u.Scopes)), u.LastFailure
		u.Scopes[model] = c
	}
}

// known is a reason of our vocabulary, NoReason for any other word.
func known(reason string) Reason {
	if slices.Contains(causes[:], Reason(reason)) {
		return Reason(reason)
	}
	return NoReason
}

func put[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[k] = v
	return m
}

// epoch is a time in epoch milliseconds, 0 for none.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// ending is the end of a window, rounded up to the millisecond: what is written
// down is never shorter than what was decided [D14].
func ending(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
