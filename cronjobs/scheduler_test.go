package cronjobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"standin/cronjobs"
)

// A job runs at its time, its answer is posted, and the log says all of it.
func TestAJobRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.start()
		defer h.stop()
		j := h.add(task("brief", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 9 * * *"}))
		time.Sleep(25 * time.Hour)
		runs := h.runs(j.ID)
		if len(runs) != 1 {
			t.Fatalf("%d runs, want 1: %+v", len(runs), runs)
		}
		r := runs[0]
		if r.Status != cronjobs.OK || r.Requested != primary.String() || r.Used != primary.String() || r.Delivery.Status != cronjobs.Delivered || r.Delivery.MessageID == "" {
			t.Errorf("the run's line is %+v", r)
		}
		if got := r.Slot.Time().Format("15:04:05"); got != "09:30:00" {
			t.Errorf("it ran for the slot %s", got)
		}
		if said := h.turns.said(); len(said) != 1 || said[0] != "done" {
			t.Errorf("posted %q", said)
		}
	})
}
