package bot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
)

// The causes that end a turn from outside [I13]. The run's own deadline is the
// engine's: fallback.ErrRunDeadline.
var (
	// ErrAborted says that the user wanted the turn stopped.
	ErrAborted = errors.New("aborted by the user")
	// ErrShutdown says that the daemon is leaving.
	ErrShutdown = errors.New("the daemon is shutting down")

	// errStopped is ErrAborted by a command that writes the ending itself: of the
	// two that could, one does, and what it answers is what happened.
	errStopped = fmt.Errorf("%w, by a command", ErrAborted)
)

// Engine answers one ask. *fallback.Runner is the engine of the daemon; its
// contract is Runner.Run's.
type Engine interface {
	Run(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error)
}

// Prober is an Engine that can tell when a session's primary is looked at
// again, for /status. The zero time means: with the next message.
type Prober interface {
	NextProbe(s fallback.SessionID, primary fallback.Model) time.Time
}

// Options are what a Bot works with. All but those that say what nil means must be set.
type Options struct {
	// Config gives the current settings; it is asked once per message and turn.
	Config   func() *Config
	Engine   Engine
	Store    Store
	Channels map[string]channels.Channel // by Channel.Name
	Log      *slog.Logger
	Now      func() time.Time
	// Sleep waits for d or until ctx ends, and then gives ctx's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Credentials lets /model check profiles and /status show windows; nil: they do not.
	Credentials fallback.Credentials
	// Keyring is the credentials for /auth; nil: it says that it cannot.
	Keyring Keyring
	// Journal hears of the changes that people make to a selection, as it hears
	// of the engine's own; nil: nobody does.
	Journal fallback.Journal
	// Tools are those of the wiring, beside the bot's own; nil: there are none.
	Tools func() []tools.Tool
	// Speaker says answers aloud; nil: nothing is spoken.
	Speaker Speaker
	// Promises keeps commitments; nil: there are none.
	Promises Promises
	// Past reads that journal back for /why and /status; nil: they do without.
	Past Past
	// Spending tells what was spent, for /budget and /status; nil: they do without.
	Spending Spending
	// Local are commands of the wiring; they stand in /help with the others.
	Local []Command
	// ID makes turn ids and epochs, unique for ever; nil: random ones.
	ID func() string
	// Stirred is called after a turn has ended and after the outbox has come to
	// rest. It must return at once and not call the bot; nil: nobody looks.
	Stirred func()
}

// Bot runs turns. It is made by New, begins with Start and ends with Stop; its
// methods may be called from many goroutines.
type Bot struct {
	Options
	lanes     *lanes
	bundles   *bundles
	outbox    *outbox
	leftovers *leftovers
	fetches   fetches
	ledger    ledger
	started   time.Time

	// life ends when Stop gives up waiting; whatever the bot still does then ends.
	life context.Context
	die  context.CancelCauseFunc
	// aside is what goes on beside the turns and is not waited for: it ends with life.
	aside sync.WaitGroup

	mu       sync.Mutex
	stopping bool
	doubtful doubts        // accepts that failed although the row may be there
	crowd    policy.Crowd  // bots that were heard
	echoes   policy.Echoes // failure lines that rooms have just read
}

// New makes a bot. Nothing runs before Start: messages that are received
// earlier wait.
func New(o Options) *Bot {
	if o.ID == nil {
		o.ID = randomID
	}
	if o.Stirred == nil {
		o.Stirred = func() {}
	}
	b := &Bot{Options: o, started: o.Now()}
	b.life, b.die = context.WithCancelCause(context.Background())
	b.lanes = newLanes(func() int { return b.Config().MaxConcurrent })
	b.lanes.stirred = o.Stirred
	b.bundles = newBundles(b)
	b.outbox = newOutbox(b)
	b.leftovers = newLeftovers(b)
	return b
}

