package policy

import (
	"maps"
	"slices"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Scope says which direct chats share a session (session.dmScope) [S2].
type Scope string

// The scopes of direct chats.
const (
	ScopeMain        Scope = "main"                     // all of an agent's
	ScopePeer        Scope = "per-peer"                 // those of one person
	ScopeChannelPeer Scope = "per-channel-peer"         // those of one person on one channel
	ScopeAccountPeer Scope = "per-account-channel-peer" // those of one person with one account
)

// Session names the conversation that a message belongs to [S1]; ids are lower
// case. Rooms have their own, and so has each thread of a room. A message at the
// top of a room whose answer opens a thread already belongs to that thread, so
// that what follows in it meets the same session [SL18].
func (r Rules) Session(agent fallback.AgentID, in channels.Inbound, addressed bool) fallback.SessionID {
	if in.Chat == channels.Direct {
		return r.direct(agent, in)
	}
	thread := in.To.Thread
	if s, known := r.Surface(in.To); thread == "" && known && addressed && s.ReplyMode(in.Chat) != channels.ReplyOff {
		thread = in.ThreadRoot
	}
	return room(agent, in, in.To.Conversation, thread)
}

// Parent is the session whose model selection stands in while a thread has none
// of its own, "" for a message outside of threads [T4, D7].
func Parent(agent fallback.AgentID, in channels.Inbound, s fallback.SessionID) fallback.SessionID {
	switch {
	case in.Chat == channels.Direct:
		return ""
	case in.Parent != "" && !strings.EqualFold(in.Parent, in.To.Conversation):
		return room(agent, in, in.Parent, "")
	}
	if parent := room(agent, in, in.To.Conversation, ""); parent != s {
		return parent
	}
	return ""
}

func room(agent fallback.AgentID, in channels.Inbound, conversation, thread string) fallback.SessionID {
	key := "agent:" + string(agent) + ":" + in.To.Channel + ":" + string(in.Chat) + ":" + conversation
	if thread != "" {
		key += ":thread:" + thread
	}
	return fallback.SessionID(strings.ToLower(key))
}

// direct is the key of a direct chat; a thread in one is only where the answer
// goes [SL18].
func (r Rules) direct(agent fallback.AgentID, in channels.Inbound) fallback.SessionID {
	key := "agent:" + string(agent) + ":"
	peer := r.peer(in)
	account := in.To.Account
	if account == "" {
		account = "default"
	}
	switch {
	case peer == "", r.DMScope == "", r.DMScope == ScopeMain:
		key += "main"
	case r.DMScope == ScopePeer:
		key += "direct:" + peer
	case r.DMScope == ScopeAccountPeer:
		key += in.To.Channel + ":" + account + ":direct:" + peer
	default:
		key += in.To.Channel + ":direct:" + peer
	}
	return fallback.SessionID(strings.ToLower(key))
}

// peer is the person of a direct chat: the name that their ids are linked
// under, else the id itself [S2].
func (r Rules) peer(in channels.Inbound) string {
	for _, name := range slices.Sorted(maps.Keys(r.Identities)) {
		for _, id := range r.Identities[name] {
			if strings.EqualFold(strings.TrimSpace(id), in.To.Channel+":"+in.From.ID) {
				return name
			}
		}
	}
	return in.From.ID
}

// KeepsRoute tells whether an answer to this message leaves the session's last
// route alone: when all direct chats are one session and the account has one
// owner by name, another person who was let in does not draw what is sent
// unasked to themselves [S4].
func (r Rules) KeepsRoute(in channels.Inbound) bool {
	s, known := r.Surface(in.To)
	if !known || in.Chat != channels.Direct || r.DMScope != "" && r.DMScope != ScopeMain {
		return false
	}
	return len(s.AllowFrom) == 1 && strings.TrimSpace(s.AllowFrom[0]) != everybody && !Lists(s.AllowFrom, in)
}
