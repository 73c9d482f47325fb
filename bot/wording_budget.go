package bot

import (
	"fmt"
	"strings"
	"time"

	"standin/fallback"
)

const (
	sayNoLedger       = "I keep no record of costs here."
	sayBudgetUsage    = "Use /budget to see what was spent, or /budget add <USD> [today | month] [name] to give a budget more until its period ends."
	sayBudgetNotYours = "Only whoever runs this bot can raise a budget."
	sayNoSuchBudgets  = "There is no such budget. Budgets stand in the config file under budgets; /budget shows those that there are."
)

// sayBudgets lists the budgets.
func sayBudgets(list []budgetStanding) string {
	if len(list) == 0 {
		return "No budget is set. Whoever runs this bot can set one in the config file, under budgets; standin cost shows what was spent."
	}
	lines := []string{"Budgets:"}
	for _, b := range list {
		lines = append(lines, "• "+sayBudget(b))
	}
	return strings.Join(lines, "\n")
}

// sayBudget is one of them in a line.
func sayBudget(b budgetStanding) string {
	if b.NoPaid {
		return b.Name + ": models that cost money are not used"
	}
	allowed := b.Allowed(b.Spent)
	line := fmt.Sprintf("%s: %s of %s spent", b.Name, fallback.Dollars(b.USD), fallback.Dollars(allowed))
	if b.Raised > 0 {
		line += fmt.Sprintf(" (%s of them given on top)", fallback.Dollars(b.Raised))
	}
	until := b.End.Format("2 Jan 15:04 MST")
	switch {
	case !b.Used(b.Spent):
		line += fmt.Sprintf(", %s left until %s", fallback.Dollars(allowed-b.USD), until)
	case b.BackgroundOnly:
		line += ", nothing left until " + until + ": jobs and heartbeats pass over paid models, answers go on"
	default:
		line += ", nothing left until " + until + ": paid models are passed over"
	}
	if b.Unpriced > 0 {
		line += fmt.Sprintf("; not counted: %s of unknown price", count(int(b.Unpriced), "call", "calls"))
	}
	return line + " (" + b.Scope() + ")"
}

// sayRaised confirms that a budget was given something on top.
func sayRaised(b budgetStanding, usd float64) string {
	return fmt.Sprintf("Budget %s has %s more until %s: %s of %s are spent. After that its usual limit counts again.",
		b.Name, fallback.Dollars(usd), b.End.Format("2 Jan 15:04 MST"), fallback.Dollars(b.USD), fallback.Dollars(b.Allowed(b.Spent)))
}

func sayNoAmount(word string) string {
	return fmt.Sprintf("%q is no amount that I can add: write US dollars, such as 2 or 0.50, at most %d.", word, mostRaise)
}

func sayNoBudget(name string, list []budgetStanding) string {
	return fmt.Sprintf("There is no budget %q.", name) + sayNames(list)
}

func sayWhichBudget(list []budgetStanding) string {
	return "Which budget is meant? Put its name at the end." + sayNames(list)
}

func sayNames(list []budgetStanding) string {
	if len(list) == 0 {
		return ""
	}
	var names []string
	for _, b := range list {
		names = append(names, b.Name)
	}
	return " There are: " + strings.Join(names, ", ") + "."
}

// saySessionCost tells in /status what a session has cost today; nothing when it
// has cost nothing.
func saySessionCost(s fallback.Spent) []string {
	unknown := ""
	if s.Unpriced > 0 {
		unknown = fmt.Sprintf("%s of unknown price", count(int(s.Unpriced), "call", "calls"))
	}
	switch {
	case s.USD > 0 && unknown != "":
		return []string{fmt.Sprintf("Cost today: %s, and %s", fallback.Dollars(s.USD), unknown)}
	case s.USD > 0:
		return []string{"Cost today: " + fallback.Dollars(s.USD)}
	case unknown != "":
		return []string{"Cost today: " + unknown}
	}
	return nil
}

// SayBudgetNews tells the operator that a share of a budget has been reached, in
// percent; now is when.
func SayBudgetNews(c fallback.Cap, s fallback.Spent, share int, now time.Time) string {
	_, end := c.Bounds(now)
	line := fmt.Sprintf("Budget %s: %s of %s are spent (%d %%), until %s.", c.Name, fallback.Dollars(s.USD), fallback.Dollars(c.Allowed(s)), share, end.Format("2 Jan 15:04 MST"))
	switch {
	case share < 100:
		return line
	case c.BackgroundOnly:
		return line + " Jobs and heartbeats now pass over models that cost money; answers go on. /budget add gives it more."
	}
	return line + " Models that cost money are passed over now. /budget add gives it more."
}
