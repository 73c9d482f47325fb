package cronjobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
)

func every(d time.Duration) cronjobs.Schedule {
	return cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: d.Milliseconds()}
}

func in(d time.Duration) cronjobs.Schedule {
	return cronjobs.Schedule{Kind: cronjobs.KindAt, At: time.Now().Add(d).UTC().Format(time.RFC3339Nano)}
}

func summary(reason fallback.Reason) error {
	return &fallback.SummaryError{Attempts: []fallback.Attempt{{Model: primary, Reason: reason, Detail: "it said no"}}}
}

// fails makes every turn fail in a way that passes, or does not.
func (h *house) fails(reason fallback.Reason) {
	h.turns.mu.Lock()
	defer h.turns.mu.Unlock()
	h.turns.answer = func(bot.Turn) (string, error) { return "", summary(reason) }
}

func (h *house) answers(text string) {
	h.turns.mu.Lock()
	defer h.turns.mu.Unlock()
	h.turns.answer = func(bot.Turn) (string, error) { return text, nil }
}

// begun are a job's runs as minutes and seconds since a moment.
func begun(runs []cronjobs.Run, since time.Time) (all []string) {
	for _, r := range runs {
		all = append(all, r.Started.Time().Sub(since).Round(time.Second).String())
	}
	return all
}

// bells is a heartbeat as a test wants it.
type bells struct {
	mu       sync.Mutex
	busyTill time.Time
	skips    string
	err      error
	rung     int
	wished   int
}

func (b *bells) Wake(context.Context, fallback.AgentID, string) (bool, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung++
	return time.Now().Before(b.busyTill), b.skips, b.err
}
func (b *bells) Request(fallback.AgentID, string) { b.set(func() { b.wished++ }) }
func (b *bells) set(change func())                { b.mu.Lock(); defer b.mu.Unlock(); change() }

// pass lets time pass and all that comes of it come. What the test reads and
// writes between two of these is the test's alone.
func (h *house) pass(d time.Duration) {
	meet := func() {
		h.turns.set(func() {})
		if b, ok := h.waker.(*bells); ok {
			b.set(func() {})
		}
	}
	meet()
	time.Sleep(d)
	synctest.Wait()
	meet()
}

func event(name string, s cronjobs.Schedule) cronjobs.Job {
	return cronjobs.Job{Name: name, Enabled: true, Schedule: s, Target: cronjobs.Main, Wake: cronjobs.WakeNow,
		Payload: cronjobs.Payload{Kind: cronjobs.SystemEvent, Text: "look at " + name}}
}

