package config

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot/policy"
	"standin/channels"
)

// Every key that says what is heard of a room and what is said in it, in the
// place where it is obeyed.
func TestKeysOfConversations(t *testing.T) {
	c := must(t, oneModel+`
channels:
  slack:
    dm: {enabled: false}
    reactionNotifications: allowlist
    reactionAllowlist: [U1]
    thread: {historyScope: channel, inheritParent: true, initialHistoryLimit: 7}
    slashCommand: {enabled: true, sessionPrefix: ask, ephemeral: false}
  discord:
    thread: {inheritParent: true, initialHistoryLimit: 0}
    autoPresence: {enabled: true, degradedText: "slow ({reason})"}
    guilds: {"11111": {reactionNotifications: all}}
commands: {native: true, text: false, useAccessGroups: false}
session:
  sendPolicy: {default: deny, rules: [{action: allow, match: {channel: slack, chatType: group, keyPrefix: "agent:x"}}, {action: deny}]}
  maintenance: {mode: warn, pruneAfter: 7d, maxEntries: 3}
messages:
  visibleReplies: message_tool
  ackReaction: "👍"
  ackReactionScope: all
  removeAckAfterReply: true
  queue: {debounceMs: 0}
  groupChat: {visibleReplies: automatic, unmentionedInbound: room_event}
`, tokens)
	r := c.Bot.Rules
	s, d := r.Surfaces["slack"][""], r.Surfaces["discord"][""]
	if s.DMPolicy != policy.DMDisabled || s.Reactions != policy.ReactionsListed || !slices.Equal(s.ReactionsFrom, []string{"U1"}) ||
		!s.RoomWide || !s.ThreadInherits || s.ThreadPast != 7 || s.Slash != "ask" || !s.NativeOnly {
		t.Errorf("slack %+v", s)
	}
	if !d.ThreadInherits || d.ThreadPast != 0 || d.Guilds["11111"].Reactions != policy.ReactionsAll || !d.NativeOnly {
		t.Errorf("discord %+v", d)
	}
	speech := policy.Speech{Replies: policy.RepliesByTool, GroupReplies: policy.RepliesAutomatic, RoomEvents: true,
		Send: policy.SendPolicy{Deny: true, Rules: []policy.SendRule{{Channel: "slack", Chat: channels.Group, Prefix: "agent:x"}, {Deny: true}}}}
	if diff := cmp.Diff(speech, r.Speech); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !r.Commands.Anybody || r.Queue.Debounce >= 0 || c.Maintenance != (Maintenance{Warn: true, PruneAfter: 7 * 24 * time.Hour, MaxEntries: 3}) {
		t.Errorf("%+v, %v, %+v", r.Commands, r.Queue.Debounce, c.Maintenance)
	}
	for _, a := range c.Accounts {
		switch a.Channel {
		case "slack":
			if a.Slack.AckReaction != "thumbsup" || a.Slack.AckReactionScope != "all" || !a.Slack.RemoveAckAfterReply || !a.Slack.NativeCommands || a.Slack.SlashCommand.Ephemeral {
				t.Errorf("slack %+v", a.Slack)
			}
		case "discord":
			if a.Discord.AckReaction != "👍" || a.Discord.AckReactionScope != "all" || !a.Discord.RemoveAckAfterReply || !a.Discord.AutoPresence.Enabled || a.Discord.AutoPresence.IntervalMs != 30_000 {
				t.Errorf("discord %+v", a.Discord)
			}
		}
	}
}

// A channel's own word counts before the general one [SL22, C18].
func TestAChannelsOwnWordCountsFirst(t *testing.T) {
	c := must(t, oneModel+`
channels:
  slack: {ackReaction: eyes, ackReactionScope: direct, nativeCommands: false}
  discord: {ackReaction: "", nativeCommands: true}
commands: {native: true, text: false}
messages: {ackReaction: "👍", ackReactionScope: all}
`, tokens)
	for _, a := range c.Accounts {
		if a.Channel == "slack" && (a.Slack.AckReaction != "eyes" || a.Slack.AckReactionScope != "direct" || a.Slack.NativeCommands || a.Surface.NativeOnly) {
			t.Errorf("slack %+v, %+v", a.Slack, a.Surface)
		}
		if a.Channel == "discord" && (a.Discord.AckReaction != "" || a.Discord.AckReactionScope != "all" || !a.Discord.NativeCommands) {
			t.Errorf("discord %+v", a.Discord)
		}
	}
	c = must(t, oneModel+"\nchannels: {discord: {}}\ncommands: {native: false, text: false}\n", tokens)
	for _, a := range c.Accounts {
		if a.Channel == "discord" && (a.Discord.NativeCommands || a.Surface.NativeOnly) {
			t.Errorf("discord has no commands at all: %+v", a.Surface)
		}
	}
}

// The account that is meant where none is named [G14].
func TestDefaultAccounts(t *testing.T) {
	for _, c := range []struct{ name, block, want string }{
		{"the channel's own", "{botToken: xoxb-9, appToken: xapp-9, accounts: {work: {}}}", ""},
		{"the only one", "{accounts: {work: {botToken: xoxb-9, appToken: xapp-9}}}", "work"},
		{"one of several", "{defaultAccount: home, accounts: {work: {botToken: xoxb-9, appToken: xapp-9}, home: {botToken: xoxb-8, appToken: xapp-8}}}", "home"},
		{"none of several", "{accounts: {work: {botToken: xoxb-9, appToken: xapp-9}, home: {botToken: xoxb-8, appToken: xapp-8}}}", ""},
	} {
		got := must(t, oneModel+"\nchannels: {slack: "+c.block+"}\n", env()).DefaultAccounts["slack"]
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
