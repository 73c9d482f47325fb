package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"standin/channels"
	"standin/fallback"
)

// Rules are the settings that platforms with many people need. The zero value
// asks nothing: every channel without a Surface is trusted whole, direct chats
// are one session, nothing is reset by time, each message is answered by itself.
type Rules struct {
	// Surfaces by channel name and account id ("" is the default account):
	// channels.<name> and channels.<name>.accounts.<id>. See Surface.
	Surfaces map[string]map[string]Surface
	// Commands says who may give commands (commands).
	Commands Commands
	// Bindings route conversations to agents (bindings) [S3].
	Bindings []Binding
	// DMScope says which direct chats share a session (session.dmScope); "" is main [S2].
	DMScope Scope
	// Identities maps one person's name to their ids on several platforms, as
	// "slack:U1" (session.identityLinks) [S2]; not used with ScopeMain.
	Identities map[string][]string
	// Resets says when a session is over by itself (session.reset…) [S6–S9].
	Resets Resets
	// Queue says what becomes of messages that come while a turn runs (messages.queue) [S24–S27].
	Queue Queues
	// Speech says what of its turns an agent says aloud (messages.visibleReplies,
	// messages.groupChat.unmentionedInbound, session.sendPolicy).
	Speech Speech
	// Debounce is how long a message waits for more by the same sender
	// (messages.inbound.debounceMs); DebounceBy overrides it by channel name
	// (messages.inbound.byChannel) [S32]. 0: not at all.
	Debounce   time.Duration
	DebounceBy map[string]time.Duration
	// Patterns count as a mention in rooms (messages.groupChat.mentionPatterns);
	// AgentPatterns are one agent's (agents.list[].groupChat.mentionPatterns). See Patterns.
	Patterns      []*regexp.Regexp
	AgentPatterns map[fallback.AgentID][]*regexp.Regexp
	// Prefix stands in front of answers (messages.responsePrefix) [S38]. See Prefixed.
	Prefix string
	// Models by channel name and conversation id or "*" (channels.modelByChannel) [T4].
	Models map[string]map[string]fallback.Model
}

// Surface holds the rules of one channel account. The zero value is closed:
// unknown people may ask for access in a direct chat, and no room is listened to.
type Surface struct {
	DMPolicy     DMPolicy                                 // dmPolicy; "" is pairing [SL9, D3]
	AllowFrom    []string                                 // allowFrom: user ids, "*" for everybody
	GroupDMs     bool                                     // dm.groupEnabled: chats of several people without a room [SL9, D3]
	GroupPolicy  GroupPolicy                              // groupPolicy; "" is allowlist [SL10, D4]
	Rooms        map[string]RoomRule                      // channels: by conversation id, "*" for the rest [SL10]
	Guilds       map[string]GuildRule                     // guilds: by server id, "*" for the rest [D4]
	Mention      *bool                                    // requireMention; nil is true [SL11]
	AllowBots    Bots                                     // allowBots; "" is none [SL15, D8]
	OwnerWithBot bool                                     // an accepted bot needs a place in users, or an owner in the room (Slack) [SL15]
	ThreadsAsk   bool                                     // thread.requireExplicitMention: being in its thread is no mention [SL12]
	ReplyTo      channels.ReplyMode                       // replyToMode; "" is off [SL20, D11]
	ReplyToBy    map[channels.ChatType]channels.ReplyMode // replyToModeByChatType
	TagsInOff    bool                                     // reply tags count although replyToMode is off (Discord) [N27, D11]
	Overheard    int                                      // historyLimit: lines said unasked that the next mention brings along [S17]; 0 none
	DMTurns      *int                                     // dmHistoryLimit: user turns a model sees again in direct chats; nil: as everywhere [S17]
	Prefix       *string                                  // responsePrefix; nil: messages.responsePrefix

	Reactions     Reactions // reactionNotifications; "" is own [SL16]
	ReactionsFrom []string  // reactionAllowlist: whose reactions are told with ReactionsListed

	// ThreadPast is how many messages of a thread its session begins with
	// (thread.initialHistoryLimit); 0 none [SL19].
	ThreadPast int
	// ThreadInherits lets a thread's session begin with the room's history
	// (thread.inheritParent) [SL19].
	ThreadInherits bool
	// RoomWide: what was said unasked anywhere in a room comes along with a
	// mention, whichever thread it stood in (thread.historyScope: channel) [SL19].
	RoomWide bool

	// Slash is the middle part of the session key of what is asked, and no
	// command, through a platform's slash command (slashCommand.sessionPrefix);
	// "" is <channel>:slash [S1, SL28].
	Slash string
	// NativeOnly: a slash at the beginning of a text makes no command of it; the
	// platform's own commands do (commands.text: false) [C18].
	NativeOnly bool
}

// RoomRule is what is set for one room. What is nil or empty comes from the
// guild, then from the surface.
type RoomRule struct {
	Disabled     bool      // enabled: false
	Mention      *bool     // requireMention
	IgnoreOthers *bool     // ignoreOtherMentions [D6]
	Users        []string  // users: who may speak here; empty: everybody
	Roles        []string  // roles: the same by role; users OR roles [D4]
	AllowBots    Bots      // allowBots
	System       string    // systemPrompt, added to the agent's
	Reactions    Reactions // reactionNotifications [D4]
}

