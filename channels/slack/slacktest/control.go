package slacktest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"
)

// Acts is the HTTP door through which another program acts.
type Acts struct {
	Addr string
	http *http.Server
}

// Close shuts the door.
func (a *Acts) Close() error { return a.http.Close() }

// order is the body of every act; each reads what it needs.
type order struct {
	Room, User, Text, Thread, Command, TS, Reason, Method, Frame, Target string
	N                                                                    int
	Fault                                                                Fault
	Event                                                                map[string]any
}

// Control serves acts and faults at an address of this machine: POST
// /fake/say, slash, press, edit, event, raw-frame, disconnect, drop, freeze,
// fail, repeat, webhook, verify; and what came of them at /fake/state. Bodies and answers are JSON.
func Control(s *Server, addr string) (*Acts, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	acts := map[string]func(order) any{
		"say": func(o order) any {
			return s.Say(Say{Room: o.Room, User: o.User, Text: o.Text, Thread: o.Thread, TS: o.TS})
		},
		"slash":      func(o order) any { return s.Slash(o.Room, o.User, o.Command, o.Text) },
		"press":      func(o order) any { return s.Press(o.Room, o.TS, o.User, o.N) },
		"edit":       func(o order) any { s.Edit(o.Room, o.TS, o.Text); return nil },
		"event":      func(o order) any { s.Tell(o.Event); return nil },
		"raw-frame":  func(o order) any { s.Garbage(o.Frame); return nil },
		"disconnect": func(o order) any { s.Disconnect(o.Reason); return nil },
		"drop":       func(order) any { s.Drop(); return nil },
		"freeze":     func(order) any { s.Freeze(); return nil },
		"fail":       func(o order) any { s.Fail(o.Method, o.Fault); return nil },
		"repeat":     func(order) any { s.Repeat(); return nil },
		"webhook":    func(o order) any { s.Webhook(o.Target); return nil },
		"verify":     s.verify,
		"state": func(o order) any {
			ever, most, bad := s.Opened()
			return map[string]any{
				"events": s.Events(), "acks": s.Acks(), "calls": s.Calls(o.Method), "posts": s.Posts(o.Room), "seen": s.Seen(o.Room),
				"opened": ever, "most": most, "bad": bad, "connected": s.Connected(),
			}
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /fake/{act}", func(w http.ResponseWriter, r *http.Request) {
		var o order
		act := acts[r.PathValue("act")]
		if err := json.NewDecoder(r.Body).Decode(&o); act == nil || err != nil {
			http.Error(w, "no such act, or its body is no JSON", http.StatusBadRequest)
			return
		}
		writeJSON(w, map[string]any{"result": act(o)})
	})
	a := &Acts{Addr: l.Addr().String(), http: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	go func() { _ = a.http.Serve(l) }()
	return a, nil
}

// verify asks the webhook whether it is the app's, as Slack does when an app's
// owner enters the address, and gives the answer's status and body.
func (s *Server) verify(o order) any {
	s.mu.Lock()
	target := s.webhook
	s.mu.Unlock()
	body, _ := json.Marshal(map[string]string{"type": "url_verification", "token": "unused", "challenge": o.Text})
	resp, err := s.Request(target, "application/json", body, nil)
	if err != nil {
		return []any{0, err.Error()}
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return []any{resp.StatusCode, string(text)}
}
