package bot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// house is a bot with a real store, a room whose people the test plays, and a
// scripted engine. restart keeps the store's file and the room and loses all
// memory, as a new process would.
type house struct {
	t      *testing.T
	dir    string
	cfg    *bot.Config
	room   *channeltest.Room
	engine *engine
	faults *faulty
	db     *store.DB
	bot    *bot.Bot
	unplug context.CancelFunc
	said   int
}

var (
	modelA = fallback.Model{Provider: "anthropic", Name: "claude-opus-4-6"}
	modelB = fallback.Model{Provider: "openai", Name: "gpt-5.4"}
	modelC = fallback.Model{Provider: "google", Name: "gemini-3-pro"}
)

const mainSession = fallback.SessionID("agent:main:main")

// inHouse runs f in a bubble of its own time; the house is closed at its end,
// and a goroutine that outlives it fails the test.
func inHouse(t *testing.T, f func(t *testing.T, h *house)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, dir: dir, room: channeltest.NewRoom("room"), engine: &engine{}, faults: &faulty{}}
		h.cfg = config()
		h.open()
		h.start()
		f(t, h)
		h.close()
	})
}

func config() *bot.Config {
	cfg := bot.Defaults()
	cfg.Fallback = &fallback.Config{
		Default:   fallback.ModelChoice{Primary: modelA, Fallbacks: []fallback.Model{modelB, modelC}, Listed: true},
		Aliases:   map[string]fallback.Model{"opus": modelA, "gem": modelC},
		Providers: map[string]provider.Endpoint{"anthropic": {}, "openai": {}, "google": {}},
		Profiles: map[fallback.ProfileID]fallback.ProfileMeta{
			"openai:work": {Provider: "openai"}, "anthropic:me": {Provider: "anthropic"},
		},
		DefaultAgent: "main",
	}
	cfg.Agents = map[fallback.AgentID]bot.AgentConfig{"main": {Name: "Standin", System: "Be brief."}}
	return &cfg
}

func (h *house) open() {
	h.t.Helper()
	db, err := store.Open(context.Background(), store.Options{Dir: h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	h.db = db
	h.faults = &faulty{Store: db}
	h.engine.selections(db)
	h.bot = bot.New(bot.Options{
		Config: func() *bot.Config { return h.cfg }, Engine: h.engine, Store: h.faults,
		Channels: map[string]channels.Channel{"room": &wire{h.room, h.faults}},
		Log:      slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:      time.Now, Sleep: sleep,
		Journal: db.Journal(),
	})
}

func (h *house) start() {
	h.t.Helper()
	if err := h.bot.Start(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		_ = h.room.Run(ctx, h.bot.Receive)
	}()
	h.unplug = func() { cancel(); <-listening }
	synctest.Wait()
}

// close ends the daemon in good order.
func (h *house) close() {
	h.t.Helper()
	h.unplug()
	if err := h.bot.Stop(context.Background()); err != nil {
		h.t.Error("stop:", err)
	}
	if err := h.db.Close(); err != nil {
		h.t.Error(err)
	}
}

// crash ends the process as a power cut would: nothing of it reaches the store
// or the room any more.
func (h *house) crash() {
	h.faults.die()
	h.engine.hangUp()
	h.unplug()
	_ = h.bot.Stop(context.Background())
	if err := h.db.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *house) restart() {
	h.open()
	h.start()
}

// say has alice write in the direct chat and waits until all is quiet.
func (h *house) say(text string) {
	h.t.Helper()
	h.post(channels.Inbound{Text: text})
	h.settle()
}

// post hands in a message without waiting for its answer.
func (h *house) post(in channels.Inbound) {
	h.t.Helper()
	if in.ID == "" {
		h.said++
		in.ID = fmt.Sprintf("m%d", h.said)
	}
	if err := h.room.Say(context.Background(), in); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) settle() {
	h.t.Helper()
	if err := h.bot.Idle(context.Background()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) selection() fallback.Selection {
	h.t.Helper()
	sel, err := h.db.Selection(context.Background(), mainSession)
	if err != nil {
		h.t.Fatal(err)
	}
	return sel
}

func (h *house) unended() []bot.Accepted {
	h.t.Helper()
	rows, err := h.db.Unended(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return rows
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// engine answers asks as scripted; without a script it echoes on the model that
// the session's selection names. Like the real one it keeps a fallback's choice
// in the store and decides about notices with fallback.Announce.
type engine struct {
	mu     sync.Mutex
	rows   fallback.Selections
	script []func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error)
	every  answer // instead of the echo; nil: the echo
	asks   []fallback.Ask
	hung   chan struct{}
	probe  time.Time
}

func (e *engine) selections(rows fallback.Selections) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rows, e.hung = rows, make(chan struct{})
}

// hangUp ends the runs of a process that has crashed.
func (e *engine) hangUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.hung)
}

type answer = func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error)

