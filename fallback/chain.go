package fallback

import (
	"cmp"
	"slices"
)

// Chain lists the candidates of a run in the order in which they are tried
// (failover.md 2) [M27]:
//
//	the requested model, always first
//	on a probe turn the fallback that the session stands on [D13b]
//	the plan's explicit list, or else agents.defaults.model.fallbacks
//	without an explicit list the configured primary, last
//
// The first mention of a model keeps its place, a later one disappears; half a
// pair is dropped (2.9). The allowlist filters nothing (2.6). A chain is never
// empty: a blank request means the configured default (2.10).
func Chain(cfg *Config, p Plan) []Model {
	primary := cfg.primary()
	list := p.Fallbacks
	if !p.Explicit {
		list = cfg.Default.Fallbacks
	}
	chain := make([]Model, 0, len(list)+3)
	add := func(m Model) {
		if m = cfg.canonical(m); m.complete() && !slices.Contains(chain, m) {
			chain = append(chain, m)
		}
	}
	first := p.Requested.normal()
	add(Model{Provider: cmp.Or(first.Provider, primary.Provider), Name: cmp.Or(first.Name, primary.Name)})
	if p.Probe {
		add(p.Current)
	}
	for _, m := range list {
		add(m)
	}
	if !p.Explicit {
		add(primary)
	}
	return chain
}
