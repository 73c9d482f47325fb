package policy

import (
	"slices"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Binding gives conversations to an agent (bindings) [S3]. What its Match leaves
// empty matches anything; the channel must be named.
type Binding struct {
	Agent fallback.AgentID
	Match Match
}

// Match says which conversations a Binding is about.
type Match struct {
	Channel string            // channel
	Account string            // accountId; "*" is any, "" the default account
	Chat    channels.ChatType // peer.kind
	Peer    string            // peer.id: the person of a direct chat, else the room
	Guild   string            // guildId or teamId
	Roles   []string          // roles: one of them
}

// Agent gives the agent of a conversation: the binding that is most exact, the
// earlier of two that are equally so, else the default [S3].
func (r Rules) Agent(in channels.Inbound, otherwise fallback.AgentID) fallback.AgentID {
	best, agent := 0, otherwise
	for _, b := range r.Bindings {
		if n := b.Match.rank(in); n > best {
			best, agent = n, b.Agent
		}
	}
	return agent
}

// rank orders matches from the channel-wide to the exact; 0 is no match:
// exact peer > room of the thread > guild and roles > guild > account > channel.
func (m Match) rank(in channels.Inbound) int {
	if !strings.EqualFold(m.Channel, in.To.Channel) || m.Account != "*" && m.Account != in.To.Account {
		return 0
	}
	if m.Guild != "" && !strings.EqualFold(m.Guild, in.Guild) {
		return 0
	}
	if len(m.Roles) > 0 && !slices.ContainsFunc(in.Roles, func(role string) bool { return slices.Contains(m.Roles, role) }) {
		return 0
	}
	if m.Chat != "" && m.Chat != in.Chat {
		return 0
	}
	switch peer := peerOf(in); {
	case m.Peer != "" && strings.EqualFold(m.Peer, peer):
		return 6
	case m.Peer != "" && in.Parent != "" && strings.EqualFold(m.Peer, in.Parent):
		return 5
	case m.Peer != "":
		return 0
	case m.Guild != "" && len(m.Roles) > 0:
		return 4
	case m.Guild != "":
		return 3
	case m.Account != "*":
		return 2
	}
	return 1
}

func peerOf(in channels.Inbound) string {
	if in.Chat == channels.Direct {
		return in.From.ID
	}
	return in.To.Conversation
}

// Model is the model that channels.modelByChannel gives a conversation: its own,
// else that of the room it is a thread of, else the channel's; zero for none [T4].
func (r Rules) Model(to channels.Address, parent string) fallback.Model {
	models := r.Models[to.Channel]
	for _, id := range []string{to.Conversation, parent, "*"} {
		if m, ok := look(models, id); ok && id != "" {
			return m
		}
	}
	return fallback.Model{}
}
