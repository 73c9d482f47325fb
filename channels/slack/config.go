package slack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"standin/channels"
)

// Config are the keys of channels.slack that the adapter obeys [G14, SL1–SL28].
// The tokens (botToken, appToken, signingSecret) are not here: they travel as
// channels.Secret in Options. Who may speak, and what counts as addressed, is
// decided in package bot, whose keys stand beside these in the file. An account
// of accounts.<id> inherits: decode its keys over a copy of these [SL4].
type Config struct {
	// Enabled false leaves the surface out. Default true.
	Enabled bool `json:"enabled" jsonschema:"default=true" jsonschema_description:"Whether Slack is used."`
	// Mode is socket (default; needs the app token) or http (needs the signing secret) [SL1].
	Mode string `json:"mode,omitempty" jsonschema:"enum=socket,enum=http,default=socket" jsonschema_description:"How Slack reaches standin: over a socket that standin opens, or by requests to webhookPath."`
	// APIURL is the base of the Web API, ending in /api/. Plain http on loopback only [D24].
	APIURL string `json:"apiUrl,omitempty" jsonschema:"default=https://slack.com/api/" jsonschema_description:"Base of Slack's Web API, for proxies. Plain http only on this machine."`
	// WebhookPath is where http mode listens; each http account needs its own.
	WebhookPath string `json:"webhookPath,omitempty" jsonschema:"default=/slack/events" jsonschema_description:"Path that takes events, commands and buttons in http mode."`

	// ReplyToMode says which posts of a turn open a thread under the message
	// they answer: off (default), first, all, batched [SL20]. Messages inside a
	// thread are answered there whatever it says [N27].
	ReplyToMode channels.ReplyMode `json:"replyToMode,omitempty" jsonschema:"enum=off,enum=first,enum=all,enum=batched,default=off" jsonschema_description:"Which posts of an answer go into a thread under the message."`
	// ReplyToModeByChatType overrides it for direct, group or channel.
	ReplyToModeByChatType map[channels.ChatType]channels.ReplyMode `json:"replyToModeByChatType,omitempty" jsonschema_description:"The same for direct, group and channel."`

	// Streaming is how an answer is shown while it grows: off, partial
	// (default), block (finished paragraphs only) or progress (a line) [SL25].
	Streaming string `json:"streaming,omitempty" jsonschema:"enum=off,enum=partial,enum=block,enum=progress,default=partial" jsonschema_description:"How an answer is shown while it is written."`
	// AckReaction is the emoji put on a message whose turn began, without
	// colons; "" none [SL22].
	AckReaction string `json:"ackReaction" jsonschema:"default=eyes" jsonschema_description:"Emoji that marks a message as being worked on; empty for none."`
	// AckReactionScope says where: group-mentions (default), group-all, direct, all, off.
	AckReactionScope string `json:"ackReactionScope,omitempty" jsonschema:"enum=group-mentions,enum=group-all,enum=direct,enum=all,enum=off,default=group-mentions" jsonschema_description:"Which messages get it."`
	// RemoveAckAfterReply takes it away with the answer. Default false.
	RemoveAckAfterReply bool `json:"removeAckAfterReply,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it is taken away with the answer."`
	// TypingReaction is an emoji shown while a turn runs where Slack has no
	// status line, that is outside of threads; "" none [SL21].
	TypingReaction string `json:"typingReaction,omitempty" jsonschema_description:"Emoji shown on a message while its answer is written, outside of threads."`

	// TextChunkLimit is the longest post in characters, 200 to 12000; default 4000 [SL23].
	TextChunkLimit int `json:"textChunkLimit,omitempty" jsonschema:"minimum=200,maximum=12000,default=4000" jsonschema_description:"Longest post, in characters; a longer answer becomes several."`
	// MediaMaxMb is the largest file that is read, in megabytes; default 20 [SL26].
	MediaMaxMb int `json:"mediaMaxMb,omitempty" jsonschema:"minimum=1,maximum=1024,default=20" jsonschema_description:"Largest file that is read, in megabytes."`
	// UnfurlLinks lets Slack show previews of links in posts. Default false [SL24].
	UnfurlLinks bool `json:"unfurlLinks,omitempty" jsonschema:"default=false" jsonschema_description:"Whether posts show previews of their links."`

	// NativeCommands has the manifest register each of the bot's commands as a
	// slash command of its own, /status as /agentstatus, since Slack keeps that
	// name [SL28, C18]. Default false.
	NativeCommands bool `json:"nativeCommands,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the manifest makes each command a slash command of Slack's. Default: commands.native."`

	Thread       ThreadConfig `json:"thread,omitempty" jsonschema_description:"How threads are treated."`
	SlashCommand SlashConfig  `json:"slashCommand,omitempty" jsonschema_description:"One slash command that takes every command as its text."`
}