// randomID is 80 random bits. Delivery ids add two characters, and the whole
// fits the 25 characters that Discord gives a nonce.
func randomID() string { return strings.ToLower(rand.Text()[:16]) }

// message is the unique key of an inbound message: ids are unique within a
// conversation, whatever thread they stand in.
type message struct {
	to channels.Address
	id string
}

func keyOf(in channels.Inbound) message {
	in.To.Thread = ""
	return message{in.To, in.ID}
}

// accept makes the inbox row. ours says that this call is the one that has to
// see the message through. A store may fail after it has written: then the row
// is found on the next try, and the doubt tells it from a message that somebody
// else has.
func (b *Bot) accept(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID) (row Accepted, ours bool, err error) {
	in = withoutPasted(in)
	key := keyOf(in)
	err = b.retry(ctx, acceptTries, func() error {
		var fresh bool
		row, fresh, err = b.Store.Accept(ctx, in, s, a, b.Now())
		b.mu.Lock()
		defer b.mu.Unlock()
		if err != nil {
			b.doubtful.doubt(key, b.Now())
			return err
		}
		ours = b.doubtful.resolve(key) || fresh
		return nil
	})
	return row, ours, err
}

// acceptTries bounds the tries inside one Receive: some platforms do not
// deliver again what was not acknowledged.
const acceptTries = 3

// dispatch sends an accepted message on its way.
func (b *Bot) dispatch(ctx context.Context, cfg *Config, row Accepted) {
	if row.Session == "" { // was turned away, and its ending is missing
		v, err := b.admit(ctx, cfg, row.In)
		if err != nil || v.What == policy.Admit {
			v = policy.Verdict{What: policy.Drop, Why: "was turned away"} // its text is gone
		}
		b.reject(ctx, cfg, row, v)
		return
	}
	switch kind, call := b.sort(cfg, row.In); kind {
	case toIgnore: // nobody spoke to the bot
		b.end(ctx, row, Ending{How: Silent, Why: call.why, Background: true, Overheard: overhears(cfg, row.In, call)})
	case toRefuse:
		b.reject(ctx, cfg, row, policy.Verdict{What: policy.Refuse, Why: call.why})
	case toObey:
		b.obey(ctx, cfg, row, call)
	case toAnswer:
		r := request{row: row}
		r.own, row.In.Text = wishes(cfg, row.In)
		r.text, r.noProbe = policy.WithFiles(b.inline(ctx, cfg, row), row.In.Files), !r.own.model.IsZero()
		r.ambient = row.In.Unasked && cfg.Rules.Speech.RoomEvents
		b.answer(cfg, r)
	}
}

// Start takes up what a former process left [I1, D21] and then lets turns run.
func (b *Bot) Start(ctx context.Context) error {
	n, err := b.Store.Interrupted(ctx)
	if err != nil {
		return fmt.Errorf("look for interrupted deliveries: %w", err)
	}
	if err := b.leftovers.take(ctx); err != nil {
		return fmt.Errorf("look for drafts that were left behind: %w", err)
	}
	rows, err := b.Store.Unended(ctx)
	if err != nil {
		return fmt.Errorf("look for messages without an ending: %w", err)
	}
	if n > 0 || len(rows) > 0 {
		b.Log.Info("taking up unfinished work", "messages", len(rows), "deliveries", n)
	}
	cfg := b.Config()
	missed, halfway := byRoom{}, byRoom{}
	for _, row := range rows {
		b.ledger.open(keyOf(row.In))
		kind, _ := b.sort(cfg, row.In)
		switch {
		case row.Acted:
			halfway.add(row)
		case kind == toIgnore || cfg.ReplayMaxAge <= 0 || b.Now().Sub(row.At) <= cfg.ReplayMaxAge:
			b.dispatch(ctx, cfg, row)
		default:
			missed.add(row)
		}
	}
	missed.each(func(rows []Accepted) { b.apologise(ctx, rows, "too old to replay", sayMissed(rows, b.Now())) })
	halfway.each(func(rows []Accepted) { b.apologise(ctx, rows, "cut off after an act", sayHalfway(rows)) })
	b.lanes.Release()
	b.outbox.kick()
	return nil
}

