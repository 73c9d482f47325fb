package daemon

import (
	"context"
	"time"

	"standin/bot/operator"
	"standin/fallback"
	"standin/store"
)

// costs is the ledger and the budgets as the operator's page asks for them.
type costs struct {
	db      *store.DB
	budgets func() []fallback.Cap
}

var _ operator.Costs = costs{}

// newCosts gives them by the config of the moment.
func (a *App) newCosts() costs {
	return costs{a.DB, func() []fallback.Cap { return a.current.Load().Fallback.Budgets }}
}

// Cost implements operator.Costs; parts are those of standin cost --by.
func (c costs) Cost(ctx context.Context, by string, from, to time.Time) (rows []operator.CostRow, err error) {
	all, err := c.db.Costs(ctx, store.CostsOf{By: []store.CostBy{store.CostBy(by)}, Since: from, Until: to})
	for _, one := range all {
		rows = append(rows, operator.CostRow{Key: one.By[0], Calls: one.Calls, Failed: one.Failed, Input: one.Input, Output: one.Output,
			Cached: one.CacheRead, USD: one.USD, Unpriced: one.Unpriced})
	}
	return rows, err
}

// Budgets implements operator.Costs. Where nothing may cost, nothing is counted.
func (c costs) Budgets(ctx context.Context, now time.Time) (list []operator.Budget, err error) {
	for _, one := range c.budgets() {
		start, end := one.Bounds(now)
		b := operator.Budget{Name: one.Name, About: one.Scope(), Period: string(one.Period), Resets: end, Over: one.NoPaid}
		if !one.NoPaid {
			spent, err := c.db.Spent(ctx, one, start)
			if err != nil {
				return nil, err
			}
			b.Limit, b.Spent, b.Over = one.Allowed(spent), spent.USD, one.Used(spent)
		}
		list = append(list, b)
	}
	return list, nil
}
