package fallback

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback/provider"
)

// stored makes profiles of provider openai: "b:oauth" is openai:b with an OAuth
// credential, "b" an API key.
func stored(specs ...string) []Profile {
	var all []Profile
	for _, spec := range specs {
		name, kind, _ := strings.Cut(spec, ":")
		if kind == "" {
			kind = string(APIKey)
		}
		all = append(all, Profile{ID: ProfileID("openai:" + name), Provider: "openai", Type: CredentialType(kind), Key: provider.NewKey("k")})
	}
	return all
}

// names are the ids without their provider.
func names(order []Profile) string {
	var out []string
	for _, p := range order {
		_, name, _ := strings.Cut(string(p.ID), ":")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func ids(s string) []ProfileID {
	out := []ProfileID{}
	for _, name := range strings.Fields(s) {
		out = append(out, ProfileID("openai:"+name))
	}
	return out
}

func used(ms int64) Usage { return Usage{LastUsed: time.UnixMilli(ms)} }

func TestOrder(t *testing.T) {
	cool := func(d time.Duration) Usage { return cooling(d, RateLimit, nil) }
	written := func(s string) *Config { return &Config{Order: map[string][]ProfileID{"OpenAI": ids(s)}} }
	tests := []struct {
		name     string
		cfg      *Config
		profiles []Profile
		usage    map[ProfileID]Usage
		want     string
	}{
		{
			"type first, then the longest unused; never used counts as 0 (sc-082)", &Config{},
			stored("o1:oauth", "o2:oauth", "t1:token", "k1", "k2"),
			map[ProfileID]Usage{"openai:o1": used(200), "openai:o2": used(100), "openai:k1": used(50)},
			"o2 o1 t1 k2 k1",
		},
		{
			"unusable ones go last, soonest end first (sc-083)", &Config{},
			stored("a", "b", "c", "d"),
			map[ProfileID]Usage{"openai:a": {Disabled: Window{after(5 * time.Hour), Billing}}, "openai:b": used(5), "openai:c": cool(time.Minute)},
			"d b c a",
		},
		{
			"an explicit order wins, is not sorted by lastUsed, and leaves others out (sc-084)", written("a c"),
			stored("a", "b:oauth", "c"), map[ProfileID]Usage{"openai:a": used(500)}, "a c",
		},
		{"inside an explicit order unusable ones still move to the end (sc-085)", written("a c b"), stored("a", "b", "c"), map[ProfileID]Usage{"openai:a": cool(time.Minute)}, "c b a"},
		{"an empty explicit order disables the provider's profiles (sc-092)", written(""), stored("a"), nil, ""},
		{"an explicit order whose profiles are all missing gives none (8.7)", written("x y"), stored("a"), nil, ""},
		{"duplicates are removed (8.5)", written("a b a"), stored("a", "b"), nil, "a b"},
		{
			"auth.profiles names which stored ones count (8.1)",
			&Config{Profiles: map[ProfileID]ProfileMeta{"openai:b": {Provider: "openai"}, "openai:a": {Provider: "openai"}}},
			stored("c", "b", "a"), nil, "b a",
		},
		{
			"auth.profiles of which none is stored: all stored ones (8.7)",
			&Config{Profiles: map[ProfileID]ProfileMeta{"openai:x": {Provider: "openai"}}},
			stored("b", "a"), nil, "b a",
		},
		{
			"a mode that does not match makes it ineligible, a token passes for oauth (sc-088)",
			&Config{Profiles: map[ProfileID]ProfileMeta{"openai:a": {Mode: OAuth}, "openai:b": {Mode: OAuth}, "openai:t": {Mode: OAuth}}},
			stored("a", "b:oauth", "t:token"), nil, "b t",
		},
		{
			"a model's cooldown sends the profile to the end as well (8.5)", &Config{},
			stored("a", "b"), map[ProfileID]Usage{"openai:a": fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})}, "b a",
		},
		{
			"a window that ended this millisecond is over (IL-027)", &Config{},
			stored("a", "b"), map[ProfileID]Usage{"openai:a": cool(0), "openai:b": used(5)}, "a b",
		},
		{
			"the order stored for the agent comes before auth.order (8.1)", written("a b"),
			func() []Profile {
				ps := stored("a", "b")
				ps[0].Rank, ps[1].Rank = 2, 1
				return ps
			}(), nil, "b a",
		},
		{
			"the order of the alias openai-codex is openai's too (8.1, 8.8)",
			&Config{Order: map[string][]ProfileID{"openai-codex": ids("b")}}, stored("a", "b", "c"), nil, "b a c",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			order, _ := Order(tt.cfg, "openai", tt.profiles, tt.usage, usageStart)
			if got := names(order); got != tt.want {
				t.Errorf("Order = [%s], want [%s]", got, tt.want)
			}
		})
	}
}

