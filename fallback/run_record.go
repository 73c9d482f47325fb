package fallback

import (
	"context"
	"errors"
	"log/slog"

	"standin/fallback/provider"
)

// step hands one line of the run's story to the journal [I10].
func (w *walk) step(ctx context.Context, s Step) {
	s.At, s.Run, s.Session, s.Agent, s.Kind = w.Now(), w.ask.Run, w.ask.Session, w.ask.Agent, w.ask.Kind
	s.Job = w.ask.Job
	if s.What == StepAttempt {
		s.Requested = w.plan.Requested
		if s.Requested.IsZero() { // a trial has no plan
			s.Requested = s.Attempt.Model
		}
		w.bill.add(*s.Attempt)
	}
	if s.Attempt != nil && !s.Attempt.At.IsZero() {
		s.At = s.Attempt.At.Add(s.Attempt.Took)
	}
	w.Journal.Record(context.WithoutCancel(ctx), s)
}

// decide writes the model_fallback_decision record: always to the journal, to
// the log unless the same auth failure was logged just before [M32, 20.5].
func (w *walk) decide(ctx context.Context, d Decision) {
	w.step(ctx, Step{What: StepDecision, Record: &d})
	if suppressed, log := w.repeated.Pass(d, w.Now()); log {
		d.Suppressed = suppressed
		w.Log.LogAttrs(ctx, slog.LevelWarn, d.Event, slog.String("subsystem", "model-fallback/decision"), slog.Any("record", d))
	}
}

// skip records a candidate that is passed over without a call.
func (w *walk) skip(ctx context.Context, c candidate, v Verdict) {
	a := w.attempt(c, v, Profile{})
	if v.Why == SkipNoProfile && c.pin.ByPerson() {
		a.Profile = c.pin.Profile // the one that a person wants, and that is no use
	}
	if v.Profile != "" {
		a.Profile = v.Profile
	}
	a.Auth = c.authOf(a.Profile, w.Now())
	a.Skipped, a.Reason, a.Detail, a.At = v.Why, v.Reason, v.Detail, w.Now()
	w.attempts = append(w.attempts, a)
	w.step(ctx, Step{What: StepSkip, Attempt: &a})
	w.decide(ctx, w.book.Skip(a, w.next(c)))
}

// failed records a candidate whose last profile has failed, once, however many
// of its profiles were asked. One that came to nothing without a failed request,
// over its rounds of tools or a budget, has left the chain all the same.
func (w *walk) failed(ctx context.Context, c candidate, class Class, move Move) {
	var a Attempt
	if n := len(w.attempts); n > 0 && w.attempts[n-1].Position == c.position {
		a = w.attempts[n-1]
	} else {
		a = w.attempt(c, Verdict{}, Profile{})
		a.fail(class, w.last)
	}
	next := w.next(c)
	if move == Stop {
		next = Model{}
	}
	w.decide(ctx, w.book.Failed(a, next))
}

// missed warns of each model that its vendor does not know, once another has
// answered: a slip in the config that the fallback would hide (6.7).
func (w *walk) missed(used candidate) {
	for _, a := range perCandidate(w.attempts) {
		if a.Reason == ModelNotFound {
			w.Log.Warn("model not found, another one answered", "missing", a.Model, "used", used.model, "session", w.ask.Session)
		}
	}
}

// jumped tells the journal of a candidate that a live switch passed over; it
// is no attempt (17.3).
func (w *walk) jumped(ctx context.Context, i int) {
	a := Attempt{Model: w.chain[i], Position: i + 1, Total: len(w.chain), Skipped: SkipJumped, Reason: Unknown, At: w.Now()}
	w.step(ctx, Step{What: StepSkip, Attempt: &a})
}

// next is the candidate after c, zero at the end.
func (w *walk) next(c candidate) Model {
	if c.position < len(w.chain) {
		return w.chain[c.position]
	}
	return Model{}
}

// attempt starts the record of one try.
func (w *walk) attempt(c candidate, v Verdict, p Profile) Attempt {
	a := Attempt{Model: c.model, Profile: p.ID, Auth: p.Type, Position: c.position, Total: len(w.chain), Profiles: len(c.order)}
	switch {
	case v.Do == Skip:
	case w.plan.Probe && c.position == 1:
		a.Probe = PrimaryProbe
	case v.Do == Probe:
		a.Probe = CooldownProbe
	}
	return a
}

// fail fills in what went wrong. The detail is the vendor's own sentence where
// there is one, redacted and bounded: notices, the log and summaries show it.
func (a *Attempt) fail(class Class, err error) {
	a.Reason, a.Label = class.Reason, class.Label
	detail := err.Error()
	var e *provider.Error
	if errors.As(err, &e) {
		a.Status, a.Code, a.Type, a.Transport, a.Request = e.Status, e.Code, e.Type, e.Transport, e.RequestID()
		switch {
		case e.Message != "":
			detail = e.Message
		case e.Body != "":
			detail = e.Body
		case e.Transport != provider.NoTransport:
			detail = string(e.Transport)
		default:
			detail = ""
		}
	}
	a.Detail = clip(oneLine(provider.Redact(detail)), 400) // (20.3)
}