// The scenarios of the rule book, by their ids.
func TestScenarios(t *testing.T) {
	scene := func(says string, f func(t *testing.T, h *house)) {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				bell := &bells{}
				h.waker = bell
				h.s = cronjobs.New(h.options(h.db))
				f(t, h)
				h.stop()
			})
		})
	}
	scene("cron-08, R8: the main session takes no agent's turn", func(t *testing.T, h *house) {
		h.start()
		j := task("x", every(time.Hour))
		j.Target = cronjobs.Main
		if _, err := h.book.Add(t.Context(), j, ""); err == nil || !strings.Contains(err.Error(), "sessionTarget") {
			t.Errorf("added: %v", err)
		}
	})
	scene("cron-09, R18: jobs of the full hour have a place of their own, the same each time", func(t *testing.T, h *house) {
		h.start()
		j := task("x", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "0 * * * *", Zone: "UTC"})
		j.ID = "j1"
		one, err := j.Next(time.UTC, time.Now(), 2)
		two, _ := j.Next(time.UTC, time.Now(), 2)
		if err != nil || !slices.Equal(one, two) {
			t.Errorf("%v %v (%v)", one, two, err)
		}
		if d := one[0].Sub(one[0].Truncate(time.Hour)); d < 0 || d > 299_999*time.Millisecond || d == 0 || one[1].Sub(one[0]) != time.Hour {
			t.Errorf("%v after the hour", d)
		}
		exact := int64(0)
		j.Schedule.StaggerMs = &exact
		if one, _ = j.Next(time.UTC, time.Now(), 1); one[0].Minute() != 0 || one[0].Second() != 0 {
			t.Errorf("exact gives %v", one[0])
		}
	})
	scene("cron-11, R42: a one-shot job that fails for good is switched off at once, and kept; its people hear of it", func(t *testing.T, h *house) {
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("once", in(time.Minute)))
		h.pass(10 * time.Minute)
		if j = h.job(j.ID); j.Enabled || len(h.runs(j.ID)) != 1 {
			t.Errorf("%+v, %d runs", j.State, len(h.runs(j.ID)))
		}
		if said := h.turns.said(); len(said) != 1 || !strings.Contains(said[0], "will not run again by itself") {
			t.Errorf("said %q", said)
		}
	})
	scene("R42: one that fails for now is run again after 30 s, 1 m and 5 m", func(t *testing.T, h *house) {
		h.start()
		h.fails(fallback.Overloaded)
		since := time.Now()
		j := h.add(task("once", in(time.Minute)))
		h.pass(time.Hour)
		if got := begun(h.runs(j.ID), since); !slices.Equal(got, []string{"1m0s", "1m30s", "2m30s", "7m30s"}) || h.job(j.ID).Enabled {
			t.Errorf("began at %v", got)
		}
	})
	scene("cron-12: a one-shot job that ran well is gone, its record is not", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("once", in(time.Minute)))
		h.pass(2 * time.Minute)
		if _, err := h.db.Job(t.Context(), j.ID); !errors.Is(err, cronjobs.ErrNoJob) {
			t.Errorf("it is there: %v", err)
		}
		if runs := h.runs(j.ID); len(runs) != 1 || runs[0].Status != cronjobs.OK {
			t.Errorf("%+v", runs)
		}
	})
	scene("cron-14, R44: after five failures the next run is an hour later", func(t *testing.T, h *house) {
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("minutely", every(time.Minute)))
		h.pass(90 * time.Minute)
		runs := h.runs(j.ID)
		if len(runs) < 6 {
			t.Fatalf("%d runs", len(runs))
		}
		if gap := runs[5].Started.Time().Sub(runs[4].Ended.Time()); gap < time.Hour {
			t.Errorf("the sixth came %v after the fifth: %v", gap, begun(runs, runs[0].Started.Time()))
		}
		if !h.job(j.ID).Enabled {
			t.Error("it was switched off [R45]")
		}
		h.answers("fine")
		h.pass(3 * time.Hour)
		if n := len(h.runs(j.ID)); n < 100 {
			t.Errorf("after a success there are only %d runs", n)
		}
	})
	scene("cron-15, R22, IL-216: a run that takes longer than its period overlaps nothing", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 25 * time.Minute } })
		since := time.Now()
		j := h.add(task("slow", every(10*time.Minute)))
		h.pass(80 * time.Minute)
		if got := begun(h.runs(j.ID), since); !slices.Equal(got, []string{"10m0s", "40m0s", "1h10m0s"}) || h.turns.most != 1 {
			t.Errorf("began at %v, %d at once", got, h.turns.most)
		}
		if r := h.runs(j.ID)[0]; r.Overlapped != 2 {
			t.Errorf("%d slots passed meanwhile", r.Overlapped)
		}
	})
	scene("cron-29, R47, D18, IL-050: one alert at the second failure, none at the third", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("brief", every(2*time.Minute)))
		h.pass(3 * time.Minute)
		if said := h.turns.said(); len(said) != 0 {
			t.Errorf("after one failure: %q", said)
		}
		h.pass(8 * time.Minute)
		said := h.turns.said()
		if len(said) != 1 || len(h.runs(j.ID)) < 3 {
			t.Fatalf("after %d failures: %q", len(h.runs(j.ID)), said)
		}
		for _, part := range []string{`"brief"`, "2 times in a row, since ", "format", "It runs again ", "--no-failure-alert"} {
			if !strings.Contains(said[0], part) {
				t.Errorf("the alert does not say %q:\n%s", part, said[0])
			}
		}
	})
	scene("cron-30, R26: a wake waits for the turn that is in the way", func(t *testing.T, h *house) {
		h.start()
		bell := h.waker.(*bells)
		j := h.add(event("door", in(time.Minute)))
		bell.set(func() { bell.busyTill = time.Now().Add(time.Minute + 3*time.Second) })
		h.pass(2 * time.Minute)
		r := h.runs(j.ID)[0]
		if r.Status != cronjobs.OK || r.Took < 3000 || r.Took > 3300 || bell.rung < 12 || len(h.turns.notes) != 1 || h.turns.notes[0].Text != "look at door" {
			t.Errorf("%+v, %d rings, notes %v", r, bell.rung, h.turns.notes)
		}
	})
	scene("R26: after two minutes it is left for later, and a skipped or failed heartbeat is the run's own", func(t *testing.T, h *house) {
		h.start()
		bell := h.waker.(*bells)
		bell.set(func() { bell.busyTill = time.Now().Add(time.Hour) })
		j := h.add(event("door", every(10*time.Minute)))
		h.pass(13 * time.Minute)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.OK || bell.wished != 1 || r.Took < 120_000 || r.Took > 121_000 {
			t.Errorf("%+v, %d wishes", r, bell.wished)
		}
		bell.set(func() { bell.busyTill, bell.skips = time.Time{}, "it is switched off" })
		h.pass(10 * time.Minute)
		bell.set(func() { bell.skips, bell.err = "", errors.New("no model") })
		h.pass(10 * time.Minute)
		if runs := h.runs(j.ID); runs[1].Status != cronjobs.Skipped || runs[2].Status != cronjobs.Failed {
			t.Errorf("%+v", runs)
		}
	})
	scene("cron-32: a job that runs is not run a second time", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 5 * time.Minute } })
		j := h.add(task("slow", every(time.Hour)))
		if asked, _, err := h.s.RunNow(t.Context(), j.ID, false); asked != cronjobs.Ran || err != nil {
			t.Fatal(asked, err)
		}
		h.pass(time.Second)
		if asked, _, _ := h.s.RunNow(t.Context(), j.ID, false); asked != cronjobs.AlreadyRunning {
			t.Errorf("the second is %s", asked)
		}
		if asked, _, _ := h.s.RunNow(t.Context(), h.add(task("other", every(time.Hour))).ID, true); asked != cronjobs.NotDue {
			t.Errorf("with --due it is %s", asked)
		}
		h.pass(10 * time.Minute)
		if next := h.job(j.ID).State.Next; next != j.State.Next {
			t.Errorf("the schedule moved from %v to %v [R31]", j.State.Next.Time(), next.Time())
		}
	})
	scene("cron-33, R23: never more than maxConcurrentRuns at once", func(t *testing.T, h *house) {
		h.cfg.MaxConcurrent = 2
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return time.Minute } })
		var jobs []cronjobs.Job
		for i := range 5 {
			jobs = append(jobs, h.add(task(fmt.Sprint(i), in(time.Minute))))
		}
		h.pass(10 * time.Minute)
		if h.turns.most != 2 || len(h.turns.asked) != 5 {
			t.Errorf("%d at once, %d in all of %d", h.turns.most, len(h.turns.asked), len(jobs))
		}
	})
	scene("R10, R49: no route to the last room is an error, and no model is asked; best effort tries", func(t *testing.T, h *house) {
		h.start()
		j := task("lost", every(10*time.Minute))
		j.Delivery = nil
		j = h.add(j)
		h.pass(11 * time.Minute)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.Failed || r.Reason != "delivery" || len(h.turns.asked) != 0 {
			t.Errorf("%+v", r)
		}
		k := task("try", every(10*time.Minute))
		k.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Announce, Channel: cronjobs.Last}, BestEffort: true}
		k = h.add(k)
		h.pass(11 * time.Minute)
		if r := h.runs(k.ID)[0]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || r.Delivery.Error == "" {
			t.Errorf("%+v", r)
		}
	})
	scene("R51: a result that is more than three hours late is kept to the log", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 3*time.Hour + time.Minute } })
		j := task("late", in(time.Minute))
		never := -1
		j.Payload.TimeoutSeconds = &never
		j = h.add(j)
		h.pass(4 * time.Hour)
		if r := h.runs(j.ID)[0]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || !strings.Contains(r.Delivery.Why, "late") || len(h.turns.said()) != 0 {
			t.Errorf("%+v, said %q", r, h.turns.said())
		}
	})
	scene("R54: the main session hears of what was posted to a named place", func(t *testing.T, h *house) {
		h.start()
		h.add(task("brief", in(time.Minute)))
		h.pass(2 * time.Minute)
		if len(h.turns.notes) != 1 || !strings.Contains(h.turns.notes[0].Text, `"brief" posted to console room: done`) {
			t.Errorf("notes %v", h.turns.notes)
		}
	})
	scene("R55: a webhook gets the event; what it refuses is a fault of the delivery alone", func(t *testing.T, h *house) {
		h.start()
		j := task("hook", every(10*time.Minute))
		j.Delivery = &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Webhook, To: "https://example.org/secret"}}
		j = h.add(j)
		h.pass(11 * time.Minute)
		if r := h.runs(j.ID)[0]; r.Delivery.Status != cronjobs.Delivered || len(h.hooks) != 1 || strings.Contains(r.Delivery.Target, "secret") {
			t.Errorf("%+v, %d calls", r, len(h.hooks))
		}
		h.turns.mu.Lock()
		h.hook = func(cronjobs.WebhookCall) error { return errors.New("it answers 502") }
		h.turns.mu.Unlock()
		h.pass(10 * time.Minute)
		if r := h.runs(j.ID)[1]; r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || r.Delivery.Error != "it answers 502" || len(h.hooks) != 4 || h.hooks[3].ID != h.hooks[1].ID {
			t.Errorf("%+v, %d calls", r, len(h.hooks))
		}
	})
	scene("R13: a changed schedule moves the next run, a changed name does not; off clears it", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("brief", every(time.Hour)))
		h.pass(10 * time.Minute)
		next := j.State.Next
		if j, _ = h.book.Edit(t.Context(), j.ID, func(j *cronjobs.Job) error { j.Name = "other"; return nil }); j.State.Next != next {
			t.Error("a new name moved it")
		}
		if j, _ = h.book.Edit(t.Context(), j.ID, func(j *cronjobs.Job) error { j.Schedule = every(2 * time.Hour); return nil }); j.State.Next == next {
			t.Error("a new schedule did not")
		}
		if j, _ = h.book.Switch(t.Context(), j.ID, false); j.State.Next != 0 {
			t.Error("off keeps a next time")
		}
		if j, _ = h.book.Switch(t.Context(), j.ID, true); !j.State.Next.Time().After(time.Now()) {
			t.Error("on plans nothing")
		}
	})
	scene("IL-228: a panic is a failed run, and the next one starts on time", func(t *testing.T, h *house) {
		h.start()
		once := true
		h.turns.set(func() {
			h.turns.answer = func(bot.Turn) (string, error) {
				if once {
					once = false
					panic("boom")
				}
				return "fine", nil
			}
		})
		since := time.Now()
		j := h.add(task("shaky", every(10*time.Minute)))
		h.pass(21 * time.Minute)
		runs := h.runs(j.ID)
		if got := begun(runs, since); !slices.Equal(got, []string{"10m0s", "20m0s"}) || runs[0].Reason != "panic" || runs[1].Status != cronjobs.OK || strings.Contains(runs[0].Error, "boom") {
			t.Errorf("%v %+v", got, runs)
		}
	})
	scene("IL-251: a failure destination hears of each failure in one line, also of a run that took too long", func(t *testing.T, h *house) {
		h.cfg.FailureDestination = &cronjobs.Place{Mode: cronjobs.Announce, Channel: "console", To: "ops"}
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		h.turns.set(func() {
			h.turns.answer = func(bot.Turn) (string, error) {
				return "", &fallback.SummaryError{Attempts: []fallback.Attempt{{Model: primary, Reason: fallback.Timeout}}, Err: fallback.ErrRunDeadline}
			}
		})
		h.add(task("slow", every(10*time.Minute)))
		h.pass(11 * time.Minute)
		if len(h.turns.posts) != 1 || h.turns.posts[0].To.Conversation != "ops" || strings.Contains(h.turns.posts[0].Text, "\n") ||
			!strings.Contains(h.turns.posts[0].Text, `"slow"`) || !strings.Contains(h.turns.posts[0].Text, "1 attempt") || !strings.Contains(h.turns.posts[0].Text, "timeout") {
			t.Errorf("posts %+v", h.turns.posts)
		}
	})
	scene("IL-177, IL-182: nobody needs to look on; a next time of long ago is made up for and a new one planned", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("hourly", every(time.Hour)))
		h.pass(2*time.Hour + time.Minute)
		if len(h.runs(j.ID)) != 2 {
			t.Errorf("%d runs", len(h.runs(j.ID)))
		}
	})
	scene("IL-006, R62: a run that stop meets is in the record as interrupted, and posts nothing", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 10 * time.Minute } })
		j := h.add(task("long", in(time.Minute)))
		h.pass(2 * time.Minute)
		before := time.Now()
		if err := h.s.Stop(context.Background()); err != nil || time.Since(before) > 6*time.Second {
			t.Errorf("%v after %v", err, time.Since(before))
		}
		r := h.runs(j.ID)[0]
		for _, o := range h.turns.posts {
			if o.Kind == channels.Reply {
				t.Errorf("posted %q", o.Text)
			}
		}
		if r.Status != cronjobs.Failed || r.Reason != "interrupted" || r.Ended == 0 {
			t.Errorf("%+v", r)
		}
	})
	scene("R70: removing a job that runs ends the run", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.took = func(bot.Turn) time.Duration { return 10 * time.Minute } })
		j := h.add(task("long", in(time.Minute)))
		h.pass(2 * time.Minute)
		if _, err := h.book.Remove(t.Context(), j.ID); err != nil {
			t.Fatal(err)
		}
		h.s.Cancel(j.ID)
		h.pass(time.Second)
		if r := h.runs(j.ID)[0]; r.Reason != "removed" || r.Ended == 0 || len(h.turns.said()) > 1 {
			t.Errorf("%+v, said %q", r, h.turns.said())
		}
	})
	scene("R3: current is the chat that makes the job, and without one it is isolated", func(t *testing.T, h *house) {
		h.start()
		j := task("here", every(time.Hour))
		j.Target = cronjobs.Current
		j, err := h.book.Add(t.Context(), j, "agent:main:slack:channel:c1")
		if err != nil || j.Target != "session:agent:main:slack:channel:c1" {
			t.Errorf("%s %v", j.Target, err)
		}
		if _, _, err := h.s.RunNow(t.Context(), j.ID, false); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		if turn := h.turns.asked[0]; turn.Session != "agent:main:slack:channel:c1" || turn.Fresh {
			t.Errorf("it runs in %s, fresh %v [R28]", turn.Session, turn.Fresh)
		}
		k := task("nowhere", every(time.Hour))
		k.Target = cronjobs.Current
		if k, _ = h.book.Add(t.Context(), k, ""); k.Target != cronjobs.Isolated {
			t.Error(k.Target)
		}
	})
	scene("R21: a schedule that cannot be read three times in a row switches the job off, and the agent hears why", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("zoned", every(time.Minute)))
		if _, err := h.db.ChangeJob(t.Context(), j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
			j.Schedule = cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "0 9 * * *", Zone: "Mars/Base"}
			return cronjobs.Change{Write: true}, nil
		}); err != nil {
			t.Fatal(err)
		}
		h.pass(10 * time.Minute)
		if j = h.job(j.ID); j.Enabled || !strings.Contains(j.State.OffWhy, "Mars/Base") {
			t.Errorf("%+v", j.State)
		}
		if n := len(h.turns.notes); n == 0 || !strings.Contains(h.turns.notes[n-1].Text, "switched off") {
			t.Errorf("notes %v, state %+v", h.turns.notes, j.State)
		}
	})
	scene("R61: with cron off nothing runs by itself, and by hand it does", func(t *testing.T, h *house) {
		h.cfg.Enabled = false
		h.start()
		j := h.add(task("off", every(time.Minute)))
		h.pass(5 * time.Minute)
		if len(h.runs(j.ID)) != 0 {
			t.Error("it ran")
		}
		if asked, _, err := h.s.RunNow(t.Context(), j.ID, false); asked != cronjobs.Ran || err != nil {
			t.Error(asked, err)
		}
		h.pass(time.Second)
	})
	scene("IL-154: delivered is said with a receipt alone", func(t *testing.T, h *house) {
		h.start()
		h.turns.set(func() { h.turns.refuse = "channel_not_found" })
		j := h.add(task("void", every(10*time.Minute)))
		h.pass(11 * time.Minute)
		r := h.runs(j.ID)[0]
		if r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || r.Delivery.Error != "channel_not_found" || r.Delivery.MessageID != "" {
			t.Errorf("%+v", r)
		}
		if n := len(h.turns.notes); n != 1 || !strings.Contains(h.turns.notes[0].Text, "could not be delivered") {
			t.Errorf("nobody was told: %v", h.turns.notes)
		}
	})
}

