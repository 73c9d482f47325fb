package slacktest

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// What Slack takes in one message.
const (
	maxMarkdown = 12000 // characters of all Markdown blocks together
	maxMessage  = 13200 // characters of all blocks together
	maxText     = 40000
	maxUpdate   = 4000 // bytes of the text of chat.update
	maxBlocks   = 50
)

// compose reads and judges the content of a message.
func compose(in args, m *Message) string {
	m.Text = in["text"]
	if utf8.RuneCountInString(m.Text) > maxText {
		return "msg_too_long"
	}
	if raw := in["blocks"]; raw != "" {
		if code := judgeBlocks(raw); code != "" {
			return code
		}
		m.Blocks = json.RawMessage(raw)
	}
	if text := in["markdown_text"]; text != "" {
		if m.Text != "" || m.Blocks != nil {
			return "markdown_text_conflict"
		}
		if utf8.RuneCountInString(text) > maxMarkdown {
			return "msg_too_long"
		}
		m.Text = text
	}
	if m.Text == "" && (m.Blocks == nil || string(m.Blocks) == "[]") {
		return "no_text"
	}
	if raw := in["metadata"]; raw != "" {
		var meta struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		if json.Unmarshal([]byte(raw), &meta) != nil {
			return "invalid_metadata_format"
		}
		if meta.Type == "" || meta.Payload == nil {
			return "invalid_metadata_schema"
		}
		m.Metadata = json.RawMessage(raw)
	}
	return ""
}

// judgeBlocks holds the limits of blocks that we meet.
func judgeBlocks(raw string) string {
	var blocks []struct {
		Type     string
		BlockID  string `json:"block_id"`
		Text     json.RawMessage
		Elements []struct {
			Type     string
			ActionID string `json:"action_id"`
			Text     struct{ Text string }
			Value    string
			Options  []struct {
				Text  struct{ Text string }
				Value string
			}
		}
	}
	if json.Unmarshal([]byte(raw), &blocks) != nil || len(blocks) > maxBlocks {
		return "invalid_blocks"
	}
	markdown, total, ids := 0, 0, map[string]bool{}
	for _, b := range blocks {
		var text string
		_ = json.Unmarshal(b.Text, &text)
		n := utf8.RuneCountInString(text)
		total += n
		switch b.Type {
		case "markdown":
			if markdown += n; n == 0 || markdown > maxMarkdown {
				return "invalid_blocks"
			}
		case "section", "divider", "header", "context":
		case "actions":
			if len(b.Elements) == 0 || len(b.Elements) > 25 || len(b.BlockID) > 255 {
				return "invalid_blocks"
			}
			for _, e := range b.Elements {
				long := utf8.RuneCountInString(e.Text.Text) > 75 || utf8.RuneCountInString(e.Value) > 2000
				if e.ActionID == "" || ids[e.ActionID] || long || len(e.Options) > 100 || e.Type == "static_select" && len(e.Options) == 0 {
					return "invalid_blocks"
				}
				ids[e.ActionID] = true
				for _, o := range e.Options {
					if o.Value == "" || utf8.RuneCountInString(o.Value) > 150 || utf8.RuneCountInString(o.Text.Text) > 75 {
						return "invalid_blocks"
					}
				}
			}
		default:
			return "invalid_blocks"
		}
	}
	if total > maxMessage {
		return "msg_blocks_too_long"
	}
	return ""
}

// placeLocked finds the conversation that a post may go to.
func (s *Server) place(in args) (*Room, string) {
	r := s.rooms[in["channel"]]
	switch {
	case r == nil:
		return nil, "channel_not_found"
	case r.Archived:
		return nil, "is_archived"
	case !r.has(BotUser):
		return nil, "not_in_channel"
	}
	if thread := in["thread_ts"]; thread != "" && r.message(thread) == nil {
		return nil, "thread_not_found"
	}
	return r, ""
}

func (s *Server) postMessage(in args) (answer, string) {
	r, code := s.place(in)
	if code != "" {
		return nil, code
	}
	m := &Message{Type: "message", User: BotUser, Bot: BotID, App: App, Thread: in["thread_ts"]}
	if code := compose(in, m); code != "" {
		return nil, code
	}
	m.TS = s.tsLocked()
	r.messages = append(r.messages, m)
	if m.Thread != "" {
		r.message(m.Thread).Thread = m.Thread // its root is one now
		delete(s.status, r.ID+"/"+m.Thread)   // Slack ends the status line with a post
	}
	s.tellLocked(r, m, nil) // apps hear their own posts
	return answer{"channel": r.ID, "ts": m.TS, "message": m}, ""
}

func (s *Server) postEphemeral(in args) (answer, string) {
	r, code := s.place(in)
	switch {
	case code != "":
		return nil, code
	case !r.has(in["user"]):
		return nil, "user_not_in_channel"
	}
	m := &Message{Type: "message", User: BotUser, Bot: BotID, Thread: in["thread_ts"], only: in["user"]}
	if code := compose(in, m); code != "" {
		return nil, code
	}
	m.TS = s.tsLocked()
	r.messages = append(r.messages, m)
	return answer{"message_ts": m.TS}, ""
}

