package fallback

import (
	"context"
	"fmt"
)

// What a walk writes into the session's row: a fallback's choice before it is
// tried, its withdrawal, the primary's return, the credential that answered.

// engage writes a fallback's choice down before it is tried, so that every
// reader of the session sees what is about to run [M2]. It returns the row as
// it was, for rollback; nil when nothing was written: the candidate is what the
// row says already, or the row belongs to the user, or the run must not write.
// A store that cannot write does not keep the candidate from being tried (13.3).
func (w *walk) engage(ctx context.Context, c candidate) (*Selection, error) {
	if !w.plan.Persist || c.model == w.plan.Requested || c.model == w.plan.Selected || c.model == w.row.Model {
		return nil, nil
	}
	was := w.row
	done, err := w.swap(ctx, ActSet, Engage(was, w.plan, c.model, w.Now()))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		w.Log.Error("fallback selection not written", "session", w.ask.Session, "model", c.model, "err", err)
		return nil, nil
	case !done:
		return nil, nil // somebody else changed the row: it is theirs now [I5]
	}
	return &was, nil
}

// rollback takes back this walk's own write, if the row still holds it. It is
// all or nothing [D7], and it happens even when the caller has gone.
func (w *walk) rollback(ctx context.Context, before *Selection) {
	if before == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := w.swap(ctx, ActRollback, *before); err != nil {
		w.Log.Error("fallback selection not rolled back", "session", w.ask.Session, "err", err)
	}
}

// swap is the one way in which a walk changes the row: compare-and-set on
// model and source, told to the journal when it happened.
func (w *walk) swap(ctx context.Context, act Act, now Selection) (bool, error) {
	was := w.row
	done, err := w.Selections.Swap(ctx, w.ask.Session, was, now)
	if err != nil {
		// A write may be kept although it was reported as failed. Only the row can
		// tell, and what this walk wrote it must be able to take back.
		row, unread := w.Selections.Selection(ctx, w.ask.Session)
		if unread != nil || row.Model != now.Model || row.Source != now.Source {
			return false, fmt.Errorf("%s the selection of %s: %w", act, w.ask.Session, err)
		}
		done = true
	}
	if done {
		w.row = now
		write := Write{Act: act, Was: was, Now: now}
		if act == ActClear {
			write.Rule = w.plan.ClearWhy
		}
		w.step(ctx, Step{What: StepOverride, Write: &write})
	}
	return done, nil
}

// settleDown writes down what an answer means for the session: the primary is
// back, or the credential is one to keep to. A store that cannot take it does
// not cost the person the answer: the next turn looks at both again.
func (w *walk) settleDown(ctx context.Context, c candidate, reply *answer) error {
	if w.plan.Persist && w.row.IsAuto() && c.model == w.row.Origin {
		if _, err := w.swap(ctx, ActClear, w.row.cleared(w.Now())); err != nil {
			return err
		}
	}
	return w.keep(ctx, c, reply)
}

// keep pins the session to the credential that answered, so that the vendor's
// cache stays warm [M18]. A user's pin is never replaced [D3].
func (w *walk) keep(ctx context.Context, c candidate, reply *answer) error {
	pin := Pin{Profile: reply.profile, Source: Auto, Compactions: w.ask.Compactions}
	if w.row.Pin == pin || reply.profile == "" {
		return nil
	}
	if person := w.row.Pin; person.ByPerson() && (!person.Profile.serves(c.model.Provider) || person.Profile == c.pin.Profile) {
		return nil // it goes only when its profile has gone (9.4)
	}
	done, err := w.Selections.Keep(ctx, w.ask.Session, w.row, pin)
	if err != nil {
		return fmt.Errorf("pin %s to %s: %w", w.ask.Session, reply.profile, err)
	}
	if done {
		w.row.Pin = pin
	}
	return nil
}
