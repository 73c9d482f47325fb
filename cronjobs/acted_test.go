package cronjobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/cronjobs"
	"standin/fallback"
)

// A run whose tools have done something outside is not tried again, however
// passing its failure: it would be done twice [I8, R43].
func TestARunThatHasActedIsNotRetried(t *testing.T) {
	for _, c := range []struct {
		name  string
		acted bool
		runs  int
	}{{"it had only looked", false, 4}, {"it had acted", true, 1}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.turns.answer = func(bot.Turn) (string, error) {
					return "", &fallback.SummaryError{Acted: c.acted, Err: fallback.ErrSwitching,
						Attempts: []fallback.Attempt{{Model: primary, Reason: fallback.RateLimit, Detail: "slow down"}}}
				}
				h.start()
				defer h.stop()
				j := h.add(task("order", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 9 * * *"}))
				time.Sleep(20 * time.Hour)
				runs := h.runs(j.ID)
				if len(runs) != c.runs {
					t.Fatalf("%d runs, want %d: %+v", len(runs), c.runs, runs)
				}
				if r := runs[0]; r.Status != cronjobs.Failed || c.acted != (r.Reason == "acted") {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}
