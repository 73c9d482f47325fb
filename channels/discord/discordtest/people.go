package discordtest

import (
	"encoding/json"
	"strings"
)

// Guild is a server of Discord's.
type Guild struct {
	ID, Name string
	BotRole  string // the bot's own role
	s        *Server
}

// Channel is a conversation: a room, a thread, a direct chat, a forum.
type Channel struct {
	ID, Name string
	Type     int // Discord's channel type
	Guild    string
	Parent   string
	Owner    string
	Archived bool
	With     []string // of a direct chat: who is in it
	// ReadOnly makes posts fail with 50013, NoHistory reading with 50001.
	ReadOnly, NoHistory bool
	s                   *Server
}

// Discord's channel types.
const (
	TypeText    = 0
	TypeDM      = 1
	TypeGroupDM = 3
	TypeThread  = 11
	TypeForum   = 15
)

// Message is one that stands in a channel, or stood there.
type Message struct {
	ID, Channel, Guild, Content string
	Author                      User
	Type                        int
	Nonce                       string
	Reference                   string // id of the message that it answers
	Flags                       int
	Components                  json.RawMessage
	Allowed                     json.RawMessage // allowed_mentions
	Files                       []Attachment
	Edits                       int
	Deleted                     bool
	OnlyFor                     string // ephemeral: the one person who sees it
	webhook                     bool
	extra                       map[string]any
}

// Attachment is a file of a message.
type Attachment struct {
	ID, Name, Type string
	Size           int
	URL            string
}

// Person makes a person.
func (s *Server) Person(name string) User { return s.addUser(User{Name: name}) }

// OtherBot makes a bot that is not the client's.
func (s *Server) OtherBot(name string) User { return s.addUser(User{Name: name, IsBot: true}) }

func (s *Server) addUser(u User) User {
	u.ID = s.newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = &u
	return u
}

// GiveRole gives a person a role.
func (s *Server) GiveRole(u User) (User, string) {
	role := s.newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID].Roles = append(s.users[u.ID].Roles, role)
	return *s.users[u.ID], role
}

// NewGuild makes a server and puts the bot into it.
func (s *Server) NewGuild(name string) *Guild {
	g := &Guild{ID: s.newID(), Name: name, BotRole: s.newID(), s: s}
	s.mu.Lock()
	s.guilds[g.ID] = g
	data := s.guildLocked(g)
	s.mu.Unlock()
	s.emit("GUILD_CREATE", intentGuilds, func(int) any { return data })
	return g
}

// NewChannel makes a room.
func (g *Guild) NewChannel(name string) *Channel { return g.newChannel(name, TypeText) }

// NewForum makes a forum.
func (g *Guild) NewForum(name string) *Channel { return g.newChannel(name, TypeForum) }

func (g *Guild) newChannel(name string, kind int) *Channel {
	return g.s.addChannel(&Channel{Name: name, Type: kind, Guild: g.ID}, "CHANNEL_CREATE")
}

// NewThread makes a thread that nobody was told of, as in a server that the
// client has not read yet when quiet is true.
func (c *Channel) NewThread(owner User, name string, quiet bool) *Channel {
	event := "THREAD_CREATE"
	if quiet {
		event = ""
	}
	return c.s.addChannel(&Channel{Name: name, Type: TypeThread, Guild: c.Guild, Parent: c.ID, Owner: owner.ID}, event)
}

func (s *Server) addChannel(c *Channel, event string) *Channel {
	c.s = s
	if c.ID == "" {
		c.ID = s.newID()
	}
	s.mu.Lock()
	s.channels[c.ID] = c
	data := c.wire()
	s.mu.Unlock()
	if event != "" {
		s.emit(event, intentGuilds, func(int) any { return data })
	}
	return c
}

// DM gives the direct chat of the bot with a person, as if they had opened it.
func (s *Server) DM(u User) *Channel {
	s.mu.Lock()
	for _, c := range s.channels {
		if c.Type == TypeDM && len(c.With) == 1 && c.With[0] == u.ID {
			s.mu.Unlock()
			return c
		}
	}
	s.mu.Unlock()
	return s.addChannel(&Channel{Type: TypeDM, With: []string{u.ID}}, "")
}

