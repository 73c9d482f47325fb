package bot_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot/policy"
	"standin/channels"
)

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
		h.wantTexts(t, "echo: a\nb", "echo: [image: cat.png]\n[cat.png is not shown to you: standin was restarted before it had been fetched; send it again]", "echo: mine")
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
