package config

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"standin/bot/policy"
	"standin/channels/discord"
	"standin/channels/slack"
)

// channelsKeys is channels: the platforms on which people meet the agents [G14].
type channelsKeys struct {
	Defaults       channelDefaults              `json:"defaults,omitempty" jsonschema_description:"Settings of every channel that has none of its own."`
	ModelByChannel map[string]map[string]string `json:"modelByChannel,omitempty" jsonschema_description:"Models by channel and conversation id, or * for all of a channel: instead of the agent's, until somebody chooses another."`
	Slack          *slackKeys                   `json:"slack,omitempty" jsonschema_description:"Slack. Leave it out and it is not used."`
	Discord        *discordKeys                 `json:"discord,omitempty" jsonschema_description:"Discord. Leave it out and it is not used."`
}

type channelDefaults struct {
	GroupPolicy string `json:"groupPolicy,omitempty" jsonschema:"enum=allowlist,enum=open,enum=disabled,default=allowlist" jsonschema_description:"Which rooms are listened to where a channel does not say: those that are listed, all, or none."`

	Heartbeat visibilityKeys `json:"heartbeat,omitempty" jsonschema_description:"What of heartbeats is shown."`
}

// slackKeys is channels.slack: the default account, and others that inherit
// what they do not say themselves [SL4]. The values are read account by account
// from the tree (accounts.go); these structs say which keys there are.
type slackKeys struct {
	slackAccount
	DefaultAccount string                  `json:"defaultAccount,omitempty" jsonschema_description:"The account that is meant where none is named, if there is no account of the channel's own. Default: the only one."`
	Accounts       map[string]slackAccount `json:"accounts,omitempty" jsonschema_description:"Further accounts by name, with the keys above. What one leaves out is as above; tokens are its own."`
}

type slackAccount struct {
	slack.Config
	peopleKeys
	BotToken              secret               `json:"botToken,omitempty" jsonschema_description:"Token of the bot, xoxb-…. Default, for the default account: SLACK_BOT_TOKEN."`
	AppToken              secret               `json:"appToken,omitempty" jsonschema_description:"Token of the app with connections:write, xapp-…; for mode socket. Default, for the default account: SLACK_APP_TOKEN."`
	SigningSecret         secret               `json:"signingSecret,omitempty" jsonschema_description:"For mode http. Default, for the default account: SLACK_SIGNING_SECRET."`
	HistoryLimit          int                  `json:"historyLimit,omitempty" jsonschema:"minimum=0,maximum=50,default=50" jsonschema_description:"Lines of a room that were said to others and that the next message to the agent brings along. Without it, messages.groupChat.historyLimit."`
	ReactionNotifications string               `json:"reactionNotifications,omitempty" jsonschema:"enum=own,enum=off,enum=all,enum=allowlist,default=own" jsonschema_description:"Which reactions the agent hears of with its next turn: those to its own messages, none, all, or those by the people of reactionAllowlist."`
	ReactionAllowlist     []string             `json:"reactionAllowlist,omitempty" jsonschema_description:"Ids of people, for reactionNotifications: allowlist."`
	Channels              map[string]slackRoom `json:"channels,omitempty" jsonschema_description:"Rooms by id (C…, G…), and * for what the others have in common. With groupPolicy allowlist only those that are listed are listened to."`
}

// discordKeys is channels.discord, built as slackKeys.
type discordKeys struct {
	discordAccount
	DefaultAccount string                    `json:"defaultAccount,omitempty" jsonschema_description:"The account that is meant where none is named, if there is no account of the channel's own. Default: the only one."`
	Accounts       map[string]discordAccount `json:"accounts,omitempty" jsonschema_description:"Further accounts by name, with the keys above. What one leaves out is as above; the token is its own."`
}

type discordAccount struct {
	discord.Config
	peopleKeys
	Token        secret              `json:"token,omitempty" jsonschema_description:"Token of the bot. Default, for the default account: DISCORD_BOT_TOKEN."`
	HistoryLimit int                 `json:"historyLimit,omitempty" jsonschema:"minimum=0,maximum=50,default=20" jsonschema_description:"Lines of a room that were said to others and that the next message to the agent brings along. Without it, messages.groupChat.historyLimit."`
	Thread       discordThread       `json:"thread,omitempty" jsonschema_description:"How threads are treated."`
	Guilds       map[string]guildKey `json:"guilds,omitempty" jsonschema_description:"Servers by id, and * for the others. With groupPolicy allowlist only those that are listed are listened to."`
}

