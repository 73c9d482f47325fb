package cronjobs

import (
	"time"
)

// How missed jobs are spread after a start [R59].
const (
	firstTurns   = 2 * time.Minute // model turns wait until the house is in order
	missedGap    = 5 * time.Second
	missedAtOnce = 5 // of the jobs that ask no model
)

// missed finds the slot that a job missed: its time has come and gone while
// nobody ran it, or a slot lies behind its last one. A job that never ran is not
// looked at for slots [R58].
func missed(j *Job, t times, now time.Time) (slot time.Time, found bool) {
	st := &j.State
	if !j.Enabled || st.Running != 0 {
		return slot, false
	}
	if st.Next != 0 && st.Next.Time().After(now) && (st.Trigger == OnRetry || st.Errors > 0) {
		return slot, false // it waits for the end of its back-off
	}
	if st.Next != 0 && !st.Next.Time().After(now) {
		slot = st.Slot.Time()
		if later := t.last(slot, now); !later.IsZero() && t.kind != KindAt {
			slot = later // once, however many there were
		}
		return slot, true
	}
	if t.kind == KindCron && st.LastSlot != 0 && st.Next != 0 {
		before := now.Add(-t.delay) // a slot whose stagger still runs is not missed
		if slot = t.last(st.LastSlot.Time(), before); !slot.IsZero() && At(slot) != st.Slot {
			return slot, true
		}
	}
	return slot, false
}

// wants tells whether a missed slot of the job is to be made up for [D17, R60].
func (j *Job) wants(cfg *Config, slot, now time.Time) bool {
	catchUp, age := cfg.CatchUp, cfg.CatchUpMaxAge
	if j.CatchUp != nil {
		catchUp = *j.CatchUp
	}
	if j.CatchUpMaxAgeMs != nil {
		age = time.Duration(*j.CatchUpMaxAgeMs) * time.Millisecond
	}
	return catchUp && (age <= 0 || now.Sub(slot) <= age)
}

// spread hands out the times at which missed jobs run.
type spread struct {
	now          time.Time
	turns, plain int
}

func (s *spread) next(j *Job) time.Time {
	if j.Payload.Kind == AgentTurn {
		s.turns++
		return s.now.Add(firstTurns + time.Duration(s.turns-1)*missedGap)
	}
	s.plain++
	return s.now.Add(time.Duration(max(0, s.plain-missedAtOnce)) * missedGap)
}

// makeUp plans a missed job's run, or passes its slot over for good; then it
// gives the line of the log that says so.
func makeUp(j *Job, t times, cfg *Config, slot time.Time, s *spread) *Run {
	st := &j.State
	if j.wants(cfg, slot, s.now) {
		st.Next, st.Slot, st.Attempt, st.Trigger = At(s.next(j)), At(slot), 0, OnCatchUp
		return nil
	}
	r := newRun(j, OnCatchUp, At(slot), 0, s.now)
	r.Status, r.Reason, r.Ended = Skipped, whyMissed, At(s.now)
	r.Error = sayMissed(slot, s.now, j, cfg)
	r.Delivery.Status = NotRequested
	st.LastSlot, st.LastStatus, st.LastError, st.LastReason = At(slot), Skipped, r.Error, whyMissed
	if t.kind == KindAt {
		j.Enabled, st.Next, st.Slot, st.OffWhy = false, 0, 0, "its time passed while standin was not running"
	} else if err := j.plan(t, s.now); err != nil {
		scheduleFailed(j, err, s.now)
	}
	r.Next = st.Next
	return &r
}
