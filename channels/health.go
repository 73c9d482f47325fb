package channels

import "time"

// ConnectionState is where a surface's connection stands.
type ConnectionState string

// The connection states.
const (
	Connecting   ConnectionState = "connecting"   // never was ready since the start
	Ready        ConnectionState = "ready"        // events arrive
	Stale        ConnectionState = "stale"        // open, but silent for too long
	Reconnecting ConnectionState = "reconnecting" // was ready, comes back by itself
	Down         ConnectionState = "failed"       // will not come back without a person; see Health.Mend
)

// Health is how a surface's connection is, for /status, metrics and probes.
// It holds no secret.
type Health struct {
	State     ConnectionState
	Since     time.Time // when the state began
	LastEvent time.Time // when the platform last said anything, zero: not yet
	Attempt   int       // of the connection that is being made, from 1; 0 when ready
	Reason    string    // why it is not ready, "" when it is
	Mend      string    // what a person can do about it, "" when nothing
}

// Reporter is a Channel that knows the health of its connection.
type Reporter interface {
	Health() Health
}
