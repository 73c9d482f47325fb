package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// bindingKeys is one of bindings [G20, S3].
type bindingKeys struct {
	AgentID string    `json:"agentId" jsonschema:"required" jsonschema_description:"Which agent answers."`
	Match   matchKeys `json:"match" jsonschema:"required" jsonschema_description:"Which conversations this is about. The most exact match counts, the earlier of two alike."`
}

type matchKeys struct {
	Channel   string    `json:"channel" jsonschema:"required,enum=slack,enum=discord,enum=console" jsonschema_description:"The platform."`
	AccountID string    `json:"accountId,omitempty" jsonschema_description:"The account: its name, default, or * for any. Default: default."`
	Peer      *peerKeys `json:"peer,omitempty" jsonschema_description:"One person or room; a room's threads are meant too."`
	GuildID   string    `json:"guildId,omitempty" jsonschema_description:"A server of Discord's, by id."`
	TeamID    string    `json:"teamId,omitempty" jsonschema_description:"A workspace of Slack's, by id."`
	Roles     []string  `json:"roles,omitempty" jsonschema_description:"Ids of roles, of which the sender has one."`
}

type peerKeys struct {
	Kind string `json:"kind,omitempty" jsonschema:"enum=direct,enum=group,enum=channel" jsonschema_description:"direct is a person, group a direct chat of several people, channel a room."`
	ID   string `json:"id" jsonschema:"required" jsonschema_description:"The id of the person or room."`
}

// commandsKeys is commands [G18, C1].
type commandsKeys struct {
	Native          nativeChoice        `json:"native,omitempty" jsonschema_description:"Whether commands are registered with the platforms: true, false, or auto (with Discord and not with Slack). A channel's nativeCommands counts before it. Default: auto."`
	Text            *bool               `json:"text,omitempty" jsonschema:"default=true" jsonschema_description:"Whether a text that begins with a slash is a command. Where a channel has no commands of its own, it always is."`
	UseAccessGroups *bool               `json:"useAccessGroups,omitempty" jsonschema:"default=true" jsonschema_description:"Whether commands are for those who are listed or approved; false: for everybody who may speak."`
	AllowFrom       map[string][]string `json:"allowFrom,omitempty" jsonschema_description:"Who may give commands, by channel or *: ids. Where it is set nobody else may. Default: those who are listed or approved for the channel."`
	OwnerAllowFrom  []string            `json:"ownerAllowFrom,omitempty" jsonschema_description:"The owners, as ids with the channel in front (slack:U1) or without. Without any, the first who is approved becomes the owner."`
}

// resetKeys says when a session is over by itself [S6].
type resetKeys struct {
	Mode        string `json:"mode,omitempty" jsonschema:"enum=daily,enum=idle,enum=off" jsonschema_description:"daily: at an hour of each day; idle: after a silence; off: never. Default: daily, or idle if only idleMinutes is set."`
	AtHour      *int   `json:"atHour,omitempty" jsonschema:"minimum=0,maximum=23,default=4" jsonschema_description:"The hour of mode daily, in this machine's time."`
	IdleMinutes int    `json:"idleMinutes,omitempty" jsonschema:"minimum=0,maximum=525600" jsonschema_description:"The longest silence of people, in minutes; beside daily, whichever comes first counts."`
}

type resetByTypeKeys struct {
	Direct *resetKeys `json:"direct,omitempty" jsonschema_description:"Of direct chats."`
	Group  *resetKeys `json:"group,omitempty" jsonschema_description:"Of rooms and groups."`
	Thread *resetKeys `json:"thread,omitempty" jsonschema_description:"Of threads."`
}

// queueKeys is messages.queue [S24, S25].
type queueKeys struct {
	Mode       string            `json:"mode,omitempty" jsonschema:"enum=steer,enum=followup,enum=collect,enum=interrupt,default=steer" jsonschema_description:"What becomes of messages that come while their session is being answered: the running answer takes them in when its tools have come back (steer), each is answered by itself (followup), those of one place together (collect), or the newest stops the running answer (interrupt)."`
	Cap        int               `json:"cap,omitempty" jsonschema:"minimum=1,maximum=1000,default=20" jsonschema_description:"How many may wait in a session."`
	DebounceMs int               `json:"debounceMs,omitempty" jsonschema:"minimum=0,maximum=60000,default=500" jsonschema_description:"How long it must have been quiet, in milliseconds, before messages that are collected are answered."`
	Drop       string            `json:"drop,omitempty" jsonschema:"enum=summarize,enum=old,enum=new,default=summarize" jsonschema_description:"What falls out beyond that: the oldest, told in a line each or not at all, or the newest."`
	ByChannel  map[string]string `json:"byChannel,omitempty" jsonschema_description:"The mode by channel."`
}

