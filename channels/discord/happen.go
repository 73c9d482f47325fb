package discord

import (
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// wireReaction is a reaction that came or went.
type wireReaction struct {
	UserID    string `json:"user_id"`
	ChannelID string `json:"channel_id"`
	MessageID string `json:"message_id"`
	GuildID   string `json:"guild_id"`
	AuthorID  string `json:"message_author_id"` // only when it came
	Member    *discordgo.Member
	Emoji     struct{ ID, Name string }
}

// wireDeletion is what Discord tells of deleted messages: not whose they were.
type wireDeletion struct {
	ID        string   `json:"id"`
	IDs       []string `json:"ids"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
}

// happening takes an event that tells what was done to a message or a room.
// Nothing here waits.
func (in *intake) happening(ctx context.Context, ev discordgo.Event) {
	c := in.c
	switch ev.Type {
	case "MESSAGE_UPDATE":
		m, err := decodeMessage(ev.RawData)
		// Discord tells of a preview that was added in the same way, and of the
		// bot's own answers that grow: neither is an edit.
		if err != nil || m.EditedTimestamp == nil || c.me(m.Author.ID) || !isTalk(m) {
			return
		}
		in.tell(ctx, m, channels.Happening{Kind: channels.Edited, Message: m.ID})
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		var d wireDeletion
		if !c.places.read(ev, &d) {
			return
		}
		if d.ID != "" {
			d.IDs = append(d.IDs, d.ID)
		}
		for _, id := range d.IDs {
			in.tell(ctx, &discordgo.Message{ID: id, ChannelID: d.ChannelID, GuildID: d.GuildID}, channels.Happening{Kind: channels.Deleted, Message: id})
		}
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		var r wireReaction
		if !c.places.read(ev, &r) || c.me(r.UserID) {
			return
		}
		what := channels.Happening{Kind: channels.Reacted, Message: r.MessageID, Own: c.me(r.AuthorID), Detail: r.Emoji.Name}
		if ev.Type == "MESSAGE_REACTION_REMOVE" {
			what.Kind = channels.Unreacted
		}
		m := &discordgo.Message{ID: r.MessageID, ChannelID: r.ChannelID, GuildID: r.GuildID, Author: &discordgo.User{ID: r.UserID}, Member: r.Member}
		if r.Member != nil && r.Member.User != nil {
			m.Author = r.Member.User
		}
		in.tell(ctx, m, what)
	case "CHANNEL_UPDATE", "THREAD_UPDATE":
		var w wireChannel
		if !c.places.read(ev, &w) {
			return
		}
		if before, known := c.places.get(w.ID); known && before.name != "" && w.Name != "" && before.name != w.Name {
			in.tell(ctx, &discordgo.Message{ChannelID: w.ID, GuildID: w.GuildID}, channels.Happening{Kind: channels.Renamed, Detail: w.Name})
		}
	}
}

// announced reads a message that Discord itself wrote of something that
// happened; ok is false when it is none of those that are told.
func announced(m *discordgo.Message) (what channels.Happening, ok bool) {
	switch m.Type {
	case discordgo.MessageTypeChannelPinnedMessage:
		if m.MessageReference == nil {
			return what, false
		}
		return channels.Happening{Kind: channels.Pinned, Message: m.MessageReference.MessageID}, true
	case discordgo.MessageTypeGuildMemberJoin:
		return channels.Happening{Kind: channels.Joined}, true
	case discordgo.MessageTypeRecipientAdd, discordgo.MessageTypeRecipientRemove:
		what = channels.Happening{Kind: channels.Joined}
		if m.Type == discordgo.MessageTypeRecipientRemove {
			what.Kind = channels.Left
		}
		if len(m.Mentions) > 0 && m.Mentions[0] != nil {
			m.Author, m.Member = m.Mentions[0], nil // it is said by whoever added or removed them
		}
		return what, true
	case discordgo.MessageTypeChannelNameChange:
		return channels.Happening{Kind: channels.Renamed, Detail: m.Content}, true
	}
	return what, false
}

// tell hands a happening over in its conversation's order. m says where it was
// and, by its author, who did it.
func (in *intake) tell(ctx context.Context, m *discordgo.Message, what channels.Happening) {
	if m.ChannelID != "" {
		in.put(ctx, m.ChannelID, func(ctx context.Context) { in.report(ctx, m, what) })
	}
}

// report is tell for a caller that already works in the conversation's order.
func (in *intake) report(ctx context.Context, m *discordgo.Message, what channels.Happening) {
	c := in.c
	if m.Author != nil && c.me(m.Author.ID) {
		return
	}
	w := c.whereabouts(ctx, m)
	msg := channels.Inbound{
		ID: "happening:" + string(what.Kind) + ":" + m.ID, To: c.address(m.ChannelID), Chat: channels.Room, Guild: m.GuildID, Parent: w.parent, At: c.now(),
		Happening: &what,
	}
	if m.Author != nil {
		msg.From, msg.Bot = userOf(m.Author, m.Member), m.Author.Bot || m.WebhookID != ""
	}
	if m.Member != nil {
		msg.Roles = m.Member.Roles
	}
	if msg.Guild == "" {
		msg.Guild = w.guild
	}
	if msg.Guild == "" {
		msg.Chat = channels.Direct
		if w.kind == discordgo.ChannelTypeGroupDM {
			msg.Chat = channels.Group
		}
	}
	if what.Kind == channels.Edited {
		text, _ := c.withoutMention(textOf(m), m)
		msg.Text = strings.TrimSpace(text)
	}
	in.handOver(ctx, msg)
}
