package bot_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
	"standin/fallback/provider"
)

func (h *house) wantTexts(t *testing.T, want ...string) {
	t.Helper()
	if got := h.room.Texts(); !slices.Equal(got, want) {
		t.Errorf("the room has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestAMessageIsAnsweredWithItsHistory(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.say("one")
		h.say("two")
		h.wantTexts(t, "echo: one", "echo: two")
		ask := h.engine.asked()[1]
		want := []provider.Message{
			{Role: provider.User, Text: "one"}, {Role: provider.Assistant, Text: "echo: one"}, {Role: provider.User, Text: "two"},
		}
		if !reflect.DeepEqual(ask.Messages, want) {
			t.Errorf("the model was given %v, want %v", ask.Messages, want)
		}
		if !strings.HasPrefix(ask.System, "Be brief.\n\nToday is Saturday, 1 January 2000") || ask.Session != mainSession || ask.Kind != fallback.Chat || ask.NewSession {
			t.Errorf("ask = %+v", ask)
		}
		post := h.room.Posted()[0]
		if post.Kind != channels.Reply || post.ReplyTo != "m1" || len(post.ID) > 25 {
			t.Errorf("post = %+v", post)
		}
	})
}

func TestAMessageDeliveredTwiceRunsOnce(t *testing.T) { // I2, queue-12
	inHouse(t, func(t *testing.T, h *house) {
		h.post(channels.Inbound{ID: "m1", Text: "hi"})
		h.post(channels.Inbound{ID: "m1", Text: "hi"}) // while it runs
		h.settle()
		h.post(channels.Inbound{ID: "m1", Text: "hi"}) // after it ended
		h.settle()
		h.close()
		h.restart()
		h.post(channels.Inbound{ID: "m1", Text: "hi"}) // in the next process
		h.settle()
		h.wantTexts(t, "echo: hi")
	})
}

func TestRoomsAnswerWhenAddressed(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		room := channels.Address{Channel: "room", Conversation: "C1"}
		h.post(channels.Inbound{To: room, Chat: channels.Room, From: channels.User{ID: "u"}, Text: "lunch?"})
		h.post(channels.Inbound{To: room, Chat: channels.Room, From: channels.User{ID: "u"}, Text: "stop", Authorized: true})
		h.settle()
		h.wantTexts(t)
		h.post(channels.Inbound{To: room, Chat: channels.Room, From: channels.User{ID: "u"}, Text: "hi", Mentioned: true})
		room.Thread = "T9"
		h.post(channels.Inbound{To: room, Chat: channels.Room, From: channels.User{ID: "u"}, Text: "ho", Mentioned: true})
		h.settle()
		var sessions []fallback.SessionID
		for _, ask := range h.engine.asked() {
			sessions = append(sessions, ask.Session)
		}
		slices.Sort(sessions)
		if want := []fallback.SessionID{"agent:main:room:channel:c1", "agent:main:room:channel:c1:thread:t9"}; !slices.Equal(sessions, want) {
			t.Errorf("sessions %v, want %v", sessions, want)
		}
		if rows := h.unended(); len(rows) > 0 {
			t.Errorf("ambient messages are still owed an ending: %v", rows)
		}
	})
}

func TestTheNoticeStandsBeforeTheAnswerOncePerChange(t *testing.T) { // N3, N5, N13
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, "one"), h.engine.fallsOver(modelB, "two"),
			h.engine.recovers("three"), h.engine.fallsOver(modelB, "four"))
		for _, s := range []string{"1", "2", "3", "4"} {
			h.say(s)
		}
		on := "↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)"
		h.wantTexts(t, on, "one", "two", "↪️ Model Fallback cleared: anthropic/claude-opus-4-6 (was openai/gpt-5.4)", "three", on, "four")
		posts := h.room.Posted()
		if posts[0].Kind != channels.Notice || posts[0].ReplyTo != "m1" || posts[0].To != posts[1].To {
			t.Errorf("the notice %+v does not stand where the reply does: %+v", posts[0], posts[1])
		}
		asks := h.engine.asked()
		for _, m := range asks[len(asks)-1].Messages {
			if strings.Contains(m.Text, "↪️") {
				t.Errorf("a notice came back as history: %q", m.Text)
			}
		}
	})
}

