package cronjobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"standin/cronjobs"
	"standin/fallback/provider"
)

// payload.thinking is how much the run's models think; a word that means nothing
// is refused when a job is made, and in an older one leaves it to the session and
// the config [R29].
func TestHowMuchAJobThinks(t *testing.T) {
	for word, want := range map[string]provider.Effort{"high": "high", "": "", "hard": ""} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.start()
			defer h.stop()
			j := task("brief", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 9 * * *"})
			j = h.add(j)
			if _, err := h.db.ChangeJob(t.Context(), j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
				j.Payload.Thinking = word
				return cronjobs.Change{Write: true}, nil
			}); err != nil {
				t.Fatal(err)
			}
			j.Payload.Thinking = word
			if err := h.book.Rules.Check(j, false, time.Now()); (err != nil) != (word != string(want)) {
				t.Errorf("thinking %q: %v", word, err)
			}
			time.Sleep(25 * time.Hour)
			h.turns.set(func() {
				if len(h.turns.asked) != 1 || h.turns.asked[0].Think != want {
					t.Errorf("thinking %q runs %+v", word, h.turns.asked)
				}
			})
		})
	}
}
