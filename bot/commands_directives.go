package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Directives are settings of a session that people give as commands [C3, C14]:
// alone in a message they last, inside one they are for that message only.

// VerboseLevel says whether the tools of a turn are told.
type VerboseLevel string

// The levels of /verbose.
const (
	VerboseOff  VerboseLevel = "off"
	VerboseOn   VerboseLevel = "on"   // which tools
	VerboseFull VerboseLevel = "full" // and what they were given
)

// UsageLevel says what answers tell of what they cost.
type UsageLevel string

// The levels of /usage, in the order in which it goes through them; cost is
// reached by its name only.
const (
	UsageOff    UsageLevel = "off"
	UsageTokens UsageLevel = "tokens"
	UsageFull   UsageLevel = "full"
	UsageCost   UsageLevel = "cost"
)

// What a room's session answers to (/activation).
const (
	ByMention = "mention" // only to who addresses the agent
	Always    = "always"  // to everything
)

// ParseVerbose reads a level of /verbose.
func ParseVerbose(word string) (VerboseLevel, bool) {
	l := VerboseLevel(strings.ToLower(word))
	return l, slices.Contains([]VerboseLevel{VerboseOff, VerboseOn, VerboseFull}, l)
}

// ParseUsage reads a level of /usage.
func ParseUsage(word string) (UsageLevel, bool) {
	l := UsageLevel(strings.ToLower(word))
	return l, slices.Contains([]UsageLevel{UsageOff, UsageTokens, UsageFull, UsageCost}, l)
}

// ParseSetting reads a value of one of the settings as people write it; "" takes
// it back. The error says in words for people what it may be.
func ParseSetting(name SettingName, value string) (Setting, error) {
	value = strings.TrimSpace(value)
	s := Setting{Name: name}
	ok := true
	switch low := strings.ToLower(value); {
	case name == SetLabel:
		s.Value = policy.Short(value, labelChars)
	case low == "", low == wordDefault, low == "inherit", low == "reset":
	case name == SetThink:
		var e provider.Effort
		e, ok = provider.ParseEffort(value)
		s.Value = string(e)
	case name == SetVerbose:
		var l VerboseLevel
		l, ok = ParseVerbose(value)
		s.Value = string(l)
	case name == SetUsage:
		var l UsageLevel
		l, ok = ParseUsage(value)
		s.Value = string(l)
	case name == SetActivation:
		s.Value, ok = low, low == ByMention || low == Always
	default:
		ok = false
	}
	if !ok {
		return Setting{}, refusal(saySettingRefused(name, value))
	}
	return s, nil
}

// labelChars bounds what a session is called.
const labelChars = 80

// setting answers a command that shows or changes one of the settings.
func (o *order) setting(name SettingName, args string) (reply, error) {
	if args == "" {
		return say(saySetting(name, o.sess.Settings, o.cfg))
	}
	// Several of them, and nothing else, are all meant to last.
	if _, all, rest := directives(o.cfg.Fallback, "/"+string(name)+" "+args); len(all) > 1 && rest == "" {
		var lines []string
		for _, s := range all {
			lines = append(lines, saySet(s, o.cfg))
		}
		return reply{set: all, text: strings.Join(lines, "\n")}, nil
	}
	s, err := ParseSetting(name, args)
	if err != nil {
		return say(err.Error())
	}
	return reply{set: []Setting{s}, text: saySet(s, o.cfg)}, nil
}

// obeyThink is /think [level].
func obeyThink(_ context.Context, o *order) (reply, error) { return o.setting(SetThink, o.args) }

// obeyVerbose is /verbose [level].
func obeyVerbose(_ context.Context, o *order) (reply, error) { return o.setting(SetVerbose, o.args) }

// obeyUsage is /usage [level]; without one it goes on to the next [C14].
func obeyUsage(_ context.Context, o *order) (reply, error) {
	args := o.args
	if args == "" {
		args = string(nextUsage(UsageLevel(o.sess.Settings.Usage)))
	}
	return o.setting(SetUsage, args)
}

func nextUsage(l UsageLevel) UsageLevel {
	switch l {
	case UsageOff, "":
		return UsageTokens
	case UsageTokens:
		return UsageFull
	}
	return UsageOff
}

// obeyActivation is /activation [mention|always], for rooms.
func obeyActivation(_ context.Context, o *order) (reply, error) {
	if o.row.In.Chat == channels.Direct {
		return say(sayActivationInDirect)
	}
	return o.setting(SetActivation, o.args)
}

// activated puts a room's own /activation before what the rules say of a message
// that was let in. A thread goes by its room until it says otherwise itself.
func (b *Bot) activated(ctx context.Context, cfg *Config, in channels.Inbound, agent fallback.AgentID, addressed bool, why string) (bool, string) {
	if _, known := cfg.Rules.Surface(in.To); !known || in.Chat == channels.Direct || in.Command || addressed && why != policy.Unasked {
		return addressed, why
	}
	own := ""
	for key := cfg.Rules.Session(agent, in, false); key != "" && own == ""; {
		sess, err := b.Store.Session(ctx, key)
		if err != nil {
			b.Log.Error("what a room answers to was not read", "session", key, "err", err)
			return addressed, why
		}
		own, key = sess.Settings.Activation, sess.ParentOf()
	}
	switch {
	case own == Always && why == ambient:
		return true, policy.Unasked
	case own == ByMention && addressed:
		return false, ambient
	}
	return addressed, why
}

// remarks adds to an answer's Ending what the session wants told with answers:
// the tools, as a notice that takes no reply slot, and below the answer what it
// took.
func (b *Bot) remarks(cfg *Config, sess Session, o own, turn string, in channels.Inbound, out *fallback.Outcome, e *Ending) {
	at := slices.IndexFunc(e.Posts, func(p channels.Outbound) bool { return p.Kind == channels.Reply })
	if line := sayUsage(UsageLevel(o.of(sess, SetUsage)), out); line != "" && at >= 0 {
		e.Posts[at].Text += "\n\n" + line
	}
	verbose := cmp.Or(VerboseLevel(o.of(sess, SetVerbose)), cfg.Verbose)
	if line := sayTools(verbose, out.Said); line != "" {
		told := post(turn, channels.Notice, in, line)
		told.ID = turn + "-v" // beside a fallback notice of the same turn
		e.Posts = slices.Insert(e.Posts, max(at, 0), told)
	}
}
