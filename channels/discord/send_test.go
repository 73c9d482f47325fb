package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// Scenarios slot-08, discord-04 to discord-06 and D11: what the messages of a
// delivery look like.
func TestPosts(t *testing.T) {
	long := strings.Repeat("word ", 900) // 4,500 characters, three messages
	for _, c := range []struct {
		name  string
		mode  channels.ReplyMode
		kind  channels.Kind
		text  string
		refs  []bool // of each message
		check func(t *testing.T, m discordtest.Message)
	}{
		{"a reply refers with its first message only", channels.ReplyFirst, channels.Reply, long, []bool{true, false, false}, nil},
		{"in all with each", channels.ReplyAll, channels.Reply, long, []bool{true, true, true}, nil},
		{"a notice refers and pings nobody", channels.ReplyFirst, channels.Notice, "↪️ Model Fallback: b/two (selected a/one; rate limit)", []bool{true},
			func(t *testing.T, m discordtest.Message) { wantJSON(t, m.Allowed, `{"parse":[],"replied_user":false}`) }},
		{"people may be pinged, roles and everyone not [D13]", channels.ReplyFirst, channels.Reply, "@everyone <@&1> hello", []bool{true},
			func(t *testing.T, m discordtest.Message) {
				wantJSON(t, m.Allowed, `{"parse":["users"],"replied_user":true}`)
			}},
		{"links show no preview [D10]", channels.ReplyFirst, channels.Reply, "https://example.org", []bool{true},
			func(t *testing.T, m discordtest.Message) {
				if m.Flags&4 == 0 {
					t.Errorf("flags %d", m.Flags)
				}
			}},
		{"forty short lines are three messages", channels.ReplyFirst, channels.Reply, strings.Repeat("fifteen letters\n", 40), []bool{true, false, false}, nil},
		{"blanks around a text are no message of their own", channels.ReplyFirst, channels.Reply, "\n\n  hello \n\n\n", []bool{true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{config: func(cfg *Config) { cfg.ReplyToMode = c.mode }})
			asked := w.s.Say(w.alice, w.room, "question")
			out := w.out("d1", w.room.ID, c.text)
			out.Kind, out.ReplyTo = c.kind, asked.ID
			rc := w.mustSend(out)
			posts := w.s.Posts(w.room.ID)
			var refs []bool
			for _, m := range posts {
				refs = append(refs, m.Reference == asked.ID)
				if c.check != nil {
					c.check(t, m)
				}
			}
			if fmt.Sprint(refs) != fmt.Sprint(c.refs) || posts[0].ID != rc.MessageID {
				t.Errorf("references %v, want %v; receipt %v", refs, c.refs, rc)
			}
		})
	}
}

func wantJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	_ = json.Unmarshal(got, &a)
	_ = json.Unmarshal([]byte(want), &b)
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What Discord objects to and can be mended is mended within the same Send.
func TestPostsAreMended(t *testing.T) {
	t.Run("a message that is gone is not referred to", func(t *testing.T) {
		w := newWorld(t, setup{})
		out := w.out("d1", w.room.ID, "hello")
		out.ReplyTo = "100000000000000001"
		w.mustSend(out)
		w.wantTexts(w.room.ID, "hello")
	})
	t.Run("nor is one that may not be read", func(t *testing.T) {
		w := newWorld(t, setup{})
		out := w.out("d1", w.room.ID, "hello")
		out.ReplyTo = w.s.Say(w.alice, w.room, "x").ID
		w.s.Break(discordtest.Fault{Method: "POST", Path: "/messages", Status: 403, Body: `{"code":160002,"message":"Cannot reply without permission to read message history"}`})
		w.mustSend(out)
		w.wantTexts(w.room.ID, "hello")
	})
	t.Run("a refused reference is left out", func(t *testing.T) {
		w := newWorld(t, setup{})
		out := w.out("d1", w.room.ID, "hello")
		out.ReplyTo = w.s.Say(w.alice, w.room, "x").ID
		w.s.Break(discordtest.Fault{Method: "POST", Path: "/messages", Status: 400, Body: `{"code":50035,"message":"Invalid Form Body","errors":{"message_reference":{"_errors":[{"code":"X","message":"Unknown message"}]}}}`})
		w.mustSend(out)
		w.wantTexts(w.room.ID, "hello")
	})
	t.Run("an archived thread is opened again", func(t *testing.T) {
		w := newWorld(t, setup{})
		thread := w.room.NewThread(w.alice, "old", false)
		thread.Archived = true
		w.mustSend(w.out("d1", thread.ID, "hello"))
		w.wantTexts(thread.ID, "hello")
	})
	t.Run("a forum gets a post, and the rest goes into it [D5]", func(t *testing.T) {
		w := newWorld(t, setup{})
		forum := w.guild.NewForum("questions")
		w.mustSend(w.out("d1", forum.ID, "# Title\n"+strings.Repeat("word ", 500)))
		threads := w.s.Channels(discordtest.TypeThread)
		if len(threads) != 1 || threads[0].Name != "Title" || len(w.s.Posts(threads[0].ID)) != 2 {
			t.Errorf("threads %+v", threads)
		}
	})
	t.Run("user:<id> is that person's direct chat [IL-018]", func(t *testing.T) {
		w := newWorld(t, setup{})
		w.mustSend(w.out("d1", "user:"+w.alice.ID, "hello"))
		w.wantTexts(w.s.DM(w.alice).ID, "hello")
		w.mustSend(w.out("d2", "channel:"+w.room.ID, "hello room"))
		w.wantTexts(w.room.ID, "hello room")
	})
	t.Run("what one person may see goes to their direct chat", func(t *testing.T) {
		w := newWorld(t, setup{})
		out := w.out("d1", w.room.ID, "for you alone")
		out.Only = w.alice.ID
		w.mustSend(out)
		w.wantTexts(w.s.DM(w.alice).ID, "for you alone")
		w.wantTexts(w.room.ID)
	})
}

