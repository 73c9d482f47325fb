package bot_test

import (
	"context"
	"strings"
	"testing"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// spends has the model answer with what it took.
func (e *engine) spends(t provider.Tokens, bill fallback.Bill, text string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		out, err := e.says(text)(ctx, ask)
		if err == nil {
			out.Reply.Tokens, out.Bill = t, bill
		}
		return out, err
	}
}

// "Directives alone in a message ⇒ persist and acknowledge; inside other text ⇒
// apply to that message only, stripped from the prompt" [C3, command-11].
func TestADirectiveInsideAMessageIsForThatMessage(t *testing.T) {
	for _, c := range []struct {
		text, prompt string
		think        provider.Effort
		model        fallback.Model
	}{
		{"what is up /think high", "what is up", "high", fallback.Model{}},
		{"/think high what is up", "what is up", "high", fallback.Model{}},
		{"what /think: low is up", "what is up", "low", fallback.Model{}},
		{"/THINKING Max go", "go", "max", fallback.Model{}},
		{"what is up /model gem", "what is up", "", modelC},
		{"/model openai/gpt-5.4 what is up", "what is up", "", modelB},
		{"what does /think do?", "what does /think do?", "", fallback.Model{}},
		{"is /think hard a thing?", "is /think hard a thing?", "", fallback.Model{}},
		{"look at /srv/think high up", "look at /srv/think high up", "", fallback.Model{}},
		{"see /model trains", "see /model trains", "", fallback.Model{}},
		{"line one\n  /think off\nline two", "line one\n  \nline two", "off", fallback.Model{}},
	} {
		inHouse(t, func(t *testing.T, h *house) {
			h.say(c.text)
			asks := h.engine.asked()
			if len(asks) != 1 || h.engine.last() != c.prompt || asks[0].Think != c.think || asks[0].Model != c.model {
				t.Fatalf("%q asks %q with think %q, model %s (%s)", c.text, h.engine.last(), asks[0].Think, asks[0].Model, h.texts())
			}
			h.say("and now?")
			if a := h.engine.asked()[1]; a.Think != "" || !a.Model.IsZero() {
				t.Errorf("%q lasts: think %q, model %s", c.text, a.Think, a.Model)
			}
		})
	}
}

// A person who may give no commands writes text, whatever it looks like [C2].
func TestADirectiveOfAStrangerIsText(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.cfg.Rules = policy.Rules{Surfaces: map[string]map[string]policy.Surface{"room": {"": {DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}}}},
			Commands: policy.Commands{AllowFrom: map[string][]string{"*": {"owner"}}}}
		h.say("what is up /think high")
		if a := h.engine.asked()[0]; a.Think != "" || h.engine.last() != "what is up /think high" {
			t.Errorf("a stranger sets think %q, and asks %q", a.Think, h.engine.last())
		}
	})
}

// What a session was told outlives /new and a restart, and goes with default
// [S11]; the message's own word counts before it, the config's after.
func TestASettingLasts(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.cfg.Think = "minimal"
		think := func(text string) provider.Effort {
			h.say(text)
			asks := h.engine.asked()
			return asks[len(asks)-1].Think
		}
		if got := think("hi"); got != "minimal" {
			t.Errorf("without a word: %q", got)
		}
		h.say("/think high")
		if got := h.texts(channels.Command); got != "Models think before they answer: high, or the nearest that a model has, from now on in this session. /think default goes back to the configuration." {
			t.Errorf("the answer is %q", got)
		}
		h.say("/new")
		h.close()
		h.restart()
		if got := think("hi"); got != "high" {
			t.Errorf("after /new and a restart: %q", got)
		}
		if got := think("hi /think low"); got != "low" {
			t.Errorf("the message's own word: %q", got)
		}
		h.say("/think default")
		if got := think("hi"); got != "minimal" {
			t.Errorf("after default: %q", got)
		}
		h.say("/think high /usage tokens")
		if s, _ := h.db.Session(context.Background(), mainSession); s.Settings != (bot.Settings{Think: "high", Usage: "tokens"}) {
			t.Errorf("two at once: %+v", s.Settings)
		}
		h.say("/status")
		if got := h.texts(channels.Command); !strings.Contains(got, "\nSettings: /think high, /usage tokens\n") {
			t.Errorf("/status does not tell: %q", got)
		}
		h.say("/think hard")
		all := h.room.Texts(channels.Command)
		if got := all[len(all)-1]; !strings.Contains(got, `I don't know "hard". Nothing has changed. Use /think with one of off, minimal, low,`) {
			t.Errorf("the refusal is %q", got)
		}
	})
}

