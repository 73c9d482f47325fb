package cronjobs_test

import (
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/cronjobs"
	"standin/fallback"
)

// What a former process left is looked at again when it cannot be read at the
// start: an answer that is owed to a webhook is not taken for one that nobody
// wanted.
func TestWhatACrashLeftIsReadWithItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		j := task("brief", every(24*time.Hour))
		j.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/x"}}
		j = h.add(j)
		session := fallback.SessionID("agent:main:cron:" + string(j.ID))
		run := cronjobs.Run{ID: "r1", Turn: "r1", Job: j.ID, Agent: "main", Session: string(session), Trigger: cronjobs.OnSchedule, Started: cronjobs.At(time.Now())}
		if _, err := h.db.ChangeJob(t.Context(), j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
			j.State.Running, j.State.Run = run.Started, run.ID
			return cronjobs.Change{Write: true, Run: &run}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.db.End(t.Context(), bot.Ending{Session: session, Turn: run.Turn, How: bot.Answered, Background: true, At: time.Now(),
			Entries: []bot.Entry{{Turn: run.Turn, Role: "assistant", Text: "the answer", At: time.Now()}}}); err != nil {
			t.Fatal(err)
		}
		rows := &sick{Store: h.db}
		rows.ill.Store(true)
		h.s = cronjobs.New(h.options(rows))
		h.start()
		h.pass(time.Minute)
		if left := h.job(j.ID); left.State.Run != run.ID || len(h.hooks) != 0 {
			t.Errorf("%+v, %d calls", left.State, len(h.hooks))
		}
		rows.ill.Store(false)
		h.pass(20 * time.Minute)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.Delivered || len(h.hooks) != 1 || h.job(j.ID).State.Run != "" {
			t.Errorf("%+v, %d calls", r, len(h.hooks))
		}
		h.stop()
	})
}
