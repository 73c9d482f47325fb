package fallback

import (
	"fmt"
	"slices"

	"standin/fallback/provider"
)

// Pictures (failover.md 21.A) [M34]. A turn with pictures is the session's own as
// long as its model can see them. Where it cannot, the image models take the turn
// over: a chain of their own, for this one turn, of which the session's selection
// and the room hear nothing.

// SkipBlind says that a candidate cannot be shown pictures, and Blind is the
// reason that goes with it.
const (
	SkipBlind SkipWhy = "no_images"
	Blind     Reason  = "no_images"
)

// CauseBlind is a turn of nothing but pictures that no model can be shown.
const CauseBlind CauseKind = "no_images"

// BlindError says that nobody can look at pictures: the session's model takes
// text alone, and no image model is configured (21.A.3).
type BlindError struct{ Model Model }

// Error names the model and the key that mends it.
func (e *BlindError) Error() string {
	return fmt.Sprintf("config error: %s cannot be shown pictures, and agents.defaults.imageModel names no model that can", e.Model)
}

// ImageChain lists the image models of a run (21.A.2) [sc-195]: the override or
// else the configured primary, then the configured fallbacks; each once, no
// allowlist, none of the text models. A bare id is of the primary's provider
// (21.A.4). It is empty when nothing is configured.
func ImageChain(cfg *Config, override Model) []Model {
	first := override.normal()
	if first.Name != "" && first.Provider == "" {
		first.Provider = cfg.Images.Primary.normal().Provider
	}
	if !first.complete() {
		first = cfg.Images.Primary
	}
	var chain []Model
	for _, m := range append([]Model{first}, cfg.Images.Fallbacks...) {
		if m = cfg.canonical(m); m.complete() && !slices.Contains(chain, m) {
			chain = append(chain, m)
		}
	}
	return chain
}

// KnownBlind tells whether it is certain that a model cannot be shown pictures.
// Of one that nobody knows it is not: who calls it an image model is believed.
func (c *Config) KnownBlind(m Model) bool {
	_, listed := provider.CatalogFacts(m.Provider, m.Name)
	return !c.FactsOf(m).Images && (listed || c.Blind[m])
}

// Sight says how a run with pictures goes on.
type Sight string

// The ways.
const (
	SightNone Sight = ""          // there is nothing to see
	SightOwn  Sight = "own"       // the session's own chain; those who cannot see are passed over
	SightLent Sight = "lent"      // the image models take this turn
	SightTold Sight = "described" // nobody can: the model is told that there are pictures
)

// SightOf decides it, by the model that the plan asks first.
func SightOf(cfg *Config, p Plan, messages []provider.Message) Sight {
	switch {
	case !slices.ContainsFunc(messages, func(m provider.Message) bool { return len(m.Images) > 0 }):
		return SightNone
	case cfg.FactsOf(cfg.canonical(p.Requested)).Images:
		return SightOwn
	case len(ImageChain(cfg, Model{})) > 0:
		return SightLent
	}
	return SightTold
}

// unseen is a conversation for a model that cannot be shown its pictures: it
// learns that there are some, so that it can say that it has not seen them.
func unseen(messages []provider.Message, m Model) []provider.Message {
	all := slices.Clone(messages)
	for i := range all {
		if n := len(all[i].Images); n > 0 {
			all[i].Images = nil
			all[i].Text += fmt.Sprintf("\n[%s not shown to you: %s takes text alone, and no image model is configured here. Say so if it matters.]", pictures(n), m)
		}
	}
	return all
}

func pictures(n int) string {
	if n == 1 {
		return "1 picture is"
	}
	return fmt.Sprintf("%d pictures are", n)
}

// sighted leaves those out who were passed over because they cannot see: a
// failure is about the others, if there are any.
func sighted(all []Attempt) []Attempt {
	kept := slices.DeleteFunc(slices.Clone(all), func(a Attempt) bool { return a.Skipped == SkipBlind })
	if len(kept) == 0 {
		return all
	}
	return kept
}
