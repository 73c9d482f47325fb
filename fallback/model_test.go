package fallback

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"standin/fallback/provider"
)

// refs reads references by shape; a test that means a typo says so elsewhere.
func refs(list ...string) []Model {
	models := make([]Model, len(list))
	for i, s := range list {
		models[i], _ = ParseRef(s)
	}
	return models
}

func ref(s string) Model { return refs(s)[0] }

// house is the config that most rules are told with: primary openai/gpt-5.5,
// fallbacks anthropic/claude-opus-4-6 and groq/b.
func house() *Config {
	c := &Config{
		Default: ModelChoice{Primary: ref("openai/gpt-5.5"), Fallbacks: refs("anthropic/claude-opus-4-6", "groq/b")},
		Aliases: map[string]Model{},
		Agents:  map[AgentID]ModelChoice{},
	}
	c.Providers = map[string]provider.Endpoint{}
	for _, p := range []string{"openai", "anthropic", "groq", "moonshot", "cf"} {
		c.Providers[p] = provider.Endpoint{Provider: p}
	}
	return c
}

func TestParseRef(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		want       Model
		profile    ProfileID
	}{
		{"a reference splits at the first slash [C7]", "openrouter/meta/llama-3", Model{"openrouter", "meta/llama-3"}, ""},
		{"the provider is trimmed and lower-cased, the id trimmed (2.5)", "  OpenAI / gpt-5.5 ", Model{"openai", "gpt-5.5"}, ""},
		{"an id keeps its case (2.5)", "groq/Llama-3", Model{"groq", "Llama-3"}, ""},
		{"a bare name has no provider", "opus", Model{"", "opus"}, ""},
		{"a trailing @profile is split off (2.5)", "openai/gpt-5.5@openai:work", Model{"openai", "gpt-5.5"}, "openai:work"},
		{"a profile may hold an @ of its own [M16]", "openai/gpt-5.5@openai:me@example.com", Model{"openai", "gpt-5.5"}, "openai:me@example.com"},
		{"a bare name may have a profile", "opus@anthropic:work", Model{"", "opus"}, "anthropic:work"},
		{"the delimiter stands after the last slash [C8, command-17]", "cf/@cf/meta/llama-3", Model{"cf", "@cf/meta/llama-3"}, ""},
		{"both kinds of @ in one reference [C8]", "cf/@cf/meta/llama-3@cf:work", Model{"cf", "@cf/meta/llama-3"}, "cf:work"},
		{"an @ at position 0 starts no profile [C8]", "@work", Model{"", "@work"}, ""},
		{"nor does one that begins the id [C8]", "cf/@x", Model{"cf", "@x"}, ""},
		{"a date belongs to the id [C8]", "google/model@20250101", Model{"google", "model@20250101"}, ""},
		{"after a date the search goes on [C8]", "google/model@20250101@google:work", Model{"google", "model@20250101"}, "google:work"},
		{"nine digits are no date", "google/model@202501011", Model{"google", "model"}, "202501011"},
		{"a quantisation tag belongs to the id [C8]", "ollama/qwen@q4_k_m", Model{"ollama", "qwen@q4_k_m"}, ""},
		{"so does an iq tag, in any case [C8]", "ollama/qwen@IQ3", Model{"ollama", "qwen@IQ3"}, ""},
		{"so does a bit count, and the profile follows it [C8]", "ollama/qwen@4bit@ollama:gpu", Model{"ollama", "qwen@4bit"}, "ollama:gpu"},
		{"a date and a tag may stand one after the other", "x/m@20250101@q8@x:p", Model{"x", "m@20250101@q8"}, "x:p"},
		{"an empty profile part makes the whole text the model [C8]", "openai/gpt-5.5@", Model{"openai", "gpt-5.5@"}, ""},
		{"a provider without a model is half a pair (2.9)", "anthropic/", Model{"anthropic", ""}, ""},
		{"nothing is nothing (2.9)", "   ", Model{}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, profile := ParseRef(c.text)
			if m != c.want || profile != c.profile {
				t.Errorf("ParseRef(%q) = %q, %q; want %q, %q", c.text, m, profile, c.want, c.profile)
			}
		})
	}
}

func TestParseRefReadsWhatStringWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Model{
			Provider: rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(t, "provider"),
			Name:     rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9./:-]{0,12}[a-z0-9]`).Draw(t, "name"),
		}.normal()
		profile := ProfileID(rapid.StringMatching(`([a-z]{1,5}:[a-z@.]{0,6}[a-z])?`).Draw(t, "profile"))
		text := m.String()
		if profile != "" {
			text += "@" + string(profile)
		}
		got, gotProfile := ParseRef(text)
		if got != m || gotProfile != profile {
			t.Fatalf("ParseRef(%q) = %q, %q", text, got, gotProfile)
		}
	})
}

func TestResolveRef(t *testing.T) {
	c := house()
	c.Aliases["opus"] = ref("anthropic/claude-opus-4-6")
	c.Aliases["fast/one"] = ref("groq/b")
	c.Aliases["lost"] = ref("nowhere/x")
	c.Allowed = refs("moonshot/kimi")
	c.Profiles = map[ProfileID]ProfileMeta{"work": {Provider: "OpenAI"}}
	for _, row := range []struct {
		rule, text string
		want       string
		profile    ProfileID
		why, near  string // parts of the refusal
	}{
		{rule: "an alias is matched without regard to case [sc-008]", text: "Opus", want: "anthropic/claude-opus-4-6"},
		{rule: "an alias may have a profile", text: "opus@anthropic:me", want: "anthropic/claude-opus-4-6", profile: "anthropic:me"},
		{rule: "an alias that is written as provider/alias always resolves (2.7)", text: "Fast/One", want: "groq/b"},
		{rule: "a bare alias behind the default provider resolves (2.7, sc-009)", text: "openai/opus", want: "anthropic/claude-opus-4-6"},
		{rule: "behind another provider it is a literal id (2.7, sc-010)", text: "moonshot/opus", want: "moonshot/opus"},
		{rule: "a bare id belongs to the one provider that is configured with it [C7]", text: "claude-opus-4-6", want: "anthropic/claude-opus-4-6"},
		{rule: "the allowlist configures models too [C7]", text: "kimi", want: "moonshot/kimi"},
		{rule: "any other bare id belongs to the default provider (2.8)", text: "gpt-5.4", want: "openai/gpt-5.4"},
		{rule: "a profile of its own provider is kept [command-06]", text: "openai/gpt-5.4@openai:work", want: "openai/gpt-5.4", profile: "openai:work"},
		{rule: "auth.profiles says whose a profile is", text: "openai/gpt-5.4@work", want: "openai/gpt-5.4", profile: "work"},
		{rule: "a profile of another provider is refused [command-07]", text: "openai/gpt-5.4@anthropic:me", why: "belongs to anthropic"},
		{rule: "and so is one that auth.profiles gives to another", text: "groq/b@work", why: "belongs to openai"},
		{rule: "a profile without a model is refused [C8]", text: "@openai:work", why: "a profile needs a model"},
		{rule: "an unknown provider is refused with near matches [IL-060]", text: "opneai/gpt-5.5", why: `no provider "opneai"`, near: "openai/gpt-5.5"},
		{rule: "a near provider keeps the id that was asked for [IL-060]", text: "antropic/claude-sonnet-5", why: "no provider", near: "anthropic/claude-sonnet-5"},
		{rule: "an unknown provider near nothing is refused alone [IL-060]", text: "typo/x", why: `no provider "typo"`},
		{rule: "a slip in an alias never becomes a model of the default provider [IL-141]", text: "opsu", why: "no alias", near: "opus"},
		{rule: "an alias that leads to an unknown provider is an error [IL-141]", text: "lost", why: `no provider "nowhere"`},
		{rule: "half a pair is refused and tells what could follow (2.9)", text: "anthropic/", why: "no model", near: "anthropic/claude-opus-4-6"},
		{rule: "an empty reference is refused (2.9)", text: " ", why: "names no model"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			m, profile, err := c.ResolveRef(row.text)
			if row.why == "" {
				if err != nil || m.String() != row.want || profile != row.profile {
					t.Errorf("ResolveRef(%q) = %q, %q, %v; want %q, %q", row.text, m, profile, err, row.want, row.profile)
				}
				return
			}
			var bad *RefError
			if !errors.As(err, &bad) || !strings.Contains(bad.Why, row.why) {
				t.Fatalf("ResolveRef(%q) = %q, %v; want a refusal with %q", row.text, m, err, row.why)
			}
			if !m.IsZero() {
				t.Errorf("a refused reference gave %q", m)
			}
			if got := strings.Join(bad.Near, ","); row.near == "" && got != "" || !strings.Contains(err.Error(), row.near) {
				t.Errorf("near %q in %q, want %q", got, err, row.near)
			}
		})
	}
}

func TestPermits(t *testing.T) {
	c := house()
	if !c.Permits(ref("any/thing")) {
		t.Error("an empty allowlist must permit any model [C9]")
	}
	c.Allowed = refs("groq/*", "moonshot/k")
	c.Agents["support"] = ModelChoice{Primary: ref("cf/x")}
	for m, want := range map[string]bool{
		"groq/anything":             true,  // a whole provider
		"moonshot/k":                true,  // listed
		"moonshot/other":            false, // not listed
		"openai/gpt-5.5":            true,  // the default itself
		"cf/x":                      true,  // an agent's own model
		"anthropic/claude-opus-4-6": false, // a fallback is not permitted for being one
	} {
		if got := c.Permits(ref(m)); got != want {
			t.Errorf("Permits(%s) = %v, want %v [C9]", m, got, want)
		}
	}
}

func TestModelsAreListedInAStableOrder(t *testing.T) {
	c := house()
	c.Agents["zoe"] = ModelChoice{Primary: ref("cf/z")}
	c.Agents["amy"] = ModelChoice{Primary: ref("cf/a"), Fallbacks: refs("groq/b")}
	c.Allowed = refs("groq/*", "moonshot/k", "openai/gpt-5.5")
	want := "openai/gpt-5.5 anthropic/claude-opus-4-6 groq/b cf/a cf/z moonshot/k"
	for range 20 { // maps of Go have no order; the list must have one
		var got []string
		for _, m := range c.Models() {
			got = append(got, m.String())
		}
		if s := strings.Join(got, " "); s != want {
			t.Fatalf("Models() = %s\nwant       %s", s, want)
		}
	}
}

func TestNearest(t *testing.T) {
	among := []string{"openai", "anthropic", "groq", "opus"}
	for word, want := range map[string]string{
		"opneai": "openai", "OPENAI": "openai", "anthropc": "anthropic", "gorq": "groq", "ops": "opus", "mistral": "", "": "",
	} {
		if got := strings.Join(Nearest(word, among), ","); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
