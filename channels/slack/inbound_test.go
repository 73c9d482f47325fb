package slack

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// What a message becomes [T1, SL12–SL18].
func TestFactsOfAMessage(t *testing.T) {
	bot := "<@" + slacktest.BotUser + ">"
	for _, c := range []struct {
		name string
		say  slacktest.Say
		want channels.Inbound // ID, At, ThreadRoot and Guild are checked apart
	}{
		{"a direct message is addressed to the bot",
			slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "hello"},
			channels.Inbound{Chat: channels.Direct, From: channels.User{ID: slacktest.Alice, Name: "Alice"}, Text: "hello", Mentioned: true}},
		{"talk in a channel is not",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "lunch?"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "lunch?"}},
		{"a mention in a channel is, and a command behind it is one",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: bot + ": /status"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "/status", Mentioned: true}},
		{"a mention in the middle stays in the text",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "ask " + bot + " about it"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "ask " + bot + " about it", Mentioned: true}},
		{"a mention of somebody else says so",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<@" + slacktest.Alice + "> look"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "<@" + slacktest.Alice + "> look", MentionsOthers: true}},
		{"a user group with the bot in it is a mention",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<!subteam^S0BOTS|@bots> help"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "@bots help", Mentioned: true}},
		{"one without it is not",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "<!subteam^S0PEOPLE|@people> help"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "@people help"}},
		{"a chat of several people is a group",
			slacktest.Say{Room: slacktest.Trio, User: slacktest.Bob, Text: bot + " you too"},
			channels.Inbound{Chat: channels.Group, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "you too", Mentioned: true}},
		{"another bot is told as one",
			slacktest.Say{Room: slacktest.General, Bot: "B0ELSE", SubType: "bot_message", Text: "build failed"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: "B0ELSE"}, Text: "build failed", Bot: true}},
		{"Slack's tokens and escapes become what people read",
			slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "see <https://x.y|the page>, <https://z.w>, <#C1|general> &amp; a &lt; b <!here>"},
			channels.Inbound{Chat: channels.Direct, From: channels.User{ID: slacktest.Alice, Name: "Alice"}, Mentioned: true,
				Text: "see the page (https://x.y), https://z.w, #general & a < b @here"}},
		{"a broadcast reply is a message",
			slacktest.Say{Room: slacktest.General, User: slacktest.Bob, SubType: "thread_broadcast", Text: "all: done"},
			channels.Inbound{Chat: channels.Room, From: channels.User{ID: slacktest.Bob, Name: "Bob"}, Text: "all: done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			ts := r.s.Say(c.say)
			got := r.next()
			if at, _ := parseTS(ts); got.ID != ts || got.ThreadRoot != ts || !got.At.Equal(at) || got.Guild != slacktest.Team {
				t.Errorf("id %q, root %q, at %s, guild %q", got.ID, got.ThreadRoot, got.At, got.Guild)
			}
			c.want.To = r.to(c.say.Room, "")
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(channels.Inbound{}, "ID", "At", "ThreadRoot", "Guild")); d != "" {
				t.Error(d)
			}
			if n := len(r.handed()); n != 1 {
				t.Errorf("handed over %d times", n)
			}
		})
	}
}

// The same message comes as message and as app_mention, in either order: one
// message [SL13, slack-03, slack-04].
func TestMessageAndMentionAreOne(t *testing.T) {
	bot := "<@" + slacktest.BotUser + "> status?"
	for _, c := range []struct {
		name  string
		say   slacktest.Say
		ids   []string // suffixes
		heard []bool   // mentioned
	}{
		{"message first", slacktest.Say{Text: bot}, []string{""}, []bool{true}},
		{"mention first", slacktest.Say{Text: bot, MentionFirst: true}, []string{""}, []bool{true}},
		{"a message that did not show the mention, then the mention",
			slacktest.Say{Text: bot, Extra: map[string]any{"text": "status?"}}, []string{"", mentionSuffix}, []bool{false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			c.say.Room, c.say.User = slacktest.General, slacktest.Bob
			ts := r.s.Say(c.say)
			r.s.Repeat()
			in := r.handed()
			if len(in) != len(c.ids) {
				t.Fatalf("handed over %d times: %+v", len(in), in)
			}
			for i := range in {
				if in[i].ID != ts+c.ids[i] || in[i].Mentioned != c.heard[i] {
					t.Errorf("%d: %+v", i, in[i])
				}
			}
			if got := tsOf(in[len(in)-1].ID); got != ts {
				t.Errorf("an answer would refer to %q", got)
			}
		})
	}
}

