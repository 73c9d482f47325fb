package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/fallback"
)

// budgetKeys is one of budgets [D20].
type budgetKeys struct {
	Name     string  `json:"name,omitempty" jsonschema:"pattern=^[^\\s]([^\\n]{0\\,58}[^\\s])?$" jsonschema_description:"For people, and for /budget add. Default: made of what it covers."`
	Limit    float64 `json:"limit" jsonschema:"required,minimum=0,maximum=1000000" jsonschema_description:"The most that may be spent in a period, in USD. 0: nothing that costs money."`
	Period   string  `json:"period,omitempty" jsonschema:"enum=day,enum=month,default=day" jsonschema_description:"After which it starts anew: a day or a month of the calendar."`
	Timezone string  `json:"timezone,omitempty" jsonschema:"default=user" jsonschema_description:"Whose calendar: user (agents.defaults.userTimezone), local (this machine's), or a name such as Europe/Berlin."`
	Agent    string  `json:"agent,omitempty" jsonschema_description:"It counts this agent's requests. Default, here and below: all."`
	Purpose  string  `json:"purpose,omitempty" jsonschema:"enum=chat,enum=cron,enum=heartbeat,enum=compaction,enum=probe,enum=background" jsonschema_description:"Requests of this kind: answers to people (chat), jobs (cron), heartbeats, summaries of long conversations (compaction), tries of credentials (probe), or jobs and heartbeats (background)."`
	Provider string  `json:"provider,omitempty" jsonschema_description:"Requests to this provider."`
	Model    string  `json:"model,omitempty" jsonschema_description:"Requests to this model: provider/model or an alias."`
	Job      string  `json:"job,omitempty" jsonschema_description:"Requests of this job, by its id (standin cron list)."`
	Stops    string  `json:"stops,omitempty" jsonschema:"enum=all,enum=background,default=all" jsonschema_description:"What passes over paid models once it is spent: everything that it counts, or only jobs and heartbeats while answers go on."`
}

// budgetKinds are the kinds of runs behind the words of purpose.
var budgetKinds = map[string][]fallback.Kind{
	"": nil, "chat": {fallback.Chat}, "cron": {fallback.Cron}, "heartbeat": {fallback.Heartbeat}, "compaction": {fallback.Compaction},
	"probe": {fallback.ProbeRun}, "background": {fallback.Cron, fallback.Heartbeat},
}

// readBudgets reads budgets, and the bounds of heartbeats, which are budgets too:
// what may be spent is decided in one place.
func (c *compiler) readBudgets(out *Compiled) {
	names := map[string]bool{}
	for i, k := range c.doc.Budgets {
		p := c.item(Path{"budgets"}, i)
		one := c.budget(k, p, out)
		if names[strings.ToLower(one.Name)] {
			at := p
			if k.Name != "" {
				at = p.Key("name")
			}
			c.report(at, fmt.Sprintf("a budget %q stands before it", one.Name), "give each budget a name of its own")
			continue
		}
		names[strings.ToLower(one.Name)] = true
		out.Fallback.Budgets = append(out.Fallback.Budgets, one)
	}
	zone := c.userZone()
	for _, id := range agentNames(out) {
		id := fallback.AgentID(id)
		h := out.Heartbeats.For(id)
		one := fallback.Cap{Name: "heartbeats of " + string(id), Agent: id, Kinds: budgetKinds["heartbeat"], Period: fallback.Day, Zone: zone, Limit: h.MaxCostPerDay}
		switch {
		case !h.AllowPaid:
			one.NoPaid, one.Limit = true, 0
		case h.MaxCostPerDay <= 0:
			continue
		}
		out.Fallback.Budgets = append(out.Fallback.Budgets, one)
	}
}

func (c *compiler) budget(k budgetKeys, p Path, out *Compiled) fallback.Cap {
	one := fallback.Cap{
		Name: k.Name, Agent: fallback.AgentID(k.Agent), Kinds: budgetKinds[k.Purpose], Provider: fallback.NormalProvider(k.Provider), Job: k.Job,
		Period: fallback.Period(k.Period), Limit: k.Limit, BackgroundOnly: k.Stops == "background",
	}
	if one.Period == "" {
		one.Period = fallback.Day
	}
	if _, ok := out.Bot.Agents[one.Agent]; k.Agent != "" && !ok {
		c.report(p.Key("agent"), fmt.Sprintf("there is no agent %s", c.shown(p.Key("agent"), k.Agent)), DidYouMean(k.Agent, agentNames(out)))
	}
	if k.Provider != "" {
		if _, ok := c.endpoints[one.Provider]; !ok && !c.AnyModel {
			c.report(p.Key("provider"), fmt.Sprintf("no provider %s is known", c.shown(p.Key("provider"), k.Provider)), DidYouMean(one.Provider, sortedKeys(c.endpoints)))
		}
	}
	if k.Model != "" {
		if m, ok := c.model(k.Model, p.Key("model"), one.Provider); ok {
			if one.Provider != "" && one.Provider != m.Provider {
				c.report(p.Key("model"), fmt.Sprintf("%s is none of %s's", m, one.Provider), "leave provider out")
			}
			one.Provider, one.Model = m.Provider, m.Name
		}
	}
	if one.BackgroundOnly && (k.Purpose == "chat" || k.Purpose == "compaction" || k.Purpose == "probe") {
		c.report(p.Key("stops"), "stops nothing: the budget counts nothing but "+k.Purpose, "leave stops out")
	}
	switch zone := k.Timezone; zone {
	case "", "user":
		one.Zone = c.userZone()
	case "local":
		one.Zone = time.Local
	default:
		one.Zone = c.zone(zone, p.Key("timezone"))
	}
	if one.Name == "" {
		one.Name = string(one.Period)
		if scope := one.Scope(); scope != "everything" {
			one.Name = scope + ", " + one.Name
		}
	}
	return one
}

func agentNames(out *Compiled) (names []string) {
	for id := range out.Bot.Agents {
		names = append(names, string(id))
	}
	slices.Sort(names)
	return names
}

// warnUncounted tells of models that a budget cannot count, since nobody knows
// what they cost.
func (c *compiler) warnUncounted(out *Compiled) {
	if !c.Catalogue || len(c.doc.Budgets) == 0 {
		return
	}
	for _, m := range out.Fallback.Models() {
		if !out.Fallback.FactsOf(m).Price.Priced {
			c.warn(Path{"budgets"}, fmt.Sprintf("nobody knows what %s costs, so its requests are counted as nothing", m),
				fmt.Sprintf("describe it in models.providers.%s.models with cost, in USD per million tokens", m.Provider))
		}
	}
}
