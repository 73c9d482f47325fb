package daemon

import (
	"context"
	"time"

	"standin/bot"
	"standin/bot/operator"
	"standin/fallback"
	"standin/store"
)

// deskRows are the store's rows in the operator's words. It implements
// operator.Rows.
type deskRows struct{ *store.DB }

// Sessions gives a page of sessions.
func (r deskRows) Sessions(ctx context.Context, of operator.SessionsOf) ([]bot.SessionState, error) {
	return r.SessionsBack(ctx, store.SessionsOf(of))
}

// Transcript gives a page of what was said.
func (r deskRows) Transcript(ctx context.Context, s fallback.SessionID, before int64, limit int) ([]bot.Entry, error) {
	return r.TranscriptBack(ctx, s, before, limit)
}

// Steps gives a page of steps.
func (r deskRows) Steps(ctx context.Context, of operator.StepsOf) ([]operator.KeptStep, error) {
	list, err := r.StepsBack(ctx, store.StepsOf(of))
	return each(list, func(s store.KeptStep) operator.KeptStep { return operator.KeptStep(s) }), err
}

// Runs gives a page of the run log.
func (r deskRows) Runs(ctx context.Context, of operator.RunsOf) ([]operator.LoggedRun, error) {
	list, err := r.RunsBack(ctx, store.RunsBackOf(of))
	return each(list, func(l store.LoggedRun) operator.LoggedRun { return operator.LoggedRun(l) }), err
}

// Stretches gives which model answered when, by session.
func (r deskRows) Stretches(ctx context.Context, of operator.StretchesOf) ([]operator.Stretch, error) {
	list, err := r.DB.Stretches(ctx, store.StretchesOf(of))
	return each(list, func(s store.Stretch) operator.Stretch { return operator.Stretch(s) }), err
}

// AgentStretches gives the same by agent.
func (r deskRows) AgentStretches(ctx context.Context, of operator.StretchesOf, piece time.Duration) ([]operator.AgentStretch, error) {
	list, err := r.DB.AgentStretches(ctx, store.StretchesOf(of), piece)
	return each(list, func(s store.AgentStretch) operator.AgentStretch { return operator.AgentStretch(s) }), err
}

// NoteAct writes down what an operator did.
func (r deskRows) NoteAct(ctx context.Context, a operator.KeptAct) error {
	return r.DB.NoteAct(ctx, store.OperatorAct(a))
}

// Acts gives a page of it.
func (r deskRows) Acts(ctx context.Context, before int64, limit int) ([]operator.KeptAct, error) {
	list, err := r.ActsBack(ctx, before, limit)
	return each(list, func(a store.OperatorAct) operator.KeptAct { return operator.KeptAct(a) }), err
}

// Chat gives the latest of a chat.
func (r deskRows) Chat(ctx context.Context, conversation string, before operator.ChatPlace, limit int) ([]operator.ChatLine, error) {
	list, err := r.PageChat(ctx, conversation, store.PagePlace(before), limit)
	return each(list, func(l store.PageLine) operator.ChatLine {
		return operator.ChatLine{ChatPlace: operator.ChatPlace(l.PagePlace), ID: l.ID, Kind: l.Kind, Text: l.Text, Who: l.Who, Turn: l.Turn, How: l.How}
	}), err
}

func each[A, B any](list []A, as func(A) B) []B {
	out := make([]B, len(list))
	for i, one := range list {
		out[i] = as(one)
	}
	return out
}

// deskCosts are the ledger's sums in the operator's words. It implements
// operator.Costs.
type deskCosts struct{ a *App }

// Cost adds up the calls of a time.
func (d deskCosts) Cost(ctx context.Context, by string, from, to time.Time) ([]operator.CostRow, error) {
	list, err := d.a.DB.Costs(ctx, store.CostsOf{By: []store.CostBy{store.CostBy(by)}, Since: from, Until: to})
	return each(list, func(c store.Cost) operator.CostRow {
		return operator.CostRow{Key: c.By[0], Calls: c.Calls, Failed: c.Failed, Input: c.Input, Output: c.Output, Cached: c.CacheRead, USD: c.USD, Unpriced: c.Unpriced}
	}), err
}

// Budgets tells how far each limit is used.
func (d deskCosts) Budgets(ctx context.Context, now time.Time) (list []operator.Budget, err error) {
	for _, c := range d.a.current.Load().Fallback.Budgets {
		if c.NoPaid {
			continue // there is nothing to add up
		}
		start, end := c.Bounds(now)
		spent, err := d.a.DB.Spent(ctx, c, start)
		if err != nil {
			return nil, err
		}
		list = append(list, operator.Budget{Name: c.Name, About: c.Scope(), Period: string(c.Period), Limit: c.Allowed(spent), Spent: spent.USD, Resets: end, Over: spent.USD >= c.Allowed(spent)})
	}
	return list, nil
}
