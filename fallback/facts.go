package fallback

import (
	"net/netip"
	"net/url"
	"strings"

	"standin/fallback/provider"
)

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
	if !own.Price.Priced && atHome(c.Providers[m.Provider]) {
		own.Price.Priced = true
	}
	own.Images = own.Images || known.Images && !c.Blind[m]
	return own
}

// atHome tells whether a provider is a server of this machine, which sends no
// bills. One that passes requests on to a vendor needs its prices in the config.
func atHome(e provider.Endpoint) bool {
	u, err := url.Parse(e.BaseURL)
	if err != nil || e.BaseURL == "" {
		return e.NoKey
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return e.NoKey || err == nil && ip.IsLoopback()
}
