package policy

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"standin/channels"
	"standin/fallback"
)

// ResetMode says what ends a session by itself.
type ResetMode string

// The modes of session.reset. "" is never.
const (
	ResetDaily ResetMode = "daily" // at an hour of each day
	ResetIdle  ResetMode = "idle"  // after a silence
)

// Reset is when a session is over. With both an hour and a silence set,
// whichever comes first counts [S6].
type Reset struct {
	Mode ResetMode
	// Hour and Minute of the gateway's day (atHour, 4 by default); of ResetDaily.
	Hour, Minute int
	// Idle is the longest silence of people (idleMinutes); 0: none counts.
	Idle time.Duration
}

// Resets are the reset rules of all sessions [S7].
type Resets struct {
	Reset                      // session.reset
	ByType    map[string]Reset // session.resetByType: direct, group, thread
	ByChannel map[string]Reset // session.resetByChannel: channel name, wins
	// Zone is the gateway's; nil is time.Local.
	Zone *time.Location
}

// Over tells whether a session that started and was last spoken in at these
// times is over when the next message comes, and why [S6–S9]. Background runs
// do not count as speaking [S8].
func (r Resets) Over(in channels.Inbound, s fallback.SessionID, started, last, now time.Time) (why string) {
	rule := r.of(in, s)
	if started.IsZero() {
		return ""
	}
	if rule.Mode == ResetDaily {
		zone := cmp.Or(r.Zone, time.Local)
		if started.Before(boundary(now.In(zone), rule.Hour, rule.Minute)) {
			return "daily reset"
		}
	}
	if rule.Mode != "" && rule.Idle > 0 && !last.IsZero() && now.Sub(last) > rule.Idle {
		return "idle reset"
	}
	return ""
}

// Say words when a session of a message's kind is over by itself, "" for never.
func (r Resets) Say(in channels.Inbound, s fallback.SessionID) string {
	rule := r.of(in, s)
	var parts []string
	if rule.Mode == ResetDaily {
		parts = append(parts, fmt.Sprintf("daily at %02d:%02d", rule.Hour, rule.Minute))
	}
	if rule.Mode != "" && rule.Idle > 0 {
		parts = append(parts, fmt.Sprintf("after %d minutes of silence", int(rule.Idle.Minutes())))
	}
	return strings.Join(parts, " or ")
}

// of gives the rule of a message's session.
func (r Resets) of(in channels.Inbound, s fallback.SessionID) Reset {
	if rule, ok := look(r.ByChannel, in.To.Channel); ok {
		return rule
	}
	kind := "group"
	switch {
	case in.Chat == channels.Direct:
		kind = "direct"
	case in.Parent != "", in.To.Thread != "", strings.Contains(string(s), ":thread:"):
		kind = "thread"
	}
	if rule, ok := r.ByType[kind]; ok {
		return rule
	}
	return r.Reset
}

// boundary is the latest time of day that is not after now.
func boundary(now time.Time, hour, minute int) time.Time {
	y, m, d := now.Date()
	at := time.Date(y, m, d, hour, minute, 0, 0, now.Location())
	if at.After(now) {
		at = time.Date(y, m, d-1, hour, minute, 0, 0, now.Location())
	}
	return at
}
