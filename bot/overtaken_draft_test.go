package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
)

// A /stop that comes between the model's answer and its ending leaves nothing of
// the answer in the room: no draft waits there for a post that never comes [I8].
func TestAnOvertakenAnswerLeavesNoDraft(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Store = &between{Store: h.faults, answers: func() { h.post(channels.Inbound{Text: "/stop"}) }}
		h.engine.then(h.engine.shows("Half an", 0, "Half an answer."))
		h.say("tell me")
		h.wantTexts(t, "Stopped.")
		h.standing()
		if n := h.room.Count(channeltest.Discarded); n != 1 {
			t.Errorf("taken back %d times", n)
		}
	})
}

// limited is the answer of an engine whose candidates are all limited.
func limited(context.Context, fallback.Ask) (*fallback.Outcome, error) {
	return nil, &fallback.SummaryError{Plan: fallback.Plan{Selected: modelA}, Err: errors.New("limited"),
		Attempts: []fallback.Attempt{{Model: modelA, Position: 1, Total: 1, Reason: fallback.RateLimit}}}
}

// strict is the same for a model that a user chose.
func strict(context.Context, fallback.Ask) (*fallback.Outcome, error) {
	return nil, &fallback.SummaryError{Plan: fallback.Plan{Selected: modelA, Requested: modelA, Strict: true, Why: fallback.FromUser}, Err: errors.New("limited"),
		Attempts: []fallback.Attempt{{Model: modelA, Position: 1, Total: 1, Reason: fallback.RateLimit}}}
}

// A failure line that was never written holds no other one back [I1].
func TestALineThatWasNotWrittenIsNoEcho(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.bot.Store = &ended{Store: h.faults, once: true}
		h.engine.then(limited, limited)
		h.post(toBot(inRoom("boss", "one")))
		h.settle()
		if got := h.room.Texts(); len(got) != 0 {
			t.Fatalf("the room reads %q", got)
		}
		h.post(toBot(inRoom("boss", "two")))
		h.settle()
		if got := h.room.Texts(); len(got) != 1 || !strings.Contains(got[0], "rate-limited") {
			t.Errorf("the room reads %q", got)
		}
	})
}

// What a user chose exactly is always reported [M8, T21]; what a room has just
// read of a fallback chain is not said again.
func TestAUsersChoiceIsAlwaysReported(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   int
	}{"chain": {limited, 1}, "choice": {strict, 2}} {
		t.Run(name, func(t *testing.T) {
			ruled(t, openRoom, func(t *testing.T, h *house) {
				h.engine.then(c.answer, c.answer)
				h.post(toBot(inRoom("boss", "one")))
				h.settle()
				h.post(toBot(inRoom("boss", "two")))
				h.settle()
				if got := h.room.Texts(); len(got) != c.want {
					t.Errorf("the room reads %q", got)
				}
			})
		})
	}
}

// ended is a store in which somebody else was quicker with the first failed
// turn's ending.
type ended struct {
	bot.Store
	once bool
}

func (s *ended) End(ctx context.Context, e bot.Ending) ([]bot.Delivery, error) {
	if s.once && e.How == bot.Failed {
		s.once = false
		return nil, bot.ErrEnded
	}
	return s.Store.End(ctx, e)
}

// unwilling is a store that refuses the first n renewals.
type unwilling struct {
	bot.Store
	left int
}

func (s *unwilling) End(ctx context.Context, e bot.Ending) ([]bot.Delivery, error) {
	if e.Renew != nil && s.left > 0 {
		s.left--
		return nil, errDisk
	}
	return s.Store.End(ctx, e)
}

// Waiting messages end with the renewal that leaves them behind, in one
// transaction: one that is not written drops nothing [S11, I1].
func TestARenewalThatIsNotWrittenDropsNothing(t *testing.T) {
	for _, c := range []struct {
		name, command string
		refused       int
		want          []string
	}{
		{"written", "/new hello", 0, []string{"echo: hello"}},
		{"written at the third try", "/new hello", 2, []string{"echo: hello"}},
		{"not written", "/new hello", 100, []string{"slow", "/new did not work", "echo: two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.bot.Store = &unwilling{Store: h.faults, left: c.refused}
				h.engine.then(h.engine.hangs(time.Hour, "slow"))
				h.post(channels.Inbound{Text: "one"})
				synctest.Wait()
				h.post(channels.Inbound{Text: "two"})
				synctest.Wait()
				h.post(channels.Inbound{Text: c.command})
				h.later(2 * time.Hour)
				h.settle()
				got := h.room.Texts()
				for _, want := range c.want {
					found := false
					for _, text := range got {
						found = found || strings.HasPrefix(text, want)
					}
					if !found {
						t.Errorf("nothing begins with %q in %q", want, got)
					}
				}
				if c.refused < 100 {
					for _, text := range got {
						if text == "echo: two" {
							t.Errorf("what belonged to the old session was answered: %q", got)
						}
					}
				}
				if rows := h.unended(); len(rows) != 0 {
					t.Errorf("without an ending: %+v", rows)
				}
			})
		})
	}
}
