package operator

import (
	"context"

	"standin/fallback"
)

// Engine is the rule book's runner with a watch beside it: it answers the same,
// and what a run takes beside its vendors is counted and traced.
type Engine struct {
	*fallback.Runner
	Watch *Server
}

// Run implements bot.Engine.
func (e Engine) Run(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
	began := e.Now()
	e.Watch.metrics.began(ask.Run)
	out, err := e.Runner.Run(ctx, ask)
	ended := e.Now()
	e.Watch.metrics.ended(ask.Run, ended.Sub(began))
	e.Watch.traces.ended(ask, began, ended, out, err)
	return out, err
}
