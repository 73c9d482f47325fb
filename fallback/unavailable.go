package fallback

import "time"

// causes is the order in which equal scores are resolved (7.16); what is not
// listed comes last.
var causes = [...]Reason{
	AuthPermanent, AuthFailed, Billing, Format, ModelNotFound, Overloaded, Timeout, RateLimit,
	EmptyResponse, NoErrorDetails, Unclassified, Unknown,
	SessionExpired, ServerError, ContextOverflow, Budget,
}

// activeScore is what an open disable or block weighs (7.16).
const activeScore = 1000

// score adds what one profile says of why the model cannot be used; the reason
// with the highest sum over all profiles is told (failover.md 7.16). An open
// cooldown is the sum of its failures by reason, since the window itself knows
// only the newest. An auth window is the exception: it is passed over as auth,
// whatever else failed before [D13c], because waiting does not mend it. The
// other way round an old refusal whose window has passed says nothing of a later
// cooldown: its count lives on for a day [D1], but only to climb the ladder.
func (u *Usage) score(score *[len(causes)]int, model string, now time.Time) {
	add := func(r Reason, n int) {
		for i, cause := range causes {
			if cause == r {
				score[i] += n
				return
			}
		}
	}
	if u.Disabled.Active(now) {
		add(orUnknown(u.Disabled.Reason), activeScore)
		return
	}
	if u.Blocked.Active(now) {
		add(RateLimit, activeScore)
		return
	}
	w, blocked := u.blocking(model, now)
	if !blocked {
		return
	}
	switch {
	case u.Whole.Active(now) && (u.Whole.Reason == AuthFailed || u.Whole.Reason == AuthPermanent):
		add(u.Whole.Reason, max(1, u.Errors))
	default:
		counted := 0
		for r, n := range u.Failures {
			switch r {
			case AuthFailed, AuthPermanent, Billing:
				if w.Reason != NoReason {
					continue // theirs is not the open window
				}
			}
			add(r, n)
			counted += n
		}
		if counted == 0 {
			add(orUnknown(w.Reason), 1)
		}
	}
}

func highest(score *[len(causes)]int) Reason {
	best := 0
	for i, n := range score {
		if n > score[best] {
			best = i
		}
	}
	if score[best] == 0 {
		return NoReason
	}
	return causes[best]
}

func orUnknown(r Reason) Reason {
	if r == NoReason {
		return Unknown
	}
	return r
}

// WindowChange is a window that a failure opened or counted into, as the
// journal and a rehearsal's cooldown, disabled and blocked events tell it (R12).
type WindowChange struct {
	What StepKind
	WindowEvent
}

// Changes is what a failure at the given time did to a profile: the window that
// it concerned, even if that stood already and did not move. Empty when was and
// now differ by no failure.
func Changes(p ProfileID, was, now Usage, at time.Time) []WindowChange {
	if now.Errors == 0 || (now.Errors == was.Errors && now.LastFailure.Equal(was.LastFailure)) {
		return nil
	}
	if now.Errors <= was.Errors { // the counters had started again
		was.Failures = nil
	}
	change := func(what StepKind, w Window, model string) []WindowChange {
		if !w.Active(at) {
			return nil
		}
		return []WindowChange{{What: what, WindowEvent: WindowEvent{Profile: p, Window: w, Model: model, Errors: now.Errors}}}
	}
	counted := func(a, b Cooldown) bool { return b.Errors > 0 && (a.Errors != b.Errors || !a.Last.Equal(b.Last)) }
	switch {
	case now.Failures[Billing] > was.Failures[Billing], now.Failures[AuthPermanent] > was.Failures[AuthPermanent]:
		return change(StepDisabled, now.Disabled, "")
	case counted(was.Whole, now.Whole) && now.Whole.Last.Equal(now.LastFailure):
		return change(StepCooldown, now.Whole.Window, "")
	}
	for model, c := range now.Scopes {
		if counted(was.Scopes[model], c) && c.Last.Equal(now.LastFailure) {
			return change(StepCooldown, c.Window, model)
		}
	}
	return change(StepBlocked, now.Blocked, now.BlockedModel)
}
