package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"standin/fallback"
)

// The ledger has a row for every call to a vendor, written with the journal's
// step that tells of it. Amounts are kept in billionths of a dollar, so that the
// sum of a month is the sum of its calls.

// nanos is an amount as rows hold it.
func nanos(usd float64) int64 { return int64(math.Round(usd * 1e9)) }

func dollars(nanos int64) float64 { return float64(nanos) / 1e9 }

const hour = int64(time.Hour / time.Millisecond)

// call is a row of the ledger.
type call struct {
	id, at                                                 int64
	purpose, agent, session, run, job, requested           string
	provider, model, profile, reason                       string
	input, output, cacheRead, cacheWrite, cost, priced, ok int64
}

func callOf(s fallback.Step) call {
	a := s.Attempt
	c := call{
		at: millis(s.At), purpose: string(s.Kind), agent: string(s.Agent), session: string(s.Session), run: s.Run, job: s.Job,
		requested: s.Requested.String(), provider: a.Model.Provider, model: a.Model.Name, profile: string(a.Profile), reason: string(a.Reason),
		input: a.Tokens.Input, output: a.Tokens.Output, cacheRead: a.Tokens.CacheRead, cacheWrite: a.Tokens.CacheWrite, cost: nanos(a.Cost),
	}
	if a.Priced {
		c.priced = 1
	}
	if a.OK {
		c.ok = 1
	}
	return c
}

// put writes a call and adds it to its hour, once: a disk may give an error for a
// batch that it has taken all the same, and then it comes again.
func (c *call) put(t *tx) error {
	n, err := t.exec(`INSERT INTO ledger (id, at, purpose, agent, session, run, job, requested, provider, model, profile, input, output, cache_read, cache_write, cost, priced, ok, reason)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING`, c.id, c.at, c.purpose, c.agent, c.session, c.run, c.job, c.requested, c.provider, c.model, c.profile,
		c.input, c.output, c.cacheRead, c.cacheWrite, c.cost, c.priced, c.ok, c.reason)
	if err != nil || n == 0 {
		return err
	}
	_, err = t.exec(`INSERT INTO ledger_hours (hour, purpose, agent, provider, model, job, calls, cost, unpriced) VALUES (?,?,?,?,?,?,1,?,?)
		ON CONFLICT (hour, purpose, agent, provider, model, job) DO UPDATE SET calls = calls + 1, cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced`,
		c.at/hour*hour, c.purpose, c.agent, c.provider, c.model, c.job, c.cost, 1-c.priced)
	return err
}

// sum is what calls come to.
type sum struct{ calls, cost, unpriced int64 }

func (s sum) plus(o sum) sum { return sum{s.calls + o.calls, s.cost + o.cost, s.unpriced + o.unpriced} }

// totals remembers what each cap has counted so far, so that a look at it reads
// only the rows that have come since: that takes some microseconds, in a month's
// last hour as in its first.
type totals struct {
	mu    sync.Mutex
	known map[string]total
}

type total struct {
	from, upTo int64 // begin of the period; last row that is counted
	sum
}

// Spent is what the calls that the cap covers have come to since from, those that
// are still on their way to the disk included.
func (d *DB) Spent(ctx context.Context, c fallback.Cap, from time.Time) (fallback.Spent, error) {
	owed := d.journal.owed(c, millis(from)) // before the rows: what gets its row meanwhile is told by its id
	kept, err := d.counted(ctx, c, millis(from))
	if err != nil {
		return fallback.Spent{}, fmt.Errorf("read what was spent of %s: %w", c.Name, err)
	}
	for _, one := range owed {
		if one.id > kept.upTo {
			kept.sum = kept.plus(sum{1, one.cost, 1 - one.priced})
		}
	}
	var raised int64
	if _, err := d.main.row(ctx, `SELECT coalesce(sum(amount), 0) FROM budget_raises WHERE budget = ? AND start = ?`, []any{c.Name, millis(from)}, &raised); err != nil {
		return fallback.Spent{}, fmt.Errorf("read what %s was given on top: %w", c.Name, err)
	}
	return fallback.Spent{USD: dollars(kept.cost), Raised: dollars(raised), Calls: kept.calls, Unpriced: kept.unpriced}, nil
}

// SessionCost is what a session's calls have come to since from.
func (d *DB) SessionCost(ctx context.Context, s fallback.SessionID, from time.Time) (fallback.Spent, error) {
	all, err := d.Costs(ctx, CostsOf{Since: from, Session: string(s)})
	if err != nil || len(all) == 0 {
		return fallback.Spent{}, err
	}
	return fallback.Spent{USD: all[0].USD, Calls: all[0].Calls, Unpriced: all[0].Unpriced}, nil
}

