package heartbeat_test

import (
	"slices"
	"testing"
	"time"

	"standin/fallback/provider"
	"standin/heartbeat"
)

// A trial only shows what the model says: it has no tool that changes something.
func TestATrialDoesNothing(t *testing.T) {
	inHouse(t, func(h *house) {
		h.cfg.Tools.On = true
		h.begin(false)
		h.say("hello")
		h.posted()
		h.vendors.then(primary, answer{calls: []provider.ToolCall{{ID: "1", Name: "message", Input: `{"text":"ordered","to":"agent:main:main"}`}}}, answer{text: "I would order."})
		if rep := h.beatFor(heartbeat.Trial); rep.Text != "I would order." {
			t.Errorf("%+v", rep)
		}
		if got := h.posted(); got != nil {
			t.Errorf("the room reads %q", got)
		}
		for _, tool := range h.vendors.last().Tools {
			if tool.Name == "message" {
				t.Error("it is offered a tool that acts")
			}
		}
	})
}

// What a beat did before standin ended is not done again by the next start [I8];
// one that had done nothing yet is taken up.
func TestACutShortBeatDoesNotActTwice(t *testing.T) {
	for _, c := range []struct {
		name  string
		first answer
		want  []string
		calls int // of the model after the restart
	}{
		{"it has acted", answer{calls: []provider.ToolCall{{ID: "1", Name: "message", Input: `{"text":"ordered"}`}}}, []string{"reply: ordered"}, 0},
		{"it has looked", answer{calls: []provider.ToolCall{{ID: "1", Name: "session_status", Input: `{}`}}}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.cfg.Tools.On = true
				h.files.write("Order what is missing.")
				h.begin(true)
				h.say("hello")
				h.posted()
				h.vendors.then(primary, c.first, answer{text: "late", took: 5 * time.Minute})
				for len(h.vendors.asked()) < 2 {
					h.pass(time.Minute)
				}
				h.close()
				h.vendors.asked()
				h.begin(true)
				h.pass(time.Second)
				h.settle()
				if got := h.posted(); !slices.Equal(got, c.want) {
					t.Errorf("the room reads %q, want %q", got, c.want)
				}
				if n := len(h.vendors.asked()); n != c.calls {
					t.Errorf("the next start asked %d times, want %d", n, c.calls)
				}
				if row := h.row(); row.Turn != "" {
					t.Errorf("left open: %+v", row)
				}
			})
		})
	}
}
