package bot_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
)

// shows has the model write the beginning of an answer, and the rest after d.
func (e *engine) shows(half string, d time.Duration, whole string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		ask.OnText(half)
		return e.hangs(d, whole)(ctx, ask)
	}
}

// later lets time pass and what is due happen.
func (h *house) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// standing compares what drafts show in the room.
func (h *house) standing(want ...string) {
	h.t.Helper()
	if got := h.room.Standing(); !slices.Equal(got, want) {
		h.t.Errorf("drafts in the room: %q, want %q", got, want)
	}
}

// abandoned counts the rows of drafts that nobody ends.
func (h *house) abandoned() int {
	h.t.Helper()
	rows, err := h.db.Abandoned(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return len(rows)
}

// A process that is killed while an answer grows leaves its half in the room.
// The next one takes it away, and the message is answered once [I1, I8].
func TestHalfAnAnswerOfAKilledProcess(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.shows("Half an", time.Hour, "Half an answer."))
		h.post(channels.Inbound{Text: "tell me"})
		h.later(time.Second)
		h.standing("Half an")
		h.crash()
		h.standing("Half an") // a dead process takes nothing back
		h.restart()
		h.settle()
		h.later(time.Second)
		h.standing()
		if got := h.room.Texts(); len(got) != 1 {
			t.Errorf("the room reads %q", got)
		}
		if n := h.abandoned(); n != 0 {
			t.Errorf("%d drafts are still in the books", n)
		}
	})
}

// A half that cannot be taken away yet is tried again, for as long as the answer
// could be owed.
func TestHalfAnAnswerThatClings(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.shows("Half an", time.Hour, "Half an answer."))
		h.post(channels.Inbound{Text: "tell me"})
		h.later(time.Second)
		h.crash()
		h.room.Cling(5)
		h.restart()
		h.later(time.Second)
		h.standing("Half an")
		h.later(time.Minute)
		h.standing()
		if n := h.room.Count(channeltest.Retracted); n != 6 {
			t.Errorf("%d tries, want 6", n)
		}
	})
}

// An answer that was written and not posted takes the place of its half: the half
// goes first, so the room never reads both.
func TestTheHalfGoesBeforeTheWhole(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.room.Refuse(1, channels.NotSent) // and dies before the next try
		h.engine.then(h.engine.shows("Half an", 0, "Half an answer."))
		h.post(channels.Inbound{Text: "tell me"})
		h.later(500 * time.Millisecond)
		h.standing("Half an")
		h.crash()
		h.room.Cling(1)
		h.restart()
		h.later(time.Minute)
		h.standing()
		var order []string
		for _, e := range h.room.Journal() {
			if e.Event == channeltest.Retracted || e.Event == channeltest.Posted {
				order = append(order, e.Event)
			}
		}
		if want := []string{channeltest.Retracted, channeltest.Retracted, channeltest.Posted}; !slices.Equal(order, want) {
			t.Errorf("it went %q, want %q", order, want)
		}
	})
}

// An answer that may stand already is looked up before anything is taken away:
// the draft may be what it has become.
func TestTheLookComesBeforeTheHalfGoes(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.shows("Half an", time.Minute, "Half an answer."))
		h.post(channels.Inbound{Text: "tell me"})
		h.faults.arm(len(h.faults.written())+3, crashAfter) // the ending, the claim, the send
		h.later(2 * time.Minute)
		h.crash()
		h.restart()
		h.later(time.Minute)
		h.standing()
		looked, retracted := -1, -1
		for i, e := range h.room.Journal() {
			switch e.Event {
			case channeltest.LookedUp:
				looked = i
			case channeltest.Retracted:
				retracted = i
			}
		}
		if looked < 0 || retracted >= 0 && retracted < looked {
			t.Errorf("looked at %d, retracted at %d", looked, retracted)
		}
		if got := h.room.Texts(); len(got) != 1 {
			t.Errorf("the room reads %q", got)
		}
	})
}

// What the platform will never give back is let go of, with a word in the log.
func TestAHalfThatStaysForGood(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.shows("Half an", time.Hour, "Half an answer."))
		h.post(channels.Inbound{Text: "tell me"})
		h.later(time.Second)
		h.crash()
		h.room.Cling(100_000)
		h.restart()
		h.later(25 * time.Hour)
		if n := h.abandoned(); n != 0 {
			t.Errorf("%d drafts are tried for ever", n)
		}
	})
}