// "/usage off|tokens|full|cost, no arg cycles off→tokens→full→off and persists" [C14].
func TestUsage(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		spend := func(text string) string {
			h.engine.then(h.engine.spends(provider.Tokens{Input: 12345, Output: 67, CacheRead: 12000}, fallback.Bill{USD: 0.0042}, "fine"))
			h.say(text)
			all := h.room.Texts(channels.Reply)
			return all[len(all)-1]
		}
		for i, want := range []string{
			"fine\n\n— 12,345 tokens in, 67 out",
			"fine\n\n— anthropic/claude-opus-4-6 · 12,345 tokens in, 67 out (12,000 from the cache) · 0.0042 USD (estimate)",
			"fine",
		} {
			h.say("/usage")
			if got := spend("hi"); got != want {
				t.Errorf("round %d: %q, want %q", i+1, got, want)
			}
		}
		if got := spend("hi /usage cost"); got != "fine\n\n— 0.0042 USD (estimate)" {
			t.Errorf("for one message: %q", got)
		}
		h.engine.then(h.engine.spends(provider.Tokens{}, fallback.Bill{Unpriced: 1}, "fine"))
		h.say("hi /usage full")
		all := h.room.Texts(channels.Reply)
		if got := all[len(all)-1]; got != "fine\n\n— anthropic/claude-opus-4-6 · tokens unknown: the vendor did not say · cost unknown: no price for anthropic/claude-opus-4-6" {
			t.Errorf("nothing known: %q", got)
		}
		// What is told below an answer is none of the model's own words.
		h.say("and?")
		asks := h.engine.asked()
		for _, m := range asks[len(asks)-1].Messages {
			if strings.Contains(m.Text, "—") {
				t.Errorf("the history has %q", m.Text)
			}
		}
	})
}

// "/verbose shows tools used": one notice in front of the answer, which takes no
// reply slot, and with full what they were given, without secrets.
func TestVerbose(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		use := func(text, input string) string {
			h.engine.then(h.engine.uses(&got, "session_status", input, h.engine.says("noon")))
			before := len(h.room.Texts())
			h.say(text)
			return strings.Join(h.room.Texts()[before:], " | ")
		}
		if got := use("time?", `{}`); got != "noon" {
			t.Errorf("off: %q", got)
		}
		if got := use("time? /verbose on", `{}`); got != "🔧 session_status | noon" {
			t.Errorf("on, for one message: %q", got)
		}
		h.say("/verbose full")
		if got := use("time?", `{"model":"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}`); !strings.HasPrefix(got, `🔧 session_status {"model":`) || !strings.HasSuffix(got, "} | noon") || strings.Contains(got, "klmnop") {
			t.Errorf("full: %q", got)
		}
		if got := use("time?", "none"); got != "🔧 session_status none (failed) | noon" {
			t.Errorf("a failure: %q", got)
		}
		if n := h.room.Texts(channels.Notice); len(n) != 3 {
			t.Errorf("the notices are %q", n)
		}
	})
}

// "/activation mention|always (rooms)": what a room was told counts before its
// rules, for its threads too; it is for who may give commands there.
func TestActivation(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		no := false
		h.cfg.Rules = policy.Rules{Surfaces: map[string]map[string]policy.Surface{"room": {"": {GroupPolicy: policy.GroupAllowlist,
			AllowFrom: []string{"alice"}, Rooms: map[string]policy.RoomRule{"C1": {}, "C2": {Mention: &no}}}}}}
		in := func(room, thread, user, text string) int {
			before := len(h.engine.asked())
			h.post(channels.Inbound{Text: text, Chat: channels.Room, From: channels.User{ID: user},
				To: channels.Address{Channel: "room", Conversation: room, Thread: thread}, Mentioned: strings.HasPrefix(text, "@")})
			h.settle()
			return len(h.engine.asked()) - before
		}
		if in("C1", "", "bob", "hello all") != 0 || in("C2", "", "bob", "hello all") != 1 {
			t.Fatal("the rooms' own rules do not count")
		}
		in("C1", "", "bob", "/activation always") // may not
		if in("C1", "", "bob", "hello all") != 0 {
			t.Error("a stranger has changed what the room answers to")
		}
		in("C1", "", "alice", "/activation always")
		in("C2", "", "alice", "/activation mention")
		if in("C1", "", "bob", "hello all") != 1 || in("C1", "t1", "bob", "in a thread") != 1 {
			t.Errorf("always: not all is answered (%s)", h.texts(channels.Command))
		}
		if in("C2", "", "bob", "hello all") != 0 || in("C2", "", "bob", "@agent hello") != 1 {
			t.Errorf("mention: %s", h.texts(channels.Command))
		}
		in("C1", "", "alice", "/activation default")
		if in("C1", "", "bob", "hello all") != 0 {
			t.Error("default does not go back")
		}
		h.say("/activation always")
		if got := h.texts(channels.Command); !strings.HasSuffix(got, "Here I answer everything: this is a direct chat. /activation is for rooms and groups.") {
			t.Errorf("in a direct chat: %q", got)
		}
	})
}
