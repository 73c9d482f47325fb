package slack

import (
	"testing"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/slack/slacktest"
)

// What a process that was killed had shown, the next one takes back: it knows
// the message, or finds it by what the first one wrote down before posting [I8].
func TestADraftOfAFormerProcessIsTakenBack(t *testing.T) {
	for name, mark := range map[string]func([]channels.DraftMark) channels.DraftMark{
		"killed when it stood":                  func(kept []channels.DraftMark) channels.DraftMark { return kept[1] },
		"killed before its id was written down": func(kept []channels.DraftMark) channels.DraftMark { return kept[0] },
	} {
		for place, thread := range map[string]bool{"in the room": false, "in a thread": true} {
			t.Run(name+", "+place, func(t *testing.T) {
				r := newRig(t, setup{config: func(c *Config) {
					if thread {
						c.ReplyToMode = channels.ReplyAll
					}
				}})
				in := r.asked(slacktest.DM, "tell me")
				book := &channeltest.Book{}
				r.c.Draft(r.ctx, in.To, in.ID, book).Show("It")
				r.await("it is shown and written down", func() bool { return r.reads(slacktest.DM, "It")() && len(book.Kept()) == 2 })

				again := nextProcess(t, r)
				if err := again.Retract(r.ctx, mark(book.Kept())); err != nil {
					t.Fatal(err)
				}
				if err := again.Retract(r.ctx, mark(book.Kept())); err != nil {
					t.Errorf("the second time it gave %v", err)
				}
				if !r.reads(slacktest.DM)() {
					t.Errorf("there stands %q", r.s.Seen(slacktest.DM))
				}
			})
		}
	}
}

// nextProcess is the same account in a process that remembers nothing.
func nextProcess(t *testing.T, r *rig) *Channel {
	t.Helper()
	c, err := New(r.c.opt)
	if err != nil {
		t.Fatal(err)
	}
	c.pace = hurried()
	return c
}

// A draft that was written down and never posted is nothing to take back, and
// what has become the answer is none of it.
func TestRetractLeavesOtherPostsAlone(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	book := &channeltest.Book{}
	d := r.c.Draft(r.ctx, in.To, in.ID, book)
	d.Show("It")
	r.await("it is shown and written down", func() bool { return len(book.Kept()) == 2 })
	d.Close()
	r.send(reply("d1", in.To, "It is so."))
	if err := nextProcess(t, r).Retract(r.ctx, book.Kept()[0]); err != nil {
		t.Fatal(err)
	}
	if !r.reads(slacktest.DM, "It is so.")() {
		t.Errorf("there stands %q", r.s.Seen(slacktest.DM))
	}
}

// The receipt of the answer is the message of the draft, so that the mark of the
// delivery ends the draft's row.
func TestTheReceiptNamesTheDraft(t *testing.T) {
	r := newRig(t, setup{})
	in := r.asked(slacktest.DM, "tell me")
	book := &channeltest.Book{}
	d := r.c.Draft(r.ctx, in.To, in.ID, book)
	d.Show("It")
	r.await("it is written down", func() bool { return len(book.Kept()) == 2 })
	d.Close()
	if got, want := r.send(reply("d1", in.To, "It is so.")).MessageID, book.Kept()[1].MessageID; got != want {
		t.Errorf("posted as %s, drafted as %s", got, want)
	}
}

// What cannot be written down is not shown, and what is taken back is out of the
// book; what cannot be taken back is left to others.
func TestTheBookOfDrafts(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*rig, *channeltest.Book)
		open   int
		left   bool
		reads  []string
	}{
		{name: "it is taken back"},
		{name: "it cannot be written down", before: func(_ *rig, b *channeltest.Book) { b.Refuse() }},
		{name: "it cannot be taken back", open: 1, left: true, reads: []string{"It"}, before: func(r *rig, _ *channeltest.Book) {
			for range removeTries {
				r.s.Fail("chat.delete", slacktest.Fault{Status: 502})
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, setup{})
			in := r.asked(slacktest.DM, "tell me")
			book := &channeltest.Book{}
			if c.before != nil {
				c.before(r, book)
			}
			d := r.c.Draft(r.ctx, in.To, in.ID, book)
			d.Show("It")
			if c.name != "it cannot be written down" {
				r.await("it is shown", func() bool { return len(book.Kept()) == 2 })
			}
			d.Discard()
			d.Close()
			<-d.(*draft).done
			if book.Open() != c.open || book.WasLeft() != c.left || !r.reads(slacktest.DM, c.reads...)() {
				t.Errorf("open %d, left %v, reads %q", book.Open(), book.WasLeft(), r.s.Seen(slacktest.DM))
			}
			if c.name == "it cannot be written down" && len(r.s.Calls("chat.postMessage")) > 0 {
				t.Error("it was posted")
			}
		})
	}
}