// own finds a message that the bot may change.
func (s *Server) own(in args, refused string) (*Room, *Message, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, nil, "channel_not_found"
	}
	m := r.message(in["ts"])
	switch {
	case m == nil:
		return nil, nil, "message_not_found"
	case m.Bot != BotID:
		return nil, nil, refused
	}
	return r, m, ""
}

func (s *Server) update(in args) (answer, string) {
	r, m, code := s.own(in, "cant_update_message")
	if code != "" {
		return nil, code
	}
	if m.streaming {
		return nil, "streaming_state_conflict"
	}
	if len(in["text"]) > maxUpdate {
		return nil, "msg_too_long"
	}
	was := *m
	if code := compose(in, &was); code != "" {
		return nil, code
	}
	*m = was
	m.Edited = true
	s.changedLocked(r, m)
	return answer{"channel": r.ID, "ts": m.TS, "text": m.Text, "message": m}, ""
}

func (s *Server) delete(in args) (answer, string) {
	r, m, code := s.own(in, "cant_delete_message")
	if code != "" {
		return nil, code
	}
	r.remove(m.TS)
	s.eventLocked(map[string]any{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": r.ID, "channel_type": r.Kind,
		"deleted_ts": m.TS, "ts": s.tsLocked(), "previous_message": m,
	})
	return answer{"channel": r.ID, "ts": m.TS}, ""
}

func (s *Server) startStream(in args) (answer, string) {
	r, code := s.place(in)
	switch {
	case code != "":
		return nil, code
	case in["thread_ts"] == "":
		return nil, "missing_thread_ts"
	}
	m := &Message{Type: "message", User: BotUser, Bot: BotID, Thread: in["thread_ts"], Text: in["markdown_text"], TS: s.tsLocked(), streaming: true}
	r.messages = append(r.messages, m)
	return answer{"channel": r.ID, "ts": m.TS}, ""
}

func (s *Server) appendStream(in args) (answer, string) {
	r, m, code := s.own(in, "message_not_owned_by_app")
	switch {
	case code != "":
		return nil, code
	case !m.streaming:
		return nil, "message_not_in_streaming_state"
	}
	m.Text += in["markdown_text"]
	return answer{"channel": r.ID, "ts": m.TS}, ""
}

func (s *Server) stopStream(in args) (answer, string) {
	r, m, code := s.own(in, "message_not_owned_by_app")
	switch {
	case code != "":
		return nil, code
	case !m.streaming:
		return nil, "message_not_in_streaming_state"
	}
	m.streaming = false
	m.Text += in["markdown_text"]
	if raw := in["metadata"]; raw != "" {
		m.Metadata = json.RawMessage(raw)
	}
	return answer{"channel": r.ID, "ts": m.TS, "message": m}, ""
}

// window gives the messages between oldest and latest.
func window(all []*Message, in args) []*Message {
	return slices.DeleteFunc(slices.Clone(all), func(m *Message) bool {
		if m.only != "" {
			return true
		}
		if o := in["oldest"]; o != "" && (m.TS < o || m.TS == o && !isTrue(in["inclusive"])) {
			return true
		}
		l := in["latest"]
		return l != "" && (m.TS > l || m.TS == l && !isTrue(in["inclusive"]))
	})
}

func isTrue(v string) bool { return v == "true" || v == "1" }

// pageOf cuts a page out of messages; the cursor is the next offset.
func pageOf(all []*Message, in args) answer {
	limit, _ := strconv.Atoi(in["limit"])
	if limit <= 0 {
		limit = 100
	}
	from, _ := strconv.Atoi(in["cursor"])
	from = min(from, len(all))
	to := min(from+limit, len(all))
	page := make([]Message, 0, to-from)
	for _, m := range all[from:to] {
		c := *m
		if !isTrue(in["include_all_metadata"]) {
			c.Metadata = nil
		}
		page = append(page, c)
	}
	out := answer{"messages": page, "has_more": to < len(all)}
	if to < len(all) {
		out["response_metadata"] = map[string]string{"next_cursor": strconv.Itoa(to)}
	}
	return out
}

// history gives a conversation without what stands in threads only, newest first.
func (s *Server) history(in args) (answer, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	if !r.has(BotUser) {
		return nil, "not_in_channel"
	}
	all := slices.DeleteFunc(window(r.messages, in), func(m *Message) bool {
		return m.Thread != "" && m.Thread != m.TS && m.SubType != "thread_broadcast"
	})
	slices.Reverse(all)
	return pageOf(all, in), ""
}

// replies gives a thread, its root first; of a reply's id that reply alone.
func (s *Server) replies(in args) (answer, string) {
	r := s.rooms[in["channel"]]
	if r == nil {
		return nil, "channel_not_found"
	}
	root := r.message(in["ts"])
	if root == nil {
		return nil, "thread_not_found"
	}
	if root.Thread != "" && root.Thread != root.TS {
		return pageOf([]*Message{root}, in), ""
	}
	all := slices.DeleteFunc(window(r.messages, in), func(m *Message) bool { return m.Thread != root.TS && m.TS != root.TS })
	if len(all) == 0 || all[0].TS != root.TS { // the root comes whatever the window is
		all = append([]*Message{root}, all...)
	}
	return pageOf(all, in), ""
}