func (e *engine) then(a ...answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.script = append(e.script, a...)
}

func (e *engine) Run(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
	e.mu.Lock()
	e.asks = append(e.asks, ask)
	next := e.echo
	if e.every != nil {
		next = e.every
	}
	if len(e.script) > 0 {
		next, e.script = e.script[0], e.script[1:]
	}
	e.mu.Unlock()
	return next(ctx, ask)
}

// NextProbe implements bot.Prober.
func (e *engine) NextProbe(fallback.SessionID, fallback.Model) time.Time { return e.probe }

func (e *engine) asked() []fallback.Ask {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]fallback.Ask(nil), e.asks...)
}

// last is the text that the last ask put to the model.
func (e *engine) last() string {
	asks := e.asked()
	msgs := asks[len(asks)-1].Messages
	return msgs[len(msgs)-1].Text
}

func lastText(ask fallback.Ask) string { return ask.Messages[len(ask.Messages)-1].Text }

func (e *engine) echo(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
	row, err := e.rows.Selection(ctx, ask.Session)
	if err != nil {
		return nil, err
	}
	return e.outcome(row, ask, fallback.Resolve(ask, row, false), "echo: "+lastText(ask))
}

func (e *engine) outcome(row fallback.Selection, ask fallback.Ask, plan fallback.Plan, text string, failed ...fallback.Attempt) (*fallback.Outcome, error) {
	used := plan.Requested
	out := &fallback.Outcome{Reply: provider.Reply{Text: text}, Used: used, Plan: plan, Attempts: failed}
	if ask.Kind != fallback.Chat {
		return out, nil
	}
	notice, told, change := fallback.Announce(row.Told, plan.Selected, used, failed)
	if change != fallback.NoChange {
		out.Notice = notice
		out.Settle = &fallback.Settle{Session: ask.Session, Told: told, Model: row.Model, Source: row.Source, Quiet: change == fallback.Quiet}
	}
	return out, nil
}

// says answers with a text on the session's model.
func (e *engine) says(text string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		row, err := e.rows.Selection(ctx, ask.Session)
		if err != nil {
			return nil, err
		}
		return e.outcome(row, ask, fallback.Resolve(ask, row, false), text)
	}
}

// fallsOver has A limited and the model answer in its place.
func (e *engine) fallsOver(to fallback.Model, text string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		row, err := e.rows.Selection(ctx, ask.Session)
		if err != nil {
			return nil, err
		}
		plan := fallback.Resolve(ask, row, false)
		if row.Model != to {
			next := fallback.Engage(row, plan, to, time.Now())
			if _, err := e.rows.Swap(ctx, ask.Session, row, next); err != nil {
				return nil, err
			}
			row = next
		}
		plan.Selected, plan.Requested = modelA, to
		return e.outcome(row, ask, plan, text, fallback.Attempt{Model: modelA, Position: 1, Total: 3, Reason: fallback.RateLimit})
	}
}

// recovers has A answer again.
func (e *engine) recovers(text string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		row, err := e.rows.Selection(ctx, ask.Session)
		if err != nil {
			return nil, err
		}
		free := fallback.Selection{Told: row.Told}
		if _, err := e.rows.Swap(ctx, ask.Session, row, free); err != nil {
			return nil, err
		}
		return e.outcome(free, ask, fallback.Plan{Selected: modelA, Requested: modelA}, text)
	}
}

// fails has every candidate fail.
func fails(plan fallback.Plan, attempts ...fallback.Attempt) answer {
	return func(context.Context, fallback.Ask) (*fallback.Outcome, error) {
		return nil, &fallback.SummaryError{Attempts: attempts, Plan: plan, Err: errors.New("the last one")}
	}
}

// hangs answers with a text after d, unless its context ends first; then it
// gives the cause, as the real engine does.
func (e *engine) hangs(d time.Duration, text string) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		e.mu.Lock()
		hung := e.hung
		e.mu.Unlock()
		select {
		case <-time.After(d):
			return e.says(text)(ctx, ask)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-hung:
			return nil, errors.New("the process is dead")
		}
	}
}
