package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// The defaults are sound, and every fault is told with its path, all at once.
func TestValidate(t *testing.T) {
	if faults := Defaults().Validate(); len(faults) > 0 {
		t.Fatalf("%v", faults)
	}
	bad := Defaults()
	err := json.Unmarshal([]byte(`{
		"mode": "carrier pigeon", "apiUrl": "http://slack.example/api/", "replyToMode": "some",
		"replyToModeByChatType": {"direct": "never", "planet": "off"}, "streaming": "river", "ackReaction": ":eyes:",
		"ackReactionScope": "most", "textChunkLimit": 13000, "mediaMaxMb": 0,
		"thread": {"historyScope": "all", "initialHistoryLimit": -1}, "slashCommand": {"enabled": true, "name": "/x"}}`), &bad)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range bad.Validate() {
		path, _, _ := strings.Cut(f.Error(), ":")
		paths = append(paths, path)
	}
	want := []string{"mode", "apiUrl", "replyToMode", "replyToModeByChatType.direct", "replyToModeByChatType", "replyToModeByChatType.planet",
		"streaming", "ackReactionScope", "ackReaction", "textChunkLimit", "mediaMaxMb", "thread.historyScope", "thread.initialHistoryLimit", "slashCommand.name"}
	for _, p := range want {
		if p != "replyToModeByChatType.planet" && !slices.Contains(paths, p) {
			t.Errorf("%s is not told: %q", p, paths)
		}
	}
}

// An account inherits what it does not set: its keys are read over a copy [SL4].
func TestAccountInherits(t *testing.T) {
	top := Defaults()
	top.ReplyToMode, top.AckReaction = channels.ReplyAll, "wave"
	account := top
	if err := json.Unmarshal([]byte(`{"ackReaction": "", "thread": {"requireExplicitMention": true}}`), &account); err != nil {
		t.Fatal(err)
	}
	if account.ReplyToMode != channels.ReplyAll || account.AckReaction != "" || !account.Thread.RequireExplicitMention || account.Thread.InitialHistoryLimit != 20 {
		t.Errorf("%+v", account)
	}
}

func TestReplyMode(t *testing.T) {
	c := Defaults()
	c.ReplyToMode = channels.ReplyFirst
	c.ReplyToModeByChatType = map[channels.ChatType]channels.ReplyMode{channels.Direct: channels.ReplyOff}
	if c.ReplyMode(channels.Direct) != channels.ReplyOff || c.ReplyMode(channels.Room) != channels.ReplyFirst {
		t.Error("the chat type does not override")
	}
}

