package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot/incidents"
	"standin/channels"
	"standin/fallback/provider"
)

// operators.notify names conversations by their ids, and webhooks.
func TestOperatorsAreReadAsTargets(t *testing.T) {
	c := must(t, someAgents+`
channels:
  slack: {defaultAccount: work, accounts: {work: {botToken: xoxb-1, appToken: xapp-1}}}
  discord: {token: d}
operators:
  fallbackLongerThan: 1h
  webhookAllowHosts: [Hooks.internal]
  notify:
    - to: slack:C0123
    - {to: "slack:user:U0123", account: work, events: [auth, billing]}
    - {to: "discord:user:42", account: default}
    - {to: "http://hooks.internal/x", token: {source: env, id: HOOK}}
`, env("HOOK", "secret-of-the-hook"))
	want := incidents.Settings{
		FallbackLongerThan: time.Hour, Hosts: []string{"hooks.internal"},
		Targets: []incidents.Target{
			{To: channels.Address{Channel: "slack", Account: "work", Conversation: "C0123"}},
			{To: channels.Address{Channel: "slack", Account: "work", Conversation: "U0123"}, Events: []incidents.Kind{incidents.Auth, incidents.Billing}},
			{To: channels.Address{Channel: "discord", Conversation: "user:42"}},
			{URL: "http://hooks.internal/x", Token: provider.NewKey("secret-of-the-hook")},
		},
	}
	if diff := cmp.Diff(want, c.Operators, sameKeys); diff != "" {
		t.Error(diff)
	}
}

// What could not be told is a fault now and not in the middle of an outage.
func TestFaultsOfOperators(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a channel's name", `{to: "slack:#ops"}`, `config.yaml:3:27: operators.notify[0].to: "slack:#ops" holds no id of slack's; write the id and not the name, such as slack:C0123456789`},
		{"no platform", `{to: "teams:1"}`, `config.yaml:3:27: operators.notify[0].to: "teams:1" is no place that can be told; write slack:<id>, discord:<id>, or the URL of a webhook`},
		{"no such account", `{to: "slack:C1", account: wrok}`, `config.yaml:3:48: operators.notify[0].account: slack has no account "wrok"; did you mean "work"?`},
		{"no such event", `{to: "slack:C1", events: [biling]}`, `config.yaml:3:48: operators.notify[0].events[0]: "biling" is no event; did you mean "billing"?`},
		{"no events", `{to: "slack:C1", events: []}`, `config.yaml:3:47: operators.notify[0].events: is empty: it would be told of nothing; name events, or leave it out for all`},
		{"not encrypted", `{to: "http://example.org/x"}`, `config.yaml:3:27: operators.notify[0].to: is not encrypted; use https`},
		{"a password in it", `{to: "https://u:p@example.org/x"}`, `config.yaml:3:27: operators.notify[0].to: holds a name or password; put what the receiver wants into token`},
		{"a token for a chat", `{to: "slack:C1", token: "${T}"}`, `config.yaml:3:46: operators.notify[0].token: is for webhooks alone`},
		{"an account for a webhook", `{to: "https://example.org/x", account: work}`, `operators.notify[0].account: means nothing for a webhook; remove it`},
		{"nowhere", `{events: [auth]}`, `operators.notify[0].to: is missing`},
		{"not connected", `{to: "discord:42"}`, `config.yaml:3:27: warning: operators.notify[0].to: discord is not connected, so nobody hears of anything there`},
	} {
		text := "agents: {defaults: {model: openai/gpt-5.5}}\nchannels: {slack: {defaultAccount: work, accounts: {work: {botToken: \"${B}\", appToken: \"${A}\"}}}}\noperators: {notify: [" + c.text + "]}\n"
		_, faults := Parse("config.yaml", []byte(text), env("T", "token-of-the-hook", "B", "xoxb-1", "A", "xapp-1"), ".")
		all := ""
		for _, f := range faults { // warnings, too
			all += f.String() + "\n"
		}
		if !strings.Contains(all, c.want) {
			t.Errorf("%s: want %s\n%s", c.name, c.want, all)
		}
		if strings.Contains(all, "u:p@") {
			t.Errorf("%s: a password is shown", c.name)
		}
	}
}
