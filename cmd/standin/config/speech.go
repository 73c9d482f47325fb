package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"standin/bot/policy"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

// sendPolicyKeys is session.sendPolicy [G15].
type sendPolicyKeys struct {
	Default string         `json:"default,omitempty" jsonschema:"enum=allow,enum=deny,default=allow" jsonschema_description:"What counts where no rule matches."`
	Rules   []sendRuleKeys `json:"rules,omitempty" jsonschema_description:"One that denies is enough; else one that allows."`
}

type sendRuleKeys struct {
	Action string        `json:"action" jsonschema:"required,enum=allow,enum=deny" jsonschema_description:"Whether answers are posted."`
	Match  sendMatchKeys `json:"match,omitempty" jsonschema_description:"Which conversations this is about; what is left out matches any."`
}

type sendMatchKeys struct {
	Channel   string `json:"channel,omitempty" jsonschema:"enum=slack,enum=discord,enum=console" jsonschema_description:"The platform."`
	ChatType  string `json:"chatType,omitempty" jsonschema:"enum=direct,enum=group,enum=channel" jsonschema_description:"direct chats, direct chats of several people, or rooms."`
	KeyPrefix string `json:"keyPrefix,omitempty" jsonschema_description:"How the key of the conversation begins; /status tells it."`
}

// readSpeech says what is posted of turns, and where.
func (c *compiler) readSpeech(m messagesKeys, k sendPolicyKeys) policy.Speech {
	s := policy.Speech{
		Replies: policy.Replies(m.VisibleReplies), GroupReplies: policy.Replies(m.GroupChat.VisibleReplies),
		RoomEvents: m.GroupChat.UnmentionedInbound == "room_event", Send: policy.SendPolicy{Deny: k.Default == "deny"},
	}
	for _, r := range k.Rules {
		s.Send.Rules = append(s.Send.Rules, policy.SendRule{
			Deny: r.Action == "deny", Channel: r.Match.Channel, Chat: channels.ChatType(r.Match.ChatType), Prefix: r.Match.KeyPrefix,
		})
	}
	return s
}

// maintenanceKeys is session.maintenance [G15, S15].
type maintenanceKeys struct {
	Mode       string `json:"mode,omitempty" jsonschema:"enum=enforce,enum=warn,default=enforce" jsonschema_description:"enforce: what has been kept long enough is deleted; warn: the log only says what would be."`
	PruneAfter age    `json:"pruneAfter,omitempty" jsonschema_description:"A conversation that nobody has used for so long is forgotten, and so is what came before a /new; such as 30d or 12h. Default: 30d."`
	MaxEntries int    `json:"maxEntries,omitempty" jsonschema:"minimum=1,maximum=1000000,default=500" jsonschema_description:"Most conversations that are kept; of more, those unused for longest are forgotten. An agent's main one and those that are being answered stay."`
}

// Maintenance says how long conversations are kept (session.maintenance).
type Maintenance struct {
	Warn       bool // only say what would go
	PruneAfter time.Duration
	MaxEntries int
}

func (c *compiler) readMaintenance(k maintenanceKeys) Maintenance {
	m := Maintenance{Warn: k.Mode == "warn", PruneAfter: 30 * 24 * time.Hour, MaxEntries: 500}
	if k.PruneAfter > 0 {
		m.PruneAfter = time.Duration(k.PruneAfter)
	}
	if k.MaxEntries > 0 {
		m.MaxEntries = k.MaxEntries
	}
	return m
}

// age is a duration that may be written in days, as 30d.
type age time.Duration

// ageFormat is the format of an age in the schema.
const ageFormat = "duration-with-days"

func parseAge(s string) (time.Duration, error) {
	number, inDays := strings.CutSuffix(s, "d")
	if !inDays {
		d, err := time.ParseDuration(s)
		if err == nil && d < 0 {
			err = fmt.Errorf("%q lies before zero", s)
		}
		return d, err
	}
	days, err := strconv.ParseFloat(number, 64)
	if err == nil && (days < 0 || days > 36500) {
		err = fmt.Errorf("%q is no number of days", s)
	}
	return time.Duration(days * float64(24*time.Hour)), err
}

