package bot_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
)

// One message is answered by a stand-in: the room is owed one notice and then
// one answer, whatever befalls any single write or send on the way, with or
// without a crash and a new process [I1, I2, I3].
func TestEveryMishapGivesOneNoticeAndOneAnswer(t *testing.T) {
	steps := []string{"accept", "end", "claim", "send notice", "mark", "claim", "send reply", "mark"}
	for i, step := range steps {
		for _, m := range []mishap{notApplied, appliedUnsaid, crashBefore, crashAfter} {
			t.Run(fmt.Sprintf("%d %s %s", i+1, step, m), func(t *testing.T) {
				inHouse(t, func(t *testing.T, h *house) {
					h.engine.then(h.engine.fallsOver(modelB, "hello"), h.engine.fallsOver(modelB, "hello"))
					h.faults.arm(i+1, m)
					in := channels.Inbound{ID: "m1", Text: "hi"}
					acked := h.room.Say(context.Background(), in) == nil
					h.play(t)
					if m == crashBefore || m == crashAfter {
						<-h.faults.crashed
						h.crash()
						h.restart()
						h.play(t)
					}
					if !acked { // what was not acknowledged, the platform delivers again
						if err := h.room.Say(context.Background(), in); err != nil {
							t.Fatal("second delivery:", err)
						}
						h.play(t)
					}
					want := []string{
						"↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)",
						"hello",
					}
					if got := h.room.Texts(); !slices.Equal(got, want) {
						t.Errorf("the room has %q, want %q; writes: %v", got, want, h.faults.written())
					}
					if n := h.room.Count("repeated"); n > 0 {
						t.Errorf("%d posts were sent again although they stood in the room", n)
					}
					if rows := h.unended(); len(rows) > 0 {
						t.Errorf("%d messages are still owed an ending", len(rows))
					}
					h.say("again")
					if got := h.room.Texts(channels.Notice); len(got) != 1 {
						t.Errorf("notices after a sticky turn: %q", got)
					}
				})
			})
		}
	}
}

// play lets time pass until retries and look-ups are through, or the process
// has crashed.
func (h *house) play(t *testing.T) {
	t.Helper()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
}

// The fault table is only worth something if it covers every write there is.
func TestTheFaultTableNamesEveryWrite(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, "hello"))
		h.say("hi")
		want := []string{"accept", "end", "claim", "send notice", "mark", "claim", "send reply", "mark"}
		if got := h.faults.written(); !slices.Equal(got, want) {
			t.Errorf("writes of one turn: %q, the fault table has %q", got, want)
		}
	})
}
