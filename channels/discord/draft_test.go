package discord

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// What is shown of an answer that grows [D15].
func TestPreview(t *testing.T) {
	for _, c := range []struct{ name, streaming, text, want string }{
		{"off shows nothing", streamOff, "some text", ""},
		{"partial shows the text", streamPartial, "some text", "some text"},
		{"partial shows the part that is being written", streamPartial, strings.Repeat("a", 1999) + "\n\nend", "end"},
		{"block shows finished paragraphs", streamBlock, "one\n\ntwo\n\nthr", "one\n\ntwo"},
		{"and none before there is one", streamBlock, "one", ""},
		{"and no half code", streamBlock, "```\none\n\ntwo", ""},
		{"progress shows eight lines", streamProgress, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "3\n4\n5\n6\n7\n8\n9\n10"},
		{"of 120 characters", streamProgress, strings.Repeat("x", 200), strings.Repeat("x", 119) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{config: func(cfg *Config) { cfg.Streaming = c.streaming }})
			if got := r.c.preview(c.text); got != c.want {
				t.Errorf("shows %q, want %q", got, c.want)
			}
		})
	}
}

// A draft becomes the answer in place, where nothing was said since.
func TestADraftBecomesTheAnswer(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return strings.Join(w.texts(w.room.ID), "") == "the ans" })
	first := w.s.Posts(w.room.ID)[0]
	if string(first.Allowed) == "" || !strings.Contains(string(first.Allowed), `"parse":[]`) {
		t.Errorf("a draft pings: %s", first.Allowed)
	}
	d.Close()
	rc := w.mustSend(w.out("d1", w.room.ID, "the answer"))
	w.wantTexts(w.room.ID, "the answer")
	if rc.MessageID != first.ID {
		t.Errorf("posted as %s, drafted as %s", rc.MessageID, first.ID)
	}
}

// A notice that comes while a draft stands is above the answer: the draft goes
// and the answer is posted anew [N31].
func TestANoticeIsAboveTheAnswer(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
	d.Close()
	notice := w.out("d1", w.room.ID, "the notice")
	notice.Kind = channels.Notice
	w.mustSend(notice)
	w.mustSend(w.out("d2", w.room.ID, "the answer"))
	w.wantTexts(w.room.ID, "the notice", "the answer")
}

// A draft whose answer refers to a message that it does not is replaced.
func TestADraftWithoutItsReferenceIsReplaced(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	asked := w.s.Say(w.alice, w.room, "question")
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), asked.ID, nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
	d.Close()
	out := w.out("d1", w.room.ID, "the answer")
	out.ReplyTo = asked.ID
	w.mustSend(out)
	if posts := w.s.Posts(w.room.ID); len(posts) != 1 || posts[0].Reference != asked.ID {
		t.Errorf("posts %+v", posts)
	}
}

// What nobody sends does not stay: a turn that was given up, a draft that was
// closed and never became an answer.
func TestDraftsDoNotStay(t *testing.T) {
	t.Run("its turn is over", func(t *testing.T) {
		w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
		ctx, cancel := context.WithCancel(t.Context())
		w.c.Draft(ctx, w.c.address(w.room.ID), "", nil).Show("the ans")
		w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
		cancel()
		w.await("it is gone", func() bool { return len(w.texts(w.room.ID)) == 0 })
	})
	t.Run("it is never sent", func(t *testing.T) {
		w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }, pace: func(p *pace) { p.orphan = 50 * time.Millisecond }})
		d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
		d.Show("the ans")
		w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
		d.Close()
		w.await("it is gone", func() bool { return len(w.texts(w.room.ID)) == 0 })
	})
}

// Typing is shown at once and again before it fades, until the draft is closed.
func TestTyping(t *testing.T) {
	w := newWorld(t, setup{})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Working()
	typed := func() int { return w.s.Count(discordtest.REST, "POST /channels/"+w.room.ID+"/typing 204") }
	w.await("it is typing", func() bool { return typed() >= 3 })
	d.Close()
	w.mustSend(w.out("d1", w.room.ID, "done"))
	if len(w.c.drafts.open) != 0 {
		t.Error("the draft is still open")
	}
}

// The ack reaction is put where its scope says, on the message whose turn began
// [D15, SL22].
func TestAckReaction(t *testing.T) {
	for _, c := range []struct {
		scope                   string
		direct, mentioned, room bool
	}{
		{ackGroupMentions, false, true, false}, {ackGroupAll, false, true, true}, {ackDirect, true, false, false},
		{ackAll, true, true, true}, {ackOff, false, false, false},
	} {
		t.Run(c.scope, func(t *testing.T) {
			w := newWorld(t, setup{config: func(cfg *Config) { cfg.AckReactionScope, cfg.RemoveAckAfterReply = c.scope, true }})
			dm := w.s.DM(w.alice)
			for _, m := range []struct {
				where *discordtest.Channel
				text  string
				want  bool
			}{{dm, "hi", c.direct}, {w.room, w.s.Bot.Mention() + " hi", c.mentioned}, {w.room, "hi", c.room}} {
				said := w.s.Say(w.alice, m.where, m.text)
				in := w.next()
				typed := "POST /channels/" + m.where.ID + "/typing"
				before := w.s.Count(discordtest.REST, typed)
				d := w.c.Draft(t.Context(), in.To, in.ID, nil)
				d.Working()
				w.await("it is typing", func() bool { return w.s.Count(discordtest.REST, typed) > before })
				if got := w.s.Reacted(said, "👀"); got != m.want {
					t.Errorf("%q: reacted %v, want %v", m.text, got, m.want)
				}
				d.Close()
				w.await("it is taken away", func() bool { return !w.s.Reacted(said, "👀") })
			}
		})
	}
}

// What Discord does not take of a draft is no failure of the turn.
func TestADraftThatFails(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	w.s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages", Status: 500})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("lost")
	w.await("it was tried", func() bool { return w.s.Count(discordtest.REST, "POST /channels/"+w.room.ID+"/messages 500") == 1 })
	d.Close()
	w.mustSend(w.out("d1", w.room.ID, "the answer"))
	w.wantTexts(w.room.ID, "the answer")
}
