package heartbeat

import (
	"slices"
	"time"
)

// Reason is what causes a beat.
type Reason string

// The reasons.
const (
	Interval Reason = "interval" // its time has come
	Retry    Reason = "retry"    // one that was put off or cut short
	Event    Reason = "wake"     // standin system event, an RPC
	Cron     Reason = "cron"     // a job left something for the main session [R26]
	Exec     Reason = "exec"     // a command that ran in the background has ended
	Hook     Reason = "hook"
	Manual   Reason = "manual" // a person asks: nothing puts that off [H13]
	// Trial is a person who only wants to see the answer: it is neither posted nor
	// kept, and nothing else changes by it [IL-196].
	Trial Reason = "trial"
)

// rank orders reasons that meet: retry < interval < default < action [H13].
func (r Reason) rank() int {
	switch r {
	case Retry:
		return 0
	case Interval:
		return 1
	case Manual, Trial, Exec, Hook:
		return 3
	}
	return 2
}

// isEvent tells whether something happened that the agent is to hear of; such a
// beat does not depend on HEARTBEAT.md [H10].
func (r Reason) isEvent() bool {
	switch r {
	case Event, Cron, Exec, Hook:
		return true
	}
	return false
}

// byHand tells whether a person asks.
func (r Reason) byHand() bool { return r == Manual || r == Trial }

// Valid tells whether r is one of the reasons.
func (r Reason) Valid() bool {
	return r.isEvent() || r == Interval || r == Retry || r.byHand()
}

const (
	// coalesce is how long a wake waits for others to join it [H13].
	coalesce = 250 * time.Millisecond
	// floodRuns beats in floodTime are the most that wakes cause [H13].
	floodRuns = 5
	floodTime = time.Minute
)

// request is a wake that waits for its moment.
type request struct {
	reason Reason
	since  time.Time // of the first wake in it
}

// join merges a later wake into what waits: of two reasons the stronger counts [H13].
func (q *request) join(r Reason, now time.Time) *request {
	if q == nil {
		return &request{reason: r, since: now}
	}
	if r.rank() >= q.reason.rank() {
		q.reason = r
	}
	return q
}

// at is when the wake may run: at once for a person; else after the moment in
// which others may join it, no sooner than spacing after the last beat that ran,
// and never more than floodRuns in floodTime [H13, IL-085]. ran are the starts
// of the last beats, oldest first.
func (q *request) at(ran []time.Time, spacing time.Duration) time.Time {
	if q.reason.byHand() {
		return q.since
	}
	at := q.since.Add(coalesce)
	if n := len(ran); n > 0 {
		at = latest(at, ran[n-1].Add(spacing))
	}
	return latest(at, flooded(ran))
}

// flooded is the end of a flood, the zero time when there is none.
func flooded(ran []time.Time) time.Time {
	if n := len(ran); n >= floodRuns {
		return ran[n-floodRuns].Add(floodTime)
	}
	return time.Time{}
}

// note adds a start and forgets those that count no more.
func note(ran []time.Time, now time.Time) []time.Time {
	ran = append(slices.Clone(ran), now)
	return ran[max(0, len(ran)-floodRuns):]
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
