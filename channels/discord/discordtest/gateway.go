package discordtest

import (
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// maxSends is how much a client may send in a minute (Discord).
const maxSends = 120

// socket is the gateway's endpoint.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	l := &link{s: s, ws: ws}
	if r.URL.Query().Get("compress") == "zlib-stream" {
		l.stream = zlib.NewWriter(&l.packed)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		l.cut()
		return
	}
	l.wrong, l.torn = s.lie.packet, s.lie.torn
	s.links[l] = true
	n := len(s.links)
	s.noteLocked(Connected, fmt.Sprintf("%d open", n), "")
	g := s.gateway.takeLocked()
	s.mu.Unlock()
	s.done.Go(func() { s.serveLink(l, g) })
}

// serveLink speaks with a client until it leaves.
func (s *Server) serveLink(l *link, g gatewayFaults) {
	defer func() {
		l.cut()
		s.mu.Lock()
		delete(s.links, l)
		if l.session != nil && l.session.link == l {
			l.session.link, l.session.live = nil, false
		}
		s.stirLocked()
		s.mu.Unlock()
	}()
	l.ws.SetCloseHandler(func(code int, _ string) error {
		s.note(Closed, fmt.Sprintf("by the client with %d", code), "")
		if code == 1000 || code == 1001 {
			s.mu.Lock()
			if l.session != nil {
				l.session.ended = true
			}
			s.mu.Unlock()
		}
		return nil
	})
	if g.NoHello > 0 {
		_, _, _ = l.ws.ReadMessage()
		return
	}
	l.write(10, nil, nil, map[string]any{"heartbeat_interval": s.opt.Interval.Milliseconds(), "_trace": []string{"fake"}})
	if g.ReconnectFirst > 0 {
		l.write(7, nil, nil, nil)
	}
	for {
		_, frame, err := l.ws.ReadMessage()
		if err != nil {
			var ce *websocket.CloseError
			if !errors.As(err, &ce) {
				s.note(Closed, "the line", "")
			}
			return
		}
		if code := s.packet(l, g, frame); code != 0 {
			s.note(Closed, fmt.Sprintf("by the server with %d", code), "")
			l.close(code)
			s.endSession(l, code)
			_, _ = io.Copy(io.Discard, l.ws.NetConn())
			return
		}
	}
}

// endSession forgets a session when the code says so.
func (s *Server) endSession(l *link, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.session == nil {
		return
	}
	switch code {
	case 1000, 1001, 4003, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014:
		l.session.ended = true
	}
}

// packet takes what a client sends and gives the close code that it earns, 0 none.
func (s *Server) packet(l *link, g gatewayFaults, frame []byte) int {
	now := s.opt.Now()
	recent := l.sends[:0]
	for _, t := range l.sends {
		if now.Sub(t) < time.Minute {
			recent = append(recent, t)
		}
	}
	if l.sends = append(recent, now); len(l.sends) > maxSends {
		s.note(Broken, "sent too much", "")
		return 4008
	}
	var p struct {
		Op *int
		D  json.RawMessage
	}
	if json.Unmarshal(frame, &p) != nil || p.Op == nil {
		return 4002
	}
	switch *p.Op {
	case 1:
		s.note(Heartbeat, string(p.D), "")
		s.mu.Lock()
		deaf := s.gateway.noAck
		s.mu.Unlock()
		if !deaf {
			l.write(11, nil, nil, nil)
		}
	case 2:
		return s.identify(l, g, p.D)
	case 6:
		return s.resume(l, p.D)
	case 3, 4, 8:
		if l.session == nil {
			return 4003
		}
		if *p.Op == 3 {
			s.note(Presence, string(p.D), "")
		}
	default:
		s.note(Broken, fmt.Sprintf("opcode %d", *p.Op), "")
		return 4001
	}
	return 0
}

