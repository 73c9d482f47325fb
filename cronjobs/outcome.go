package cronjobs

import (
	"errors"
	"time"
)

// Why a run failed or was passed over, where no model's failure is the cause.
const (
	whyInterrupted = "interrupted"  // standin ended while it ran [R57]
	whyStuck       = "stuck"        // marked as running for too long [R24]
	whyDelivery    = "delivery"     // nowhere to deliver to [R49]
	whyModel       = "model"        // payload.model cannot be asked [R34]
	whyPanic       = "panic"        // a fault of our own
	whyTimeout     = "timeout"      // the run's time was over [R25]
	whyMissed      = "missed"       // its time passed while standin was not running [D17]
	whyLocalDown   = "local_server" // no server answers [R39]
	whyNoText      = "empty"        // nothing to do
	whyActed       = "acted"        // a tool had done something when it failed [I8]
)

// overlapsMost bounds the count of slots that a long run covered.
const overlapsMost = 1000

// settled is what follows a run's end, beside the job's next time.
type settled struct {
	remove bool // the job goes
	alert  bool // people are to be told [R47]
	gaveUp bool // the job will not run again by itself, and did not run well
	off    bool // its schedule cannot be read any more [R21]
}

// settle decides what follows the end of r: the counters, the next time, and
// whether anybody is to be told [R41–R47]. It changes j's state and fills in r.
func settle(j *Job, r *Run, cfg *Config, now time.Time) (s settled) {
	st := &j.State
	st.Running, st.Run = 0, ""
	st.LastRun, st.LastStatus, st.LastDurationMs = r.Started, r.Status, r.Took
	st.LastError, st.LastReason = r.Error, r.Reason
	st.LastDelivery, st.DeliveryError = r.Delivery.Status, r.Delivery.Error
	if r.Slot != 0 {
		st.LastSlot = r.Slot
	}
	switch r.Status {
	case OK:
		st.Errors, st.Skips, st.FailingSince, st.LastAlert = 0, 0, 0, 0
	case Skipped:
		st.Skips++ // the error counter is left alone [R41]
	case Failed:
		st.Errors++
		if st.FailingSince == 0 {
			st.FailingSince = r.Started
		}
	}
	if r.Trigger != ByHand { // a run by hand leaves the schedule as it is [R31]
		s = follow(j, r, cfg, now)
	}
	s.alert = alertDue(j, r, cfg, now)
	if s.alert {
		st.LastAlert = At(now)
	}
	r.Next = st.Next
	return s
}

// follow plans the job's next time after the end of r.
func follow(j *Job, r *Run, cfg *Config, now time.Time) (s settled) {
	st := &j.State
	again := r.Status == Failed && cfg.Retry.passes(r.Reason) && r.Attempt < cfg.Retry.MaxAttempts
	retryAt := now.Add(cfg.Retry.wait(r.Attempt))
	retry := func() {
		st.Next, st.Slot, st.Attempt, st.Trigger = At(retryAt), r.Slot, r.Attempt+1, OnRetry
	}
	if !j.Enabled { // switched off meanwhile: the run was the last
		st.Next, st.Slot, st.Attempt = 0, 0, 0
		return s
	}
	if j.Schedule.Kind == KindAt {
		if again && r.Reason != whyInterrupted { // an interrupted one is not run again [R57]
			retry()
			return s
		}
		s.remove = r.Status == OK && j.removes()
		s.gaveUp = r.Status == Failed
		j.Enabled, st.Next, st.Slot, st.Attempt = false, 0, 0, 0
		if !s.remove && r.Status != OK {
			st.OffWhy = "its one time did not go well"
		}
		return s
	}
	t, err := j.ready(cfg.Home)
	if err == nil {
		r.Overlapped = t.passed(r.Slot.Time(), now, overlapsMost)
		err = j.planAfter(t, r, now)
	}
	if err != nil {
		s.off = scheduleFailed(j, err, now)
		return s
	}
	st.ScheduleErrors = 0
	natural := st.Next.Time()
	switch wait := now.Add(errorWait(st.Errors)); {
	case r.Status != Failed:
	case again && retryAt.Before(natural):
		retry()
	case wait.After(natural):
		st.Next = At(wait)
	}
	return s
}

// planAfter plans the slot after a run. An interval counts from the run's begin
// while it goes well, else it keeps to its grid [R17].
func (j *Job) planAfter(t times, r *Run, now time.Time) error {
	earliest := now.Add(leastGap) // [R19]
	if t.kind == KindEvery && r.Status == OK && r.Trigger == OnSchedule {
		if from := r.Started.Time().Add(t.every); from.After(earliest) {
			if slot := r.Slot.Time().Add(t.every); slot.After(earliest) && slot.Sub(from).Abs() < t.every/2 {
				from = slot // the same, without the moments that starting takes
			}
			j.State.Next, j.State.Slot, j.State.Attempt, j.State.Trigger = At(from), At(from), 0, ""
			return nil
		}
	}
	return j.plan(t, earliest.Add(-time.Millisecond))
}

// scheduleErrorsMost is how often in a row a schedule may fail before the job is
// switched off [R21].
const scheduleErrorsMost = 3

// scheduleFailed counts a schedule that gave no next time. It tells whether the
// job was switched off over it.
func scheduleFailed(j *Job, err error, now time.Time) (off bool) {
	st := &j.State
	st.ScheduleErrors++
	st.LastError, st.LastReason = err.Error(), "schedule"
	if st.ScheduleErrors >= scheduleErrorsMost || errors.Is(err, errNever) {
		j.Enabled, st.Next, st.Slot, st.OffWhy = false, 0, 0, "its schedule has no next time: "+err.Error()
		return true
	}
	st.Next, st.Slot = At(now.Add(time.Minute)), 0
	return false
}

// alertDue tells whether people are to be told of the job's failures now.
func alertDue(j *Job, r *Run, cfg *Config, now time.Time) bool {
	a := j.alerts(cfg.Alert)
	if !a.Enabled || j.Delivery != nil && j.Delivery.BestEffort {
		return false
	}
	count := j.State.Errors
	switch {
	case r.Status == OK:
		return false
	case r.Status == Skipped:
		if !a.IncludeSkipped {
			return false
		}
		count = j.State.Skips
	}
	last := j.State.LastAlert // one that lies ahead is a wrong clock's
	return count >= a.After && (last == 0 || now.Sub(last.Time()).Abs() >= a.Cooldown)
}
