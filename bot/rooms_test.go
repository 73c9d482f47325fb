package bot_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"

	"pgregory.net/rapid"
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

// Whatever is configured and whatever they write, a person whom nobody let in
// reaches neither the model nor the transcript, and each message has an ending.
func TestNothingOfAStrangerReachesAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := policy.Surface{
			DMPolicy:    rapid.SampledFrom([]policy.DMPolicy{"", policy.DMPairing, policy.DMAllowlist, policy.DMDisabled}).Draw(rt, "dm"),
			GroupPolicy: rapid.SampledFrom([]policy.GroupPolicy{"", policy.GroupAllowlist, policy.GroupDisabled}).Draw(rt, "group"),
			AllowFrom:   []string{"boss"}, GroupDMs: rapid.Bool().Draw(rt, "groups"), Overheard: 50,
			Rooms: map[string]policy.RoomRule{"C1": {Users: []string{"boss"}}},
		}
		said := rapid.SliceOfN(rapid.SampledFrom([]string{"secret hello", "/status secret", "/new secret", "stop", "/model opus", "hi secret /status"}), 1, 6).Draw(rt, "said")
		chat := rapid.SliceOfN(rapid.SampledFrom([]channels.ChatType{channels.Direct, channels.Room, channels.Group}), 6, 6).Draw(rt, "where")
		restart := rapid.Bool().Draw(rt, "restart")
		ruled(t, s, func(t *testing.T, h *house) {
			for i, text := range said {
				in := inRoom("stranger", text)
				in.Chat, in.Mentioned, in.Command = chat[i], true, i%2 == 1
				h.post(in)
			}
			h.settle()
			if restart {
				h.close()
				h.rule(policy.Surface{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, Rooms: map[string]policy.RoomRule{"*": {}}, Overheard: 50})
				h.restart()
				h.settle()
			}
			h.post(toBot(inRoom("boss", "what is new?")))
			h.settle()
			for _, ask := range h.engine.asked() {
				for _, m := range ask.Messages {
					if strings.Contains(m.Text, "secret") {
						t.Errorf("the model was given %q", m.Text)
					}
				}
			}
			if rows := h.unended(); len(rows) != 0 {
				t.Errorf("without an ending: %+v", rows)
			}
		})
	})
}

// An unknown person gets one line with a code, and is heard after the approval,
// which makes the first of them the owner [P1, P2, slack-13].
func TestPairing(t *testing.T) {
	ruled(t, policy.Surface{Rooms: map[string]policy.RoomRule{"C1": {}}}, func(t *testing.T, h *house) {
		for range 3 {
			h.post(direct("u9", "hi"))
		}
		h.settle()
		posted := h.room.Posted()
		code := regexp.MustCompile(`\b[A-HJ-NP-Z2-9]{8}\b`).FindString(posted[0].Text)
		if len(posted) != 1 || code == "" || !strings.Contains(posted[0].Text, "u9") {
			t.Fatalf("posted %+v", posted)
		}
		ctx := context.Background()
		if waiting, err := h.db.Pairings(ctx, time.Now()); err != nil || len(waiting) != 1 || waiting[0].Code != code || !waiting[0].Approved.IsZero() {
			t.Fatalf("%+v, %v", waiting, err)
		}
		p, err := h.db.Approve(ctx, "room", strings.ToLower(code), time.Now(), true)
		if err != nil || p.User != "u9" || !p.Owner {
			t.Fatalf("%+v, %v", p, err)
		}
		if _, err := h.db.Approve(ctx, "room", code, time.Now(), true); !errors.Is(err, bot.ErrNoPairing) {
			t.Errorf("a code is used twice: %v", err)
		}
		h.post(direct("u9", "hello"))
		h.settle()
		h.post(direct("u9", "/whoami"))
		h.settle()
		if texts := h.room.Texts(); len(texts) != 3 || texts[1] != "echo: hello" || !strings.Contains(texts[2], "Your id: u9") {
			t.Errorf("posted %q", texts)
		}
	})
}

func TestPairingIsBounded(t *testing.T) { // P1: three wait, for an hour each
	ruled(t, policy.Surface{}, func(t *testing.T, h *house) {
		for i := range 5 {
			h.post(direct(fmt.Sprint("u", i), "hi"))
		}
		h.settle()
		if n := len(h.room.Posted()); n != 3 {
			t.Fatalf("%d people have a code", n)
		}
		time.Sleep(time.Hour)
		h.post(direct("u0", "hi"))
		h.post(direct("u4", "hi"))
		h.settle()
		if n := len(h.room.Posted()); n != 5 {
			t.Errorf("%d codes after an hour", n-3)
		}
	})
}

