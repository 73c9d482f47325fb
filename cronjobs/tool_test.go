package cronjobs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/tools"
	"standin/channels"
	"standin/cronjobs"
)

// Places that the tool is used from.
var (
	ownersChat = tools.Place{Session: "agent:main:main", Agent: "main", Owner: true, Authorized: true, Chat: channels.Direct, To: channels.Address{Channel: "console", Conversation: "console"}}
	guestsChat = tools.Place{Session: "agent:main:slack:direct:u2", Agent: "main", Chat: channels.Direct, To: channels.Address{Channel: "slack", Conversation: "D2"}}
	ownersRoom = tools.Place{Session: "agent:main:slack:channel:c1", Agent: "main", Owner: true, Chat: channels.Room, To: channels.Address{Channel: "slack", Conversation: "C1", Thread: "17.1"}}
)

// asks uses the tool through the box, as a model's call does.
func (h *house) asks(at tools.Place, input string) (text string, acted bool) {
	h.t.Helper()
	tool := cronjobs.Tool(func() *cronjobs.Book { return h.book }, h.s)
	if !json.Valid([]byte(tool.Schema)) {
		h.t.Fatal("the schema is not JSON")
	}
	if why := (tools.Policy{}).Refuse(tool, at); why != "" {
		return "refused: " + why, false
	}
	res, err := tool.Run(h.t.Context(), at, json.RawMessage(input))
	if err != nil {
		return "error: " + err.Error(), false
	}
	return res.Text, !res.Idle
}

func (h *house) wants(at tools.Place, input, text string, acted bool) string {
	h.t.Helper()
	got, did := h.asks(at, input)
	if !strings.Contains(got, text) || did != acted {
		h.t.Errorf("%s\ngave %q, acted %t; want %q, %t", input, got, did, text, acted)
	}
	return got
}

// "a job created from a chat captures agentId, session key, delivery target of
// that chat" [R70], and it runs at its time and answers there.
func TestAReminderMadeInAChatComesBackToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		h.wants(ownersChat, `{"action":"add","name":"tea","message":"remind Ada of her tea","at":"20m"}`, "Added \"tea\"", true)
		all, _ := h.db.Jobs(t.Context())
		j := all[0]
		if j.SessionKey != "agent:main:main" || j.Agent != "main" || j.Guest || j.Delivery.Channel != "console" || j.Delivery.To != "conversation:console" {
			t.Errorf("%+v %+v", j, j.Delivery)
		}
		time.Sleep(21 * time.Minute)
		h.turns.mu.Lock()
		turn := h.turns.asked[0]
		h.turns.mu.Unlock()
		if turn.To != ownersChat.To || !strings.Contains(turn.Text, "remind Ada of her tea") || turn.Guest || turn.Chat != "" {
			t.Errorf("the run was %+v", turn)
		}
		h.wants(ownersChat, `{"action":"list"}`, "There is no job.", false) // a one-shot goes when it has run well [R10]
	})
}

// "Agent-created jobs in rooms: owner-only tool by default" [R71]. What a room's
// job runs is shown nothing private, and what a guest's runs has their rights.
func TestJobsHaveTheRightsOfWhoeverAskedForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		stranger := ownersRoom
		stranger.Owner = false
		h.wants(stranger, `{"action":"add","message":"m","at":"1h"}`, "refused: it is for the owner only", false)
		tainted := ownersChat
		tainted.Tainted = true
		h.wants(tainted, `{"action":"add","message":"m","at":"1h"}`, "refused: this turn has read what others wrote", false)

		h.wants(ownersRoom, `{"action":"add","name":"standup","message":"m","at":"1h"}`, "Added", true)
		h.wants(guestsChat, `{"action":"add","name":"theirs","message":"send me MEMORY.md","at":"1h"}`, "Added", true)
		time.Sleep(2 * time.Hour)
		h.turns.mu.Lock()
		defer h.turns.mu.Unlock()
		if len(h.turns.asked) != 2 {
			t.Fatalf("%d runs", len(h.turns.asked))
		}
		for _, turn := range h.turns.asked {
			switch turn.To.Conversation {
			case "C1":
				if turn.Guest || turn.Chat != channels.Room || turn.To.Thread != "17.1" {
					t.Errorf("the room's: %+v", turn)
				}
			case "D2":
				if !turn.Guest {
					t.Errorf("the guest's: %+v", turn)
				}
			}
		}
	})
}

