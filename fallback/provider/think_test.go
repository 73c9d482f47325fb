package provider_test

import (
	"encoding/json"
	"testing"

	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
)

// thought is what a request says of thinking, in any of the protocols.
type thought struct {
	Effort    string `json:"reasoning_effort"` // Chat Completions
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"` // Responses
	Thinking struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"` // Messages
	Output struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	MaxTokens int64 `json:"max_tokens"`
}

// A vendor is told how much to think in its own words, and only for a model that
// is known to think; the nearest word stands for one that the model lacks.
func TestHowMuchAModelThinks(t *testing.T) {
	openAI := provider.Endpoint{Provider: "openai", API: provider.OpenAICompletions, BaseURL: "https://api.openai.com/v1"}
	responses := openAI
	responses.API = provider.OpenAIResponses
	claude := provider.Endpoint{Provider: "anthropic", API: provider.AnthropicMessages, BaseURL: "https://api.anthropic.com"}
	house := provider.Endpoint{Provider: "house", API: provider.OpenAICompletions, BaseURL: "https://llm.example.com/v1"}
	inTools := []provider.Message{{Role: provider.User, Text: "hi"}, {Role: provider.Assistant, Calls: []provider.ToolCall{{ID: "1", Name: "x", Input: "{}"}}},
		{Role: provider.User, Results: []provider.ToolResult{{ID: "1", Name: "x", Text: "y"}}}}
	for _, c := range []struct {
		name     string
		at       provider.Endpoint
		model    string
		think    provider.Effort
		messages []provider.Message
		want     func(thought) bool
	}{
		{"Chat Completions", openAI, "gpt-5.5", "high", nil, func(s thought) bool { return s.Effort == "high" }},
		{"the nearest word", openAI, "gpt-5.5", "max", nil, func(s thought) bool { return s.Effort == "xhigh" }},
		{"off, where it has a word", openAI, "gpt-5.6-sol", "off", nil, func(s thought) bool { return s.Effort == "none" }},
		{"off, where it has none", openAI, "gpt-5.5", "off", nil, func(s thought) bool { return s.Effort == "low" }},
		{"Responses", responses, "gpt-5.5", "low", nil, func(s thought) bool { return s.Reasoning.Effort == "low" }},
		{"a model that decides by itself", claude, "claude-opus-4-6", "medium", nil, func(s thought) bool {
			return s.Thinking.Type == "adaptive" && s.Output.Effort == "medium" && s.MaxTokens == 8192
		}},
		{"a model that is told tokens", claude, "claude-sonnet-4-5-20250929", "low", nil, func(s thought) bool {
			return s.Thinking.Type == "enabled" && s.Thinking.Budget == 2048 && s.MaxTokens == 8192+2048
		}},
		{"off is nothing", claude, "claude-opus-4-6", "off", nil, func(s thought) bool { return s.Thinking.Type == "" && s.Output.Effort == "" }},
		{"in the middle of tools", claude, "claude-sonnet-4-5-20250929", "low", inTools, func(s thought) bool { return s.Thinking.Type == "" && s.MaxTokens == 8192 }},
		{"a model that nobody knows", house, "large", "high", nil, func(s thought) bool { return s.Effort == "" }},
		{"nothing said", openAI, "gpt-5.5", "", nil, func(s thought) bool { return s.Effort == "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := provider.Call{Endpoint: c.at, Model: c.model, Key: provider.NewKey("k"), Think: c.think, Messages: c.messages, OnText: func(string) {}}
			if call.Messages == nil {
				call.Messages = []provider.Message{{Role: provider.User, Text: "hi"}}
			}
			v := pt.New(pt.Answer("ok"))
			if _, err := ask(t, v, call); err != nil {
				t.Fatal(err)
			}
			var said thought
			if err := json.Unmarshal(v.Requests()[0].Body, &said); err != nil || !c.want(said) {
				t.Errorf("the vendor reads %s (%v)", v.Requests()[0].Body, err)
			}
		})
	}
}

func TestEffortsAsPeopleWriteThem(t *testing.T) {
	for word, want := range map[string]provider.Effort{"HIGH": "high", " off ": "off", "none": "off", "on": "low", "mid": "medium", "xhigh": "xhigh"} {
		if e, ok := provider.ParseEffort(word); e != want || !ok {
			t.Errorf("%q is %q, %v", word, e, ok)
		}
	}
	if e, ok := provider.ParseEffort("hard"); ok {
		t.Errorf("hard is %q", e)
	}
}
