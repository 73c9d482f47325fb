package slacktest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// lie is one way in which this stand-in could be wrong about Slack. It is told
// on purpose, to see that an official client notices: a fault that none would
// notice could stand here for good, and our adapter would be built on it
// (scripts/official-clients).
type lie struct {
	frame  func(frame map[string]any) bool                     // changes a frame of the socket; false: it is not sent
	answer func(method string, out answer, header http.Header) // changes an answer of the Web API
	signed func(header http.Header)                            // changes a request of http mode
	deaf   bool                                                // acknowledgements are lost
	mute   bool                                                // no PING is sent
	idle   bool                                                // no PING is answered
	burnt  bool                                                // tickets are used up when they are given
	closed bool                                                // response URLs are worthless
}

// without lets frames of some types lack a field.
func without(field string, types ...string) func(map[string]any) bool {
	return func(f map[string]any) bool {
		if kind, _ := f["type"].(string); slices.Contains(types, kind) {
			delete(f, field)
		}
		return true
	}
}

// lacking lets the answers of a method lack a field.
func lacking(field, method string) func(string, answer, http.Header) {
	return func(m string, out answer, _ http.Header) {
		if m == method {
			delete(out, field)
		}
	}
}

// renamed gives frames of a type another type.
func renamed(from, to string) func(map[string]any) bool {
	return func(f map[string]any) bool {
		if f["type"] == from {
			f["type"] = to
		}
		return true
	}
}

var lies = map[string]lie{
	"no-hello":             {frame: func(f map[string]any) bool { return f["type"] != "hello" }},
	"no-ping":              {mute: true},
	"no-pong":              {idle: true},
	"burnt-ticket":         {burnt: true},
	"no-envelope-id":       {frame: without("envelope_id", "events_api", "slash_commands", "interactive")},
	"same-envelope-id":     {frame: oneEnvelope},
	"no-retry-attempt":     {frame: without("retry_attempt", "events_api")},
	"lost-acks":            {deaf: true},
	"command-misnamed":     {frame: renamed("slash_commands", "slash_command")},
	"press-misnamed":       {frame: renamed("interactive", "block_actions")},
	"no-answer-wanted":     {frame: without("accepts_response_payload", "slash_commands")},
	"disconnect-misnamed":  {frame: renamed("disconnect", "goodbye")},
	"always-ok":            {answer: func(_ string, out answer, _ http.Header) { out["ok"] = true; delete(out, "error") }},
	"never-ok":             {answer: func(_ string, out answer, _ http.Header) { out["ok"] = false }},
	"nameless-error":       {answer: func(_ string, out answer, _ http.Header) { delete(out, "error") }},
	"post-without-channel": {answer: lacking("channel", "chat.postMessage")},
	"post-without-ts":      {answer: lacking("ts", "chat.postMessage")},
	"no-next-cursor":       {answer: lacking("response_metadata", "conversations.replies")},
	"no-scopes":            {answer: func(_ string, _ answer, h http.Header) { h.Del("X-OAuth-Scopes") }},
	"no-retry-after":       {answer: func(_ string, _ answer, h http.Header) { h.Del("Retry-After") }},
	"no-file-id":           {answer: lacking("file_id", "files.getUploadURLExternal")},
	"no-signature":         {signed: func(h http.Header) { h.Del("X-Slack-Signature") }},
	"wrong-signature":      {signed: func(h http.Header) { h.Set("X-Slack-Signature", Sign("0", nil)) }},
	"late-stamp":           {signed: func(h http.Header) { h.Set("X-Slack-Request-Timestamp", "1") }},
	"no-retry-num":         {signed: func(h http.Header) { h.Del("X-Slack-Retry-Num") }},
	"closed-response-url":  {closed: true},
}

// oneEnvelope lets everything travel under one envelope id.
func oneEnvelope(f map[string]any) bool {
	if f["envelope_id"] != nil {
		f["envelope_id"] = "env-000000"
	}
	return true
}

// Lies gives the names that Lie takes, in order.
func Lies() []string { return slices.Sorted(maps.Keys(lies)) }

// Lie makes the workspace wrong in one way from now on; "" makes it honest. It
// is to be called before anybody connects.
func (s *Server) Lie(name string) error {
	l, known := lies[name]
	if !known && name != "" {
		return fmt.Errorf("no such lie: %s", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lie = l
	return nil
}
