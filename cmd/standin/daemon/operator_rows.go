package daemon

import (
	"context"
	"time"

	"standin/bot"
	"standin/bot/operator"
	"standin/fallback"
	"standin/store"
)

// deskRows are the store's rows under the operator's names. It implements
// operator.Rows.
type deskRows struct{ *store.DB }

// Sessions gives a page of sessions.
func (r deskRows) Sessions(ctx context.Context, of operator.SessionsOf) ([]bot.SessionState, error) {
	return r.SessionsBack(ctx, of)
}

// Transcript gives a page of what was said.
func (r deskRows) Transcript(ctx context.Context, s fallback.SessionID, before int64, limit int) ([]bot.Entry, error) {
	return r.TranscriptBack(ctx, s, before, limit)
}

// Steps gives a page of steps.
func (r deskRows) Steps(ctx context.Context, of operator.StepsOf) ([]operator.KeptStep, error) {
	return r.StepsBack(ctx, of)
}

// Runs gives a page of the run log.
func (r deskRows) Runs(ctx context.Context, of operator.RunsOf) ([]operator.LoggedRun, error) {
	return r.RunsBack(ctx, of)
}

// Acts gives a page of what operators did.
func (r deskRows) Acts(ctx context.Context, before int64, limit int) ([]operator.KeptAct, error) {
	return r.ActsBack(ctx, before, limit)
}

// Chat gives the latest of a chat.
func (r deskRows) Chat(ctx context.Context, conversation string, before operator.ChatPlace, limit int) ([]operator.ChatLine, error) {
	return r.PageChat(ctx, conversation, before, limit)
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
