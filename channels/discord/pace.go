package discord

import "time"

// pace holds the adapter's times, so that its tests on real sockets need not wait.
type pace struct {
	firstReady time.Duration // for READY after the start [D2]
	laterReady time.Duration // and later
	write      time.Duration // of one frame, and of a close
	again      time.Duration // before the next connection, doubling
	mostAgain  time.Duration // up to this
	steady     time.Duration // a connection that lived so long starts the doubling anew
	identify   time.Duration // between two IDENTIFYs (Discord: 5 s)
	invalid    time.Duration // before an IDENTIFY after op 9 (Discord: 1 to 5 s)
	stale      time.Duration // without an event; 0 never
	call       time.Duration // of one REST call
	patience   time.Duration // the longest limit that is waited for in a call
	retake     time.Duration // before a message whose receiver failed is handed over again, doubling
	typing     time.Duration // between two typing signs (Discord shows one for 10 s)
	edit       time.Duration // between two edits of a draft
	draftLife  time.Duration // of a draft that is never sent, and of typing [D15]
	orphan     time.Duration // after which a closed draft that no Send took is removed
	interact   time.Duration // in which an interaction can be answered (Discord: 15 min)
}

func normalPace(c Config) pace {
	return pace{
		firstReady: 15 * time.Second, laterReady: 30 * time.Second,
		write: 5 * time.Second, again: time.Second, mostAgain: time.Minute, steady: time.Minute,
		identify: 5 * time.Second, invalid: 3 * time.Second,
		stale: time.Duration(c.StaleAfterMinutes) * time.Minute,
		call:  20 * time.Second, patience: 2 * time.Second, retake: time.Second,
		typing: 8 * time.Second, edit: time.Second, draftLife: 20 * time.Minute, orphan: 2 * time.Minute, interact: 15*time.Minute - 10*time.Second,
	}
}