// discordThread is channels.discord.thread.
type discordThread struct {
	InheritParent       bool `json:"inheritParent,omitempty" jsonschema:"default=false" jsonschema_description:"Whether a thread's conversation begins with that of its channel."`
	InitialHistoryLimit int  `json:"initialHistoryLimit" jsonschema:"minimum=0,maximum=100,default=20" jsonschema_description:"Messages of a thread that are read when its conversation begins."`
}

// peopleKeys say who may speak, alike for all platforms. Package policy decides
// by them.
type peopleKeys struct {
	DMPolicy       string     `json:"dmPolicy,omitempty" jsonschema:"enum=pairing,enum=allowlist,enum=open,enum=disabled,default=pairing" jsonschema_description:"Who may write directly: those who are listed or were approved (standin pairing), those who are listed, everybody (needs * in allowFrom), nobody."`
	AllowFrom      []string   `json:"allowFrom,omitempty" jsonschema_description:"Ids of people who may write directly and give commands; * is everybody."`
	DM             dmKeys     `json:"dm,omitempty" jsonschema_description:"Direct chats."`
	GroupPolicy    string     `json:"groupPolicy,omitempty" jsonschema:"enum=allowlist,enum=open,enum=disabled" jsonschema_description:"Which rooms are listened to: those that are listed, all, or none. Default: channels.defaults.groupPolicy."`
	RequireMention *bool      `json:"requireMention,omitempty" jsonschema:"default=true" jsonschema_description:"Whether rooms get an answer only when they mention the agent."`
	AllowBots      botsChoice `json:"allowBots,omitempty" jsonschema_description:"Whether other bots are listened to: true, false, or mentions (when they mention the agent). Default: false."`
	DMHistoryLimit *int       `json:"dmHistoryLimit,omitempty" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"Earlier messages of a person that are sent along in direct chats, in turns; 0 for none. Default: agents.defaults.historyLimit."`
	ResponsePrefix *string    `json:"responsePrefix,omitempty" jsonschema_description:"What stands in front of answers here. Default: messages.responsePrefix."`

	Heartbeat visibilityKeys `json:"heartbeat,omitempty" jsonschema_description:"What of heartbeats is shown here. Default: channels.defaults.heartbeat."`
}

type dmKeys struct {
	Enabled      *bool `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether direct chats are listened to at all."`
	GroupEnabled bool  `json:"groupEnabled,omitempty" jsonschema:"default=false" jsonschema_description:"Whether direct chats of several people are listened to."`
}

// placeKeys are what every platform knows of a room.
type placeKeys struct {
	Enabled        *bool      `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether it is listened to."`
	RequireMention *bool      `json:"requireMention,omitempty" jsonschema_description:"Whether it gets an answer only when it mentions the agent. Default: that of what lies around it."`
	Users          []string   `json:"users,omitempty" jsonschema_description:"Ids of those who may speak here; none for everybody."`
	AllowBots      botsChoice `json:"allowBots,omitempty" jsonschema_description:"Whether other bots are listened to: true, false, or mentions."`
	SystemPrompt   string     `json:"systemPrompt,omitempty" jsonschema_description:"Said to the model behind the agent's own."`
}

type slackRoom struct{ placeKeys }

// serverKeys are what only Discord knows of a place.
type serverKeys struct {
	IgnoreOtherMentions *bool    `json:"ignoreOtherMentions,omitempty" jsonschema:"default=false" jsonschema_description:"Whether messages that mention somebody else and not the agent are left alone."`
	Roles               []string `json:"roles,omitempty" jsonschema_description:"Ids of roles that may speak here, beside users."`
}

type guildKey struct {
	placeKeys
	serverKeys
	ReactionNotifications string               `json:"reactionNotifications,omitempty" jsonschema:"enum=own,enum=off,enum=all,enum=allowlist,default=own" jsonschema_description:"Which reactions the agent hears of with its next turn: those to its own messages, none, all, or those by its users and roles."`
	Channels              map[string]guildRoom `json:"channels,omitempty" jsonschema_description:"Channels by id, and * for the others. With this key only those that are listed are listened to; without it, all."`
}

type guildRoom struct {
	placeKeys
	serverKeys
	discord.GuildChannel
}

// botsChoice is allowBots: true, false or mentions.
type botsChoice policy.Bots