type inboundKeys struct {
	DebounceMs int            `json:"debounceMs,omitempty" jsonschema:"minimum=0,maximum=60000,default=0" jsonschema_description:"How long a message waits for more by the same person, in milliseconds, to be answered together with them."`
	ByChannel  map[string]int `json:"byChannel,omitempty" jsonschema_description:"The same by channel, in milliseconds."`
}

type groupChatKeys struct {
	VisibleReplies     string   `json:"visibleReplies,omitempty" jsonschema:"enum=automatic,enum=message_tool" jsonschema_description:"messages.visibleReplies in rooms and groups. Default: the same."`
	UnmentionedInbound string   `json:"unmentionedInbound,omitempty" jsonschema:"enum=user_request,enum=room_event,default=user_request" jsonschema_description:"What is said unasked in a room without requireMention: a question to be answered, or an event that the agent reads and answers by nothing but its tool message."`
	HistoryLimit       *int     `json:"historyLimit,omitempty" jsonschema:"minimum=0,maximum=50" jsonschema_description:"historyLimit of every channel that has none of its own. Default: 50 for Slack, 20 for Discord."`
	MentionPatterns    []string `json:"mentionPatterns,omitempty" jsonschema_description:"Regular expressions, whatever the case, that count as a mention of the agent in rooms. Its name always does."`
}

type agentGroupChat struct {
	MentionPatterns []string `json:"mentionPatterns,omitempty" jsonschema_description:"Instead of messages.groupChat.mentionPatterns."`
}

// platforms are the channels that keys by channel may name.
var platforms = []string{"slack", "discord", "console"}

// readRules gives the rules of platforms with many people, and their accounts.
func (c *compiler) readRules() (r policy.Rules, accounts []Account) {
	accounts = c.readAccounts()
	// Both platforms always have rules, so that one that is taken out while its
	// messages are on their way is closed and not trusted.
	r.Surfaces = map[string]map[string]policy.Surface{"slack": {}, "discord": {}}
	for _, a := range accounts {
		r.Surfaces[a.Channel][a.Account] = a.Surface
	}
	m, s := c.doc.Messages, c.doc.Session
	groups := c.doc.Commands.UseAccessGroups
	r.Commands = policy.Commands{AllowFrom: c.doc.Commands.AllowFrom, Owners: c.doc.Commands.OwnerAllowFrom, Anybody: groups != nil && !*groups}
	r.Speech = c.readSpeech(m, s.SendPolicy)
	for _, name := range sortedKeys(c.doc.Commands.AllowFrom) {
		if name != "*" {
			c.knownPlatform(name, Path{"commands", "allowFrom", name})
		}
	}
	r.Bindings = c.readBindings()
	r.DMScope, r.Identities = policy.Scope(s.DMScope), s.IdentityLinks
	r.Resets = c.readResets(s)
	r.Queue = policy.Queues{Queue: policy.Queue{Mode: policy.Mode(m.Queue.Mode), Cap: m.Queue.Cap, Drop: policy.Overflow(m.Queue.Drop)}}
	if r.Queue.Debounce = time.Duration(m.Queue.DebounceMs) * time.Millisecond; r.Queue.Debounce == 0 {
		r.Queue.Debounce = -1
	}
	for _, name := range sortedKeys(m.Queue.ByChannel) {
		at := Path{"messages", "queue", "byChannel", name}
		c.knownPlatform(name, at)
		mode := policy.ModeOf(m.Queue.ByChannel[name])
		if mode == "" {
			c.report(at, fmt.Sprintf("%s is no mode", c.shown(at, m.Queue.ByChannel[name])), "the modes are steer, followup, collect and interrupt")
		}
		set(&r.Queue.ByChannel, name, mode)
	}
	r.Debounce = time.Duration(m.Inbound.DebounceMs) * time.Millisecond
	for _, name := range sortedKeys(m.Inbound.ByChannel) {
		at, ms := Path{"messages", "inbound", "byChannel", name}, m.Inbound.ByChannel[name]
		c.knownPlatform(name, at)
		if ms < 0 || ms > 60_000 {
			c.report(at, "must be at least 0 and at most 60000", "")
		}
		set(&r.DebounceBy, name, time.Duration(ms)*time.Millisecond)
	}
	r.Patterns = c.patterns(m.GroupChat.MentionPatterns, Path{"messages", "groupChat", "mentionPatterns"})
	for i, a := range c.doc.Agents.List {
		if list := a.GroupChat.MentionPatterns; list != nil {
			at := c.item(Path{"agents", "list"}, i).Key("groupChat").Key("mentionPatterns")
			set(&r.AgentPatterns, fallback.AgentID(a.ID), c.patterns(list, at))
		}
	}
	r.Prefix = m.ResponsePrefix
	for _, name := range sortedKeys(c.doc.Channels.ModelByChannel) {
		at := Path{"channels", "modelByChannel", name}
		c.knownPlatform(name, at)
		for _, id := range sortedKeys(c.doc.Channels.ModelByChannel[name]) {
			model, ok := c.model(c.doc.Channels.ModelByChannel[name][id], at.Key(id), "")
			if !ok {
				continue
			}
			c.checkPermitted(model, at.Key(id))
			if r.Models[name] == nil {
				set(&r.Models, name, map[string]fallback.Model{})
			}
			r.Models[name][id] = model
		}
	}
	return r, accounts
}