// GuildRule is what is set for one server. A guild that lists rooms has no
// others; one without listens in all of them [D4].
type GuildRule struct {
	RoomRule
	Rooms map[string]RoomRule // channels
}

// DMPolicy says who may write in a direct chat.
type DMPolicy string

// The policies of direct chats.
const (
	DMPairing   DMPolicy = "pairing"   // listed, approved, or asking for it
	DMAllowlist DMPolicy = "allowlist" // listed
	DMOpen      DMPolicy = "open"      // everybody, if allowFrom says "*" too
	DMDisabled  DMPolicy = "disabled"
)

// GroupPolicy says which rooms are listened to.
type GroupPolicy string

// The policies of rooms.
const (
	GroupAllowlist GroupPolicy = "allowlist" // those that are listed
	GroupOpen      GroupPolicy = "open"      // all but those that are disabled
	GroupDisabled  GroupPolicy = "disabled"
)

// Bots says which bots are listened to.
type Bots string

// The choices of allowBots; YAML's false and true are no and yes.
const (
	NoBots      Bots = "no"
	AllBots     Bots = "yes"
	MentionBots Bots = "mentions" // those that mention the agent
)

// Commands says who may give commands [C1].
type Commands struct {
	// AllowFrom by channel name or "*": once it names the channel it is the sole
	// source (commands.allowFrom). Else who is listed or approved may.
	AllowFrom map[string][]string
	// Owners may give commands wherever they are let in, and are asked for beside
	// a bot (commands.ownerAllowFrom): ids, with the channel in front ("slack:U1") or without.
	Owners []string
	// Anybody who was let in may give commands (commands.useAccessGroups: false),
	// where AllowFrom does not say otherwise.
	Anybody bool
}

// Surface gives the rules of an account. known is false when the channel has
// none at all: its adapter then vouches for its people, as the console does. An
// account that is missing among others of its channel is closed [SL10].
func (r Rules) Surface(to channels.Address) (s Surface, known bool) {
	accounts, known := r.Surfaces[to.Channel]
	return accounts[to.Account], known
}

// ReplyMode is the reply mode of a chat type [SL20].
func (s Surface) ReplyMode(chat channels.ChatType) channels.ReplyMode {
	if mode := s.ReplyToBy[chat]; mode != "" {
		return mode
	}
	if s.ReplyTo != "" {
		return s.ReplyTo
	}
	return channels.ReplyOff
}

// place is what is set for the room of a message, nearest first: its own rule,
// that of the room it is a thread of [D5], the guild's.
type place struct {
	room, guild RoomRule
	listed      bool // the allowlist names it
	shut        bool // the guild lists rooms, and not this one
}

// place looks a message's room up.
func (s Surface) place(in channels.Inbound) (p place) {
	rooms := s.Rooms
	var found bool
	if in.Guild != "" && len(s.Guilds) > 0 {
		guild, ok := look(s.Guilds, in.Guild)
		if !ok {
			guild, ok = look(s.Guilds, "*")
		}
		p.guild, p.listed = guild.RoomRule, ok
		if ok && guild.Rooms == nil {
			return p
		}
		p.listed, rooms = false, guild.Rooms
		if ok {
			p.room, found = roomOf(rooms, in)
			p.listed, p.shut = found, !found
		}
		return p
	}
	p.room, found = roomOf(rooms, in)
	p.listed = found
	return p
}

// roomOf looks a room up by its id, then by that of the room it is a thread of,
// then by "*", which also fills what the nearer rule leaves out.
func roomOf(rooms map[string]RoomRule, in channels.Inbound) (rule RoomRule, found bool) {
	rest, any := look(rooms, "*")
	for _, id := range []string{in.To.Conversation, in.Parent} {
		if own, ok := look(rooms, id); ok && id != "" {
			return own.or(rest), true
		}
	}
	return rest, any
}

// look finds a key whatever its case: platforms' ids are upper case, keys of
// sessions lower.
func look[V any](m map[string]V, key string) (v V, ok bool) {
	if v, ok = m[key]; ok {
		return v, true
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if strings.EqualFold(k, key) {
			return m[k], true
		}
	}
	return v, false
}

// or fills what r leaves out with what rest says. Disabled is the nearer rule's
// own: a room that is listed by itself is not shut by a general "no".
func (r RoomRule) or(rest RoomRule) RoomRule {
	if r.Mention == nil {
		r.Mention = rest.Mention
	}
	if r.IgnoreOthers == nil {
		r.IgnoreOthers = rest.IgnoreOthers
	}
	if len(r.Users) == 0 && len(r.Roles) == 0 {
		r.Users, r.Roles = rest.Users, rest.Roles
	}
	if r.AllowBots == "" {
		r.AllowBots = rest.AllowBots
	}
	if r.System == "" {
		r.System = rest.System
	}
	if r.Reactions == "" {
		r.Reactions = rest.Reactions
	}
	return r
}

// rule is all that is set for the room of a message, the surface's own defaults
// included.
func (s Surface) rule(in channels.Inbound) RoomRule {
	if in.Chat == channels.Direct {
		return RoomRule{AllowBots: s.AllowBots, Reactions: s.Reactions}
	}
	p := s.place(in)
	return p.room.or(p.guild).or(RoomRule{Mention: s.Mention, AllowBots: s.AllowBots, Reactions: s.Reactions})
}

// System is the room's own addition to the agent's instructions, "" for none.
func (s Surface) System(in channels.Inbound) string { return s.rule(in).System }
