package cronjobs

import "time"

// clockBack is how far ahead something that has happened must lie before the
// clock is held to have been wrong then, and not merely to have been set a
// little.
const clockBack = time.Hour

// replan plans a job anew whose next time was worked out by a clock or a zone
// that is not today's: the machine's clock was a year ahead, its time zone was
// changed. What waits for a reason of its own, a retry, a back-off, a missed
// slot, is left alone, and so is a one-shot job, whose time is a fixed one. It
// tells whether it has changed the job [R15, R19].
func replan(j *Job, t times, now time.Time) bool {
	st := &j.State
	next := st.Next.Time()
	if !j.Enabled || st.Running != 0 || st.Slot == 0 || st.Trigger != "" || !next.After(now) {
		return false
	}
	longest := time.Minute // what an end, a gap and a rest may add
	if st.Errors > 0 {
		longest += errorWait(st.Errors)
	}
	switch t.kind {
	case KindEvery:
		if j.Schedule.AnchorMs != 0 && t.anchor.After(now) || next.Sub(now) <= max(t.every, longest)+longest {
			return false
		}
		if j.CreatedAt.Time().Sub(now) > clockBack {
			j.CreatedAt = At(now) // the grid counts from it
		}
		st.Era++
		st.Next, st.Slot = At(now.Add(t.every)), At(now.Add(t.every))
	case KindCron:
		from, last := now, st.LastSlot.Time()
		if ahead := last.Add(t.delay).Sub(now); ahead > clockBack {
			st.LastSlot, st.Era = 0, st.Era+1
		} else if ahead > 0 {
			from = last.Add(t.delay) // the clock was set back a little: that slot has run
		}
		slot, fire, err := t.next(from)
		if err != nil || fire.Equal(next) || st.Errors > 0 && next.Sub(now) <= max(fire.Sub(now), longest) {
			return false
		}
		st.Next, st.Slot, st.Attempt = At(fire), At(slot), 0
	default:
		return false
	}
	return true
}

// moved tells whether so much time has passed between two looks at the clock that
// the machine slept or its clock was set. Both times are the clock's on the wall:
// the other one, by which Go subtracts where it can, stands still while a machine
// sleeps and never jumps [R19].
func moved(last, now time.Time) bool {
	d := now.Round(0).Sub(last.Round(0))
	return d > overslept || d < -longestRest
}
