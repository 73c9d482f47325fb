package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Room is a conversation: im, mpim, channel or group (private).
type Room struct {
	ID       string
	Kind     string
	Members  []string
	Archived bool

	messages []*Message
}

// Message is what stands in a conversation.
type Message struct {
	TS        string              `json:"ts"`
	Thread    string              `json:"thread_ts,omitempty"`
	Type      string              `json:"type"`
	SubType   string              `json:"subtype,omitempty"`
	User      string              `json:"user,omitempty"`
	Bot       string              `json:"bot_id,omitempty"`
	App       string              `json:"app_id,omitempty"`
	Text      string              `json:"text"`
	Blocks    json.RawMessage     `json:"blocks,omitempty"`
	Metadata  json.RawMessage     `json:"metadata,omitempty"`
	Files     []map[string]any    `json:"files,omitempty"`
	Edited    bool                `json:"-"`
	Reactions map[string][]string `json:"-"` // users by emoji

	streaming bool
	only      string // ephemeral: who sees it
}

// File is a file of the workspace.
type File struct {
	ID, Name, Type string
	Data           []byte
	SignIn         bool // a download is sent to the sign-in page
}

// AddRoom makes a conversation.
func (s *Server) AddRoom(r Room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[r.ID] = &r
}

// AddFile makes a file that messages can carry.
func (s *Server) AddFile(f File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[f.ID] = &f
}

// Messages gives what stands in a conversation, in the order of its ids, with
// what only one person sees among it.
func (s *Server) Messages(room string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	if r := s.rooms[room]; r != nil {
		for _, m := range r.messages {
			c := *m
			c.Reactions = maps.Clone(m.Reactions)
			all = append(all, c)
		}
	}
	return all
}

// Posts gives what the bot wrote there, ephemeral messages apart.
func (s *Server) Posts(room string) []Message {
	return slices.DeleteFunc(s.Messages(room), func(m Message) bool { return m.Bot != BotID || m.only != "" })
}

// Whispers gives the ephemeral messages that a person sees there.
func (s *Server) Whispers(room, user string) []Message {
	return slices.DeleteFunc(s.Messages(room), func(m Message) bool { return m.only != user })
}

// Read gives a message as a person reads it: its blocks, or its text where it
// has none.
func (m Message) Read() string {
	var blocks []struct {
		Type string
		Text json.RawMessage
	}
	if len(m.Blocks) == 0 || json.Unmarshal(m.Blocks, &blocks) != nil || len(blocks) == 0 {
		return m.Text
	}
	var parts []string
	for _, b := range blocks {
		var text string
		var object struct{ Text string }
		if json.Unmarshal(b.Text, &text) == nil && text != "" {
			parts = append(parts, text)
		} else if json.Unmarshal(b.Text, &object) == nil && object.Text != "" {
			parts = append(parts, object.Text)
		}
	}
	if len(parts) == 0 {
		return m.Text
	}
	return strings.Join(parts, "\n")
}

// Seen gives the bot's posts in a conversation as people read them, by line.
func (s *Server) Seen(room string) string {
	var all []string
	for _, m := range s.Posts(room) {
		all = append(all, m.Read())
	}
	return strings.Join(all, "\n")
}

// Status gives the assistant status line of a thread.
func (s *Server) Status(room, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status[room+"/"+thread]
}

func (r *Room) message(ts string) *Message {
	for _, m := range r.messages {
		if m.TS == ts && m.only == "" {
			return m
		}
	}
	return nil
}

func (r *Room) remove(ts string) {
	r.messages = slices.DeleteFunc(r.messages, func(m *Message) bool { return m.TS == ts })
}

func (r *Room) has(user string) bool { return slices.Contains(r.Members, user) }