func TestNoticesGoWhereTheConfigSays(t *testing.T) { // D12
	for _, c := range []struct {
		set      bot.Notices
		chat     channels.ChatType
		expected int
	}{
		{bot.NoticesAll, channels.Direct, 1}, {bot.NoticesAll, channels.Room, 1},
		{bot.NoticesDirect, channels.Direct, 1}, {bot.NoticesDirect, channels.Room, 0},
		{bot.NoticesOff, channels.Direct, 0}, {bot.NoticesOff, channels.Room, 0},
	} {
		t.Run(string(c.set)+" in "+string(c.chat), func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.cfg.Notices = c.set
				h.engine.then(h.engine.fallsOver(modelB, "hello"))
				h.post(channels.Inbound{Chat: c.chat, Mentioned: true, Authorized: true, Text: "hi"})
				h.settle()
				if got := h.room.Texts(channels.Notice); len(got) != c.expected {
					t.Errorf("notices: %q", got)
				}
				if got := h.room.Texts(channels.Reply); !slices.Equal(got, []string{"hello"}) {
					t.Errorf("replies: %q", got)
				}
			})
		})
	}
}

func TestASilentTurnSaysNothingAndTheNextOneAnnounces(t *testing.T) { // S37, notice-16, I3
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, " no_reply\n"), h.engine.fallsOver(modelB, "hello NO_REPLY"))
		h.say("1")
		h.wantTexts(t)
		h.say("2")
		h.wantTexts(t, "↪️ Model Fallback: openai/gpt-5.4 (selected anthropic/claude-opus-4-6; rate limit)", "hello")
	})
}

func TestAnEmptyAnswerIsToldWithBothModels(t *testing.T) { // N17, IL-298
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, ""))
		h.say("hi")
		h.wantTexts(t, "anthropic/claude-opus-4-6 could not be reached, and openai/gpt-5.4, which stood in, answered with an empty message. Please try again.")
	})
}

func TestAChoiceThatLeftTheAllowlistIsToldOnce(t *testing.T) { // T7, policy-15
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			plan := fallback.Plan{Selected: modelA, Requested: modelA, Clear: true, ClearWhy: fallback.ClearNotPermitted, Cleared: modelC}
			return h.engine.outcome(fallback.Selection{}, ask, plan, "hello")
		})
		h.say("hi")
		h.wantTexts(t, "Your model google/gemini-3-pro may not be chosen any more, so this session is back on the default anthropic/claude-opus-4-6. /models lists the choices.", "hello")
	})
}

func TestFailuresAreToldInDirectChatsAndOnlySpecificOnesInRooms(t *testing.T) { // T20, 18.4, I1
	limited := fallback.Attempt{Model: modelA, Position: 1, Reason: fallback.RateLimit}
	broken := fallback.Attempt{Model: modelA, Position: 1, Reason: fallback.Format, Detail: "bad payload"}
	userStrict := fallback.Plan{Requested: modelA, Selected: modelA, Strict: true, Why: fallback.FromUser}
	for _, c := range []struct {
		name   string
		chat   channels.ChatType
		plan   fallback.Plan
		failed fallback.Attempt
		told   bool
	}{
		{"rate limit, direct", channels.Direct, fallback.Plan{}, limited, true},
		{"rate limit, room", channels.Room, fallback.Plan{}, limited, true},
		{"generic, direct", channels.Direct, fallback.Plan{}, broken, true},
		{"generic, room", channels.Room, fallback.Plan{}, broken, false},
		{"generic of a user's exact choice, room", channels.Room, userStrict, broken, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				h.engine.then(fails(c.plan, c.failed))
				h.post(channels.Inbound{Chat: c.chat, Mentioned: true, Authorized: true, Text: "hi"})
				h.settle()
				if got := h.room.Texts(channels.Failure); len(got) == 1 != c.told {
					t.Errorf("failure lines: %q", got)
				}
				if rows := h.unended(); len(rows) > 0 {
					t.Errorf("still owed an ending: %v", rows)
				}
			})
		})
	}
}

func TestAFailedQuestionStaysInTheHistory(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.Timeout}))
		h.say("what is 2+2?")
		h.say("so?")
		if got, want := h.engine.last(), "what is 2+2?\n\nso?"; got != want {
			t.Errorf("the model was asked %q, want %q", got, want)
		}
	})
}

func TestAPanicInATurnIsAFailureLine(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(context.Context, fallback.Ask) (*fallback.Outcome, error) { panic("boom") })
		h.say("hi")
		h.say("still there?")
		h.wantTexts(t, "Something broke on my side while answering; the details are in my log. Please send your message again.",
			"echo: hi\n\nstill there?")
	})
}