// R57–R60 and D17: what happened while standin was not running.
func TestMissed(t *testing.T) {
	scene := func(says string, f func(t *testing.T, h *house)) {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := furnished(t, true)
				f(t, h)
				h.stop()
			})
		})
	}
	// away stops the house for a while and starts it again.
	away := func(h *house, d time.Duration) time.Time {
		h.stop()
		h.pass(d)
		h.open()
		h.start()
		return time.Now()
	}
	scene("IL-225, R59: a slot in the downtime runs once, however many there were", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("brief", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "30 8 * * *"}))
		k := h.add(task("often", every(10*time.Minute)))
		h.pass(8*time.Hour + 29*time.Minute)
		before := len(h.runs(k.ID))
		back := away(h, 65*time.Minute)
		h.pass(5 * time.Minute)
		if runs := h.runs(j.ID); len(runs) != 1 || runs[0].Trigger != cronjobs.OnCatchUp || !slices.Equal(begun(runs, back), []string{"2m0s"}) {
			t.Errorf("%+v", runs)
		}
		if n := len(h.runs(k.ID)) - before; n != 1 {
			t.Errorf("the frequent one ran %d times", n)
		}
		if said := h.turns.said(); !strings.HasPrefix(said[len(said)-1], "(Planned for ") {
			t.Errorf("said %q", said[len(said)-1])
		}
	})
	scene("IL-108: thirteen jobs that were missed are spread, and run once although standin restarts twice", func(t *testing.T, h *house) {
		h.start()
		var ids []cronjobs.JobID
		for i := range 13 {
			ids = append(ids, h.add(task(fmt.Sprint(i), every(12*time.Hour))).ID)
		}
		h.pass(time.Hour)
		away(h, 12*time.Hour)
		h.pass(time.Minute)
		away(h, time.Second)
		back := away(h, time.Second)
		h.pass(10 * time.Minute)
		var at []time.Duration
		for _, id := range ids {
			runs := h.runs(id)
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			at = append(at, runs[0].Started.Time().Sub(back))
		}
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 4*time.Second {
				t.Errorf("two began %v apart", gap)
			}
		}
	})
	scene("D17, R60: too old, or not wanted, is passed over and in the record", func(t *testing.T, h *house) {
		h.start()
		old := h.add(task("old", cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: "0 9 1 * *"}))
		no := false
		j := task("unwanted", every(time.Hour))
		j.CatchUp = &no
		j = h.add(j)
		once := h.add(task("once", in(time.Hour)))
		h.pass(30 * time.Minute)
		away(h, 62*24*time.Hour)
		h.pass(10 * time.Minute)
		for _, id := range []cronjobs.JobID{old.ID, j.ID, once.ID} {
			runs := h.runs(id)
			if len(runs) != 1 || runs[0].Status != cronjobs.Skipped || runs[0].Reason != "missed" || runs[0].Error == "" {
				t.Errorf("%+v", runs)
			}
		}
		if h.job(once.ID).Enabled || !h.job(old.ID).State.Next.Time().After(time.Now()) {
			t.Error("what follows is not planned")
		}
	})
	scene("R58: a job in back-off waits for its end, and one that never ran is not looked at for slots", func(t *testing.T, h *house) {
		h.cfg.Retry.MaxAttempts = 0
		h.start()
		h.fails(fallback.Format)
		j := h.add(task("bad", every(time.Minute)))
		h.pass(30 * time.Minute)
		next := h.job(j.ID).State.Next
		away(h, time.Second)
		if got := h.job(j.ID).State.Next; got != next {
			t.Errorf("its next time moved from %v to %v", next.Time(), got.Time())
		}
	})
	scene("R57: a run that a crash cut short counts as failed, and is tried again; a one-shot one is not", func(t *testing.T, h *house) {
		h.start()
		j, once := h.add(task("daily", every(24*time.Hour))), h.add(task("once", in(24*time.Hour)))
		h.pass(23 * time.Hour)
		h.stop()
		h.pass(2 * time.Hour)
		h.open()
		// As a killed process leaves it: claimed, and no end.
		for _, id := range []cronjobs.JobID{j.ID, once.ID} {
			if _, err := h.db.ChangeJob(t.Context(), id, func(j *cronjobs.Job) (cronjobs.Change, error) {
				j.State.Running, j.State.Run = cronjobs.At(time.Now()), cronjobs.RunID("r-"+id)
				return cronjobs.Change{Write: true, Run: &cronjobs.Run{ID: j.State.Run, Job: id, Name: j.Name, Turn: "t-" + string(id), Slot: j.State.Slot, Trigger: cronjobs.OnSchedule, Started: j.State.Running}}, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		h.start()
		h.pass(10 * time.Minute)
		if runs := h.runs(j.ID); len(runs) != 2 || runs[0].Reason != "interrupted" || runs[1].Trigger != cronjobs.OnRetry || runs[1].Status != cronjobs.OK {
			t.Errorf("%+v", runs)
		}
		if runs := h.runs(once.ID); len(runs) != 1 || runs[0].Reason != "interrupted" || h.job(once.ID).Enabled {
			t.Errorf("%+v", runs)
		}
	})
	scene("R24: a mark that nobody stands behind is taken away after two hours", func(t *testing.T, h *house) {
		h.start()
		j := h.add(task("stuck", every(24*time.Hour)))
		if _, err := h.db.ChangeJob(t.Context(), j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
			j.State.Running, j.State.Run = cronjobs.At(time.Now()), "ghost"
			return cronjobs.Change{Write: true, Run: &cronjobs.Run{ID: "ghost", Job: j.ID, Turn: "ghost", Slot: 1, Started: j.State.Running}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		h.pass(3 * time.Hour)
		if st := h.job(j.ID).State; st.Running != 0 || st.LastReason != "interrupted" && st.LastStatus != cronjobs.OK {
			t.Errorf("%+v", st)
		}
	})
}
