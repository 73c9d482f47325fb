package discord

import (
	"fmt"
	"testing"
	"time"

	"standin/channels/discord/discordtest"
)

// Ten stale connections in a row cost reconnects and nothing else: Run goes on,
// and what is said in between is handed over once [IL-016].
func TestTenStaleConnectionsAreOnlyReconnects(t *testing.T) {
	w := newWorld(t, setup{server: discordtest.Options{Interval: 20 * time.Millisecond}})
	for i := range 10 {
		w.s.Mute()
		w.await("it has resumed", func() bool { return w.s.Count(discordtest.Resumed, "") >= i+1 })
		text := fmt.Sprint("after silence ", i)
		w.s.Say(w.alice, w.room, text)
		if in := w.next(); in.Text != text {
			t.Fatalf("handed over %q, want %q", in.Text, text)
		}
	}
	w.wantNothing(w.bob)
}

// A peer that never answers the close of the old connection holds the new one up
// no longer than a write may take [IL-104].
func TestAnUnansweredCloseHoldsNothingUp(t *testing.T) {
	w := newWorld(t, setup{server: discordtest.Options{Interval: 20 * time.Millisecond}, pace: func(p *pace) { p.write = 200 * time.Millisecond }})
	for i := range 3 {
		began := time.Now()
		w.s.Mute() // not a word more, the answer to a close included
		w.await("it has resumed", func() bool { return w.s.Count(discordtest.Resumed, "") >= i+1 })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("reconnect %d took %v", i, took)
		}
	}
	w.s.Say(w.alice, w.room, "still there?")
	w.next()
}
