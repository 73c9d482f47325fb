package fallback

import (
	"context"
	"log/slog"
	"time"

	"standin/fallback/provider"
)

// Ask is one run: what is to be answered and for whom.
type Ask struct {
	Run     string // turn id, for the record
	Session SessionID
	Agent   AgentID
	Kind    Kind
	// Config is the snapshot that the turn started with [G9].
	Config *Config
	// Model is the run's own model: payload.model of a job, heartbeat.model, a
	// one-off flag. The zero Model: whatever the session's selection says.
	Model Model
	// Profile comes with Model for one-off asks; usually empty.
	Profile ProfileID
	// Fallbacks with Listed is payload.fallbacks: exactly this list, [] strict.
	Fallbacks []Model
	Listed    bool
	OneOff    bool  // Model came from command line flags: strict [M10]
	Channel   Model // channels.modelByChannel for this conversation, zero: none [T4]
	// Compactions is the session's compaction count; NewSession says that this
	// is the first turn after /new, /reset or a rollover [M18].
	Compactions int
	NewSession  bool
	// NoProbe: the message itself carried a model directive [T13].
	NoProbe  bool
	System   string
	Messages []provider.Message
	// OnText gets streamed text; OnDiscard says that what was streamed so far
	// is void because its candidate failed [I8]. Both may be nil.
	OnText    func(piece string)
	OnDiscard func()
}

// Outcome is an answered run.
type Outcome struct {
	Reply    provider.Reply
	Used     Model
	Profile  ProfileID
	Plan     Plan
	Attempts []Attempt // failures and skips before the answer, in order
	// Settle and Notice go into the transaction that ends the turn: the notice
	// is written only when Settle changed its row [I3]. Settle is nil when the
	// room is not concerned.
	Settle *Settle
	Notice string
}

// Settle is the compare-and-set of the pair the room was told of. It applies
// when the row's told pair is not Told yet and its selection still matches.
type Settle struct {
	Session SessionID
	Told    Told // new pair; zero when the primary is back
	// The row must still hold this selection (zero: free).
	Model  Model
	Source Source
	// Quiet: only the stored reason moves; there is no notice to write.
	Quiet bool
}

// SummaryError says that every candidate failed or was passed over [M33].
type SummaryError struct {
	Attempts []Attempt
	Soonest  time.Time // earliest end of a window that blocks a candidate; zero: unknown
	Plan     Plan
	Err      error // the last candidate's own error
}

// Selections keeps the stored choice of each session. Swap writes now only if
// the row's model and source are still those of was, and reports whether it
// did: engage, narrow rollback and clear are all this one statement [M2, I5].
// It leaves Told alone unless told otherwise by the caller's own fields: the
// Told pair of now is written as given.
type Selections interface {
	Selection(ctx context.Context, s SessionID) (Selection, error)
	Swap(ctx context.Context, s SessionID, was, now Selection) (bool, error)
	// Keep writes the pin alone, if the row's selection still matches was.
	Keep(ctx context.Context, s SessionID, was Selection, pin Pin) (bool, error)
	// Consume clears the live-switch flag.
	Consume(ctx context.Context, s SessionID) error
}

// Credentials gives an agent's profiles and keeps their routing state.
type Credentials interface {
	// Profiles gives the usable view of all credentials of the agent's provider.
	Profiles(ctx context.Context, a AgentID, provider string) ([]Profile, error)
	// Usage gives the routing state of all profiles of the provider.
	Usage(ctx context.Context, a AgentID, provider string) (map[ProfileID]Usage, error)
	// Update replaces one profile's state by change(state) in one transaction
	// and gives the state before and after.
	Update(ctx context.Context, a AgentID, p ProfileID, change func(Usage) Usage) (was, now Usage, err error)
}

// Journal gets each step of a run, in order [I10]. It must not block for long.
type Journal interface {
	Record(ctx context.Context, s Step)
}

// Runner walks chains. Its fields are set once; it is safe for use by many
// turns at the same time.
type Runner struct {
	Selections  Selections
	Credentials Credentials
	Vendors     provider.Caller
	Journal     Journal
	Log         *slog.Logger
	Now         func() time.Time
	Sleep       func(ctx context.Context, d time.Duration) error
}
