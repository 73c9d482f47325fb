package daemon

import (
	"context"
	"slices"

	"standin/fallback"
	"standin/store"
)

// Past reads the journal back. It implements bot.Past.
type Past struct{ DB *store.DB }

// Steps gives the session's latest steps, newest first, and behind them those
// of the run that last changed its selection, if that is longer ago.
func (p Past) Steps(ctx context.Context, s fallback.SessionID, limit int) ([]fallback.Step, error) {
	steps, err := p.DB.Steps(ctx, store.StepFilter{Session: s, Limit: limit})
	if err != nil || len(steps) < limit {
		return steps, err
	}
	oldest := steps[len(steps)-1].Run // cut in two by the limit
	writes, err := p.DB.Steps(ctx, store.StepFilter{Session: s, What: fallback.StepOverride, Limit: 2 * maxChain})
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, one := range steps {
		here[one.Run] = one.Run != oldest
	}
	steps = slices.DeleteFunc(steps, func(one fallback.Step) bool { return one.Run == oldest })
	for _, w := range writes {
		if here[w.Run] {
			continue
		}
		here[w.Run] = true
		run, err := p.DB.Steps(ctx, store.StepFilter{Run: w.Run, Session: s, Limit: limit})
		if err != nil {
			return nil, err
		}
		steps = append(steps, run...)
	}
	return steps, nil
}

// maxChain is more candidates than a chain has in practice: a run writes the
// selection and rolls it back once per candidate.
const maxChain = 16