func TestAPairingDiesWithItsDenial(t *testing.T) {
	ruled(t, policy.Surface{}, func(t *testing.T, h *house) {
		ctx := context.Background()
		h.post(direct("u1", "hi"))
		h.settle()
		list, err := h.db.Pairings(ctx, time.Now())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if _, err := h.db.Deny(ctx, "room", list[0].Code, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.Approve(ctx, "room", list[0].Code, time.Now(), true); !errors.Is(err, bot.ErrNoPairing) {
			t.Errorf("approved all the same: %v", err)
		}
		h.post(direct("u1", "hi"))
		h.settle()
		list, _ = h.db.Pairings(ctx, time.Now())
		if len(list) != 1 {
			t.Fatal("may not ask again")
		}
		if _, err := h.db.Approve(ctx, "room", list[0].Code, time.Now(), false); err != nil {
			t.Fatal(err)
		}
		if err := h.db.Unpair(ctx, "room", "", "u1"); err != nil {
			t.Fatal(err)
		}
		h.post(direct("u1", "hi"))
		h.settle()
		if len(h.engine.asked()) != 0 {
			t.Error("heard after the approval was taken back")
		}
	})
}

// A native command of somebody who may not give it is refused to them alone; a
// typed one is passed over [C2].
func TestCommandsOfOthers(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.post(toBot(inRoom("u1", "/model opus")))
		h.settle()
		h.wantTexts(t)
		native := toBot(inRoom("u1", "/model opus"))
		native.Command = true
		h.post(native)
		h.settle()
		posted := h.room.Posted()
		if len(posted) != 1 || posted[0].Only != "u1" {
			t.Errorf("posted %+v", posted)
		}
	})
}

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
		if ask.Session != "agent:main:room:channel:t1" || ask.Parent != "agent:main:room:channel:c1" || ask.System != "Be brief.\n\nSpeak plainly." {
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

func TestDebounce(t *testing.T) { // S32, queue-10, slot-10
	s := openRoom
	s.ReplyTo = channels.ReplyBatched
	ruled(t, s, func(t *testing.T, h *house) {
		h.cfg.Rules.Debounce = 2 * time.Second
		h.post(toBot(inRoom("u1", "a")))
		time.Sleep(time.Second)
		h.post(toBot(inRoom("u1", "b")))
		h.post(toBot(inRoom("u2", "mine")))
		time.Sleep(time.Second)
		synctest.Wait()
		h.wantTexts(t)
		image := toBot(inRoom("u1", ""))
		image.Files = []channels.File{{Name: "cat.png", Type: "image/png"}}
		h.post(image)
		h.settle()
		h.wantTexts(t, "echo: a\nb", "echo: [attached: cat.png (image/png)]", "echo: mine")
		if p := h.room.Posted()[0]; p.ReplyTo != "m2" {
			t.Errorf("the batch's answer refers to %q", p.ReplyTo)
		}
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
		}
		h.post(toBot(inRoom("boss", "wait for")))
		h.post(toBot(inRoom("boss", "/stop")))
		h.settle()
		if n := len(h.engine.asked()); n != 3 {
			t.Error("a stopped message was answered")
		}
	})
}

// What is being held when the daemon leaves is answered by the next one [I1].
func TestHeldMessagesSurviveARestart(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Debounce = 2 * time.Second
		h.post(toBot(inRoom("u1", "a")))
		h.close()
		h.restart()
		h.settle()
		h.wantTexts(t, "echo: a")
	})
}

// queued runs a slow turn and posts the texts while it runs.
func (h *house) queued(mode policy.Queue, during ...channels.Inbound) {
	h.t.Helper()
	h.cfg.Rules.Queue = policy.Queues{Queue: mode}
	h.engine.then(h.engine.hangs(10*time.Second, "slow"))
	h.post(toBot(inRoom("u1", "first")))
	synctest.Wait()
	for _, in := range during {
		h.post(toBot(in))
	}
	synctest.Wait()
	h.settle()
}

