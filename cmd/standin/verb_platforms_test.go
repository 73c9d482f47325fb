package main

import (
	"encoding/json"
	"strings"
	"testing"

	"standin/channels/slack/slacktest"
)

// The manifest is wanted before there are tokens, and follows the config.
func TestSlackManifest(t *testing.T) {
	w := newWire(t)
	w.env = map[string]string{}
	path := w.config("\nchannels: {slack: {botToken: '${NOT_YET}', slashCommand: {enabled: true, name: ask}, accounts: {hook: {mode: http}}}}\n")
	code, out := w.run("slack", "manifest", "-c", path, "--name", "Helper")
	var m struct {
		Features struct {
			SlashCommands []struct{ Command string } `json:"slash_commands"`
			BotUser       struct {
				Name string `json:"display_name"`
			} `json:"bot_user"`
		}
		Settings struct {
			Socket bool `json:"socket_mode_enabled"`
		}
	}
	if err := json.Unmarshal([]byte(out), &m); code != exitOK || err != nil {
		t.Fatalf("%d %v\n%s", code, err, out)
	}
	if !m.Settings.Socket || m.Features.BotUser.Name != "Helper" || len(m.Features.SlashCommands) != 1 || m.Features.SlashCommands[0].Command != "/ask" {
		t.Errorf("%s", out)
	}
	if code, out := w.run("slack", "manifest", "-c", path, "--account", "hook"); code != exitUsage || !strings.Contains(out, "--url") {
		t.Errorf("http mode without an address: %d %s", code, out)
	}
	if code, out := w.run("slack", "manifest", "-c", path, "--account", "hook", "--url", "https://bots.example.com/"); code != exitOK || !strings.Contains(out, "https://bots.example.com/slack/events") {
		t.Errorf("%d %s", code, out)
	}
	if code, out := w.run("slack", "manifest", "-c", path, "--account", "hok"); code != exitUsage || !strings.Contains(out, "it has: ") {
		t.Errorf("an account that there is not: %d %s", code, out)
	}
}

// "`standin slack check` verifies token, scopes, app token and posting."
func TestSlackCheck(t *testing.T) {
	w := newWire(t)
	path := w.config("\nchannels: {slack: {apiUrl: SLACK}}\n")
	code, out := w.run("slack", "check", "-c", path, "--post", slacktest.General)
	if code != exitOK {
		t.Errorf("a good account: %d\n%s", code, out)
	}
	for _, want := range []string{"bot token", "scopes", "app token", "posting to " + slacktest.General} {
		if !strings.Contains(out, "ok     "+want) {
			t.Errorf("nothing is said of %s:\n%s", want, out)
		}
	}
	w.slack.Revoke("token_revoked")
	if code, out := w.run("slack", "check", "-c", path); code != exitFault || !strings.Contains(out, "WRONG  bot token: token_revoked\n       the token was revoked") {
		t.Errorf("a revoked token: %d\n%s", code, out)
	}
	w.env["SLACK_BOT_TOKEN"] = ""
	if code, out := w.run("slack", "check", "-c", path); code != exitFault || !strings.Contains(out, "botToken is missing: set SLACK_BOT_TOKEN") {
		t.Errorf("no token: %d\n%s", code, out)
	}
}

// "`standin discord invite` prints the URL with the needed permissions,
// `standin discord check`."
func TestDiscordInviteAndCheck(t *testing.T) {
	w := newWire(t)
	path := w.config("\nchannels: {discord: {apiUrl: DISCORD}}\n")
	url := "https://discord.com/oauth2/authorize?client_id=" + w.discord.Application() + "&permissions="
	if code, out := w.run("discord", "invite", "-c", path); code != exitOK || !strings.HasPrefix(out, url) {
		t.Errorf("%d %s", code, out)
	}
	if code, out := w.run("discord", "check", "-c", path); code != exitOK || !strings.Contains(out, "bot ") {
		t.Errorf("%d %s", code, out)
	}
	w.env["DISCORD_BOT_TOKEN"] = "another"
	if code, out := w.run("discord", "check", "-c", path); code != exitFault || !strings.Contains(out, "copy the bot's token again") {
		t.Errorf("a bad token: %d %s", code, out)
	}
	if code, out := w.run("discord", "invite", "-c", path); code != exitFault || !strings.Contains(out, "copy the bot's token again") {
		t.Errorf("a bad token: %d %s", code, out)
	}
	if code, out := w.run("discord", "invite", "--app", "123456789012345678"); code != exitOK || !strings.Contains(out, "client_id=123456789012345678") {
		t.Errorf("%d %s", code, out)
	}
}
