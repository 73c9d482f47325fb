package operator

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"standin/bot"
	"standin/bot/operator/rows"
	"standin/channels"
	"standin/fallback"
)

// Bot runs turns. *bot.Bot is one.
type Bot interface {
	ReceiveFor(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID) error
	PatchBy(ctx context.Context, who string, s fallback.SessionID, ref string) error
	ResetBy(ctx context.Context, who string, s fallback.SessionID) error
	Busy(s fallback.SessionID) bool
	Load() (running, waiting int)
	Depths() map[fallback.SessionID]bot.Depth
}

// Rows are read a page at a time, the latest first.
type Rows interface {
	Session(ctx context.Context, s fallback.SessionID) (bot.Session, error)
	Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error)
	Sessions(ctx context.Context, of SessionsOf) ([]bot.SessionState, error)
	StandIns(ctx context.Context, limit int) ([]bot.SessionState, map[fallback.AgentID]int, error)
	// Forget drops a session with all it said; false: a message waits for it.
	Forget(ctx context.Context, s fallback.SessionID, now time.Time) (gone bool, err error)
	Transcript(ctx context.Context, s fallback.SessionID, before int64, limit int) ([]bot.Entry, error)
	Steps(ctx context.Context, of StepsOf) ([]KeptStep, error)
	Runs(ctx context.Context, of RunsOf) ([]LoggedRun, error)
	Stretches(ctx context.Context, of StretchesOf) ([]Stretch, error)
	// AgentStretches gives the same by agent and model, in which a break shorter
	// than piece is none.
	AgentStretches(ctx context.Context, of StretchesOf, piece time.Duration) ([]AgentStretch, error)
	NoteAct(ctx context.Context, a KeptAct) error
	Acts(ctx context.Context, before int64, limit int) ([]KeptAct, error)
	// Chat gives the latest of a conversation, in order; those before the line at
	// before, if that is not the zero place.
	Chat(ctx context.Context, conversation string, before ChatPlace, limit int) ([]ChatLine, error)
	// Unsent gives how many posts are owed, and since when the oldest is.
	Unsent(ctx context.Context) (n int, oldest time.Time, err error)
}

// What is kept for operators, as the store gives it; see package rows.
type (
	SessionsOf   = rows.SessionsOf
	StepsOf      = rows.StepsOf
	KeptStep     = rows.KeptStep
	RunsOf       = rows.RunsOf
	LoggedRun    = rows.LoggedRun
	StretchesOf  = rows.StretchesOf
	Stretch      = rows.Stretch
	AgentStretch = rows.AgentStretch
	KeptAct      = rows.KeptAct
	ChatPlace    = rows.ChatPlace
	ChatLine     = rows.ChatLine
)

// Prober tells when a session's primary is asked again; zero: with its next
// message. *fallback.Runner is one.
type Prober interface {
	NextProbe(s fallback.SessionID, primary fallback.Model) time.Time
}

// Daemon is what the process knows of itself.
type Daemon interface {
	Readiness() Readiness
	// Degraded says in a sentence what is not as it should be, "" nothing.
	Degraded() string
	Channels() []Channel
	Servers() []ToolServer
}

// ErrNotFound says that there is no such thing; its message says what there is.
var ErrNotFound = errors.New("not found")

// Schedule is the jobs. An error that wraps ErrNotFound says that
// there is no such job, one that is a *Wrong that the request is at fault.
type Schedule interface {
	All(ctx context.Context) (Jobs, error)
	Job(ctx context.Context, id string) (JobDetail, error)
	Add(ctx context.Context, spec json.RawMessage) (JobDetail, error)
	// Edit changes the fields of its spec that are given.
	Edit(ctx context.Context, id string, fields json.RawMessage) (JobDetail, error)
	Switch(ctx context.Context, id string, on bool) (JobDetail, error)
	Remove(ctx context.Context, id string) (name string, err error)
	Run(ctx context.Context, id string, due bool) (JobAsked, error)
	Runs(ctx context.Context, id string, before string, limit int) (JobRuns, error)
	// Fires gives when jobs fire in a time, at most limit, the soonest first.
	Fires(ctx context.Context, from, to time.Time, limit int) ([]Fire, error)
}

// Beats are the agents' heartbeats.
type Beats interface {
	Heartbeats(ctx context.Context) ([]Heartbeat, error)
	Beat(ctx context.Context, a fallback.AgentID, trial bool) (Beaten, error)
	Switch(ctx context.Context, a fallback.AgentID, off bool) (Heartbeat, error)
	Fires(ctx context.Context, from, to time.Time, limit int) ([]Fire, error)
}

// Costs is what calls have cost. by is one of the words of the contract.
type Costs interface {
	Cost(ctx context.Context, by string, from, to time.Time) ([]CostRow, error)
	Budgets(ctx context.Context, now time.Time) ([]Budget, error)
}

// Oracle plays and explains by the running config; it changes nothing.
type Oracle interface {
	Outages() []Outage
	Rehearse(ctx context.Context, outage string, a fallback.AgentID) (Rehearsed, error)
	// Explain gives what standin explain --json prints.
	Explain(ctx context.Context, q Question) (json.RawMessage, error)
}

// Question is what is to be explained.
type Question struct{ Session, Agent, Model, Simulate string }

// Wrong is a request that cannot be done as it is. Its text is for people: what
// is wrong, and how to mend it.
type Wrong struct{ Says string }

func (w *Wrong) Error() string { return w.Says }
