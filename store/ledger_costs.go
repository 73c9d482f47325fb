package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CostBy is what costs are told apart by.
type CostBy string

// The parts.
const (
	ByModel     CostBy = "model"     // that answered, provider/model
	ByRequested CostBy = "requested" // that was to answer
	ByProvider  CostBy = "provider"
	ByPurpose   CostBy = "purpose"
	ByAgent     CostBy = "agent"
	ByJob       CostBy = "job"
	BySession   CostBy = "session"
	ByProfile   CostBy = "profile"
	ByDay       CostBy = "day"
)

// costColumns say where each part stands in a row; a day is made of quarter
// hours, since no zone begins one in between.
var costColumns = map[CostBy]string{
	ByModel: "provider || '/' || model", ByRequested: "requested", ByProvider: "provider", ByPurpose: "purpose", ByAgent: "agent",
	ByJob: "job", BySession: "session", ByProfile: "profile", ByDay: "(at / 900000)",
}

// CostParts lists the parts, for people.
func CostParts() []string {
	var all []string
	for by := range costColumns {
		all = append(all, string(by))
	}
	slices.Sort(all)
	return all
}

// CostsOf says which costs are wanted.
type CostsOf struct {
	By           []CostBy // none: one row for all
	Since, Until time.Time
	Zone         *time.Location // of ByDay, nil: this machine's
	Session      string         // of one session alone, "": all
}

// Cost is what the calls of one group came to.
type Cost struct {
	By         []string `json:"by"` // in the order of CostsOf.By
	Calls      int64    `json:"calls"`
	Failed     int64    `json:"failed"`
	Input      int64    `json:"inputTokens"` // cached ones included
	Output     int64    `json:"outputTokens"`
	CacheRead  int64    `json:"cacheReadTokens"`
	CacheWrite int64    `json:"cacheWriteTokens"`
	USD        float64  `json:"usd"`
	// Unpriced are calls whose price nobody knows, and UnpricedTokens what they
	// used: USD is without them.
	Unpriced       int64 `json:"unpricedCalls"`
	UnpricedTokens int64 `json:"unpricedTokens"`

	nanos int64
}

func (c *Cost) add(o Cost) {
	c.Calls, c.Failed, c.Input, c.Output = c.Calls+o.Calls, c.Failed+o.Failed, c.Input+o.Input, c.Output+o.Output
	c.CacheRead, c.CacheWrite, c.nanos = c.CacheRead+o.CacheRead, c.CacheWrite+o.CacheWrite, c.nanos+o.nanos
	c.Unpriced, c.UnpricedTokens = c.Unpriced+o.Unpriced, c.UnpricedTokens+o.UnpricedTokens
	c.USD = dollars(c.nanos)
}

// Costs sums up the ledger, the dearest first, or day by day. What this process
// recorded before the call is in it.
func (d *DB) Costs(ctx context.Context, of CostsOf) ([]Cost, error) {
	if d.journal != nil {
		d.journal.report(d.journal.flush(ctx))
	}
	columns := []string{"''"}
	for _, by := range of.By {
		column, ok := costColumns[by]
		if !ok {
			return nil, fmt.Errorf("costs cannot be told apart by %q: use %s", by, strings.Join(CostParts(), ", "))
		}
		columns = append(columns, column)
	}
	until := millis(of.Until)
	if until == 0 {
		until = 1 << 62
	}
	query := `SELECT ` + strings.Join(columns, " || char(31) || ") + ` AS part, count(*), sum(1 - ok), sum(input), sum(output), sum(cache_read), sum(cache_write),
		sum(cost), sum(1 - priced), sum((1 - priced) * (input + output)) FROM ledger WHERE at >= ? AND at < ? AND (? = '' OR session = ?) GROUP BY part`
	groups := map[string]*Cost{}
	err := d.main.each(ctx, query, []any{millis(of.Since), until, of.Session, of.Session}, func(scan func(...any) error) error {
		var part string
		var c Cost
		if err := scan(&part, &c.Calls, &c.Failed, &c.Input, &c.Output, &c.CacheRead, &c.CacheWrite, &c.nanos, &c.Unpriced, &c.UnpricedTokens); err != nil {
			return err
		}
		c.By = strings.Split(part, "\x1f")[1:]
		for i, by := range of.By {
			if by == ByDay {
				c.By[i] = dayOf(c.By[i], of.Zone)
			}
		}
		key := strings.Join(c.By, "\x1f")
		if groups[key] == nil {
			groups[key] = &Cost{By: c.By}
		}
		groups[key].add(c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sum up costs: %w", err)
	}
	list := make([]Cost, 0, len(groups))
	for _, c := range groups {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Cost) int {
		if len(of.By) > 0 && of.By[0] == ByDay {
			if c := cmp.Compare(a.By[0], b.By[0]); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(b.nanos, a.nanos), cmp.Compare(b.Input+b.Output, a.Input+a.Output), slices.Compare(a.By, b.By))
	})
	return list, nil
}

// dayOf is the day of a quarter hour.
func dayOf(quarter string, zone *time.Location) string {
	var n int64
	_, _ = fmt.Sscan(quarter, &n) // SQLite's own division
	at := time.UnixMilli(n * 900_000)
	if zone != nil {
		at = at.In(zone)
	}
	return at.Format(time.DateOnly)
}
