package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// AgentPlan is what an agent does with a message of a fresh session.
type AgentPlan struct {
	ID      fallback.AgentID
	Name    string
	Default bool             // answers where no agent is named
	Chain   []fallback.Model // in the order in which they are asked
	Strict  bool             // no other model may answer [I4]
	Why     string           // the key that decided, and what it says
}

// plansOf asks the rule book itself, so that the plan that is printed is the
// plan that is used.
func plansOf(f *fallback.Config, b *bot.Config, doc *document) []AgentPlan {
	ids := []fallback.AgentID{}
	for _, a := range doc.Agents.List {
		if id := fallback.AgentID(a.ID); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		ids = append(ids, f.DefaultAgent)
	}
	var plans []AgentPlan
	for _, id := range ids {
		p := fallback.Resolve(fallback.Ask{Agent: id, Kind: fallback.Chat, Config: f}, fallback.Selection{}, false)
		chain := fallback.Chain(f, p)
		plans = append(plans, AgentPlan{
			ID: id, Name: b.Agents[id].Name, Default: id == f.DefaultAgent,
			Chain: chain, Strict: p.Strict || len(chain) == 1, Why: WhyOf(f, id, len(chain)),
		})
	}
	return plans
}

// WhyOf names the key that an agent's policy comes from, and what it says [M4,
// M5]; candidates is the length of the chain.
func WhyOf(f *fallback.Config, id fallback.AgentID, candidates int) string {
	own, given := f.Agents[id]
	key := "agents.defaults.model"
	list := f.Default
	if given {
		key, list = fmt.Sprintf("agents.list[%s].model", id), own
	}
	switch {
	case candidates > 1:
		return key + " has fallbacks"
	case len(list.Fallbacks) > 0:
		return key + " has only the primary itself as fallback"
	case list.Listed:
		return key + " says fallbacks: []"
	case given:
		return key + " names a model without fallbacks"
	}
	return key + " has no fallbacks"
}

// CredentialsFor gives the profiles that a candidate would use, in order, and
// what to do when there are none. It follows the order of M17 as far as names
// go; which of them rest is known only while standin runs.
func (c *Compiled) CredentialsFor(id string, stored func(string) []string) (names []string, mend string) {
	have := map[fallback.ProfileID]fallback.Profile{}
	var found []fallback.ProfileID
	for _, p := range c.Profiles {
		if p.Provider == id {
			have[p.ID], found = p, append(found, p.ID)
		}
	}
	if stored != nil {
		for _, s := range stored(id) {
			if pid := fallback.ProfileID(s); !slices.Contains(found, pid) {
				found = append(found, pid)
			}
		}
	}
	order, explicit := c.Fallback.Order[id]
	if !explicit {
		for pid, meta := range c.Fallback.Profiles {
			if meta.Provider == id {
				order = append(order, pid)
			}
		}
		slices.Sort(order)
	}
	// Profiles of config that are nowhere are no reason to have none, except in
	// an order that was written by hand (failover.md 8.7).
	if explicit || slices.ContainsFunc(order, func(p fallback.ProfileID) bool { return slices.Contains(found, p) }) {
		found = slices.DeleteFunc(slices.Clone(order), func(p fallback.ProfileID) bool { return !slices.Contains(found, p) })
	}
	for _, pid := range found {
		name := string(pid)
		if have[pid].Keyless {
			name += " (no key needed)"
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		return names, ""
	}
	switch _, envKey, _ := provider.Known(id); {
	case explicit && len(order) == 0:
		return nil, fmt.Sprintf("auth.order.%s is empty, so none is used", id)
	case explicit:
		return nil, fmt.Sprintf("auth.order.%s names profiles that are not there: %s", id, join(order))
	case envKey != "":
		return nil, fmt.Sprintf("set %s, or models.providers.%s.apiKey", envKey, id)
	}
	return nil, fmt.Sprintf("set models.providers.%s.apiKey", id)
}

func join(ids []fallback.ProfileID) string {
	var b []string
	for _, id := range ids {
		b = append(b, string(id))
	}
	return strings.Join(b, ", ")
}

// warnSinglePoint warns of a chain that looks like a safety net and hangs on
// one nail: several models, one provider, one credential [IL-305].
func (c *compiler) warnSinglePoint(out *Compiled) {
	if c.AnyModel {
		return
	}
	for _, plan := range out.Plans {
		if len(plan.Chain) < 2 || slices.ContainsFunc(plan.Chain, func(m fallback.Model) bool { return m.Provider != plan.Chain[0].Provider }) {
			continue
		}
		names, _ := out.CredentialsFor(plan.Chain[0].Provider, c.Stored)
		if len(names) > 1 {
			continue
		}
		nail := cmp.Or(strings.Join(names, ""), plan.Chain[0].Provider+":default")
		p := Path{"agents", "defaults", "model"}
		for i, a := range c.doc.Agents.List {
			if _, own := out.Fallback.Agents[plan.ID]; own && fallback.AgentID(a.ID) == plan.ID {
				p = c.item(Path{"agents", "list"}, i).Key("model")
			}
		}
		c.warn(p, fmt.Sprintf("single point of failure: profile %s, on which all of %s depend", nail, ChainText(plan.Chain, ", ")),
			"add a model of another provider, or a second profile")
	}
}

// ChainText gives the models of a chain in one line.
func ChainText(chain []fallback.Model, between string) string {
	var names []string
	for _, m := range chain {
		names = append(names, m.String())
	}
	return strings.Join(names, between)
}