// New wants the tokens of its mode, each of its kind, and tells none.
func TestTokens(t *testing.T) {
	bot, app, sign := channels.NewSecret("xoxb-secret-1"), channels.NewSecret("xapp-secret-2"), channels.NewSecret("secret-3")
	for _, c := range []struct {
		name           string
		mode           string
		bot, app, sign channels.Secret
		faults         []string
	}{
		{"socket", modeSocket, bot, app, channels.Secret{}, nil},
		{"http", modeHTTP, bot, channels.Secret{}, sign, nil},
		{"socket without anything", modeSocket, channels.Secret{}, channels.Secret{}, sign, []string{"botToken", "appToken"}},
		{"http without its secret", modeHTTP, bot, app, channels.Secret{}, []string{"signingSecret"}},
		{"swapped", modeSocket, app, bot, sign, []string{"botToken", "appToken"}},
	} {
		cfg := Defaults()
		cfg.Mode = c.mode
		_, err := New(Options{Config: cfg, Bot: c.bot, App: c.app, Signing: c.sign})
		if (err == nil) != (c.faults == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, f := range c.faults {
			if err == nil || !strings.Contains(err.Error(), f) || strings.Contains(err.Error(), "secret-") {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// The manifest asks for what the adapter uses, in the mode that it is used in [SL7].
func TestManifest(t *testing.T) {
	type manifest struct {
		Display  struct{ Name string } `json:"display_information"`
		Features struct {
			AppHome struct {
				Messages bool `json:"messages_tab_enabled"`
				ReadOnly bool `json:"messages_tab_read_only_enabled"`
			} `json:"app_home"`
			Commands []struct{ Command, URL string } `json:"slash_commands"`
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `json:"oauth_config"`
		Settings struct {
			Events struct {
				URL string   `json:"request_url"`
				Bot []string `json:"bot_events"`
			} `json:"event_subscriptions"`
			Interactivity struct {
				On  bool   `json:"is_enabled"`
				URL string `json:"request_url"`
			}
			Socket bool `json:"socket_mode_enabled"`
		}
	}
	read := func(cfg Config, app AppInfo) (m manifest) {
		t.Helper()
		if err := json.Unmarshal(Manifest(cfg, app), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := read(Defaults(), AppInfo{})
	if m.Display.Name != "Standin" || !m.Settings.Socket || m.Settings.Events.URL != "" || !m.Settings.Interactivity.On ||
		!m.Features.AppHome.Messages || m.Features.AppHome.ReadOnly || len(m.Features.Commands) != 0 {
		t.Errorf("%+v", m)
	}
	if !slices.Equal(m.OAuth.Scopes.Bot, slacktest.AllScopes) || !slices.Contains(m.Settings.Events.Bot, "message.im") {
		t.Errorf("%+v", m)
	}
	cfg := Defaults()
	cfg.Mode, cfg.SlashCommand.Enabled = modeHTTP, true
	m = read(cfg, AppInfo{Name: "Helper", PublicURL: "https://bots.example.com/"})
	const url = "https://bots.example.com/slack/events"
	if m.Settings.Socket || m.Settings.Events.URL != url || m.Settings.Interactivity.URL != url || len(m.Features.Commands) != 1 || m.Features.Commands[0].URL != url {
		t.Errorf("%+v", m)
	}
	// Each command is one of Slack's where that is wished for: at most 25, and
	// /status under another name [SL28].
	cfg.NativeCommands = true
	many := []AppCommand{{Name: "status"}, {Name: "model"}}
	for range 40 {
		many = append(many, AppCommand{Name: "more"})
	}
	m = read(cfg, AppInfo{Commands: many})
	if c := m.Features.Commands; len(c) != 25 || c[0].Command != "/standin" || c[1].Command != "/agentstatus" || c[2].Command != "/model" {
		t.Errorf("%+v", c)
	}
}

// Check tells an operator what is wrong and what to do, and changes nothing.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*slacktest.Server)
		to   string
		bad  string // what fails, "" nothing
		mend string
	}{
		{"all is well", func(*slacktest.Server) {}, slacktest.General, "", ""},
		{"a dead token", func(s *slacktest.Server) { s.Revoke("token_revoked") }, "", "bot token", "install the app again"},
		{"scopes are missing", func(s *slacktest.Server) { s.Grant("chat:write", "channels:read") }, "", "scopes", "reinstall"},
		{"no socket", func(s *slacktest.Server) {
			s.Fail("apps.connections.open", slacktest.Fault{Code: "not_allowed_token_type"})
		}, "", "app token", "xapp-"},
		{"no such room", func(*slacktest.Server) {}, "C0NOWHERE", "posting to C0NOWHERE", "invite"},
		{"not a member", func(*slacktest.Server) {}, "C0OTHER", "posting to C0OTHER", "invite"},
		{"not to be reached", func(s *slacktest.Server) { s.Fail("auth.test", slacktest.Fault{Cut: true}) }, "", "bot token", "reached"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{idle: true})
			c.make(r.s)
			found, err := Check(r.ctx, r.c.opt, c.to)
			if err != nil {
				t.Fatal(err)
			}
			var bad []Finding
			for _, f := range found {
				if !f.OK {
					bad = append(bad, f)
				}
				if strings.Contains(f.Say+f.Mend, "do-not-print") {
					t.Errorf("told: %+v", f)
				}
			}
			if c.bad == "" && len(bad) > 0 || c.bad != "" && (len(bad) != 1 || bad[0].What != c.bad || !strings.Contains(bad[0].Mend, c.mend)) {
				t.Errorf("%+v", found)
			}
			if ever, _, _ := r.s.Opened(); ever != 0 || len(r.s.Calls("chat.postMessage")) != 0 {
				t.Error("it did more than look")
			}
		})
	}
}
