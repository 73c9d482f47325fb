package slacktest

import (
	"encoding/json"
	"net/http"
	"slices"
)

// Say is a message by a person: in a room, in a thread of it, with files, or of
// another subtype. Extra is laid over the event as Slack would send it.
type Say struct {
	Room, User, Text string
	Thread           string
	SubType          string
	Bot              string // written by another bot with this id
	Files            []string
	TS               string // "" the next
	Extra            map[string]any
	MentionFirst     bool // the app_mention comes before the message
}

// Say lets somebody write a message, and tells the app: as message, and as
// app_mention too where it names the bot in a channel. It gives the message's id.
func (s *Server) Say(in Say) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[in.Room]
	if r == nil {
		return ""
	}
	m := &Message{Type: "message", SubType: in.SubType, User: in.User, Bot: in.Bot, Text: in.Text, Thread: in.Thread, TS: in.TS}
	if m.TS == "" {
		m.TS = s.tsLocked()
	}
	if m.Thread != "" {
		if root := r.message(m.Thread); root != nil && m.Thread != m.TS {
			root.Thread = m.Thread
		}
	}
	for _, id := range in.Files {
		m.SubType = "file_share"
		m.Files = append(m.Files, s.fileLocked(id))
	}
	r.messages = append(r.messages, m)
	mention := func() {
		if mentions(in.Text) && r.Kind != "im" {
			ev := map[string]any{"type": "app_mention", "user": m.User, "text": m.Text, "ts": m.TS, "channel": r.ID, "event_ts": m.TS}
			if m.Thread != "" {
				ev["thread_ts"] = m.Thread
			}
			s.eventLocked(ev)
		}
	}
	if in.MentionFirst {
		mention()
	}
	s.tellLocked(r, m, in.Extra)
	if !in.MentionFirst {
		mention()
	}
	return m.TS
}

// Tell tells the app an event as it is, such as one of an unknown type.
func (s *Server) Tell(inner map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eventLocked(inner)
}

// TellRaw tells the app a whole payload as it is.
func (s *Server) TellRaw(payload map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := json.Marshal(payload)
	s.queueLocked(s.serialLocked("Ev"), "events_api", raw)
}

// hook is a response URL: five answers within half an hour.
type hook struct {
	room, user string
	left       int
}

// triggerLocked makes a trigger and a response URL.
func (s *Server) triggerLocked(room, user string) (trigger, response string) {
	trigger = s.serialLocked("trigger.")
	s.triggers[trigger] = s.now()
	id := s.serialLocked("hook")
	s.hooks[id] = hook{room, user, 5}
	return trigger, s.URL + "/hook/" + id
}

// Slash lets somebody use a slash command. It gives the trigger's id.
func (s *Server) Slash(room, user, command, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	trigger, response := s.triggerLocked(room, user)
	name := "general"
	if r := s.rooms[room]; r == nil || r.Kind == "im" {
		name = "directmessage"
	}
	payload, _ := json.Marshal(map[string]string{
		"command": command, "text": text, "user_id": user, "user_name": "someone", "channel_id": room, "channel_name": name,
		"team_id": Team, "api_app_id": App, "trigger_id": trigger, "response_url": response,
	})
	s.queueLocked(s.serialLocked("Ev"), "slash_commands", payload)
	return trigger
}

// Press lets somebody use the n-th choice of a message: a button, or an option
// of its menus. It reports false when there is none.
func (s *Server) Press(room, ts, user string, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[room]
	if r == nil {
		return false
	}
	i := slices.IndexFunc(r.messages, func(m *Message) bool { return m.TS == ts })
	if i < 0 {
		return false
	}
	m := r.messages[i]
	var blocks []struct {
		Type     string
		BlockID  string `json:"block_id"`
		Elements []struct {
			Type     string
			ActionID string `json:"action_id"`
			Value    string
			Options  []struct{ Value string }
		}
	}
	_ = json.Unmarshal(m.Blocks, &blocks)
	for _, b := range blocks {
		for _, e := range b.Elements {
			act := map[string]any{"action_id": e.ActionID, "block_id": b.BlockID, "type": e.Type, "action_ts": s.tsLocked()}
			if e.Type == "button" {
				if n > 0 {
					n--
					continue
				}
				act["value"] = e.Value
			} else {
				if n >= len(e.Options) {
					n -= len(e.Options)
					continue
				}
				act["selected_option"] = map[string]any{"value": e.Options[n].Value}
			}
			trigger, response := s.triggerLocked(room, user)
			container := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": room, "is_ephemeral": m.only != ""}
			message := map[string]any{"ts": m.TS}
			if m.Thread != "" {
				container["thread_ts"], message["thread_ts"] = m.Thread, m.Thread
			}
			payload, _ := json.Marshal(map[string]any{
				"type": "block_actions", "api_app_id": App, "team": map[string]any{"id": Team}, "trigger_id": trigger,
				"response_url": response, "user": map[string]any{"id": user, "username": "someone"},
				"channel": map[string]any{"id": room}, "container": container, "message": message, "actions": []any{act},
			})
			s.queueLocked(s.serialLocked("Ev"), "interactive", payload)
			return true
		}
	}
	return false
}

// serveHook takes an answer over a response URL.
func (s *Server) serveHook(w http.ResponseWriter, r *http.Request) {
	_, in := readArgs(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Method: "response_url", Form: in, At: s.now()})
	h, ok := s.hooks[r.PathValue("id")]
	if !ok || h.left == 0 || s.lie.closed {
		http.Error(w, "used_url", http.StatusNotFound)
		return
	}
	h.left--
	s.hooks[r.PathValue("id")] = h
	m := &Message{Type: "message", User: BotUser, Bot: BotID, Thread: in["thread_ts"]}
	if in["response_type"] != "in_channel" {
		m.only = h.user
	}
	if in["blocks"] == "null" {
		delete(in, "blocks")
	}
	delete(in, "metadata")
	if code := compose(in, m); code != "" {
		writeJSON(w, map[string]any{"ok": false, "error": code})
		return
	}
	m.TS = s.tsLocked()
	if room := s.rooms[h.room]; room != nil {
		room.messages = append(room.messages, m)
	}
	s.stirLocked()
	_, _ = w.Write([]byte("ok"))
}

// Edit lets the author change a message; the app is told.
func (s *Server) Edit(room, ts, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[room]
	if r == nil {
		return
	}
	if m := r.message(ts); m != nil {
		m.Text, m.Edited = text, true
		s.changedLocked(r, m)
	}
}

// Remove takes a message out of a conversation, such as the root of a thread.
func (s *Server) Remove(room, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[room].remove(ts)
}
