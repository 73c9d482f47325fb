package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// ruled is a house whose one channel has rules.
func ruled(t *testing.T, s policy.Surface, f func(t *testing.T, h *house)) {
	inHouse(t, func(t *testing.T, h *house) {
		h.rule(s)
		f(t, h)
	})
}

func (h *house) rule(s policy.Surface) {
	cfg := *h.cfg
	cfg.Rules.Surfaces = map[string]map[string]policy.Surface{"room": {"": s}}
	h.cfg = &cfg
}

var c1 = channels.Address{Channel: "room", Conversation: "C1"}

// inRoom is what a person says in C1.
func inRoom(user, text string) channels.Inbound {
	return channels.Inbound{To: c1, Chat: channels.Room, From: channels.User{ID: user, Name: strings.ToUpper(user)}, Text: text}
}

func toBot(in channels.Inbound) channels.Inbound {
	in.Mentioned = true
	return in
}

func direct(user, text string) channels.Inbound {
	return channels.Inbound{To: channels.Address{Channel: "room", Conversation: "dm-" + user}, Chat: channels.Direct, Mentioned: true,
		From: channels.User{ID: user}, Text: text}
}

var openRoom = policy.Surface{AllowFrom: []string{"boss"}, Rooms: map[string]policy.RoomRule{"C1": {}}, Overheard: 50}

// A room's lines are told with the next mention, once a model has been asked;
// a turn that never reached one leaves them [S17, S18, slack-01, slack-02, session-14].
func TestARoomIsOverheard(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.post(inRoom("u1", "lunch at noon?"))
		h.post(inRoom("u2", "fine"))
		h.settle()
		h.wantTexts(t)
		h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
		h.post(toBot(inRoom("u1", "when?")))
		h.settle()
		h.close()
		h.restart()
		h.post(toBot(inRoom("u1", "when?")))
		h.settle()
		told := h.engine.last()
		if !strings.Contains(told, "U1: lunch at noon?\nU2: fine\n") || !strings.HasSuffix(told, "when?") {
			t.Errorf("the model was told %q", told)
		}
		h.post(toBot(inRoom("u1", "sure?")))
		h.settle()
		if h.engine.last() != "sure?" {
			t.Errorf("told again: %q", h.engine.last())
		}
	})
}

func TestARoomIsOverheardWithinBounds(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		for i := range 60 {
			h.post(inRoom("u1", fmt.Sprint("line ", i)))
		}
		other := inRoom("u1", "in a thread")
		other.To.Thread = "T"
		h.post(other)
		h.post(toBot(inRoom("u1", "well?")))
		h.settle()
		told := h.engine.last()
		if n := strings.Count(told, "line "); n != 50 || strings.Contains(told, "line 9\n") || strings.Contains(told, "thread") {
			t.Errorf("%d lines: %q", n, told)
		}
	})
}

// A top-level message and what follows in the thread that its answer opened are
// one session; what is chosen for the room is inherited [SL18, T4].
func TestAnAnswerThatOpensAThread(t *testing.T) {
	s := openRoom
	s.ReplyTo = channels.ReplyFirst
	ruled(t, s, func(t *testing.T, h *house) {
		choose := inRoom("boss", "/model gem")
		choose.ThreadRoot = "r0"
		h.post(toBot(choose))
		top := inRoom("u1", "hello")
		top.ID, top.ThreadRoot = "r1", "r1"
		h.post(toBot(top))
		h.settle()
		follow := inRoom("u1", "and?")
		follow.To.Thread, follow.Implicit = "r1", true
		h.post(follow)
		h.settle()
		asks := h.engine.asked()
		if len(asks) != 2 || asks[0].Session != "agent:main:room:channel:c1:thread:r1" || asks[1].Session != asks[0].Session || len(asks[1].Messages) != 3 {
			t.Fatalf("asks %+v", asks)
		}
		if asks[0].Parent != "agent:main:room:channel:c1" {
			t.Errorf("the thread's parent is %q", asks[0].Parent)
		}
		sel, err := h.db.Selection(context.Background(), asks[0].Parent)
		if err != nil || sel.Model != modelC {
			t.Errorf("the room's choice is %v, %v", sel.Model, err)
		}
		for _, p := range h.room.Posted()[1:2] {
			if p.ReplyTo != "r1" {
				t.Errorf("the answer refers to %q", p.ReplyTo)
			}
		}
	})
}

