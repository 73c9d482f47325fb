package discord

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"standin/channels"
	"standin/channels/markdown"
)

// Config are the keys of channels.discord that the adapter obeys [G14, D1–D18].
// The token is not here: it travels as channels.Secret in Options. Who may
// speak, and what counts as addressed, is decided in package bot, whose keys
// stand beside these in the file. An account of accounts.<id> inherits: decode
// its keys over a copy of these.
type Config struct {
	// Enabled false leaves the surface out. Default true.
	Enabled bool `json:"enabled" jsonschema:"default=true" jsonschema_description:"Whether Discord is used."`
	// APIURL is the base of the REST API, with its version. Plain http on loopback only [D24].
	APIURL string `json:"apiUrl,omitempty" jsonschema:"default=https://discord.com/api/v10" jsonschema_description:"Base of Discord's API, for proxies. Plain http only on this machine."`
	// Intents adds to the events that are always asked for [D1].
	Intents Intents `json:"intents,omitempty" jsonschema_description:"Which kinds of events are asked for beside the usual ones."`

	// ReplyToMode says which posts of a turn refer to the message they answer:
	// off (default), first, all, batched [D11].
	ReplyToMode channels.ReplyMode `json:"replyToMode,omitempty" jsonschema:"enum=off,enum=first,enum=all,enum=batched,default=off" jsonschema_description:"Which posts of an answer refer to the message."`

	// TextChunkLimit is the longest post in UTF-16 units, 200 to 2000 (default) [D10].
	TextChunkLimit int `json:"textChunkLimit,omitempty" jsonschema:"minimum=200,maximum=2000,default=2000" jsonschema_description:"Longest post, in characters; a longer answer becomes several."`
	// MaxLinesPerMessage is the most lines of a post; 0 is no limit, default 17 [D10].
	MaxLinesPerMessage int `json:"maxLinesPerMessage" jsonschema:"minimum=0,maximum=2000,default=17" jsonschema_description:"Most lines of one post; 0 for no limit."`
	// ChunkMode is length (fill each post; default) or newline (a post for each
	// paragraph) [D10].
	ChunkMode string `json:"chunkMode,omitempty" jsonschema:"enum=length,enum=newline,default=length" jsonschema_description:"Whether a long answer fills its posts, or gets one for each paragraph."`
	// Markdown says what becomes of what Discord does not show [D13].
	Markdown Markdown `json:"markdown,omitempty" jsonschema_description:"What becomes of Markdown that Discord does not show."`
	// MediaMaxMb is the largest file that is read, in megabytes; default 100 [D10].
	MediaMaxMb int `json:"mediaMaxMb,omitempty" jsonschema:"minimum=1,maximum=1024,default=100" jsonschema_description:"Largest file that is read, in megabytes."`
	// SuppressEmbeds keeps Discord from showing previews of links. Default true [D10].
	SuppressEmbeds bool `json:"suppressEmbeds" jsonschema:"default=true" jsonschema_description:"Whether posts go without previews of their links."`

	// Streaming is how an answer is shown while it grows: off, partial (its text
	// so far), block (finished paragraphs only) or progress (its last lines;
	// default) [D15].
	Streaming string `json:"streaming,omitempty" jsonschema:"enum=off,enum=partial,enum=block,enum=progress,default=progress" jsonschema_description:"How an answer is shown while it is written."`
	// AckReaction is the emoji put on a message whose turn began; "" none. It is
	// a character, or name:id of a server's own emoji [D15].
	AckReaction string `json:"ackReaction" jsonschema:"default=👀" jsonschema_description:"Emoji that marks a message as being worked on; empty for none."`
	// AckReactionScope says where: group-mentions (default), group-all, direct, all, off [SL22].
	AckReactionScope string `json:"ackReactionScope,omitempty" jsonschema:"enum=group-mentions,enum=group-all,enum=direct,enum=all,enum=off,default=group-mentions" jsonschema_description:"Which messages get it."`
	// RemoveAckAfterReply takes it away with the answer. Default false.
	RemoveAckAfterReply bool `json:"removeAckAfterReply,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it is taken away with the answer."`

	// NativeCommands registers the bot's commands with Discord [D16, C18]. Default true.
	NativeCommands bool `json:"nativeCommands" jsonschema:"default=true" jsonschema_description:"Whether the commands are registered as Discord's slash commands."`
	// CommandGuilds registers them in these servers only, where they appear at
	// once; empty is everywhere [D16].
	CommandGuilds []string `json:"commandGuilds,omitempty" jsonschema_description:"Ids of the servers that get the slash commands; none for all."`
	// EphemeralCommands: only the asker sees the answer of a slash command. Default true.
	EphemeralCommands bool `json:"ephemeralCommands" jsonschema:"default=true" jsonschema_description:"Whether only the asker sees the answer of a slash command."`

	// AutoPresence shows in the bot's status whether its models can answer [D18].
	AutoPresence AutoPresence `json:"autoPresence,omitempty" jsonschema_description:"Whether the bot's status shows how its models are: online, idle when a stand-in answers, do not disturb when none can."`

	// Guilds holds what the adapter itself does per server, by id or "*" [D4].
	Guilds map[string]Guild `json:"guilds,omitempty" jsonschema_description:"Settings per server, by id or *."`
	// CatchUp bounds how much is read again after a connection was lost for good.
	CatchUp CatchUp `json:"catchUp,omitempty" jsonschema_description:"What is read again after a gap in the connection."`
	// StaleAfterMinutes: a connection without any event for so long is renewed;
	// 0 never, default 30 [G25].
	StaleAfterMinutes int `json:"staleAfterMinutes" jsonschema:"minimum=0,maximum=1440,default=30" jsonschema_description:"Minutes without an event after which the connection is renewed; 0 for never."`
}

