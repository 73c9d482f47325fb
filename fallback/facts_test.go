package fallback

import (
	"math"
	"testing"

	"standin/fallback/provider"
)

// Config's word counts, and the catalogue's where config is silent.
func TestFactsOfAModel(t *testing.T) {
	opus := Model{Provider: "anthropic", Name: "claude-opus-4-6"}
	c := &Config{}
	known := c.FactsOf(opus)
	if known.Window < 100_000 || !known.Images || !known.Price.Priced || known.Price.CacheRead >= known.Price.Input || known.Price.CacheWrite <= known.Price.Input {
		t.Errorf("the catalogue says %+v", known)
	}
	c.Facts = map[Model]provider.Facts{opus: {Window: 8000}, {Provider: "house", Name: "m"}: {Images: true, Price: provider.Price{Priced: true}}}
	c.Blind = map[Model]bool{opus: true}
	if f := c.FactsOf(opus); f.Window != 8000 || f.Images || f.Price != known.Price {
		t.Errorf("%+v", f)
	}
	if f := c.FactsOf(Model{Provider: "house", Name: "m"}); !f.Images || !f.Price.Priced || f.Window != 0 {
		t.Errorf("%+v", f)
	}
}

func TestWhatACallCosts(t *testing.T) {
	p := provider.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}
	got := p.Cost(provider.Tokens{Input: 1_000_000, CacheRead: 600_000, CacheWrite: 200_000, Output: 100_000})
	if want := 0.2*5 + 0.6*0.5 + 0.2*6.25 + 0.1*25; math.Abs(got-want) > 1e-9 {
		t.Errorf("%f, want %f", got, want)
	}
	p.CacheRead = 0 // unknown: the input's
	if got := p.Cost(provider.Tokens{Input: 100, CacheRead: 100}); math.Abs(got-0.0005) > 1e-9 {
		t.Errorf("%f", got)
	}
}
