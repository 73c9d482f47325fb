package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

func reply(id string, to channels.Address, text string) channels.Outbound {
	return channels.Outbound{ID: id, To: to, Kind: channels.Reply, Text: text}
}

// A post goes into the thread it is addressed to, else under the message it
// refers to, else into the conversation [N27, SL20, slot-06, slot-07].
func TestWhereAPostGoes(t *testing.T) {
	r := newRig(t, setup{})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	inside := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "inside", Thread: root})
	for i, c := range []struct {
		name         string
		thread, refs string
		want         string
	}{
		{"to the root", "", "", ""},
		{"under the message it refers to", "", root, root},
		{"the same, when the message was an app_mention", "", root + mentionSuffix, root},
		{"in the thread it is addressed to", root, "", root},
		{"there, although it refers to a message inside", root, inside, root},
		{"a command is no message to refer to", "", "slash:123.456", ""},
	} {
		out := reply(fmt.Sprint("d", i), r.to(slacktest.General, c.thread), c.name)
		out.ReplyTo = c.refs
		rc := r.send(out)
		for _, m := range r.s.Posts(slacktest.General) {
			if m.TS == rc.MessageID && m.Thread != c.want {
				t.Errorf("%s: thread %q, want %q", c.name, m.Thread, c.want)
			}
		}
	}
}

// A notice under the same reference stands before the answer, in the thread, and
// takes no part in how the answer is placed [N26, N30, slot-06].
func TestNoticeBeforeAnswer(t *testing.T) {
	r := newRig(t, setup{})
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	posts := channels.Place(channels.ReplyFirst, false, []channels.Outbound{
		{ID: "n", To: r.to(slacktest.General, ""), Kind: channels.Notice, Text: "↪️ Model Fallback: b/two (selected a/one; rate limit)", ReplyTo: root},
		{ID: "a", To: r.to(slacktest.General, ""), Kind: channels.Reply, Text: "first", ReplyTo: root},
		{ID: "b", To: r.to(slacktest.General, ""), Kind: channels.Reply, Text: "second", ReplyTo: root},
	})
	for _, p := range posts {
		r.send(p)
	}
	var got []string
	for _, m := range r.s.Posts(slacktest.General) {
		got = append(got, m.Read()+"@"+strings.ReplaceAll(m.Thread, root, "thread"))
	}
	want := "↪️ Model Fallback: b/two (selected a/one; rate limit)@thread first@thread second@"
	if strings.Join(got, " ") != want {
		t.Errorf("%q", got)
	}
}

// Each failure of a post is told as what it is [I2, SL27].
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault slacktest.Fault
		want  channels.Outcome
		after time.Duration
	}{
		{"a limit was not applied, and names its wait", slacktest.Fault{Status: 429, RetryAfter: "3"}, channels.NotSent, 3 * time.Second},
		{"a limit with a fraction is rounded up", slacktest.Fault{Status: 429, RetryAfter: "2.3"}, channels.NotSent, 3 * time.Second},
		{"a limit without its wait", slacktest.Fault{Status: 429}, channels.NotSent, time.Second},
		{"a limit in the body", slacktest.Fault{Code: "ratelimited"}, channels.NotSent, time.Second},
		{"500 says nothing", slacktest.Fault{Status: 500}, channels.Unknown, 0},
		{"503 says nothing", slacktest.Fault{Status: 503, Body: "<html>busy</html>"}, channels.Unknown, 0},
		{"Slack's own trouble says nothing", slacktest.Fault{Code: "internal_error"}, channels.Unknown, 0},
		{"a cut answer says nothing", slacktest.Fault{Cut: true}, channels.Unknown, 0},
		{"an answer that is no JSON says nothing", slacktest.Fault{Body: "<html>ok</html>"}, channels.Unknown, 0},
		{"no such conversation is for good", slacktest.Fault{Code: "channel_not_found"}, channels.Refused, 0},
		{"not a member is for good", slacktest.Fault{Code: "not_in_channel"}, channels.Refused, 0},
		{"too long is for good", slacktest.Fault{Code: "msg_too_long"}, channels.Refused, 0},
		{"a code of next year is for good", slacktest.Fault{Code: "new_reason"}, channels.Refused, 0},
		{"a revoked token waits for its mending", slacktest.Fault{Code: "token_revoked"}, channels.NotSent, time.Minute},
		{"a missing scope waits for its mending", slacktest.Fault{Code: "missing_scope"}, channels.NotSent, time.Minute},
		{"a proxy that knows no such path has not passed it on", slacktest.Fault{Status: 404}, channels.NotSent, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{idle: true})
			r.s.Fail("chat.postMessage", c.fault)
			_, err := r.c.Send(r.ctx, reply("d1", r.to(slacktest.General, ""), "text"))
			var se *channels.SendError
			if !errors.As(err, &se) || se.Outcome != c.want || se.RetryAfter != c.after {
				t.Errorf("got %v, want %s after %s", err, c.want, c.after)
			}
			if strings.Contains(fmt.Sprint(err), slacktest.BotToken) {
				t.Error("the error tells the token")
			}
		})
	}
	t.Run("nobody listens: certainly not sent", func(t *testing.T) {
		r := newRig(t, setup{idle: true})
		r.s.Close()
		if _, err := r.c.Send(r.ctx, reply("d1", r.to(slacktest.General, ""), "text")); channels.OutcomeOf(err) != channels.NotSent {
			t.Errorf("%v", err)
		}
	})
	t.Run("a deadline after the request was written: unknown", func(t *testing.T) {
		r := newRig(t, setup{idle: true})
		r.s.Fail("chat.postMessage", slacktest.Fault{Delay: time.Minute})
		ctx, cancel := context.WithTimeout(r.ctx, 100*time.Millisecond)
		defer cancel()
		if _, err := r.c.Send(ctx, reply("d1", r.to(slacktest.General, ""), "text")); channels.OutcomeOf(err) != channels.Unknown {
			t.Errorf("%v", err)
		}
	})
}

