package fallback

import (
	"context"
	"errors"
	"time"
)

// ClearStale applies the clearing rule of heartbeats to a session without
// asking a model: an automatic override of its own whose origin is not the
// configured primary any more is taken away [M7, H19]. For a heartbeat that
// runs in a session beside it [H21]. cleared is the model that the row held,
// zero when nothing was stale.
func (r *Runner) ClearStale(ctx context.Context, ask Ask) (cleared Model, err error) {
	w, err := r.begin(ctx, ask, r.Now())
	var invalid *SummaryError
	switch {
	case errors.As(err, &invalid): // a user's choice, which is not ours to clear
		return Model{}, nil
	case err != nil:
		return Model{}, err
	case w.plan.Clear:
		return w.plan.Cleared, nil
	}
	return Model{}, nil
}

// Foresee tells what a run would do now, as Explain does, without asking
// anybody or writing anything. rests is when the first model of its chain can be
// asked again if none can now; zero when one can, or when nobody knows. A probe
// of a resting credential does not count: a run that can wait leaves it to
// people's messages.
func (r *Runner) Foresee(ctx context.Context, ask Ask) (e Explanation, rests time.Time, err error) {
	own, err := r.Selections.Selection(ctx, ask.Session)
	if err != nil {
		return Explanation{}, time.Time{}, err
	}
	stored, err := r.inherit(ctx, ask, own)
	if err != nil {
		return Explanation{}, time.Time{}, err
	}
	now := r.Now()
	w := &walk{Runner: r, ask: ask}
	orders, usages := map[string][]Profile{}, map[string]map[ProfileID]Usage{}
	var failed error
	e = Explain(ask, stored, false, func(provider string) ([]Profile, map[ProfileID]Usage) {
		all, order, usage, err := w.profiles(ctx, provider)
		failed = errors.Join(failed, err)
		orders[provider], usages[provider] = order, usage
		return all, usage
	}, now)
	if failed != nil {
		return Explanation{}, time.Time{}, failed
	}
	var chain []Model
	for _, c := range e.Candidates {
		if c.Verdict.Do == Try {
			return e, time.Time{}, nil
		}
		chain = append(chain, c.Model)
	}
	return e, Soonest(chain,
		func(m Model) []Profile { return orders[m.Provider] },
		func(m Model) map[ProfileID]Usage { return usages[m.Provider] }, now), nil
}
