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
// turns at the same time. What the rule book calls process-local (recent
// probes, skip markers) lives in its three memories and dies with it.
type Runner struct {
	Selections  Selections
	Credentials Credentials
	Vendors     provider.Caller
	Journal     Journal
	Log         *slog.Logger
	Now         func() time.Time
	Sleep       func(ctx context.Context, d time.Duration) error

	probes   Probes
	throttle Throttle
	refused  SkipCache
	repeated Coalescer
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

// walk is one pass over one chain.
type walk struct {
	*Runner
	ask      Ask
	plan     Plan
	chain    []Model
	row      Selection // the stored selection as this walk last knew it
	book     Book
	attempts []Attempt
	probed   map[string]bool // providers whose transient probe of this run is used up [M29]
	deadline time.Time       // of the run; zero: none
	last     error           // the last candidate's own error
}

// walk tries the candidates one after the other, never side by side (1.3).
func (w *walk) walk(ctx context.Context) (*Outcome, error) {
	for i := 0; i < len(w.chain); i++ {
		if err := w.mayGoOn(ctx); err != nil {
			return nil, err
		}
		c, verdict, err := w.visit(ctx, i)
		if err != nil {
			return nil, err
		}
		if verdict.Do == Skip {
			w.skip(ctx, c, verdict)
			continue
		}
		before, err := w.engage(ctx, c)
		if err != nil {
			return nil, err
		}
		reply, class, err := w.tryCandidate(ctx, c, verdict)
		if err == nil {
			return w.answered(ctx, c, reply)
		}
		w.last = err
		w.rollback(ctx, before)
		if ctx.Err() != nil { // the caller's abort or shutdown never advances the chain [D6, I13]
			return nil, context.Cause(ctx)
		}
		w.remember(c, verdict, class)
		move := Advance(class, c.left)
		if errors.Is(err, ErrRunDeadline) {
			move = Stop // no candidate is begun with no time [I13]
		}
		w.failed(ctx, c, move)
		// Who chose another model meanwhile is answered by it, even when this was
		// the last candidate and its failure the one to be told.
		next, err := w.follow(ctx, i)
		if err != nil {
			return nil, err
		}
		if move == Stop && next == i {
			break
		}
		i = next
	}
	return nil, w.summary(ctx)
}

// mayGoOn ends the walk when the caller or the run's time has ended.
func (w *walk) mayGoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.overdue() {
		w.last = ErrRunDeadline
		return w.summary(ctx)
	}
	return nil
}

// overdue tells whether the run's own time is over.
func (w *walk) overdue() bool { return !w.deadline.IsZero() && !w.Now().Before(w.deadline) }

// engage writes a fallback's choice down before it is tried, so that every
// reader of the session sees what is about to run [M2]. It returns the row as
// it was, for rollback; nil when nothing was written: the candidate is what the
// row says already, or the row belongs to the user, or the run must not write.
// A store that cannot write does not keep the candidate from being tried (13.3).
func (w *walk) engage(ctx context.Context, c candidate) (*Selection, error) {
	if !w.plan.Persist || c.model == w.plan.Requested || c.model == w.plan.Selected || c.model == w.row.Model {
		return nil, nil
	}
	was := w.row
	done, err := w.swap(ctx, ActSet, Engage(was, w.plan, c.model, w.Now()))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		w.Log.Error("fallback selection not written", "session", w.ask.Session, "model", c.model, "err", err)
		return nil, nil
	case !done:
		return nil, nil // somebody else changed the row: it is theirs now [I5]
	}
	return &was, nil
}

// rollback takes back this walk's own write, if the row still holds it. It is
// all or nothing [D7], and it happens even when the caller has gone.
func (w *walk) rollback(ctx context.Context, before *Selection) {
	if before == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := w.swap(ctx, ActRollback, *before); err != nil {
		w.Log.Error("fallback selection not rolled back", "session", w.ask.Session, "err", err)
	}
}

// swap is the one way in which a walk changes the row: compare-and-set on
// model and source, told to the journal when it happened.
func (w *walk) swap(ctx context.Context, act Act, now Selection) (bool, error) {
	was := w.row
	done, err := w.Selections.Swap(ctx, w.ask.Session, was, now)
	if err != nil {
		// A write may be kept although it was reported as failed. Only the row can
		// tell, and what this walk wrote it must be able to take back.
		row, unread := w.Selections.Selection(ctx, w.ask.Session)
		if unread != nil || row.Model != now.Model || row.Source != now.Source {
			return false, fmt.Errorf("%s the selection of %s: %w", act, w.ask.Session, err)
		}
		done = true
	}
	if done {
		w.row = now
		write := Write{Act: act, Was: was, Now: now}
		if act == ActClear {
			write.Rule = w.plan.ClearWhy
		}
		w.step(ctx, Step{What: StepOverride, Write: &write})
	}
	return done, nil
}

