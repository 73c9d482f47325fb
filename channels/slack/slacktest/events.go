package slacktest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Event is something that the app is told: an event, a command, an interaction.
type Event struct {
	ID       string // event_id; stays through every repeat
	Kind     string // events_api, slash_commands, interactive
	Payload  json.RawMessage
	Attempts int  // times it was sent
	Acked    bool // the app has it
	GaveUp   bool // after the fourth attempt

	envelopes []string // ids it was sent under
	busy      bool
}

// Ack is an acknowledgement that came in.
type Ack struct {
	Envelope, Event string
	Again           bool // of an event that had been acknowledged
	Payload         json.RawMessage
}

// maxAttempts is how often Slack sends an event before it gives it up.
const maxAttempts = 4

// Events gives what the app was told so far.
func (s *Server) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Event
	for _, e := range s.events {
		all = append(all, *e)
	}
	return all
}

// Acks gives the acknowledgements so far.
func (s *Server) Acks() []Ack {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acks)
}

// Unacked counts the events that the app was told and has not acknowledged.
func (s *Server) Unacked() int {
	n := 0
	for _, e := range s.Events() {
		if !e.Acked {
			n++
		}
	}
	return n
}

// Webhook switches to http mode: events are posted to this URL, signed.
func (s *Server) Webhook(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = target
}

// tellLocked tells the app of a message. Extra is laid over the event; nil
// takes a field away.
func (s *Server) tellLocked(r *Room, m *Message, extra map[string]any) {
	ev := map[string]any{}
	raw, _ := json.Marshal(m)
	_ = json.Unmarshal(raw, &ev)
	delete(ev, "metadata")
	ev["channel"], ev["event_ts"] = r.ID, m.TS
	ev["channel_type"] = r.Kind
	if m.Thread != "" && m.Thread != m.TS {
		if root := r.message(m.Thread); root != nil {
			ev["parent_user_id"] = root.User
		}
	}
	if m.Bot == "" {
		ev["client_msg_id"] = s.serialLocked("client-")
	}
	maps.Copy(ev, extra)
	maps.DeleteFunc(ev, func(_ string, v any) bool { return v == nil })
	s.eventLocked(ev)
}

func (s *Server) changedLocked(r *Room, m *Message) {
	s.eventLocked(map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": r.ID, "channel_type": r.Kind,
		"ts": s.tsLocked(), "message": m,
	})
}

// eventLocked tells the app an inner event.
func (s *Server) eventLocked(inner map[string]any) {
	id := s.serialLocked("Ev")
	payload, _ := json.Marshal(map[string]any{
		"token": "unused", "team_id": Team, "api_app_id": App, "type": "event_callback", "event_id": id,
		"event_time": s.now().Unix(), "event": inner,
		"authorizations": []any{map[string]any{"team_id": Team, "user_id": BotUser, "is_bot": true}},
	})
	s.queueLocked(id, "events_api", payload)
}

func (s *Server) queueLocked(id, kind string, payload []byte) {
	s.events = append(s.events, &Event{ID: id, Kind: kind, Payload: payload})
	s.flushLocked()
}

// flushLocked sends what has not been sent yet.
func (s *Server) flushLocked() {
	for _, e := range s.events {
		if e.Attempts == 0 && !e.busy {
			s.sendLocked(e)
		}
	}
}

// sendLocked sends an event once, to one of the sockets or to the webhook, and
// sees to it that it is sent again if nobody acknowledges it.
func (s *Server) sendLocked(e *Event) {
	if s.webhook != "" {
		e.busy = true
		e.Attempts++
		go s.post(e, s.webhook, e.Attempts-1)
		return
	}
	ready := s.readyLocked()
	if len(ready) == 0 {
		return // it is sent when a socket comes
	}
	l := ready[s.serial%len(ready)]
	envelope := s.serialLocked("env-")
	e.envelopes = append(e.envelopes, envelope)
	e.Attempts++
	frame := map[string]any{
		"type": e.Kind, "envelope_id": envelope, "payload": e.Payload, "accepts_response_payload": e.Kind != "events_api",
	}
	if e.Attempts > 1 {
		frame["retry_attempt"], frame["retry_reason"] = e.Attempts-1, "timeout"
	}
	s.stirLocked()
	l.send(frame)
	if e.Kind == "events_api" { // commands and buttons are not sent again
		time.AfterFunc(s.ResendAfter, func() { s.again(e) })
	}
}

// again sends an event that was not acknowledged in time.
func (s *Server) again(e *Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		return
	default:
	}
	switch {
	case e.Acked || e.GaveUp:
	case e.Attempts >= s.Patience:
		e.GaveUp = true
		s.stirLocked()
	case s.webhook == "" && len(s.readyLocked()) == 0:
		time.AfterFunc(s.ResendAfter, func() { s.again(e) })
	default:
		s.sendLocked(e)
	}
}

func (s *Server) ackLocked(envelope string, payload json.RawMessage) bool {
	if s.lie.deaf {
		return true
	}
	for _, e := range s.events {
		if slices.Contains(e.envelopes, envelope) {
			s.acks = append(s.acks, Ack{envelope, e.ID, e.Acked, payload})
			e.Acked = true
			return true
		}
	}
	return false
}

// Repeat sends the last event once more, under a new envelope and the same id.
func (s *Server) Repeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.events); n > 0 {
		s.sendLocked(s.events[n-1])
	}
}

// post makes one request of http mode; n counts the repeats.
func (s *Server) post(e *Event, target string, n int) {
	header := map[string]string{}
	if n > 0 {
		header["X-Slack-Retry-Num"], header["X-Slack-Retry-Reason"] = fmt.Sprint(n), "http_timeout"
	}
	body, kind := []byte(e.Payload), "application/json"
	switch e.Kind {
	case "interactive":
		body, kind = []byte(url.Values{"payload": {string(e.Payload)}}.Encode()), "application/x-www-form-urlencoded"
	case "slash_commands":
		var fields map[string]string
		_ = json.Unmarshal(e.Payload, &fields)
		form := url.Values{}
		for k, v := range fields {
			form.Set(k, v)
		}
		body, kind = []byte(form.Encode()), "application/x-www-form-urlencoded"
	}
	resp, err := s.Request(target, kind, body, header)
	ok := err == nil && resp.StatusCode == http.StatusOK
	if err == nil {
		_ = resp.Body.Close()
	}
	s.mu.Lock()
	e.busy = false
	if ok {
		e.Acked = true
	}
	s.stirLocked()
	s.mu.Unlock()
	if !ok && e.Kind == "events_api" {
		time.AfterFunc(s.ResendAfter, func() { s.again(e) })
	}
}

// Request posts a body to a webhook as Slack does, signed; a header given here
// goes over the right one.
func (s *Server) Request(target, contentType string, body []byte, header map[string]string) (*http.Response, error) {
	s.mu.Lock()
	stamp := fmt.Sprint(s.now().Add(s.Skew).Unix())
	wrong := s.lie.signed
	s.mu.Unlock()
	req, err := http.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", Sign(stamp, body))
	for k, v := range header {
		req.Header.Set(k, v)
	}
	if wrong != nil {
		wrong(req.Header)
	}
	c := http.Client{Timeout: 3 * time.Second}
	return c.Do(req)
}

// Sign makes Slack's signature of a body.
func Sign(stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(Signing))
	_, _ = fmt.Fprintf(mac, "v0:%s:", stamp)
	_, _ = mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// mentions tells whether a text names the bot.
func mentions(text string) bool { return strings.Contains(text, "<@"+BotUser+">") }
