package discordtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// How long Discord waits for the first answer of an interaction, and how long it
// takes further ones.
const (
	firstAnswer = 3 * time.Second
	lastAnswer  = 15 * time.Minute
)

// Interaction is a slash command or a click as the server knows it.
type Interaction struct {
	ID, Token, Channel string
	User               User
	On                 *Message // the message with the component that was used

	at       time.Time
	kind     int // Discord's type: 2 a command, 3 a component
	Answered bool
	Kind     int      // of the first answer: 4 message, 5 deferred, 6 deferred update, 7 update
	Private  bool     // the first answer is ephemeral
	original *Message // @original, nil while it is only deferred
	Removed  bool     // @original was deleted
}

// Slash uses a slash command; text is what is written behind its name.
func (s *Server) Slash(u User, c *Channel, name, text string) *Interaction {
	data := map[string]any{"id": s.newID(), "name": name, "type": 1}
	if text != "" {
		data["options"] = []any{map[string]any{"name": "text", "type": 3, "value": text}}
	}
	return s.interact(u, c, 2, data, nil)
}

// Click presses a button of a message.
func (s *Server) Click(u User, m *Message, customID string) *Interaction {
	return s.interact(u, s.channelOf(m), 3, map[string]any{"custom_id": customID, "component_type": 2}, m)
}

// Choose picks an option of a message's menu.
func (s *Server) Choose(u User, m *Message, customID, value string) *Interaction {
	return s.interact(u, s.channelOf(m), 3, map[string]any{"custom_id": customID, "component_type": 3, "values": []string{value}}, m)
}

func (s *Server) channelOf(m *Message) *Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.channels[m.Channel]
}

func (s *Server) interact(u User, c *Channel, kind int, data map[string]any, on *Message) *Interaction {
	s.mu.Lock()
	if on != nil {
		if real := s.findLocked(on.Channel, on.ID); real != nil {
			on = real // the caller may hold a copy
		}
	}
	it := &Interaction{ID: s.newIDLocked(), Token: "interaction-token-" + s.newIDLocked(), Channel: c.ID, User: u, On: on, at: s.opt.Now(), kind: kind}
	s.actions[it.Token] = it
	wire := map[string]any{
		"id": it.ID, "application_id": s.Application(), "type": kind, "token": it.Token, "version": 1, "data": data,
		"channel_id": c.ID, "channel": c.wire(), "locale": "en-US", "app_permissions": "0", "entitlements": []any{},
		"authorizing_integration_owners": map[string]any{"0": c.Guild}, "context": 0, "attachment_size_limit": 10 << 20,
	}
	if c.Guild != "" {
		member := s.memberLocked(u.ID)
		member["user"], member["permissions"] = u.wire(), "0"
		wire["guild_id"], wire["member"] = c.Guild, member
	} else {
		wire["user"], wire["context"] = u.wire(), 1
	}
	if on != nil {
		wire["message"] = s.messageLocked(on, s.privileged(), false)
	}
	s.mu.Unlock()
	s.emit("INTERACTION_CREATE", 0, func(int) any { return wire })
	return it
}

// Answer gives what the person sees as the answer: the text of @original, and
// of the further messages; seen tells whether there is any yet.
func (s *Server) Answer(it *Interaction) (text string, private, seen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.original == nil || it.Removed {
		return "", it.Private, false
	}
	return it.original.Content, it.Private, true
}

// State gives a copy of an interaction as it is now.
func (s *Server) State(it *Interaction) Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *it
}

// SeenOnlyBy gives the ephemeral messages that one person sees.
func (s *Server) SeenOnlyBy(u User) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, list := range s.messages {
		for _, m := range list {
			if m.OnlyFor == u.ID && !m.Deleted {
				all = append(all, *m)
			}
		}
	}
	return all
}

