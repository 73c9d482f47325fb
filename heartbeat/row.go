package heartbeat

import (
	"context"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// Row is what is kept of an agent's heartbeat between beats and over restarts.
type Row struct {
	Agent fallback.AgentID
	Off   bool // switched off by hand (standin heartbeat disable)

	// Turn is the beat that runs, "" for none; one that is found at a start was
	// cut short. Began, Reason and Running tell of it.
	Turn    string
	Reason  Reason
	Began   time.Time
	Running []string // the tasks that it does

	Last   time.Time // when the last beat ran, whatever came of it
	Status Status    // of the last beat or skip
	Why    Why
	Detail string // in words, when Why alone does not say it
	Model  string // who answered the last beat that ran
	At     time.Time
	Due    time.Time // the next beat that was planned then; zero: none

	Text   string    // hash of the text that was posted last [H8]
	TextAt time.Time // when
	// Failed is what the room was last told to have failed, FailedAt when;
	// Failures counts the beats since the last good one.
	Failed   string
	FailedAt time.Time
	Failures int
	Tasks    map[string]time.Time // when each task was last done [H9]
}

// Rows is where that is kept, and what a beat must know of its session.
type Rows interface {
	// HeartbeatSeed is the installation's own random text, the same for ever [H3].
	HeartbeatSeed(ctx context.Context) (string, error)
	// Heartbeat gives an agent's row; a fresh one has only its Agent.
	Heartbeat(ctx context.Context, a fallback.AgentID) (Row, error)
	// PutHeartbeat writes a row, except for Off.
	PutHeartbeat(ctx context.Context, r Row) error
	// Session gives a session's row; one that does not exist has an empty Epoch.
	Session(ctx context.Context, s fallback.SessionID) (bot.Session, error)
	// Noted gives the session's waiting system events, oldest first.
	Noted(ctx context.Context, s fallback.SessionID) ([]bot.SystemEvent, error)
	// TakeEvents forgets those up to an id: their session's agent has been told.
	TakeEvents(ctx context.Context, s fallback.SessionID, upTo int64) error
	// Delivered finds the post with a delivery id, sent or on its way.
	Delivered(ctx context.Context, id string) (text string, at time.Time, found bool, err error)
	// Owed tells whether a post that was made after since waits for its sending
	// to the address.
	OwedTo(ctx context.Context, to channels.Address, since time.Time) (bool, error)
	// ChatOf gives the kind of chat of an address, "" when nobody spoke there.
	ChatOf(ctx context.Context, to channels.Address) (channels.ChatType, error)
}

// Status is what became of a beat.
type Status string

// The statuses.
const (
	Ran     Status = "ran"     // the model was asked and answered
	Skipped Status = "skipped" // it was not asked; Why says the reason
	Failed  Status = "failed"  // no model answered
)

// Report tells what came of a beat or of asking for one.
type Report struct {
	Agent  fallback.AgentID
	Reason Reason
	Status Status
	Why    Why
	Detail string // in words
	Turn   string
	At     time.Time
	Took   time.Duration
	Model  fallback.Model // who answered, zero: nobody
	Text   string         // the answer as it stands in the record
	Posted string         // delivery id, "" for none
	Next   time.Time      // when it is tried again, of a skip that passes; or what follows
	Then   Reason         // what runs at Next
}
