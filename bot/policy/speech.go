package policy

import (
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Replies says what of a turn is posted (messages.visibleReplies) [S35].
type Replies string

// The choices of visibleReplies; "" is automatic.
const (
	RepliesAutomatic Replies = "automatic"    // the final text
	RepliesByTool    Replies = "message_tool" // only what the agent sends with its tool message
)

// Speech says what of its turns an agent says aloud.
type Speech struct {
	Replies      Replies // messages.visibleReplies
	GroupReplies Replies // messages.groupChat.visibleReplies: for rooms and groups; "" is Replies
	// RoomEvents: a message that a room without requireMention passes on although
	// it was not said to the agent expects no answer (messages.groupChat.
	// unmentionedInbound: room_event) [S36].
	RoomEvents bool
	// Send says in which sessions turns may post at all (session.sendPolicy) [G15].
	Send SendPolicy
}

// ByToolOnly tells whether a turn's final text stays with the agent. Commands
// and what they begin are answered always, and so is everything where there is
// no tool to speak with [S35].
func (s Speech) ByToolOnly(in channels.Inbound, hasTool bool) bool {
	replies := s.Replies
	if in.Chat != channels.Direct && s.GroupReplies != "" {
		replies = s.GroupReplies
	}
	return replies == RepliesByTool && hasTool && !in.Command
}

// SendPolicy says in which sessions turns may post (session.sendPolicy) [G15].
type SendPolicy struct {
	Deny  bool // default: deny
	Rules []SendRule
}

// SendRule is one of sendPolicy.rules. What it leaves empty matches anything.
type SendRule struct {
	Deny    bool              // action: deny
	Channel string            // match.channel
	Chat    channels.ChatType // match.chatType
	Prefix  string            // match.keyPrefix: how the session's key begins
}

// Allows tells whether a session's turns may post. Its own /send counts first;
// then one rule that denies is enough, then one that allows, then the default.
func (p SendPolicy) Allows(own, channel string, s fallback.SessionID) bool {
	switch own {
	case "on":
		return true
	case "off":
		return false
	}
	allowed := !p.Deny
	for _, r := range p.Rules {
		if r.Channel != "" && !strings.EqualFold(r.Channel, channel) || r.Chat != "" && r.Chat != ChatOf(s) ||
			!strings.HasPrefix(string(s), strings.ToLower(r.Prefix)) {
			continue
		}
		if r.Deny {
			return false
		}
		allowed = true
	}
	return allowed
}

// ChatOf reads the kind of chat out of a session's key [S1].
func ChatOf(s fallback.SessionID) channels.ChatType {
	for _, kind := range []channels.ChatType{channels.Group, channels.Room} {
		if strings.Contains(string(s), ":"+string(kind)+":") {
			return kind
		}
	}
	return channels.Direct
}

// Slash is the session of what a person asks, and is no command, through a
// slash command of the platform: their own, beside the conversation's [S1, SL28].
func (r Rules) Slash(agent fallback.AgentID, in channels.Inbound) fallback.SessionID {
	s, _ := r.Surface(in.To)
	prefix := s.Slash
	if prefix == "" {
		prefix = in.To.Channel + ":slash"
	}
	return fallback.SessionID(strings.ToLower("agent:" + string(agent) + ":" + prefix + ":" + in.From.ID))
}
