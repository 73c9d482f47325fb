package provider_test

import (
	"encoding/json"
	"testing"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// "OAuth profiles of openai use the subscription's endpoint, API-key profiles
// the public one, with the same model id" [M19].
func TestALoginGoesToTheSubscription(t *testing.T) {
	const api, codex = "https://api.openai.com/v1", "https://chatgpt.com/backend-api/codex"
	for _, tt := range []struct {
		name     string
		auth     provider.Auth
		endpoint provider.Endpoint
		want     string
		codex    bool
	}{
		{"an API key asks the public endpoint", provider.APIKey, provider.Endpoint{Provider: "openai"}, api + "/chat/completions", false},
		{"a static token too", provider.Bearer, provider.Endpoint{Provider: "openai"}, api + "/chat/completions", false},
		{"a login asks the subscription's", provider.Login, provider.Endpoint{Provider: "openai"}, codex + "/responses", true},
		{"also where config repeats the API's address", provider.Login,
			provider.Endpoint{Provider: "openai", API: provider.OpenAICompletions, BaseURL: api}, codex + "/responses", true},
		{"config moves it (D24)", provider.Login, provider.Endpoint{Provider: "openai", LoginURL: "http://127.0.0.1:9/codex"}, "http://127.0.0.1:9/codex/responses", true},
		{"beside a proxy of the API", provider.Login,
			provider.Endpoint{Provider: "openai", BaseURL: "https://proxy.test/v1", LoginURL: "https://proxy.test/codex"}, "https://proxy.test/codex/responses", true},
		{"a proxy alone is not gone around", provider.Login,
			provider.Endpoint{Provider: "openai", API: provider.OpenAICompletions, BaseURL: "https://proxy.test/v1"}, "https://proxy.test/v1/chat/completions", false},
		{"another vendor's login stays with its API", provider.Login, provider.Endpoint{Provider: "xai"}, "https://api.x.ai/v1/chat/completions", false},
		{"or goes where config says", provider.Login, provider.Endpoint{Provider: "xai", LoginURL: "https://sub.test/v1"}, "https://sub.test/v1/chat/completions", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := pt.New()
			c := call(tt.endpoint)
			c.Auth, c.Account, c.Model, c.MaxTokens = tt.auth, "acct-7", "gpt-5.5", 99
			reply, err := ask(t, v, c)
			if err != nil || reply.Text == "" {
				t.Fatal(reply, err)
			}
			r := v.Requests()[0]
			scheme := "https://"
			if r.Host == "127.0.0.1:9" {
				scheme = "http://"
			}
			if got := scheme + r.Host + r.Path; got != tt.want || r.Model != "gpt-5.5" || r.Key != secret {
				t.Errorf("asked %s for %s with %s", got, r.Model, r.Key)
			}
			if !tt.codex {
				if r.Header.Get("Chatgpt-Account-Id") != "" || r.Header.Get("Originator") != "" || r.Stream {
					t.Errorf("a plain call carries what the subscription wants: %v", r.Header)
				}
				return
			}
			h := r.Header
			if h.Get("Chatgpt-Account-Id") != "acct-7" || h.Get("Originator") != "standin" || h.Get("Openai-Beta") != "responses=experimental" {
				t.Errorf("headers %v", h)
			}
			var body struct {
				Instructions string           `json:"instructions"`
				Store        *bool            `json:"store"`
				Stream       bool             `json:"stream"`
				Limit        *int             `json:"max_output_tokens"`
				Input        []map[string]any `json:"input"`
			}
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			if body.Instructions != "Be brief." || body.Store == nil || *body.Store || !body.Stream || body.Limit != nil {
				t.Errorf("body %s", r.Body)
			}
			for _, item := range body.Input {
				if role := item["role"]; role == "system" || role == "developer" {
					t.Errorf("the system text stands among the messages: %s", r.Body)
				}
			}
			if len(body.Input) != 3 {
				t.Errorf("%d messages: %s", len(body.Input), r.Body)
			}
		})
	}
}

// "Instructions needed": a turn without a system text has some all the same.
func TestASubscriptionAlwaysHasInstructions(t *testing.T) {
	v := pt.New()
	c := call(provider.Endpoint{Provider: "openai"})
	c.Auth, c.System = provider.Login, ""
	if _, err := ask(t, v, c); err != nil {
		t.Fatal(err)
	}
	var body struct{ Instructions string }
	if err := json.Unmarshal(v.Requests()[0].Body, &body); err != nil || body.Instructions == "" {
		t.Errorf("%v: %s", err, v.Requests()[0].Body)
	}
}
