package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/channels"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// More than 20 messages in a minute silence a bot for a minute, others not [SL15, IL-128].
func TestABotThatDoesNotStop(t *testing.T) {
	var c Crowd
	m := in("B1", "C1")
	for i := range 20 {
		if !c.Hears(m, noon.Add(time.Duration(i)*time.Second)) {
			t.Fatalf("message %d is not heard", i+1)
		}
	}
	over := noon.Add(20 * time.Second)
	if c.Hears(m, over) {
		t.Error("the 21st is heard")
	}
	if !c.Hears(in("B2", "C1"), over) || !c.Hears(in("B1", "C2"), over) {
		t.Error("another bot, or another room, is silenced too")
	}
	if c.Hears(with(m, func(m *channels.Inbound) { m.To.Thread = "T" }), over.Add(59*time.Second)) {
		t.Error("heard before the minute is over, in a thread of the room")
	}
	if !c.Hears(m, over.Add(time.Minute)) {
		t.Error("not heard after it")
	}
}

func TestAnUnhurriedBotIsHeardForEver(t *testing.T) {
	var c Crowd
	for i := range 200 {
		if !c.Hears(in("B1", "C1"), noon.Add(time.Duration(i)*3*time.Second)) {
			t.Fatalf("message %d is not heard", i)
		}
	}
}

func TestTheCrowdIsForgotten(t *testing.T) {
	var c Crowd
	for i := range 3 * crowdSize {
		c.Hears(in(fmt.Sprint("B", i), "C1"), noon.Add(time.Duration(i)*time.Second))
	}
	if len(c.seen) > crowdSize {
		t.Errorf("%d bots are remembered", len(c.seen))
	}
}

// A room reads one failure line once a minute; a direct chat always gets its own [IL-127].
func TestEchoes(t *testing.T) {
	var e Echoes
	room := channels.Address{Channel: "slack", Conversation: "C1"}
	thread := room
	thread.Thread = "T"
	for i, c := range []struct {
		to   channels.Address
		chat channels.ChatType
		text string
		at   time.Duration
		want bool
	}{
		{room, channels.Room, "limited", 0, true},
		{room, channels.Room, "limited", 59 * time.Second, false},
		{thread, channels.Room, "limited", 59 * time.Second, false},
		{room, channels.Room, "broken", 59 * time.Second, true},
		{room, channels.Room, "limited", time.Minute, true},
		{room, channels.Direct, "limited", time.Minute, true},
		{room, channels.Direct, "limited", time.Minute, true},
	} {
		if got := e.Says(c.to, c.chat, c.text, noon.Add(c.at)); got != c.want {
			t.Errorf("%d: says %v", i, got)
		}
	}
}

// A line that was not posted after all holds no other one back.
func TestAnEchoOfNothing(t *testing.T) {
	var e Echoes
	thread := channels.Address{Channel: "slack", Conversation: "C1", Thread: "T"}
	e.Says(thread, channels.Room, "limited", noon)
	e.Unsaid(thread, "limited")
	if !e.Says(thread, channels.Room, "limited", noon) {
		t.Error("nobody has read it, and it is not said")
	}
}

// Codes are 8 letters that nobody confuses, each as likely as the other [P1].
func TestCode(t *testing.T) {
	all := make([]byte, 8*256)
	for i := range all {
		all[i] = byte(i % 256)
	}
	random := strings.NewReader(string(all))
	seen := map[rune]int{}
	for range 256 {
		code, err := Code(random)
		if err != nil || len(code) != 8 || strings.ContainsAny(code, "0O1I") || NormalCode(" "+strings.ToLower(code)) != code {
			t.Fatalf("code %q, %v", code, err)
		}
		for _, r := range code {
			seen[r]++
		}
	}
	if len(seen) != 32 {
		t.Errorf("%d letters are used", len(seen))
	}
	for r, n := range seen {
		if n != 64 {
			t.Errorf("%c comes %d times of 2048", r, n)
		}
	}
	if _, err := Code(random); err == nil {
		t.Error("a code without randomness")
	}
}