// A thread that is a conversation of its own remembers its room [D7, discord-17].
func TestAThreadKnowsItsRoom(t *testing.T) {
	s := openRoom
	s.Rooms = map[string]policy.RoomRule{"C1": {System: "Speak plainly."}}
	ruled(t, s, func(t *testing.T, h *house) {
		in := toBot(inRoom("u1", "hi"))
		in.To.Conversation, in.Parent = "T1", "C1"
		h.post(in)
		h.settle()
		ask := h.engine.asked()[0]
		if ask.Session != "agent:main:room:channel:t1" || ask.Parent != "agent:main:room:channel:c1" || !strings.HasPrefix(ask.System, "Be brief.\n\nSpeak plainly.\n\nToday is ") {
			t.Errorf("ask %+v", ask)
		}
		sess, err := h.db.Session(context.Background(), ask.Session)
		if err != nil || sess.Parent != ask.Parent {
			t.Errorf("stored parent %q, %v", sess.Parent, err)
		}
	})
}

// The notice keeps its reference and leaves the slot to the answer [N26, slot-06].
func TestReplyMode(t *testing.T) {
	for mode, want := range map[channels.ReplyMode][]string{
		channels.ReplyOff: {"", ""}, channels.ReplyFirst: {"r1", "r1"}, channels.ReplyAll: {"r1", "r1"}, channels.ReplyBatched: {"", ""},
	} {
		s := openRoom
		s.ReplyTo = mode
		ruled(t, s, func(t *testing.T, h *house) {
			h.engine.then(h.engine.fallsOver(modelB, "hello"))
			in := toBot(inRoom("u1", "hi"))
			in.ID = "r1"
			h.post(in)
			h.settle()
			var got []string
			for _, p := range h.room.Posted() {
				got = append(got, p.ReplyTo)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: references %q, want %q", mode, got, want)
			}
		})
	}
}

func TestTagsAndPrefix(t *testing.T) { // S38, N27
	s := openRoom
	s.TagsInOff = true
	ruled(t, s, func(t *testing.T, h *house) {
		h.cfg.Rules.Prefix = "[{model}]"
		h.engine.then(h.engine.fallsOver(modelB, "[[reply_to: m0]] hello"))
		h.post(toBot(inRoom("u1", "hi")))
		h.settle()
		posted := h.room.Posted()
		if posted[1].Text != "[gpt-5.4] hello" || posted[1].ReplyTo != "m0" {
			t.Errorf("answer %+v", posted[1])
		}
		if !strings.HasPrefix(posted[0].Text, "↪️ Model Fallback:") || posted[0].ReplyTo != "" {
			t.Errorf("notice %+v", posted[0])
		}
		h.post(toBot(inRoom("u1", "again")))
		h.settle()
		for _, m := range h.engine.asked()[1].Messages {
			if strings.Contains(m.Text, "[") {
				t.Errorf("the model reads %q", m.Text)
			}
		}
	})
}

func TestOneFailureLineAMinute(t *testing.T) { // IL-127
	ruled(t, openRoom, func(t *testing.T, h *house) {
		for i := range 40 {
			h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
			h.post(toBot(inRoom("u1", fmt.Sprint("try ", i))))
			h.settle()
			time.Sleep(2 * time.Second)
		}
		if n := len(h.room.Posted()); n != 2 {
			t.Errorf("%d lines in 80 seconds", n)
		}
		for range 2 {
			h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
			h.post(direct("boss", "hi"))
			h.settle()
		}
		if n := len(h.room.Posted()); n != 4 {
			t.Errorf("a direct chat got %d of 2 lines", n-2)
		}
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("%d messages without an ending", len(rows))
		}
	})
}

func TestBotsThatAnswerBots(t *testing.T) { // IL-128
	s := openRoom
	s.AllowBots, s.Mention = policy.AllBots, new(bool)
	ruled(t, s, func(t *testing.T, h *house) {
		for range 60 {
			in := inRoom("b1", "ping")
			in.Bot = true
			h.post(in)
			h.settle()
		}
		if n := len(h.room.Posted()); n != 20 {
			t.Errorf("%d answers to a bot in a minute", n)
		}
	})
}

