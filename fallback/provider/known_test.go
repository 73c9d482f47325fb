package provider_test

import (
	"slices"
	"testing"

	"standin/fallback/provider"
)

func TestKnownProvidersNeedNothingButAKey(t *testing.T) {
	for _, id := range []string{
		"openai", "anthropic", "google", "openrouter", "groq", "deepseek", "mistral", "xai", "together",
		"fireworks", "cerebras", "moonshot", "ollama", "lmstudio", "vllm",
	} {
		e, envKey, ok := provider.Known(id)
		if !ok || e.Provider != id || e.API == "" {
			t.Errorf("%s: %+v", id, e)
			continue
		}
		if err := provider.CheckBaseURL(e.BaseURL); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if (envKey == "") != e.NoKey {
			t.Errorf("%s: key from %q, NoKey %v", id, envKey, e.NoKey)
		}
	}
	if _, _, ok := provider.Known("acme"); ok {
		t.Error("acme is known")
	}
}

func TestTheCatalogueKnowsTheBigVendors(t *testing.T) {
	for _, id := range []string{"openai", "anthropic", "google", "openrouter", "groq"} {
		models := provider.CatalogModels(id)
		if len(models) == 0 || !slices.IsSorted(models) {
			t.Errorf("%s: %d models", id, len(models))
		}
	}
	if provider.CatalogModels("acme") != nil {
		t.Error("models of acme")
	}
	provider.CatalogModels("openai")[0] = "changed" // the caller owns what it gets
	if provider.CatalogModels("openai")[0] == "changed" {
		t.Error("the catalogue can be changed from outside")
	}
}
