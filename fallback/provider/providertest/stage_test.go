package providertest_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// stage starts both vendors and gives their endpoints.
func stage(t *testing.T, answer func(string, []provider.Message) providertest.StageReply) []provider.Endpoint {
	s := &providertest.Stage{Answer: answer}
	openAI, anthropic := httptest.NewServer(s.OpenAI()), httptest.NewServer(s.Anthropic())
	t.Cleanup(openAI.Close)
	t.Cleanup(anthropic.Close)
	return []provider.Endpoint{
		{Provider: "openai", API: provider.OpenAICompletions, BaseURL: openAI.URL + "/v1"},
		{Provider: "openai", API: provider.OpenAIResponses, BaseURL: openAI.URL + "/v1"},
		{Provider: "anthropic", API: provider.AnthropicMessages, BaseURL: anthropic.URL},
	}
}

func ask(t *testing.T, e provider.Endpoint, model string, stream bool) (*provider.Reply, *provider.Error, []string) {
	t.Helper()
	var pieces []string
	c := provider.Call{
		Endpoint: e, Model: model, Key: provider.NewKey("sk-stage-0001"),
		Messages: []provider.Message{{Role: provider.User, Text: "good morning"}},
	}
	if stream {
		c.OnText = func(piece string) { pieces = append(pieces, piece) }
	}
	v := provider.New(provider.Options{})
	defer v.Close()
	reply, err := v.Call(t.Context(), c)
	var failed *provider.Error
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return reply, failed, pieces
}

func TestTheStageAnswersInBothDialects(t *testing.T) {
	for _, e := range stage(t, func(model string, messages []provider.Message) providertest.StageReply {
		return providertest.StageReply{Text: model + " heard: " + messages[len(messages)-1].Text, Pace: time.Millisecond}
	}) {
		for _, stream := range []bool{false, true} {
			reply, err, pieces := ask(t, e, "gpt-stage", stream)
			if err != nil || reply.Text != "gpt-stage heard: good morning" {
				t.Errorf("%s: %+v, %v", e.API, reply, err)
			}
			if stream && len(pieces) != 4 {
				t.Errorf("%s: pieces %q", e.API, pieces)
			}
		}
	}
}

func TestTheStageFailsAsItsVendorsDo(t *testing.T) {
	for _, e := range stage(t, func(model string, _ []provider.Message) providertest.StageReply {
		switch model {
		case "limited":
			return providertest.StageReply{Status: 429, Message: "Slow down.", RetryAfter: 1500 * time.Millisecond}
		case "poor":
			return providertest.StageReply{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "No money."}
		}
		return providertest.StageReply{Text: "half an answer", Drop: true}
	}) {
		_, limited, _ := ask(t, e, "limited", true)
		want := map[provider.API]string{provider.AnthropicMessages: "rate_limit_error"}[e.API]
		if want == "" {
			want = "requests"
		}
		if limited == nil || limited.Status != 429 || limited.Type != want || limited.Message != "Slow down." || limited.RetryAfter != 2*time.Second {
			t.Errorf("%s: %#v", e.API, limited)
		}
		if limited.Header.Get("Request-Id")+limited.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: no request id", e.API)
		}
		if _, poor, _ := ask(t, e, "poor", false); poor == nil || poor.Type != "insufficient_quota" {
			t.Errorf("%s: %#v", e.API, poor)
		}
		_, dropped, pieces := ask(t, e, "dropped", true)
		if dropped == nil || dropped.Transport != provider.EOF || !dropped.Streamed || len(pieces) == 0 {
			t.Errorf("%s: %#v, pieces %q", e.API, dropped, pieces)
		}
	}
}

func TestTheStageRefusesWhatAVendorWouldRefuse(t *testing.T) {
	endpoints := stage(t, func(string, []provider.Message) providertest.StageReply {
		t.Error("it was asked")
		return providertest.StageReply{}
	})
	for _, tt := range []struct {
		name, method, path, key, body string
		status                        int
		want                          string
	}{
		{"no key", "POST", "/chat/completions", "", `{"model":"m"}`, 401, `"code":"invalid_api_key"`},
		{"no JSON", "POST", "/chat/completions", "k", `{"model":`, 400, `"type":"invalid_request_error"`},
		{"another path", "POST", "/embeddings", "k", `{}`, 404, `"message":"Invalid URL (POST /v1/embeddings)"`},
		{"another method", "GET", "/chat/completions", "k", ``, 404, `Invalid URL`},
	} {
		req, _ := http.NewRequest(tt.method, endpoints[0].BaseURL+tt.path, strings.NewReader(tt.body))
		if tt.key != "" {
			req.Header.Set("Authorization", "Bearer "+tt.key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s: %d %s", tt.name, resp.StatusCode, body)
		}
	}
}
