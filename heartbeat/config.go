package heartbeat

import (
	"time"

	"standin/fallback"
)

// Config is one agent's heartbeat, the agent's own keys laid over
// agents.defaults.heartbeat [H2]. The zero value has no schedule.
type Config struct {
	// Every is the interval; 0: no schedule, which is the default [D19]. What
	// wakes the agent still runs.
	Every time.Duration
	// Target is none, last or the name of a channel [H4]; "" is none.
	Target string
	To     string // conversation on that channel; "": where the session was last spoken to there
	// Account of the channel, "" or "default" for the default one.
	Account string
	// BlockDirect keeps answers out of direct chats; the turn runs all the same
	// (directPolicy: block) [H5].
	BlockDirect bool
	// Session is the one that the beat belongs to; "" is the agent's main one.
	Session fallback.SessionID
	// Prompt replaces the usual one as a whole [H6].
	Prompt string
	// AckMax is how many characters beside HEARTBEAT_OK still count as nothing [H7].
	AckMax int
	// Dedupe is how long the same text is not posted again; 0: it always is [H8].
	Dedupe time.Duration
	Hours  Hours
	// Model is the beat's own, for this run alone [H18]; zero: the session's.
	Model fallback.Model
	// Fallbacks with Listed is heartbeat.fallbacks: exactly this list, [] none.
	Fallbacks []fallback.Model
	Listed    bool
	Light     bool // lightContext: of the workspace only HEARTBEAT.md [H15]
	Isolated  bool // isolatedSession: a fresh session each time [H15]
	// Timeout of a beat; 0: the interval, at most ten minutes [H15].
	Timeout time.Duration
	// IdleAfter stops the schedule once no person has spoken in the session for
	// so long; 0: never [IL-161].
	IdleAfter time.Duration
	// Spacing is the least time between beats that wakes cause [H13].
	Spacing time.Duration
	// SkipWhenBusy puts a beat off while another session of the agent works [H12].
	SkipWhenBusy bool
	// AllowPaid and MaxCostPerDay (in USD; 0: no cap) bound what beats may spend;
	// they become budgets of the rule book [D20].
	AllowPaid     bool
	MaxCostPerDay float64
	// File is the path of the agent's HEARTBEAT.md.
	File string
}

// Defaults are the settings of an agent that says nothing.
func Defaults() Config {
	return Config{
		Target:    TargetNone,
		AckMax:    300,
		Dedupe:    24 * time.Hour,
		Spacing:   30 * time.Second,
		AllowPaid: true,
	}
}

// The targets that are no channel.
const (
	TargetNone = "none"
	TargetLast = "last"
)

// timeout bounds one beat [H15].
func (c Config) timeout() time.Duration {
	switch {
	case c.Timeout > 0:
		return c.Timeout
	case c.Every > 0:
		return min(c.Every, longestBeat)
	}
	return longestBeat
}

const longestBeat = 10 * time.Minute

// BaseSession is the session that the agent's beats are about.
func (c Config) BaseSession(a fallback.AgentID) fallback.SessionID {
	if c.Session == "" {
		return fallback.SessionID("agent:" + string(a) + ":main")
	}
	return c.Session
}

// Settings are those of all agents. They are immutable: a beat keeps the ones
// it started with [G9].
type Settings struct {
	Fallback *fallback.Config
	// Agents are those with a heartbeat, in the order of the config: the default
	// agent, or those whose own block asks for one [H2].
	Agents []fallback.AgentID
	Of     map[fallback.AgentID]Config
	Base   Config                      // agents.defaults.heartbeat, for wakes of the others
	Files  map[fallback.AgentID]string // each agent's HEARTBEAT.md
	Seen   Visibilities
}

// For gives the agent's settings; an agent without a heartbeat has those of the
// defaults and no schedule: an event may still wake it [H2].
func (s *Settings) For(a fallback.AgentID) Config {
	if c, ok := s.Of[a]; ok {
		return c
	}
	c := s.Base
	c.Every = 0
	c.File = s.Files[a]
	return c
}