// A message of several posts that is cut off in the middle goes on where it
// stopped, in this process and in the next [I2, IL-058].
func TestLongMessageGoesOn(t *testing.T) {
	long := func() string {
		var b strings.Builder
		for i := range 12 {
			fmt.Fprintf(&b, "Paragraph %02d. %s\n\n", i, strings.Repeat("word ", 60))
		}
		return b.String()
	}()
	for _, c := range []struct {
		name    string
		fault   slacktest.Fault
		restart bool
	}{
		{"a limit after the first post", slacktest.Fault{Status: 429, RetryAfter: "1"}, false},
		{"a limit, and then a restart", slacktest.Fault{Status: 429, RetryAfter: "1"}, true},
		{"a lost answer after the post", slacktest.Fault{Cut: true, Applied: true}, false},
		{"a lost answer and a restart", slacktest.Fault{Cut: true, Applied: true}, true},
		{"a lost answer without the post", slacktest.Fault{Cut: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{config: func(c *Config) { c.TextChunkLimit = 1500 }})
			root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
			out := reply("d1", r.to(slacktest.General, ""), long)
			out.ReplyTo = root
			r.s.Fail("chat.postMessage", slacktest.Fault{Delay: 1}, c.fault)
			_, err := r.c.Send(r.ctx, out)
			if err == nil {
				t.Fatal("the fault was not met")
			}
			if c.restart {
				r.c.posts = channels.NewRecent[string, *progress](10, time.Hour)
			}
			if channels.OutcomeOf(err) == channels.Unknown {
				if _, found, err := r.c.Find(r.ctx, out); found || err != nil {
					t.Fatalf("Find gave %v %v for a part of it", found, err)
				}
			}
			r.send(out)
			posts := r.s.Posts(slacktest.General)
			if want := len(split(long, 1500)); len(posts) != want {
				t.Fatalf("%d posts, want %d", len(posts), want)
			}
			seen := r.s.Seen(slacktest.General)
			for i := range 12 {
				if n := strings.Count(seen, fmt.Sprintf("Paragraph %02d.", i)); n != 1 {
					t.Errorf("paragraph %d stands there %d times", i, n)
				}
			}
			for _, m := range posts {
				if m.Thread != root {
					t.Errorf("a part went to %q", m.Thread)
				}
			}
			if rc, found, err := r.c.Find(r.ctx, out); !found || err != nil || rc.MessageID != posts[0].TS {
				t.Errorf("Find gave %v %v %v", rc, found, err)
			}
		})
	}
}

