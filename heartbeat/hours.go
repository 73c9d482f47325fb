package heartbeat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hours are activeHours: the part of the day in which an agent beats [H11]. The
// zero value is the whole day.
type Hours struct {
	Set bool
	// Start (inclusive) and End (exclusive) are minutes of the day on the clock
	// of Zone; End may be 1440. Start after End goes over midnight, and equal
	// ones leave no time at all.
	Start, End int
	Zone       *time.Location
}

// Contains tells whether the agent may beat at t.
func (h Hours) Contains(t time.Time) bool {
	if !h.Set {
		return true
	}
	t = t.In(h.Zone)
	minute := 60*t.Hour() + t.Minute()
	if h.Start <= h.End {
		return h.Start <= minute && minute < h.End
	}
	return minute >= h.Start || minute < h.End
}

// String gives them as people write them.
func (h Hours) String() string {
	if !h.Set {
		return "all day"
	}
	clock := func(m int) string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }
	return fmt.Sprintf("%s to %s (%s)", clock(h.Start), clock(h.End), h.Zone)
}

// ParseClock reads "HH:MM" as minutes of the day; 24:00 is the end of the day.
func ParseClock(s string) (int, error) {
	hour, minute, ok := strings.Cut(strings.TrimSpace(s), ":")
	h, errH := strconv.Atoi(hour)
	m, errM := strconv.Atoi(minute)
	if !ok || errH != nil || errM != nil || len(minute) != 2 || h < 0 || m < 0 || m > 59 || 60*h+m > 24*60 {
		return 0, fmt.Errorf("%q is not a time of day", s)
	}
	return 60*h + m, nil
}
