package discord

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/channels/discord/discordtest"
)

// What was said in a thread before can be read, oldest first and with the
// message that it hangs on, without what is asked about [SL19].
func TestPast(t *testing.T) {
	w := newWorld(t, setup{})
	thread := w.room.NewThread(w.bob, "a thread", false)
	w.s.Say(w.bob, thread, "one")
	w.s.Say(w.alice, thread, w.s.Bot.Mention()+" two")
	w.s.Post(discordtest.Message{Author: w.alice, Channel: thread.ID, Content: "a pin", Type: 6})
	w.mustSend(w.out("d1", thread.ID, "three"))
	last := w.s.Say(w.bob, thread, "four")
	texts := func(before string, limit int) (all []string) {
		past, err := w.c.Past(w.soon(), w.c.address(thread.ID), before, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range past {
			who := s.From.Name
			if s.Own {
				who = "me"
			}
			all = append(all, who+": "+s.Text)
		}
		return all
	}
	if d := cmp.Diff([]string{"bob: one", "alice: two", "me: three"}, texts(last.ID, 20)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"bob: four"}, texts("", 1)); d != "" {
		t.Error(d)
	}
	if got := texts("", 0); got != nil {
		t.Errorf("%q", got)
	}
	starter := `{"id":"2","channel_id":"3","type":21,"author":{"id":"4","username":"bob"},"content":"",
		"referenced_message":{"id":"1","channel_id":"9","type":0,"author":{"id":"5","username":"eve"},"content":"the question"}}`
	if s, ok := w.c.said([]byte(starter)); !ok || s.Text != "the question" || s.From.Name != "eve" {
		t.Errorf("the thread begins with %+v", s)
	}
}
