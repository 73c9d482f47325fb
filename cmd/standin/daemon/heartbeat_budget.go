package daemon

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/heartbeat"
	"standin/store"
)

// beatBudget keeps heartbeats to heartbeat.allowPaid and maxCostPerDay [D20]. What
// was spent is read from the record of the calls, failed and silent ones included.
type beatBudget struct {
	steps  func(ctx context.Context, want store.StepFilter) ([]fallback.Step, error)
	models func() *fallback.Config
	now    func() time.Time
}

// Refuses implements heartbeat.Budget.
func (b beatBudget) Refuses(ctx context.Context, a fallback.AgentID, c heartbeat.Config, m fallback.Model) string {
	if c.AllowPaid && c.MaxCostPerDay <= 0 || atHome(b.models().Providers[m.Provider]) {
		return ""
	}
	facts, _ := provider.CatalogFacts(m.Provider, m.Name)
	switch {
	case !c.AllowPaid && facts.Price.Priced:
		return "it costs money, and heartbeat.allowPaid is false"
	case !c.AllowPaid:
		return "whether it costs money is not known, and heartbeat.allowPaid is false"
	case !facts.Price.Priced:
		return "" // what nobody knows the price of cannot be counted
	}
	spent, err := b.spent(ctx, a)
	switch {
	case err != nil:
		return "what today's heartbeats have cost cannot be read: " + err.Error()
	case spent >= c.MaxCostPerDay:
		return fmt.Sprintf("today's heartbeats have cost %.2f of at most %.2f USD (heartbeat.maxCostPerDay)", spent, c.MaxCostPerDay)
	}
	return ""
}

// mostCalls bounds how many calls of a day are counted.
const mostCalls = 20_000

// spent is what the agent's heartbeats have cost since midnight, in USD.
func (b beatBudget) spent(ctx context.Context, a fallback.AgentID) (usd float64, err error) {
	y, m, d := b.now().Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, b.now().Location())
	for limit := 200; ; limit *= 10 { // the newest first; most days have few
		steps, err := b.steps(ctx, store.StepFilter{What: fallback.StepAttempt, Limit: limit})
		if err != nil {
			return 0, err
		}
		usd = 0
		for _, s := range steps {
			if s.At.Before(midnight) {
				return usd, nil
			}
			if s.Kind == fallback.Heartbeat && s.Agent == a && s.Attempt != nil {
				facts, _ := provider.CatalogFacts(s.Attempt.Model.Provider, s.Attempt.Model.Name)
				usd += facts.Price.Cost(s.Attempt.Tokens)
			}
		}
		if len(steps) < limit || limit >= mostCalls {
			return usd, nil
		}
	}
}

// atHome tells whether a provider is a server of this machine, which nobody is
// paid for.
func atHome(e provider.Endpoint) bool {
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}
