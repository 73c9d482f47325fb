package fallback

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func spell(ms []Model) string {
	s := make([]string, len(ms))
	for i, m := range ms {
		s[i] = m.String()
	}
	return strings.Join(s, " ")
}

func TestChain(t *testing.T) {
	const p, f1, f2 = "anthropic/claude-opus-4-6", "openai/gpt-5.4", "google/gemini-3-pro"
	plain := func(primary string, fallbacks ...string) *Config {
		return &Config{Default: ModelChoice{Primary: ref(primary), Fallbacks: refs(fallbacks...)}}
	}
	alias := func(c *Config) *Config {
		c.Aliases = map[string]Model{"opus": ref("anthropic/claude-opus-4-6")}
		return c
	}
	asked := func(m string) Plan { return Plan{Requested: ref(m)} }
	exactly := func(m string, list ...string) Plan {
		return Plan{Requested: ref(m), Fallbacks: refs(list...), Explicit: true}
	}
	for _, c := range []struct {
		rule string
		cfg  *Config
		plan Plan
		want string
	}{
		{"2.15: request P, no override", plain(p, f1, f2), asked(p), p + " " + f1 + " " + f2},
		{"2.15: request F1, no override", plain(p, f1, f2), asked(f1), f1 + " " + f2 + " " + p},
		{"2.15: request groq/x, no override", plain(p, f1, f2), asked("groq/x"), "groq/x " + f1 + " " + f2 + " " + p},
		{"2.15: request F1, override []", plain(p, f1, f2), exactly(f1), f1},
		{"2.15: request F2, override [F1,F2]", plain(p, f1, f2), exactly(f2, f1, f2), f2 + " " + f1},
		{"2.15: request P, fallbacks [P,F1,F1]", plain(p, p, f1, f1), asked(p), p + " " + f1},

		{"the configured primary is not listed twice [sc-001]", house(), asked("openai/gpt-5.5"), "openai/gpt-5.5 anthropic/claude-opus-4-6 groq/b"},
		{"on a fallback the rest of the chain is kept and the primary is appended [sc-003]", house(), asked("anthropic/claude-opus-4-6"), "anthropic/claude-opus-4-6 groq/b openai/gpt-5.5"},
		{"candidates before the current one are tried too (2.11)", house(), asked("groq/b"), "groq/b anthropic/claude-opus-4-6 openai/gpt-5.5"},
		{"an explicit list is exact; nothing is appended [sc-004]", house(), exactly("openai/gpt-5.5", "groq/llama-3"), "openai/gpt-5.5 groq/llama-3"},
		{"duplicates vanish after normalisation of the provider [sc-006]", plain("openai/gpt-5.5", "openai/gpt-5.5", "anthropic/a", "anthropic/a"),
			Plan{Requested: Model{" OpenAI ", " gpt-5.5"}}, "openai/gpt-5.5 anthropic/a"},
		{"a requested primary in another spelling is not appended again [sc-015]", house(), Plan{Requested: Model{" OpenAI ", "gpt-5.5"}}, "openai/gpt-5.5 anthropic/claude-opus-4-6 groq/b"},
		{"a bare alias resolves behind the default provider [sc-009]", alias(plain("openai/gpt-5.5", "anthropic/x")), asked("openai/opus"), "anthropic/claude-opus-4-6 anthropic/x openai/gpt-5.5"},
		{"an alias is not applied behind another provider [sc-010]", alias(plain("openai/gpt-5.5", "anthropic/x")), asked("moonshot/opus"), "moonshot/opus anthropic/x openai/gpt-5.5"},
		{"unusable entries are dropped silently [sc-013]", plain("openai/gpt-5.5", "", "   ", "anthropic/"), asked("openai/gpt-5.5"), "openai/gpt-5.5"},
		{"a plain string has no fallbacks, another request ends on it [sc-016]", plain("openai/gpt-5.5"), asked("anthropic/x"), "anthropic/x openai/gpt-5.5"},
		{"a blank request means the configured default (2.10)", plain(p, f1), Plan{}, p + " " + f1},
		{"a blank provider gets the default's (2.10)", plain(p, f1), Plan{Requested: Model{Name: "claude-x"}}, "anthropic/claude-x " + f1 + " " + p},
		{"fallbacks without a primary end on the built-in one (2.10)", plain("", f1), asked("groq/x"), "groq/x " + f1 + " openai/gpt-5.5"},
		{"without any configuration there is the built-in model (2.10)", &Config{}, Plan{}, "openai/gpt-5.5"},
		{"configured fallbacks come before the primary even across providers [IL-209]", plain("a/big", "b/mid"), asked("x/m"), "x/m b/mid a/big"},
		{"the allowlist filters no candidate (2.6)", &Config{Default: ModelChoice{Primary: ref(p), Fallbacks: refs(f1)}, Allowed: refs("groq/x")}, asked(p), p + " " + f1},
		{"on a probe turn the current fallback stands second, then the configured order [D13b]", house(),
			Plan{Requested: ref("openai/gpt-5.5"), Probe: true, Current: ref("groq/b"), Explicit: true, Fallbacks: refs("anthropic/claude-opus-4-6", "groq/b")},
			"openai/gpt-5.5 groq/b anthropic/claude-opus-4-6"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if got := spell(Chain(c.cfg, c.plan)); got != c.want {
				t.Errorf("chain %s\n want %s", got, c.want)
			}
		})
	}
}

