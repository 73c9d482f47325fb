package daemon

import (
	"context"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

// BudgetNews is that a share of a budget has been reached, for the operator.
type BudgetNews struct {
	Cap   fallback.Cap
	Spent fallback.Spent
	Share int // percent
	Text  string
	Start time.Time // of the period; with the cap's name and Share it is the news' key
}

// budgetWatch tells the operator of budgets that fill up, once for each share and
// period, also over restarts and however many turns cross it at once [IL-220].
type budgetWatch struct {
	books  budgetBooks
	budget func() []fallback.Cap
	now    func() time.Time
	tell   func(BudgetNews)
	failed func(error)

	wake chan struct{}
	told map[string]toldOf // by budget; run's own
}

// budgetBooks is what the watch asks of the store.
type budgetBooks interface {
	Spent(ctx context.Context, c fallback.Cap, from time.Time) (fallback.Spent, error)
	Tell(ctx context.Context, budget string, start time.Time, shares []int, at time.Time) (fresh []int, err error)
}

var _ budgetBooks = (*store.DB)(nil)

// toldOf is what a budget was like when its news were told last: a look after
// each call must not be a write after each call.
type toldOf struct {
	start  int64 // ms
	raised float64
	shares int
}

// Record implements fallback.Journal: a call that cost something is a reason to
// look. It does not wait.
func (w *budgetWatch) Record(_ context.Context, s fallback.Step) {
	if s.What != fallback.StepAttempt || s.Attempt.Cost <= 0 {
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // a look is due already, and will see this call too
	}
}

// run looks until ctx ends.
func (w *budgetWatch) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				w.failed(err)
			}
		}
	}
}

// look tells what is new. Of several shares that were passed at once the highest
// is told: the others say nothing more.
func (w *budgetWatch) look(ctx context.Context) error {
	now := w.now()
	for _, c := range w.budget() {
		if c.NoPaid {
			continue
		}
		start, _ := c.Bounds(now)
		spent, err := w.books.Spent(ctx, c, start)
		if err != nil {
			return err
		}
		reached := c.Reached(spent)
		if len(reached) == 0 {
			continue
		}
		is := toldOf{start.UnixMilli(), spent.Raised, len(reached)}
		if w.told[c.Name] == is {
			continue
		}
		fresh, err := w.books.Tell(ctx, c.Name, start, reached, now)
		if err != nil {
			return err
		}
		w.told[c.Name] = is
		if n := len(fresh); n > 0 {
			share := fresh[n-1]
			w.tell(BudgetNews{Cap: c, Spent: spent, Share: share, Text: bot.SayBudgetNews(c, spent, share, now), Start: start})
		}
	}
	return nil
}

// newWatch wires the watch over budgets.
func (a *App) newWatch() *budgetWatch {
	return &budgetWatch{
		books: a.DB, now: a.parts.Now, wake: make(chan struct{}, 1), told: map[string]toldOf{},
		budget: func() []fallback.Cap { return a.current.Load().Fallback.Budgets },
		tell: func(n BudgetNews) {
			a.parts.Log.Warn("budget", "name", n.Cap.Name, "percent", n.Share, "spent", n.Spent.USD, "limit", n.Cap.Allowed(n.Spent), "text", n.Text)
			if a.incidents != nil {
				poke(a.incidents.wake)
			}
			if a.parts.Notify != nil {
				a.parts.Notify(n)
			}
		},
		failed: func(err error) { a.parts.Log.Error("budgets not looked at", "err", err) },
	}
}

// startWatch lets it run; what is spent between two starts is looked at first.
func (a *App) startWatch(ctx context.Context) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	select {
	case a.watch.wake <- struct{}{}:
	default: // something was recorded before
	}
	go func() { defer close(ended); a.watch.run(ctx) }()
	a.onStop("budgets", func(context.Context) error { stop(); <-ended; return nil })
}