// Intents are the optional ones; the first two are privileged and need their
// switch in Discord's developer portal [D1].
type Intents struct {
	Members     bool `json:"members,omitempty" jsonschema:"default=false" jsonschema_description:"Joins and changes of members; needs the switch Server Members Intent."`
	Presences   bool `json:"presences,omitempty" jsonschema:"default=false" jsonschema_description:"Who is online; needs the switch Presence Intent."`
	VoiceStates bool `json:"voiceStates,omitempty" jsonschema:"default=false" jsonschema_description:"Who is in which voice channel."`
	// MessageContent is privileged too; without it texts of rooms are empty
	// unless they mention the bot. Default true.
	MessageContent bool `json:"messageContent" jsonschema:"default=true" jsonschema_description:"The texts of messages; needs the switch Message Content Intent."`
}

// AutoPresence is channels.discord.autoPresence [D18].
type AutoPresence struct {
	Enabled bool `json:"enabled,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it does."`
	// IntervalMs is how often it is looked at, in milliseconds; default 30000.
	IntervalMs int `json:"intervalMs,omitempty" jsonschema:"minimum=5000,maximum=3600000,default=30000" jsonschema_description:"How often it is looked at, in milliseconds."`
	// The texts stand beside the status; "" none. {reason} is filled in.
	HealthyText   string `json:"healthyText,omitempty" jsonschema_description:"Text beside the status when all is well."`
	DegradedText  string `json:"degradedText,omitempty" jsonschema_description:"Text when a stand-in answers; {reason} says why."`
	ExhaustedText string `json:"exhaustedText,omitempty" jsonschema_description:"Text when no model can answer; {reason} says why."`
}

// Markdown is channels.discord.markdown.
type Markdown struct {
	// Tables: code (columns in a code block; default), bullets or off [D13].
	Tables markdown.TableMode `json:"tables,omitempty" jsonschema:"enum=off,enum=bullets,enum=code,default=code" jsonschema_description:"How tables are shown."`
}

// Guild is what the adapter does in one server.
type Guild struct {
	// Channels by id or "*".
	Channels map[string]GuildChannel `json:"channels,omitempty" jsonschema_description:"Settings per channel, by id or *."`
}

// GuildChannel is what the adapter does in one channel.
type GuildChannel struct {
	// AutoThread answers a message at the top of the channel in a thread of its
	// own. Default false [D4].
	AutoThread bool `json:"autoThread,omitempty" jsonschema:"default=false" jsonschema_description:"Whether each message gets a thread for its answer."`
	// AutoArchiveDuration is after how many quiet minutes Discord archives such a
	// thread: 60 (default), 1440, 4320 or 10080.
	AutoArchiveDuration int `json:"autoArchiveDuration,omitempty" jsonschema:"enum=60,enum=1440,enum=4320,enum=10080,default=60" jsonschema_description:"Quiet minutes after which such a thread is archived."`
}

// CatchUp is channels.discord.catchUp.
type CatchUp struct {
	// MaxAgeMinutes: older messages are not read again; 0 reads none, default 30.
	MaxAgeMinutes int `json:"maxAgeMinutes" jsonschema:"minimum=0,maximum=1440,default=30" jsonschema_description:"Messages older than this many minutes are not read again; 0 for none at all."`
	// Limit is the most messages per channel, 1 to 100; default 50.
	Limit int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=50" jsonschema_description:"Most messages per channel that are read again."`
}

