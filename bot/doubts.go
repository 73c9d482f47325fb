package bot

import "time"

// doubts are the messages whose accept failed although their row may have been
// written. The platform brings such a message again, if ever, within a day; a row
// that nobody asks for again is found at the next start.
type doubts struct {
	since map[message]time.Time
}

// What is remembered of doubts.
const (
	doubtFor  = 24 * time.Hour
	maxDoubts = 10_000
)

// doubt notes a message. A store that takes nothing for a day must not fill the
// memory: beyond maxDoubts the oldest one goes.
func (d *doubts) doubt(m message, now time.Time) {
	if d.since == nil {
		d.since = map[message]time.Time{}
	}
	if _, known := d.since[m]; !known && len(d.since) >= maxDoubts {
		d.forget(now)
	}
	d.since[m] = now
}

// forget lets go of what is older than doubtFor, and at least of the oldest.
func (d *doubts) forget(now time.Time) {
	var oldest message
	var first time.Time
	for m, at := range d.since {
		if now.Sub(at) >= doubtFor {
			delete(d.since, m)
			continue
		}
		if first.IsZero() || at.Before(first) {
			oldest, first = m, at
		}
	}
	if len(d.since) >= maxDoubts {
		delete(d.since, oldest)
	}
}

// resolve tells whether the message was in doubt, which it is no more.
func (d *doubts) resolve(m message) bool {
	_, known := d.since[m]
	delete(d.since, m)
	return known
}
