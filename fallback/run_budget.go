package fallback

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Ledger knows what has been spent.
type Ledger interface {
	// Spent is what the calls that the cap covers have come to since from, those
	// that ended just now included. It is asked before each call.
	Spent(ctx context.Context, c Cap, from time.Time) (Spent, error)
}

// errBudget ends a candidate whose next call a cap does not allow.
var errBudget = errors.New("a budget is spent")

// tooDear tells whether a cap keeps the candidate from being asked now, nil when
// none does [D20].
func (w *walk) tooDear(ctx context.Context, c candidate) *Verdict {
	caps := append(slices.Clip(w.ask.Config.Budgets), w.ask.Caps...)
	if w.Ledger == nil || len(caps) == 0 {
		return nil
	}
	who, price := Spender{w.ask.Agent, w.ask.Kind, w.ask.Job}, w.ask.Config.FactsOf(c.model).Price
	if price.Free() || c.subscribed() {
		return nil
	}
	now := w.Now()
	for _, one := range caps {
		if !one.Covers(who, c.model) || !one.Stops(w.ask.Kind) {
			continue
		}
		var spent Spent
		if from, _ := one.Bounds(now); !one.NoPaid {
			var err error
			if spent, err = w.Ledger.Spent(ctx, one, from); err != nil {
				w.Log.Error("what was spent cannot be read", "budget", one.Name, "err", err)
				if w.ask.Kind == Chat {
					continue // a person is not sent away for a fault of our own
				}
				return overBudget("what was spent cannot be read, so nothing is spent in the background")
			}
		}
		if why := one.Refuses(price, spent, now); why != "" {
			return overBudget(why)
		}
	}
	return nil
}

func overBudget(why string) *Verdict {
	return &Verdict{Do: Skip, Why: SkipBudget, Reason: Budget, Detail: why}
}

// subscribed tells whether every credential of the candidate is a subscription's
// login, whose calls cost nothing more.
func (c candidate) subscribed() bool {
	return len(c.order) > 0 && !slices.ContainsFunc(c.order, func(p Profile) bool { return p.Type != OAuth })
}

// logins are the candidate's subscriptions, none while all of them rest.
func (c candidate) logins(now time.Time) (logins []Profile) {
	free := false
	for _, p := range c.order {
		if p.Type != OAuth {
			continue
		}
		u := c.usage[p.ID]
		_, rests := u.blocking(c.model.Name, now)
		free = free || !rests
		logins = append(logins, p)
	}
	if !free {
		return nil
	}
	return logins
}

// mayCallAgain asks the caps before each further call of a candidate: a turn with
// many rounds of tools is many calls.
func (w *walk) mayCallAgain(ctx context.Context, c candidate) error {
	if v := w.tooDear(ctx, c); v != nil {
		w.skip(ctx, c, *v)
		return errBudget
	}
	return nil
}
