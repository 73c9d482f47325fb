package bot_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// between is a store in which something happens just before or after a write.
type between struct {
	bot.Store
	accepted func()
	answers  func()       // once, before an answer's ending
	claim    func() error // after a claim; its error is what the caller hears
}

func (s *between) Accept(ctx context.Context, in channels.Inbound, k fallback.SessionID, a fallback.AgentID, at time.Time) (row bot.Accepted, fresh bool, err error) {
	row, fresh, err = s.Store.Accept(ctx, in, k, a, at)
	if s.accepted != nil {
		s.accepted()
	}
	return row, fresh, err
}

func (s *between) End(ctx context.Context, e bot.Ending) ([]bot.Delivery, error) {
	if f := s.answers; f != nil && e.How == bot.Answered {
		s.answers = nil
		f()
	}
	return s.Store.End(ctx, e)
}

func (s *between) Claim(ctx context.Context, id string) (bool, error) {
	ok, err := s.Store.Claim(ctx, id)
	if s.claim != nil && err == nil {
		if err := s.claim(); err != nil {
			return false, err
		}
	}
	return ok, err
}

// An answer that a /stop was quicker than is not posted, and nobody goes on
// waiting for it [I1].
func TestNobodyWaitsForAnOvertakenAnswer(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Store = &between{Store: h.faults, answers: func() { h.post(channels.Inbound{Text: "/stop"}) }}
		in := channels.Inbound{ID: "m", To: channels.Address{Channel: "room", Conversation: "dm"}, Text: "hi"}
		h.post(in)
		h.settle()
		h.wantTexts(t, "Stopped.")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := h.bot.Wait(ctx, in); err != nil {
			t.Errorf("still waited for: %v", err)
		}
	})
}

// "Every accepted message ends" [I1], also when the platform hangs up in the
// moment in which it was accepted.
func TestAnAcceptedMessageEndsThoughItsPlatformHasGone(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		ctx, leave := context.WithCancel(t.Context())
		h.bot.Store = &between{Store: h.faults, accepted: leave}
		in := channels.Inbound{ID: "m", To: channels.Address{Channel: "room", Conversation: "C1"}, Chat: channels.Room,
			From: channels.User{ID: "U1"}, Text: "by the way"}
		if err := h.bot.Receive(ctx, in); err != nil {
			t.Fatal(err)
		}
		h.settle()
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("%+v has no ending", rows)
		}
	})
}

// A claim that was written although the store said otherwise is given back: the
// delivery does not wait for a restart [I2].
func TestAClaimInDoubtIsGivenBack(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		tries := 0
		h.bot.Store = &between{Store: h.faults, claim: func() error {
			if tries++; tries <= 4 {
				return errDisk
			}
			return nil
		}}
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(time.Minute)
		synctest.Wait()
		h.wantTexts(t, "echo: hi")
	})
}