// Others see and change the jobs that were made for them, and no others.
func TestAChatHasItsOwnJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		h.wants(ownersChat, `{"action":"add","name":"secret","message":"the owner's affairs","every":"1d"}`, "Added", true)
		h.wants(guestsChat, `{"action":"add","name":"theirs","message":"water the plants","cron":"0 9 * * 1-5","tz":"Europe/Berlin"}`, "Added", true)
		shared := guestsChat // all direct chats are one session (dmScope main)
		shared.Session = ownersChat.Session
		for _, at := range []tools.Place{guestsChat, shared} {
			if got, _ := h.asks(at, `{"action":"list"}`); strings.Contains(got, "secret") {
				t.Errorf("a guest's list reads %q", got)
			}
			for _, action := range []string{"show", "update", "enable", "disable", "remove", "run", "runs"} {
				h.wants(at, fmt.Sprintf(`{"action":%q,"job":"secret"}`, action), `error: this chat has no job "secret"`, false)
			}
			h.wants(at, `{"action":"wake","text":"obey"}`, "error: this is for the owner", false)
			h.wants(at, `{"action":"status"}`, "error: this is for the owner", false)
		}
		h.wants(guestsChat, `{"action":"show","job":"theirs"}`, "water the plants", false)
		h.wants(guestsChat, `{"action":"update","job":"theirs","message":"water the roses"}`, "Changed", true)
		h.wants(guestsChat, `{"action":"disable","job":"theirs"}`, "It is off", true)
		h.wants(guestsChat, `{"action":"enable","job":"theirs"}`, "It runs next", true)
		h.wants(guestsChat, `{"action":"run","job":"theirs"}`, "runs now", true)
		synctest.Wait()
		h.wants(guestsChat, `{"action":"runs","job":"theirs"}`, "theirs: ok", false)
		h.wants(ownersChat, `{"action":"list"}`, "theirs", false)
		h.wants(ownersChat, `{"action":"remove","job":"theirs"}`, "Removed", true)
		h.wants(ownersChat, `{"action":"status"}`, "Jobs are on", false)
		h.wants(ownersChat, `{"action":"wake","text":"look at the plants"}`, "The agent hears of it", true)
		// What a guest's job said is told to the owner's agent as somebody else's word.
		if n := h.turns.notes; len(n) != 2 || !strings.HasPrefix(n[0].Key, "guest-") || !strings.HasPrefix(n[1].Key, bot.WakeKey) {
			t.Errorf("noted %+v", n)
		}
	})
}

// A slip is told with its mend, and a chat's jobs are bounded.
func TestACronToolTellsWhatIsWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		for input, want := range map[string]string{
			`{"action":"add","at":"20m"}`:                                     "Give message",
			`{"action":"add","message":"m"}`:                                  "one of at, every and cron",
			`{"action":"add","message":"m","at":"1h","every":"1h"}`:           "give one of them",
			`{"action":"add","message":"m","at":"soon"}`:                      "write it like",
			`{"action":"add","message":"m","every":"often"}`:                  "write it like 30s",
			`{"action":"add","message":"m","cron":"61 * * * *"}`:              "61",
			`{"action":"add","message":"m","at":"1999-12-31T00:00:00Z"}`:      "give a time to come",
			`{"action":"add","message":"m","at":"1h","model":"nobody/knows"}`: "model",
			`{"action":"fly"}`: "there is no action",
			`{"action":"run"}`: "which job",
			`{"action":"add","message":"m","at":"1h","to":"C9"}`: "does not fit the schema",
		} {
			if got, acted := h.asks(ownersChat, input); !strings.Contains(got, want) || acted {
				t.Errorf("%s: %q", input, got)
			}
		}
		for i := range 50 {
			h.wants(guestsChat, fmt.Sprintf(`{"action":"add","name":"n%d","message":"m","at":"1h"}`, i), "Added", true)
		}
		h.wants(guestsChat, `{"action":"add","message":"m","at":"1h"}`, "as many as it may", false)
	})
}
