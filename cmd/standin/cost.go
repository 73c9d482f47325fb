package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"standin/bot"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// costCmd is `standin cost`: what the calls to vendors came to, beside a running
// daemon or without one [IL-260].
type costCmd struct {
	questionFlags
	By    string
	Since string
}

func (w world) costVerb() *verb {
	c := costCmd{By: string(store.ByModel)}
	v := w.verb(&c, "cost", "Tell what requests to models have cost, also those that nobody saw, and how the budgets stand.")
	v.Flags().Var(text{&c.By, "PARTS"}, "by", "Told apart by these, with commas: "+strings.Join(store.CostParts(), ", ")+".")
	v.Flags().Var(text{&c.Since, "WHEN"}, "since", "From then on: today, month, 24h, 7d, or a date such as 2026-06-01 (default: month).")
	c.bind(v)
	return v
}

// costReport is what is told.
type costReport struct {
	Since   time.Time      `json:"since"`
	By      []store.CostBy `json:"by"`
	Rows    []store.Cost   `json:"rows"`
	Total   store.Cost     `json:"total"`
	Budgets []budgetReport `json:"budgets"`
}

// budgetReport is a budget as it stands.
type budgetReport struct {
	Name     string           `json:"name"`
	Covers   string           `json:"covers"`
	Period   fallback.Period  `json:"period,omitempty"`
	NoPaid   bool             `json:"noPaid,omitempty"` // nothing that costs money is used
	Spent    float64          `json:"spentUsd"`
	Limit    float64          `json:"limitUsd"` // with what was given on top
	Raised   float64          `json:"raisedUsd,omitempty"`
	Unpriced int64            `json:"unpricedCalls,omitempty"`
	Until    time.Time        `json:"until,omitzero"`
	Raises   []fallback.Raise `json:"raises,omitempty"`
}

// Run prints the costs.
func (c costCmd) Run(w world) error { return c.run(w, time.Now()) }

func (c costCmd) run(w world, now time.Time) error {
	since, err := sinceOf(c.Since, now)
	if err != nil {
		return err
	}
	by, err := partsOf(c.By)
	if err != nil {
		return err
	}
	q, err := c.open(w, now)
	if err != nil {
		return err
	}
	defer q.close()
	if q.db == nil {
		return exit{exitFault, fmt.Sprintf("nothing has been spent yet: no daemon has kept its state in %s", c.dir(w))}
	}
	r := costReport{Since: since, By: by, Rows: []store.Cost{}, Budgets: []budgetReport{}}
	if r.Rows, err = q.db.Costs(w.ctx, store.CostsOf{By: by, Since: since, Zone: now.Location()}); err != nil {
		return err
	}
	total, err := q.db.Costs(w.ctx, store.CostsOf{Since: since})
	if err != nil {
		return err
	}
	if len(total) > 0 {
		r.Total = total[0]
	}
	if i := slices.Index(by, store.ByJob); i >= 0 && !c.JSON {
		nameJobs(w, q.db, r.Rows, i)
	}
	if r.Budgets, err = c.budgets(w, q); err != nil {
		return err
	}
	if c.JSON {
		return printJSON(w, r)
	}
	r.print(w.stdout, now)
	return nil
}

// budgets reads how they stand.
func (c costCmd) budgets(w world, q *inquiry) (list []budgetReport, err error) {
	list = []budgetReport{}
	for _, one := range q.config.Fallback.Budgets {
		start, end := one.Bounds(q.now)
		b := budgetReport{Name: one.Name, Covers: one.Scope(), NoPaid: one.NoPaid}
		if !one.NoPaid {
			s, err := q.db.Spent(w.ctx, one, start)
			if err != nil {
				return nil, err
			}
			b.Period, b.Spent, b.Limit, b.Raised, b.Unpriced, b.Until = one.Period, s.USD, one.Allowed(s), s.Raised, s.Unpriced, end
			if b.Raises, err = q.db.Raises(w.ctx, one.Name, start); err != nil {
				return nil, err
			}
		}
		list = append(list, b)
	}
	return list, nil
}

