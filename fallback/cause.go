package fallback

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"standin/fallback/provider"
)

// Cause is a failed run as people need it: one kind that picks the sentence,
// and the facts that go into it. The sentences themselves are bot/wording.go's.
type Cause struct {
	Kind CauseKind
	// Model is the one that the sentence is about: the first that failed in the
	// way of Kind, zero when no model was asked.
	Model Model
	// Auth is the kind of the credential that failed, "" when unknown: an
	// account with a subscription is checked, an API key is topped up (18.3).
	Auth CredentialType
	// Reason is the class of that failure, for lines that name it.
	Reason Reason
	// Profile is the credential that a person chose for the session and that
	// cannot be used; "" when nobody did (9.7).
	Profile ProfileID
	// Until is when the first model can be asked again, Wait how long that is
	// from now; both zero when unknown or past.
	Until time.Time
	Wait  time.Duration
	// Command mends a refused credential; "" when there is nothing to run.
	Command string
	// Said is the vendor's own sentence where people are better off with it: a
	// subscription's usage limit with its reset time, at most 500 characters.
	Said string
	// Attempts has one entry per candidate, in order; Strict says that no other
	// model was permitted, so that nobody wonders why none was asked.
	Attempts []Attempt
	Strict   bool
	Why      Why
	Acted    bool // something had been done that another model would have done again [I8]
}

// CauseKind is which sentence a failure gets, in the order of 18.3.
type CauseKind string

// The kinds.
const (
	CauseInvalid      CauseKind = "invalid"       // the stored choice names no reachable provider; /model default mends it
	CauseBilling      CauseKind = "billing"       // an account has no money left
	CauseOverflow     CauseKind = "overflow"      // the conversation is too long for the model
	CauseRefusal      CauseKind = "refusal"       // the model declines to answer
	CauseRateLimited  CauseKind = "rate_limited"  // everything is limited or overloaded: wait
	CauseAuth         CauseKind = "auth"          // a credential is refused or missing
	CauseMissingModel CauseKind = "missing_model" // the vendor does not know the model
	CauseBudget       CauseKind = "budget"        // a spending cap of ours
	CauseOperator     CauseKind = "operator"      // whoever runs this has switched the credentials off
	CauseNetwork      CauseKind = "network"       // no vendor could even be connected to
	CauseUnreachable  CauseKind = "unreachable"   // nothing but timeouts and broken connections
	CauseDeadline     CauseKind = "deadline"      // the run's own time was over
	CauseSwitching    CauseKind = "switching"     // the model was changed too often during the turn
	CauseMixed        CauseKind = "mixed"         // several models, several reasons
	CauseOther        CauseKind = "other"         // one failure without a sentence of its own
)

// CauseOf reads a failed run's error: a *SummaryError, a *provider.Error, or
// one of this package's sentinels. Anything else is CauseOther.
func CauseOf(err error, now time.Time) Cause {
	var summary *SummaryError
	var evidence *provider.Error
	var c Cause
	switch {
	case errors.As(err, &summary):
		c = summary.Cause()
	case errors.Is(err, ErrSwitching):
		return Cause{Kind: CauseSwitching}
	case errors.Is(err, ErrRunDeadline):
		return Cause{Kind: CauseDeadline}
	case errors.As(err, &evidence):
		m := Model{Provider: evidence.Provider, Name: evidence.Model}
		one := SummaryError{Attempts: []Attempt{AttemptFrom(m, Profile{}, Classify(SignalOf(err)), err)}, Err: err}
		c = one.Cause()
	default:
		return Cause{Kind: CauseOther}
	}
	if c.Until.After(now) {
		c.Wait = c.Until.Sub(now)
	} else {
		c.Until = time.Time{}
	}
	return c
}

// Cause picks the first kind that holds (18.3). Wait is left to [CauseOf],
// which knows the time.
func (e *SummaryError) Cause() Cause {
	all := sighted(perCandidate(e.Attempts))
	c := Cause{Until: e.Soonest, Attempts: all, Strict: e.Plan.Strict, Why: e.Plan.Why, Acted: e.Acted}
	if e.Plan.Invalid != "" {
		c.Kind, c.Model = CauseInvalid, e.Plan.Requested
		return c
	}
	if len(all) == 0 {
		c.Kind = CauseOther
		var blind *BlindError
		switch {
		case errors.Is(e.Err, ErrRunDeadline):
			c.Kind = CauseDeadline
		case errors.As(e.Err, &blind):
			c.Kind, c.Model = CauseBlind, blind.Model
		}
		return c
	}
	kind, about := kindOf(e, all)
	c.Kind, c.Model, c.Auth, c.Reason = kind, about.Model, about.Auth, about.Reason
	if about.Skipped == SkipNoProfile {
		c.Profile = about.Profile
	}
	if kind == CauseOperator {
		c.Profile, c.Command = about.Profile, EnableCommand(about.Profile)
	}
	if i := slices.IndexFunc(all, Attempt.refused); i >= 0 {
		c.Command = all[i].mend()
	}
	if kind == CauseRateLimited {
		if i := slices.IndexFunc(all, func(a Attempt) bool { return usageLimit.MatchString(a.Detail) }); i >= 0 {
			c.Said = clip(oneLine(all[i].Detail), 500)
		}
	}
	return c
}

// usageLimit is a subscription's own sentence about its limit and its end.
var usageLimit = regexp.MustCompile(`(?i)usage limit.*\b(try again|resets?)\b`)

// unconnected tells whether no connection to the vendor came up [IL-286].
func (a Attempt) unconnected() bool {
	switch a.Transport {
	case provider.DNSFailed, provider.Refused, provider.TLSFailed, provider.ConnectTimeout:
		return true
	}
	return false
}

// declined tells whether the model itself would not answer: an empty answer
// that says so, or a vendor's error that does [M28].
func declined(err error) bool {
	return err != nil && meaning(err).Refusal
}

// kindOf decides the kind and the attempt that the sentence is about.
func kindOf(e *SummaryError, all []Attempt) (CauseKind, Attempt) {
	first, last := all[0], all[len(all)-1]
	is := func(r ...Reason) func(Attempt) bool {
		return func(a Attempt) bool { return slices.Contains(r, a.Reason) }
	}
	// One billing failure is enough: waiting would not end it (18.3.1).
	if i := slices.IndexFunc(all, is(Billing)); i >= 0 {
		return CauseBilling, all[i]
	}
	switch {
	case last.Reason == ContextOverflow: // the chain stopped there [D10]
		return CauseOverflow, last
	case declined(e.Err):
		return CauseRefusal, last
	case errors.Is(e.Err, ErrRunDeadline):
		return CauseDeadline, last
	case every(all, limited):
		return CauseRateLimited, first
	// The requested model's credential is the thing to mend, whatever befell
	// the stand-ins; a stand-in's alone is one of several troubles [D13c].
	case first.refused():
		return CauseAuth, first
	case every(all, is(ModelNotFound)):
		return CauseMissingModel, first
	case every(all, is(Operator)):
		return CauseOperator, first
	case every(all, is(Budget)):
		return CauseBudget, first
	case len(all) > 1 && every(all, Attempt.unconnected):
		return CauseNetwork, first
	case every(all, is(Timeout, ServerError)):
		return CauseUnreachable, first
	case len(all) > 1:
		return CauseMixed, first
	}
	return CauseOther, first
}
