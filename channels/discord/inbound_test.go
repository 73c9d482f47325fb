package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// world is a server with people, as most tests need it.
type world struct {
	*rig
	alice, bob discordtest.User
	guild      *discordtest.Guild
	room       *discordtest.Channel
}

func newWorld(t *testing.T, set setup) *world {
	t.Helper()
	r := newRig(t, set)
	w := &world{rig: r, alice: r.s.Person("alice"), bob: r.s.Person("bob"), guild: r.s.NewGuild("guild")}
	w.room = w.guild.NewChannel("general")
	r.run()
	return w
}

// What a message is, read off the wire: where, who, and whom it speaks to. Who
// may speak and what counts as addressed is decided elsewhere.
func TestFactsOfAMessage(t *testing.T) {
	w := newWorld(t, setup{})
	bot := w.s.Bot.Mention()
	own := w.mustSend(w.out("d1", w.room.ID, "said by the bot"))
	ownPost, _ := w.s.Find(w.room.ID, own.MessageID)
	thread := w.room.NewThread(w.bob, "a thread", false)
	hidden := w.room.NewThread(w.bob, "a thread that nobody told of", true)
	opened := w.room.NewThread(w.s.Bot, "a thread of the bot's", false)
	withRole, role := w.s.GiveRole(w.alice)
	group := w.s.GroupDM(w.alice, w.bob)
	other := w.s.OtherBot("other")
	for _, c := range []struct {
		name string
		say  func() *discordtest.Message
		want func(in *channels.Inbound)
	}{
		{"a direct chat speaks to the agent", func() *discordtest.Message { return w.s.Say(w.alice, w.s.DM(w.alice), "hi") },
			func(in *channels.Inbound) { in.Chat, in.Mentioned, in.Guild, in.Text = channels.Direct, true, "", "hi" }},
		{"a room speaks to everybody", func() *discordtest.Message { return w.s.Say(w.alice, w.room, "hi") },
			func(in *channels.Inbound) { in.Text = "hi" }},
		{"a mention speaks to the agent and is no part of the text [D6]", func() *discordtest.Message { return w.s.Say(w.alice, w.room, bot+" hi there") },
			func(in *channels.Inbound) { in.Mentioned, in.Text = true, "hi there" }},
		{"so does the older form", func() *discordtest.Message { return w.s.Say(w.alice, w.room, "hi <@!"+w.s.Bot.ID+">") },
			func(in *channels.Inbound) { in.Mentioned, in.Text = true, "hi" }},
		{"so does a mention of the bot's own role", func() *discordtest.Message { return w.s.Say(w.alice, w.room, "<@&"+w.guild.BotRole+"> hi") },
			func(in *channels.Inbound) { in.Mentioned, in.Text = true, "hi" }},
		{"everyone is not the agent [D6]", func() *discordtest.Message { return w.s.Say(w.alice, w.room, "@everyone hi") },
			func(in *channels.Inbound) { in.Text = "@everyone hi" }},
		{"a mention of somebody else is told [D6]", func() *discordtest.Message { return w.s.Say(w.alice, w.room, w.bob.Mention()+" hi") },
			func(in *channels.Inbound) { in.MentionsOthers, in.Text = true, w.bob.Mention()+" hi" }},
		{"a mention of both is for the agent", func() *discordtest.Message { return w.s.Say(w.alice, w.room, bot+" ask "+w.bob.Mention()) },
			func(in *channels.Inbound) { in.Mentioned, in.Text = true, "ask "+w.bob.Mention() }},
		{"a reply to the bot is implicit [D6]", func() *discordtest.Message { return w.s.Reply(w.alice, &ownPost, "and then?") },
			func(in *channels.Inbound) { in.Implicit, in.Text = true, "and then?" }},
		{"a thread is a conversation with a parent [D5, D7]", func() *discordtest.Message { return w.s.Say(w.alice, thread, "hi") },
			func(in *channels.Inbound) { in.To.Conversation, in.Parent, in.Text = thread.ID, w.room.ID, "hi" }},
		{"also one that the gateway did not tell of", func() *discordtest.Message { return w.s.Say(w.alice, hidden, "hi") },
			func(in *channels.Inbound) { in.To.Conversation, in.Parent, in.Text = hidden.ID, w.room.ID, "hi" }},
		{"a thread that the bot opened speaks to it [D6]", func() *discordtest.Message { return w.s.Say(w.alice, opened, "hi") },
			func(in *channels.Inbound) {
				in.To.Conversation, in.Parent, in.Implicit, in.Text = opened.ID, w.room.ID, true, "hi"
			}},
		{"roles are told [D4]", func() *discordtest.Message { return w.s.Say(withRole, w.room, "hi") },
			func(in *channels.Inbound) { in.Roles, in.Text = []string{role}, "hi" }},
		{"a bot is told [D8]", func() *discordtest.Message { return w.s.Say(other, w.room, bot+" hi") },
			func(in *channels.Inbound) {
				in.From = channels.User{ID: other.ID, Name: "other"}
				in.Bot, in.Mentioned, in.Text = true, true, "hi"
			}},
		{"a group is one", func() *discordtest.Message { return w.s.Say(w.alice, group, "hi") },
			func(in *channels.Inbound) { in.Chat, in.Guild, in.Text = channels.Group, "", "hi" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.say()
			got := w.next()
			want := channels.Inbound{ID: m.ID, To: w.c.address(m.Channel), Chat: channels.Room, From: channels.User{ID: w.alice.ID, Name: "alice"}, Guild: w.guild.ID}
			c.want(&want)
			if got.At.IsZero() || got.At.Sub(timeOf(m.ID)).Abs() > 1e9 {
				t.Errorf("at %v", got.At)
			}
			want.At = got.At
			if len(want.Roles) == 0 {
				want.Roles = got.Roles // alice may have her role by now
			}
			if !sameInbound(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func sameInbound(a, b channels.Inbound) bool {
	roles := strings.Join(a.Roles, " ") == strings.Join(b.Roles, " ")
	files := len(a.Files) == len(b.Files)
	a.Roles, b.Roles, a.Files, b.Files = nil, nil, nil, nil
	return roles && files && a.ID == b.ID && a.To == b.To && a.Chat == b.Chat && a.From == b.From && a.Text == b.Text &&
		a.Mentioned == b.Mentioned && a.At.Equal(b.At) && a.Bot == b.Bot && a.Implicit == b.Implicit && a.MentionsOthers == b.MentionsOthers &&
		a.Guild == b.Guild && a.Parent == b.Parent && a.Command == b.Command && a.ThreadRoot == b.ThreadRoot
}

// The bot does not hear itself, joins, pins, the beginning of a thread or the
// echo of a command [D8].
func TestWhatIsNoTalk(t *testing.T) {
	w := newWorld(t, setup{})
	w.mustSend(w.out("d1", w.room.ID, "my own words"))
	for _, kind := range []int{1, 2, 7} { // what happened is told as that, see TestHappenings
		w.s.Post(discordtest.Message{Author: w.alice, Channel: w.room.ID, Content: "system", Type: kind})
		if in := w.next(); in.Happening == nil || in.Text != "" {
			t.Errorf("handed over as a message: %+v", in)
		}
	}
	for _, kind := range []int{6, 18, 20, 21, 23} {
		w.s.Post(discordtest.Message{Author: w.alice, Channel: w.room.ID, Content: "system", Type: kind})
	}
	w.s.Odd(w.alice, w.room, "echo", map[string]any{"interaction_metadata": map[string]any{"id": "1", "type": 2, "user": map[string]any{"id": "2"}}})
	w.wantNothing(w.alice)
}

// The same message from a resumed connection, or from two at once, is handed
// over once; one that was not taken is offered again [D8, I1, discord-15, queue-13].
func TestAMessageIsTakenOnce(t *testing.T) {
	w := newWorld(t, setup{})
	failures := 2
	w.judge = func(in channels.Inbound) error {
		if in.Text == "try" && failures > 0 {
			failures--
			return errors.New("the store is full")
		}
		return nil
	}
	m := w.s.Say(w.alice, w.room, "once")
	w.s.Redeliver(m)
	w.s.Redeliver(m)
	w.s.Say(w.alice, w.room, "try")
	w.s.Say(w.alice, w.room, "after")
	for _, want := range []string{"once", "try", "after"} {
		if in := w.next(); in.Text != want {
			t.Errorf("handed over %q, want %q", in.Text, want)
		}
	}
	w.wantNothing(w.alice)
}

// Scenario discord-03: without the Message Content Intent the texts of rooms are
// empty; no turn runs on nothing, and health says what to switch on.
func TestMissingContentShows(t *testing.T) {
	w := newWorld(t, setup{server: discordtest.Options{Intents: 1 << 1}, config: func(c *Config) { c.Intents.MessageContent = false }})
	for range silenceShows {
		w.s.Say(w.alice, w.room, "unread")
	}
	w.await("health says so", func() bool { return strings.Contains(w.c.Health().Mend, "Message Content Intent") })
	w.s.Say(w.alice, w.room, w.s.Bot.Mention()+" this one comes")
	if in := w.next(); in.Text != "this one comes" {
		t.Errorf("handed over %+v", in)
	}
}

// A message of only a sticker or only a forward has words.
func TestStickersAndForwards(t *testing.T) {
	w := newWorld(t, setup{})
	w.s.Odd(w.alice, w.room, "", map[string]any{"sticker_items": []any{map[string]any{"id": "1", "name": "wave", "format_type": 1}}})
	if in := w.next(); in.Text != "[sticker: wave]" {
		t.Errorf("text %q", in.Text)
	}
	w.s.Odd(w.alice, w.room, "", map[string]any{"message_snapshots": []any{map[string]any{"message": map[string]any{"content": "one\ntwo"}}}})
	if in := w.next(); in.Text != "> one\n> two" {
		t.Errorf("text %q", in.Text)
	}
}

// Files are read when they are opened, through a new address when the old one
// has expired, never from elsewhere and never more than allowed.
func TestFiles(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.MediaMaxMb = 1 }})
	read := func(f channels.File) (string, error) {
		body, err := f.Open(t.Context())
		if err != nil {
			return "", err
		}
		defer func() { _ = body.Close() }()
		data, err := io.ReadAll(body)
		return string(data), err
	}
	m := w.s.Attach(w.alice, w.room, "", "note.txt", []byte("the contents"))
	in := w.next()
	if len(in.Files) != 1 || in.Files[0].Name != "note.txt" || in.Files[0].Size != 12 {
		t.Fatalf("files %+v", in.Files)
	}
	if got, err := read(in.Files[0]); got != "the contents" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	w.s.Expire(m)
	if got, err := read(in.Files[0]); got != "the contents" || err != nil {
		t.Errorf("read %q, %v after the address expired", got, err)
	}
	w.s.Attach(w.alice, w.room, "", "large", make([]byte, 2<<20))
	if _, err := read(w.next().Files[0]); err == nil || !strings.Contains(err.Error(), "mediaMaxMb") {
		t.Errorf("a large file gave %v", err)
	}
	w.s.Post(discordtest.Message{Author: w.alice, Channel: w.room.ID, Files: []discordtest.Attachment{{ID: "1", Name: "x", URL: "http://169.254.169.254/latest"}}})
	if _, err := read(w.next().Files[0]); err == nil || !strings.Contains(err.Error(), "hosts") {
		t.Errorf("a file from elsewhere gave %v", err)
	}
}

// What was said while the daemon was down is read again from where it stopped,
// where the store knows that, with the facts that the API leaves out [IL-010].
func TestCatchUpAtTheStart(t *testing.T) {
	known := map[string]string{}
	r := newRig(t, setup{options: func(o *Options) {
		o.Known = func(context.Context) (map[string]string, error) { return known, nil }
	}})
	alice := r.s.Person("alice")
	alice, role := r.s.GiveRole(alice)
	room := r.s.NewGuild("guild").NewChannel("general")
	known[room.ID] = r.s.Quietly(alice, room, "answered before").ID
	r.s.Quietly(alice, room, r.s.Bot.Mention()+" missed one")
	r.s.Quietly(alice, room, "missed two")
	r.run()
	one, two := r.next(), r.next()
	if one.Text != "missed one" || !one.Mentioned || two.Text != "missed two" {
		t.Errorf("handed over %+v, %+v", one, two)
	}
	if one.Guild != room.Guild || len(one.Roles) != 1 || one.Roles[0] != role || one.Chat != channels.Room {
		t.Errorf("facts are missing: %+v", one)
	}
	r.wantNothing(alice)
}

// What is read again is bounded by the setting, not by a page of the API, and
// the bot's own words do not count.
func TestCatchUpIsBounded(t *testing.T) {
	known := map[string]string{}
	r := newRig(t, setup{
		config: func(c *Config) { c.CatchUp.Limit = 20 },
		options: func(o *Options) {
			o.Known = func(context.Context) (map[string]string, error) { return known, nil }
		},
	})
	alice := r.s.Person("alice")
	room := r.s.NewGuild("guild").NewChannel("general")
	known[room.ID] = r.s.Quietly(alice, room, "answered before").ID
	for range page + 5 {
		r.s.Quietly(r.s.Bot, room, "my own words")
	}
	for i := range 30 {
		r.s.Quietly(alice, room, fmt.Sprint("missed ", i))
	}
	r.run()
	for i := range 20 {
		if in := r.next(); in.Text != fmt.Sprint("missed ", i) {
			t.Errorf("handed over %q as number %d", in.Text, i)
		}
	}
	r.wantNothing(alice)
	r.await("word that more was missed", func() bool { return strings.Contains(r.logs.String(), "more was missed") })
}
