package discord

import (
	"sync"
	"time"

	"standin/channels"
)

// vitals keeps the connection's health. What is read is a copy, so nobody waits
// for the connection to look at it.
type vitals struct {
	now func() time.Time

	mu    sync.Mutex
	h     channels.Health
	begun bool // was ready once
}

func newVitals(now func() time.Time) *vitals {
	return &vitals{now: now, h: channels.Health{State: channels.Connecting, Since: now()}}
}

func (v *vitals) read() channels.Health {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.h
}

// toLocked changes the state; Since moves only when it is another one.
func (v *vitals) toLocked(s channels.ConnectionState, why string) {
	if v.h.State != s {
		v.h.State, v.h.Since = s, v.now()
	}
	v.h.Reason = why
}

// trying says that a connection is being made for the n-th time.
func (v *vitals) trying(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.h.Attempt = n
	if v.h.State != channels.Stale {
		v.toLocked(v.comingLocked(), v.h.Reason)
	}
}

func (v *vitals) comingLocked() channels.ConnectionState {
	if v.begun {
		return channels.Reconnecting
	}
	return channels.Connecting
}

// ready says that events arrive.
func (v *vitals) ready() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun = true
	v.toLocked(channels.Ready, "")
	v.h.Attempt, v.h.Mend, v.h.LastEvent = 0, "", v.now()
}

// event notes a sign of life.
func (v *vitals) event() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.h.LastEvent = v.now()
}

// stale says that the open connection is silent.
func (v *vitals) stale(why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.toLocked(channels.Stale, why)
}

// lost says why there is no connection now.
func (v *vitals) lost(why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.toLocked(v.comingLocked(), why)
}

// failed says that a person has to mend it.
func (v *vitals) failed(why, mend string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.toLocked(channels.Down, why)
	v.h.Mend, v.h.Attempt = mend, 0
}

// warn keeps what a person should mend although the connection is ready.
func (v *vitals) warn(mend string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.h.Mend = mend
}