// somewhere draws models from a small world, so that they meet each other.
func somewhere() *rapid.Generator[Model] {
	return rapid.Custom(func(t *rapid.T) Model {
		return Model{
			Provider: rapid.SampledFrom([]string{"a", "b", "c", "A", " b "}).Draw(t, "provider"),
			Name:     rapid.SampledFrom([]string{"m", "n", "o", ""}).Draw(t, "name"),
		}
	})
}

func TestChainHoldsForAnyConfig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := &Config{Default: ModelChoice{
			Primary:   somewhere().Draw(t, "primary"),
			Fallbacks: rapid.SliceOfN(somewhere(), 0, 6).Draw(t, "fallbacks"),
		}}
		p := Plan{
			Requested: somewhere().Draw(t, "requested"),
			Explicit:  rapid.Bool().Draw(t, "explicit"),
			Fallbacks: rapid.SliceOfN(somewhere(), 0, 6).Draw(t, "list"),
		}
		chain := Chain(cfg, p)
		if len(chain) == 0 {
			t.Fatal("a chain is never empty")
		}
		if first := p.Requested.normal(); first.complete() && chain[0] != first {
			t.Fatalf("the requested model %v is not first in %v [M27]", first, chain)
		}
		for i, m := range chain {
			if m != m.normal() || !m.complete() {
				t.Fatalf("candidate %q is not a normalised pair", m)
			}
			if slices.Contains(chain[:i], m) {
				t.Fatalf("%v stands twice in %v (2.4)", m, chain)
			}
		}
		if p.Explicit && len(p.Fallbacks) == 0 && len(chain) != 1 {
			t.Fatalf("a strict chain has one candidate, not %v [I4]", chain)
		}
		if primary := cfg.primary(); p.Explicit && slices.Contains(chain[1:], primary) &&
			!slices.ContainsFunc(p.Fallbacks, func(m Model) bool { return m.normal() == primary }) {
			t.Fatalf("a primary hides in the explicit chain %v (2.3)", chain)
		}
		if !p.Explicit && !slices.Contains(chain, cfg.primary()) {
			t.Fatalf("the configured primary is missing from %v (2.3)", chain)
		}
	})
}

func BenchmarkChain(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"3", 3}, {"20", 20}} {
		b.Run(size.name, func(b *testing.B) {
			c := house()
			c.Aliases["opus"] = ref("anthropic/claude-opus-4-6")
			for i := len(c.Default.Fallbacks); i < size.n-1; i++ {
				c.Default.Fallbacks = append(c.Default.Fallbacks, Model{"groq", strings.Repeat("m", i)})
			}
			ask := Ask{Config: c, Agent: "main", Kind: Chat}
			b.ReportAllocs()
			for b.Loop() {
				Chain(c, Resolve(ask, Selection{}, false))
			}
		})
	}
}