// Defaults are the settings of an empty channels.discord.
func Defaults() Config {
	return Config{
		Enabled: true, APIURL: "https://discord.com/api/v10",
		Intents:        Intents{MessageContent: true},
		ReplyToMode:    channels.ReplyOff,
		TextChunkLimit: maxText, MaxLinesPerMessage: 17, ChunkMode: chunkLength, Markdown: Markdown{Tables: markdown.TablesCode}, MediaMaxMb: 100, SuppressEmbeds: true,
		Streaming: streamProgress, AckReaction: "👀", AckReactionScope: ackGroupMentions,
		NativeCommands: true, EphemeralCommands: true, AutoPresence: AutoPresence{IntervalMs: 30_000},
		CatchUp: CatchUp{MaxAgeMinutes: 30, Limit: 50}, StaleAfterMinutes: 30,
	}
}

const (
	streamOff      = "off"
	streamPartial  = "partial"
	streamBlock    = "block"
	streamProgress = "progress"

	chunkLength  = "length"
	chunkNewline = "newline"

	ackGroupMentions = "group-mentions"
	ackGroupAll      = "group-all"
	ackDirect        = "direct"
	ackAll           = "all"
	ackOff           = "off"

	maxText = 2000 // of one message (Discord)
)

// Validate reports every fault with its path below channels.discord.
func (c Config) Validate() []error {
	var faults []error
	bad := func(path, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	}
	oneOf := func(path, v string, all ...string) {
		if !slices.Contains(all, v) {
			bad(path, "%q is none of %s", v, strings.Join(all, ", "))
		}
	}
	between := func(path string, v, least, most int) {
		if v < least || v > most {
			bad(path, "%d is not between %d and %d", v, least, most)
		}
	}
	if err := channels.CheckURL(c.APIURL, "https", "wss"); err != nil {
		bad("apiUrl", "%v", err)
	}
	oneOf("replyToMode", string(c.ReplyToMode), string(channels.ReplyOff), string(channels.ReplyFirst), string(channels.ReplyAll), string(channels.ReplyBatched))
	between("textChunkLimit", c.TextChunkLimit, 200, maxText)
	between("maxLinesPerMessage", c.MaxLinesPerMessage, 0, 2000)
	oneOf("chunkMode", c.ChunkMode, chunkLength, chunkNewline)
	oneOf("markdown.tables", string(c.Markdown.Tables), string(markdown.TablesOff), string(markdown.TablesBullets), string(markdown.TablesCode))
	between("mediaMaxMb", c.MediaMaxMb, 1, 1024)
	oneOf("streaming", c.Streaming, streamOff, streamPartial, streamBlock, streamProgress)
	if strings.Trim(c.AckReaction, "abcdefghijklmnopqrstuvwxyz_") == "" && c.AckReaction != "" {
		bad("ackReaction", "%q is a name; write the character itself, or name:id of a server's own emoji", c.AckReaction)
	}
	oneOf("ackReactionScope", c.AckReactionScope, ackGroupMentions, ackGroupAll, ackDirect, ackAll, ackOff)
	for i, id := range c.CommandGuilds {
		if !isSnowflake(id) {
			bad(fmt.Sprintf("commandGuilds[%d]", i), "%q is no server id", id)
		}
	}
	for _, guild := range sortedKeys(c.Guilds) {
		if guild != "*" && !isSnowflake(guild) {
			bad("guilds."+guild, "it is no server id; names may change, so write the id")
		}
		for _, id := range sortedKeys(c.Guilds[guild].Channels) {
			path := "guilds." + guild + ".channels." + id
			if id != "*" && !isSnowflake(id) {
				bad(path, "it is no channel id; names may change, so write the id")
			}
			if d := c.Guilds[guild].Channels[id].AutoArchiveDuration; d != 0 && !slices.Contains([]int{60, 1440, 4320, 10080}, d) {
				bad(path+".autoArchiveDuration", "%d is none of 60, 1440, 4320, 10080", d)
			}
		}
	}
	between("autoPresence.intervalMs", c.AutoPresence.IntervalMs, 5_000, 3_600_000)
	for path, text := range map[string]string{"healthyText": c.AutoPresence.HealthyText, "degradedText": c.AutoPresence.DegradedText, "exhaustedText": c.AutoPresence.ExhaustedText} {
		if utf8.RuneCountInString(text) > 128 {
			bad("autoPresence."+path, "it has more than the 128 characters that Discord shows")
		}
	}
	between("catchUp.maxAgeMinutes", c.CatchUp.MaxAgeMinutes, 0, 1440)
	between("catchUp.limit", c.CatchUp.Limit, 1, 100)
	between("staleAfterMinutes", c.StaleAfterMinutes, 0, 1440)
	return faults
}

// channel gives what is set for a channel: its own entry, else "*", of its
// guild's entry, else of "*" [D4].
func (c Config) channel(guild, id string) GuildChannel {
	g, ok := c.Guilds[guild]
	if !ok {
		g = c.Guilds["*"]
	}
	set, ok := g.Channels[id]
	if !ok {
		set = g.Channels["*"]
	}
	if set.AutoArchiveDuration == 0 {
		set.AutoArchiveDuration = 60
	}
	return set
}
