package fallback

import (
	"testing"
	"time"
)

// "Given cooldownUntil = now + 30 d by a clock error (cap 1 h for the ladder);
// when loaded; then it is clamped to the cap" [IL-036]. What rules and vendors can
// have made stays to the second.
func TestWindowsOfAWrongClock(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	month := now.Add(30 * 24 * time.Hour)
	cool := func(until, last time.Time) Cooldown {
		return Cooldown{Window: Window{Until: until, Reason: RateLimit}, Errors: 2, Last: last}
	}
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for _, c := range []struct {
		says   string
		was    Usage
		is     Usage
		mended bool
	}{
		{"nothing", Usage{}, Usage{}, false},
		{"a ladder's window", Usage{Whole: cool(at(time.Hour), now)}, Usage{Whole: cool(at(time.Hour), now)}, false},
		{"a hint's of a day", Usage{Whole: cool(at(24*time.Hour), now)}, Usage{Whole: cool(at(24*time.Hour), now)}, false},
		{"a clock that is some minutes off", Usage{LastFailure: at(40 * time.Minute)}, Usage{LastFailure: at(40 * time.Minute)}, false},
		{"a month", Usage{Whole: cool(month, month.Add(-time.Hour))}, Usage{Whole: cool(at(time.Hour), now)}, true},
		{"a month for one model", Usage{Scopes: map[string]Cooldown{"m": cool(month, month)}}, Usage{Scopes: map[string]Cooldown{"m": cool(at(time.Hour), now)}}, true},
		{"a day for a bill", Usage{Disabled: Window{at(24 * time.Hour), Billing}}, Usage{Disabled: Window{at(24 * time.Hour), Billing}}, false},
		{"a month for a bill", Usage{Disabled: Window{month, Billing}}, Usage{Disabled: Window{at(24 * time.Hour), Billing}}, true},
		{"a month for a key", Usage{Disabled: Window{month, AuthPermanent}}, Usage{Disabled: Window{at(time.Hour), AuthPermanent}}, true},
		{"a subscription's week", Usage{Blocked: Window{month, SubscriptionLimit}}, Usage{Blocked: Window{month, SubscriptionLimit}}, false},
		{"failures to come", Usage{LastFailure: month, LastUsed: month, Errors: 3}, Usage{LastFailure: now, LastUsed: now, Errors: 3}, true},
	} {
		got, mended := c.was.Plausible(CooldownConfig{}, now)
		if mended != c.mended || got.Whole != c.is.Whole || got.Disabled != c.is.Disabled || got.Blocked != c.is.Blocked || got.LastFailure != c.is.LastFailure ||
			got.LastUsed != c.is.LastUsed || got.Scopes["m"] != c.is.Scopes["m"] || got.Errors != c.is.Errors {
			t.Errorf("%s: %+v, mended %v", c.says, got, mended)
		}
		if again, mended := got.Plausible(CooldownConfig{}, now.Add(time.Minute)); mended || again.Whole != got.Whole {
			t.Errorf("%s: mended again: %+v", c.says, again)
		}
	}
}
