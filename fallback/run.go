package fallback

import (
	"context"
	"errors"
	"fmt"
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
	// Parent is the session whose selection stands in while this one has none of
	// its own: a thread's room (3.8) [T4]; "": none.
	Parent SessionID
	// Refuse may pass over a candidate for a reason of the caller's, such as its
	// price [D20]: the verdict is then a Skip. nil, or a nil verdict: no objection.
	Refuse func(Model) *Verdict
	// Job is the id of the job that the run is of, "" for none; Caps are bounds on
	// what it may cost, beside the config's budgets [D20].
	Job  string
	Caps []Cap
	// NoProbe: the message itself carried a model directive [T13].
	NoProbe bool
	// Wordless: the pictures of the last message are all that it says. A model that
	// cannot be shown them has nothing to answer (21.A.3).
	Wordless bool
	Think    provider.Effort // how much the models think; "" as their vendors have it
	System   string
	Messages []provider.Message
	// Window bounds what one call may hold, in tokens, where the model's own window
	// is larger or not known (agents.defaults.contextTokens); 0: nothing does.
	Window int64
	// OnText gets streamed text; OnDiscard says that what was streamed so far
	// is void because its candidate failed [I8]. Both may be nil.
	OnText    func(piece string)
	OnDiscard func()
	// Tools are what the model may use; nil: nothing. OnRound says that tools
	// have been used: what is streamed from here on takes the place of what was
	// said before. Steer gives what people have written meanwhile, "" nothing
	// [S24]. The functions may be nil.
	Tools   Tools
	OnRound func()
	Steer   func() string
}

