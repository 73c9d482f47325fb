package provider

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// envelope is what a vendor says about a failure, out of whatever JSON it
// chose to say it in.
type envelope struct {
	code, kind, message string
	status              int           // named in the body, 0 when none
	retry               time.Duration // google.rpc.RetryInfo
}

// readEnvelope reads the error envelopes of all vendors:
//
//	{"error":{"message","type","code"}}          OpenAI, Groq, DeepSeek, …; code may be a number (OpenRouter)
//	{"type":"error","error":{"type","message"}}  Anthropic
//	{"error":{"code","message","status"}}        Google, also as the only element of a list
//	{"error":"text"}                             Ollama, with "code" beside it xAI, with "message" others
//	{"object":"error","message","type","code"}   vLLM, older Mistral
//	{"type":"error","code","message"}            error event of the Responses API
//	{"response":{"error":{…}}}                   response.failed of the Responses API
//	{"code","message"}, {"__type","message"}     DashScope, AWS
//	{"errors":[{"code","message"}]}              Cloudflare
//	{"detail":"text" | [{"loc","msg"}] | {…}}    FastAPI, problem+json
//
// It gives false when the body is none of these.
func readEnvelope(body []byte) (envelope, bool) {
	var e envelope
	v, ok := decode(body)
	if !ok {
		return e, false
	}
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return e, false
		}
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return e, false
	}
	e.read(m)
	_, empty := m["error"].(map[string]any) // an envelope that says nothing is one
	return e, empty || e.code != "" || e.kind != "" || e.message != ""
}

// isFailure tells whether the body of a successful answer reports a failure.
// It is stricter than readEnvelope: an answer may well have a field "message".
func isFailure(body []byte) bool {
	v, ok := decode(body)
	if !ok {
		return false
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if r, ok := m["response"].(map[string]any); ok && present(r["error"]) {
		return true
	}
	if list, ok := m["errors"].([]any); ok && len(list) > 0 {
		return true
	}
	return present(m["error"]) || text(m["object"]) == "error" || text(m["type"]) == "error"
}

func present(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) > 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	}
	return false
}

func decode(body []byte) (any, bool) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	return v, true
}

func (e *envelope) read(m map[string]any) {
	if r, ok := m["response"].(map[string]any); ok && present(r["error"]) {
		m = r
	}
	switch inner := m["error"].(type) {
	case map[string]any:
		e.flat(inner)
	case []any:
		e.first(inner)
	case string:
		e.flat(m)
		e.beside(inner, m)
	default:
		if list, ok := m["errors"].([]any); ok {
			e.first(list)
			return
		}
		e.flat(m)
	}
}

// beside reads {"error": "text"} with whatever stands beside it: the longer
// explanation is the message, a bare word is the code.
func (e *envelope) beside(inner string, m map[string]any) {
	if said := text(m["error_description"]); said != "" {
		e.message = said
	}
	switch {
	case e.message == "":
		e.message = inner
	case e.code == "" && !strings.ContainsAny(inner, " \n"):
		e.code = inner
	}
}

func (e *envelope) first(list []any) {
	if len(list) == 0 {
		return
	}
	switch v := list[0].(type) {
	case map[string]any:
		e.flat(v)
	case string:
		e.message = v
	}
}

// flat reads an object whose own fields are the evidence.
func (e *envelope) flat(m map[string]any) {
	e.message = firstText(m, "message", "Message", "msg", "error_message", "error_msg", "errorMessage")
	if e.message == "" && m["message"] != nil {
		e.message = said(m["message"])
	}
	if e.message == "" {
		e.message = said(m["detail"])
	}
	if e.message == "" {
		e.message = text(m["title"])
	}
	if inner, ok := m["detail"].(map[string]any); ok {
		e.code = text(inner["code"])
	}
	e.kind = firstText(m, "type", "__type")
	if e.kind == "error" || strings.HasPrefix(e.kind, "response.") || strings.Contains(e.kind, ":") {
		e.kind = "" // names the event or a page about it, not the failure
	}
	for _, name := range []string{"code", "status", "status_code", "statusCode", "http_status"} {
		e.codeOrStatus(m[name])
	}
	e.retry = retryInfo(m["details"])
}

// codeOrStatus sorts a value that vendors use for both: a number in the range
// of HTTP is a status, anything else a code. The first of each is kept.
func (e *envelope) codeOrStatus(v any) {
	s := text(v)
	if n, ok := v.(json.Number); ok {
		s = n.String()
	}
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	if n, err := strconv.Atoi(s); err == nil && n >= 100 && n <= 599 {
		if e.status == 0 && n >= 400 {
			e.status = n
		}
		return
	}
	if e.code == "" {
		e.code = s
	}
}

// said gives the sentence in a value that may be nested: FastAPI lists each
// fault with its place.
func said(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, item := range v {
			if s := said(item); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "; ")
	case map[string]any:
		s := firstText(v, "message", "msg", "error")
		if s == "" {
			s = said(v["detail"])
		}
		if loc, ok := v["loc"].([]any); ok && s != "" {
			var path []string
			for _, step := range loc {
				if n, ok := step.(json.Number); ok {
					path = append(path, n.String())
				} else if t := text(step); t != "" {
					path = append(path, t)
				}
			}
			return strings.Join(path, ".") + ": " + s
		}
		return s
	}
	return ""
}

// retryInfo finds the delay of a google.rpc.RetryInfo, such as "34s".
func retryInfo(v any) time.Duration {
	list, _ := v.([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		if !strings.HasSuffix(text(m["@type"]), "google.rpc.RetryInfo") {
			continue
		}
		if d, err := time.ParseDuration(text(m["retryDelay"])); err == nil && d > 0 {
			return d
		}
	}
	return 0
}

func firstText(m map[string]any, names ...string) string {
	for _, name := range names {
		if s := text(m[name]); s != "" {
			return s
		}
	}
	return ""
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
