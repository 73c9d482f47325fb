package discord

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/discord/discordtest"
)

// A draft whose posting got no answer is found again: no half answer stays
// beside the whole one [I2].
func TestADraftWhosePostingWasNotAnswered(t *testing.T) {
	post := discordtest.Fault{Method: http.MethodPost, Path: "/messages"}
	lost := map[string]func(*discordtest.Fault){
		"the line was cut":         func(f *discordtest.Fault) { f.Cut, f.Applied = true, true },
		"Discord broke behind it":  func(f *discordtest.Fault) { f.Status, f.Applied = 500, true },
		"and it had not done it":   func(f *discordtest.Fault) { f.Status = 500 },
		"it was answered too late": func(f *discordtest.Fault) { f.Delay, f.Applied = 2*time.Second, true },
	}
	for name, spoil := range lost {
		for _, c := range []struct {
			what string
			do   func(w *world, d channels.Draft)
			want []string
		}{
			{"it grows on", func(_ *world, d channels.Draft) { d.Show("the answ") }, []string{"the answ"}},
			{"it becomes the answer", func(w *world, d channels.Draft) {
				d.Close()
				w.mustSend(w.out("d1", w.room.ID, "the answer"))
			}, []string{"the answer"}},
			{"it is taken back", func(_ *world, d channels.Draft) { d.Discard(); d.Close() }, nil},
		} {
			t.Run(name+", "+c.what, func(t *testing.T) {
				w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }, pace: func(p *pace) { p.call = 300 * time.Millisecond }})
				f := post
				spoil(&f)
				w.s.Break(f)
				d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
				d.Show("the ans")
				w.await("it was posted", func() bool { return w.s.Count(discordtest.REST, "POST /channels/"+w.room.ID+"/messages") > 0 })
				c.do(w, d)
				w.await(c.what, func() bool { return slices.Equal(w.texts(w.room.ID), c.want) })
			})
		}
	}
}

// A draft that stands above what was posted since is no place for an answer, and
// one whose answer is late makes room for the next [N31].
func TestADraftAboveALaterPostIsNotAdopted(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	w.s.Break(discordtest.Fault{Method: http.MethodPost, Path: "/messages", Status: 500})
	late := w.out("d0", w.room.ID, "the answer before")
	if _, err := w.c.Send(t.Context(), late); err == nil {
		t.Fatal("it was sent")
	}
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
	w.mustSend(late)
	d.Close()
	w.mustSend(w.out("d1", w.room.ID, "the answer"))
	w.wantTexts(w.room.ID, "the answer before", "the answer")
}

// A process that ends before the answer is posted takes the half of it away.
func TestTidyLeavesNoHalfAnswer(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
	d.Close()
	w.c.Tidy(t.Context())
	w.wantTexts(w.room.ID)
}

// The same when the answer has been tried, and could not take its place yet.
func TestTidyLeavesNoDraftThatWasToBecomeTheAnswer(t *testing.T) {
	w := newWorld(t, setup{config: func(c *Config) { c.Streaming = streamPartial }})
	d := w.c.Draft(t.Context(), w.c.address(w.room.ID), "", nil)
	d.Show("the ans")
	w.await("it is shown", func() bool { return len(w.texts(w.room.ID)) == 1 })
	d.Close()
	w.s.Break(discordtest.Fault{Method: http.MethodPatch, Path: "/messages/", Status: 500})
	if _, err := w.c.Send(t.Context(), w.out("d1", w.room.ID, "the answer")); channels.OutcomeOf(err) != channels.NotSent {
		t.Fatalf("sent with %v", err)
	}
	w.c.Tidy(t.Context())
	w.wantTexts(w.room.ID)
}