// A lost answer is looked up by our delivery id, in the thread or in the room,
// also by a process that knows nothing of it [IL-207, IL-270].
func TestFindAfterARestart(t *testing.T) {
	for _, thread := range []bool{false, true} {
		for _, posted := range []bool{true, false} {
			t.Run(fmt.Sprintf("thread %v, posted %v", thread, posted), func(t *testing.T) {
				r := newRig(t, setup{})
				root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
				out := reply("d1", r.to(slacktest.General, ""), "the answer")
				if thread {
					out.To.Thread = root
				}
				r.s.Fail("chat.postMessage", slacktest.Fault{Status: 500, Applied: posted})
				if _, err := r.c.Send(r.ctx, out); channels.OutcomeOf(err) != channels.Unknown {
					t.Fatal(err)
				}
				other, err := New(r.c.opt)
				if err != nil {
					t.Fatal(err)
				}
				rc, found, err := other.Find(r.ctx, out)
				if err != nil || found != posted || found != (rc.MessageID != "") {
					t.Fatalf("%v %v %v", rc, found, err)
				}
			})
		}
	}
	t.Run("what cannot be looked up is said to be unknowable", func(t *testing.T) {
		r := newRig(t, setup{})
		r.s.Fail("conversations.history", slacktest.Fault{Status: 500})
		if _, _, err := r.c.Find(r.ctx, reply("d1", r.to(slacktest.General, ""), "x")); err == nil {
			t.Error("no error")
		}
		out := reply("d1", r.to(slacktest.General, ""), "x")
		out.Only = slacktest.Bob
		if _, _, err := r.c.Find(r.ctx, out); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("an ephemeral post: %v", err)
		}
	})
}

// Where Slack takes no Markdown blocks the text goes as plain markup; where a
// thread is gone it goes to the conversation [IL-129]. Both once.
func TestSecondForms(t *testing.T) {
	r := newRig(t, setup{})
	r.s.Fail("chat.postMessage", slacktest.Fault{Code: "invalid_blocks"})
	r.send(reply("d1", r.to(slacktest.General, ""), "**bold** [t](https://x.y)"))
	if m := r.s.Posts(slacktest.General)[0]; m.Blocks != nil || m.Text != "*bold* <https://x.y|t>" {
		t.Errorf("%+v", m)
	}
	root := r.s.Say(slacktest.Say{Room: slacktest.General, User: slacktest.Bob, Text: "root"})
	r.s.Remove(slacktest.General, root)
	r.send(reply("d2", r.to(slacktest.General, root), "still said"))
	if m := r.s.Posts(slacktest.General)[1]; m.Thread != "" || m.Read() != "still said" {
		t.Errorf("%+v", m)
	}
}

// A post carries its delivery id as metadata, a short text beside its blocks,
// and no previews of links [SL24].
func TestFormOfAPost(t *testing.T) {
	r := newRig(t, setup{})
	text := "# Title\n\n" + strings.Repeat("many words ", 100) + "<@" + slacktest.Bob + ">"
	r.send(reply("d1", r.to(slacktest.General, ""), text))
	call := r.s.Calls("chat.postMessage")[0].Form
	if call["unfurl_links"] != "false" {
		t.Error("links are unfurled")
	}
	if n := len([]rune(call["text"])); n > summaryLength+40 || !strings.HasPrefix(call["text"], "*Title*") || !strings.HasSuffix(call["text"], "… <@"+slacktest.Bob+">") {
		t.Errorf("text %q", call["text"])
	}
	var meta struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	if err := json.Unmarshal([]byte(call["metadata"]), &meta); err != nil || meta.Type != deliveryEvent || meta.Payload["id"] != "d1" {
		t.Errorf("metadata %s", call["metadata"])
	}
	if r.s.Seen(slacktest.General) != text {
		t.Error("what is read is not what was said")
	}
}

// What one person alone may read is ephemeral [SL28].
func TestOnly(t *testing.T) {
	r := newRig(t, setup{})
	out := reply("d1", r.to(slacktest.General, ""), "for you")
	out.Only = slacktest.Bob
	rc := r.send(out)
	if got := r.s.Whispers(slacktest.General, slacktest.Bob); len(got) != 1 || got[0].Read() != "for you" || got[0].TS != rc.MessageID {
		t.Errorf("%+v", got)
	}
	if posts := r.s.Posts(slacktest.General); len(posts) != 0 {
		t.Errorf("all see %+v", posts)
	}
	r.send(out)
	if got := r.s.Whispers(slacktest.General, slacktest.Bob); len(got) != 1 {
		t.Errorf("said %d times", len(got))
	}
}
