package discord

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// Every fault is reported, with its path.
func TestConfigFaults(t *testing.T) {
	if faults := Defaults().Validate(); len(faults) > 0 {
		t.Errorf("the defaults are faulty: %v", faults)
	}
	for _, c := range []struct {
		name  string
		spoil func(*Config)
		want  []string
	}{
		{"plain http is for this machine [D24]", func(c *Config) { c.APIURL = "http://example.org/api" }, []string{"apiUrl: plain http"}},
		{"plain http on this machine is fine", func(c *Config) { c.APIURL = "http://127.0.0.1:8080/api" }, nil},
		{"a URL is one", func(c *Config) { c.APIURL = "discord" }, []string{"apiUrl"}},
		{"the API takes no more than 2000", func(c *Config) { c.TextChunkLimit = 4000 }, []string{"textChunkLimit: 4000"}},
		{"several faults at once", func(c *Config) { c.ReplyToMode, c.Streaming, c.MediaMaxMb = "never", "on", 0 }, []string{"replyToMode", "mediaMaxMb", "streaming"}},
		{"an emoji is its character", func(c *Config) { c.AckReaction = "eyes" }, []string{"ackReaction"}},
		{"or a server's own", func(c *Config) { c.AckReaction = "party:123456789012345678" }, nil},
		{"or none", func(c *Config) { c.AckReaction = "" }, nil},
		{"guilds are keyed by id", func(c *Config) { c.Guilds = map[string]Guild{"my server": {}} }, []string{"guilds.my server"}},
		{"and channels", func(c *Config) {
			c.Guilds = map[string]Guild{"*": {Channels: map[string]GuildChannel{"general": {AutoArchiveDuration: 61}}}}
		}, []string{"guilds.*.channels.general", "guilds.*.channels.general.autoArchiveDuration: 61"}},
		{"bounds of what is read again", func(c *Config) { c.CatchUp.Limit, c.CatchUp.MaxAgeMinutes = 0, -1 }, []string{"catchUp.maxAgeMinutes", "catchUp.limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Defaults()
			c.spoil(&cfg)
			faults := cfg.Validate()
			if len(faults) != len(c.want) {
				t.Fatalf("faults %v, want %v", faults, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(faults[i].Error(), want) {
					t.Errorf("fault %v, want %s", faults[i], want)
				}
			}
		})
	}
}

// A channel's settings: its own entry, else "*", of its guild's, else of "*" [D4].
func TestSettingsOfAChannel(t *testing.T) {
	c := Config{Guilds: map[string]Guild{
		"1": {Channels: map[string]GuildChannel{"11": {AutoThread: true, AutoArchiveDuration: 1440}, "*": {}}},
		"*": {Channels: map[string]GuildChannel{"*": {AutoThread: true}}},
	}}
	for _, w := range []struct {
		guild, channel string
		want           GuildChannel
	}{
		{"1", "11", GuildChannel{true, 1440}}, {"1", "12", GuildChannel{false, 60}}, {"2", "21", GuildChannel{true, 60}},
	} {
		if got := c.channel(w.guild, w.channel); got != w.want {
			t.Errorf("%s/%s: %+v", w.guild, w.channel, got)
		}
	}
}

// A channel without a token, or with a fault in its config, is not made.
func TestNewRefuses(t *testing.T) {
	if _, err := New(Options{Config: Defaults()}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("without a token: %v", err)
	}
	cfg := Defaults()
	cfg.Streaming = "on"
	if _, err := New(Options{Config: cfg, Token: channels.NewSecret("t")}); err == nil || !strings.Contains(err.Error(), "channels.discord: streaming") {
		t.Errorf("with a fault: %v", err)
	}
}

// The token is in no log, no error and no print of anything that holds it [I12].
func TestTheTokenDoesNotShow(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	it := w.s.Slash(w.alice, w.room, "status", "")
	in := w.next()
	var said []string
	note := func(v any) { said = append(said, fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v)) }
	for _, f := range []discordtest.Fault{
		{Status: 401, Body: `{"message":"` + w.s.Token + `"}`}, {Status: 500, Body: w.s.Token}, {Cut: true}, {Status: 403, Body: `{"code":1,"message":"Bot ` + w.s.Token + `"}`},
		{Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:1/" + w.s.Token}},
	} {
		w.s.Break(f)
		_, err := w.c.Send(w.soon(), w.out(fmt.Sprint("d", len(said)), w.room.ID, "x"))
		note(err)
		w.s.Break(f)
		_, err = w.c.Send(w.soon(), w.answer(fmt.Sprint("a", len(said)), in, "x"))
		note(err)
	}
	note(w.c)
	note(w.c.opt)
	note(w.c.api)
	data, err := json.Marshal(w.c.opt.Token)
	note(err)
	note(string(data))
	slog.New(slog.NewJSONHandler(w.logs, nil)).Info("all of it", "api", w.c.api, "token", w.c.opt.Token, "health", w.c.Health())
	w.s.Shut(4004)
	w.await("failed", func() bool { return w.c.Health().State == channels.Down })
	note(w.c.Health())
	said = append(said, w.logs.String())
	for _, s := range said {
		if strings.Contains(s, w.s.Token) || strings.Contains(s, it.Token) {
			t.Errorf("a secret shows in: %.300s", s)
		}
	}
}

// The address that lets the bot in asks for what it needs, and no more.
func TestInvite(t *testing.T) {
	want := "https://discord.com/oauth2/authorize?client_id=42&permissions=309237763136&scope=bot+applications.commands"
	if got := Invite("42"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What Check finds, without connecting.
func TestCheck(t *testing.T) {
	s := discordtest.StartWith(t, discordtest.Options{Intents: -1, Sessions: 1})
	guild := s.NewGuild("guild")
	cfg := Defaults()
	cfg.APIURL = s.URL
	cfg.Guilds = map[string]Guild{guild.ID: {}, "100000000000000001": {}}
	all := func(o Options) string {
		var b strings.Builder
		for _, f := range Check(t.Context(), o) {
			fmt.Fprintf(&b, "%s → %s\n", f.What, f.Mend)
		}
		return b.String()
	}
	got := all(Options{Config: cfg, Token: channels.NewSecret(s.Token)})
	for _, want := range []string{
		"bot standin (" + s.Bot.ID + ")", "Message Content Intent is not switched on → switch it on", "oauth2/authorize?client_id=" + s.Application(),
		"in server guild (" + guild.ID + ")", "not in server 100000000000000001",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if got := all(Options{Config: cfg, Token: channels.NewSecret("wrong")}); !strings.Contains(got, "token is not valid") {
		t.Errorf("a wrong token gives %s", got)
	}
	s.Close()
	if got := all(Options{Config: cfg, Token: channels.NewSecret(s.Token)}); !strings.Contains(got, "cannot be reached") {
		t.Errorf("without a server: %s", got)
	}
	if n := s.Count(discordtest.Connected, ""); n != 0 {
		t.Errorf("%d connections", n)
	}
}