// nameJobs puts the names of jobs beside their ids; a job that is gone keeps its id.
func nameJobs(w world, db *store.DB, rows []store.Cost, at int) {
	for i := range rows {
		if id := rows[i].By[at]; id != "" {
			if j, err := db.Job(w.ctx, cronjobs.JobID(id)); err == nil {
				rows[i].By[at] = fmt.Sprintf("%s (%s)", id, j.Name)
			}
		}
	}
}

// print writes a table, its sum, and the budgets.
func (r costReport) print(out io.Writer, now time.Time) {
	if r.Total.Calls == 0 {
		fmt.Fprintf(out, "No request to a model since %s.\n", bot.Moment(r.Since, now))
	} else {
		fmt.Fprintf(out, "Requests to models since %s, also those that failed or that nobody saw:\n\n", bot.Moment(r.Since, now))
		t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		var heads []string
		for _, by := range r.By {
			heads = append(heads, strings.ToUpper(string(by)))
		}
		fmt.Fprintf(t, "%s\tREQUESTS\tFAILED\tTOKENS IN\tOUT\tCACHED\tCOST\n", strings.Join(heads, "\t"))
		for _, row := range r.Rows {
			for _, part := range row.By {
				fmt.Fprintf(t, "%s\t", orDash(part))
			}
			printCost(t, row)
		}
		if len(r.Rows) > 1 {
			fmt.Fprintf(t, "total%s", strings.Repeat("\t", len(r.By)))
			printCost(t, r.Total)
		}
		_ = t.Flush()
	}
	if len(r.Budgets) > 0 {
		fmt.Fprintln(out, "\nBudgets:")
	}
	for _, b := range r.Budgets {
		b.print(out)
	}
}

func printCost(t io.Writer, c store.Cost) {
	cost := fallback.Dollars(c.USD)
	switch {
	case c.Unpriced == c.Calls:
		cost = fmt.Sprintf("price unknown (%d tokens)", c.UnpricedTokens)
	case c.Unpriced > 0:
		cost += fmt.Sprintf(" and %s of unknown price (%d tokens)", counted(int(c.Unpriced), "request"), c.UnpricedTokens)
	}
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%s\n", c.Calls, c.Failed, c.Input, c.Output, c.CacheRead, cost)
}

func (b budgetReport) print(out io.Writer) {
	if b.NoPaid {
		fmt.Fprintf(out, "  %s: models that cost money are not used\n", b.Name)
		return
	}
	fmt.Fprintf(out, "  %s: %s of %s until %s (%s)\n", b.Name, fallback.Dollars(b.Spent), fallback.Dollars(b.Limit), b.Until.Format("2006-01-02 15:04 MST"), b.Covers)
	for _, r := range b.Raises {
		fmt.Fprintf(out, "    %s given on top by %s, %s\n", fallback.Dollars(r.USD), r.Who, r.At.In(b.Until.Location()).Format("2006-01-02 15:04 MST"))
	}
	if b.Unpriced > 0 {
		fmt.Fprintf(out, "    not counted: %s of unknown price; cost in models.providers.<id>.models says it\n", counted(int(b.Unpriced), "request"))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// partsOf reads --by.
func partsOf(list string) (parts []store.CostBy, err error) {
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		if !slices.Contains(store.CostParts(), word) {
			return nil, misuse{fmt.Sprintf("--by: costs cannot be told apart by %q; use %s", word, strings.Join(store.CostParts(), ", "))}
		}
		if one := store.CostBy(word); !slices.Contains(parts, one) {
			parts = append(parts, one)
		}
	}
	return parts, nil
}

var days = regexp.MustCompile(`^(\d{1,4})d$`)

// sinceOf reads --since.
func sinceOf(word string, now time.Time) (time.Time, error) {
	y, m, d := now.Date()
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "today", "day":
		return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), nil
	case "", "month":
		return time.Date(y, m, 1, 0, 0, 0, 0, now.Location()), nil
	}
	if n := days.FindStringSubmatch(word); n != nil {
		count, err := strconv.Atoi(n[1])
		return now.AddDate(0, 0, -count), err
	}
	if span, err := time.ParseDuration(word); err == nil && span > 0 {
		return now.Add(-span), nil
	}
	at, err := time.ParseInLocation(time.DateOnly, word, now.Location())
	if err != nil {
		return at, misuse{fmt.Sprintf("--since: %q is no time; use today, month, 24h, 7d, or a date such as 2026-06-01", word)}
	}
	return at, nil
}
