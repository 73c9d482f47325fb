package slack

import (
	"context"
	"encoding/json"

	"standin/channels"
)

// happening is an event that tells of no message: of what was done to one, or
// to a room [SL16]. Which fields there are depends on the type.
type happening struct {
	Type     string          `json:"type"`
	SubType  string          `json:"subtype"`
	Channel  json.RawMessage `json:"channel"` // an id, or with channel_rename an object
	Kind     string          `json:"channel_type"`
	User     string          `json:"user"`
	Reaction string          `json:"reaction"`
	ItemUser string          `json:"item_user"`
	Deleted  string          `json:"deleted_ts"`
	EventTS  string          `json:"event_ts"`
	Message  *event          `json:"message"`
	Previous *event          `json:"previous_message"`
	Item     struct {
		Channel   string `json:"channel"`
		TS        string `json:"ts"`
		CreatedBy string `json:"created_by"`
		Message   event  `json:"message"`
	} `json:"item"`
	ChannelID string `json:"channel_id"` // of pins
}

// happenings are the types of events that are told, by the kind that they are.
// An edit and a deletion are messages of a subtype.
var happenings = map[string]channels.HappeningKind{
	"message_changed": channels.Edited, "message_deleted": channels.Deleted,
	"reaction_added": channels.Reacted, "reaction_removed": channels.Unreacted,
	"pin_added": channels.Pinned, "pin_removed": channels.Unpinned,
	"member_joined_channel": channels.Joined, "member_left_channel": channels.Left,
	"channel_rename": channels.Renamed, "group_rename": channels.Renamed,
}

// happeningKind tells whether an event of the type and subtype is a happening.
func happeningKind(typ, sub string) (channels.HappeningKind, bool) {
	if typ == "message" {
		typ = sub
	}
	k, ok := happenings[typ]
	return k, ok
}

// sortHappening reads a happening as far as its lane; no work means that it is
// of no use: done by the bot itself, or no change of what anybody reads.
func (c *Channel) sortHappening(o outer, kind channels.HappeningKind, d delivery) (lane string, work func(context.Context, channels.Receiver)) {
	var h happening
	if err := json.Unmarshal(o.Event, &h); err != nil {
		c.log.Warn("slack sent an event that cannot be read", "event", o.EventID)
		return "", nil
	}
	in, conversation := c.happened(h, kind)
	if in == nil || conversation == "" {
		return "", nil
	}
	in.ID = "happening:" + o.EventID
	return conversation, func(ctx context.Context, receive channels.Receiver) {
		if _, again := c.seen.Get(in.ID, c.now()); again {
			d.ack()
			return
		}
		in.Chat = c.chatType(ctx, conversation, h.Kind)
		if in.From.Name == "" && in.From.ID != "" && !in.Bot {
			in.From.Name = c.displayName(ctx, in.From.ID)
		}
		if c.hand(ctx, receive, *in, d) {
			c.seen.Put(in.ID, struct{}{}, c.now())
		}
	}
}

// happened reads the facts of a happening; nil when it is none to tell.
func (c *Channel) happened(h happening, kind channels.HappeningKind) (in *channels.Inbound, conversation string) {
	self := c.self.Load()
	what := channels.Happening{Kind: kind}
	in = &channels.Inbound{Guild: self.Team, At: c.now(), From: channels.User{ID: h.User}, Happening: &what}
	if at, ok := parseTS(h.EventTS); ok {
		in.At = at
	}
	_ = json.Unmarshal(h.Channel, &conversation)
	thread := ""
	switch kind {
	case channels.Edited:
		m := h.Message
		// Slack tells of a preview of a link, of a reply below a message and of
		// an answer that grows in the same way: only another text is an edit.
		if m == nil || c.isSelf(*m) || h.Previous != nil && h.Previous.Text == m.Text || m.SubType == "tombstone" {
			return nil, ""
		}
		what.Message, in.Text, thread = m.TS, plainText(m.Text), threadOfEvent(*m)
		in.From, in.Bot = author(*m), m.Bot != ""
	case channels.Deleted:
		what.Message = h.Deleted
		if m := h.Previous; m != nil {
			if c.isSelf(*m) {
				return nil, "" // our own drafts come and go
			}
			in.From, in.Bot, thread = author(*m), m.Bot != "", threadOfEvent(*m)
		}
	case channels.Reacted, channels.Unreacted:
		conversation, what.Message, what.Detail = h.Item.Channel, h.Item.TS, h.Reaction
		what.Own = self.User != "" && h.ItemUser == self.User
	case channels.Pinned, channels.Unpinned:
		conversation, what.Message = h.ChannelID, h.Item.Message.TS
		if conversation == "" {
			conversation = h.Item.Channel
		}
		what.Own, thread = c.isSelf(h.Item.Message), threadOfEvent(h.Item.Message)
	case channels.Renamed:
		var room struct{ ID, Name string }
		if json.Unmarshal(h.Channel, &room) != nil {
			return nil, ""
		}
		conversation, what.Detail = room.ID, room.Name
	}
	if self.User != "" && in.From.ID == self.User || what.Message == "" && about(kind) {
		return nil, ""
	}
	in.To = channels.Address{Channel: Name, Account: c.opt.Account, Conversation: conversation, Thread: thread}
	return in, conversation
}

// about tells whether a kind is about a message.
func about(k channels.HappeningKind) bool {
	return k != channels.Joined && k != channels.Left && k != channels.Renamed
}

// author is who wrote a message.
func author(ev event) channels.User {
	u := channels.User{ID: ev.User, Name: ev.Username}
	if u.ID == "" {
		u.ID = ev.Bot
	}
	return u
}

// threadOfEvent is the thread that a message stands in; its own root is none.
func threadOfEvent(ev event) string {
	if ev.ThreadTS == ev.TS {
		return ""
	}
	return ev.ThreadTS
}