func TestTheRunsDeadlineIsAFailureAndNotAnAbort(t *testing.T) { // I13
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Hour, "late"))
		h.post(channels.Inbound{Text: "hi"})
		synctest.Wait()
		if !h.bot.Interrupt(mainSession, fallback.ErrRunDeadline) {
			t.Fatal("nothing was running")
		}
		h.settle()
		if got := h.room.Texts(channels.Failure); len(got) != 1 || !strings.Contains(got[0], "longer than one answer may take") {
			t.Errorf("failure lines: %q", got)
		}
	})
}

func TestADraftGrowsAndIsTakenBackWithItsCandidate(t *testing.T) { // I8
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			ask.OnText("NO_")
			ask.OnText("thing yet")
			ask.OnDiscard()
			ask.OnText("hel")
			ask.OnText("lo")
			return h.engine.says("hello")(ctx, ask)
		}, func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			ask.OnText("NO_REPLY")
			return h.engine.says("NO_REPLY")(ctx, ask)
		})
		h.say("1")
		h.say("2")
		var story []string
		for _, e := range h.room.Journal() {
			switch e.Event {
			case channeltest.Drafted:
				story = append(story, e.Text)
			case channeltest.Posted:
				story = append(story, "posted "+e.Out.Text)
			default:
				story = append(story, e.Event)
			}
		}
		want := []string{"working", "NO_thing yet", "discarded", "hel", "hello", "finished", "posted hello",
			"working", "discarded", "finished"}
		if !slices.Equal(story, want) {
			t.Errorf("the room saw %q, want %q", story, want)
		}
	})
}

func TestWaitEndsWithTheLastDelivery(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.fallsOver(modelB, "hello"))
		h.room.Refuse(2, channels.NotSent)
		in := channels.Inbound{ID: "m1", To: channels.Address{Channel: "room", Conversation: "dm"}, Text: "hi"}
		h.post(in)
		if err := h.bot.Wait(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := h.room.Texts(); len(got) != 2 {
			t.Errorf("Wait came back with %q in the room", got)
		}
		if err := h.bot.Wait(t.Context(), in); err != nil { // done before: no wait
			t.Fatal(err)
		}
		// A notice that is not written, for somebody else has changed the row, is
		// not waited for.
		h.engine.then(func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			out, err := h.engine.says("other")(ctx, ask)
			out.Notice, out.Settle = "stale", &fallback.Settle{Session: ask.Session, Model: modelC, Source: fallback.Auto}
			return out, err
		})
		in.ID = "m3"
		h.post(in)
		if err := h.bot.Wait(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		h.room.Refuse(1, channels.Refused)
		in = channels.Inbound{ID: "m2", To: in.To, Text: "/help"}
		h.post(in)
		if err := h.bot.Wait(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	})
}

func TestABackgroundTurnSharesTheLaneAndLeavesTheRoomsStateAlone(t *testing.T) { // I9, I6, N22
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(h.engine.hangs(time.Minute, "chat answer"),
			func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
				if ask.Kind != fallback.Heartbeat {
					t.Errorf("kind = %s", ask.Kind)
				}
				return &fallback.Outcome{Reply: provider.Reply{Text: "tick"}, Used: modelB, Notice: "not for the room",
					Settle: &fallback.Settle{Session: ask.Session, Told: fallback.Told{Selected: modelA, Active: modelB}}}, nil
			})
		h.post(channels.Inbound{Text: "hi"})
		synctest.Wait()
		started := time.Now()
		res, err := h.bot.Turn(t.Context(), bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Heartbeat, Text: "wake",
			To: channels.Address{Channel: "room", Conversation: "dm"}})
		if err != nil || res.Text != "tick" {
			t.Fatalf("%+v, %v", res, err)
		}
		if waited := time.Since(started); waited < time.Minute {
			t.Errorf("the background turn ran after %v, beside the chat turn", waited)
		}
		h.settle()
		h.wantTexts(t, "chat answer", "tick")
		if told := h.selection().Told; told != (fallback.Told{}) {
			t.Errorf("the heartbeat changed what the room was told: %+v", told)
		}
	})
}

func TestABackgroundTurnGivesItsFailureToItsCaller(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}), h.engine.hangs(time.Hour, ""))
		turn := bot.Turn{Session: "agent:main:cron:1", Agent: "main", Kind: fallback.Cron, Text: "go"}
		var summary *fallback.SummaryError
		res, err := h.bot.Turn(t.Context(), turn)
		if !errors.As(err, &summary) || !strings.Contains(res.Failure, "rate-limited") {
			t.Errorf("%+v, %v", res, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err = h.bot.Turn(ctx, turn); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who left got %v", err)
		}
		h.wantTexts(t)
	})
}