func (s *Server) callback(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Type int
		Data *draft
	}
	if json.NewDecoder(r.Body).Decode(&d) != nil {
		fail(w, 400, 50109, "The request body contains invalid JSON.")
		return
	}
	s.mu.Lock()
	it := s.actions[r.PathValue("t")]
	switch {
	case it == nil || it.ID != r.PathValue("i") || !it.Answered && s.opt.Now().Sub(it.at) > firstAnswer:
		s.mu.Unlock()
		fail(w, 404, 10062, "Unknown interaction")
		return
	case it.Answered:
		s.mu.Unlock()
		fail(w, 400, 40060, "Interaction has already been acknowledged.")
		return
	case (d.Type == 6 || d.Type == 7) && it.On == nil:
		s.mu.Unlock()
		invalid(w, "type", "INTERACTION_RESPONSE_BAD", "not a component")
		return
	}
	s.mu.Unlock()
	if d.Type == 4 && (d.Data == nil || !d.Data.check(w, 0)) {
		if d.Data == nil {
			fail(w, 400, 50006, "Cannot send an empty message")
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	it.Answered, it.Kind = true, d.Type
	it.Private = d.Data != nil && d.Data.Flags&64 != 0
	switch d.Type {
	case 4:
		it.original = s.sayLocked(it, *d.Data, it.Private)
	case 6, 7:
		it.original, it.Private = it.On, it.On.OnlyFor != ""
		if d.Type == 7 && d.Data != nil {
			it.On.Content, it.On.Components = d.Data.Content, d.Data.Components
		}
	}
	s.stirLocked()
	if r.URL.Query().Get("with_response") != "true" {
		reply(w, 204, nil)
		return
	}
	told, made := map[string]any{"id": it.ID, "type": it.kind}, map[string]any{"type": d.Type}
	if it.original != nil {
		told["response_message_id"], told["response_message_ephemeral"] = it.original.ID, it.Private
		made["message"] = s.messageLocked(it.original, s.privileged(), false)
	}
	told["response_message_loading"] = d.Type == 5
	reply(w, 200, map[string]any{"interaction": told, "resource": made})
}

// sayLocked puts an answer into the channel.
func (s *Server) sayLocked(it *Interaction, d draft, private bool) *Message {
	m := &Message{ID: s.newIDLocked(), Channel: it.Channel, Author: s.Bot, Content: strings.TrimSpace(d.Content), Flags: d.Flags, Components: d.Components, Allowed: d.Allowed, webhook: true}
	if c := s.channels[it.Channel]; c != nil {
		m.Guild = c.Guild
	}
	if private {
		m.OnlyFor, m.Flags = it.User.ID, m.Flags|64
	}
	s.messages[it.Channel] = append(s.messages[it.Channel], m)
	return m
}

// hook finds the interaction of a webhook's path.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) *Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.actions[r.PathValue("t")]
	switch {
	case it == nil || !it.Answered || r.PathValue("a") != s.Application():
		fail(w, 404, 10015, "Unknown Webhook")
		return nil
	case s.opt.Now().Sub(it.at) > lastAnswer:
		fail(w, 401, 50027, "Invalid Webhook Token")
		return nil
	}
	return it
}

func (s *Server) followUp(w http.ResponseWriter, r *http.Request) {
	it := s.hook(w, r)
	if it == nil {
		return
	}
	var d draft
	if json.NewDecoder(r.Body).Decode(&d) != nil || !d.check(w, 0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var m *Message
	if it.original == nil && it.Kind == 5 && !it.Removed {
		m = s.sayLocked(it, d, it.Private) // the first one is what was deferred, whatever its flags
		it.original = m
	} else {
		m = s.sayLocked(it, d, d.Flags&64 != 0)
	}
	s.stirLocked()
	reply(w, 200, s.messageLocked(m, s.privileged(), false))
}

// hookTarget finds the message that a webhook's path means; make says that
// @original may be what was deferred.
func (s *Server) hookTarget(w http.ResponseWriter, r *http.Request, it *Interaction) *Message {
	if id := r.PathValue("m"); id != "@original" {
		if m := s.findLocked(it.Channel, id); m != nil {
			return m
		}
	} else if it.original != nil && !it.Removed {
		return it.original
	}
	fail(w, 404, 10008, "Unknown Message")
	return nil
}

func (s *Server) hookMessage(w http.ResponseWriter, r *http.Request) {
	it := s.hook(w, r)
	if it == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.hookTarget(w, r, it); m != nil {
		reply(w, 200, s.messageLocked(m, s.privileged(), false))
	}
}

func (s *Server) editHookMessage(w http.ResponseWriter, r *http.Request) {
	it := s.hook(w, r)
	if it == nil {
		return
	}
	var d draft
	if json.NewDecoder(r.Body).Decode(&d) != nil || !d.check(w, 0) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PathValue("m") == "@original" && it.original == nil && it.Kind == 5 && !it.Removed {
		it.original = s.sayLocked(it, d, it.Private)
	}
	m := s.hookTarget(w, r, it)
	if m == nil {
		return
	}
	m.Content = strings.TrimSpace(d.Content)
	if d.Components != nil {
		m.Components = d.Components
	}
	m.Edits++
	s.stirLocked()
	reply(w, 200, s.messageLocked(m, s.privileged(), false))
}

func (s *Server) deleteHookMessage(w http.ResponseWriter, r *http.Request) {
	it := s.hook(w, r)
	if it == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.PathValue("m") == "@original" {
		it.Removed = true
		if it.original != nil {
			it.original.Deleted = true
		}
	} else if m := s.findLocked(it.Channel, r.PathValue("m")); m != nil {
		m.Deleted = true
	}
	s.stirLocked()
	reply(w, 204, nil)
}

func (s *Server) getCommands(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.commands[r.PathValue("g")]
	if all == nil {
		all = []map[string]any{}
	}
	reply(w, 200, all)
}

func (s *Server) putCommands(w http.ResponseWriter, r *http.Request) {
	var all []map[string]any
	if json.NewDecoder(r.Body).Decode(&all) != nil || len(all) > 100 {
		invalid(w, "commands", "BASE_TYPE_BAD_LENGTH", "Must be 100 or fewer.")
		return
	}
	for i := range all {
		all[i]["id"], all[i]["application_id"], all[i]["version"] = s.newID(), s.Application(), "1"
	}
	s.mu.Lock()
	s.commands[r.PathValue("g")] = all
	s.stirLocked()
	s.mu.Unlock()
	reply(w, 200, all)
}

// Commands gives the names of the slash commands, of a guild or ("") everywhere.
func (s *Server) Commands(guild string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, c := range s.commands[guild] {
		name, _ := c["name"].(string)
		names = append(names, name)
	}
	return names
}