// covers is the condition of the rows that a cap covers; ?1 to ?5 are scopeOf's.
const covers = `(?1 = '' OR agent = ?1) AND (?2 = '' OR instr(?2, ',' || purpose || ',') > 0) AND (?3 = '' OR job = ?3) AND (?4 = '' OR provider = ?4) AND (?5 = '' OR model = ?5)`

func scopeOf(c fallback.Cap) []any {
	kinds := ""
	for _, k := range c.Kinds {
		kinds += "," + string(k)
	}
	if kinds != "" {
		kinds += ","
	}
	return []any{string(c.Agent), kinds, c.Job, c.Provider, c.Model}
}

// counted sums up rows: from the hours at first, and then from what has come on
// top since the last look.
func (d *DB) counted(ctx context.Context, c fallback.Cap, from int64) (total, error) {
	scope := scopeOf(c)
	key := strings.Join([]string{scope[0].(string), scope[1].(string), c.Job, c.Provider, c.Model, string(c.Period)}, "\x00")
	d.totals.mu.Lock()
	was, ok := d.totals.known[key]
	d.totals.mu.Unlock()
	now := total{from: from}
	var last int64
	if ok && was.from == from {
		now = was
		var more sum
		_, err := d.main.row(ctx, `SELECT (SELECT coalesce(max(id), 0) FROM ledger), count(*), coalesce(sum(cost), 0), coalesce(sum(1 - priced), 0) FROM ledger WHERE id > ?6 AND at >= ?7 AND `+covers,
			append(scope, was.upTo, from), &last, &more.calls, &more.cost, &more.unpriced)
		if err != nil {
			return total{}, err
		}
		now.upTo, now.sum = max(was.upTo, last), was.plus(more)
	} else {
		// Midnight is not on the hour everywhere: the first piece comes from rows.
		whole := (from + hour - 1) / hour * hour
		_, err := d.main.row(ctx, `SELECT (SELECT coalesce(max(id), 0) FROM ledger), coalesce(sum(calls), 0), coalesce(sum(cost), 0), coalesce(sum(unpriced), 0) FROM (
				SELECT calls, cost, unpriced FROM ledger_hours WHERE hour >= ?6 AND `+covers+`
				UNION ALL SELECT 1, cost, 1 - priced FROM ledger WHERE at >= ?7 AND at < ?6 AND `+covers+`)`,
			append(scope, whole, from), &now.upTo, &now.calls, &now.cost, &now.unpriced)
		if err != nil {
			return total{}, err
		}
	}
	d.totals.mu.Lock()
	defer d.totals.mu.Unlock()
	// Two looks at once may come out of order; the one that saw more is kept.
	if old, ok := d.totals.known[key]; !ok || cmp.Or(cmp.Compare(now.from, old.from), cmp.Compare(now.upTo, old.upTo)) >= 0 {
		if d.totals.known == nil {
			d.totals.known = map[string]total{}
		}
		d.totals.known[key] = now
	}
	return now, nil
}

// Raise gives a cap something on top. The same key does so once.
func (d *DB) Raise(ctx context.Context, r fallback.Raise) error {
	return d.main.writeDurably(ctx, "raise the budget "+r.Cap, func(t *tx) error {
		n, err := t.exec(`INSERT INTO budget_raises (key, budget, start, amount, who, at) VALUES (?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING`,
			r.Key, r.Cap, millis(r.Start), nanos(r.USD), r.Who, millis(r.At))
		if err != nil || n == 0 {
			return err
		}
		// That it is spent is news once more when it is.
		_, err = t.exec(`DELETE FROM budget_news WHERE budget = ? AND start = ? AND share >= 100`, r.Cap, millis(r.Start))
		return err
	})
}

// Raises gives what a cap was given on top in the period, oldest first.
func (d *DB) Raises(ctx context.Context, budget string, start time.Time) (list []fallback.Raise, err error) {
	err = d.main.each(ctx, `SELECT key, amount, who, at FROM budget_raises WHERE budget = ? AND start = ? ORDER BY id`, []any{budget, millis(start)}, func(scan func(...any) error) error {
		r := fallback.Raise{Cap: budget, Start: start}
		var amount, at int64
		err := scan(&r.Key, &amount, &r.Who, &at)
		r.USD, r.At = dollars(amount), moment(at)
		list = append(list, r)
		return err
	})
	return list, err
}

// Tell notes that the operator is told of shares of a budget, and gives those
// that were not told in this period before.
func (d *DB) Tell(ctx context.Context, budget string, start time.Time, shares []int, at time.Time) (fresh []int, err error) {
	err = d.main.write(ctx, "note the news of "+budget, func(t *tx) error {
		for _, share := range shares {
			n, err := t.exec(`INSERT INTO budget_news (budget, start, share, at) VALUES (?,?,?,?) ON CONFLICT DO NOTHING`, budget, millis(start), share, millis(at))
			if err != nil {
				return err
			}
			if n > 0 {
				fresh = append(fresh, share)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fresh, nil
}
