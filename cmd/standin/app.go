package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// parts is what an app is built from. serve, demo, rehearse and the tests
// differ in nothing else.
type parts struct {
	state    string // folder of the databases
	config   *config.Compiled
	channels []channels.Channel
	accounts bool // run the accounts of platforms that the config names, too
	vendors  provider.Caller
	local    []bot.Command    // commands that only this wiring has
	witness  fallback.Journal // sees each step beside the store, may be nil
	log      *slog.Logger
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error
	staging  *staging // of a rehearsal; nil everywhere else
}

// app is the daemon: every room, wired.
type app struct {
	parts
	config atomic.Pointer[config.Compiled] // a turn keeps the one it loaded [G9]
	db     *store.DB
	runner *fallback.Runner
	bot    *bot.Bot
	fleet  *fleet
	stops  []stop

	draining atomic.Bool // a signal came, or every channel has ended
	up       atomic.Bool // every channel has come up or given up once
}

// stop is one named piece of the teardown, run in reverse order.
type stop struct {
	name string
	do   func(context.Context) error
}

// newApp wires the rooms in one straight line, bottom up.
func newApp(ctx context.Context, p parts) (*app, error) {
	a := &app{parts: p}
	a.use(p.config)

	db, err := store.Open(ctx, store.Options{Dir: p.state, Log: p.log, Throwaway: p.staging != nil})
	if err != nil {
		return nil, err
	}
	a.db = db
	a.onStop("store", func(context.Context) error { return db.Close() })

	// A credentials file that cannot be read fails every turn: say so now, with
	// its name and the mend, and not to each person who writes.
	if _, err := db.Credentials(nil).States(ctx, store.MainAgent); err != nil {
		return nil, errors.Join(err, a.close())
	}

	journal := journals{db.Journal(), p.witness}
	a.runner = &fallback.Runner{
		Selections:  db,
		Credentials: liveCredentials{a},
		Vendors:     p.vendors,
		Journal:     journal,
		Log:         p.log,
		Now:         p.now,
		Sleep:       p.sleep,
	}

	var accounts []config.Account
	if p.accounts {
		accounts = p.config.Accounts
	}
	a.fleet = newFleet(p.log, p.now, p.channels, accounts, func(one config.Account) (channels.Channel, error) {
		return one.Open(config.Opening{Log: p.log, Now: p.now, Known: a.lastTaken})
	})
	rooms := map[string]channels.Channel{}
	for _, name := range []string{slack.Name, discord.Name} {
		rooms[name] = port{name, a.fleet}
	}
	for _, c := range p.channels {
		rooms[c.Name()] = c
	}
	options := bot.Options{
		Config:      func() *bot.Config { return a.config.Load().Bot },
		Engine:      a.runner,
		Store:       db,
		Channels:    rooms,
		Credentials: liveCredentials{a},
		Journal:     journal,
		Past:        past{db},
		Local:       p.local,
		Log:         p.log,
		Now:         p.now,
		Sleep:       p.sleep,
	}
	if p.staging != nil {
		p.staging.look(&options)
	}
	a.bot = bot.New(options)
	return a, nil
}

// onStop puts a piece of teardown on the pile.
func (a *app) onStop(name string, do func(context.Context) error) {
	a.stops = append(a.stops, stop{name, do})
}

// start lets turns run, first those that a former process left.
func (a *app) start(ctx context.Context) error {
	if err := a.bot.Start(ctx); err != nil {
		return errors.Join(err, a.close())
	}
	a.onStop("drafts", func(ctx context.Context) error { a.fleet.tidy(ctx); return nil })
	a.onStop("bot", a.bot.Stop)
	return nil
}

// run serves until ctx ends, or every channel is exhausted and what they
// brought is answered. Then it stops in reverse: intake, running turns (for a
// bounded time), store [G33].
func (a *app) run(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		return err
	}
	upkeep, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); a.upkeep(upkeep) }()
	a.onStop("upkeep", func(context.Context) error { stop(); <-ended; return nil })
	listen, hangUp := context.WithCancel(ctx)
	defer hangUp()
	defer context.AfterFunc(ctx, func() { a.draining.Store(true) })()
	a.log.Info("ready", "version", version(), "channels", a.fleet.names())
	err := a.fleet.run(listen, a.bot.Receive)
	if err == nil && ctx.Err() == nil {
		// The input has ended and nobody wants the process gone: what was accepted
		// gets its answer first, that which a former process left included [I1].
		_ = a.bot.Idle(ctx) // fails only when ctx ends, and close is due then
	}
	a.draining.Store(true)
	return errors.Join(err, a.close())
}

