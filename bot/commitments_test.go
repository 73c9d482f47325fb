package bot_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// kept remembers what it was to keep.
type kept struct {
	mu   sync.Mutex
	list []bot.Commitment
	full bool
}

func (k *kept) Keep(_ context.Context, c bot.Commitment, _ int) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, c)
	return !k.full, nil
}

// promising has every look find what found says, and other asks answered with text.
func (h *house) promising(found string, text answer) *kept {
	k := &kept{}
	h.bot.Promises = k
	cfg := *h.cfg
	cfg.Commitments = bot.Commitments{On: true, PerDay: 3}
	h.cfg = &cfg
	h.engine.every = func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		if ask.Kind == fallback.Compaction {
			return &fallback.Outcome{Reply: provider.Reply{Text: found}, Used: modelA}, nil
		}
		return text(ctx, ask)
	}
	return k
}

func soon(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }

// What was promised in passing becomes a reminder, told in one line. A notice is
// no part of what is looked through [M14, N18].
func TestACommitmentIsKept(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		k := h.promising(`Here: [{"text":"call Ada","at":"`+soon(20*time.Hour)+`"}]`, h.engine.fallsOver(modelB, "Good luck tomorrow!"))
		h.say("I have to call Ada tomorrow")
		synctest.Wait()
		h.settle()
		if len(k.list) != 1 || k.list[0].Text != "call Ada" || k.list[0].Session != mainSession || k.list[0].To.Channel != "room" {
			t.Errorf("kept %+v", k.list)
		}
		notices := h.room.Texts(channels.Notice)
		if len(notices) != 2 || !strings.HasPrefix(notices[0], "↪️ Model Fallback") || !strings.HasPrefix(notices[1], "📌 I will remind you on ") || strings.Contains(notices[1], "\n") {
			t.Errorf("told %q", notices)
		}
		for _, ask := range h.engine.asked() {
			if ask.Kind != fallback.Compaction {
				continue
			}
			if said := ask.Messages[0].Text; said != "Person: I have to call Ada tomorrow\n\nAssistant: Good luck tomorrow!" || ask.Tools != nil {
				t.Errorf("looked through %q", said)
			}
		}
	})
}

func TestWhatIsNoCommitment(t *testing.T) {
	for _, attempt := range []struct {
		name, found string
		do          func(h *house)
	}{
		{"nothing is found", `[]`, nil},
		{"no list", `I see nothing.`, nil},
		{"a time that has passed", `[{"text":"call","at":"1999-01-01T00:00:00Z"}]`, nil},
		{"no time", `[{"text":"call","at":"tomorrow"}]`, nil},
		{"nothing to remind of", `[{"text":" ","at":"SOON"}]`, nil},
		{"a room", `[{"text":"call","at":"SOON"}]`, func(h *house) { h.post(toBot(inRoom("u1", "I have to call"))) }},
		{"a turn that used a tool", `[{"text":"call","at":"SOON"}]`, func(h *house) {
			var got []provider.ToolResult
			h.engine.then(h.engine.uses(&got, "session_status", `{}`, h.engine.says("noon")))
			h.say("what time is it?")
		}},
		{"a silent turn", `[{"text":"call","at":"SOON"}]`, func(h *house) { h.engine.then(h.engine.says("NO_REPLY")); h.say("hm") }},
		{"switched off", `[{"text":"call","at":"SOON"}]`, func(h *house) {
			cfg := *h.cfg
			cfg.Commitments.On = false
			h.cfg = &cfg
			h.say("I have to call")
		}},
	} {
		t.Run(attempt.name, func(t *testing.T) {
			inHouse(t, func(t *testing.T, h *house) {
				k := h.promising(strings.ReplaceAll(attempt.found, "SOON", soon(time.Hour)), h.engine.says("fine"))
				if attempt.do != nil {
					attempt.do(h)
				} else {
					h.say("I have to call")
				}
				synctest.Wait()
				h.settle()
				if len(k.list) != 0 || len(h.room.Texts(channels.Notice)) != 0 {
					t.Errorf("kept %+v, told %q", k.list, h.room.Texts(channels.Notice))
				}
			})
		})
	}
}

// What is not kept is not told, and one exchange has three at most.
func TestCommitmentsAreBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		one := `{"text":"call","at":"` + soon(time.Hour) + `"}`
		k := h.promising("["+strings.Repeat(one+",", 9)+one+"]", h.engine.says("fine"))
		k.full = true
		h.say("I have to call")
		synctest.Wait()
		h.settle()
		if len(k.list) != 3 || len(h.room.Texts(channels.Notice)) != 0 {
			t.Errorf("kept %d, told %q", len(k.list), h.room.Texts(channels.Notice))
		}
	})
}
