package cronjobs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// What people read of jobs, at a terminal and in a chat alike.

// clockFormat is how times of jobs are written.
const clockFormat = "Mon 2006-01-02 15:04 MST"

// SayAdded tells what a new or changed job will do: in words, with its next
// times.
func SayAdded(o Outlook, home *time.Location) string {
	var b strings.Builder
	zone := zoneOf(o.Job, home)
	fmt.Fprintf(&b, "  %s\n  %s, in %s\n  %s\n", o.Schedule, sayPayload(o.Job), sayTarget(o.Job), o.Delivery)
	if len(o.Chain) > 0 {
		fmt.Fprintf(&b, "  model: %s\n", sayChain(o))
	}
	if o.Refused != "" {
		fmt.Fprintf(&b, "  it cannot run: %s\n", o.Refused)
	}
	switch {
	case !o.Job.Enabled && o.Job.State.OffWhy != "":
		fmt.Fprintf(&b, "It is off: %s.\n", o.Job.State.OffWhy)
	case !o.Job.Enabled:
		b.WriteString("It is off.\n")
	case len(o.Next) == 0:
		b.WriteString("It has no next time.\n")
	default:
		b.WriteString("It runs next:\n")
		for _, t := range o.Next {
			fmt.Fprintf(&b, "  %s\n", t.In(zone).Format(clockFormat))
		}
	}
	return b.String()
}

func sayPayload(j Job) string {
	if j.Payload.Kind == SystemEvent {
		return fmt.Sprintf("tells the agent %q", cut(oneLine(j.Payload.Text), 60))
	}
	return fmt.Sprintf("asks %q", cut(oneLine(j.Payload.Message), 60))
}

func sayTarget(j Job) string {
	switch j.Target {
	case Main:
		return "the agent's main session"
	case Isolated, Current:
		return "a session of its own, fresh each time"
	}
	return "the session " + strings.TrimPrefix(string(j.Target), "session:")
}

func sayChain(o Outlook) string {
	var names []string
	for _, c := range o.Chain {
		names = append(names, c.Model)
	}
	s := strings.Join(names, ", then ")
	if o.Job.Payload.Model == "" && o.Job.Payload.Fallbacks == nil {
		return "default (" + s + ")"
	}
	return s
}

// SayOutlook is SayAdded with the reasons [C3].
func SayOutlook(o Outlook, home *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q (%s)\n%s", o.Job.Name, o.Job.ID, SayAdded(o, home))
	if o.Stagger > 0 {
		fmt.Fprintf(&b, "Each time is %s after the full one: the job's own place in the spread (--exact ends that).\n", round(o.Stagger))
	}
	for i, c := range o.Chain {
		if i == 0 {
			b.WriteString("Models, in order:\n")
		}
		fmt.Fprintf(&b, "  %d. %s: %s\n", i+1, c.Model, c.Why)
	}
	if o.Why != "" {
		fmt.Fprintf(&b, "%s.\n", strings.ToUpper(o.Why[:1])+o.Why[1:])
	}
	return b.String()
}

// ListJobs writes a table of jobs [R69].
func ListJobs(w io.Writer, jobs []Job, home *time.Location, now time.Time) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tSCHEDULE\tNEXT\tLAST\tTARGET\tMODEL")
	for _, j := range jobs {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", short(j.ID), cut(oneLine(j.Name), 32), j.Schedule.Describe(home), sayNext(j, home, now), sayLast(j), j.Target, sayModel(j))
	}
	return t.Flush()
}

// short is the beginning of an id, which is enough to name a job.
func short(id JobID) string { return string(id[:min(8, len(id))]) }

func sayNext(j Job, home *time.Location, now time.Time) string {
	switch {
	case j.State.Running != 0:
		return "running"
	case !j.Enabled:
		return "off"
	case j.State.Next == 0:
		return "never"
	}
	return clockOn(j.State.Next.Time(), zoneOf(j, home), now)
}

func sayLast(j Job) string {
	switch st := j.State; {
	case st.LastStatus == "":
		return "-"
	case st.LastStatus == Failed && st.Errors > 1:
		return fmt.Sprintf("error, %d times", st.Errors)
	case st.LastStatus == OK && st.LastDelivery == NotDelivered && st.DeliveryError != "":
		return "ok, not delivered"
	default:
		return string(st.LastStatus)
	}
}

func sayModel(j Job) string {
	switch {
	case j.Payload.Kind == SystemEvent:
		return "-"
	case j.Payload.Model == "":
		return "default"
	}
	return j.Payload.Model
}