// Old windows of providers that never cool are ignored (sc-075).
func TestOrderIgnoresWindowsOfBypassingProviders(t *testing.T) {
	ps := []Profile{{ID: "openrouter:a", Provider: "openrouter", Type: APIKey, Key: provider.NewKey("k")}, {ID: "openrouter:b", Provider: "openrouter", Type: APIKey, Key: provider.NewKey("k")}}
	usage := map[ProfileID]Usage{"openrouter:a": {Disabled: Window{after(time.Hour), Billing}}}
	order, _ := Order(&Config{}, "OpenRouter", ps, usage, usageStart)
	if got := names(order); got != "a b" {
		t.Errorf("Order = [%s], want [a b]", got)
	}
}

// "Ineligible profiles are removed with a reason" (8.6, sc-089).
func TestIneligible(t *testing.T) {
	past := usageStart.Add(-time.Minute)
	key := provider.NewKey("k")
	cfg := &Config{
		Order:    map[string][]ProfileID{"openai": ids("token refresh empty stale negative other gone mode local good")},
		Profiles: map[ProfileID]ProfileMeta{"openai:mode": {Mode: APIKey}},
	}
	profiles := []Profile{
		{ID: "openai:token", Provider: "openai", Type: Token, Key: key, Expires: usageStart}, // from this instant on
		{ID: "openai:refresh", Provider: "openai", Type: OAuth, Refresh: true, Expires: past},
		{ID: "openai:empty", Provider: "openai", Type: APIKey},
		{ID: "openai:stale", Provider: "openai", Type: OAuth, Key: key, Expires: past},
		{ID: "openai:negative", Provider: "openai", Type: Token, Key: key, Expires: time.UnixMilli(-1)},
		{ID: "openai:other", Provider: "anthropic", Type: APIKey, Key: key},
		{ID: "openai:mode", Provider: "openai", Type: Token, Key: key},
		{ID: "openai:local", Provider: "openai", Keyless: true},
		{ID: "openai:good", Provider: "openai", Type: Token, Key: key, Expires: after(time.Millisecond)},
	}
	order, dropped := Order(cfg, "openai", profiles, nil, usageStart)
	if got := names(order); got != "refresh local good" {
		t.Errorf("Order = [%s], want [refresh local good]", got)
	}
	want := []Ineligible{
		{"openai:token", Expired}, {"openai:empty", MissingCredential}, {"openai:stale", Expired}, {"openai:negative", InvalidExpires},
		{"openai:other", ProviderMismatch}, {"openai:gone", ProfileMissing}, {"openai:mode", ModeMismatch},
	}
	if diff := cmp.Diff(want, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

// Config is one snapshot for many turns [G9]: Order must not write into what it
// is given.
func TestOrderLeavesItsArgumentsAlone(t *testing.T) {
	ps := stored("b", "a")
	before := slices.Clone(ps)
	order, _ := Order(&Config{Order: map[string][]ProfileID{"openai": ids("a b")}}, "openai", ps, nil, usageStart)
	if order[0].Rank != 1 || order[1].Rank != 2 {
		t.Error("an explicit order sets the rank")
	}
	for i := range ps {
		if ps[i].ID != before[i].ID || ps[i].Rank != before[i].Rank {
			t.Error("the stored profiles were changed")
		}
	}
}
