package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"standin/fallback"
)

// Spending is what the bot knows of money.
type Spending interface {
	// Spent is what the calls that a cap covers have come to since from.
	Spent(ctx context.Context, c fallback.Cap, from time.Time) (fallback.Spent, error)
	// Raise gives a cap something on top, once for each key.
	Raise(ctx context.Context, r fallback.Raise) error
	// SessionCost is what a session's calls have come to since from.
	SessionCost(ctx context.Context, s fallback.SessionID, from time.Time) (fallback.Spent, error)
}

// budgetStanding is a budget as it stands.
type budgetStanding struct {
	fallback.Cap
	fallback.Spent
	Start, End time.Time
}

// budgets reads how the config's budgets stand. One that cannot be read is left
// out where that is no reason to fail.
func (o *order) budgets(ctx context.Context) (list []budgetStanding, failed error) {
	for _, c := range o.cfg.Fallback.Budgets {
		b := budgetStanding{Cap: c}
		b.Start, b.End = c.Bounds(o.now)
		if !c.NoPaid {
			var err error
			if b.Spent, err = o.Spending.Spent(ctx, c, b.Start); err != nil {
				failed = err
				continue
			}
		}
		list = append(list, b)
	}
	return list, failed
}

// obeyBudget is /budget: what was spent of what, and /budget add for operators
// who are away from the shell [IL-215].
func obeyBudget(ctx context.Context, o *order) (reply, error) {
	if o.Spending == nil {
		return say(sayNoLedger)
	}
	words := strings.Fields(o.args)
	switch {
	case len(words) == 0:
		list, err := o.budgets(ctx)
		if err != nil {
			return reply{}, err
		}
		return say(sayBudgets(list))
	case strings.ToLower(words[0]) != "add" || len(words) < 2:
		return say(sayBudgetUsage)
	case !o.operates(ctx):
		return say(sayBudgetNotYours)
	}
	usd, ok := amountOf(words[1])
	if !ok {
		return say(sayNoAmount(words[1]))
	}
	words = words[2:]
	if len(words) > 0 && strings.EqualFold(words[0], "USD") {
		words = words[1:]
	}
	list, err := o.budgets(ctx)
	if err != nil {
		return reply{}, err
	}
	one, problem := pickBudget(list, words)
	if problem != "" {
		return say(problem)
	}
	in := o.row.In
	who := strings.TrimSpace(in.To.Channel + ":" + in.From.ID + " " + in.From.Name)
	key := strings.Join([]string{in.To.Channel, in.To.Account, in.To.Conversation, in.ID}, "\x1f")
	if err := o.Spending.Raise(ctx, fallback.Raise{Cap: one.Name, Start: one.Start, USD: usd, Who: who, Key: key, At: o.now}); err != nil {
		return reply{}, err
	}
	o.Log.Info("budget raised", "budget", one.Name, "usd", usd, "by", who, "until", one.End)
	if one.Spent, err = o.Spending.Spent(ctx, one.Cap, one.Start); err != nil { // the message may have been heard before
		return reply{}, err
	}
	return say(sayRaised(one, usd))
}

// mostRaise bounds what one command may add, in US dollars: a slip of the finger
// is no fortune.
const mostRaise = 10_000

// amountOf reads an amount in US dollars.
func amountOf(word string) (usd float64, ok bool) {
	word = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(word), "$"), "usd")
	usd, err := strconv.ParseFloat(word, 64)
	return usd, err == nil && usd > 0 && usd <= mostRaise
}

// pickBudget finds the one that is meant: by its name, by its period (today,
// month), or because there is only one.
func pickBudget(list []budgetStanding, words []string) (one budgetStanding, problem string) {
	list = slices.DeleteFunc(slices.Clone(list), func(b budgetStanding) bool { return b.NoPaid })
	if len(words) > 0 {
		period := fallback.Period("")
		switch strings.ToLower(words[0]) {
		case "today", "day":
			period = fallback.Day
		case "month":
			period = fallback.Month
		}
		named := func(b budgetStanding) bool { return strings.EqualFold(b.Name, strings.Join(words, " ")) }
		if i := slices.IndexFunc(list, named); i >= 0 { // a budget may be called day
			return list[i], ""
		}
		if period != "" {
			list = slices.DeleteFunc(list, func(b budgetStanding) bool { return b.Period != period })
			words = words[1:]
		}
	}
	if name := strings.Join(words, " "); name != "" {
		i := slices.IndexFunc(list, func(b budgetStanding) bool { return strings.EqualFold(b.Name, name) })
		if i < 0 {
			return one, sayNoBudget(name, list)
		}
		return list[i], ""
	}
	switch len(list) {
	case 0:
		return one, sayNoSuchBudgets
	case 1:
		return list[0], ""
	}
	return one, sayWhichBudget(list)
}

// costs are the lines of /status on money: what the session has cost today, and
// budgets that are half spent or more. What cannot be read is left out: a status
// is no place to fail.
func (o *order) costs(ctx context.Context) []string {
	if o.Spending == nil {
		return nil
	}
	zone := o.cfg.Agents[o.row.Agent].Zone
	start, _ := fallback.Cap{Period: fallback.Day, Zone: zone}.Bounds(o.now)
	spent, err := o.Spending.SessionCost(ctx, o.row.Session, start)
	if err != nil {
		o.Log.Error("costs not read for a status", "session", o.row.Session, "err", err)
	}
	lines := saySessionCost(spent)
	list, err := o.budgets(ctx)
	if err != nil {
		o.Log.Error("budgets not read for a status", "err", err)
	}
	for _, b := range list {
		if !b.NoPaid && b.Covers(fallback.Spender{Agent: o.row.Agent, Kind: fallback.Chat}, o.cfg.Fallback.Default.Primary) && b.USD*2 >= b.Allowed(b.Spent) {
			lines = append(lines, "Budget "+sayBudget(b))
		}
	}
	return lines
}