// A mention in a direct chat comes as its message and once.
func TestMentionInADirectChat(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Say(slacktest.Say{Room: slacktest.Trio, User: slacktest.Bob, Text: "<@" + slacktest.BotUser + "> hi"})
	if in := r.handed(); len(in) != 1 || in[0].Chat != channels.Group {
		t.Errorf("%+v", in)
	}
}

// Own posts, whatever says that they are, edits, deletions and other noise are
// never input; the daemon's own edits make no turn [SL15, SL16, IL-128, IL-193, slack-10].
func TestNoiseIsNoInput(t *testing.T) {
	r := newRig(t, setup{})
	rc := r.send(channels.Outbound{ID: "d1", To: r.to(slacktest.General, ""), Kind: channels.Reply, Text: "from the bot"})
	ts := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "first"})
	r.s.Edit(slacktest.General, ts, "first, better")
	for range 5 {
		r.s.Edit(slacktest.General, rc.MessageID, "edited")
	}
	r.s.Tell(map[string]any{"type": "message", "channel": slacktest.General, "channel_type": "channel", "user": slacktest.BotUser, "text": "own user", "ts": "7.1"})
	r.s.Tell(map[string]any{"type": "message", "channel": slacktest.General, "channel_type": "channel", "bot_id": slacktest.BotID, "subtype": "bot_message", "text": "own bot", "ts": "7.2"})
	for _, sub := range []string{"message_deleted", "channel_join", "channel_topic", "pinned_item", "huddle_thread"} {
		r.s.Tell(map[string]any{"type": "message", "subtype": sub, "channel": slacktest.General, "user": slacktest.Bob, "text": sub, "ts": "8.1"})
	}
	in := slices.DeleteFunc(r.handed(), func(in channels.Inbound) bool { return in.Happening != nil }) // see TestHappenings
	if len(in) != 1 || in[0].Text != "first" {
		t.Errorf("%+v", in)
	}
}

// Threads: a reply is in its thread, a root is not, whatever its thread_ts says;
// a reply whose thread Slack leaves out is looked up, or dropped [SL17, IL-061].
func TestThreads(t *testing.T) {
	r := newRig(t, setup{})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	r.next()
	reply := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "reply", Thread: root})
	if in := r.next(); in.To.Thread != root || in.ThreadRoot != "" || in.ID != reply {
		t.Errorf("reply: %+v", in)
	}
	self := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "self", TS: "1700000000.000100", Thread: "1700000000.000100"})
	if in := r.next(); in.To.Thread != "" || in.ThreadRoot != self {
		t.Errorf("a root with its own thread_ts: %+v", in)
	}
	r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "lost reply", Thread: root, Extra: map[string]any{"thread_ts": nil}})
	if in := r.next(); in.Text != "lost reply" || in.To.Thread != root {
		t.Errorf("a reply without its thread: %+v", in)
	}
	r.s.Fail("conversations.history", slacktest.Fault{Code: "channel_not_found"})
	r.s.Fail("conversations.replies", slacktest.Fault{Code: "thread_not_found"})
	r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "astray", Thread: root, Extra: map[string]any{"thread_ts": nil}})
	for _, in := range r.handed() {
		if in.Text == "astray" {
			t.Errorf("mis-routed: %+v", in)
		}
	}
	dm := r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "dm root"})
	r.next()
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: "in the dm's thread", Thread: dm})
	if in := r.next(); in.Chat != channels.Direct || in.To.Thread != dm {
		t.Errorf("a thread of a direct chat: %+v", in)
	}
}

// In a thread that the bot takes part in, a message is implicitly meant for it;
// a restart changes nothing, and requireExplicitMention ends it [SL12, IL-192].
func TestTakingPartInAThread(t *testing.T) {
	for _, c := range []struct {
		name     string
		explicit bool
		restart  bool
		byBot    bool // the root is the bot's
		want     bool
	}{
		{"the bot answered in it", false, false, false, true},
		{"the bot answered in it before a restart", false, true, false, true},
		{"it hangs under a post of the bot's", false, true, true, true},
		{"a mention is asked for anyway", true, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{config: func(cfg *Config) { cfg.Thread.RequireExplicitMention = c.explicit }})
			var root string
			if c.byBot {
				root = r.send(channels.Outbound{ID: "d0", To: r.to(slacktest.General, ""), Kind: channels.Reply, Text: "daily"}).MessageID
			} else {
				root = r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
				r.next()
				r.send(channels.Outbound{ID: "d1", To: r.to(slacktest.General, root), Kind: channels.Reply, Text: "answer"})
			}
			if c.restart {
				r.c.threads = channels.NewRecent[string, bool](10, time.Hour)
			}
			r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "and then?", Thread: root})
			if in := r.next(); in.Implicit != c.want || in.Mentioned {
				t.Errorf("implicit %v, mentioned %v", in.Implicit, in.Mentioned)
			}
		})
	}
	t.Run("a thread among others is none of its", func(t *testing.T) {
		r := newRig(t, setup{})
		root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
		r.next()
		r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "reply", Thread: root})
		if in := r.next(); in.Implicit {
			t.Error("implicit")
		}
	})
}

