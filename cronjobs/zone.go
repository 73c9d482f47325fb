package cronjobs

import (
	"fmt"
	"strings"
	"time"
)

// clock is a cron expression on the clocks of a zone [D22].
//
// A job with fixed hours runs once for each time that its expression names:
// where the clocks jump over that time it runs as much later as they jump, and
// where they show it twice it runs the first time. A job whose hours are a *
// follows the clocks: it runs whenever they show a matching time [R20].
type clock struct {
	expr expr
	zone *time.Location
}

// readClock reads an expression and a zone; home stands in for no zone [R15].
func readClock(text, zone string, home *time.Location) (*clock, error) {
	e, err := readExpr(text)
	if err != nil {
		return nil, err
	}
	if home == nil {
		home = time.Local
	}
	if zone != "" {
		if home, err = loadZone(zone); err != nil {
			return nil, err
		}
	}
	c := &clock{expr: e, zone: home}
	if c.next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() { // a leap year, so that 29 February counts
		return nil, fault("schedule.expr", fmt.Sprintf("%q names a date that never comes", text), "look at its day and month")
	}
	return c, nil
}

// loadZone finds a time zone by its name in the IANA list.
func loadZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fault("schedule.tz", fmt.Sprintf("%q is no time zone", name), "name one of the IANA list, such as Europe/Berlin or UTC")
	}
	return zone, nil
}

// stretch is a time during which a zone's offset does not change.
type stretch struct {
	start, end time.Time     // zero: no bound
	offset     time.Duration // of the clocks, from UTC
	before     time.Duration // the offset before start
}

func (c *clock) stretch(t time.Time) stretch {
	t = t.In(c.zone)
	start, end := t.ZoneBounds()
	s := stretch{start: start.UTC(), end: end.UTC(), offset: offsetAt(t)}
	if s.before = s.offset; !start.IsZero() {
		s.before = offsetAt(start.Add(-1))
	} else {
		s.start = time.Time{}
	}
	if end.IsZero() {
		s.end = time.Time{}
	} else if !s.end.After(t) {
		// Past the tables of its zones the time package ends a leap year a day
		// early, and says so for all of that day.
		s.end = t.UTC().Add(24 * time.Hour)
	}
	return s
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// stretchesMost bounds the search: an expression is looked up five years ahead,
// and no zone's clocks are moved more than four times a year; the ends of years
// count as well.
const stretchesMost = 40

// next gives the first slot after t; zero: there is none. Within a stretch the
// clocks are plain, so the expression is asked in UTC, shifted; what is special
// happens at a stretch's start.
func (c *clock) next(t time.Time) time.Time {
	s := c.stretch(t)
	for range stretchesMost {
		slot := c.nextIn(s, t)
		if slot.IsZero() || s.end.IsZero() || slot.Before(s.end) {
			return slot
		}
		t = s.end.Add(-1) // a slot on the end itself is the next stretch's
		s = c.stretch(s.end)
	}
	return time.Time{}
}

// nextIn gives the first slot after t by the stretch's clocks. One behind the
// stretch's end is not its own.
func (c *clock) nextIn(s stretch, t time.Time) time.Time {
	shown := t.UTC().Add(s.offset) // what the clocks show, written as if it were UTC
	if c.expr.fixed && s.before > s.offset {
		// The clocks went back: what they show first was shown before.
		if again := s.start.Add(s.before).Add(-1); again.After(shown) {
			shown = again
		}
	}
	slot := c.expr.next(shown)
	if !slot.IsZero() {
		slot = slot.Add(-s.offset)
	}
	if c.expr.fixed && s.offset > s.before {
		// The clocks jumped: what they left out comes as much later.
		left := t.UTC().Add(s.before)
		if from := s.start.Add(s.before).Add(-1); from.After(left) {
			left = from
		}
		left = c.expr.next(left)
		if !left.IsZero() && left.Before(s.start.Add(s.offset)) {
			if late := left.Add(-s.before); slot.IsZero() || late.Before(slot) {
				slot = late
			}
		}
	}
	return slot
}

// last gives the newest slot after one time and up to another; zero: none. It
// looks back in growing steps, so that a job of every second costs no more than
// one of every year.
func (c *clock) last(after, now time.Time) (slot time.Time) {
	for back := time.Minute; slot.IsZero(); back *= 4 {
		from := now.Add(-back)
		whole := !from.After(after)
		if whole {
			from = after
		}
		for s := c.next(from); !s.IsZero() && !s.After(now); s = c.next(s) {
			slot = s
		}
		if whole {
			break
		}
	}
	return slot
}
