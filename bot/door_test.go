package bot_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"

	"pgregory.net/rapid"
)

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
		h.bot.Nudge()
		h.settle()
		if posted := h.room.Posted(); len(posted) != 2 || posted[1].To != direct("u9", "").To || !strings.HasPrefix(posted[1].Text, "You have been let in.") || !strings.Contains(posted[1].Text, "my owner") {
			t.Errorf("posted %+v", posted)
		}
		h.post(direct("u9", "hello"))
		h.settle()
		h.post(direct("u9", "/whoami"))
		h.settle()
		if texts := h.room.Texts(); len(texts) != 4 || texts[2] != "echo: hello" || !strings.Contains(texts[3], "Your id: u9") {
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
