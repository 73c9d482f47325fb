package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// A held message that finds its queue full ends with a write, and a write may
// have to be repeated: nobody else waits for that, or all rooms would stand
// still behind one bad moment of the disk [S25, S32].
func TestAHeldMessageIsCrowdedOutOnItsOwn(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		h.cfg.Rules.Debounce = time.Second
		h.cfg.Rules.Queue = policy.Queues{Queue: policy.Queue{Mode: policy.FollowUp, Cap: 1, Drop: policy.DropNew}}
		h.engine.then(h.engine.hangs(time.Minute, "slow"))
		for _, user := range []string{"runs", "waits", "late"} {
			h.post(toBot(inRoom(user, user)))
			if user != "late" {
				time.Sleep(2 * time.Second)
			}
		}
		h.faults.arm(len(h.faults.written())+1, notApplied)
		time.Sleep(time.Second)
		synctest.Wait()
		if writes := h.faults.written(); writes[len(writes)-1] != "end" {
			t.Fatalf("the last write is no failed ending: %v", writes)
		}
		if _, held, _ := h.bot.Activity(); held != 0 { // waits for ever if the ending is written under the lock
			t.Errorf("%d timers", held)
		}
		h.post(toBot(inRoom("other", "/status")))
		h.settle()
		if rows := h.unended(); len(rows) != 0 {
			t.Errorf("without an ending: %+v", rows)
		}
	})
}

// What broke inside is for the log: a person reads that it did not work.
func TestABrokenCredentialStoreIsNotQuotedInTheRoom(t *testing.T) { // I12
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Credentials = lockedAway{}
		h.say("/model gem@google:x")
		got := h.room.Texts()
		if len(got) != 1 || strings.Contains(got[0], errVault.Error()) || !strings.Contains(got[0], "did not work") {
			t.Errorf("the room reads %q", got)
		}
	})
}

var errVault = errors.New("open /home/someone/agents/main: permission denied")

type lockedAway struct{ fallback.Credentials }

func (lockedAway) Profiles(context.Context, fallback.AgentID, string) ([]fallback.Profile, error) {
	return nil, errVault
}

// A run that nobody asked for has no message to refer to; the tag by which a
// model would is not read by people [N27].
func TestABackgroundAnswerShowsNoTags(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.engine.then(func(context.Context, fallback.Ask) (*fallback.Outcome, error) {
			return &fallback.Outcome{Reply: provider.Reply{Text: "[[reply_to_current]] The report is done."}, Used: modelA}, nil
		})
		res, err := h.bot.Turn(t.Context(), bot.Turn{Session: "agent:main:cron:1", Agent: "main", Kind: fallback.Cron, Text: "go",
			To: channels.Address{Channel: "room", Conversation: "C1"}})
		if err != nil {
			t.Fatal(err)
		}
		h.settle()
		if got := h.room.Texts(); len(got) != 1 || got[0] != "The report is done." || res.Text != got[0] {
			t.Errorf("%q, result %q", got, res.Text)
		}
	})
}
