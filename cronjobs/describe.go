package cronjobs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Describe says a schedule in words: "at 09:00 from Monday to Friday
// (Europe/Berlin)".
func (s Schedule) Describe(home *time.Location) string {
	switch s.Kind {
	case KindAt:
		at, err := ParseMoment(s.At, s.Zone)
		if err != nil {
			return "once, at " + s.At
		}
		if zone, err := loadZone(s.Zone); s.Zone != "" && err == nil {
			return "once, on " + at.In(zone).Format("Monday 2 January 2006 at 15:04") + " (" + s.Zone + ")"
		}
		return "once, on " + at.Format("Monday 2 January 2006 at 15:04") + " (UTC)"
	case KindEvery:
		return "every " + strings.TrimPrefix(longer(time.Duration(s.EveryMs)*time.Millisecond), "1 ")
	}
	c, err := readClock(s.Expr, s.Zone, home)
	if err != nil {
		return s.Expr
	}
	zone := s.Zone
	if zone == "" {
		zone = c.zone.String()
		if zone == "Local" {
			zone = "this machine's time"
		}
	}
	text := c.expr.words() + " (" + zone + ")"
	if w := s.window(c); w > 0 {
		text += ", spread over " + longer(w)
	}
	return text
}

// words says the expression; what is too involved is quoted.
func (e expr) words() string {
	parts := []string{e.clockWords()}
	day, month, week := e.fields[3], e.fields[4], e.fields[5]
	switch {
	case day != "*" && week != "*":
		parts = append(parts, "on "+dayWords(day)+" of the month, and on "+weekWords(week))
	case day != "*":
		parts = append(parts, "on "+dayWords(day)+" of the month")
	case week != "*":
		if days := weekWords(week); strings.Contains(days, " to ") {
			parts = append(parts, "from "+days)
		} else {
			parts = append(parts, "on "+days)
		}
	case e.fixed:
		parts = append(parts, "every day")
	}
	if month != "*" {
		parts = append(parts, "in "+monthWords(month))
	}
	return strings.Join(parts, " ")
}

func (e expr) clockWords() string {
	second, minute, hour := e.fields[0], e.fields[1], e.fields[2]
	tail := ""
	if second != "0" {
		tail = ", at second " + second
		if second == "*" {
			tail = ", every second"
		} else if n, ok := step(second); ok {
			tail = fmt.Sprintf(", every %d seconds", n)
		}
	}
	minutes, plainMinutes := numbers(minute)
	hours, plainHours := numbers(hour)
	switch {
	case plainMinutes && plainHours && len(minutes)*len(hours) <= 8:
		var at []string
		for _, h := range hours {
			for _, m := range minutes {
				at = append(at, fmt.Sprintf("%02d:%02d", h, m))
			}
		}
		return "at " + listed(at) + tail
	case minute == "*" && hour == "*":
		return "every minute" + tail
	}
	says := "at minute " + minute
	if n, ok := step(minute); ok {
		says = fmt.Sprintf("every %d minutes", n)
	} else if minute == "*" {
		says = "every minute"
	} else if plainMinutes && len(minutes) == 1 && minutes[0] == 0 {
		says = "on the hour"
	}
	switch n, ok := step(hour); {
	case hour == "*" && says == "on the hour":
		says = "every hour, on the hour"
	case hour == "*":
		says += " of every hour"
		if strings.HasPrefix(says, "every") {
			says = strings.TrimSuffix(says, " of every hour")
		}
	case ok:
		says += fmt.Sprintf(", every %d hours", n)
	default:
		says += " in the hours " + hour
	}
	return says + tail
}

// step reads */n.
func step(field string) (int, bool) {
	every, ok := strings.CutPrefix(field, "*/")
	n, err := strconv.Atoi(every)
	return n, ok && err == nil
}

// numbers reads a field that is a list of plain numbers.
func numbers(field string) (list []int, ok bool) {
	for _, part := range strings.Split(field, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

func dayWords(field string) string {
	if n, ok := step(field); ok {
		return fmt.Sprintf("every %s day", ordinal(n))
	}
	if days, ok := numbers(field); ok {
		var named []string
		for _, d := range days {
			named = append(named, ordinal(d))
		}
		return "the " + listed(named)
	}
	return "the days " + field
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

func weekWords(field string) string {
	days, ok := numbers(field)
	if !ok {
		return "the weekdays " + field
	}
	if len(days) > 2 {
		run := true
		for i := 1; i < len(days); i++ {
			run = run && days[i] == (days[i-1]+1)%7
		}
		if run {
			return time.Weekday(days[0]).String() + " to " + time.Weekday(days[len(days)-1]).String()
		}
	}
	var named []string
	for _, d := range days {
		named = append(named, time.Weekday(d).String())
	}
	return listed(named)
}

func monthWords(field string) string {
	months, ok := numbers(field)
	if !ok {
		return "the months " + field
	}
	var named []string
	for _, m := range months {
		named = append(named, time.Month(m).String())
	}
	return listed(named)
}

// listed joins words as people do.
func listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// longer says a duration in its largest whole units.
func longer(d time.Duration) string {
	units := []struct {
		name string
		d    time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	var said []string
	for _, u := range units {
		if n := int(d / u.d); n > 0 {
			said = append(said, counted(n, u.name))
			d %= u.d
		}
	}
	if len(said) == 0 {
		return d.Round(time.Millisecond).String()
	}
	return strings.Join(said, " ")
}

// round cuts a duration to what people want to read of it.
func round(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return longer(d.Truncate(24 * time.Hour))
	case d >= time.Hour:
		return longer(d.Truncate(time.Minute))
	}
	return longer(d.Truncate(time.Second))
}
