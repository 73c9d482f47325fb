package config

import (
	"strings"
	"testing"
	"time"

	"standin/fallback"
)

// agents.defaults.imageModel is a text, or a primary with fallbacks; a bare
// fallback is of the primary's provider (21.A) [M34].
func TestImageModels(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"openai/gpt-5.5", "openai/gpt-5.5"},
		{"{primary: openai/gpt-5.5, fallbacks: [gpt-5.4, anthropic/claude-sonnet-5]}", "openai/gpt-5.5 openai/gpt-5.4 anthropic/claude-sonnet-5"},
		{"{fallbacks: [anthropic/claude-sonnet-5]}", "anthropic/claude-sonnet-5"},
	} {
		conf := must(t, "agents: {defaults: {model: openai/gpt-5.5, imageModel: "+c.text+"}}", env())
		var got []string
		for _, m := range fallback.ImageChain(conf.Fallback, fallback.Model{}) {
			got = append(got, m.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
	conf := must(t, "agents: {defaults: {model: openai/gpt-5.5, mediaMaxMb: 12, thinkingDefault: high, verboseDefault: full}}\nmedia: {ttlHours: 24}", env())
	if b := conf.Bot; b.Media.MaxBytes != 12<<20 || b.Media.Keep != 24*time.Hour || b.Think != "high" || b.Verbose != "full" {
		t.Errorf("%+v, %s, %s", b.Media, b.Think, b.Verbose)
	}
}

// "allow text | text+files" per candidate [IL-296]: a model that could see is kept
// from pictures with input: [text], and then passed over in turns that have some
// (fallback holds that; its vendor is never sent their bytes).
func TestAModelIsTrustedWithTextAlone(t *testing.T) {
	const trusted = "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}}}\n"
	far := fallback.Model{Provider: "anthropic", Name: "claude-sonnet-5"}
	if conf := must(t, trusted, env()); conf.Fallback.KnownBlind(far) || !conf.Fallback.FactsOf(far).Images {
		t.Fatal("the catalogue says that it can see, so this looks at nothing")
	}
	conf := must(t, trusted+"models: {providers: {anthropic: {models: [{id: claude-sonnet-5, input: [text]}]}}}", env())
	if !conf.Fallback.KnownBlind(far) || conf.Fallback.FactsOf(far).Images {
		t.Error("it would be shown pictures all the same")
	}
}

// Faults of these keys say where they are and what mends them; an image model
// that cannot see is a warning.
func TestFaultsOfImageModels(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    []string
		warning bool
	}{
		{"agents:\n  defaults:\n    imageModel: {}\n", []string{":3:", "names no model", "provider/model"}, false},
		{"agents:\n  defaults:\n    imageModel: opneai/gpt-5.5\n", []string{":3:", `did you mean "openai/gpt-5.5"`}, false},
		{"agents:\n  defaults:\n    thinkingDefault: hard\n", []string{":3:", "thinkingDefault"}, false},
		{"agents:\n  defaults:\n    imageModel: house/m\nmodels: {providers: {house: {baseUrl: 'https://llm.example.com/v1', models: [{id: m, input: [text]}]}}}\n",
			[]string{":3:", "house/m cannot be shown pictures", "models.providers.house.models with input: [text, image]"}, true},
	} {
		conf, faults := read(c.text, env())
		if (conf == nil) == c.warning {
			t.Errorf("%s: usable: %v", c.text, conf != nil)
		}
		var all []string
		for _, f := range faults {
			all = append(all, f.String())
		}
		said := strings.Join(all, "\n")
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in\n%s", want, said)
			}
		}
	}
}