// isUp tells whether start-up is over: every channel is connected, or was
// refused [G23]. What happens to them later does not undo it.
func (a *app) isUp() bool {
	if !a.up.Load() && a.fleet.runs() && a.fleet.settled() {
		a.up.Store(true)
	}
	return a.up.Load()
}

// lastTaken tells a platform where to read on after a while without us.
func (a *app) lastTaken(ctx context.Context, at config.Place) (map[string]string, error) {
	return a.db.LastTaken(ctx, at.Channel, at.Account)
}

// retention is how long ended things are kept: repeats of a platform come
// within a day, `standin why` looks back over weeks (failover.md 20).
var retention = store.Retention{
	Messages: 7 * 24 * time.Hour,
	Posts:    7 * 24 * time.Hour,
	Steps:    30 * 24 * time.Hour,
	MaxSteps: 1_000_000,
}

// upkeep deletes what has been kept long enough, now and then.
func (a *app) upkeep(ctx context.Context) {
	for wait := time.Minute; ; wait = time.Hour {
		if a.sleep(ctx, wait) != nil {
			return
		}
		n, err := a.db.Prune(ctx, a.now(), retention)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			a.log.Warn("old rows not deleted", "err", err)
		case n > 0:
			a.log.Debug("old rows deleted", "rows", n)
		}
	}
}

// close tears down what stands, last first.
func (a *app) close() error {
	// Not the run's own ctx: that one is over, and the drain needs its time.
	ctx := context.Background()
	var errs []error
	for i := len(a.stops) - 1; i >= 0; i-- {
		if err := a.stops[i].do(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", a.stops[i].name, err))
		}
	}
	a.stops = nil
	return errors.Join(errs...)
}

// use takes over a config, for turns that begin from now on.
func (a *app) use(c *config.Compiled) {
	c.Bot.Version = version()
	a.config.Store(c)
}

// change takes over a config while the daemon runs: rules and models at once,
// and the accounts whose own block changed are connected anew [G8].
func (a *app) change(c *config.Compiled) {
	former := a.config.Load()
	a.use(c)
	if !a.accounts {
		return
	}
	if c.Gateway != former.Gateway {
		a.log.Warn("gateway changed in the config: that needs a restart", "now", former.Gateway, "wanted", c.Gateway)
	}
	a.fleet.apply(c.Accounts)
}

// follow reloads the config when its file changes and on SIGHUP.
func (a *app) follow(w world, path string, load func() (*config.Compiled, []config.Fault)) {
	r := &reloader{path: path, use: a.change, log: a.log, load: load}
	ctx, stop := context.WithCancel(w.ctx)
	var listening sync.WaitGroup
	a.onStop("config watch", func(context.Context) error { stop(); listening.Wait(); return nil })
	listening.Go(func() {
		if err := watch(ctx, path, func() { r.reload() }); err != nil && ctx.Err() == nil {
			a.log.Warn("config changes are not watched any more; SIGHUP still reloads", "err", err)
		}
	})
	listening.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.hup:
				r.reload()
			}
		}
	})
}

// liveCredentials are the stored ones and those that the current config names.
type liveCredentials struct{ a *app }

func (c liveCredentials) now() *store.Credentials {
	return c.a.db.Credentials(c.a.config.Load().Profiles)
}

func (c liveCredentials) Profiles(ctx context.Context, a fallback.AgentID, provider string) ([]fallback.Profile, error) {
	profiles, err := c.now().Profiles(ctx, a, provider)
	return c.a.staging.order(profiles), err
}

func (c liveCredentials) Usage(ctx context.Context, a fallback.AgentID, provider string) (map[fallback.ProfileID]fallback.Usage, error) {
	return c.now().Usage(ctx, a, provider)
}

func (c liveCredentials) Update(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, change func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	return c.now().Update(ctx, a, p, change)
}

// journals is a journal that others read along.
type journals [2]fallback.Journal

// Record hands the step to each.
func (j journals) Record(ctx context.Context, s fallback.Step) {
	for _, one := range j {
		if one != nil {
			one.Record(ctx, s)
		}
	}
}

// sleep waits in real time.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
