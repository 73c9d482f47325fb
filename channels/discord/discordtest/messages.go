package discordtest

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func (s *Server) getMessages(w http.ResponseWriter, r *http.Request) {
	c := s.channel(w, r)
	if c == nil {
		return
	}
	if c.NoHistory {
		fail(w, 403, 50001, "Missing Access")
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if limit == 0 {
		limit = 50
	}
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	before, err := strconv.ParseUint(r.URL.Query().Get("before"), 10, 64)
	if err != nil {
		before = math.MaxUint64
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Message
	for _, m := range s.messages[c.ID] {
		if id, _ := strconv.ParseUint(m.ID, 10, 64); !m.Deleted && m.OnlyFor == "" && id > after && id < before {
			all = append(all, m)
		}
	}
	switch {
	case after > 0 && len(all) > limit:
		all = all[:limit]
	case len(all) > limit:
		all = all[len(all)-limit:]
	}
	out := []any{}
	for i := len(all) - 1; i >= 0; i-- { // newest first; no nonce, no guild, no member
		out = append(out, s.messageLocked(all[i], s.privileged(), false))
	}
	reply(w, 200, out)
}

func (s *Server) getMessage(w http.ResponseWriter, r *http.Request) {
	if m := s.message(w, r); m != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, 200, s.messageLocked(m, s.privileged(), false))
	}
}

// draft is a message as a client sends it.
type draft struct {
	Content      string
	Nonce        any
	EnforceNonce bool `json:"enforce_nonce"`
	Flags        int
	Components   json.RawMessage
	Embeds       []any
	Allowed      json.RawMessage `json:"allowed_mentions"`
	Reference    *struct {
		MessageID       string `json:"message_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

// check holds a message to Discord's rules; false when it was answered.
func (d *draft) check(w http.ResponseWriter, files int) bool {
	switch {
	case utf8.RuneCountInString(d.Content) > 2000:
		invalid(w, "content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
		return false
	case strings.TrimSpace(d.Content) == "" && len(d.Embeds) == 0 && files == 0:
		fail(w, 400, 50006, "Cannot send an empty message")
		return false
	}
	if n, ok := d.Nonce.(string); ok && utf8.RuneCountInString(n) > 25 {
		invalid(w, "nonce", "NONCE_TYPE_TOO_LONG", "Nonces must be less than or equal to 25 characters.")
		return false
	}
	return checkComponents(w, d.Components)
}

// checkComponents looks at the sizes and at ids that are there twice.
func checkComponents(w http.ResponseWriter, raw json.RawMessage) bool {
	var rows []struct {
		Type       int
		Components []struct {
			Type     int
			CustomID string `json:"custom_id"`
			Label    string
			Options  []struct{ Label, Value string }
		}
	}
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &rows) != nil {
		return true
	}
	if len(rows) > 5 {
		invalid(w, "components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
		return false
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if row.Type != 1 || len(row.Components) == 0 || len(row.Components) > 5 {
			invalid(w, "components.0", "BASE_TYPE_BAD_LENGTH", "Must be a row of 1 to 5.")
			return false
		}
		for _, c := range row.Components {
			long := utf8.RuneCountInString(c.CustomID) > 100 || utf8.RuneCountInString(c.Label) > 80 || len(c.Options) > 25 || c.Type == 3 && len(c.Options) == 0
			for _, o := range c.Options {
				long = long || o.Label == "" || utf8.RuneCountInString(o.Label) > 100 || utf8.RuneCountInString(o.Value) > 100
			}
			if long {
				invalid(w, "components.0.components.0", "BASE_TYPE_MAX_LENGTH", "Too long.")
				return false
			}
			if seen[c.CustomID] {
				invalid(w, "components.0.components.0.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated.")
				return false
			}
			seen[c.CustomID] = true
		}
	}
	return true
}

// nonceLife is how long an enforced nonce is remembered.
const nonceLife = 5 * time.Minute

func (s *Server) createMessage(w http.ResponseWriter, r *http.Request) {
	c := s.channel(w, r)
	if c == nil {
		return
	}
	files := filesOf(r)
	var d draft
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		fail(w, 400, 50109, "The request body contains invalid JSON.")
		return
	}
	switch {
	case c.Type == TypeForum:
		fail(w, 400, 50008, "Cannot send messages in a non-text channel")
		return
	case c.ReadOnly:
		fail(w, 403, 50013, "Missing Permissions")
		return
	case c.Archived:
		fail(w, 400, 50083, "Thread is archived")
		return
	case !d.check(w, len(files)):
		return
	}
	m := Message{Channel: c.ID, Author: s.Bot, Content: strings.TrimSpace(d.Content), Flags: d.Flags, Allowed: d.Allowed, Files: files}
	if string(d.Components) != "null" && string(d.Components) != "[]" {
		m.Components = d.Components
	}
	m.Nonce, _ = d.Nonce.(string)
	s.mu.Lock()
	if d.EnforceNonce && m.Nonce != "" {
		if old := s.nonces[c.ID+m.Nonce]; old != nil && !s.lie.anew && s.opt.Now().Sub(idTime(old.ID)) < nonceLife {
			defer s.mu.Unlock()
			s.noteLocked(REST, "nonce repeated", m.Nonce)
			reply(w, 200, s.messageLocked(old, s.privileged(), true))
			return
		}
	}
	if d.Reference != nil && d.Reference.MessageID != "" {
		switch to := s.findLocked(c.ID, d.Reference.MessageID); {
		case to != nil:
			m.Reference, m.Type = d.Reference.MessageID, 19
		case d.Reference.FailIfNotExists == nil || *d.Reference.FailIfNotExists:
			s.mu.Unlock()
			invalid(w, "message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
			return
		}
	}
	s.mu.Unlock()
	p := s.Post(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.EnforceNonce && m.Nonce != "" {
		s.nonces[c.ID+m.Nonce] = p
	}
	reply(w, 200, s.messageLocked(p, s.privileged(), true))
}

func (s *Server) editMessage(w http.ResponseWriter, r *http.Request) {
	m := s.message(w, r)
	if m == nil {
		return
	}
	var d struct {
		Content    *string
		Components json.RawMessage
	}
	if json.NewDecoder(r.Body).Decode(&d) != nil {
		fail(w, 400, 50109, "The request body contains invalid JSON.")
		return
	}
	if m.Author.ID != s.Bot.ID {
		fail(w, 403, 50005, "Cannot edit a message authored by another user")
		return
	}
	if d.Content != nil && !(&draft{Content: *d.Content, Components: d.Components}).check(w, len(m.Files)) {
		return
	}
	s.mu.Lock()
	if d.Content != nil {
		m.Content = strings.TrimSpace(*d.Content)
	}
	if d.Components != nil {
		m.Components = d.Components
	}
	m.Edits++
	s.stirLocked()
	wire := s.messageLocked(m, s.privileged(), true)
	s.mu.Unlock()
	s.emit("MESSAGE_UPDATE", intentGuildMessages|intentDirectMessages, func(int) any { return wire })
	reply(w, 200, wire)
}

func (s *Server) deleteMessage(w http.ResponseWriter, r *http.Request) {
	m := s.message(w, r)
	if m == nil {
		return
	}
	s.mu.Lock()
	m.Deleted = true
	s.stirLocked()
	s.mu.Unlock()
	s.emit("MESSAGE_DELETE", intentGuildMessages|intentDirectMessages, func(int) any {
		return map[string]any{"id": m.ID, "channel_id": m.Channel, "guild_id": m.Guild}
	})
	reply(w, 204, nil)
}
