package provider

import (
	"slices"
	"sync"

	"charm.land/catwalk/pkg/embedded"
)

// Facts are what is known of a model beside its name; zero fields are unknown.
type Facts struct {
	Window    int64 // tokens that a call may hold, answer included
	MaxOutput int64 // tokens of an answer
	Images    bool  // it can be shown pictures
	NoTools   bool  // it is not to be offered tools
	Price     Price
}

// Price is what a million tokens cost, in US dollars. Priced tells a free model
// from one whose price nobody knows.
type Price struct {
	Input, Output         float64
	CacheRead, CacheWrite float64
	Priced                bool
}

// Free tells whether calls are known to cost nothing.
func (p Price) Free() bool { return p == Price{Priced: true} }

// Cost is what a call's tokens come to, in US dollars. Tokens.Input holds the
// cached ones, which have prices of their own; an unknown one is the input's.
func (p Price) Cost(t Tokens) float64 {
	read, write := p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	plain := max(t.Input-t.CacheRead-t.CacheWrite, 0)
	return (float64(plain)*p.Input + float64(t.CacheRead)*read + float64(t.CacheWrite)*write + float64(t.Output)*p.Output) / 1e6
}

// catalog loads the embedded catalogue of models, once, when it is first asked
// for: that takes ten milliseconds, which a start must not pay.
var catalog = sync.OnceValue(func() map[string]map[string]listed {
	known := make(map[string]map[string]listed)
	for _, p := range embedded.GetAll() {
		models := make(map[string]listed, len(p.Models))
		for _, m := range p.Models {
			models[m.ID] = listed{thinks: m.CanReason, levels: m.ReasoningLevels, Facts: Facts{
				Window: m.ContextWindow, MaxOutput: m.DefaultMaxTokens, Images: m.SupportsImages,
				// In this catalogue the cached price of the input is that of writing to
				// the cache, and the cached price of the output that of reading.
				Price: Price{
					Input: m.CostPer1MIn, Output: m.CostPer1MOut, CacheRead: m.CostPer1MOutCached, CacheWrite: m.CostPer1MInCached,
					Priced: m.CostPer1MIn > 0 || m.CostPer1MOut > 0,
				},
			}}
		}
		known[string(p.ID)] = models
	}
	return known
})

// listed is a model of the catalogue. levels are the vendor's words for how much
// it thinks, in rising order; a model that thinks may have none.
type listed struct {
	Facts
	thinks bool
	levels []string
}

// catalogNames are the providers whose id in the catalogue is another one.
var catalogNames = map[string]string{
	"google": "gemini", "kimi": "kimi-coding", "qwen": "alibaba-singapore",
}

func catalogOf(providerID string) map[string]listed {
	if name, ok := catalogNames[providerID]; ok {
		providerID = name
	}
	return catalog()[providerID]
}

// CatalogModels gives the ids of a provider's models as the embedded
// catalogue knows them, sorted, nil when it does not know the provider. It is
// for hints such as "did you mean": vendors have models that the catalogue
// lacks, so an id that is not in it may be perfectly good.
func CatalogModels(providerID string) []string {
	var ids []string
	for id := range catalogOf(providerID) {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// CatalogFacts gives what the embedded catalogue knows of a model.
func CatalogFacts(providerID, model string) (f Facts, known bool) {
	l, known := catalogOf(providerID)[model]
	return l.Facts, known
}
