package cronjobs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// expr is a cron expression of five fields, or six with the seconds in front.
// Its dialect is what all cron programs agree on: numbers, names, *, lists,
// ranges, steps; Sunday is 0 or 7. What some of them understand and others read
// as something else is refused [R16, D22].
type expr struct {
	schedule *cron.SpecSchedule
	fields   []string // six: second minute hour day month weekday
	// fixed says that the hours are named, so that a time belongs to a slot and
	// not to what the clocks happen to show.
	fixed     bool
	topOfHour bool
}

// parser reads what is left once our own checks are done.
var parser = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// macros are names for expressions, which we do not read but do know.
var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// theirs are characters that some cron programs give a meaning.
var theirs = map[string]string{
	"?": "write * for any day",
	"L": "standin does not know the last day; use day 1 of the month after, or day 28",
	"W": "standin does not know the nearest weekday; name weekdays in the last field",
	"#": "standin does not know the n-th weekday; name days, such as 8-14, and have the message look at the weekday",
	"+": "day and weekday together mean either of them; have the message look at the other",
	"H": "standin spreads jobs by itself (--stagger)",
}

// foreign finds such a character in a field, with the mend. Months and weekdays
// have names with the same letters in them.
func foreign(i int, field string) (letter, mend string) {
	field = strings.ToUpper(field)
	for _, letter := range []string{"?", "#", "+"} {
		if strings.Contains(field, letter) {
			return letter, theirs[letter]
		}
	}
	for _, letter := range []string{"L", "W", "H"} {
		last := i == 5 && letter == "L" && strings.HasSuffix(field, letter) // 5L, FRIL
		if i < 4 && strings.Contains(field, letter) || last {
			return letter, theirs[letter]
		}
	}
	return "", ""
}

// readExpr reads an expression. The error names what is wrong with it.
func readExpr(text string) (expr, error) {
	refuse := func(why, mend string) (expr, error) {
		return expr{}, fault("schedule.expr", fmt.Sprintf("%q %s", text, why), mend)
	}
	text = strings.TrimSpace(text)
	switch plain, known := macros[strings.ToLower(text)]; {
	case text == "":
		return expr{}, fault("schedule.expr", "is empty", `write five fields, such as "0 9 * * 1-5" for nine o'clock from Monday to Friday`)
	case known:
		return refuse("is a short name", fmt.Sprintf("write it out: %q", plain))
	case strings.HasPrefix(strings.ToLower(text), "@every"):
		return refuse("is no cron expression", `use a schedule of kind "every"`)
	case strings.HasPrefix(text, "@"):
		return refuse("is not known", "write five fields: minute hour day month weekday")
	case strings.Contains(text, "TZ="):
		return refuse("holds a time zone", "name the zone beside the expression (tz)")
	}
	fields := strings.Fields(text)
	if n := len(fields); n != 5 && n != 6 {
		return refuse(fmt.Sprintf("has %s", counted(n, "field")), "write five: minute hour day month weekday (or six, with seconds in front)")
	}
	if len(fields) == 5 {
		fields = append([]string{"0"}, fields...)
	}
	for i, f := range fields {
		if letter, mend := foreign(i, f); letter != "" {
			return refuse(fmt.Sprintf("uses %q, which cron programs read differently", letter), mend)
		}
	}
	week, err := sundays(fields[5])
	if err != nil {
		return refuse(err.Error(), "weekdays are 0 to 7 (Sunday is 0 and 7) or SUN to SAT")
	}
	fields[5] = week
	parsed, err := parse(strings.Join(fields, " "))
	if err != nil {
		return refuse("cannot be read: "+err.Error(), "the fields are minute (0-59) hour (0-23) day (1-31) month (1-12) weekday (0-7)")
	}
	return expr{
		schedule:  parsed,
		fields:    fields,
		fixed:     !strings.Contains(fields[2], "*"),
		topOfHour: fields[0] == "0" && isZero(fields[1]) && strings.Contains(fields[2], "*"),
	}, nil
}

func isZero(field string) bool {
	n, err := strconv.Atoi(field)
	return err == nil && n == 0
}

// parse hands the fields to robfig's parser, which panics on some texts.
func parse(fields string) (s *cron.SpecSchedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	parsed, err := parser.Parse(fields)
	if err != nil {
		return nil, err
	}
	s = parsed.(*cron.SpecSchedule) // what the parser makes of fields
	s.Location = time.UTC           // zones are clock's
	return s, nil
}

// next gives the first matching time after t, in UTC; zero: none in five years.
func (e expr) next(t time.Time) time.Time { return e.schedule.Next(t.UTC()) }

// weekdays are the names of the last field. Sunday ends a week as well as it
// begins one.
var weekdays = map[string]int{"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}

// sundays writes a weekday field so that Sunday is 0 alone: 5-7 becomes 5,6,0
// [D22].
func sundays(field string) (string, error) {
	var out []string
	for _, part := range strings.Split(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		low, high, ranged := strings.Cut(span, "-")
		if low == "*" {
			out = append(out, part)
			continue
		}
		from, err := weekday(low)
		if err != nil {
			return "", err
		}
		to := from
		switch {
		case ranged:
			if to, err = weekday(high); err != nil {
				return "", err
			}
			if to == 0 && from > 0 {
				to = 7 // FRI-SUN
			}
		case stepped:
			to = 6
		}
		by := 1
		if stepped {
			if by, err = strconv.Atoi(step); err != nil || by < 1 {
				return "", fmt.Errorf("has the step %q", step)
			}
		}
		if from > to {
			return "", fmt.Errorf("has the range %q, which ends before it begins", span)
		}
		for d := from; d <= to; d += by {
			out = append(out, strconv.Itoa(d%7))
		}
	}
	return strings.Join(out, ","), nil
}

func weekday(word string) (int, error) {
	if d, known := weekdays[strings.ToLower(word)]; known {
		return d, nil
	}
	d, err := strconv.Atoi(word)
	if err != nil || d < 0 || d > 7 {
		return 0, fmt.Errorf("has the weekday %q", word)
	}
	return d, nil
}
