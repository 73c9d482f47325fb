package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"standin/cmd/standin/rehearsal"
	"standin/fallback"
	"standin/fallback/provider"
)

func TestSimulationsAreReadExactly(t *testing.T) {
	for _, c := range []struct{ spec, wants string }{
		{"", "wants a model and an effect"},
		{"openai/x", "wants a model and an effect"},
		{"=429", "names no model"},
		{"gpt-5.5=429", "is no model"},
		{"openai/=429", "is no model"},
		{"open*/x=429", "a * stands for a whole model name"},
		{"openai/gpt-*=429", "a * stands for a whole model name"},
		{"openai/*@=429", "names no credential"},
		{"openai/x=42", "is no effect; it may be an HTTP status such as 429, or rate_limit"},
		{"openai/x=200", "is no effect"},
		{"openai/x=ok,openai/y=slow", `"openai/y=slow": "slow" is no effect`},
		{"openai/x=429, OpenAI/x=500", "concern the same"},
	} {
		if _, err := parseSimulation(c.spec); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: %v, want …%s…", c.spec, err, c.wants)
		}
	}
}

// The most exact pattern wins, wherever it stands: a credential before a model
// before a provider before all.
func TestTheMostExactPatternWins(t *testing.T) {
	s, err := parseSimulation("*=500, openai/*=429, openai/gpt-5.5=timeout, openai/*@openai:spare=403, openai/gpt-5.5@openai:work=401")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ model, profile, want string }{
		{"openai/gpt-5.5", "openai:work", "401"},
		{"openai/gpt-5.5", "openai:spare", "403"},
		{"openai/gpt-5.5", "openai:other", "timeout"},
		{"openai/gpt-4", "openai:work", "429"},
		{"google/gemini", "google:default", "500"},
	} {
		m, _ := fallback.ParseRef(c.model)
		if got := s.effectOf(m, fallback.ProfileID(c.profile)); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.model, c.profile, got, c.want)
		}
	}
	if got := (simulation{}).effectOf(fallback.Model{Provider: "a", Name: "b"}, ""); got != rehearsal.EffectOK {
		t.Errorf("of whom nothing is said: %s", got)
	}
}

// A word that names a reason brings about just that reason, whatever protocol
// the vendor speaks; words of the network are what the transport reports.
func TestEveryEffectIsWhatItsWordSays(t *testing.T) {
	for _, vendor := range []provider.Endpoint{
		{Provider: "openai", API: provider.OpenAICompletions}, {Provider: "openai", API: provider.OpenAIResponses},
		{Provider: "anthropic", API: provider.AnthropicMessages}, {Provider: "google", API: provider.OpenAICompletions},
	} {
		for _, word := range append(rehearsal.EffectWords(), "400", "401", "402", "403", "404", "408", "429", "500", "503", "529") {
			s, err := parseSimulation("*=" + word)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
			clock := &playClock{now: start}
			_, err = playedVendors{s, clock}.Call(context.Background(), provider.Call{Endpoint: vendor, Model: "m", Limits: provider.Limits{FirstToken: time.Minute}})
			got := string(fallback.Classify(fallback.SignalOf(err)).Reason)
			want := map[string]string{
				"empty": "", "ok": "", // the engine itself judges an answer without text
				"refused": "timeout", "reset": "timeout", "dns": "timeout", "eof": "timeout", "hang": "timeout",
				"400": "format", "401": "auth", "402": "billing", "403": "auth", "404": "model_not_found", "408": "timeout",
				"429": "rate_limit", "500": "timeout", "503": "timeout", "529": "overloaded",
			}
			w, listed := want[word]
			if !listed {
				w = word
			}
			if err == nil {
				got = ""
			}
			if got != w {
				t.Errorf("%s of %s/%s: class %q, want %q (%v)", word, vendor.Provider, vendor.API, got, w, err)
			}
			if hung := clock.now.Sub(start); (hung == time.Minute) != (word == "hang") {
				t.Errorf("%s took %s", word, hung)
			}
		}
	}
}

// Whatever is typed: an error, or a simulation that reads the same again.
func FuzzSimulateSpec(f *testing.F) {
	for _, s := range []string{"openai/*=429,anthropic/x=timeout,openai/gpt-5.5@openai:work=401", "*=ok", "*@a:b=empty", "a/b@c=d=429", ",", "=", "@=429", "a/*@=ok"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := parseSimulation(spec)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		again, err := parseSimulation(strings.Join(s.spec, ","))
		if err != nil || len(again.rules) != len(s.rules) {
			t.Errorf("%q reads as %q, which does not read: %v", spec, s.spec, err)
		}
		for _, p := range s.rules {
			if !rehearsal.KnownEffect(p.effect) {
				t.Errorf("%q: effect %q", spec, p.effect)
			}
			_, _, _ = rehearsal.Answer(p.effect, &provider.Call{Endpoint: provider.Endpoint{API: provider.OpenAICompletions}}, time.Time{})
		}
	})
}
