package provider

import (
	"slices"
	"sync"

	"charm.land/catwalk/pkg/embedded"
)

// catalog loads the embedded catalogue of models, once, when it is first asked
// for: that takes tens of milliseconds, which a start must not pay.
var catalog = sync.OnceValue(func() map[string][]string {
	models := make(map[string][]string)
	for _, p := range embedded.GetAll() {
		id := string(p.ID)
		for _, m := range p.Models {
			models[id] = append(models[id], m.ID)
		}
		slices.Sort(models[id])
	}
	return models
})

// catalogNames are the providers whose id in the catalogue is another one.
var catalogNames = map[string]string{
	"google": "gemini", "kimi": "kimi-coding", "qwen": "alibaba-singapore",
}

// CatalogModels gives the ids of a provider's models as the embedded
// catalogue knows them, sorted, nil when it does not know the provider. It is
// for hints such as "did you mean": vendors have models that the catalogue
// lacks, so an id that is not in it may be perfectly good.
func CatalogModels(providerID string) []string {
	if name, ok := catalogNames[providerID]; ok {
		providerID = name
	}
	return slices.Clone(catalog()[providerID])
}
