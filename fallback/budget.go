package fallback

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/fallback/provider"
)

// Cap is a bound on what may be spent [D20]: one of the config's budgets, or the
// allowPaid and maxCostPerDay of a heartbeat or a job. It counts the calls that
// it covers since its period began and, once they have come to its limit, keeps
// models that cost something from being asked. Each call is looked at before it
// is made and counted when it has ended, so a cap is overshot by no more than the
// calls that were under way when it was reached.
type Cap struct {
	Name string // for people, and of its rows: no two have the same
	// What it covers; "" and nil: all.
	Agent    AgentID
	Kinds    []Kind
	Provider string
	Model    string // within Provider
	Job      string // a job's id
	Period   Period
	Zone     *time.Location // whose days it goes by, nil: this machine's
	Limit    float64        // in US dollars
	// BackgroundOnly lets chats go on when it is spent: jobs and heartbeats stop.
	BackgroundOnly bool
	// NoPaid allows no model that costs anything: Limit and Period are unused.
	NoPaid bool
}

// Period is how long a cap counts before it starts anew.
type Period string

// The periods, by the calendar of a zone.
const (
	Day   Period = "day"
	Month Period = "month"
)

// Bounds are where the period around now begins and ends.
func (c Cap) Bounds(now time.Time) (start, end time.Time) {
	zone := c.Zone
	if zone == nil {
		zone = time.Local
	}
	y, m, d := now.In(zone).Date()
	if c.Period == Month {
		return time.Date(y, m, 1, 0, 0, 0, 0, zone), time.Date(y, m+1, 1, 0, 0, 0, 0, zone)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, zone), time.Date(y, m, d+1, 0, 0, 0, 0, zone)
}

// Spender is on whose behalf a call is made.
type Spender struct {
	Agent AgentID
	Kind  Kind
	Job   string // a job's id, "" for none
}

// Covers tells whether a call counts.
func (c Cap) Covers(who Spender, m Model) bool {
	return (c.Agent == "" || c.Agent == who.Agent) &&
		(len(c.Kinds) == 0 || slices.Contains(c.Kinds, who.Kind)) &&
		(c.Job == "" || c.Job == who.Job) &&
		(c.Provider == "" || c.Provider == m.Provider) &&
		(c.Model == "" || c.Model == m.Name)
}

// Stops tells whether it keeps such runs from spending more, and does not only
// count them.
func (c Cap) Stops(k Kind) bool { return !c.BackgroundOnly || k == Cron || k == Heartbeat }

// Spent is what a cap has counted in its period.
type Spent struct {
	USD      float64
	Raised   float64 // what people gave on top for the period
	Calls    int64
	Unpriced int64 // calls whose price nobody knows: they count as nothing
}

// Allowed is the limit with what was given on top.
func (c Cap) Allowed(s Spent) float64 { return c.Limit + s.Raised }

// Used tells whether there is nothing left.
func (c Cap) Used(s Spent) bool { return s.USD >= c.Allowed(s) }

// Refuses says for people why the cap keeps a model with the price from being
// asked, "": it does not. A model that is known to be free is never refused. One
// of unknown price cannot be counted: it may be asked while the cap has something
// left and not after, since it may cost anything.
func (c Cap) Refuses(p provider.Price, s Spent, now time.Time) string {
	switch {
	case p.Free():
		return ""
	case c.NoPaid && !p.Priced:
		return fmt.Sprintf("nobody knows what it costs, and %s allows nothing that costs money", c.Name)
	case c.NoPaid:
		return fmt.Sprintf("it costs money, and %s allows none", c.Name)
	case !c.Used(s):
		return ""
	}
	_, end := c.Bounds(now)
	return fmt.Sprintf("the budget %s is spent (%s of %s); it starts anew at %s", c.Name, Dollars(s.USD), Dollars(c.Allowed(s)), end.Format("2006-01-02 15:04 MST"))
}

// Raise is something that a person gave a cap on top, for the period that begins
// at Start. Key is of the message that said so: it counts once.
type Raise struct {
	Cap   string
	Start time.Time
	USD   float64
	Who   string
	Key   string
	At    time.Time
}

// shares are the parts of a limit that an operator is told of, in percent.
var shares = []int{50, 75, 90, 100}

// Reached are the shares that have been reached, the lowest first. A cap of
// nothing reaches none: it was spent from the start.
func (c Cap) Reached(s Spent) (percent []int) {
	if c.NoPaid || c.Allowed(s) <= 0 {
		return nil
	}
	for _, share := range shares {
		if s.USD >= c.Allowed(s)*float64(share)/100 {
			percent = append(percent, share)
		}
	}
	return percent
}

// Scope says for people what a cap covers.
func (c Cap) Scope() string {
	var parts []string
	if c.Agent != "" {
		parts = append(parts, "agent "+string(c.Agent))
	}
	for _, k := range c.Kinds {
		parts = append(parts, string(k))
	}
	if c.Job != "" {
		parts = append(parts, "job "+c.Job)
	}
	switch {
	case c.Model != "":
		parts = append(parts, c.Provider+"/"+c.Model)
	case c.Provider != "":
		parts = append(parts, c.Provider)
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, ", ")
}

// Dollars writes an amount for people: cents, and what is less than one to its
// first digits.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("%.2g USD", usd)
	}
	return fmt.Sprintf("%.2f USD", usd)
}

// Bill is what calls have cost.
type Bill struct {
	USD      float64
	Unpriced int // calls whose price nobody knows
}

// add counts one call.
func (b *Bill) add(a Attempt) {
	b.USD += a.Cost
	if !a.Priced {
		b.Unpriced++
	}
}

// bill fills in what a call came to. A login's calls belong to its subscription
// and cost nothing more. A vendor that does not say how much was used leaves the
// price unknown.
func (a *Attempt) bill(t provider.Tokens, p provider.Price, login bool) {
	a.Tokens = t
	switch {
	case login || p.Free():
		a.Priced = true
	case p.Priced && t != provider.Tokens{}:
		a.Cost, a.Priced = p.Cost(t), true
	}
}
