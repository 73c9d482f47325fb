package fallback

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Error gives the count of candidates and what became of each, for the log and
// for --verbose; what people read is worded from [CauseOf]. A chain of one is
// its own error, without a count (failover.md 6.9, 18.1).
func (e *SummaryError) Error() string {
	attempts := perCandidate(e.Attempts)
	parts := make([]string, 0, len(attempts))
	for _, a := range attempts {
		if e.Sight == SightLent { // told without reasons (21.A.3)
			parts = append(parts, fmt.Sprintf("%s: %s", a.Model, a.said()))
			continue
		}
		parts = append(parts, a.line())
	}
	switch {
	case e.Plan.Invalid != "":
		return e.Plan.Invalid + "; /model default ends that choice"
	case len(parts) == 0 && e.Err != nil:
		return "no model was asked: " + e.Err.Error()
	case len(parts) == 0:
		return "no model was asked"
	case len(parts) == 1:
		return parts[0]
	case e.Sight == SightLent:
		return fmt.Sprintf("all %d image models failed: %s", len(parts), strings.Join(parts, " | "))
	}
	return fmt.Sprintf("all %d models failed: %s", len(parts), strings.Join(parts, " | "))
}

// Unwrap gives the last candidate's own error.
func (e *SummaryError) Unwrap() error { return e.Err }

// line is one candidate in a summary: provider/model, its text, its class, and
// for a refused credential how to mend it (4.4).
func (a Attempt) line() string {
	word := a.word()
	s := fmt.Sprintf("%s: %s", a.Model, a.said())
	if word != "" {
		s += " (" + word + ")"
	}
	if a.refused() {
		if cmd := a.mend(); cmd != "" {
			s += ", mend it with: " + cmd
		}
	}
	return s
}

// said is what a candidate's failure says of itself.
func (a Attempt) said() string {
	text := a.Detail
	switch {
	case text != "":
	case a.Status != 0:
		text = fmt.Sprintf("HTTP %d", a.Status)
	case a.Code != "":
		text = a.Code
	default:
		text = "no details"
	}
	if a.Skipped != "" {
		text = "skipped: " + text
	}
	return text
}

// refused tells whether a credential was the fault.
func (a Attempt) refused() bool { return a.Reason == AuthFailed || a.Reason == AuthPermanent }

// pastable is a profile id that means nothing to a shell.
var pastable = regexp.MustCompile(`^[A-Za-z0-9._/:@+-]+$`)

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9._/:-]+$`)

// MendCommand is the command that stores a new credential for a provider,
// quoted for a POSIX shell where it must be. "" for a name with control
// characters: nobody should paste that (4.4).
func MendCommand(provider string) string {
	if provider == "" || strings.ContainsFunc(provider, unicode.IsControl) {
		return ""
	}
	if !plainWord.MatchString(provider) {
		provider = "'" + strings.ReplaceAll(provider, "'", `'\''`) + "'"
	}
	return "standin auth add " + provider
}

// mend is the command that mends an attempt's refused credential: a login is
// made again, a key is stored anew. "" for none.
func (a Attempt) mend() string {
	cmd := MendCommand(a.Model.Provider)
	if a.Auth == OAuth {
		// A login of the alias is the provider's own [M19].
		cmd = strings.Replace(MendCommand(authProvider(a.Model.Provider)), "auth add", "auth login", 1)
	}
	return cmd
}

// Soonest is when the first of the candidates can be asked again: for each the
// end of the windows that hold it, then the earliest of those. Zero when no
// window holds any of them (18.2) [M33].
//
// It is model-aware: a window scoped to another model does not count. Of the
// profiles whose rate limit is scoped to this very model the last end counts,
// since the vendor limits the model there, not the key; of all other windows
// the first.
func Soonest(candidates []Model, order func(Model) []Profile, usage func(Model) map[ProfileID]Usage, now time.Time) time.Time {
	var soonest time.Time
	for _, m := range candidates {
		var limited, others time.Time
		uses := usage(m)
		for _, p := range order(m) {
			until, scoped := uses[p.ID].holds(m.Name, now)
			switch {
			case until.IsZero():
			case scoped:
				limited = later(limited, until)
			default:
				others = earlier(others, until)
			}
		}
		soonest = earlier(soonest, earlier(limited, others))
	}
	return soonest
}

// holds gives the end of the last window that keeps the profile from being
// used for the model, and whether the model's own rate limit is what cools it.
func (u Usage) holds(model string, now time.Time) (until time.Time, scoped bool) {
	scope := u.Scopes[model]
	for _, w := range []Window{u.Whole.Window, scope.Window, u.Disabled, u.Blocked} {
		if w.Active(now) {
			until = later(until, w.Until)
		}
	}
	return until, scope.Active(now) && scope.Reason == RateLimit && !u.Whole.Active(now)
}

// earlier is the earlier of two times, of those that are set.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// limited are the reasons that make a failure a matter of waiting (18.3).
func limited(a Attempt) bool { return a.Reason == RateLimit || a.Reason == Overloaded }

// every tells whether all attempts, and at least one, are so.
func every(attempts []Attempt, so func(Attempt) bool) bool {
	return len(attempts) > 0 && !slices.ContainsFunc(attempts, func(a Attempt) bool { return !so(a) })
}
