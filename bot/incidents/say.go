package incidents

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"standin/fallback/provider"
)

// longest is how long a line may be, in characters.
const longest = 600

// Say is the line on an incident that began, grew, or is back: what it is and
// since when, why, what happens meanwhile, and what to do.
func Say(i Incident, s Sign, news News, now time.Time) string {
	var b strings.Builder
	b.WriteString("⚠️ ")
	if news == Again {
		b.WriteString("Again: ")
		b.WriteString(s.Title)
		fmt.Fprintf(&b, ", for the second time since %s", Clock(i.Since, now))
	} else {
		b.WriteString(upper(s.Title))
		if now.Sub(i.Since) >= time.Minute {
			fmt.Fprintf(&b, ", since %s (%s)", Clock(i.Since, now), Lasted(now.Sub(i.Since)))
		}
	}
	if s.Detail != "" {
		b.WriteString(": " + strings.TrimRight(s.Detail, ". "))
	}
	b.WriteString(".")
	for _, more := range []string{s.Meanwhile, s.Mend} {
		if more != "" {
			b.WriteString(" " + more)
		}
	}
	if news == Again {
		fmt.Fprintf(&b, " It comes and goes: you hear of it when it has stayed away for %s.", Lasted(Damping))
	}
	return Line(b.String())
}

// SayOver is the line on an incident's end.
func SayOver(i Incident, now time.Time) string {
	text := fmt.Sprintf("✅ Over after %s: %s (%s – %s)", Lasted(i.Closed.Sub(i.Since)), i.Was, Clock(i.Since, now), Clock(i.Closed, now))
	if i.Flaps() {
		text += fmt.Sprintf(". It came and went, %d times in all", i.Times)
	}
	return Line(text + ".")
}

// Line is a text as it may be posted: one line, without secrets, not too long.
func Line(s string) string {
	s = provider.Redact(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest-1]) + "…"
	}
	return s
}

// Clock is a moment for people who may be in another zone than the machine.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format("15:04 MST")
	}
	if now.Sub(at).Abs() < 300*24*time.Hour {
		return at.Format("2 Jan 15:04 MST")
	}
	return at.Format("2 Jan 2006 15:04 MST")
}

// Lasted is a span for people: 40 s, 12 min, 7 h 12 min, 3 d 4 h.
func Lasted(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return pair(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
	return pair(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

func pair(a int, big string, b int, small string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, big)
	}
	return fmt.Sprintf("%d %s %d %s", a, big, b, small)
}

// upper begins a sentence, unless its first word is a name that is written small.
func upper(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if strings.ContainsAny(word, ":/._-0123456789\"'") {
		return s
	}
	first, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(first)) + s[n:]
}
