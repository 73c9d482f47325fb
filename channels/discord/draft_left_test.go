package discord

import (
	"net/http"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/channels/discord/discordtest"
)

func showsParts(c *Config) { c.Streaming = streamPartial }

// What a process that was killed had shown, the next one takes back: it knows
// the message, or finds it by what the first one wrote down before posting [I8].
func TestADraftOfAFormerProcessIsTakenBack(t *testing.T) {
	for name, mark := range map[string]func([]channels.DraftMark) channels.DraftMark{
		"killed when it stood":                  func(kept []channels.DraftMark) channels.DraftMark { return kept[1] },
		"killed before its id was written down": func(kept []channels.DraftMark) channels.DraftMark { return kept[0] },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, setup{config: showsParts})
			w.mustSend(w.out("d0", w.room.ID, "an answer of before"))
			book := &channeltest.Book{}
			w.c.Draft(t.Context(), w.c.address(w.room.ID), "", book).Show("the ans")
			w.await("it is shown and written down", func() bool { return len(w.texts(w.room.ID)) == 2 && len(book.Kept()) == 2 })
			again := w.channel(setup{config: showsParts})
			for range 2 { // the second time there is nothing
				if err := again.Retract(w.soon(), mark(book.Kept())); err != nil {
					t.Fatal(err)
				}
			}
			w.wantTexts(w.room.ID, "an answer of before")
		})
	}
}

// A draft that was written down and never posted is nothing to take back:
// neither what was said long before in the same words, nor after, nor by others.
func TestRetractLeavesOtherPostsAlone(t *testing.T) {
	w := newWorld(t, setup{config: showsParts})
	w.mustSend(w.out("d0", w.room.ID, "Yes."))
	w.s.Say(w.alice, w.room, "Yes.")
	again := w.channel(setup{config: showsParts})
	never := channels.DraftMark{ID: "draft-that-was-not-posted", To: w.c.address(w.room.ID), Text: "Yes.", At: time.Now().Add(-time.Hour)}
	if err := again.Retract(w.soon(), never); err != nil {
		t.Fatal(err)
	}
	never.At = time.Now().Add(time.Hour)
	if err := again.Retract(w.soon(), never); err != nil {
		t.Fatal(err)
	}
	w.wantTexts(w.room.ID, "Yes.")
}

// The receipt of the answer is the message of the draft, so that the mark of the
// delivery ends the draft's row.
func TestTheReceiptNamesTheDraft(t *testing.T) {
	w := newWorld(t, setup{config: showsParts})
	book := &channeltest.Book{}
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", book)
	d.Show("the ans")
	w.await("it is written down", func() bool { return len(book.Kept()) == 2 })
	d.Close()
	if got, want := w.mustSend(w.out("d1", w.room.ID, "the answer")).MessageID, book.Kept()[1].MessageID; got != want {
		t.Errorf("posted as %s, drafted as %s", got, want)
	}
}

// What cannot be written down is not shown, and what is taken back is out of the
// book; what cannot be taken back is left to others.
func TestTheBookOfDrafts(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(*world, *channeltest.Book)
		hidden bool
		open   int
		reads  []string
	}{
		{name: "it is taken back"},
		{name: "it cannot be written down", hidden: true, before: func(_ *world, b *channeltest.Book) { b.Refuse() }},
		{name: "it cannot be taken back", open: 1, reads: []string{"the ans"}, before: func(w *world, _ *channeltest.Book) {
			w.s.Break(discordtest.Fault{Method: http.MethodDelete, Path: "/messages/", Status: 502, Times: tries})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setup{config: showsParts})
			book := &channeltest.Book{}
			if c.before != nil {
				c.before(w, book)
			}
			d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", book)
			d.Show("the ans")
			if !c.hidden {
				w.await("it is shown", func() bool { return len(book.Kept()) == 2 })
			}
			d.Discard()
			d.Close()
			<-d.(*draft).done
			if book.Open() != c.open || book.WasLeft() != (c.open > 0) {
				t.Errorf("open %d, left %v", book.Open(), book.WasLeft())
			}
			w.wantTexts(w.room.ID, c.reads...)
			if c.hidden && w.s.Count(discordtest.REST, "POST /channels/"+w.room.ID+"/messages") > 0 {
				t.Error("it was posted")
			}
		})
	}
}
