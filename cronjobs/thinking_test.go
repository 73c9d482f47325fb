package cronjobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"standin/cronjobs"
	"standin/fallback/provider"
)

// payload.thinking is how much the run's models think; a word that means nothing
// leaves it to the session and the config [R29].
func TestHowMuchAJobThinks(t *testing.T) {
	for word, want := range map[string]provider.Effort{"high": "high", "": "", "hard": ""} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.start()
			defer h.stop()
			j := task("brief", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 9 * * *"})
			j.Payload.Thinking = word
			h.add(j)
			time.Sleep(25 * time.Hour)
			h.turns.set(func() {
				if len(h.turns.asked) != 1 || h.turns.asked[0].Think != want {
					t.Errorf("thinking %q runs %+v", word, h.turns.asked)
				}
			})
		})
	}
}