// GroupDM makes a chat of several people without a server.
func (s *Server) GroupDM(all ...User) *Channel {
	c := &Channel{Type: TypeGroupDM}
	for _, u := range all {
		c.With = append(c.With, u.ID)
	}
	return s.addChannel(c, "")
}

// Mention writes a mention of a user.
func (u User) Mention() string { return "<@" + u.ID + ">" }

// Say writes a message.
func (s *Server) Say(u User, c *Channel, text string) *Message {
	return s.Post(Message{Author: u, Channel: c.ID, Content: text})
}

// Reply writes an answer to a message.
func (s *Server) Reply(u User, to *Message, text string) *Message {
	return s.Post(Message{Author: u, Channel: to.Channel, Content: text, Reference: to.ID, Type: 19})
}

// Attach writes a message with a file.
func (s *Server) Attach(u User, c *Channel, text, name string, data []byte) *Message {
	return s.Post(Message{Author: u, Channel: c.ID, Content: text, Files: []Attachment{s.keep(name, "application/octet-stream", data)}})
}

// keep stores a file and gives the attachment that points to it.
func (s *Server) keep(name, kind string, data []byte) Attachment {
	id := s.newID()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[id] = data
	return Attachment{ID: id, Name: name, Type: kind, Size: len(data), URL: strings.TrimSuffix(s.URL, "/api/v10") + "/attachments/" + id + "/" + name}
}

// Post puts a message into its channel and tells the gateway.
func (s *Server) Post(m Message) *Message {
	s.mu.Lock()
	if m.ID == "" {
		m.ID = s.newIDLocked()
	}
	if c := s.channels[m.Channel]; c != nil {
		m.Guild = c.Guild
	}
	p := &m
	s.messages[m.Channel] = append(s.messages[m.Channel], p)
	s.stirLocked()
	s.mu.Unlock()
	s.Redeliver(p)
	return p
}

// Quietly puts a message into its channel without an event: it was said while
// the client had no session.
func (s *Server) Quietly(u User, c *Channel, text string) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{ID: s.newIDLocked(), Channel: c.ID, Guild: c.Guild, Author: u, Content: text}
	s.messages[c.ID] = append(s.messages[c.ID], m)
	return m
}

// Redeliver sends a message's MESSAGE_CREATE, again if it was sent before.
func (s *Server) Redeliver(m *Message) {
	intent := intentGuildMessages
	if m.Guild == "" {
		intent = intentDirectMessages
	}
	if m.OnlyFor != "" {
		return // what one person sees is no event
	}
	s.emit("MESSAGE_CREATE", intent, func(intents int) any {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.messageLocked(m, intents, true)
	})
}

// Garbage sends an event that makes no sense.
func (s *Server) Garbage(event string, data any) { s.emit(event, 0, func(int) any { return data }) }

// Odd adds fields to a message's wire form that a client may not know.
func (s *Server) Odd(u User, c *Channel, text string, extra map[string]any) *Message {
	return s.Post(Message{Author: u, Channel: c.ID, Content: text, extra: extra})
}

func (s *Server) findLocked(channel, id string) *Message {
	for _, m := range s.messages[channel] {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

// Posts gives what the bot says in a channel, as it stands there now.
func (s *Server) Posts(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, m := range s.messages[channel] {
		if m.Author.ID == s.Bot.ID && !m.Deleted {
			all = append(all, *m)
		}
	}
	return all
}

// Find gives a message as it is now.
func (s *Server) Find(channel, id string) (Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.findLocked(channel, id); m != nil {
		return *m, true
	}
	return Message{}, false
}

// Channels gives the channels of a type.
func (s *Server) Channels(kind int) []Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Channel
	for _, c := range s.channels {
		if c.Type == kind {
			all = append(all, *c)
		}
	}
	return all
}

// Reacted tells whether the bot's reaction stands on a message.
func (s *Server) Reacted(m *Message, emoji string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reactions[m.Channel+"/"+m.ID][emoji]
}

// FilesIn gives what the bot's files in a channel are, as "name: content", in
// the order they were posted.
func (s *Server) FilesIn(channel string) (all []string) {
	for _, m := range s.Posts(channel) {
		for _, f := range m.Files {
			s.mu.Lock()
			all = append(all, f.Name+": "+string(s.files[f.ID]))
			s.mu.Unlock()
		}
	}
	return all
}