// answered ends a good run: the primary's return clears the row, the credential
// is kept for the session, and the room's told pair is decided.
func (w *walk) answered(ctx context.Context, c candidate, reply *answer) (*Outcome, error) {
	if d, ok := w.book.Succeeded(reply.attempt, w.attempts); ok {
		w.decide(ctx, d)
	}
	w.missed(c)
	out := &Outcome{Reply: *reply.reply, Used: c.model, Profile: reply.profile, Plan: w.plan, Attempts: w.attempts}
	if w.ask.Kind != Chat {
		return out, nil
	}
	if !w.plan.Announces() {
		return out, nil
	}
	if err := w.settleDown(ctx, c, reply); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w.Log.Error("selection not brought up to date after an answer", "session", w.ask.Session, "model", c.model, "err", err)
	}
	if w.row.IsAuto() {
		out.Since = w.row.Since
	}
	text, told, change := Announce(w.row.Told, w.plan.Selected, c.model, w.attempts)
	if change != NoChange {
		out.Notice = text
		out.Settle = &Settle{Session: w.ask.Session, Told: told, Model: w.row.Model, Source: w.row.Source, Quiet: change == Quiet}
	}
	return out, nil
}

// settleDown writes down what an answer means for the session: the primary is
// back, or the credential is one to keep to. A store that cannot take it does
// not cost the person the answer: the next turn looks at both again.
func (w *walk) settleDown(ctx context.Context, c candidate, reply *answer) error {
	if w.plan.Persist && w.row.IsAuto() && c.model == w.row.Origin {
		if _, err := w.swap(ctx, ActClear, w.row.cleared(w.Now())); err != nil {
			return err
		}
	}
	return w.keep(ctx, c, reply)
}

// keep pins the session to the credential that answered, so that the vendor's
// cache stays warm [M18]. A user's pin is never replaced [D3].
func (w *walk) keep(ctx context.Context, c candidate, reply *answer) error {
	pin := Pin{Profile: reply.profile, Source: Auto, Compactions: w.ask.Compactions}
	if w.row.Pin == pin || reply.profile == "" {
		return nil
	}
	if person := w.row.Pin; person.ByPerson() && (!person.Profile.serves(c.model.Provider) || person.Profile == c.pin.Profile) {
		return nil // it goes only when its profile has gone (9.4)
	}
	done, err := w.Selections.Keep(ctx, w.ask.Session, w.row, pin)
	if err != nil {
		return fmt.Errorf("pin %s to %s: %w", w.ask.Session, reply.profile, err)
	}
	if done {
		w.row.Pin = pin
	}
	return nil
}

// remember keeps what a failed candidate teaches this run and the next ones.
func (w *walk) remember(c candidate, v Verdict, class Class) {
	if v.Transient && !FreesSlot(class.Reason) {
		w.probed[c.model.Provider] = true
	}
	if c.position > 1 && (class.Reason == AuthFailed || class.Reason == AuthPermanent) {
		w.refused.Mark(w.ask.Session, c.model, class.Reason, w.ask.Config.SkipTTL, w.Now())
	}
}

// summary is the error of a walk that found no answer, with the soonest end of
// a window that blocks one of its models [M33].
func (w *walk) summary(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	e := &SummaryError{Attempts: w.attempts, Plan: w.plan, Err: w.last}
	orders := map[string][]Profile{}
	usages := map[string]map[ProfileID]Usage{}
	for _, m := range w.chain {
		if _, ok := orders[m.Provider]; ok {
			continue
		}
		_, order, usage, err := w.profiles(ctx, m.Provider)
		if err != nil {
			w.Log.Error("windows not read for the summary", "provider", m.Provider, "err", err)
			continue
		}
		orders[m.Provider], usages[m.Provider] = order, usage
	}
	e.Soonest = Soonest(w.chain,
		func(m Model) []Profile { return orders[m.Provider] },
		func(m Model) map[ProfileID]Usage { return usages[m.Provider] }, w.Now())
	return e
}
