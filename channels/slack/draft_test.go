package slack

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/slack/slacktest"
)

// asked lets somebody ask in a room and gives the message as it was handed over.
func (r *rig) asked(room, text string) channels.Inbound {
	r.t.Helper()
	r.s.Say(slacktest.Say{Room: room, User: slacktest.Alice, Text: text})
	return r.next()
}

// reads tells whether the bot's posts in a room are these.
func (r *rig) reads(room string, want ...string) func() bool {
	return func() bool {
		var got []string
		for _, m := range r.s.Posts(room) {
			got = append(got, m.Read())
		}
		return slices.Equal(got, want)
	}
}

// The draft grows by edits of one message, and the final text takes its place:
// one message, found by its delivery id [SL25, I8].
func TestDraftBecomesTheAnswer(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Working()
	d.Show("It")
	r.await("the draft is shown", r.reads(slacktest.DM, "It"))
	d.Show("It is")
	r.await("it grows", r.reads(slacktest.DM, "It is"))
	d.Show("It is so")
	d.Close()
	out := reply("d1", in.To, "It is so.")
	rc := r.send(out)
	posts := r.s.Posts(slacktest.DM)
	if len(posts) != 1 || posts[0].Read() != "It is so." || posts[0].TS != rc.MessageID {
		t.Errorf("%+v", posts)
	}
	r.c.posts = channels.NewRecent[string, *progress](10, time.Hour)
	if got, found, err := r.c.Find(r.ctx, out); !found || err != nil || got != rc {
		t.Errorf("Find gave %v %v %v", got, found, err)
	}
	if n := len(r.s.Calls("chat.postMessage")); n != 1 {
		t.Errorf("%d new messages", n)
	}
}

// Edits keep their pace, however fast the text grows.
func TestDraftKeepsItsPace(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.update = time.Hour }})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("word 0")
	r.await("it is shown", r.reads(slacktest.DM, "word 0"))
	for i := range 1000 {
		d.Show(fmt.Sprint("word ", i))
	}
	d.Close()
	r.send(reply("d1", in.To, "all of it"))
	if n := len(r.s.Calls("chat.update")); n != 1 {
		t.Errorf("%d edits", n)
	}
	if !r.reads(slacktest.DM, "all of it")() {
		t.Errorf("%q", r.s.Seen(slacktest.DM))
	}
}

// A candidate that failed leaves nothing: its text is taken back, at once.
func TestDiscardedDraft(t *testing.T) {
	r := newRig(t, setup{pace: func(p *pace) { p.update = time.Hour }})
	in := r.asked(slacktest.DM, "tell me")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Show("the wrong way")
	r.await("it is shown", r.reads(slacktest.DM, "the wrong way"))
	d.Discard()
	r.await("it is gone", r.reads(slacktest.DM))
	d.Close()
}

// What the final text does not fit into is taken away, and everything is posted
// anew: a notice stands before the answer, a long answer is several posts, a
// failure line is no answer [N31, SL25].
func TestDraftThatIsNotAdopted(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("Paragraph.\n\n", 60))
	for _, c := range []struct {
		name  string
		posts []channels.Outbound
		want  []string
	}{
		{"a notice comes first", []channels.Outbound{
			{ID: "n", Kind: channels.Notice, Text: "↪️ notice"}, {ID: "a", Kind: channels.Reply, Text: "answer"}}, []string{"↪️ notice", "answer"}},
		{"the answer is long", []channels.Outbound{{ID: "a", Kind: channels.Reply, Text: long}}, split(long, 300)},
		{"the turn failed", []channels.Outbound{{ID: "f", Kind: channels.Failure, Text: "no luck"}}, []string{"no luck"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{config: func(c *Config) { c.TextChunkLimit = 300 }})
			in := r.asked(slacktest.DM, "tell me")
			d := r.c.Draft(r.ctx, in.To, in.ID, nil)
			d.Show("so far")
			r.await("it is shown", r.reads(slacktest.DM, "so far"))
			d.Close()
			for _, p := range c.posts {
				p.To = in.To
				r.send(p)
			}
			if !r.reads(slacktest.DM, c.want...)() {
				t.Errorf("stands there: %q", r.s.Seen(slacktest.DM))
			}
		})
	}
}

