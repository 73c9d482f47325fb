package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/bot/policy"
)

// What people read in `standin check` of a channel.
func TestCheckTellsTheChannels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(oneModel+`
channels:
  slack: {channels: {C0123: {}}}
  discord: {enabled: false}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	w, out, errs := lent(t.Context(), strings.NewReader(""))
	if code := run(w, []string{"check", "-c", path}); code != exitOK {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	for _, want := range []string{
		"slack: mode socket\n    direct messages: people must be paired (standin pairing); rooms: only C0123, when the agent is mentioned\n",
		"    cannot be used: botToken is missing: set SLACK_BOT_TOKEN, or channels.slack.botToken (from the app's page OAuth & Permissions)\n",
		"    cannot be used: appToken is missing: set SLACK_APP_TOKEN",
		"discord: off\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
}

func TestSayAccess(t *testing.T) {
	all := map[string]policy.RoomRule{"C1": {}, "C2": {Disabled: true}}
	no := false
	for want, s := range map[string]policy.Surface{
		"direct messages: people must be paired (standin pairing); rooms: only C1, when the agent is mentioned": {Rooms: all},
		"direct messages: people must be paired, except U1; rooms: off":                                         {AllowFrom: []string{"U1"}, GroupPolicy: policy.GroupDisabled},
		"direct messages: everybody, with commands; rooms: all, every message":                                  {DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupOpen, Mention: &no},
		"direct messages: nobody, since allowFrom is empty; rooms: none, since none is listed":                  {DMPolicy: policy.DMAllowlist},
		"direct messages: off; rooms: only all of server 1, 3 of server 2, when the agent is mentioned": {DMPolicy: policy.DMDisabled,
			Guilds: map[string]policy.GuildRule{"1": {}, "2": {Rooms: map[string]policy.RoomRule{"3": {}}}}},
	} {
		if got := sayAccess(s); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
