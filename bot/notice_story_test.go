package bot_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
)

const (
	toldB       = "↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)"
	toldCleared = "↪️ Model Fallback cleared: anthropic/claude-opus-4-6 (was openai/gpt-5.4)"
)

// What a room reads of notices over some turns [N3, N5, N6].
func TestNoticesOverTime(t *testing.T) {
	down := func(h *house) { h.engine.then(h.engine.fallsOver(modelB, "from B")); h.say("hi") }
	up := func(h *house) { h.engine.then(h.engine.recovers("from A")); h.say("hi") }
	for _, c := range []struct {
		name string
		tell func(h *house)
		want []string
	}{
		{"ten sticky turns add none [notice-02]", func(h *house) {
			for range 11 {
				down(h)
			}
		}, []string{toldB}},
		{"a recovery is told before its answer [notice-03]", func(h *house) { down(h); up(h) }, []string{toldB, toldCleared}},
		{"on, cleared, on: three [notice-05]", func(h *house) { down(h); up(h); down(h) }, []string{toldB, toldCleared, toldB}},
		{"a restart repeats none [notice-22]", func(h *house) { down(h); h.crash(); h.restart(); down(h) }, []string{toldB}},
		{"a user's choice is no recovery [notice-24]", func(h *house) {
			down(h)
			h.say("/model google/gemini-3-pro")
			h.say("hi")
		}, []string{toldB}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				c.tell(h)
				if got := h.room.Texts(channels.Notice); !slices.Equal(got, c.want) {
					t.Errorf("notices %q, want %q", got, c.want)
				}
				for i, p := range h.room.Posted() {
					if p.Kind == channels.Notice && (i+1 == len(h.room.Posted()) || h.room.Posted()[i+1].Kind != channels.Reply) {
						t.Errorf("the notice %q does not stand before its answer", p.Text)
					}
				}
				for _, ask := range h.engine.asked() {
					for _, m := range ask.Messages {
						if strings.Contains(m.Text, "↪️") {
							t.Errorf("a model has read the notice %q [N20, notice-19]", m.Text)
						}
					}
				}
			})
		})
	}
}

// A platform that names the wait is waited for, twice if need be, and then there
// is one post; other rooms are not held up, and the tries can be counted [IL-056, slack-23].
func TestTheWaitThatAPlatformNames(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		limit := channeltest.Fault{Outcome: channels.NotSent, RetryAfter: 3 * time.Second}
		h.room.Break(limit)
		began := time.Now()
		h.mails("d1", "limited")
		h.later(0)
		h.mailsTo("elsewhere", "d2", "at once")
		h.later(time.Second)
		if got := h.room.Texts(); !slices.Equal(got, []string{"at once"}) {
			t.Errorf("after a second there is %q", got)
		}
		h.room.Break(limit) // and of the next try
		h.later(3 * time.Second)
		owed, err := h.db.Owed(t.Context())
		if err != nil || len(owed) != 1 || owed[0].Attempts != 2 {
			t.Errorf("owed %+v %v", owed, err)
		}
		posts, err := h.room.Await(t.Context(), 2)
		if took := time.Since(began); err != nil || len(posts) != 2 || took < 6*time.Second || took > 7*time.Second {
			t.Errorf("%d posts after %v, %v", len(posts), took, err)
		}
	})
}

// Two connections that bring one message in one moment run one turn [IL-189, discord-15].
func TestOneMessageOnTwoConnections(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { h.post(channels.Inbound{ID: "7", Text: "hi"}) })
		}
		both.Wait()
		h.settle()
		if n := len(h.engine.asked()); n != 1 {
			t.Errorf("%d asks", n)
		}
		h.wantTexts(t, "echo: hi")
	})
}
