package daemon

import (
	"context"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/heartbeat"
	"standin/store"
)

// "allowPaid" and "maxCostPerDay" [D20, IL-131]: what costs is passed over, what
// runs at home is not, and of a day all calls of the agent's heartbeats count.
func TestWhatHeartbeatsMaySpend(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	gpt, near := fallback.Model{Provider: "openai", Name: "gpt-5.5"}, fallback.Model{Provider: "near", Name: "tiny"}
	facts, known := provider.CatalogFacts(gpt.Provider, gpt.Name)
	if !known || !facts.Price.Priced {
		t.Skip("the catalogue has no price of " + gpt.String())
	}
	call := func(kind fallback.Kind, a fallback.AgentID, ago time.Duration, ok bool) fallback.Step {
		return fallback.Step{What: fallback.StepAttempt, Kind: kind, Agent: a, At: now.Add(-ago),
			Attempt: &fallback.Attempt{Model: gpt, OK: ok, Tokens: provider.Tokens{Input: 100_000}}}
	}
	one := facts.Price.Cost(provider.Tokens{Input: 100_000})
	day := []fallback.Step{
		call(fallback.Heartbeat, "main", time.Minute, true), call(fallback.Heartbeat, "main", time.Hour, false),
		call(fallback.Chat, "main", 2*time.Hour, true), call(fallback.Heartbeat, "ops", 3*time.Hour, true),
		call(fallback.Heartbeat, "main", 13*time.Hour, true), // yesterday
	}
	b := beatBudget{
		steps: func(context.Context, store.StepFilter) ([]fallback.Step, error) { return day, nil },
		models: func() *fallback.Config {
			return &fallback.Config{Providers: map[string]provider.Endpoint{"near": {BaseURL: "http://127.0.0.1:11434/v1"}, "openai": {BaseURL: "https://api.openai.com/v1"}}}
		},
		now: func() time.Time { return now },
	}
	for _, k := range []struct {
		name string
		c    heartbeat.Config
		m    fallback.Model
		want string
	}{
		{"nothing is bounded", heartbeat.Config{AllowPaid: true}, gpt, ""},
		{"nothing may cost", heartbeat.Config{}, gpt, "it costs money"},
		{"of a model nobody knows the price", heartbeat.Config{}, fallback.Model{Provider: "openai", Name: "unheard-of"}, "is not known"},
		{"a server of this machine costs nothing", heartbeat.Config{}, near, ""},
		{"two calls of today are above it", heartbeat.Config{AllowPaid: true, MaxCostPerDay: 2 * one}, gpt, "today's heartbeats have cost"},
		{"and below it", heartbeat.Config{AllowPaid: true, MaxCostPerDay: 2*one + 0.01}, gpt, ""},
	} {
		t.Run(k.name, func(t *testing.T) {
			got := b.Refuses(t.Context(), "main", k.c, k.m)
			if k.want == "" && got != "" || !strings.Contains(got, k.want) {
				t.Errorf("%q, want %q", got, k.want)
			}
		})
	}
}
