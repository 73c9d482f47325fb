package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
)

// lie is one way in which this stand-in could be wrong about Discord. It is told
// on purpose, to see that an official client notices: a fault that none would
// notice could stand here for good, and our adapter would be built on it
// (scripts/official-clients).
type lie struct {
	packet  func(p *packet) bool                           // changes a packet of the gateway; false: it is not sent
	answer  func(method, path string, body map[string]any) // changes an object that the API answers with
	header  func(h http.Header)                            // changes the headers of an answer
	torn    bool                                           // compressed frames lack their end
	forgets bool                                           // a RESUME replays nothing
	anew    bool                                           // an enforced nonce posts every time
}

// never drops the packets of one name.
func never(name string) func(*packet) bool { return func(p *packet) bool { return p.T != name } }

// dispatched changes what the events of a name carry.
func dispatched(name string, change func(d map[string]any)) func(*packet) bool {
	return func(p *packet) bool {
		if p.T != name {
			return true
		}
		raw, _ := json.Marshal(p.D)
		var d map[string]any
		if json.Unmarshal(raw, &d) == nil {
			change(d)
			p.D = d
		}
		return true
	}
}

// lacks takes fields away from the events of a name.
func lacks(name string, fields ...string) func(*packet) bool {
	return dispatched(name, func(d map[string]any) {
		for _, f := range fields {
			delete(d, f)
		}
	})
}

// opcode changes one opcode into another.
func opcode(from, to int) func(*packet) bool {
	return func(p *packet) bool {
		if p.Op == from {
			p.Op = to
		}
		return true
	}
}

// posted changes the answer of a POST to a path that ends so.
func posted(end string, change func(body map[string]any)) func(string, string, map[string]any) {
	return func(method, path string, body map[string]any) {
		if method == http.MethodPost && strings.HasSuffix(path, end) {
			change(body)
		}
	}
}

// dropping takes headers away.
func dropping(names ...string) func(http.Header) {
	return func(h http.Header) {
		for _, n := range names {
			h.Del(n)
		}
	}
}

var lieNames = map[string]lie{
	"hello-as-ack":     {packet: opcode(10, 11)},
	"no-heartbeat-ack": {packet: func(p *packet) bool { return p.Op != 11 }},
	"no-ready":         {packet: never("READY")},
	"no-guild":         {packet: never("GUILD_CREATE")},
	"no-resumed":       {packet: never("RESUMED")},
	"no-replay":        {forgets: true},
	"same-sequence": {packet: func(p *packet) bool {
		if p.S != nil {
			p.S = 1
		}
		return true
	}},
	"no-session-id":      {packet: lacks("READY", "session_id")},
	"reconnect-misnamed": {packet: opcode(7, 8)},
	"invalid-as-resumable": {packet: func(p *packet) bool {
		if p.Op == 9 {
			p.D = true
		}
		return true
	}},
	"torn-stream":              {torn: true},
	"message-without-member":   {packet: lacks("MESSAGE_CREATE", "member")},
	"message-without-mentions": {packet: lacks("MESSAGE_CREATE", "mentions")},
	"reply-to-nothing":         {packet: lacks("MESSAGE_CREATE", "message_reference", "referenced_message")},
	"command-as-press":         {packet: dispatched("INTERACTION_CREATE", func(d map[string]any) { d["type"] = 3 })},
	"choice-as-button": {packet: dispatched("INTERACTION_CREATE", func(d map[string]any) {
		if data, _ := d["data"].(map[string]any); data["component_type"] != nil {
			data["component_type"] = 2
		}
	})},
	"interaction-without-token": {packet: lacks("INTERACTION_CREATE", "token")},
	"no-nonce":                  {packet: lacks("MESSAGE_CREATE", "nonce"), answer: posted("/messages", func(b map[string]any) { delete(b, "nonce") })},
	"repeat-posts-anew":         {anew: true},
	"no-reference":              {packet: lacks("MESSAGE_CREATE", "message_reference"), answer: posted("/messages", func(b map[string]any) { delete(b, "message_reference") })},
	"thread-of-own-id":          {answer: posted("/threads", func(b map[string]any) { b["id"] = "1" })},
	"seen-by-all":               {answer: func(_, _ string, b map[string]any) { b["flags"] = 0 }},
	"no-error-tree":             {answer: func(_, _ string, b map[string]any) { delete(b, "errors") }},
	"wait-in-milliseconds": {header: func(h http.Header) {
		for _, name := range []string{"Retry-After", "X-RateLimit-Reset-After"} {
			if n, err := strconv.ParseFloat(h.Get(name), 64); err == nil {
				h.Set(name, fmt.Sprint(int(n*1000)))
			}
		}
	}},
	"limit-unannounced": {header: dropping("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Reset-After", "X-RateLimit-Bucket")},
	"global-as-route":   {header: dropping("X-RateLimit-Global", "X-RateLimit-Scope")},
}

// Lies gives the names that Lie takes, in order.
func Lies() []string { return slices.Sorted(maps.Keys(lieNames)) }

// Lie makes the server wrong in one way from now on; "" makes it honest. It is to
// be called before anybody connects.
func (s *Server) Lie(name string) error {
	l, known := lieNames[name]
	if !known && name != "" {
		return fmt.Errorf("no such lie: %s", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lie = l
	return nil
}

func (s *Server) lies() lie {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lie
}

// misstate applies the lie to an answer of the API.
func (s *Server) misstate(method, path string, answer *httptest.ResponseRecorder) {
	l := s.lies()
	if l.header != nil {
		l.header(answer.Header())
	}
	var body map[string]any
	if l.answer == nil || json.Unmarshal(answer.Body.Bytes(), &body) != nil {
		return
	}
	l.answer(method, path, body)
	answer.Body.Reset()
	_ = json.NewEncoder(answer.Body).Encode(body)
}
