package providertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"standin/fallback/provider"
)

// Request is one request as a vendor sees it.
type Request struct {
	At       time.Time
	API      provider.API
	Host     string
	Path     string
	Model    string
	Key      string // the credential, whichever header brought it
	Stream   bool
	System   string
	Messages []provider.Message
	Tools    []string // their names
	Header   http.Header
	Body     []byte

	usage bool // the caller asked for a usage chunk
}

// readRequest understands the bodies of all three protocols. ok is false when
// the path belongs to none of them.
func readRequest(r *http.Request, body []byte) (req Request, ok bool) {
	req = Request{Host: r.URL.Host, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	if req.Host == "" {
		req.Host = r.Host
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		req.API = provider.OpenAICompletions
	case strings.HasSuffix(r.URL.Path, "/responses"):
		req.API = provider.OpenAIResponses
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		req.API = provider.AnthropicMessages
	default:
		return req, false
	}
	req.Key = r.Header.Get("X-Api-Key")
	if bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		req.Key = bearer
	}
	return req, req.readBody(body) == nil
}

// message is an entry of a conversation in any of the protocols. What is a tool
// call here and a result there is a role, a type or a part, as the protocol has it.
type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
	// Chat Completions: the calls of an assistant, and the answer to one.
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
	// Responses: each call and each answer is an item of its own.
	Type      string  `json:"type"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
}

// content is what a protocol allows as a string or as a list of parts.
type content struct {
	text    string
	calls   []provider.ToolCall
	results []provider.ToolResult
	images  []provider.Image // types only
}

// UnmarshalJSON reads either form.
func (c *content) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		c.text = s
		return nil
	}
	var parts []struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   *content        `json:"content"`
		IsError   bool            `json:"is_error"`
		Source    struct {
			MediaType string `json:"media_type"`
		} `json:"source"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		switch p.Type {
		case "tool_use":
			c.calls = append(c.calls, provider.ToolCall{ID: p.ID, Name: p.Name, Input: string(p.Input)})
		case "tool_result":
			r := provider.ToolResult{ID: p.ToolUseID, Failed: p.IsError}
			if p.Content != nil {
				r.Text = p.Content.text
			}
			c.results = append(c.results, r)
		case "image", "image_url", "input_image":
			c.images = append(c.images, provider.Image{Type: p.Source.MediaType})
		default:
			c.text += p.Text
		}
	}
	return nil
}

// read gives the message as the daemon words it; ok is false for instructions.
func (m message) read() (provider.Message, bool) {
	role := provider.User
	if m.Role == "assistant" || m.Type == "function_call" {
		role = provider.Assistant
	}
	to := provider.Message{Role: role, Text: m.Content.text, Calls: m.Content.calls, Results: m.Content.results, Images: m.Content.images}
	for _, c := range m.ToolCalls {
		to.Calls = append(to.Calls, provider.ToolCall{ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
	}
	switch {
	case m.Role == "tool":
		to.Text, to.Results = "", []provider.ToolResult{{ID: m.ToolCallID, Text: m.Content.text}}
	case m.Type == "function_call":
		to.Calls = []provider.ToolCall{{ID: m.CallID, Name: m.Name, Input: m.Arguments}}
	case m.Type == "function_call_output":
		to.Results = []provider.ToolResult{{ID: m.CallID, Text: m.Output.text}}
	}
	return to, m.Role != "system" && m.Role != "developer"
}

func (r *Request) readBody(body []byte) error {
	var b struct {
		Model        string    `json:"model"`
		Stream       bool      `json:"stream"`
		System       content   `json:"system"`
		Instructions string    `json:"instructions"`
		Messages     []message `json:"messages"`
		Input        []message `json:"input"`
		Tools        []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	r.Model, r.Stream, r.usage = b.Model, b.Stream, b.StreamOptions.IncludeUsage
	r.System = b.System.text + b.Instructions
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name+t.Function.Name)
	}
	for _, m := range append(b.Messages, b.Input...) {
		switch to, said := m.read(); {
		case said:
			r.Messages = append(r.Messages, to)
		default:
			r.System += to.Text
		}
	}
	return nil
}

// tokens estimates the size of the prompt, four characters a token.
func (r *Request) tokens() int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n/4 + 1
}