// ThreadConfig is channels.slack.thread [SL12, SL19].
type ThreadConfig struct {
	// HistoryScope says which lines, said unasked, a mention in a thread brings
	// along: those of the thread (default), or channel: those of the whole room.
	HistoryScope string `json:"historyScope,omitempty" jsonschema:"enum=thread,enum=channel,default=thread" jsonschema_description:"Which lines that were said to others a mention in a thread brings along: those of the thread, or of the whole channel."`
	// InheritParent lets a thread's session begin with the room's history. Default false.
	InheritParent bool `json:"inheritParent,omitempty" jsonschema:"default=false" jsonschema_description:"Whether a thread's conversation begins with that of its channel."`
	// InitialHistoryLimit is how many messages of a thread are read when its
	// session begins, see Channel.Past; 0 none, default 20.
	InitialHistoryLimit int `json:"initialHistoryLimit" jsonschema:"minimum=0,maximum=200,default=20" jsonschema_description:"Messages of a thread that are read when its conversation begins."`
	// RequireExplicitMention: taking part in a thread does not count as being
	// addressed in it. Default false.
	RequireExplicitMention bool `json:"requireExplicitMention,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the bot must be mentioned also in threads it takes part in."`
}

// SlashConfig is channels.slack.slashCommand [SL28].
type SlashConfig struct {
	Enabled       bool   `json:"enabled,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the command is taken."`
	Name          string `json:"name,omitempty" jsonschema:"default=standin" jsonschema_description:"Its name, without the slash."`
	SessionPrefix string `json:"sessionPrefix,omitempty" jsonschema:"default=slack:slash" jsonschema_description:"Middle part of the session key of what is asked through it."`
	// Ephemeral answers are seen by the asker alone. Default true.
	Ephemeral bool `json:"ephemeral" jsonschema:"default=true" jsonschema_description:"Whether only the asker sees the answer."`
}

// Defaults are the settings of an empty channels.slack.
func Defaults() Config {
	return Config{
		Enabled: true, Mode: modeSocket, APIURL: "https://slack.com/api/", WebhookPath: "/slack/events",
		ReplyToMode: channels.ReplyOff, Streaming: streamPartial,
		AckReaction: "eyes", AckReactionScope: "group-mentions",
		TextChunkLimit: 4000, MediaMaxMb: 20,
		Thread:       ThreadConfig{HistoryScope: "thread", InitialHistoryLimit: 20},
		SlashCommand: SlashConfig{Name: "standin", SessionPrefix: "slack:slash", Ephemeral: true},
	}
}

const (
	modeSocket = "socket"
	modeHTTP   = "http"

	streamOff      = "off"
	streamPartial  = "partial"
	streamBlock    = "block"
	streamProgress = "progress"

	// maxBlockText is the most characters of one markdown block (Slack).
	maxBlockText = 12000
	maxChoices   = 100 // of one menu (Slack)
)

// emojiName is what Slack takes as the name of a reaction.
var emojiName = regexp.MustCompile(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

// Validate reports every fault with its path below channels.slack.
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
	oneOf("mode", c.Mode, modeSocket, modeHTTP)
	if err := channels.CheckURL(c.APIURL, "https"); err != nil {
		bad("apiUrl", "%v", err)
	}
	if c.Mode == modeHTTP && (!strings.HasPrefix(c.WebhookPath, "/") || strings.ContainsAny(c.WebhookPath, "{}? #")) {
		bad("webhookPath", "%q is no path; it begins with / and has no query", c.WebhookPath)
	}
	modes := []string{string(channels.ReplyOff), string(channels.ReplyFirst), string(channels.ReplyAll), string(channels.ReplyBatched)}
	oneOf("replyToMode", string(c.ReplyToMode), modes...)
	for _, chat := range slices.Sorted(maps.Keys(c.ReplyToModeByChatType)) {
		oneOf("replyToModeByChatType", string(chat), string(channels.Direct), string(channels.Group), string(channels.Room))
		oneOf("replyToModeByChatType."+string(chat), string(c.ReplyToModeByChatType[chat]), modes...)
	}
	oneOf("streaming", c.Streaming, streamOff, streamPartial, streamBlock, streamProgress)
	oneOf("ackReactionScope", c.AckReactionScope, "group-mentions", "group-all", "direct", "all", "off")
	for path, emoji := range map[string]string{"ackReaction": c.AckReaction, "typingReaction": c.TypingReaction} {
		if emoji != "" && !emojiName.MatchString(emoji) {
			bad(path, "%q is no emoji name; write it without colons, such as eyes", emoji)
		}
	}
	if c.TextChunkLimit < 200 || c.TextChunkLimit > maxBlockText {
		bad("textChunkLimit", "%d is not between 200 and %d", c.TextChunkLimit, maxBlockText)
	}
	if c.MediaMaxMb < 1 || c.MediaMaxMb > 1024 {
		bad("mediaMaxMb", "%d is not between 1 and 1024", c.MediaMaxMb)
	}
	oneOf("thread.historyScope", c.Thread.HistoryScope, "thread", "channel")
	if n := c.Thread.InitialHistoryLimit; n < 0 || n > 200 {
		bad("thread.initialHistoryLimit", "%d is not between 0 and 200", n)
	}
	if name := c.SlashCommand.Name; c.SlashCommand.Enabled && (name == "" || strings.ContainsAny(name, "/ ") || len(name) > 31) {
		bad("slashCommand.name", "%q is no command name; at most 31 characters, without slash and blanks", name)
	}
	return faults
}

// ReplyMode gives the reply mode of a kind of chat, for channels.Place [SL20].
func (c Config) ReplyMode(chat channels.ChatType) channels.ReplyMode {
	if m, ok := c.ReplyToModeByChatType[chat]; ok {
		return m
	}
	return c.ReplyToMode
}