// set writes into a map that is made with its first key.
func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func (c *compiler) knownPlatform(name string, p Path) {
	if !slices.Contains(platforms, name) {
		c.reportKey(p, "is no channel", DidYouMean(name, platforms))
	}
}

func (c *compiler) readBindings() (list []policy.Binding) {
	agents := []string{}
	for _, a := range c.doc.Agents.List {
		agents = append(agents, a.ID)
	}
	if len(agents) == 0 {
		agents = []string{"main"}
	}
	for i, k := range c.doc.Bindings {
		at := c.item(Path{"bindings"}, i)
		if !slices.Contains(agents, k.AgentID) {
			c.report(at.Key("agentId"), fmt.Sprintf("there is no agent %s", c.shown(at.Key("agentId"), k.AgentID)), DidYouMean(k.AgentID, agents))
		}
		m := policy.Match{Channel: k.Match.Channel, Account: k.Match.AccountID, Guild: k.Match.GuildID, Roles: k.Match.Roles}
		if m.Account == "default" {
			m.Account = ""
		}
		if k.Match.TeamID != "" {
			if m.Guild != "" && m.Guild != k.Match.TeamID {
				c.report(at.Key("match").Key("teamId"), "differs from guildId", "a conversation is Slack's or Discord's: keep one")
			}
			m.Guild = k.Match.TeamID
		}
		if peer := k.Match.Peer; peer != nil {
			m.Chat, m.Peer = channels.ChatType(peer.Kind), peer.ID
		}
		list = append(list, policy.Binding{Agent: fallback.AgentID(k.AgentID), Match: m})
	}
	return list
}

// readResets reads session.reset, resetByType and resetByChannel [S6, S7]. A
// rehearsal goes through days in one session unless its config says otherwise.
func (c *compiler) readResets(s sessionKeys) (r policy.Resets) {
	at := Path{"session"}
	switch {
	case s.Reset != nil:
		r.Reset = c.reset(*s.Reset, at.Key("reset"))
	case !c.AnyModel:
		r.Reset = c.reset(resetKeys{}, at.Key("reset"))
	}
	for name, k := range map[string]*resetKeys{"direct": s.ResetByType.Direct, "group": s.ResetByType.Group, "thread": s.ResetByType.Thread} {
		if k != nil {
			set(&r.ByType, name, c.reset(*k, at.Key("resetByType").Key(name)))
		}
	}
	for _, name := range sortedKeys(s.ResetByChannel) {
		p := at.Key("resetByChannel").Key(name)
		c.knownPlatform(name, p)
		set(&r.ByChannel, name, c.reset(s.ResetByChannel[name], p))
	}
	return r
}

func (c *compiler) reset(k resetKeys, p Path) policy.Reset {
	r := policy.Reset{Mode: policy.ResetMode(k.Mode), Hour: 4, Idle: time.Duration(k.IdleMinutes) * time.Minute}
	if k.AtHour != nil {
		r.Hour = *k.AtHour
	}
	switch {
	case k.Mode == "off":
		return policy.Reset{}
	case k.Mode == "" && k.IdleMinutes > 0 && k.AtHour == nil:
		r.Mode = policy.ResetIdle // [S7]
	case k.Mode == "":
		r.Mode = policy.ResetDaily
	}
	if r.Mode == policy.ResetIdle {
		r.Hour = 0
		if k.IdleMinutes == 0 {
			c.report(p, "mode idle needs idleMinutes", "say after how many minutes of silence a session is over")
		}
	}
	return r
}

// patterns compiles mention patterns, each with its own place.
func (c *compiler) patterns(list []string, p Path) (all []*regexp.Regexp) {
	for i, text := range list {
		one, err := policy.Patterns([]string{text})
		if err != nil {
			var bad *syntax.Error
			why := ""
			if errors.As(err, &bad) {
				why = ": " + string(bad.Code)
			}
			c.report(c.item(p, i), "is no regular expression"+why, "")
			continue
		}
		all = append(all, one...)
	}
	return all
}
