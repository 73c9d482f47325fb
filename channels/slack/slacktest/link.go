package slacktest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// link is one open socket of the app.
type link struct {
	s    *Server
	conn *websocket.Conn

	out    chan []byte               // frames in the order they are sent
	wrong  func(map[string]any) bool // what the workspace lies about frames, nil nothing
	ready  bool                      // hello was sent; guarded by s.mu, as frozen is
	frozen bool                      // silent, but open
}

// openConnection is apps.connections.open: a ticket for one socket.
func (s *Server) openConnection(token string) (answer, string) {
	switch {
	case token == "":
		return nil, "not_authed"
	case s.revoked != "":
		return nil, s.revoked
	case token == BotToken:
		return nil, "not_allowed_token_type"
	case token != AppToken:
		return nil, "invalid_auth"
	}
	ticket := s.serialLocked("ticket-")
	s.tickets[ticket] = !s.lie.burnt
	return answer{"url": "ws" + strings.TrimPrefix(s.URL, "http") + "/link/?ticket=" + ticket + "&app_id=" + App}, ""
}

// serveLink is the socket itself; a ticket opens one.
func (s *Server) serveLink(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	ok := s.tickets[ticket] && !s.refuse
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !ok {
		http.Error(w, "no such ticket", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	l := &link{s: s, conn: conn, out: make(chan []byte, 4096)}
	done := make(chan struct{})
	go l.pump(done)
	answerPing := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		s.mu.Lock()
		silent := l.frozen || s.lie.idle
		s.mu.Unlock()
		if silent {
			return nil
		}
		return answerPing(data)
	})
	s.mu.Lock()
	select {
	case <-s.ended:
		_ = conn.Close()
	default:
	}
	l.wrong = s.lie.frame
	s.links = append(s.links, l)
	s.opened++
	s.most = max(s.most, len(s.links))
	n := len(s.links)
	s.mu.Unlock()
	l.send(map[string]any{
		"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": App},
		"debug_info": map[string]any{"host": "slacktest", "approximate_connection_time": 18060},
	})
	s.mu.Lock()
	l.ready = true
	s.flushLocked()
	s.stirLocked()
	s.mu.Unlock()
	go l.ping(done)
	l.read()
	close(done)
	_ = conn.Close()
	s.mu.Lock()
	s.links = slices.DeleteFunc(s.links, func(x *link) bool { return x == l })
	s.stirLocked()
	s.mu.Unlock()
}

// send sends a frame; frame is its own.
func (l *link) send(frame map[string]any) {
	if wrong := l.wrong; wrong != nil && !wrong(frame) {
		return
	}
	if raw, err := json.Marshal(frame); err == nil {
		l.sendRaw(raw)
	}
}

// sendRaw puts a frame behind those that were sent before; it never blocks. A
// client that reads nothing loses frames in the end, as with Slack.
func (l *link) sendRaw(raw []byte) {
	select {
	case l.out <- raw:
	default:
	}
}

func (l *link) pump(done <-chan struct{}) {
	for {
		select {
		case raw := <-l.out:
			l.s.mu.Lock()
			frozen := l.frozen
			l.s.mu.Unlock()
			if !frozen {
				_ = l.conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
				_ = l.conn.WriteMessage(websocket.TextMessage, raw)
			}
		case <-done:
			return
		}
	}
}

func (l *link) ping(done <-chan struct{}) {
	t := time.NewTicker(l.s.Ping)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.s.mu.Lock()
			silent := l.frozen || l.s.lie.mute
			l.s.mu.Unlock()
			if !silent {
				_ = l.conn.WriteControl(websocket.PingMessage, []byte("Ping from slacktest"), time.Now().Add(time.Second))
			}
		case <-done:
			return
		}
	}
}

// read takes acknowledgements; anything else is a fault of the client.
func (l *link) read() {
	for {
		_, raw, err := l.conn.ReadMessage()
		if err != nil {
			return
		}
		var a struct {
			Envelope string          `json:"envelope_id"`
			Payload  json.RawMessage `json:"payload"`
		}
		ok := json.Unmarshal(raw, &a) == nil && a.Envelope != "" && len(raw) < 20<<10
		l.s.mu.Lock()
		if ok = ok && l.s.ackLocked(a.Envelope, a.Payload); !ok {
			l.s.bad++
		}
		l.s.stirLocked()
		l.s.mu.Unlock()
	}
}

// Opened gives how many sockets were opened ever, how many were open at one
// time at most, and how many frames of the client were none of the protocol.
func (s *Server) Opened() (ever, most, bad int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.most, s.bad
}

// Connected gives how many sockets are open and greeted.
func (s *Server) Connected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.readyLocked())
}

func (s *Server) readyLocked() []*link {
	var ready []*link
	for _, l := range s.links {
		if l.ready {
			ready = append(ready, l)
		}
	}
	return ready
}

func (s *Server) each(f func(*link)) {
	s.mu.Lock()
	links := slices.Clone(s.links)
	s.mu.Unlock()
	for _, l := range links {
		f(l)
	}
}

// Disconnect asks every socket to reconnect: warning, refresh_requested or
// link_disabled. After the last one the app gets no new tickets' sockets.
func (s *Server) Disconnect(reason string) {
	if reason == "link_disabled" {
		s.RefuseSockets(true)
	}
	s.each(func(l *link) {
		l.send(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "slacktest"}})
	})
}

// Drop cuts every socket without a word.
func (s *Server) Drop() { s.each(func(l *link) { _ = l.conn.NetConn().Close() }) }

// Freeze keeps the open sockets open and says nothing on them any more, not
// even to a ping.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links {
		l.frozen, l.ready = true, false
	}
}

// Garbage sends a frame as it is to every socket.
func (s *Server) Garbage(frame string) { s.each(func(l *link) { l.sendRaw([]byte(frame)) }) }

// RefuseSockets makes tickets be given and the sockets be refused.
func (s *Server) RefuseSockets(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}