func TestQueueModes(t *testing.T) { // S24–S26, queue-01, queue-02, queue-04
	other := inRoom("u1", "three")
	other.To.Thread = "T2"
	say := func(texts ...string) (all []channels.Inbound) {
		for _, text := range texts {
			all = append(all, inRoom("u1", text))
		}
		return all
	}
	for _, c := range []struct {
		name   string
		mode   policy.Queue
		during []channels.Inbound
		want   []string
	}{
		{"followup", policy.Queue{Mode: policy.FollowUp}, say("two", "three"), []string{"slow", "echo: two", "echo: three"}},
		{"steer does the same without tools", policy.Queue{Mode: policy.Steer}, say("two", "three"), []string{"slow", "echo: two", "echo: three"}},
		{"collect", policy.Queue{Mode: policy.Collect}, say("two", "three", "four"), []string{"slow", "echo: two\nthree\nfour"}},
		{"interrupt", policy.Queue{Mode: policy.Interrupt}, say("two"), []string{"echo: first\n\ntwo"}},
		{"full, old", policy.Queue{Mode: policy.FollowUp, Cap: 2, Drop: policy.DropOld}, say("two", "three", "four"), []string{"slow", "echo: three", "echo: four"}},
		{"full, new", policy.Queue{Mode: policy.FollowUp, Cap: 2, Drop: policy.DropNew}, say("two", "three", "four"), []string{"slow", "echo: two", "echo: three"}},
		{"full, summarize", policy.Queue{Mode: policy.FollowUp, Cap: 2}, say("two", "three", "four", "five"),
			[]string{"slow", "echo: [2 earlier messages did not fit the queue; in short:]\n- two\n- three\n\nfour", "echo: five"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ruled(t, openRoom, func(t *testing.T, h *house) {
				h.queued(c.mode, c.during...)
				h.wantTexts(t, c.want...)
				if rows := h.unended(); len(rows) != 0 {
					t.Errorf("without an ending: %+v", rows)
				}
			})
		})
	}
	t.Run("collect keeps to one place", func(t *testing.T) {
		ruled(t, openRoom, func(t *testing.T, h *house) {
			h.cfg.Rules.DMScope = policy.ScopeMain
			h.cfg.Rules.Queue = policy.Queues{Queue: policy.Queue{Mode: policy.Collect}}
			h.engine.then(h.engine.hangs(10*time.Second, "slow"))
			h.post(direct("boss", "one"))
			synctest.Wait()
			h.post(direct("boss", "two"))
			elsewhere := direct("boss", "three")
			elsewhere.To.Thread = "T2"
			h.post(elsewhere)
			h.settle()
			for text, thread := range map[string]string{"echo: two": "", "echo: three": "T2"} {
				if !slices.ContainsFunc(h.room.Posted(), func(p channels.Outbound) bool { return p.Text == text && p.To.Thread == thread }) {
					t.Errorf("%q is not in thread %q: %+v", text, thread, h.room.Posted())
				}
			}
		})
	})
}

// /queue is the session's own and stays with it [S27].
func TestQueueCommand(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.say("/queue collect cap:5")
		h.say("/queue drop:old")
		h.say("/queue sideways")
		h.close()
		h.restart()
		h.say("/queue")
		h.say("/queue default")
		texts := h.room.Texts()
		for i, want := range []string{"Queue mode collect", "At most 5 wait; beyond that the oldest are dropped", "Nothing has changed", "Queue mode collect", "Queue mode steer"} {
			if !strings.Contains(texts[i], want) {
				t.Errorf("answer %d is %q, want %q in it", i, texts[i], want)
			}
		}
	})
}

// A stopped batch ends all its messages [S33, queue-07].
func TestStopEndsWhatWasCollected(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Queue = policy.Queues{Queue: policy.Queue{Mode: policy.Collect}}
		h.engine.then(h.engine.hangs(time.Second, "slow"), h.engine.hangs(time.Hour, "never"))
		h.post(toBot(inRoom("boss", "one")))
		synctest.Wait()
		h.post(toBot(inRoom("boss", "two")))
		h.post(toBot(inRoom("boss", "three")))
		time.Sleep(2 * time.Second)
		h.post(toBot(inRoom("boss", "/stop")))
		h.settle()
		if texts := h.room.Texts(); !slices.Equal(texts, []string{"slow", "Stopped."}) {
			t.Errorf("posted %q", texts)
		}
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
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

// postInto hands a message to a process that dies of it.
func (h *house) postInto(in channels.Inbound) {
	in.ID = "m-crash"
	received := make(chan struct{})
	go func() {
		defer close(received)
		_ = h.room.Say(context.Background(), in) // never acknowledged, or no matter
	}()
	<-h.faults.crashed
	h.crash()
	<-received
}

// A process that dies at the door has kept no word of a stranger, and the next
// one ends the message although the rules have been opened meanwhile [I1].
func TestACrashAtTheDoor(t *testing.T) {
	ruled(t, policy.Surface{DMPolicy: policy.DMAllowlist}, func(t *testing.T, h *house) {
		h.faults.arm(2, crashBefore) // the ending, after the accept
		h.postInto(direct("stranger", "secret"))
		h.rule(policy.Surface{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}})
		h.open()
		if rows := h.unended(); len(rows) != 1 || rows[0].In.Text != "" || rows[0].Session != "" {
			t.Errorf("kept: %+v", rows)
		}
		h.start()
		h.settle()
		if len(h.engine.asked()) != 0 || len(h.unended()) != 0 || len(h.room.Posted()) != 0 {
			t.Errorf("asked %v, unended %v, posted %v", h.engine.asked(), h.unended(), h.room.Posted())
		}
		if all, err := h.db.Sessions(context.Background(), 0); err != nil || len(all) != 0 {
			t.Errorf("a stranger made a session: %+v, %v", all, err)
		}
	})
}

// A person whose line was lost with the process gets it from the next one, with
// a code that works [P1, I1].
func TestAPairingLineIsNotLost(t *testing.T) {
	ruled(t, policy.Surface{}, func(t *testing.T, h *house) {
		h.faults.arm(2, crashBefore)
		h.postInto(direct("u9", "hi"))
		h.restart()
		h.settle()
		list, err := h.db.Pairings(context.Background(), time.Now())
		if posted := h.room.Posted(); err != nil || len(posted) != 1 || len(list) != 1 || !strings.Contains(posted[0].Text, list[0].Code) {
			t.Errorf("posted %+v, waiting %+v, %v", posted, list, err)
		}
	})
}