// ListRuns writes a table of runs, the newest first.
func ListRuns(w io.Writer, runs []Run, home *time.Location) error {
	if home == nil {
		home = time.Local
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "BEGAN\tJOB\tSTATUS\tTOOK\tASKED FOR\tANSWERED\tDELIVERY\tWHY")
	for _, r := range runs {
		status, took := string(r.Status), round(time.Duration(r.Took)*time.Millisecond)
		if r.Ended == 0 {
			status, took = "running", "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Started.Time().In(home).Format("2006-01-02 15:04:05"), cut(oneLine(r.Name), 24), status, took,
			dash(r.Requested), dash(r.Used), r.Delivery.Status, sayWhy(r))
	}
	return t.Flush()
}

func sayWhy(r Run) string {
	var parts []string
	if r.Trigger != OnSchedule {
		parts = append(parts, string(r.Trigger))
	}
	for _, a := range r.Attempts {
		if r.Error == "" {
			parts = append(parts, a.Model+" "+a.Reason)
		}
	}
	switch {
	case r.Error != "":
		parts = append(parts, cut(oneLine(r.Error), 120))
	case r.Delivery.Error != "":
		parts = append(parts, cut(oneLine(r.Delivery.Error), 120))
	case r.Delivery.Why != "":
		parts = append(parts, r.Delivery.Why)
	}
	return strings.Join(parts, "; ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// SayRun tells of one run in full.
func SayRun(r Run) string {
	var b strings.Builder
	status := string(r.Status)
	if r.Ended == 0 {
		status = "running"
	}
	fmt.Fprintf(&b, "%s: %s", r.Name, status)
	if r.Error != "" {
		fmt.Fprintf(&b, ": %s", because(r))
	}
	b.WriteString("\n")
	if r.Used != "" {
		fmt.Fprintf(&b, "  %s answered", r.Used)
		if r.Used != r.Requested && r.Requested != "" {
			fmt.Fprintf(&b, ", asked for was %s", r.Requested)
		}
		b.WriteString("\n")
	}
	for _, a := range r.Attempts {
		how := "failed"
		if a.Skipped != "" {
			how = "was passed over"
		}
		fmt.Fprintf(&b, "  %s %s: %s %s\n", a.Model, how, a.Reason, cut(oneLine(a.Detail), 200))
	}
	if d := r.Delivery; d.Target != "" {
		fmt.Fprintf(&b, "  %s: %s", d.Target, d.Status)
		for _, more := range []string{d.Error, d.Why} {
			if more != "" {
				fmt.Fprintf(&b, ", %s", more)
			}
		}
		b.WriteString("\n")
	}
	if r.Summary != "" {
		fmt.Fprintf(&b, "\n%s\n", r.Summary)
	}
	return b.String()
}

// SayFailing tells how often a job has failed in a row.
func SayFailing(j Job) string {
	if j.State.Errors == 1 {
		return "Its last run failed"
	}
	return fmt.Sprintf("It has failed %d times in a row", j.State.Errors)
}

// SayAsked tells what came of asking for a run by hand [R31].
func SayAsked(j Job, a Asked, run RunID) string {
	switch a {
	case Ran:
		return fmt.Sprintf("%q runs now (%s). standin cron runs --run-id %s tells what comes of it.", j.Name, run, run)
	case Queued:
		return fmt.Sprintf("%q runs as soon as another job has ended (%s): as many run as may (cron.maxConcurrentRuns).", j.Name, run)
	case AlreadyRunning:
		return fmt.Sprintf("%q is running already (%s).", j.Name, run)
	case NotDue:
		return fmt.Sprintf("%q is not due; without --due it runs all the same.", j.Name)
	}
	return fmt.Sprintf("%q cannot be run: its schedule cannot be read. standin cron edit %s mends it.", j.Name, j.ID)
}

// SayHealth tells how the scheduler is.
func SayHealth(h Health) string {
	if !h.Enabled {
		return "Jobs are switched off (cron.enabled, or STANDIN_SKIP_CRON). They can be run by hand.\n"
	}
	s := fmt.Sprintf("Jobs are on: %s, %s.\n", counted(h.Running, "run"), fmt.Sprintf("%d waiting", h.Waiting))
	if h.Next.IsZero() {
		return s + "Nothing is planned.\n"
	}
	return s + "The next one is due " + h.Next.Local().Format(clockFormat) + ".\n"
}