// With autoThread the answer opens a thread under the message, and the message
// already belongs to it [D4, D7]; a thread that is there already is used, and a
// restart in between does not lose it.
func TestAutoThread(t *testing.T) {
	set := setup{}
	var w *world
	r := newRig(t, setup{})
	guild := r.s.NewGuild("guild")
	room := guild.NewChannel("general")
	set.config = func(c *Config) {
		c.Guilds = map[string]Guild{guild.ID: {Channels: map[string]GuildChannel{room.ID: {AutoThread: true}}}}
	}
	r.c = r.channel(set)
	r.run()
	w = &world{rig: r, alice: r.s.Person("alice"), guild: guild, room: room}

	m := w.s.Say(w.alice, room, "how does the failover work?")
	in := w.next()
	if in.To.Conversation != m.ID || in.Parent != room.ID {
		t.Fatalf("message belongs to %+v, parent %q", in.To, in.Parent)
	}
	if n := len(w.s.Channels(discordtest.TypeThread)); n != 0 {
		t.Fatalf("%d threads before anything was answered", n)
	}
	out := w.out("d1", in.To.Conversation, "like this")
	out.ReplyTo = m.ID
	w.mustSend(out)
	w.wantTexts(m.ID, "like this")
	if threads := w.s.Channels(discordtest.TypeThread); len(threads) != 1 || threads[0].Name != "how does the failover work?" {
		t.Errorf("threads %+v", threads)
	}
	w.s.Say(w.alice, &discordtest.Channel{ID: m.ID}, "and then?")
	if next := w.next(); next.To != in.To || next.Parent != room.ID || !next.Implicit {
		t.Errorf("what follows belongs to %+v", next)
	}

	// Somebody else opens the thread first.
	m1 := w.s.Say(w.alice, room, "who is quicker?")
	w.next()
	if err := w.c.open(w.soon(), m1.ID, opening{parent: room.ID, name: "mine"}); err != nil {
		t.Fatal(err)
	}
	w.mustSend(w.out("d3", m1.ID, "not me"))
	w.wantTexts(m1.ID, "not me")

	// Another process answers a message that this one took.
	m2 := w.s.Say(w.alice, room, "second question")
	w.next()
	out = w.out("d2", m2.ID, "second answer")
	out.ReplyTo = m2.ID
	if _, err := w.channel(set).Send(w.soon(), out); err != nil {
		t.Fatal(err)
	}
	w.wantTexts(m2.ID, "second answer")
}

