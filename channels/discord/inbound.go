package discord

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// decodeMessage reads a message. A part that discordgo cannot read, such as a
// component it does not know, must not cost the text: then only the parts that
// are needed are read.
func decodeMessage(raw json.RawMessage) (*discordgo.Message, error) {
	m := &discordgo.Message{}
	if err := json.Unmarshal(raw, m); err != nil {
		var parts map[string]json.RawMessage
		if json.Unmarshal(raw, &parts) != nil {
			return nil, err
		}
		m = &discordgo.Message{}
		for name, into := range map[string]any{
			"id": &m.ID, "channel_id": &m.ChannelID, "guild_id": &m.GuildID, "content": &m.Content, "author": &m.Author,
			"member": &m.Member, "mentions": &m.Mentions, "mention_roles": &m.MentionRoles, "type": &m.Type,
			"timestamp": &m.Timestamp, "webhook_id": &m.WebhookID, "attachments": &m.Attachments, "message_reference": &m.MessageReference,
		} {
			if part, ok := parts[name]; ok {
				_ = json.Unmarshal(part, into) // what cannot be read stays empty and is looked at below
			}
		}
		if part, ok := parts["referenced_message"]; ok {
			m.ReferencedMessage, _ = decodeMessage(part)
		}
	}
	if m.ID == "" || m.ChannelID == "" || m.Author == nil || m.Author.ID == "" {
		return nil, errors.New("a message without id, channel or author")
	}
	return m, nil
}

// message takes a MESSAGE_CREATE off the gateway. Nothing here waits.
func (in *intake) message(ctx context.Context, raw json.RawMessage) {
	c := in.c
	m, err := decodeMessage(raw)
	if err != nil {
		c.log.Warn("a message cannot be read", "err", err)
		return
	}
	var more struct { // what discordgo's type leaves out
		Nonce       any
		ChannelType *discordgo.ChannelType `json:"channel_type"`
	}
	_ = json.Unmarshal(raw, &more)
	if c.me(m.Author.ID) {
		if nonce, ok := more.Nonce.(string); ok && nonce != "" {
			c.echoes.Put(nonce, m.ID, c.now())
		}
		return // [D8]
	}
	if more.ChannelType != nil && m.GuildID == "" {
		c.places.learn("", wireChannel{ID: m.ChannelID, Type: *more.ChannelType})
	}
	in.put(ctx, m.ChannelID, func(ctx context.Context) { in.take(ctx, m) })
}

// take hands a message over, once.
func (in *intake) take(ctx context.Context, m *discordgo.Message) {
	c := in.c
	if last, _ := c.last.Get(m.ChannelID, c.now()); newer(m.ID, last) {
		c.last.Put(m.ChannelID, m.ID, c.now())
	}
	if !c.seen.Add(m.ID, struct{}{}, c.now()) {
		return
	}
	if what, told := announced(m); told {
		in.report(ctx, m, what)
		return
	}
	if !isTalk(m) {
		return
	}
	msg, ok := c.inbound(ctx, m)
	if !ok {
		return
	}
	c.facts.Put(m.ID, fact{m.ChannelID, msg.Chat == channels.Direct, msg.Mentioned || msg.Implicit}, c.now())
	if !in.handOver(ctx, msg) {
		c.seen.Drop(m.ID)
	}
}

// isTalk tells whether a message is somebody's words: not a join, a pin, a
// thread's beginning, or the echo of a command [D8].
func isTalk(m *discordgo.Message) bool {
	switch m.Type {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply:
		return m.Interaction == nil && m.InteractionMetadata == nil && (m.Author == nil || !m.Author.System)
	}
	return false
}

