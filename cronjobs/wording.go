package cronjobs

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// prompt is what the model is asked: what this is, what it is to do, and when.
func (j *Job) prompt(now time.Time, home *time.Location) string {
	now = now.In(zoneOf(*j, home))
	return fmt.Sprintf("[cron:%s %s] %s\n\nCurrent time: %s", j.ID, oneLine(j.Name), strings.TrimSpace(j.Payload.Message),
		now.Format("Monday, 2 January 2006, 15:04 MST"))
}

// zoneOf is the zone in which people think of the job.
func zoneOf(j Job, home *time.Location) *time.Location {
	if j.Schedule.Zone != "" {
		if zone, err := loadZone(j.Schedule.Zone); err == nil {
			return zone
		}
	}
	if home == nil {
		return time.Local
	}
	return home
}

// insist asks for the result in place of a promise [R53].
func insist(said string) string {
	return fmt.Sprintf("You answered: %q. Nobody waits for more: this answer is all that people will see. Do it now and answer with the result itself.", cut(said, 200))
}

// promises is an answer that only says that one will follow.
var promises = regexp.MustCompile(`(?i)^(ok(ay)?[,.!]?\s+|sure[,.!]?\s+|got it[,.!]?\s*)?(i'?m |i am )?(on it|working on (it|this|that)|looking into (it|this|that)|one (moment|sec(ond)?)|give me a (moment|minute|second)|let me (check|look|see)|i('?ll| will) (get|look|check|start|take a look|work on)|will do|starting now)\b[^.!?\n]*[.!…]*$`)

// onlyPromises tells whether an answer is such an interim one [R53].
func onlyPromises(text string) bool {
	text = strings.TrimSpace(strings.ReplaceAll(text, "’", "'"))
	return len(text) <= 120 && promises.MatchString(text)
}

// sayLate stands before an answer that was made up for.
func sayLate(slot time.Time, zone *time.Location) string {
	return "(Planned for " + slot.In(zone).Format("Monday 15:04") + "; standin was not running then.)"
}

// sayMissed says why a missed slot is not made up for.
func sayMissed(slot, now time.Time, j *Job, cfg *Config) string {
	late := round(now.Sub(slot))
	catchUp := cfg.CatchUp
	if j.CatchUp != nil {
		catchUp = *j.CatchUp
	}
	if !catchUp {
		return fmt.Sprintf("its time passed %s ago while standin was not running, and missed runs are not made up for (catchUp)", late)
	}
	return fmt.Sprintf("its time passed %s ago while standin was not running, which is too long ago to make up for (catchUpMaxAge)", late)
}

// sayAlert tells people of failures in a row: what, since when, what next, and
// how to have quiet [D18, R47].
func sayAlert(j Job, r Run, zone *time.Location, now time.Time) string {
	var b strings.Builder
	st := j.State
	switch {
	case r.Status == Skipped:
		fmt.Fprintf(&b, "The job %q was skipped %s in a row.", j.Name, counted(st.Skips, "time"))
	case st.Errors == 1:
		fmt.Fprintf(&b, "The job %q failed.", j.Name)
	default:
		fmt.Fprintf(&b, "The job %q has failed %s in a row, since %s.", j.Name, counted(st.Errors, "time"), clockOn(st.FailingSince.Time(), zone, now))
	}
	fmt.Fprintf(&b, "\nWhy: %s", because(r))
	switch {
	case !j.Enabled:
		fmt.Fprintf(&b, "\nIt will not run again by itself. To run it now: standin cron run %s", j.ID)
	case st.Next != 0:
		fmt.Fprintf(&b, "\nIt runs again %s. Details: standin cron runs --id %s", clockOn(st.Next.Time(), zone, now), j.ID)
	}
	fmt.Fprintf(&b, "\nNo more of these: standin cron edit %s --no-failure-alert", j.ID)
	if j.Enabled {
		fmt.Fprintf(&b, ". Switch the job off: standin cron disable %s", j.ID)
	}
	return b.String()
}

// sayFailure is the one line on a failed run for whoever asked to hear of each
// [R48, IL-251].
func sayFailure(j Job, r Run, zone *time.Location, now time.Time) string {
	next := "it will not run again by itself"
	if j.Enabled && j.State.Next != 0 {
		next = "it runs again " + clockOn(j.State.Next.Time(), zone, now)
	}
	asked := ""
	if n := len(r.Attempts); n > 0 {
		asked = fmt.Sprintf(" after %s", counted(n, "attempt"))
	}
	return fmt.Sprintf("The job %q failed%s: %s; %s. Details: standin cron runs --id %s", j.Name, asked, because(r), next, j.ID)
}

// because is a failed run's cause, its class in front.
func because(r Run) string {
	text := cut(oneLine(r.Error), 200)
	if r.Reason == "" || strings.Contains(text, r.Reason) {
		return text
	}
	return text + " (" + r.Reason + ")"
}

// saySwitchedOff tells the agent, and so its people, of a job that has no next
// time any more [R21].
func saySwitchedOff(j Job) string {
	return fmt.Sprintf("The job %q (%s) was switched off: %s. Mend its schedule with standin cron edit %s and switch it on with standin cron enable %s.",
		j.Name, j.ID, j.State.OffWhy, j.ID, j.ID)
}

// sayAware tells the agent of the main session what one of its jobs has posted
// elsewhere [R54].
func sayAware(j Job, r Run) string {
	return oneLine(fmt.Sprintf("Your job %q posted to %s: %s", j.Name, r.Delivery.Target, cut(r.Summary, 400)))
}

// clockOn is a time as people say it: with its day where that is not today's.
func clockOn(t time.Time, zone *time.Location, now time.Time) string {
	t, now = t.In(zone), now.In(zone)
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 MST")
	}
	if d := t.Sub(now); d > -6*24*time.Hour && d < 6*24*time.Hour {
		return t.Format("Monday 15:04 MST")
	}
	return t.Format("2 January 2006 15:04 MST")
}

// oneLine takes line breaks out.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens a text to n bytes, at a whole letter.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return strings.TrimSpace(s) + "…"
}