// UnmarshalJSON reads both forms.
func (b *botsChoice) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*b = botsChoice(policy.AllBots)
	case "false":
		*b = botsChoice(policy.NoBots)
	default:
		return json.Unmarshal(data, (*string)(b))
	}
	return nil
}

// JSONSchema describes both forms.
func (botsChoice) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "boolean"}, {Type: "string", Enum: []any{string(policy.MentionBots)}},
	}}
}

func (k placeKeys) rule() policy.RoomRule {
	return policy.RoomRule{
		Disabled: k.Enabled != nil && !*k.Enabled,
		Mention:  k.RequireMention, Users: k.Users, AllowBots: policy.Bots(k.AllowBots), System: k.SystemPrompt,
	}
}

func (k serverKeys) over(r policy.RoomRule) policy.RoomRule {
	r.IgnoreOthers, r.Roles = k.IgnoreOtherMentions, k.Roles
	return r
}

// surface gives what the keys say of people; rooms are added by the platform.
func (k peopleKeys) surface(d channelDefaults) policy.Surface {
	s := policy.Surface{
		DMPolicy: policy.DMPolicy(k.DMPolicy), AllowFrom: k.AllowFrom, GroupDMs: k.DM.GroupEnabled,
		GroupPolicy: policy.GroupPolicy(k.GroupPolicy), Mention: k.RequireMention, AllowBots: policy.Bots(k.AllowBots),
		DMTurns: k.DMHistoryLimit, Prefix: k.ResponsePrefix,
	}
	if k.DM.Enabled != nil && !*k.DM.Enabled {
		s.DMPolicy = policy.DMDisabled
	}
	if s.GroupPolicy == "" {
		s.GroupPolicy = policy.GroupPolicy(d.GroupPolicy)
	}
	return s
}

// surface gives the rules of a Slack account.
func (k slackAccount) surface(d channelDefaults) policy.Surface {
	s := k.peopleKeys.surface(d)
	s.Overheard, s.OwnerWithBot = k.HistoryLimit, true // [SL15]
	s.ThreadsAsk = k.Thread.RequireExplicitMention
	s.ThreadPast, s.ThreadInherits, s.RoomWide = k.Thread.InitialHistoryLimit, k.Thread.InheritParent, k.Thread.HistoryScope == "channel"
	s.Reactions, s.ReactionsFrom = policy.Reactions(k.ReactionNotifications), k.ReactionAllowlist
	s.Slash = k.SlashCommand.SessionPrefix
	s.ReplyTo, s.ReplyToBy = k.ReplyToMode, k.ReplyToModeByChatType
	for id, room := range k.Channels {
		if s.Rooms == nil {
			s.Rooms = map[string]policy.RoomRule{}
		}
		s.Rooms[id] = room.rule()
	}
	return s
}

// surface gives the rules of a Discord account.
func (k discordAccount) surface(d channelDefaults) policy.Surface {
	s := k.peopleKeys.surface(d)
	s.Overheard = k.HistoryLimit
	s.ThreadPast, s.ThreadInherits = k.Thread.InitialHistoryLimit, k.Thread.InheritParent
	s.ReplyTo, s.TagsInOff = k.ReplyToMode, true // [D11]
	for id, g := range k.Guilds {
		if s.Guilds == nil {
			s.Guilds = map[string]policy.GuildRule{}
		}
		rule := policy.GuildRule{RoomRule: g.over(g.rule())}
		rule.Reactions = policy.Reactions(g.ReactionNotifications)
		if g.Channels != nil { // a list, even an empty one, shuts the others out [D4]
			rule.Rooms = map[string]policy.RoomRule{}
		}
		for room, r := range g.Channels {
			rule.Rooms[room] = r.over(r.rule())
		}
		s.Guilds[id] = rule
	}
	return s
}

// config gives what the adapter obeys: the part of guilds that is its own.
func (k discordAccount) config() discord.Config {
	c := k.Config
	c.Guilds = nil
	for id, g := range k.Guilds {
		if c.Guilds == nil {
			c.Guilds = map[string]discord.Guild{}
		}
		own := discord.Guild{}
		for room, r := range g.Channels {
			if own.Channels == nil {
				own.Channels = map[string]discord.GuildChannel{}
			}
			own.Channels[room] = r.GuildChannel
		}
		c.Guilds[id] = own
	}
	return c
}
