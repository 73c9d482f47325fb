package heartbeat

import (
	"time"
)

// Why is the word for what became of a beat; logs, rows, rehearsals and tests
// share it.
type Why string

// Why a beat was not run [H12].
const (
	WhyOff         Why = "disabled"
	WhyQuiet       Why = "quiet-hours"
	WhyBusy        Why = "requests-in-flight"
	WhyCron        Why = "cron-in-progress"
	WhyLanes       Why = "lanes-busy"
	WhyAlertsOff   Why = "alerts-disabled"
	WhyEmptyFile   Why = "empty-heartbeat-file"
	WhyNoTasks     Why = "no-tasks-due"
	WhyIdle        Why = "idle"            // nobody has spoken for heartbeat.idleAfter [IL-161]
	WhyCooling     Why = "cooling"         // every model of the chain rests
	WhyBudget      Why = "budget"          // what may be spent is spent [D20]
	WhyTaken       Why = "events-taken"    // another turn has told the agent already
	WhyFlood       Why = "too-many-beats"  // [H13]
	WhyInterrupted Why = "interrupted"     // a person's /stop, or the end of standin
	WhyUnreadable  Why = "file-unreadable" // HEARTBEAT.md is there and cannot be read
)

// What became of a beat that ran.
const (
	WhyPosted    Why = "posted"
	WhyOK        Why = "ok-token" // nothing needs attention [H7]
	WhyShownOK   Why = "ok-shown" // the same, and the room is told [H14]
	WhyEmpty     Why = "empty"    // an answer without text [IL-062, IL-298]
	WhyDuplicate Why = "duplicate"
	WhyHidden    Why = "alerts-off" // showAlerts: false
	WhyNoTarget  Why = "no-target"
	WhyNoAccount Why = "unknown-account"
	WhyDirect    Why = "dm-blocked"
	WhyFailed    Why = "failed"
	WhyTrial     Why = "trial" // only shown to who asked for it [IL-196]
)

// Standing is what speaks for and against a beat at one moment.
type Standing struct {
	Reason Reason
	Off    bool // switched off by hand
	// Tells says that something waits that a wake is to tell.
	Tells bool
	File  File
	// Stamps are the tasks' last times.
	Stamps map[string]time.Time
	// Place is where the answer goes, Seen what is shown there.
	Place Place
	Seen  Visibility
	// Spoke is when a person last spoke in the session, zero for never.
	Spoke time.Time
	// Rests is until when every model of the chain rests; zero: one can be asked.
	Rests time.Time
	// Busy: the session's turn runs or waits, or its last answer is not sent yet.
	// Others: another session of the agent works. Cron: a job runs.
	Busy, Others, Cron bool
}

// Decision is a beat that may run, with the tasks it does, or the reason why not.
type Decision struct {
	Why   Why       // "" runs
	Again time.Time // when a reason that passes by itself is over; zero: at the next slot
	Tasks []Task
}

// busyRetry is how soon a beat is tried again that met a busy session; its
// schedule does not move [H12].
const busyRetry = time.Second

// Decide tells whether a beat may run now. A person who asks for one gets it
// whatever the schedule says; only the session's own work comes first, in its
// lane [H13].
func Decide(c Config, s Standing, now time.Time) Decision {
	d := Decision{}
	if len(s.File.Tasks) > 0 {
		d.Tasks = Due(s.File.Tasks, s.Stamps, now)
	}
	if s.Reason.isEvent() {
		d.Tasks = nil // an event is told by itself [H10]
	}
	if s.Reason.byHand() {
		return d
	}
	skip := func(why Why) Decision { return Decision{Why: why} }
	soon := func(why Why) Decision { return Decision{Why: why, Again: now.Add(busyRetry)} }
	switch {
	case s.Off:
		return skip(WhyOff)
	case !c.Hours.Contains(now):
		return skip(WhyQuiet)
	case s.Reason.isEvent() && !s.Tells:
		return skip(WhyTaken)
	case s.Place.To.Channel != "" && s.Seen == (Visibility{}):
		return skip(WhyAlertsOff)
	}
	if !s.Reason.isEvent() && !s.Tells { // what happened passes the gate [H10]
		switch {
		case s.File.Err != nil:
			return skip(WhyUnreadable)
		case s.File.Empty():
			return skip(WhyEmptyFile)
		case len(s.File.Tasks) > 0 && len(d.Tasks) == 0:
			return skip(WhyNoTasks)
		case c.IdleAfter > 0 && !s.Spoke.IsZero() && now.Sub(s.Spoke) >= c.IdleAfter:
			return skip(WhyIdle)
		}
	}
	switch {
	case s.Rests.After(now):
		return Decision{Why: WhyCooling, Again: s.Rests}
	case s.Busy:
		return soon(WhyBusy)
	case s.Cron && s.Reason != Cron:
		return soon(WhyCron)
	case s.Others && c.SkipWhenBusy:
		return soon(WhyLanes)
	}
	return d
}

// passes tells whether the reason is over in a moment: it is not worth a row.
func (w Why) passes() bool { return w == WhyBusy || w == WhyCron || w == WhyLanes }