func TestInlineCommands(t *testing.T) { // C15, C2
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.post(toBot(inRoom("boss", "hello /whoami there")))
		h.settle()
		texts := h.room.Texts()
		if len(texts) != 2 || !strings.Contains(texts[0], "Your id: boss") || texts[1] != "echo: hello there" {
			t.Errorf("posted %q", texts)
		}
		h.post(toBot(inRoom("u1", "hello /whoami there")))
		h.settle()
		if texts := h.room.Texts(); texts[len(texts)-1] != "echo: hello /whoami there" {
			t.Errorf("posted %q", texts[2:])
		}
	})
}

// The channel's model is the primary of its conversations, and says so [T4].
func TestModelOfAChannel(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Models = map[string]map[string]fallback.Model{"room": {"C1": modelC}}
		h.post(toBot(inRoom("boss", "/model")))
		h.post(toBot(inRoom("boss", "hi")))
		h.settle()
		answer := h.room.Posted()[0]
		if !strings.Contains(answer.Text, "Model: google/gemini-3-pro (set for this channel)") {
			t.Errorf("/model says %q", answer.Text)
		}
		if answer.For != "boss" || answer.Choices[0].Text != "/model default" || !slices.Contains(answer.Choices, channels.Choice{Label: "openai/gpt-5.4", Text: "/model openai/gpt-5.4"}) {
			t.Errorf("choices %+v for %q", answer.Choices, answer.For)
		}
		if ask := h.engine.asked()[0]; ask.Channel != modelC {
			t.Errorf("asked with the channel's model %v", ask.Channel)
		}
	})
}

// A session is over by time when the next message comes, whatever was chosen in
// it; a heartbeat meanwhile does not count [S6–S9, S12, session-05, session-08].
func TestSessionsEndByTime(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.cfg.Rules.Resets = policy.Resets{Reset: policy.Reset{Mode: policy.ResetIdle, Idle: time.Hour}}
		h.say("/model gem")
		h.say("one")
		time.Sleep(55 * time.Minute)
		if _, err := h.bot.Turn(context.Background(), bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Heartbeat, Text: "beat"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Minute)
		h.say("two")
		last := h.engine.asked()[2]
		if len(last.Messages) != 1 || !last.NewSession {
			t.Errorf("the model was given %+v", last.Messages)
		}
		if sel := h.selection(); !sel.Model.IsZero() {
			t.Errorf("the choice stays: %v", sel.Model)
		}
		h.say("three")
		if n := len(h.engine.asked()[3].Messages); n != 3 {
			t.Errorf("the new session forgets: %d messages", n)
		}
	})
}

// With one owner by name, another who was let in does not draw the main
// session's route to themselves [S4].
func TestTheRouteStaysTheOwners(t *testing.T) {
	ruled(t, policy.Surface{AllowFrom: []string{"boss"}}, func(t *testing.T, h *house) {
		h.post(direct("boss", "hi"))
		h.post(direct("u1", "let me in"))
		h.settle()
		list, err := h.db.Pairings(context.Background(), time.Now())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if _, err := h.db.Approve(context.Background(), "room", list[0].Code, time.Now(), false); err != nil {
			t.Fatal(err)
		}
		h.post(direct("u1", "hi"))
		h.settle()
		sess, err := h.db.Session(context.Background(), mainSession)
		if err != nil || sess.Route.Conversation != "dm-boss" || len(h.engine.asked()) != 2 {
			t.Errorf("route %+v, %v", sess.Route, err)
		}
	})
}

// A post keeps what it carries over a restart.
func TestChoicesSurviveARestart(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.room.Refuse(1, channels.NotSent)
		native := toBot(inRoom("boss", "/model"))
		native.Command, native.Roles, native.Guild, native.ThreadRoot = true, []string{"R"}, "G", "r"
		h.post(native)
		synctest.Wait()
		h.close()
		h.restart()
		time.Sleep(time.Minute)
		h.settle()
		posted := h.room.Posted()
		if len(posted) != 1 || posted[0].Only != "boss" || posted[0].For != "boss" || len(posted[0].Choices) < 2 {
			t.Errorf("posted %+v", posted)
		}
	})
}