// Outcome is an answered run.
type Outcome struct {
	Reply    provider.Reply
	Used     Model
	Profile  ProfileID
	Plan     Plan
	Sight    Sight     // how the pictures of the turn were dealt with
	Attempts []Attempt // failures and skips before the answer, in order
	// Settle and Notice go into the transaction that ends the turn: the notice
	// is written only when Settle changed its row [I3]. Settle is nil when the
	// room is not concerned.
	Settle *Settle
	Notice string
	// Said is the exchange with tools between the last message and the answer;
	// Acted says that one of them did something that cannot be undone [I8].
	Said  []provider.Message
	Acted bool
	// Bill is what the run's calls have cost, the failed ones too.
	Bill Bill
	// Context is how many tokens the last call held, its answer included.
	Context int64
	// Since is when the session moved to the fallback that it stands on; zero
	// when it stands on none.
	Since time.Time
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
	// Said and Acted are what had been done when it failed, as in Outcome. After
	// an act no other candidate was asked [I8].
	Said  []provider.Message
	Acted bool
	Plan  Plan
	Sight Sight // SightLent: the candidates were the image models (21.A)
	Err   error // the last candidate's own error
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
// turns at the same time. What the rule book calls process-local (recent
// probes, skip markers) lives in its memories and dies with it.
type Runner struct {
	Selections  Selections
	Credentials Credentials
	Vendors     provider.Caller
	Logins      Logins // nil: no login is renewed
	Journal     Journal
	Ledger      Ledger // nil: nothing is too expensive
	Log         *slog.Logger
	Now         func() time.Time
	Sleep       func(ctx context.Context, d time.Duration) error

	probes   Probes
	throttle Throttle
	refused  SkipCache
	repeated Coalescer
	toolless Toolless
}

// The causes that end a run from inside.
var (
	// ErrRunDeadline says that the run's own time is over [I13, D23].
	ErrRunDeadline = errors.New("the run's time is over")
	// ErrSwitching says that the user's changes of model came faster than the
	// turn could follow (failover.md 17.4).
	ErrSwitching = errors.New("the model was switched too often during this turn")
)

// maxRestarts bounds how often one turn follows a live switch [M30].
const maxRestarts = 2

// NextProbe tells when the session's primary will be looked at again; zero
// when that is at its next message.
func (r *Runner) NextProbe(s SessionID, primary Model) time.Time { return r.probes.Next(s, primary) }

// Run answers one ask: it walks the chain until a model answers, the rules say
// stop, or nothing is left. The error is a *SummaryError, ErrSwitching, or the
// cause of ctx when the caller ended the run [M2, I13].
func (r *Runner) Run(ctx context.Context, ask Ask) (*Outcome, error) {
	started := r.Now()
	for restarts := 0; ; restarts++ {
		w, err := r.begin(ctx, ask, started)
		if err != nil {
			return nil, err
		}
		out, err := w.walk(ctx)
		if !errors.Is(err, errRestart) {
			return out, err
		}
		if restarts == maxRestarts {
			return nil, ErrSwitching
		}
	}
}

// errRestart asks for a fresh plan: the user chose a model that this walk
// cannot reach.
var errRestart = errors.New("restart on the user's new model")

// begin reads what is stored, decides the plan and takes away a stored
// selection that the rules call stale.
func (r *Runner) begin(ctx context.Context, ask Ask, started time.Time) (*walk, error) {
	for range 3 { // a concurrent /model makes the clearing miss; look again
		row, err := r.Selections.Selection(ctx, ask.Session)
		if err != nil {
			return nil, fmt.Errorf("read the selection of %s: %w", ask.Session, err)
		}
		stored, err := r.inherit(ctx, ask, row)
		if err != nil {
			return nil, err
		}
		due := stored.IsAuto() && r.probes.Due(ask.Session, stored.Origin, r.Now())
		w := &walk{Runner: r, ask: ask, row: row, plan: Resolve(ask, stored, due), probed: map[string]bool{}}
		if row.Model.IsZero() { // a parent's row is not the child's to clear (16.1)
			w.plan.Clear, w.plan.ClearWhy, w.plan.Cleared = false, "", Model{}
		}
		w.chain = Chain(ask.Config, w.plan)
		w.book = Book{Run: ask.Run, Session: ask.Session, Agent: ask.Agent, Requested: w.plan.Requested, Total: len(w.chain)}
		if t := ask.Config.RunTimeout; t > 0 {
			w.deadline = started.Add(t)
		}
		if row.Pending && ask.Kind == Chat {
			// The turn starts on the stored selection, so the switch has happened.
			if err := r.Selections.Consume(ctx, ask.Session); err != nil {
				return nil, fmt.Errorf("consume the live switch of %s: %w", ask.Session, err)
			}
			w.row.Pending = false
		}
		if w.plan.Invalid != "" {
			return nil, &SummaryError{Plan: w.plan, Err: errors.New(w.plan.Invalid)}
		}
		if err := w.see(); err != nil {
			return nil, err
		}
		if !w.plan.Clear {
			return w, nil
		}
		done, err := w.swap(ctx, ActClear, w.row.cleared(r.Now()))
		if err != nil {
			return nil, err
		}
		if done {
			return w, nil
		}
	}
	return nil, ErrSwitching
}

// inherit gives the selection that a run goes by: the session's own or, while it
// has none, that of its parent (3.8) [T4]. Credential and told pair are the
// session's own in any case, and what a fallback writes it writes there.
func (r *Runner) inherit(ctx context.Context, ask Ask, own Selection) (Selection, error) {
	if !own.Model.IsZero() || ask.Parent == "" || ask.Kind == Cron {
		return own, nil
	}
	parent, err := r.Selections.Selection(ctx, ask.Parent)
	if err != nil {
		return own, fmt.Errorf("read the selection of %s: %w", ask.Parent, err)
	}
	own.Model, own.Source, own.Origin = parent.Model, parent.Source, parent.Origin
	return own, nil
}

// cleared is the row without its model: an automatic pin goes with it, a
// user's pin and the told pair stay [T15, T16].
func (s Selection) cleared(now time.Time) Selection {
	free := Selection{Told: s.Told, Since: now}
	if s.Pin.ByPerson() {
		free.Pin = s.Pin
	}
	return free
}
