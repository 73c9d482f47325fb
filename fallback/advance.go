package fallback

import (
	"fmt"
	"slices"
	"time"
)

// Standing is what is known of a candidate when its turn comes.
type Standing struct {
	Model     Model
	Position  int       // 1-based place in the chain; 1 is the primary candidate
	Total     int       // of the chain
	Order     []Profile // of its provider, as Order gives them
	Usage     map[ProfileID]Usage
	Pin       Pin         // the session's, for this provider
	Cached    Reason      // the skip cache's word, "" for none [M12]
	ProbeUsed bool        // the provider's transient probe of this run is used up (11.7)
	LastProbe time.Time   // the primary's latest probe by agent and provider (11.4); zero: none
	Off       []ProfileID // those that could serve it and that the operator has switched off
	Stored    bool        // the provider has stored profiles; others are never gated (11.1)
}

// Do says what is done with a candidate.
type Do string

// What is done.
const (
	Try   Do = "try"
	Probe Do = "probe" // one attempt although all profiles cool (11.6)
	Skip  Do = "skip"
)

// Verdict is what a visit decided.
type Verdict struct {
	Do        Do
	Why       SkipWhy   // of a skip
	Reason    Reason    // what keeps the provider's profiles away: of a skip and of a probe [D13c]
	Transient bool      // the probe uses up the provider's slot of this run (11.7)
	Profile   ProfileID // the credential that a skip is about, "" when there is no single one
	Detail    string    // of a skip, for people; the summary adds how to mend it (4.4)
}

// The constants of the probes of a cooling primary (11.4).
const (
	ProbeGap    = 30 * time.Second  // between two, per agent and provider
	ProbeMargin = 120 * time.Second // before the soonest window ends
)

// Visit decides whether a candidate is tried, probed or passed over [M29,
// failover.md 11]. The user's own profile is always tried [D3].
func Visit(s Standing, now time.Time) Verdict {
	if v, ok := s.switchedOff(); ok {
		return v
	}
	if s.Pin.ByPerson() {
		if slices.ContainsFunc(s.Order, func(p Profile) bool { return p.ID == s.Pin.Profile }) {
			return Verdict{Do: Try}
		}
		return Verdict{Do: Skip, Why: SkipNoProfile, Reason: AuthFailed, // (9.7)
			Detail: fmt.Sprintf("the chosen credential %s cannot be used for %s", s.Pin.Profile, s.Model)}
	}
	if len(s.Order) == 0 {
		return Verdict{Do: Skip, Why: SkipNoProfile, Reason: AuthFailed, Detail: "no usable credential for " + s.Model.Provider}
	}
	v := s.gate(now)
	if v.Do != Skip && s.Cached != NoReason && s.Position > 1 { // after the gate (6.1), never for a primary [D13c]
		return Verdict{Do: Skip, Why: SkipAuthCache, Reason: s.Cached,
			Detail: fmt.Sprintf("%s was refused (%s) a short while ago", s.Model, s.Cached)}
	}
	return v
}

// gate is the table of 11.3.
func (s Standing) gate(now time.Time) Verdict {
	if !s.Stored || Bypasses(s.Model.Provider) {
		return Verdict{Do: Try}
	}
	reason, soonest := s.cooling(now)
	if reason == NoReason {
		return Verdict{Do: Try} // any profile is free for this model (11.2)
	}
	primary := s.Position <= 1
	open := s.LastProbe.IsZero() || now.Sub(s.LastProbe) >= ProbeGap
	near := s.Total <= 1 || !now.Before(soonest.Add(-ProbeMargin)) // 11.9: alone, the throttle is all that counts

	skip := func(why SkipWhy) Verdict {
		return Verdict{Do: Skip, Why: why, Reason: reason, Detail: s.detail(why, reason, soonest.Sub(now))}
	}
	probe := func(slot bool) Verdict { return Verdict{Do: Probe, Reason: reason, Transient: slot} }
	asPrimary := func(due, slot bool, otherwise SkipWhy) Verdict {
		switch {
		case !due:
			return skip(otherwise)
		case !open:
			return skip(SkipProbeThrottled)
		}
		return probe(slot)
	}
	asOther := func() Verdict {
		if s.ProbeUsed {
			return skip(SkipProbeUsed)
		}
		return probe(true)
	}

	switch reason {
	case AuthFailed, AuthPermanent:
		return skip(SkipPersistentAuth) // all models of the provider, never probed
	case Billing:
		if !primary {
			return skip(SkipBilling)
		}
		return asPrimary(near, false, SkipBilling)
	case RateLimit:
		if !primary {
			return asOther()
		}
		return asPrimary(near || !s.subscribed(now), true, SkipCooldown) // at once, unless the vendor named the time
	case Overloaded, Timeout, Unknown, EmptyResponse, NoErrorDetails, Unclassified:
		if !primary {
			return asOther()
		}
		return asPrimary(near, true, SkipCooldown)
	}
	// format, model_not_found, session_expired: no permission to probe, so an
	// attempt would find no usable profile and fail with this very reason.
	return skip(SkipCooldown)
}

// cooling is why none of the profiles may be used for the model, and when the
// first of them may again. NoReason when one may be used now.
func (s Standing) cooling(now time.Time) (reason Reason, soonest time.Time) {
	var score [len(causes)]int
	for i := range s.Order {
		u := s.Usage[s.Order[i].ID]
		w, blocked := u.blocking(s.Model.Name, now)
		if !blocked {
			return NoReason, time.Time{}
		}
		if soonest.IsZero() || w.Until.Before(soonest) {
			soonest = w.Until
		}
		u.score(&score, s.Model.Name, now)
	}
	return orUnknown(highest(&score)), soonest
}

// subscribed tells whether the profile that a probe would use is kept away by a
// subscription's reset time (11.5).
func (s Standing) subscribed(now time.Time) bool {
	return s.Usage[s.Order[0].ID].Subscribed(s.Model.Name, now)
}

func (s Standing) detail(why SkipWhy, reason Reason, left time.Duration) string {
	provider := s.Model.Provider
	left = left.Round(time.Second)
	switch why {
	case SkipPersistentAuth:
		return fmt.Sprintf("%s has an %s issue (skipping all its models)", provider, reason)
	case SkipProbeUsed:
		return fmt.Sprintf("%s is in cooldown (%s); its probe of this run is used up", provider, reason)
	case SkipProbeThrottled:
		return fmt.Sprintf("%s is in cooldown (%s) and was probed less than %s ago", provider, reason, ProbeGap)
	}
	return fmt.Sprintf("%s is in cooldown (%s) for another %s", provider, reason, left)
}

// FreesSlot tells whether a failed transient probe leaves the provider's slot
// to its next candidate, because it says nothing of the provider (11.7).
func FreesSlot(r Reason) bool {
	switch r {
	case ModelNotFound, Format, AuthFailed, AuthPermanent, SessionExpired:
		return true
	}
	return false
}

// Move says how the chain goes on after a candidate failed.
type Move string

// The moves.
const (
	GoOn Move = "go_on"
	Stop Move = "stop"
)

// Advance decides what follows a failed candidate with left others after it:
// a failure of any class goes on, an unrecognised one too [M28, D5]. The
// caller's own abort is no failure and never comes here [D6].
func Advance(c Class, left int) Move {
	switch {
	case c.Refusal: // another model is not asked behind its back
		return Stop
	case c.Reason == ContextOverflow: // compaction mends it, not another model [D10]
		return Stop
	case left <= 0:
		return Stop
	}
	return GoOn
}
