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

// message is an entry of a conversation in any of the protocols: the text is a
// string or a list of parts.
type message struct {
	Role    string `json:"role"`
	Content words  `json:"content"`
}

// words is text that a protocol allows as a string or as a list of text parts.
type words string

// UnmarshalJSON reads either form. Parts without text, such as images, are
// passed over.
func (w *words) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*w = words(s)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*w += words(p.Text)
	}
	return nil
}

func (r *Request) readBody(body []byte) error {
	var b struct {
		Model         string    `json:"model"`
		Stream        bool      `json:"stream"`
		System        words     `json:"system"`
		Instructions  string    `json:"instructions"`
		Messages      []message `json:"messages"`
		Input         []message `json:"input"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	r.Model, r.Stream, r.usage = b.Model, b.Stream, b.StreamOptions.IncludeUsage
	r.System = string(b.System) + b.Instructions
	for _, m := range append(b.Messages, b.Input...) {
		switch m.Role {
		case "system", "developer":
			r.System += string(m.Content)
		case "assistant":
			r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Text: string(m.Content)})
		case "user":
			r.Messages = append(r.Messages, provider.Message{Role: provider.User, Text: string(m.Content)})
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
