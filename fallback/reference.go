package fallback

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// builtin stands in for a configured primary where there is none (2.10).
func builtin() Model { return Model{Provider: "openai", Name: "gpt-5.5"} }

// primary is agents.defaults.model.primary, or the built-in one.
func (c *Config) primary() Model {
	m := c.Default.Primary.normal()
	if m.complete() {
		return m
	}
	b := builtin()
	return Model{Provider: cmp.Or(m.Provider, b.Provider), Name: cmp.Or(m.Name, b.Name)}
}

// Primary is the effective configured primary of an agent in a conversation:
// the channel's model, else the agent's own, else the default [T4]. A zero
// channel says that channels.modelByChannel names none.
func (c *Config) Primary(agent AgentID, channel Model) Model {
	if channel.complete() {
		return c.canonical(channel)
	}
	if m := c.Agents[agent].Primary; m.complete() {
		return c.canonical(m)
	}
	return c.canonical(c.primary())
}

// canonical gives the model that a pair means. An alias written as the model
// of a pair counts where it cannot hide another provider's model: the alias
// leads to the same provider, or the provider is the default one (2.7).
func (c *Config) canonical(m Model) Model {
	m = m.normal()
	if len(c.Aliases) == 0 {
		return m
	}
	if target, ok := c.Aliases[strings.ToLower(m.String())]; ok {
		return target.normal()
	}
	target, ok := c.Aliases[strings.ToLower(m.Name)]
	if target = target.normal(); ok && (target.Provider == m.Provider || m.Provider == c.primary().Provider) {
		return target
	}
	return m
}

// ResolveRef finds the model that a person or a config file means by s: an
// alias, "provider/model", or a bare id, each with an optional "@profile". A
// bare id belongs to the provider that is configured with it, if it is only
// one, else to the default provider [C7, 2.8]. The error is a *RefError; it
// says nothing of the allowlist, which is [Config.Permits]'s business.
func (c *Config) ResolveRef(s string) (Model, ProfileID, error) {
	m, profile := ParseRef(s)
	refuse := func(why string, near ...string) (Model, ProfileID, error) {
		return Model{}, "", &RefError{Ref: strings.TrimSpace(s), Why: why, Near: near}
	}
	switch {
	case m.Name == "" && m.Provider == "":
		return refuse("names no model")
	case m.Name == "":
		return refuse("names a provider but no model", c.modelsOf(m.Provider)...)
	case m.Provider == "" && strings.HasPrefix(m.Name, "@"):
		return refuse("a profile needs a model in front of it, as in provider/model" + m.Name)
	}
	if m.Provider == "" {
		if target, ok := c.Aliases[strings.ToLower(m.Name)]; ok {
			m = target.normal()
		} else if owner := c.owners(m.Name); len(owner) == 1 {
			m = owner[0]
		} else if near := Nearest(m.Name, slices.Sorted(maps.Keys(c.Aliases))); len(owner) == 0 && len(near) > 0 {
			// A slip in an alias must not become a model of the default provider [IL-141].
			return refuse("no alias or configured model has this name (a model that is meant literally is written with its provider)", near...)
		} else {
			m.Provider = c.primary().Provider
		}
	} else {
		m = c.canonical(m)
	}
	if !c.Known(m) {
		return refuse(fmt.Sprintf("no provider %q is configured", m.Provider), c.near(m)...)
	}
	if owner := c.profileProvider(profile); owner != "" && authProvider(owner) != authProvider(m.Provider) {
		return refuse(fmt.Sprintf("profile %s belongs to %s, not to %s", profile, owner, m.Provider))
	}
	return m, profile, nil
}

// owners gives the configured models with this id, one per provider.
func (c *Config) owners(name string) []Model {
	var found []Model
	for _, m := range c.Models() {
		if strings.EqualFold(m.Name, name) {
			found = append(found, m)
		}
	}
	return found
}

// modelsOf gives the configured models of a provider, as references.
func (c *Config) modelsOf(provider string) []string {
	var refs []string
	for _, m := range c.Models() {
		if m.Provider == provider {
			refs = append(refs, m.String())
		}
	}
	return refs
}

// near gives what may have been meant by a pair with an unknown provider: the
// same id under a provider that is spelled like it, then configured models and
// aliases that look like the whole.
func (c *Config) near(m Model) []string {
	found := Nearest(m.Provider, slices.Sorted(maps.Keys(c.Providers)))
	for i, p := range found {
		found[i] = p + "/" + m.Name
	}
	names := slices.Sorted(maps.Keys(c.Aliases))
	for _, known := range c.Models() {
		names = append(names, known.String())
	}
	for _, name := range Nearest(m.String(), names) {
		if len(found) < nearMax && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// profileProvider is whose credential a profile is: what auth.profiles says,
// else the part before the colon. "" when the id says nothing.
func (c *Config) profileProvider(p ProfileID) string {
	if meta, ok := c.Profiles[p]; ok && meta.Provider != "" {
		return NormalProvider(meta.Provider)
	}
	if !strings.Contains(string(p), ":") {
		return ""
	}
	return p.Provider()
}

// Known tells whether the model's provider can be reached at all: the config
// has an endpoint for it.
func (c *Config) Known(m Model) bool {
	_, ok := c.Providers[NormalProvider(m.Provider)]
	return ok
}

// Permits tells whether a person may choose the model: agents.defaults.models
// lists it, or its whole provider, or lists nothing. Configured primaries may
// be chosen always, fallbacks not for being fallbacks [C9]. The chain does not
// ask (2.6).
func (c *Config) Permits(m Model) bool {
	if len(c.Allowed) == 0 {
		return true
	}
	m = m.normal()
	for _, a := range c.Allowed {
		if a = a.normal(); a == m || a.Name == "*" && a.Provider == m.Provider {
			return true
		}
	}
	if m == c.primary() {
		return true
	}
	for _, choice := range c.Agents {
		if choice.Primary.normal() == m {
			return true
		}
	}
	return false
}

// Models lists what /models shows, from this config alone and in an order that
// does not move between calls, so that a number picks what was shown [C5]: the
// default primary, its fallbacks, the agents' models by agent id, then the
// allowlist.
func (c *Config) Models() []Model {
	var list []Model
	add := func(ms ...Model) {
		for _, m := range ms {
			m = c.canonical(m)
			if m.complete() && m.Name != "*" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	add(c.primary())
	add(c.Default.Fallbacks...)
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		add(c.Agents[id].Primary)
		add(c.Agents[id].Fallbacks...)
	}
	add(c.Allowed...)
	return list
}