// Files come as what can be opened: with the token, from Slack's hosts only, no
// sign-in page, none too large, eight at most [SL26].
func TestFiles(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.MediaMaxMb = 1 }, before: func(s *slacktest.Server) {
		s.AddFile(slacktest.File{ID: "F1", Name: "a.txt", Type: "text/plain", Data: []byte("the words")})
		s.AddFile(slacktest.File{ID: "F2", Name: "b.png", Type: "image/png", Data: []byte("x"), SignIn: true})
		s.AddFile(slacktest.File{ID: "F3", Name: "c.bin", Type: "application/octet-stream", Data: make([]byte, 2<<20)})
	}})
	r.s.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Files: []string{"F1", "F2", "F3", "F1", "F1", "F1", "F1", "F1", "F1"}})
	in := r.next()
	if len(in.Files) != maxFiles {
		t.Fatalf("%d files", len(in.Files))
	}
	read := func(f channels.File) (string, error) {
		rc, err := f.Open(r.ctx)
		if err != nil {
			return "", err
		}
		defer rc.Close()
		data, err := io.ReadAll(rc)
		return string(data), err
	}
	if f := in.Files[0]; f.Name != "a.txt" || f.Type != "text/plain" || f.Size != 9 {
		t.Errorf("%+v", f)
	}
	if text, err := read(in.Files[0]); text != "the words" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if _, err := read(in.Files[1]); err == nil || !strings.Contains(err.Error(), "page") {
		t.Errorf("a sign-in page: %v", err)
	}
	if _, err := read(in.Files[2]); err == nil || !strings.Contains(err.Error(), "mediaMaxMb") {
		t.Errorf("a large one: %v", err)
	}
	small := r.c.attached([]file{{ID: "F3", Type: "application/octet-stream", Private: r.s.URL + "/files/F3"}})
	if _, err := read(small[0]); err == nil {
		t.Error("a large one that says no size")
	}
	for _, link := range []string{"https://evil.example/f", "http://files.slack.com/f", "https://notslack.com/f", "https://slack.com.evil.example/f"} {
		f := r.c.attached([]file{{ID: "F9", Private: link}})
		if _, err := read(f[0]); err == nil || !strings.Contains(err.Error(), "host of Slack's") {
			t.Errorf("%s: %v", link, err)
		}
	}
}

// What was said before can be read, oldest first, without what is asked about.
func TestPast(t *testing.T) {
	r := newRig(t, setup{})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	r.send(channels.Outbound{ID: "d1", To: r.to(slacktest.General, root), Kind: channels.Reply, Text: "answer"})
	last := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "next", Thread: root})
	texts := func(at channels.Address, before string, limit int) (all []string) {
		past, err := r.c.Past(r.ctx, at, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range past {
			all = append(all, in.From.ID+": "+in.Text)
		}
		return all
	}
	if d := cmp.Diff([]string{slacktest.Bob + ": root", slacktest.BotUser + ": answer"}, texts(r.to(slacktest.General, root), last, 20)); d != "" {
		t.Error(d)
	}
	r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Alice, Text: "topic two"})
	if d := cmp.Diff([]string{slacktest.Bob + ": root", slacktest.Alice + ": topic two"}, texts(r.to(slacktest.General, ""), "", 2)); d != "" {
		t.Error(d)
	}
	if got := texts(r.to(slacktest.General, ""), "", 0); got != nil {
		t.Errorf("%q", got)
	}
}

// Who is in a room is asked once a minute [SL15].
func TestMember(t *testing.T) {
	r := newRig(t, setup{})
	for user, want := range map[string]bool{slacktest.Alice: true, "U0NOBODY": false} {
		if got, err := r.c.Member(r.ctx, r.to(slacktest.General, ""), user); got != want || err != nil {
			t.Errorf("%s: %v %v", user, got, err)
		}
	}
	if n := len(r.s.Calls("conversations.members")); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if _, err := r.c.Member(r.ctx, r.to("C0NOWHERE", ""), slacktest.Alice); err == nil {
		t.Error("a room that is not there has members")
	}
}
