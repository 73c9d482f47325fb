package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
)

// surface is the room with another way of sending.
type surface struct {
	*channeltest.Room
	send func(ctx context.Context, out channels.Outbound) (channels.Receipt, error)
}

func (s *surface) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	return s.send(ctx, out)
}

// sends replaces the way in which the house posts.
func (h *house) sends(send func(ctx context.Context, out channels.Outbound) (channels.Receipt, error)) {
	h.bot.Channels["room"] = &surface{h.room, send}
}

// A send that our own time limit cut off may stand in the room: it is looked up
// before it is repeated [I2].
func TestASendThatWasCutOffIsLookedUp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		cut := false
		h.sends(func(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
			r, err := h.room.Send(ctx, out)
			if !cut {
				cut = true
				<-ctx.Done()
				return channels.Receipt{}, ctx.Err()
			}
			return r, err
		})
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(2 * time.Minute)
		h.settle()
		h.wantTexts(t, "echo: hi")
		if looked, again := h.room.Count(channeltest.LookedUp), h.room.Count(channeltest.Repeated); looked != 1 || again != 0 {
			t.Errorf("looked %d times, sent again %d times", looked, again)
		}
	})
}

// "In order per target", and not more than eight of one channel at a time: a
// channel that hangs does not collect a call for each room.
func TestAChannelGetsEightSendsAtATime(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var now, most atomic.Int64
		release := h.room.Hold()
		h.sends(func(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return h.room.Send(ctx, out)
		})
		for i := range 12 {
			to := channels.Address{Channel: "room", Conversation: fmt.Sprintf("C%d", i)}
			h.post(channels.Inbound{To: to, Chat: channels.Room, Mentioned: true, Text: "hi"})
		}
		synctest.Wait()
		release()
		h.settle()
		if n := len(h.room.Texts()); n != 12 || most.Load() != 8 {
			t.Errorf("%d texts arrived, %d of them at a time", n, most.Load())
		}
	})
}

// What could not be posted for a day is given up and holds nothing back any
// more; the reason is kept without the secrets that an adapter lets slip [I12].
func TestADeliveryIsGivenUpAfterADay(t *testing.T) {
	const token = "xoxb-123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"
	inHouse(t, func(t *testing.T, h *house) {
		down := true
		h.sends(func(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
			if down {
				return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: errors.New("refused for " + token)}
			}
			return h.room.Send(ctx, out)
		})
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(23 * time.Hour)
		synctest.Wait()
		owed, err := h.db.Owed(context.Background())
		if err != nil || len(owed) != 1 || owed[0].Error == "" || strings.Contains(owed[0].Error, token) {
			t.Errorf("after 23 hours %+v is owed, %v", owed, err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		down = false
		if owed, err := h.db.Owed(context.Background()); err != nil || len(owed) != 0 {
			t.Errorf("after 25 hours %+v is owed, %v", owed, err)
		}
		h.say("and now?")
		h.wantTexts(t, "echo: and now?")
	})
}

// taken is a store in which another has each delivery before us, and posts it.
type taken struct{ bot.Store }

func (s taken) Claim(ctx context.Context, id string) (bool, error) {
	if ok, err := s.Store.Claim(ctx, id); !ok || err != nil {
		return false, err
	}
	return false, s.Store.Mark(ctx, bot.Delivery{Outbound: channels.Outbound{ID: id}, State: bot.Sent})
}

// "Of two that want it one gets it" [I2]: what is not claimed is not sent.
func TestWhatSomebodyElseClaimedIsNotSent(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Store = taken{h.faults}
		h.say("hi")
		h.wantTexts(t)
	})
}

// A message that was accepted in doubt is ours once: when the platform delivers
// it again it has been seen [I2].
func TestADoubtfulMessageIsTakenOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.faults.arm(1, appliedUnsaid)
		for range 2 {
			h.post(channels.Inbound{ID: "m", Text: "hi"})
			h.settle()
		}
		if n := len(h.engine.asked()); n != 1 {
			t.Errorf("%d asks", n)
		}
		h.wantTexts(t, "echo: hi")
	})
}

// A platform may tell of a message twice, once without its thread: it is one
// message also to those who wait for it.
func TestTheThreadIsNoPartOfAMessagesName(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, "at last"))
		in := channels.Inbound{ID: "m", To: channels.Address{Channel: "room", Conversation: "C1", Thread: "t1"}, Chat: channels.Room, Mentioned: true, Text: "hi"}
		h.post(in)
		in.To.Thread = ""
		began := time.Now()
		if err := h.bot.Wait(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Hour {
			t.Errorf("waited %v", took)
		}
	})
}

// A panic in an adapter is one send whose fate is not known: it is looked up,
// and made again if it must be. Nobody else notices [I1, I2].
func TestASendThatPanicsIsMadeAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		sends := 0
		h.sends(func(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
			if sends++; sends == 1 {
				panic("not foreseen")
			}
			return h.room.Send(ctx, out)
		})
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(5 * time.Second)
		h.settle()
		if got := h.room.Texts(); len(got) != 1 || sends != 2 {
			t.Errorf("the room has %q after %d sends", got, sends)
		}
	})
}

// A send that never tells its fate is tried ever more seldom, and not for ever.
func TestASendThatNeverTellsIsGivenUp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		sends := 0
		h.sends(func(context.Context, channels.Outbound) (channels.Receipt, error) {
			sends++
			return channels.Receipt{}, &channels.SendError{Outcome: channels.Unknown, Err: errors.New("HTTP 503")}
		})
		h.post(channels.Inbound{Text: "hi"})
		time.Sleep(25 * time.Hour)
		h.settle()
		if at := sends; at > 25*60+10 {
			t.Errorf("%d sends in 25 hours", at)
		}
		before := sends
		time.Sleep(time.Hour)
		if sends != before {
			t.Error("it is still tried after a day")
		}
	})
}
