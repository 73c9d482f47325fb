package fallback

import (
	"slices"
	"time"

	"standin/fallback/provider"
)

// Among drops a pin, a user's too, whose profile is no longer stored or belongs
// to another provider (9.4). profiles are all stored ones, whether or not they
// can be used: a pinned profile that exists is never replaced silently [D3].
func (p Pin) Among(providerID string, profiles []Profile) Pin {
	id := authProvider(providerID)
	if slices.ContainsFunc(profiles, func(x Profile) bool { return x.ID == p.Profile && authProvider(x.Provider) == id }) {
		return p
	}
	return Pin{}
}

// Stick is the pin of this turn [M18, failover.md 9]. A user's pin stays; what
// ends it is the reset's own write [D3, D4]. An automatic one stays, so that
// the vendor's cache stays warm, until its profile cannot be used, a new session
// starts or a compaction has completed; it then moves to the next usable
// profile. Under an explicit order it also yields to a usable profile of a
// better place: the order decides, not who answered last (7.13). When nothing
// is usable the current one stays, or the first; zero only without profiles.
func Stick(pin Pin, order []Profile, usage map[ProfileID]Usage, compactions int, newSession bool, now time.Time) Pin {
	if pin.ByPerson() {
		return pin
	}
	if len(order) == 0 {
		return Pin{}
	}
	at := slices.IndexFunc(order, func(p Profile) bool { return p.ID == pin.Profile })
	next := max(at, 0)
	usable := func(i int) bool { return allowed(&order[i], usage, "", now) }
	compacted := pin.Compactions >= 0 && compactions > pin.Compactions
	switch explicit := order[0].Rank > 0; {
	case at < 0, explicit, !usable(at):
		next = firstUsable(len(order), 0, next, usable)
	case newSession, compacted:
		next = firstUsable(len(order), at+1, at, usable)
	}
	return Pin{Profile: order[next].ID, Source: Auto, Compactions: compactions}
}

// firstUsable goes once round n places from start; otherwise when none is.
func firstUsable(n, start, otherwise int, usable func(int) bool) int {
	for i := range n {
		if at := (start + i) % n; usable(at) {
			return at
		}
	}
	return otherwise
}

// Rotate gives the profiles to try for one candidate, in order [M1]. A user's
// pin is exactly that one, even while it cools, and none when the order does
// not have it [D3]. Otherwise the session's pin comes first, then the order;
// profiles that this model must not use are left out (10.9). When none is left
// and a probe is permitted (cooling), it is exactly the first of the order.
func Rotate(order []Profile, usage map[ProfileID]Usage, pin Pin, model string, cooling bool, now time.Time) []Profile {
	pinned := slices.IndexFunc(order, func(p Profile) bool { return p.ID == pin.Profile })
	if pin.ByPerson() {
		if pinned < 0 {
			return nil
		}
		return order[pinned : pinned+1 : pinned+1]
	}
	try := make([]Profile, 0, len(order))
	if pinned >= 0 && allowed(&order[pinned], usage, model, now) {
		try = append(try, order[pinned])
	}
	for i := range order {
		if i != pinned && allowed(&order[i], usage, model, now) {
			try = append(try, order[i])
		}
	}
	if len(try) == 0 && cooling && len(order) > 0 {
		return order[:1:1]
	}
	return try
}

// allowed tells whether a profile may be used for the model now; for the empty
// model, whether no window at all is open.
func allowed(p *Profile, usage map[ProfileID]Usage, model string, now time.Time) bool {
	u, ok := usage[p.ID]
	return !ok || Bypasses(p.Provider) || u.Usable(model, now)
}

// MayRotate tells whether the candidate's next profile is tried after a failure
// that was refused or ended before any answer. done counts the failures of this
// run by reason, this one included; fallbacks says that other candidates are
// configured, without which the limits do not matter [M25, failover.md 10.1,
// 10.3].
func MayRotate(reason Reason, done map[Reason]int, cfg CooldownConfig, fallbacks bool, pin Pin) bool {
	if pin.ByPerson() {
		return false
	}
	switch reason {
	case AuthFailed, AuthPermanent, Billing, SessionExpired, ServerError, NoErrorDetails:
		return true // a dead key must not eat the budget of the others
	case RateLimit:
		return !fallbacks || done[RateLimit] <= cfg.orDefaults().RateLimitedRotation
	case Overloaded:
		return !fallbacks || done[Overloaded] <= cfg.orDefaults().OverloadedProfileRotation
	case Timeout:
		return !fallbacks // the next model is the quicker way out (10.3)
	}
	// The same payload would fail again (format [D5], context_overflow), or the
	// same model would (model_not_found, empty_response), or nobody knows why.
	return false
}

// MayRotate is the same for a failure with all that is known of it: a timeout
// in the middle of an answer moves to the next profile first (10.4).
func (f Failed) MayRotate(done map[Reason]int, cfg CooldownConfig, fallbacks bool, pin Pin) bool {
	if f.Reason == Timeout && (f.Streamed || f.Transport == provider.IdleTimeout) {
		return !pin.ByPerson()
	}
	return MayRotate(f.Reason, done, cfg, fallbacks, pin)
}

// LoopGuard bounds the attempts of one candidate, whatever the rules of
// rotation say (10.2).
func LoopGuard(profiles int) int { return min(max(24+8*profiles, 32), 160) }
