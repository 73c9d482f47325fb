package discord

import (
	"strings"
	"testing"

	"standin/channels"
)

// A reaction is put and taken away by name or sign, twice without harm; a post
// of ours is edited, and only into one message.
func TestReactionsAndEdits(t *testing.T) {
	w := newWorld(t, setup{})
	asked := w.s.Say(w.alice, w.room, "hello")
	to := w.out("d1", w.room.ID, "").To
	for _, on := range []bool{true, true, false, false} {
		if err := w.c.React(t.Context(), to, asked.ID, ":thumbsup:", on); err != nil {
			t.Fatal(err)
		}
		if w.s.Reacted(asked, "👍") != on {
			t.Errorf("reaction stands: %v, want %v", !on, on)
		}
	}
	if err := w.c.React(t.Context(), to, asked.ID, ":no_such:", true); channels.OutcomeOf(err) != channels.Refused {
		t.Errorf("%v", err)
	}
	posted := w.mustSend(w.out("d1", w.room.ID, "first"))
	if err := w.c.Edit(t.Context(), to, posted.MessageID, "second @everyone"); err != nil {
		t.Fatal(err)
	}
	if posts := w.s.Posts(w.room.ID); posts[0].Content != "second @everyone" || strings.Contains(string(posts[0].Allowed), "everyone") {
		t.Errorf("%+v", posts[0])
	}
	if err := w.c.Edit(t.Context(), to, posted.MessageID, strings.Repeat("long ", 1000)); channels.OutcomeOf(err) != channels.Refused {
		t.Errorf("%v", err)
	}
}
