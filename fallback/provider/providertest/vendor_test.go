package providertest_test

import (
	"slices"
	"testing"

	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

func TestRulesAreUsedInOrderAndOnlyWhereTheyMatch(t *testing.T) {
	v := &providertest.Vendor{}
	v.On(providertest.When{Model: "a"}, providertest.Status(429, ""), providertest.Answer("a is back"))
	v.Always(providertest.When{Key: "bad"}, providertest.Status(401, ""))
	caller := provider.New(provider.Options{Transport: v})
	var got []string
	for _, ask := range []struct{ model, key string }{{"a", "good"}, {"b", "good"}, {"a", "bad"}, {"a", "bad"}, {"a", "good"}} {
		reply, err := caller.Call(t.Context(), provider.Call{
			Endpoint: provider.Endpoint{Provider: "p", BaseURL: "https://p.test/v1"}, Model: ask.model, Key: provider.NewKey(ask.key),
			Messages: []provider.Message{{Role: provider.User, Text: "hi"}},
		})
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, reply.Text)
	}
	want := []string{"p/a: HTTP 429", "answer of b", "a is back", "p/a: HTTP 401", "answer of a"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !slices.Equal(v.Models(), []string{"a", "b", "a", "a", "a"}) {
		t.Errorf("journal %q", v.Models())
	}
}

func TestEnvelopesAreThoseOfTheVendors(t *testing.T) {
	for _, tt := range []struct{ provider, want string }{
		{"openai", `{"error":{"message":"m","type":"t","param":null,"code":"c"}}`},
		{"anthropic", `{"type":"error","error":{"type":"t","code":"c","message":"m"}}`},
		{"google", `[{"error":{"code":429,"message":"m","status":"c"}}]`},
		{"acme", `{"error":{"message":"m","type":"t","param":null,"code":"c"}}`},
	} {
		if got := providertest.Envelope(provider.Endpoint{Provider: tt.provider}, 429, "t", "c", "m"); got != tt.want {
			t.Errorf("%s: %s", tt.provider, got)
		}
	}
	// What is not given is not invented: it would change what a failure means.
	if got, want := providertest.Envelope(provider.Endpoint{Provider: "openai"}, 400, "", "", ""), `{"error":{"message":"","type":null,"param":null,"code":null}}`; got != want {
		t.Errorf("%s", got)
	}
}
