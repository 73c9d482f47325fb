package daemon

import (
	"context"
	"slices"
	"testing"
	"time"

	"standin/fallback"
)

// books are those of one budget, as a test has them.
type books struct {
	spent fallback.Spent
	asked int // to write news down
	news  []int
}

func (b *books) Spent(context.Context, fallback.Cap, time.Time) (fallback.Spent, error) {
	return b.spent, nil
}

func (b *books) Tell(_ context.Context, _ string, _ time.Time, shares []int, _ time.Time) (fresh []int, err error) {
	b.asked++
	for _, s := range shares {
		if !slices.Contains(b.news, s) {
			fresh, b.news = append(fresh, s), append(b.news, s)
		}
	}
	return fresh, nil
}

// A look after a call writes only when there may be news: a share more, a raise,
// another period.
func TestALookAtABudgetIsNoWrite(t *testing.T) {
	b, now, told := &books{}, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), 0
	w := &budgetWatch{books: b, now: func() time.Time { return now }, tell: func(BudgetNews) { told++ }, told: map[string]toldOf{},
		budget: func() []fallback.Cap {
			return []fallback.Cap{{Name: "house", Limit: 10, Period: fallback.Day, Zone: time.UTC}}
		}}
	for _, c := range []struct {
		says        string
		change      func()
		asked, told int
	}{
		{"nothing is reached", func() { b.spent.USD = 1 }, 0, 0},
		{"half of it is", func() { b.spent.USD = 5 }, 1, 1},
		{"more calls", func() { b.spent.USD = 6 }, 1, 1},
		{"all of it is", func() { b.spent.USD = 10 }, 2, 2},
		// The store forgets the news of its end with the raise.
		{"raised, and spent again before a look", func() { b.spent = fallback.Spent{USD: 12, Raised: 2}; b.news = []int{50, 75, 90} }, 3, 3},
		{"the next day", func() { now = now.Add(24 * time.Hour); b.spent = fallback.Spent{USD: 12}; b.news = nil }, 4, 4},
	} {
		c.change()
		for range 3 {
			if err := w.look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if b.asked != c.asked || told != c.told {
			t.Errorf("%s: %d writes, %d told, want %d and %d", c.says, b.asked, told, c.asked, c.told)
		}
	}
}