// An edit that was lost is looked up and made again; it never makes a second
// message.
func TestAdoptionThatIsLost(t *testing.T) {
	for _, f := range []slacktest.Fault{
		{Cut: true, Applied: true}, {Cut: true}, {Status: 500, Applied: true}, {Status: 429, RetryAfter: "1"}, {Code: "edit_window_closed"}, {Code: "message_not_found"},
	} {
		t.Run(fmt.Sprintf("%+v", f), func(t *testing.T) {
			r := newRig(t, setup{})
			in := r.asked(slacktest.DM, "tell me")
			d := r.c.Draft(r.ctx, in.To, in.ID, nil)
			d.Show("so far")
			r.await("it is shown", r.reads(slacktest.DM, "so far"))
			d.Close()
			r.s.Fail("chat.update", f)
			out := reply("d1", in.To, "final")
			_, err := r.c.Send(r.ctx, out)
			found := false
			if channels.OutcomeOf(err) == channels.Unknown {
				_, found, err = r.c.Find(r.ctx, out)
				if err != nil || found != f.Applied {
					t.Fatalf("Find gave %v %v", found, err)
				}
			}
			if !found {
				r.send(out)
			}
			if n := strings.Count(r.s.Seen(slacktest.DM), "final"); n != 1 || strings.Contains(r.s.Seen(slacktest.DM), "so far") {
				t.Errorf("stands there: %q", r.s.Seen(slacktest.DM))
			}
		})
	}
}

// The streaming modes show what they say [SL25].
func TestStreamingModes(t *testing.T) {
	text := "First paragraph.\n\n```go\nx := 1\n\ny := 2\n```\n\nLast, unfinished"
	for mode, want := range map[string]string{
		streamOff: "", streamProgress: "_Writing the answer…_", streamPartial: text,
		streamBlock: "First paragraph.\n\n```go\nx := 1\n\ny := 2\n```",
	} {
		cfg := Defaults()
		cfg.Streaming = mode
		c := &Channel{cfg: cfg}
		if got := c.shown(text); got != want {
			t.Errorf("%s: %q", mode, got)
		}
		if got := c.shown("  "); got != "" {
			t.Errorf("%s of nothing: %q", mode, got)
		}
	}
	cfg := Defaults()
	cfg.Streaming = streamBlock
	if got := (&Channel{cfg: cfg}).shown(text[:strings.Index(text, "y :=")]); got != "First paragraph." {
		t.Errorf("block inside a fence: %q", got)
	}
}

// In a thread the status line tells that the turn runs, and ends with the post
// or, without one, with the turn [SL21].
func TestStatusLine(t *testing.T) {
	r := newRig(t, setup{})
	root := r.asked(slacktest.General, "<@"+slacktest.BotUser+"> think")
	to := r.to(slacktest.General, root.ID)
	d := r.c.Draft(r.ctx, to, root.ID, nil)
	d.Working()
	r.await("it is shown", func() bool { return r.s.Status(slacktest.General, root.ID) != "" })
	d.Close()
	r.await("it ends with the turn", func() bool { return r.s.Status(slacktest.General, root.ID) == "" })
}

// Ack reactions: by scope, taken away with the answer if so set; that one is
// there already is no error [SL22, slack-19, slack-20].
func TestAckReaction(t *testing.T) {
	mention := "<@" + slacktest.BotUser + "> hi"
	for _, c := range []struct {
		scope, room, text string
		want              bool
	}{
		{"group-mentions", slacktest.DM, "hi", false},
		{"group-mentions", slacktest.General, mention, true},
		{"group-mentions", slacktest.General, "hi", false},
		{"group-all", slacktest.General, "hi", true},
		{"group-all", slacktest.DM, "hi", false},
		{"direct", slacktest.DM, "hi", true},
		{"direct", slacktest.General, mention, false},
		{"all", slacktest.DM, "hi", true},
		{"off", slacktest.General, mention, false},
	} {
		t.Run(c.scope+" "+c.room+" "+c.text, func(t *testing.T) {
			r := newRig(t, setup{config: func(cfg *Config) { cfg.AckReactionScope, cfg.RemoveAckAfterReply = c.scope, true }})
			in := r.asked(c.room, c.text)
			if c.want {
				r.s.Fail("reactions.add", slacktest.Fault{Code: "already_reacted", Applied: true})
			}
			d := r.c.Draft(r.ctx, in.To, in.ID, nil)
			d.Close()
			out := reply("d1", in.To, "answer")
			out.ReplyTo = ""
			<-d.(*draft).done
			if n := len(r.s.Calls("reactions.add")); n != btoi(c.want) {
				t.Errorf("%d reactions", n)
			}
			r.send(out)
			if c.want {
				r.await("it is taken away", func() bool { return len(r.s.Calls("reactions.remove")) == 1 })
			}
			if strings.Contains(r.log.String(), "reaction not set") {
				t.Error("already_reacted counts as an error")
			}
		})
	}
}

// Outside of threads a typing reaction stands for the status line, while the
// turn runs.
func TestTypingReaction(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.TypingReaction = "hourglass" }})
	in := r.asked(slacktest.DM, "think")
	d := r.c.Draft(r.ctx, in.To, in.ID, nil)
	d.Working()
	r.await("it is there", func() bool { return len(r.s.Messages(slacktest.DM)[0].Reactions["hourglass"]) == 1 })
	d.Close()
	r.await("it is gone", func() bool { return len(r.s.Messages(slacktest.DM)[0].Reactions["hourglass"]) == 0 })
}