// byRoom is messages by their place; the places are in the order of the first.
type byRoom struct {
	rooms []channels.Address
	rows  map[channels.Address][]Accepted
}

func (m *byRoom) add(row Accepted) {
	if m.rows == nil {
		m.rows = map[channels.Address][]Accepted{}
	}
	if m.rows[row.In.To] == nil {
		m.rooms = append(m.rooms, row.In.To)
	}
	m.rows[row.In.To] = append(m.rows[row.In.To], row)
}

func (m *byRoom) each(f func(rows []Accepted)) {
	for _, room := range m.rooms {
		f(m.rows[room])
	}
}

// apologise ends a room's messages that are not run [D21, I8] with one line that
// names the last. That one is ended last: after a crash in between it still gets
// its line.
func (b *Bot) apologise(ctx context.Context, rows []Accepted, why, line string) {
	last := rows[len(rows)-1]
	for _, row := range rows[:len(rows)-1] {
		b.end(ctx, row, Ending{How: Silent, Why: why})
	}
	turn := b.ID()
	b.end(ctx, last, Ending{Turn: turn, How: Failed, Why: why,
		Posts: []channels.Outbound{post(turn, channels.Failure, last.In, line)}})
}

// Stop lets running turns finish for Config.DrainTimeout, ends the others so
// that they run again at the next start, and gives the outbox a moment to send
// what is ready. What is not sent by then stays in the store. ctx may cut it short.
func (b *Bot) Stop(ctx context.Context) error {
	b.mu.Lock()
	b.stopping = true
	b.mu.Unlock()
	b.lanes.Close()
	err := b.within(ctx, b.Config().DrainTimeout, b.lanes.Quiet)
	if err != nil {
		b.lanes.InterruptAll(ErrShutdown)
		err = b.within(ctx, lastMoment, b.lanes.Quiet)
	}
	if err == nil {
		_ = b.within(ctx, lastMoment, b.outbox.settled) // the rest is sent after the next start
	}
	b.die(ErrShutdown)
	b.aside.Wait()
	if e := b.within(ctx, lastMoment, b.outbox.ended); err == nil {
		err = e
	}
	if e := b.within(ctx, lastMoment, b.leftovers.rest); err == nil {
		err = e
	}
	if e := b.within(ctx, lastMoment, b.fetches.rest); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("work did not end in time: %w", err)
	}
	return nil
}

// lastMoment is what Stop gives the outbox, and turns that were told to end.
const lastMoment = 5 * time.Second

// within runs f with a context that ends after d, on the bot's own clock.
func (b *Bot) within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		if b.Sleep(ctx, d) == nil {
			cancel(context.DeadlineExceeded)
		}
	}()
	err := f(ctx)
	cancel(nil)
	<-slept
	return err
}

func (b *Bot) isStopping() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopping
}

// Interrupt ends the session's running turn for the cause and reports whether
// there was one. Its queue stays.
func (b *Bot) Interrupt(s fallback.SessionID, cause error) bool { return b.lanes.Interrupt(s, cause) }

// Idle waits until no turn runs or waits and nothing can be sent now.
// Deliveries that wait for their next try do not keep it.
func (b *Bot) Idle(ctx context.Context) error {
	if err := b.bundles.empty(ctx); err != nil {
		return err
	}
	if err := b.lanes.Quiet(ctx); err != nil {
		return err
	}
	return b.outbox.settled(ctx)
}

// Wait blocks until the message has its ending and what that posts is sent or
// refused. A message that is not known, or was done before, does not block.
func (b *Bot) Wait(ctx context.Context, in channels.Inbound) error {
	return b.ledger.wait(ctx, keyOf(in))
}
