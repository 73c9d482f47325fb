package cronjobs_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/cronjobs"
)

// A commitment is one reminder in its chat, without anybody's rights; the same one
// is not made twice, and a chat gets so many in a day.
func TestACommitmentBecomesOneReminder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		k := cronjobs.Keeper{Book: func() *cronjobs.Book { return h.book }, Nudge: h.s.Nudge}
		keep := func(text string, in time.Duration) bool {
			t.Helper()
			made, err := k.Keep(t.Context(), bot.Commitment{Session: ownersChat.Session, Agent: "main", To: ownersChat.To, Text: text, At: time.Now().Add(in)}, 3)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		if !keep("call Ada", 20*time.Hour) || keep("Call  Ada", 20*time.Hour+30*time.Minute) || keep("phone Ada", 19*time.Hour+30*time.Minute) {
			t.Error("the same thing is not one reminder")
		}
		h.wants(ownersChat, `{"action":"add","name":"pay rent","message":"m","at":"5h"}`, "Added", true)
		if keep("pay rent", 5*time.Hour) {
			t.Error("a reminder that was asked for is made once more")
		}
		if !keep("post the letter", 40*time.Hour) || !keep("buy bread", 60*time.Hour) || keep("and more", 80*time.Hour) {
			t.Error("the bound of a day is not kept")
		}
		all, _ := h.db.Jobs(t.Context())
		j := all[0]
		if !j.Guest || strings.Join(j.Payload.ToolsAllow, ",") != "session_status" || j.SessionKey != string(ownersChat.Session) {
			t.Errorf("%+v", j)
		}
		time.Sleep(21 * time.Hour)
		h.turns.mu.Lock()
		last := h.turns.asked[len(h.turns.asked)-1]
		h.turns.mu.Unlock()
		if last.To != ownersChat.To || !strings.Contains(last.Text, "call Ada") || !last.Guest || fmt.Sprint(last.Tools) != "[session_status]" {
			t.Errorf("it ran as %+v", last)
		}
	})
}