// How sure we are of a send that failed [I2, IL-270].
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault discordtest.Fault
		want  channels.Outcome
		after time.Duration // of RetryAfter, at least
	}{
		{"a server's error says nothing", discordtest.Fault{Status: 500}, channels.Unknown, 0},
		{"nor does a gateway's", discordtest.Fault{Status: 502, Body: "<html>"}, channels.Unknown, 0},
		{"nor a line that is cut", discordtest.Fault{Cut: true}, channels.Unknown, 0},
		{"nor an answer that comes too late", discordtest.Fault{Delay: time.Second, Applied: true}, channels.Unknown, 0},
		{"nor an answer that is no JSON", discordtest.Fault{Status: 200, Body: "<html>", Applied: true}, channels.Unknown, 0},
		{"a limit certainly refused it", discordtest.Limited("", "", time.Minute), channels.NotSent, 59 * time.Second},
		{"so did the limit of everything", discordtest.LimitedForAll(time.Minute), channels.NotSent, 59 * time.Second},
		{"so did the edge", discordtest.Edge("45"), channels.NotSent, 45 * time.Second},
		{"a token may be mended", discordtest.Fault{Status: 401, Body: `{"code":0,"message":"401: Unauthorized"}`}, channels.NotSent, time.Second},
		{"a page of the edge is not about the message", discordtest.Fault{Status: 403, Body: "<html>blocked</html>"}, channels.NotSent, time.Second},
		{"missing permissions stay missing", discordtest.Fault{Status: 403, Body: `{"code":50013,"message":"Missing Permissions"}`}, channels.Refused, 0},
		{"a person who takes no direct messages", discordtest.Fault{Status: 403, Body: `{"code":50007,"message":"Cannot send messages to this user"}`}, channels.Refused, 0},
		{"an unknown channel", discordtest.Fault{Status: 404, Body: `{"code":10003,"message":"Unknown Channel"}`}, channels.Refused, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{pace: func(p *pace) { p.call, p.patience = 200*time.Millisecond, 100*time.Millisecond }})
			c.fault.Method, c.fault.Path, c.fault.Times = http.MethodPost, "/messages", 1
			w.s.Break(c.fault)
			_, err := w.c.Send(w.soon(), w.out("d1", w.room.ID, "hello"))
			var se *channels.SendError
			if !errors.As(err, &se) || se.Outcome != c.want || se.RetryAfter < c.after {
				t.Fatalf("gave %v (%+v), want %s after %v", err, se, c.want, c.after)
			}
			if strings.Contains(err.Error(), w.s.Token) || strings.Contains(err.Error(), "http://") {
				t.Errorf("the error tells where and with what: %v", err)
			}
		})
	}
	t.Run("a server that is not there was not reached", func(t *testing.T) {
		r := newRig(t, setup{})
		r.s.Close()
		_, err := r.c.Send(r.soon(), r.out("d1", "100000000000000001", "hello"))
		if channels.OutcomeOf(err) != channels.NotSent {
			t.Errorf("gave %v", err)
		}
	})
}

// A delivery of several messages goes on where it stopped.
func TestALongDeliveryGoesOn(t *testing.T) {
	w := newWorld(t, setup{pace: func(p *pace) { p.patience = time.Millisecond }})
	out := w.out("d1", w.room.ID, strings.Repeat("word ", 900))
	w.s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages"}) // the first passes
	f := discordtest.Limited(http.MethodPost, "/messages", 100*time.Millisecond)
	w.s.Break(f)
	if _, err := w.c.Send(w.soon(), out); channels.OutcomeOf(err) != channels.NotSent {
		t.Fatalf("gave %v", err)
	}
	if n := len(w.texts(w.room.ID)); n != 1 {
		t.Fatalf("%d messages", n)
	}
	w.await("the limit is over", func() bool {
		_, err := w.c.Send(w.soon(), out)
		return err == nil
	})
	if n := len(w.texts(w.room.ID)); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

// Report IL-110: a limit of one channel holds up nobody else, and a send that
// waits for one ends with its context.
func TestLimitsAreApart(t *testing.T) {
	w := newWorld(t, setup{pace: func(p *pace) { p.patience = time.Hour }})
	other := w.guild.NewChannel("other")
	w.s.Break(discordtest.Limited(http.MethodPost, w.room.ID+"/messages", 30*time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.c.Send(ctx, w.out("d1", w.room.ID, "limited"))
		ended <- err
	}()
	w.await("the limit was met", func() bool { return w.s.Count(discordtest.REST, "POST /channels/"+w.room.ID+"/messages 429") == 1 })
	w.await("it waits", func() bool {
		return w.c.api.limits.take(routeOf(http.MethodPost, "channels/"+w.room.ID+"/messages")) > 0
	})
	w.mustSend(w.out("d2", other.ID, "not limited"))
	cancel()
	if err := <-ended; channels.OutcomeOf(err) != channels.NotSent {
		t.Errorf("gave %v", err)
	}
}

// Scenario discord-09: a limit is waited for, not run into again; what the
// headers say is kept to without meeting a single 429.
func TestLimitsAreKept(t *testing.T) {
	w := newWorld(t, setup{server: discordtest.Options{Limits: func(route string) (int, time.Duration) {
		if strings.HasPrefix(route, "POST /channels/:id/messages") {
			return 3, 100 * time.Millisecond
		}
		return 0, 0
	}}})
	for i := range 12 {
		w.mustSend(w.out(fmt.Sprint("d", i), w.room.ID, fmt.Sprint("text ", i)))
	}
	if n := w.s.Count(discordtest.Broken, ""); n != 0 {
		t.Errorf("ran into the limit %d times", n)
	}
	if n := len(w.texts(w.room.ID)); n != 12 {
		t.Errorf("%d messages", n)
	}
}

// A nonce is never longer than Discord takes, and differs where the delivery or
// the message does.
func TestNonce(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []string{"d", "abcdefghijklmnop-n", strings.Repeat("x", 23), strings.Repeat("x", 40), strings.Repeat("x", 41)} {
		for i := range 120 {
			n := nonce(id, i)
			if len(n) > nonceSize || seen[n] {
				t.Errorf("nonce %q of %s, %d", n, id, i)
			}
			seen[n] = true
		}
	}
}
