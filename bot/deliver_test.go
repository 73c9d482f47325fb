package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
)

func TestASendThatCertainlyFailedIsTriedAgainNotBeforeItsHint(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.room.Break(channeltest.Fault{Outcome: channels.NotSent, RetryAfter: 30 * time.Second}, channeltest.Fault{Outcome: channels.NotSent})
		started := time.Now()
		h.say("hi")
		h.wantTexts(t)
		time.Sleep(29 * time.Second)
		synctest.Wait()
		h.wantTexts(t)
		if _, err := h.room.Await(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took != 32*time.Second { // the hint, then the second step of the backoff
			t.Errorf("posted after %v", took)
		}
		if n := h.room.Count(channeltest.Failed); n != 2 {
			t.Errorf("%d tries failed", n)
		}
	})
}

func TestAnAddressKeepsItsOrderAndDoesNotHoldOthersBack(t *testing.T) { // N31
	inHouse(t, func(t *testing.T, h *house) {
		h.room.Break(channeltest.Fault{Outcome: channels.NotSent, RetryAfter: time.Minute})
		h.engine.then(h.engine.fallsOver(modelB, "one"))
		h.say("1")
		h.say("2") // behind the notice and the answer of 1
		h.post(channels.Inbound{To: channels.Address{Channel: "room", Conversation: "C2"}, Chat: channels.Room, Mentioned: true, Text: "elsewhere"})
		h.settle()
		h.wantTexts(t, "echo: elsewhere")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.wantTexts(t, "echo: elsewhere",
			"↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)", "one", "echo: 2")
		if n := h.room.Count(channeltest.Overlap); n > 0 {
			t.Errorf("%d sends to one address at a time", n)
		}
	})
}

func TestAnAmbiguousSendIsLookedUpBeforeItIsRepeated(t *testing.T) { // I2, IL-270
	for _, posted := range []bool{true, false} {
		t.Run(fmt.Sprintf("posted %v", posted), func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.room.Break(channeltest.Fault{Outcome: channels.Unknown, Posted: posted})
				h.say("hi")
				h.play(t)
				h.wantTexts(t, "echo: hi")
				if looks, repeats := h.room.Count(channeltest.LookedUp), h.room.Count(channeltest.Repeated); looks != 1 || repeats != 0 {
					t.Errorf("%d looks, %d repeats", looks, repeats)
				}
			})
		})
	}
}

// When nobody can tell whether a post arrived, a lost notice is better than a
// second one, and a second answer better than a lost one.
func TestWhatCannotBeKnownANoticeIsSentAndAReplyIsNot(t *testing.T) {
	for _, blind := range []error{errors.New("history cannot be read now"), errors.ErrUnsupported} {
		t.Run(blind.Error(), func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.room.Blind(blind)
				lost := channeltest.Fault{Outcome: channels.Unknown}
				h.room.Break(lost, lost) // the notice, then the answer
				h.engine.then(h.engine.fallsOver(modelB, "one"))
				h.say("hi")
				h.play(t)
				h.wantTexts(t, "one")
				h.say("again") // told counts: no second notice
				h.wantTexts(t, "one", "echo: again")
				want := 6
				if errors.Is(blind, errors.ErrUnsupported) {
					want = 2
				}
				if n := h.room.Count(channeltest.LookedUp); n != want {
					t.Errorf("looked %d times, want %d", n, want)
				}
			})
		})
	}
}

func TestARefusedNoticeIsNotToldAgainAndHoldsNothingBack(t *testing.T) { // N7, notice-25
	inHouse(t, func(t *testing.T, h *house) {
		h.room.Refuse(1, channels.Refused)
		h.engine.then(h.engine.fallsOver(modelB, "one"))
		h.say("1")
		h.say("2")
		h.wantTexts(t, "one", "echo: 2")
	})
}

func TestADeliveryForAChannelThatIsGoneIsRefused(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		in := channels.Inbound{ID: "m1", To: channels.Address{Channel: "gone", Conversation: "x"}, Chat: channels.Direct, Text: "hi"}
		if err := h.bot.Receive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if err := h.bot.Wait(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		owed, err := h.db.Owed(t.Context())
		if err != nil || len(owed) > 0 {
			t.Errorf("still owed: %v, %v", owed, err)
		}
	})
}

