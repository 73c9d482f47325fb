package fallback

import "standin/fallback/provider"

// FactsOf is what is known of a model: what config says in
// models.providers.<id>.models, and the embedded catalogue where that is silent.
func (c *Config) FactsOf(m Model) provider.Facts {
	own := c.Facts[m]
	known, _ := provider.CatalogFacts(m.Provider, m.Name)
	if own.Window == 0 {
		own.Window = known.Window
	}
	if own.MaxOutput == 0 {
		own.MaxOutput = known.MaxOutput
	}
	if !own.Price.Priced {
		own.Price = known.Price
	}
	own.Images = own.Images || known.Images && !c.Blind[m]
	return own
}