// inbound reads the facts of a message [T1]; false when there is nothing in it.
func (c *Channel) inbound(ctx context.Context, m *discordgo.Message) (channels.Inbound, bool) {
	text := textOf(m)
	files := c.filesOf(m)
	if text == "" && len(files) == 0 {
		c.noticeSilence(m)
		return channels.Inbound{}, false
	}
	if m.GuildID != "" && m.Content != "" {
		c.silent.Store(0)
	}
	at := m.Timestamp
	if at.IsZero() {
		at = timeOf(m.ID)
	}
	msg := channels.Inbound{
		ID: m.ID, To: c.address(m.ChannelID), Chat: channels.Room, From: userOf(m.Author, m.Member), At: at,
		Bot: m.Author.Bot || m.WebhookID != "", Guild: m.GuildID, Files: files,
	}
	if m.Member != nil {
		msg.Roles = m.Member.Roles
	}
	w := c.whereabouts(ctx, m)
	msg.Parent = w.parent
	if m.GuildID == "" {
		msg.Chat = channels.Direct
		if w.kind == discordgo.ChannelTypeGroupDM {
			msg.Chat = channels.Group
		}
	}
	text, msg.Mentioned = c.withoutMention(text, m)
	msg.Text = strings.TrimSpace(text)
	msg.MentionsOthers = !msg.Mentioned && c.namesOthers(m)
	replied := m.ReferencedMessage != nil && m.ReferencedMessage.Author != nil && c.me(m.ReferencedMessage.Author.ID)
	msg.Implicit = !msg.Mentioned && (replied || w.isThread() && c.me(w.owner)) // [D6]
	if msg.Chat == channels.Direct {
		msg.Mentioned, msg.Implicit = true, false
	}
	c.opensThread(&msg, w)
	return msg, true
}

// whereabouts gives the message's conversation. When the API does not say, a
// message of a server still is one of a server.
func (c *Channel) whereabouts(ctx context.Context, m *discordgo.Message) where {
	wait := c.pace.retake / 4
	for try := 1; ; try++ {
		w, err := c.places.look(ctx, m.ChannelID)
		if err == nil {
			return w
		}
		if try == 3 || ctx.Err() != nil || statusOf(err)/100 == 4 && statusOf(err) != 429 {
			c.log.Warn("a conversation cannot be looked up", "conversation", m.ChannelID, "err", err)
			return where{id: m.ChannelID, guild: m.GuildID}
		}
		_ = channels.Sleep(ctx, wait)
		wait *= 2
	}
}

// textOf is what was said: the text, else what was forwarded, else the stickers.
func textOf(m *discordgo.Message) string {
	if text := strings.TrimSpace(m.Content); text != "" {
		return text
	}
	var said []string
	for _, s := range m.MessageSnapshots {
		if s.Message != nil && s.Message.Content != "" {
			said = append(said, "> "+strings.ReplaceAll(s.Message.Content, "\n", "\n> "))
		}
	}
	for _, s := range m.StickerItems {
		if s != nil {
			said = append(said, "[sticker: "+s.Name+"]")
		}
	}
	return strings.Join(said, "\n")
}

// withoutMention takes the bot's own mention, or that of its role, out of the
// text and tells whether there was one. @everyone is none [D6].
func (c *Channel) withoutMention(text string, m *discordgo.Message) (string, bool) {
	self := c.self.Load()
	if self == nil {
		return text, false
	}
	marks := []string{"<@" + self.user + ">", "<@!" + self.user + ">"}
	for _, role := range m.MentionRoles {
		if c.places.isOwnRole(m.GuildID, role) {
			marks = append(marks, "<@&"+role+">")
		}
	}
	bare := text
	for _, mark := range marks {
		bare = strings.ReplaceAll(bare, mark, "")
	}
	return bare, bare != text
}

// namesOthers tells whether a message is for somebody else [D6].
func (c *Channel) namesOthers(m *discordgo.Message) bool {
	for _, u := range m.Mentions {
		if u != nil && !c.me(u.ID) {
			return true
		}
	}
	for _, role := range m.MentionRoles {
		if !c.places.isOwnRole(m.GuildID, role) {
			return true
		}
	}
	return false
}

// userOf names a sender as the room sees them.
func userOf(u *discordgo.User, member *discordgo.Member) channels.User {
	name := u.Username
	switch {
	case member != nil && member.Nick != "":
		name = member.Nick
	case u.GlobalName != "":
		name = u.GlobalName
	}
	return channels.User{ID: u.ID, Name: name}
}

// silenceShows is how many messages without any text in a row mean that the
// intent for texts is missing.
const silenceShows = 3

// noticeSilence looks out for a missing Message Content Intent: then the texts of
// rooms arrive empty. Nothing is answered; the health says what to mend.
func (c *Channel) noticeSilence(m *discordgo.Message) {
	if m.GuildID == "" || len(m.Embeds) > 0 || m.Poll != nil || len(m.Components) > 0 {
		return
	}
	if c.silent.Add(1) == silenceShows {
		c.log.Warn("messages come without text", "mend", mendContent)
		c.vitals.warn(mendContent)
	}
}

const mendContent = "messages of rooms come without text: switch on Message Content Intent in Discord's developer portal, page Bot"