func (s *Server) identify(l *link, g gatewayFaults, raw json.RawMessage) int {
	var d struct {
		Token      string
		Intents    *int
		Properties map[string]any
		Shard      []int
		Compress   bool
	}
	if json.Unmarshal(raw, &d) != nil || d.Properties == nil {
		return 4002
	}
	s.note(Identify, "", "")
	switch {
	case l.session != nil:
		return 4005
	case strings.TrimPrefix(d.Token, "Bot ") != s.Token:
		return 4004
	case d.Intents == nil || *d.Intents&^intentKnown != 0:
		return 4013
	case len(d.Shard) == 2 && d.Shard[0] >= d.Shard[1]:
		return 4010
	case *d.Intents&intentPrivileged&^s.privileged() != 0:
		return 4014
	}
	s.mu.Lock()
	if s.starts <= 0 {
		s.mu.Unlock()
		l.write(9, nil, nil, false)
		return 0
	}
	s.starts--
	ss := &session{id: "session" + s.newIDLocked(), intents: *d.Intents, link: l}
	s.sessions[ss.id] = ss
	l.session = ss
	guilds := []any{}
	var full []any
	for _, guild := range s.guilds {
		guilds = append(guilds, map[string]any{"id": guild.ID, "unavailable": true})
		full = append(full, s.guildLocked(guild))
	}
	bot := s.Bot.wire()
	s.mu.Unlock()
	if g.NoReady > 0 {
		return 0
	}
	s.mu.Lock()
	ss.live = true
	s.mu.Unlock()
	s.emitTo(ss, "READY", map[string]any{
		"v": 10, "user": bot, "session_id": ss.id, "resume_gateway_url": s.socketURL(), "guilds": guilds, "shard": []int{0, 1},
		"application": map[string]any{"id": s.Application(), "flags": 0}, "private_channels": []any{}, "session_type": "normal", "_trace": []string{"fake"},
	})
	if ss.intents&intentGuilds != 0 {
		for _, guild := range full {
			s.emitTo(ss, "GUILD_CREATE", guild)
		}
	}
	s.mu.Lock()
	s.stirLocked()
	s.mu.Unlock()
	return 0
}

// resume gives a session back with what its client missed, and RESUMED behind it.
func (s *Server) resume(l *link, raw json.RawMessage) int {
	var d struct {
		Token     string
		SessionID string `json:"session_id"`
		Seq       *int
	}
	if json.Unmarshal(raw, &d) != nil || d.Seq == nil {
		return 4002
	}
	s.note(Resume, fmt.Sprint(*d.Seq), "")
	if strings.TrimPrefix(d.Token, "Bot ") != s.Token {
		return 4004
	}
	s.emitting.Lock()
	defer s.emitting.Unlock()
	s.mu.Lock()
	ss := s.sessions[d.SessionID]
	refuse := s.gateway.takeResumeLocked()
	if refuse == "" && (ss == nil || ss.ended) {
		refuse = "invalid"
	}
	switch refuse {
	case "invalid", "retry":
		if refuse == "invalid" && ss != nil {
			ss.ended = true
		}
		s.mu.Unlock()
		l.write(9, nil, nil, refuse == "retry")
		return 0
	case "cut":
		s.mu.Unlock()
		l.cut()
		return 0
	}
	if *d.Seq > ss.seq || len(ss.sent) > 0 && *d.Seq < ss.sent[0].seq-1 {
		ss.ended = true
		s.mu.Unlock()
		return 4007
	}
	if old := ss.link; old != nil && old != l {
		s.noteLocked(Broken, "resumed while connected", "")
		old.cut()
	}
	var missed []numbered
	for _, ev := range ss.sent {
		if ev.seq > *d.Seq {
			missed = append(missed, ev)
		}
	}
	ss.link, l.session = l, ss
	if s.lie.forgets {
		missed = nil
	}
	s.mu.Unlock()
	for _, ev := range missed {
		l.write(0, ev.seq, ev.name, ev.data)
	}
	s.mu.Lock()
	ss.seq++
	done := numbered{ss.seq, "RESUMED", json.RawMessage(`{"_trace":["fake"]}`)}
	ss.sent = append(ss.sent, done)
	ss.live = true
	s.noteLocked(Resumed, fmt.Sprintf("%d missed", len(missed)), "")
	s.mu.Unlock()
	l.write(0, done.seq, done.name, done.data)
	return 0
}

func (s *Server) privileged() int {
	switch s.opt.Intents {
	case 0:
		return intentPrivileged
	case -1:
		return 0
	}
	return s.opt.Intents
}

func (s *Server) socketURL() string {
	return "ws" + strings.TrimSuffix(strings.TrimPrefix(s.URL, "http"), "/api/v10") + "/gateway"
}
