package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
)

const someAgents = "agents: {defaults: {model: openai/gpt-5.5, models: {openai/gpt-5.5: {alias: gpt}}, userTimezone: Europe/Berlin}, list: [{id: main}, {id: ops}]}\n"

var sameZones = cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })

// budgets, and the bounds of heartbeats beside them, become caps [D20].
func TestBudgetsBecomeCaps(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c := must(t, someAgents+`
budgets:
  - limit: 5
  - {name: house, limit: 100, period: month, timezone: UTC, stops: background}
  - {agent: ops, purpose: background, limit: 0}
  - {model: gpt, limit: 1, timezone: local}
  - {provider: OpenAI, job: j1, limit: 0.5}
`, env())
	want := []fallback.Cap{
		{Name: "day", Period: fallback.Day, Zone: berlin, Limit: 5},
		{Name: "house", Period: fallback.Month, Zone: time.UTC, Limit: 100, BackgroundOnly: true},
		{Name: "agent ops, cron, heartbeat, day", Agent: "ops", Kinds: []fallback.Kind{fallback.Cron, fallback.Heartbeat}, Period: fallback.Day, Zone: berlin},
		{Name: "openai/gpt-5.5, day", Provider: "openai", Model: "gpt-5.5", Period: fallback.Day, Zone: time.Local, Limit: 1},
		{Name: "job j1, openai, day", Provider: "openai", Job: "j1", Period: fallback.Day, Zone: berlin, Limit: 0.5},
	}
	if diff := cmp.Diff(want, c.Fallback.Budgets, sameZones); diff != "" {
		t.Error(diff)
	}
}

// A heartbeat's allowPaid and maxCostPerDay are budgets of its agent's heartbeats;
// an agent without a heartbeat of its own goes by the defaults when it is woken.
func TestBoundsOfHeartbeatsBecomeCaps(t *testing.T) {
	c := must(t, `agents: {defaults: {model: openai/gpt-5.5, heartbeat: {maxCostPerDay: 2}}, list: [{id: main, heartbeat: {every: 1h, allowPaid: false}}, {id: ops}]}`, env())
	beats := []fallback.Kind{fallback.Heartbeat}
	want := []fallback.Cap{
		{Name: "heartbeats of main", Agent: "main", Kinds: beats, Period: fallback.Day, NoPaid: true},
		{Name: "heartbeats of ops", Agent: "ops", Kinds: beats, Period: fallback.Day, Limit: 2},
	}
	if diff := cmp.Diff(want, c.Fallback.Budgets, sameZones); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfBudgets(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no limit", "[{period: day}]", `config.yaml:2:11: budgets[0].limit: is missing`},
		{"a limit below zero", "[{limit: -1}]", `config.yaml:2:19: budgets[0].limit: must be at least 0`},
		{"a week", "[{limit: 1, period: week}]", `config.yaml:2:30: budgets[0].period: "week" is not one of day, month`},
		{"an agent that is not there", "[{limit: 1, agent: opps}]", `config.yaml:2:29: budgets[0].agent: there is no agent "opps"; did you mean "ops"?`},
		{"a provider that nobody knows", "[{limit: 1, provider: opnai}]", `config.yaml:2:32: budgets[0].provider: no provider "opnai" is known; did you mean "openai"?`},
		{"a model of another provider", "[{limit: 1, provider: anthropic, model: gpt}]", `config.yaml:2:50: budgets[0].model: openai/gpt-5.5 is none of anthropic's; leave provider out`},
		{"a zone that is none", "[{limit: 1, timezone: Mars}]", `config.yaml:2:32: budgets[0].timezone: "Mars" is no time zone; write a name such as Europe/Berlin or America/New_York, UTC, or local`},
		{"two of one name", "[{limit: 1, name: a}, {limit: 2, name: A}]", `config.yaml:2:49: budgets[1].name: a budget "A" stands before it; give each budget a name of its own`},
		{"two alike", "[{limit: 1}, {limit: 2}]", `config.yaml:2:23: budgets[1]: a budget "day" stands before it; give each budget a name of its own`},
		{"one that stops nothing", "[{limit: 1, purpose: chat, stops: background}]", `config.yaml:2:44: budgets[0].stops: stops nothing: the budget counts nothing but chat; leave stops out`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(someAgents+"budgets: "+c.text, env())
			if diff := cmp.Diff(c.want, strings.Join(lines(faults), "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a budget cannot count is told where somebody can give its price.
func TestAModelWithoutAPriceIsToldBesideABudget(t *testing.T) {
	const own = "agents: {defaults: {model: shop/own}}\nmodels: {providers: {shop: {baseUrl: 'https://shop.example.com/v1', models: [%}]}}}\n"
	warned := func(text string) bool {
		_, faults := read(text, env("SHOP_API_KEY", "k"))
		for _, f := range faults {
			if strings.Contains(f.Msg, "nobody knows what shop/own costs") && f.Warning {
				return true
			}
		}
		return false
	}
	plain := strings.Replace(own, "%}", "own", 1)
	priced := strings.Replace(own, "%}", "{id: own, cost: {input: 1, output: 2}}", 1)
	if warned(plain) || !warned(plain+"budgets: [{limit: 1}]") || warned(priced+"budgets: [{limit: 1}]") {
		t.Errorf("without a budget %v, with one %v, with a price %v", warned(plain), warned(plain+"budgets: [{limit: 1}]"), warned(priced+"budgets: [{limit: 1}]"))
	}
}
