package fallback

import (
	"maps"
	"time"
)

// skew is how far a clock may be from another one without being wrong.
const skew = time.Hour

// Plausible ends windows that no rule can have made: this machine's clock was
// wrong when they were, and they would keep a good credential out for as long as
// it was ahead. Such a window is cut to the longest one of its kind, counted from
// now, and what is said to have happened in the future to now. A subscription's
// reset is its vendor's word and stays. mended tells whether anything was cut.
func (u Usage) Plausible(cfg CooldownConfig, now time.Time) (_ Usage, mended bool) {
	cfg = cfg.orDefaults()
	past := func(t *time.Time) {
		if t.Sub(now) > skew {
			*t, mended = now, true
		}
	}
	end := func(w *Window, longest, cut time.Duration) {
		if w.Until.Sub(now) > longest+skew {
			w.Until, mended = now.Add(cut), true
		}
	}
	cool := func(c *Cooldown) {
		past(&c.Last)
		end(&c.Window, hintCap, ladderTop) // longer than a hint may make it: not a hint's either
	}
	cool(&u.Whole)
	u.Scopes = maps.Clone(u.Scopes)
	for model, c := range u.Scopes {
		cool(&c)
		u.Scopes[model] = c
	}
	longest := cfg.AuthPermanentMax
	if u.Disabled.Reason == Billing {
		longest = cfg.BillingMax
	}
	end(&u.Disabled, longest, longest)
	past(&u.LastFailure)
	past(&u.LastUsed)
	return u, mended
}
