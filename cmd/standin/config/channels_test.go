package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	invopop "github.com/invopop/jsonschema"

	"standin/bot/policy"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
)

const oneModel = "agents: {defaults: {model: openai/gpt-5.5}}\n"

// tokens is an environment with both platforms' usual variables.
var tokens = env("SLACK_BOT_TOKEN", "xoxb-env", "SLACK_APP_TOKEN", "xapp-env", "DISCORD_BOT_TOKEN", "env-token")

func accountsOf(t *testing.T, text string, getenv func(string) string) map[string]Account {
	t.Helper()
	all := map[string]Account{}
	for _, a := range must(t, oneModel+text, getenv).Accounts {
		all[a.Place.String()] = a
	}
	return all
}

// "Env … apply to the default account only; config wins" [SL4, D2].
func TestTokensOfTheEnvironmentAreTheDefaultAccounts(t *testing.T) {
	all := accountsOf(t, `
channels:
  slack:
    appToken: {source: env, id: DISCORD_BOT_TOKEN}
    accounts: {work: {}}
  discord: {accounts: {work: {token: {source: env, id: SLACK_BOT_TOKEN}}}}
`, tokens)
	got := map[string]map[string]string{}
	for name, a := range all {
		got[name] = reveal(a.Tokens)
	}
	want := map[string]map[string]string{
		"slack":        {"botToken": "xoxb-env", "appToken": "env-token"},
		"slack/work":   {},
		"discord":      {"token": "env-token"},
		"discord/work": {"token": "xoxb-env"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f := all["slack/work"].Faults; len(f) != 2 || !strings.HasPrefix(f[0], "botToken is missing: set channels.slack.accounts.work.botToken") {
		t.Errorf("the account without tokens: %q", f)
	}
	if f := all["slack"].Faults; len(f) != 1 || !strings.Contains(f[0], "does not begin with xapp-") {
		t.Errorf("the account with another kind of token: %q", f)
	}
}

// "accounts.<id> inherit top-level values; named accounts inherit top-level
// allowFrom but not accounts.default's" [SL4].
func TestAccountsInherit(t *testing.T) {
	all := accountsOf(t, `
channels:
  slack:
    textChunkLimit: 900
    allowFrom: [U1]
    thread: {requireExplicitMention: true}
    channels: {C1: {}}
    accounts:
      default: {allowFrom: [U2], mediaMaxMb: 5}
      work: {textChunkLimit: 800, channels: {C2: {requireMention: false}}, slashCommand: {enabled: true}}
`, tokens)
	work, own := all["slack/work"], all["slack"]
	if work.Slack.TextChunkLimit != 800 || work.Slack.MediaMaxMb != 20 || !work.Surface.ThreadsAsk || work.Slack.SlashCommand.Name != "standin" {
		t.Errorf("work: %+v", work.Slack)
	}
	if !slices.Equal(work.Surface.AllowFrom, []string{"U1"}) || !slices.Equal(slices.Collect(maps.Keys(work.Surface.Rooms)), []string{"C2"}) {
		t.Errorf("work lets in %v in %v", work.Surface.AllowFrom, work.Surface.Rooms)
	}
	if own.Slack.TextChunkLimit != 900 || own.Slack.MediaMaxMb != 5 || !slices.Equal(own.Surface.AllowFrom, []string{"U2"}) {
		t.Errorf("the default account: %+v %+v", own.Slack, own.Surface)
	}
}

// A platform that only the environment speaks of is used, closed to all rooms
// and with a warning; one that is switched off is not [SL10, D4].
func TestAPlatformOfTheEnvironmentAloneIsClosed(t *testing.T) {
	c, faults := read(oneModel+"channels: {discord: {enabled: false}}", tokens)
	if len(c.Accounts) != 2 || c.Accounts[0].Channel != "slack" || c.Accounts[0].Off || !c.Accounts[1].Off {
		t.Fatalf("%+v", c.Accounts)
	}
	if !slices.ContainsFunc(faults, func(f Fault) bool { return f.Warning && f.Path == "SLACK_BOT_TOKEN" }) {
		t.Errorf("nobody is told: %v", faults)
	}
	in := channels.Inbound{To: channels.Address{Channel: "slack"}, Chat: channels.Room, From: channels.User{ID: "U1"}, Mentioned: true}
	if v := c.Bot.Rules.Admit(in, policy.Known{}); v.What != policy.Drop {
		t.Errorf("a room gets %+v", v)
	}
	in.Chat = channels.Direct
	if v := c.Bot.Rules.Admit(in, policy.Known{}); v.What != policy.Pair {
		t.Errorf("an unknown person gets %+v", v)
	}
	if c := must(t, oneModel, env("SLACK_BOT_TOKEN", "xoxb-1")); len(c.Accounts) != 0 {
		t.Error("half of the tokens is not enough")
	}
}

// What messages are on their way when a platform is taken out of the config
// meets a closed door, not an open one.
func TestAPlatformThatIsTakenOutIsClosed(t *testing.T) {
	c := must(t, oneModel, env())
	for _, name := range []string{slack.Name, discord.Name} {
		in := channels.Inbound{To: channels.Address{Channel: name}, Chat: channels.Room, From: channels.User{ID: "U1"}, Mentioned: true, Authorized: true}
		if v := c.Bot.Rules.Admit(in, policy.Known{}); v.What == policy.Admit {
			t.Errorf("%s lets anybody in: %+v", name, v)
		}
	}
}

// Each fault has its place, also those that the adapters find.
func TestFaultsOfChannels(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown key", "channels: {slack: {fooBar: 1}}",
			`config.yaml:2:20: channels.slack.fooBar: unknown key`}, // config-01
		{"a key of an account", "channels: {slack: {accounts: {work: {mdoe: http}}}}",
			`config.yaml:2:38: channels.slack.accounts.work.mdoe: unknown key; did you mean "mode"?`},
		{"a default account that there is none of", "channels: {slack: {defaultAccount: wrok, accounts: {work: {}}}}",
			`config.yaml:2:36: channels.slack.defaultAccount: there is no account "wrok" that is used; did you mean "work"?`},
		{"a time that is none", "session: {maintenance: {pruneAfter: 30 days}}",
			`config.yaml:2:37: session.maintenance.pruneAfter: "30 days" is not a duration; write a number with its unit, such as "30d" or "12h"`},
		{"plain http beyond this machine [D24]", "channels: {slack: {apiUrl: 'http://slack.example.com/api/'}}",
			`config.yaml:2:28: channels.slack.apiUrl: plain http is for this machine only; use https`},
		{"the same for Discord", "channels: {discord: {apiUrl: 'ws://discord.example.com'}}",
			`config.yaml:2:30: channels.discord.apiUrl: plain ws is for this machine only; use wss`},
		{"an adapter's fault, where it is inherited from", "channels: {slack: {mediaMaxMb: 5, ackReaction: ':eyes:', accounts: {work: {}}}}",
			`config.yaml:2:48: channels.slack.ackReaction: ":eyes:" is no emoji name; write it without colons, such as eyes`},
		{"an adapter's fault in an account", "channels: {slack: {accounts: {work: {ackReaction: ':eyes:'}}}}",
			`config.yaml:2:51: channels.slack.accounts.work.ackReaction: ":eyes:" is no emoji name; write it without colons, such as eyes`},
		{"an adapter's fault below ids", "channels: {discord: {guilds: {workshop: {}}}}",
			`config.yaml:2:41: channels.discord.guilds.workshop: it is no server id; names may change, so write the id`},
		{"two accounts on one path [SL1]", "channels: {slack: {mode: http, accounts: {default: {}, work: {}}}}",
			`config.yaml:2:62: channels.slack.accounts.work.webhookPath: slack listens on "/slack/events" too; give each account in http mode a path of its own`},
		{"open without * [SL9]", "channels: {slack: {dmPolicy: open, allowFrom: [U1]}}",
			`config.yaml:2:30: channels.slack.dmPolicy: open lets in nobody without "*" in allowFrom; add allowFrom: ["*"], which lets everybody write and give commands`},
		{"a variable that is not set", "channels: {slack: {botToken: '${SLACK_TOK}', appToken: xapp-1}}",
			`config.yaml:2:30: channels.slack.botToken: the variable SLACK_TOK is not set, or empty; set it in the environment, or write $${SLACK_TOK} for the plain text`}, // config-03
		{"a reference that leads nowhere", "channels: {discord: {token: {source: env, id: NOT_SET}}}",
			`config.yaml:2:47: channels.discord.token.id: the variable "NOT_SET" is not set, or empty; set it in the environment of standin`},
		{"a binding to nobody", "bindings: [{agentId: mian, match: {channel: slack}}]",
			`config.yaml:2:22: bindings[0].agentId: there is no agent "mian"; did you mean "main"?`},
		{"a pattern that is none", `messages: {groupChat: {mentionPatterns: ['\bok\b', '(']}}`,
			`config.yaml:2:52: messages.groupChat.mentionPatterns[1]: is no regular expression: missing closing )`},
		{"idle without a time", "session: {reset: {mode: idle}}",
			`config.yaml:2:18: session.reset: mode idle needs idleMinutes; say after how many minutes of silence a session is over`},
		{"a channel that there is not", "messages: {queue: {byChannel: {slakc: collect}}}",
			`config.yaml:2:32: messages.queue.byChannel.slakc: is no channel; did you mean "slack"?`},
		{"a model that there is not", "channels: {modelByChannel: {slack: {C1: opneai/gpt-5.5}}}",
			`config.yaml:2:41: channels.modelByChannel.slack.C1: "opneai/gpt-5.5": no provider of that name is known; did you mean "openai/gpt-5.5"? Or describe it in models.providers`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(oneModel+c.text, env("SLACK_SIGNING_SECRET", "s"))
			if diff := cmp.Diff([]string{c.want}, lines(faults)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// "Failure on an active surface ⇒ fail fast; inactive surface (disabled account)
// ⇒ diagnostic only" [G6].
func TestABrokenReferenceOfADisabledAccountIsOnlyTold(t *testing.T) { // config-06
	c, faults := read(oneModel+"channels: {slack: {accounts: {work: {enabled: false, botToken: {source: file, id: nowhere}}}}}", env())
	if c == nil || len(faults) == 0 || !faults[0].Warning || !strings.Contains(faults[0].Msg, "cannot be read") {
		t.Errorf("%v", faults)
	}
}

// Every key that says who may speak, in the place where package policy looks.
func TestKeysBecomeRules(t *testing.T) {
	yes, no, seven, prefix := true, false, 7, "bot:"
	r := must(t, oneModel+`
channels:
  defaults: {groupPolicy: open}
  modelByChannel: {slack: {C1: openai/gpt-5.5-mini}}
  slack:
    dmPolicy: allowlist
    allowFrom: [U1]
    dm: {groupEnabled: true}
    requireMention: false
    allowBots: mentions
    historyLimit: 9
    dmHistoryLimit: 7
    responsePrefix: "bot:"
    replyToMode: first
    replyToModeByChatType: {direct: all}
    channels: {C1: {enabled: false, users: [U2], allowBots: true, systemPrompt: "be brief"}}
  discord:
    groupPolicy: allowlist
    guilds:
      "11111": {ignoreOtherMentions: true, roles: ["22222"], channels: {"33333": {requireMention: true}}}
      "44444": {}
commands: {allowFrom: {slack: [U1]}, ownerAllowFrom: ["slack:U1"]}
bindings: [{agentId: main, match: {channel: slack, accountId: default, peer: {kind: direct, id: U1}, teamId: T1, roles: [x]}}]
session:
  dmScope: per-peer
  identityLinks: {alice: ["slack:U1"]}
  reset: {idleMinutes: 30}
  resetByType: {thread: {mode: "off"}}
  resetByChannel: {discord: {atHour: 6, idleMinutes: 5}}
messages:
  responsePrefix: auto
  queue: {mode: collect, cap: 5, drop: new, byChannel: {discord: interrupt}}
  inbound: {debounceMs: 50, byChannel: {slack: 70}}
  groupChat: {historyLimit: 3}
`, tokens).Bot.Rules
	want := policy.Rules{
		Surfaces: map[string]map[string]policy.Surface{
			"slack": {"": {
				DMPolicy: policy.DMAllowlist, AllowFrom: []string{"U1"}, GroupDMs: true, GroupPolicy: policy.GroupOpen, Mention: &no,
				AllowBots: policy.MentionBots, OwnerWithBot: true, Overheard: 9, DMTurns: &seven, Prefix: &prefix, ThreadPast: 20, Slash: "slack:slash",
				ReplyTo: channels.ReplyFirst, ReplyToBy: map[channels.ChatType]channels.ReplyMode{channels.Direct: channels.ReplyAll},
				Rooms: map[string]policy.RoomRule{"C1": {Disabled: true, Users: []string{"U2"}, AllowBots: policy.AllBots, System: "be brief"}},
			}},
			"discord": {"": {
				GroupPolicy: policy.GroupAllowlist, Overheard: 3, ThreadPast: 20, ReplyTo: channels.ReplyOff, TagsInOff: true,
				Guilds: map[string]policy.GuildRule{
					"11111": {RoomRule: policy.RoomRule{IgnoreOthers: &yes, Roles: []string{"22222"}}, Rooms: map[string]policy.RoomRule{"33333": {Mention: &yes}}},
					"44444": {},
				},
			}},
		},
		Commands:   policy.Commands{AllowFrom: map[string][]string{"slack": {"U1"}}, Owners: []string{"slack:U1"}},
		Bindings:   []policy.Binding{{Agent: "main", Match: policy.Match{Channel: "slack", Chat: channels.Direct, Peer: "U1", Guild: "T1", Roles: []string{"x"}}}},
		DMScope:    policy.ScopePeer,
		Identities: map[string][]string{"alice": {"slack:U1"}},
		Resets: policy.Resets{
			Reset:     policy.Reset{Mode: policy.ResetIdle, Idle: 30 * time.Minute},
			ByType:    map[string]policy.Reset{"thread": {}},
			ByChannel: map[string]policy.Reset{"discord": {Mode: policy.ResetDaily, Hour: 6, Idle: 5 * time.Minute}},
		},
		Queue: policy.Queues{
			Queue:     policy.Queue{Mode: policy.Collect, Cap: 5, Drop: policy.DropNew, Debounce: 500 * time.Millisecond},
			ByChannel: map[string]policy.Mode{"discord": policy.Interrupt},
		},
		Debounce: 50 * time.Millisecond, DebounceBy: map[string]time.Duration{"slack": 70 * time.Millisecond},
		Prefix: "auto",
		Speech: policy.Speech{Replies: policy.RepliesAutomatic},
		Models: r.Models, // compared below
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := r.Models["slack"]["C1"].String(); got != "openai/gpt-5.5-mini" {
		t.Errorf("the model of C1 is %s", got)
	}
}

// "session.reset: mode daily (default) at 04:00" [S6].
func TestSessionsEndAtFourUnlessTheConfigSaysOtherwise(t *testing.T) {
	for text, want := range map[string]policy.Reset{
		"":                                    {Mode: policy.ResetDaily, Hour: 4},
		"session: {reset: {mode: 'off'}}":     {},
		"session: {reset: {idleMinutes: 60}}": {Mode: policy.ResetIdle, Idle: time.Hour},
		"session: {reset: {atHour: 0}}":       {Mode: policy.ResetDaily},
		"session: {reset: {mode: daily, idleMinutes: 60}}": {Mode: policy.ResetDaily, Hour: 4, Idle: time.Hour},
	} {
		if got := must(t, oneModel+text, env()).Bot.Rules.Resets.Reset; got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// The defaults that editors show for a channel are those of the adapters.
func TestSchemaDefaultsOfChannels(t *testing.T) {
	s, _ := schemaOf().Properties.Get("channels")
	for name, code := range map[string]map[string]any{
		"slack":   asJSON[map[string]any](t, slackAccount{Config: slack.Defaults(), HistoryLimit: 50}),
		"discord": asJSON[map[string]any](t, discordAccount{Config: discord.Defaults(), HistoryLimit: 20, Thread: discordThread{InitialHistoryLimit: 20}}),
	} {
		block, _ := s.Properties.Get(name)
		seen := 0
		var look func(s *invopop.Schema, v map[string]any, at string)
		look = func(s *invopop.Schema, v map[string]any, at string) {
			for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
				one, said := pair.Value, v[pair.Key]
				if inner, isObject := said.(map[string]any); isObject && one.Properties != nil {
					look(one, inner, at+"."+pair.Key)
					continue
				}
				if said == nil || one.Default == nil || one.OneOf != nil {
					continue
				}
				if seen++; !cmp.Equal(asJSON[any](t, one.Default), said) {
					t.Errorf("%s.%s: the schema says %v, the code %v", at, pair.Key, one.Default, said)
				}
			}
		}
		look(block, code, name)
		if seen < 12 {
			t.Errorf("%s: only %d defaults were compared", name, seen)
		}
	}
}

// asJSON gives a value as JSON has it.
func asJSON[T any](t *testing.T, v any) (out T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
