package cronjobs

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Kind is a sort of schedule.
type Kind string

// The kinds [R2].
const (
	KindAt    Kind = "at"
	KindEvery Kind = "every"
	KindCron  Kind = "cron"
)

// Schedule says when a job runs [R2].
type Schedule struct {
	Kind Kind   `json:"kind"`
	At   string `json:"at,omitempty"` // RFC 3339

	EveryMs  int64  `json:"everyMs,omitempty"`
	AnchorMs Millis `json:"anchorMs,omitempty"` // 0: when the job was made

	Expr string `json:"expr,omitempty"`
	Zone string `json:"tz,omitempty"` // "": the daemon's own
	// StaggerMs spreads a cron job over a stretch after its time; nil: five
	// minutes where everybody's jobs begin, at the top of an hour [R18].
	StaggerMs *int64 `json:"staggerMs,omitempty"`
}

const (
	// topOfHour is the stretch over which jobs of the full hour are spread [R18].
	topOfHour = 5 * time.Minute
	// leastGap is the time between an end and the next fire of the same job [R19].
	leastGap = 2 * time.Second
)

// errNever says that a schedule has no next time.
var errNever = errors.New("it never comes")

// times is a schedule made ready: the slots of one job.
type times struct {
	kind   Kind
	at     time.Time
	every  time.Duration
	anchor time.Time
	cron   *clock
	delay  time.Duration // the stagger of this job
}

// ready reads the schedule of j. home is the zone of expressions without one.
func (j *Job) ready(home *time.Location) (times, error) {
	s := j.Schedule
	t := times{kind: s.Kind}
	switch s.Kind {
	case KindAt:
		at, err := ParseMoment(s.At, s.Zone)
		t.at = at
		return t, err
	case KindEvery:
		if s.EveryMs <= 0 {
			return t, fault("schedule.everyMs", "is not above zero", "give the time between two runs: 10m on the command line, milliseconds in JSON")
		}
		if s.EveryMs > int64(furthest/time.Millisecond) {
			return t, fault("schedule.everyMs", "is more than ten years", "give the milliseconds between two runs")
		}
		t.every, t.anchor = time.Duration(s.EveryMs)*time.Millisecond, s.AnchorMs.Time()
		if s.AnchorMs == 0 {
			t.anchor = j.CreatedAt.Time()
		}
		return t, nil
	case KindCron:
		c, err := readClock(s.Expr, s.Zone, home)
		if err != nil {
			return t, err
		}
		if s.StaggerMs != nil && *s.StaggerMs > int64(furthest/time.Millisecond) {
			return t, fault("schedule.staggerMs", "is more than ten years", "give milliseconds, 0 for the exact time")
		}
		t.cron, t.delay = c, offset(j.ID, s.window(c))
		return t, nil
	}
	return t, fault("schedule.kind", fmt.Sprintf("is %q", s.Kind), `use "at", "every" or "cron"`)
}

// window is the stretch over which the job is spread.
func (s Schedule) window(c *clock) time.Duration {
	switch {
	case s.StaggerMs != nil:
		return time.Duration(*s.StaggerMs) * time.Millisecond
	case c.expr.topOfHour:
		return topOfHour
	}
	return 0
}

// offset is the job's own place in the window, the same each time [R18].
func offset(id JobID, window time.Duration) time.Duration {
	ms := uint64(window / time.Millisecond)
	if ms == 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(id))
	return time.Duration(binary.BigEndian.Uint64(sum[:8])%ms) * time.Millisecond
}

// next gives the first slot whose fire, stagger included, comes after the given
// time, and that fire. errNever: there is none.
func (t times) next(after time.Time) (slot, fire time.Time, err error) {
	switch t.kind {
	case KindAt:
		slot = t.at
		if !slot.After(after) {
			return slot, slot, errNever
		}
	case KindEvery:
		slot = t.grid(after)
	case KindCron:
		if slot = t.cron.next(after.Add(-t.delay)); slot.IsZero() {
			return slot, slot, errNever
		}
	}
	return slot, slot.Add(t.delay), nil
}

// grid is the first point of anchor + k·every after the given time [R17].
func (t times) grid(after time.Time) time.Time {
	if after.Before(t.anchor) {
		return t.anchor
	}
	k := after.Sub(t.anchor) / t.every
	return t.anchor.Add((k + 1) * t.every)
}

// last gives the newest slot up to now that comes after the given one; zero when
// there is none. It looks at slots alone: stagger makes nothing missed [R18].
func (t times) last(after, now time.Time) (slot time.Time) {
	switch t.kind {
	case KindAt:
		if t.at.After(after) && !t.at.After(now) {
			return t.at
		}
	case KindEvery:
		if s := t.grid(now).Add(-t.every); s.After(after) && !s.Before(t.anchor) {
			return s
		}
	case KindCron:
		return t.cron.last(after, now)
	}
	return time.Time{}
}

// passed counts the slots after one and up to now, at most most.
func (t times) passed(after, now time.Time, most int) (n int) {
	for n < most {
		slot, _, err := t.next(after.Add(t.delay))
		if err != nil || slot.After(now) || !slot.After(after) {
			break
		}
		after = slot
		n++
	}
	return n
}

// Next gives the job's next n fires after the given time, fewer when there are
// no more.
func (j *Job) Next(home *time.Location, after time.Time, n int) ([]time.Time, error) {
	t, err := j.ready(home)
	if err != nil {
		return nil, err
	}
	var all []time.Time
	for len(all) < n {
		_, fire, err := t.next(after)
		if err != nil {
			break
		}
		all, after = append(all, fire), fire
	}
	return all, nil
}

// plan puts the next slot after the given time into the job's state.
func (j *Job) plan(t times, after time.Time) error {
	slot, fire, err := t.next(after)
	j.State.Attempt, j.State.Trigger = 0, ""
	if err != nil {
		j.State.Next, j.State.Slot = 0, 0
		return err
	}
	j.State.Next, j.State.Slot = At(fire), At(slot)
	return nil
}
