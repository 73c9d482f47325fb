package fallback

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A live switch is a choice that a person makes while their turn runs (17) [M30].
// It is looked for before a candidate is asked once more and before the walk
// goes on or ends.

// pause waits before this candidate is asked once more. again is false when the
// user has chosen another model meanwhile: nobody wants the next credential or
// the repetition then, and the walk follows the choice (17.2). It is false as
// well when the run's time is over.
func (w *walk) pause(ctx context.Context, c candidate, d time.Duration) (again bool, err error) {
	if w.switched(ctx, c) {
		return false, nil
	}
	if d > 0 {
		if err := w.Sleep(ctx, d); err != nil {
			return false, err
		}
		if w.switched(ctx, c) {
			return false, nil
		}
	}
	return !w.overdue(), nil
}

// switched tells whether the user's choice has left the candidate that runs. A
// choice that came back to what runs is none, and its flag is done with (17.2).
func (w *walk) switched(ctx context.Context, c candidate) bool {
	if w.ask.Kind != Chat || w.sight == SightLent || w.deed.rounds > 0 { // not between a tool and what is made of it (17.2)
		return false
	}
	row, err := w.Selections.Selection(ctx, w.ask.Session)
	if err != nil || !row.Pending {
		return false // what cannot be read now is read again between candidates
	}
	chosen := row.Model
	if chosen.IsZero() {
		chosen = w.plan.Primary
	}
	if chosen != c.model {
		return true
	}
	if row.Model == w.row.Model && row.Source == w.row.Source {
		if err := w.Selections.Consume(ctx, w.ask.Session); err != nil {
			w.Log.Error("live switch not consumed", "session", w.ask.Session, "err", err)
		}
	}
	return false
}

// follow looks, between two candidates, whether the user has chosen another
// model meanwhile, and gives the place in the chain that this walk goes on
// from. A later candidate is jumped to; what the walk cannot reach any more is
// errRestart [M30, failover.md 17.3].
func (w *walk) follow(ctx context.Context, i int) (int, error) {
	if w.ask.Kind != Chat || w.sight == SightLent { // the choice is for the turns that the session's own models take
		return i, nil
	}
	row, err := w.Selections.Selection(ctx, w.ask.Session)
	if err != nil {
		return i, fmt.Errorf("read the selection of %s: %w", w.ask.Session, err)
	}
	if row.Model == w.row.Model && row.Source == w.row.Source && !row.Pending {
		return i, nil
	}
	w.row = row
	if !row.Pending {
		return i, nil // not a user's change: nothing to follow (17.1)
	}
	if err := w.Selections.Consume(ctx, w.ask.Session); err != nil {
		return i, fmt.Errorf("consume the live switch of %s: %w", w.ask.Session, err)
	}
	w.row.Pending = false
	if row.Model.IsZero() {
		// Back to the default. Where this walk has had it already, the walk just
		// goes on (17.3); a walk without it has not asked what the user wants.
		if slices.Contains(w.chain[:i+1], w.plan.Primary) {
			return i, nil
		}
		return i, errRestart
	}
	for j := i + 1; j < len(w.chain); j++ {
		if w.chain[j] != row.Model {
			continue
		}
		for k := i + 1; k < j; k++ {
			w.jumped(ctx, k)
		}
		// The target is the user's exact choice: nothing follows it [I4].
		w.plan.Requested, w.plan.Selected, w.plan.Why = row.Model, row.Model, FromUser
		w.plan.Strict, w.plan.Persist, w.plan.Pin = true, false, row.Pin
		w.chain = w.chain[:j+1]
		return j - 1, nil
	}
	return i, errRestart
}