// UnmarshalJSON reads the text form.
func (a *age) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	d, err := parseAge(s)
	*a = age(d)
	return err
}

// JSONSchema describes the text form.
func (age) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: ageFormat, Pattern: `^([0-9]+(\.[0-9]+)?d|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`}
}

// nativeChoice is commands.native: true, false or auto.
type nativeChoice string

// UnmarshalJSON reads both forms.
func (n *nativeChoice) UnmarshalJSON(data []byte) error {
	if text := string(data); text == "true" || text == "false" {
		*n = nativeChoice(text)
		return nil
	}
	return json.Unmarshal(data, (*string)(n))
}

// JSONSchema describes both forms.
func (nativeChoice) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "boolean"}, {Type: "string", Enum: []any{"auto"}}}}
}

// native tells whether an account registers the bot's commands: as it says
// itself, else as commands.native does, else as is usual for its platform [C18].
func (c *compiler) native(keys map[string]any, usual bool) bool {
	if _, own := keys["nativeCommands"]; own || c.doc.Commands.Native == "" || c.doc.Commands.Native == "auto" {
		return usual
	}
	return c.doc.Commands.Native == "true"
}

// nativeOnly tells whether a text that begins with a slash is talk: where it is
// wished for, and the platform has commands of its own.
func (c *compiler) nativeOnly(native bool) bool {
	text := c.doc.Commands.Text
	return native && text != nil && !*text
}

// shared fills what an account leaves out of the reaction that marks a message
// from messages.* [SL22]. form writes an emoji as the platform wants it.
func (c *compiler) shared(keys map[string]any, emoji, scope *string, remove *bool, form func(string) (string, bool)) {
	m := c.doc.Messages
	if _, own := keys["ackReaction"]; !own && m.AckReaction != nil {
		text, ok := form(*m.AckReaction)
		if ok || *m.AckReaction == "" {
			*emoji = text
		} else {
			c.warnOnce(Path{"messages", "ackReaction"}, fmt.Sprintf("%s is no emoji that both platforms are known to have, so one keeps its own", c.shown(Path{"messages", "ackReaction"}, *m.AckReaction)),
				"write ackReaction at the channel itself")
		}
	}
	if _, own := keys["ackReactionScope"]; !own && m.AckReactionScope != "" {
		*scope = m.AckReactionScope
	}
	if _, own := keys["removeAckAfterReply"]; !own && m.RemoveAckAfterReply {
		*remove = true
	}
}

// warnOnce warns of what several accounts would each be warned of.
func (c *compiler) warnOnce(p Path, msg, mend string) {
	if !slices.ContainsFunc(c.faults, func(f Fault) bool { return f.Path == p.String() && f.Msg == msg }) {
		c.warn(p, msg, mend)
	}
}

// readDefaultAccounts says which account is meant where none is named and the
// channel has none of its own [G14].
func (c *compiler) readDefaultAccounts(all []Account) map[string]string {
	byChannel := map[string][]string{}
	for _, a := range all {
		if !a.Off {
			byChannel[a.Channel] = append(byChannel[a.Channel], a.Account)
		}
	}
	named := map[string]string{}
	if k := c.doc.Channels.Slack; k != nil {
		named[slack.Name] = k.DefaultAccount
	}
	if k := c.doc.Channels.Discord; k != nil {
		named[discord.Name] = k.DefaultAccount
	}
	out := map[string]string{}
	for _, channel := range []string{slack.Name, discord.Name} {
		name, have := named[channel], byChannel[channel]
		at := Path{"channels", channel, "defaultAccount"}
		switch own := slices.Contains(have, ""); {
		case name == "default":
			name = ""
		case name != "" && !slices.Contains(have, name):
			c.report(at, fmt.Sprintf("there is no account %s that is used", c.shown(at, name)), DidYouMean(name, have))
		case name != "" && own:
			c.warn(at, "the channel has an account of its own, which is the default one", "give its tokens to an account of accounts, or leave defaultAccount out")
			name = ""
		case name == "" && !own && len(have) == 1:
			name = have[0]
		}
		if name != "" {
			out[channel] = name
		}
	}
	return out
}