func TestTwelveAnswersAndASlowRoomSurviveAShortGoodbye(t *testing.T) { // IL-058
	inHouse(t, func(t *testing.T, h *house) {
		release := h.room.Hold()
		var want []string
		for i := range 12 {
			text := fmt.Sprintf("q%02d", i)
			want = append(want, "echo: "+text)
			h.post(channels.Inbound{To: channels.Address{Channel: "room", Conversation: text}, Chat: channels.Room, Mentioned: true, Text: text})
		}
		synctest.Wait()
		started := time.Now()
		h.close()
		if took := time.Since(started); took > 15*time.Second {
			t.Errorf("the goodbye took %v", took)
		}
		release()
		h.restart()
		h.play(t)
		got := h.room.Texts()
		slices.Sort(got)
		if !slices.Equal(got, want) || h.room.Count(channeltest.Repeated) > 0 {
			t.Errorf("the room has %q (%d repeated)", got, h.room.Count(channeltest.Repeated))
		}
	})
}

func TestStopLetsARunningTurnFinishAndItsAnswerGo(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(10*time.Second, "done"))
		h.post(channels.Inbound{Text: "hi"})
		h.post(channels.Inbound{Text: "waiting"})
		synctest.Wait()
		h.close()
		h.wantTexts(t, "done")
		h.restart() // the waiting one was not begun
		h.settle()
		h.wantTexts(t, "done", "echo: waiting")
	})
}

func TestATurnThatDoesNotFinishInTimeRunsAgainAtTheNextStart(t *testing.T) { // I1, I13
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, "never"))
		h.post(channels.Inbound{Text: "hi"})
		synctest.Wait()
		started := time.Now()
		h.close()
		if took := time.Since(started); took != h.cfg.DrainTimeout {
			t.Errorf("Stop took %v", took)
		}
		h.wantTexts(t)
		if err := h.bot.Receive(t.Context(), channels.Inbound{ID: "late"}); !errors.Is(err, bot.ErrShutdown) {
			t.Errorf("a stopped bot took a message: %v", err)
		}
		h.restart()
		h.settle()
		h.wantTexts(t, "echo: hi")
	})
}

func TestMessagesThatAreTooOldGetOneLinePerRoom(t *testing.T) { // D21
	inHouse(t, func(t *testing.T, h *house) {
		room := channels.Address{Channel: "room", Conversation: "C1"}
		h.engine.then(h.engine.hangs(time.Hour, ""), h.engine.hangs(time.Hour, ""))
		h.post(channels.Inbound{Text: "what is the   capital of France?"})
		h.post(channels.Inbound{To: room, Chat: channels.Room, Mentioned: true, Text: "first"})
		h.post(channels.Inbound{To: room, Chat: channels.Room, Mentioned: true, Text: "second"})
		synctest.Wait()
		h.crash()
		time.Sleep(20 * time.Minute)
		h.restart()
		h.settle()
		want := []string{
			"I was away and did not get to 2 messages here, the last being “second” of 20 min ago. I have not acted on it; please send it again if it still matters.",
			"I was away and did not get to your message “what is the capital of France?” of 20 min ago. I have not acted on it; please send it again if it still matters.",
		}
		got := h.room.Texts()
		slices.Sort(got) // rooms are told side by side
		if !slices.Equal(got, want) {
			t.Errorf("the room has %q, want %q", got, want)
		}
		if rows := h.unended(); len(rows) > 0 {
			t.Errorf("still owed an ending: %v", rows)
		}
	})
}

func TestTheStartTakesMessagesUpInOrder(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, ""))
		for _, text := range []string{"one", "two", "three"} {
			h.post(channels.Inbound{Text: text})
		}
		synctest.Wait()
		h.crash()
		h.restart()
		h.settle()
		h.wantTexts(t, "echo: one", "echo: two", "echo: three")
	})
}

// The way back belongs to the message: a late stand-in's answer and its notice
// go to the thread that asked, whatever the room spoke of meanwhile [N31, IL-065].
func TestALateAnswerGoesToTheThreadThatAsked(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		room := channels.Address{Channel: "room", Conversation: "C1"}
		thread := room
		thread.Thread = "T9"
		falls := h.engine.fallsOver(modelB, "late")
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			time.Sleep(31 * time.Second)
			return falls(ctx, ask)
		})
		h.post(channels.Inbound{To: thread, Chat: channels.Room, Mentioned: true, Text: "slow"})
		synctest.Wait()
		h.post(channels.Inbound{To: room, Chat: channels.Room, Mentioned: true, Text: "quick"})
		h.settle()
		h.wantTexts(t, "echo: quick", "↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)", "late")
		for i, want := range []channels.Address{room, thread, thread} {
			if got := h.room.Posted()[i].To; got != want {
				t.Errorf("post %d went to %v, want %v", i, got, want)
			}
		}
	})
}
