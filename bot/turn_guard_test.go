package bot_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// A cap of nothing would answer nobody: one turn runs in any case [S28].
func TestACapOfNothingLetsOneTurnRun(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.cfg.MaxConcurrent = 0
		h.say("hi")
		h.wantTexts(t, "echo: hi")
	})
}

// A run that no person started is no interaction: a session that only its jobs
// speak in grows old [S8].
func TestABackgroundTurnIsNoInteraction(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		last := func() time.Time {
			s, err := h.db.Session(context.Background(), mainSession)
			if err != nil {
				t.Fatal(err)
			}
			return s.LastInteraction
		}
		h.say("hi")
		spoken := last()
		time.Sleep(time.Hour)
		if _, err := h.bot.Turn(t.Context(), bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Cron, Text: "report"}); err != nil {
			t.Fatal(err)
		}
		if now := last(); !now.Equal(spoken) {
			t.Errorf("spoken at %v, and after the job at %v", spoken, now)
		}
	})
}

// blind is a store whose outbox cannot be read for a while.
type blind struct {
	bot.Store
	reads int // that fail
}

func (s *blind) Due(ctx context.Context, now time.Time) ([]bot.Delivery, error) {
	if s.reads--; s.reads >= 0 {
		return nil, errors.New("the disk said no")
	}
	return s.Store.Due(ctx, now)
}

// What is owed is posted though the outbox could not be read when it was
// written: nobody else comes by to ask [I1].
func TestTheOutboxIsReadAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Store = &blind{Store: h.faults, reads: 3}
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(time.Minute)
		synctest.Wait()
		h.wantTexts(t, "echo: hi")
	})
}

// "The room gets one line that names the message": it answers the last of them
// [D21].
func TestTheLineForMissedMessagesAnswersTheLast(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, ""))
		h.post(channels.Inbound{ID: "first", Text: "first"})
		h.post(channels.Inbound{ID: "second", Text: "second"})
		synctest.Wait()
		h.crash()
		time.Sleep(20 * time.Minute)
		h.restart()
		h.settle()
		if posted := h.room.Posted(); len(posted) != 1 || posted[0].ReplyTo != "second" {
			t.Errorf("posted %+v", posted)
		}
	})
}
