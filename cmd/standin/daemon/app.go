// Package daemon wires the rooms into what runs: New puts them together in one
// straight line, the fleet runs the accounts of platforms (fleet.go), the port is
// what the bot sees of them (port.go), the gateway answers probes and takes
// webhooks (gateway.go), and a changed config is taken over while turns run
// (reload.go). It knows no flags and no environment: see package main of standin.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"standin/bot"
	"standin/bot/mcp"
	"standin/bot/operator"
	"standin/channels"
	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
	"standin/cmd/standin/takeover"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
	"standin/heartbeat"
	"standin/store"
)

// Parts is what an App is built from. serve, demo, rehearse and the tests
// differ in nothing else.
type Parts struct {
	State    string // folder of the databases
	Config   *config.Compiled
	Channels []channels.Channel
	Accounts bool // run the accounts of platforms that the config names, too
	Vendors  provider.Caller
	Local    []bot.Command    // commands that only this wiring has
	Witness  fallback.Journal // sees each step beside the store, may be nil
	Log      *slog.Logger
	Now      func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) error
	Staging  *Staging // of a rehearsal; nil everywhere else
	// Environ is what of the environment a program may see that brings tools along:
	// PATH, HOME and the like as NAME=value.
	Environ []string
	// Notify hears of budgets that fill up, beside the log; nil: nobody does. It
	// must not block for long.
	Notify func(BudgetNews)
}

// App is the daemon: every room, wired.
type App struct {
	Bot *bot.Bot  // for wirings that talk to it beside the channels, and tests
	DB  *store.DB // open until Close

	parts     Parts
	current   atomic.Pointer[config.Compiled] // a turn keeps the one it loaded [G9]
	runner    *fallback.Runner
	fleet     *fleet
	beats     *heartbeat.Runner   // nil in a rehearsal
	jobs      *cronjobs.Scheduler // nil in a rehearsal, whose clock is its own
	watch     *budgetWatch        // nil in a rehearsal
	desk      *operator.Server    // nil in a rehearsal
	incidents *incidentWatch      // nil in a rehearsal
	hub       *mcp.Hub            // nil in a rehearsal, which runs no programs
	tools     atomic.Pointer[toolRoom]
	stops     []stop
	older     []takeover.Source // files of credentials that wait to be taken over

	draining atomic.Bool // a signal came, or every channel has ended
	up       atomic.Bool // every channel has come up or given up once

	// standInWhy is why agents had to leave their models, as rooms were told at
	// first: what they are told later speaks of rests. The watch alone uses it.
	standInWhy map[standIn]string
}

// stop is one named piece of the teardown, run in reverse order.
type stop struct {
	name string
	do   func(context.Context) error
}

// New wires the rooms in one straight line, bottom up. Nothing runs before Run or
// Start; Close is due when neither follows.
func New(ctx context.Context, p Parts) (*App, error) {
	a := &App{parts: p}
	a.Use(p.Config)

	db, err := store.Open(ctx, store.Options{Dir: p.State, Log: p.Log, Throwaway: p.Staging != nil, Sealing: store.Sealing(p.Config.Encryption)})
	if err != nil {
		return nil, err
	}
	a.DB = db
	a.onStop("store", func(context.Context) error { return db.Close() })

	// A credentials file that cannot be read fails every turn: say so now, with
	// its name and the mend, and not to each person who writes.
	creds := db.Credentials(nil)
	_, err = creds.States(ctx, store.MainAgent)
	if err = errors.Join(err, creds.Check(ctx)); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.mendWindows(ctx, creds)
	if p.Staging == nil {
		a.older = takeover.FirstUse(ctx, p.State, creds, p.Log, p.Now())
	}

	journal := journals{db.Journal(), p.Witness}
	if p.Staging == nil {
		a.watch = a.newWatch()
		journal[2] = a.watch // behind the store: what it looks at is there
		journal[3] = deskJournal{a}
		journal[4] = incidentJournal{a}
	}
	a.runner = &fallback.Runner{
		Selections:  db,
		Credentials: liveCredentials{a},
		Vendors:     p.Vendors,
		Journal:     journal,
		Ledger:      db,
		Log:         p.Log,
		Now:         p.Now,
		Sleep:       p.Sleep,
	}

	if p.Staging == nil { // a rehearsal's logins are words, and nothing leaves it
		logins := &auth.Refresher{
			Store:  db.Credentials(nil),
			Vendor: func(id string) (auth.Vendor, bool) { v, ok := a.current.Load().Logins[id]; return v, ok },
			Log:    p.Log,
			Now:    p.Now,
		}
		a.runner.Logins = logins
		a.onStop("logins", func(context.Context) error { logins.Close(); return nil })
	}

	var accounts []config.Account
	if p.Accounts {
		accounts = p.Config.Accounts
	}
	a.fleet = newFleet(p.Log, p.Now, p.Channels, accounts, func(one config.Account) (channels.Channel, error) {
		return one.Open(config.Opening{Log: p.Log, Now: p.Now, Known: a.lastTaken, Standing: func(ctx context.Context) (channels.Standing, string) { return a.Bot.Standing(ctx) }})
	})
	a.fleet.defaults = func(channel string) string { return a.Config().DefaultAccounts[channel] }
	rooms := map[string]channels.Channel{}
	for _, name := range []string{slack.Name, discord.Name} {
		rooms[name] = port{name, a.fleet, a.sent}
	}
	for _, c := range p.Channels {
		rooms[c.Name()] = c
	}
	options := bot.Options{
		Config:      func() *bot.Config { return a.current.Load().Bot },
		Engine:      a.runner,
		Store:       db,
		Channels:    rooms,
		Credentials: liveCredentials{a},
		Keyring:     keyring{liveCredentials{a}},
		Journal:     journal,
		Past:        Past{db},
		Spending:    db,
		Local:       p.Local,
		Tools:       a.agentTools,
		Promises:    a.promises(),
		Speaker:     voice{func() config.Voice { return a.Config().Voice }, p.Environ},
		Log:         p.Log,
		Now:         p.Now,
		Sleep:       p.Sleep,
	}
	if p.Staging != nil {
		p.Staging.look(&options)
	} else {
		a.desk = a.newDesk()
		a.onStop("operator", a.desk.Close)
		options.Engine = operator.Engine{Runner: a.runner, Watch: a.desk}
		options.Store = &watchedStore{DB: db, desk: a.desk, since: map[int64]time.Time{}}
		rooms[operator.ChannelName] = operator.Surface{Server: a.desk}
	}
	a.Bot = bot.New(options)
	if p.Staging == nil {
		a.hub = a.newHub()
	}
	if p.Staging == nil {
		a.beats = a.newBeats()
	}
	if p.Staging == nil {
		a.jobs = a.newJobs()
		a.staffDesk()
		a.incidents = a.newIncidents()
	}
	return a, nil
}

// onStop puts a piece of teardown on the pile.
func (a *App) onStop(name string, do func(context.Context) error) {
	a.stops = append(a.stops, stop{name, do})
}

// Start lets turns run, first those that a former process left, without
// connecting a channel: Run does both. After an error everything is closed.
func (a *App) Start(ctx context.Context) error {
	if a.hub != nil {
		a.startTools(a.Config())
		a.onStop("tool servers", a.closeTools)
	}
	if a.watch != nil {
		a.startWatch(ctx)
	}
	if err := a.Bot.Start(ctx); err != nil {
		return errors.Join(err, a.Close())
	}
	a.onStop("drafts", func(ctx context.Context) error { a.fleet.tidy(ctx); return nil })
	var stopBeats func(context.Context) error
	if a.beats != nil {
		stopBeats = a.startBeats(ctx)
	}
	a.onStop("bot", a.Bot.Stop)
	if stopBeats != nil {
		a.onStop("heartbeat schedule", stopBeats)
	}
	if a.incidents != nil {
		if err := a.startIncidents(ctx); err != nil {
			return errors.Join(err, a.Close())
		}
	}
	if a.jobs != nil {
		if err := a.jobs.Start(ctx); err != nil {
			return errors.Join(err, a.Close())
		}
		a.onStop("jobs", a.jobs.Stop)
	}
	return nil
}

// Run serves until ctx ends, or every channel is exhausted and what they
// brought is answered. Then it stops in reverse: intake, running turns (for a
// bounded time), store [G33].
func (a *App) Run(ctx context.Context) error {
	if err := a.Start(ctx); err != nil {
		return err
	}
	upkeep, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); a.upkeep(upkeep) }()
	a.onStop("upkeep", func(context.Context) error { stop(); <-ended; return nil })
	listen, hangUp := context.WithCancel(ctx)
	defer hangUp()
	defer context.AfterFunc(ctx, func() { a.draining.Store(true) })()
	a.parts.Log.Info("ready", "version", Version(), "channels", a.fleet.names())
	err := a.fleet.run(listen, a.Bot.Receive)
	if err == nil && ctx.Err() == nil {
		// The input has ended and nobody wants the process gone: what was accepted
		// gets its answer first, that which a former process left included [I1].
		_ = a.Bot.Idle(ctx) // fails only when ctx ends, and close is due then
	}
	a.draining.Store(true)
	return errors.Join(err, a.Close())
}

// isUp tells whether start-up is over: every channel is connected, or was
// refused [G23]. What happens to them later does not undo it.
func (a *App) isUp() bool {
	if !a.up.Load() && a.fleet.runs() && a.fleet.settled() {
		a.up.Store(true)
	}
	return a.up.Load()
}

// lastTaken tells a platform where to read on after a while without us.
func (a *App) lastTaken(ctx context.Context, at config.Place) (map[string]string, error) {
	return a.DB.LastTaken(ctx, at.Channel, at.Account)
}

// retention is how long ended things are kept: repeats of a platform come
// within a day, `standin why` looks back over weeks (failover.md 20).
var retention = store.Retention{
	Messages: 7 * 24 * time.Hour,
	Posts:    7 * 24 * time.Hour,
	Steps:    30 * 24 * time.Hour,
	MaxSteps: 1_000_000,
	Ledger:   400 * 24 * time.Hour, // a year can be compared with the one before
}

// maintain forgets conversations as session.maintenance says [S15].
func (a *App) maintain(ctx context.Context) {
	m := a.Config().Maintenance
	n, err := a.DB.Maintain(ctx, a.parts.Now(), store.Keeping{After: m.PruneAfter, Most: m.MaxEntries, Busy: a.Bot.Busy, Dry: m.Warn})
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.parts.Log.Warn("old conversations not forgotten", "err", err)
	case n > 0 && m.Warn:
		a.parts.Log.Warn("conversations would be forgotten: session.maintenance says to warn only", "conversations", n)
	case n > 0:
		a.parts.Log.Info("old conversations forgotten", "conversations", n)
	}
}

// upkeep deletes what has been kept long enough, now and then.
func (a *App) upkeep(ctx context.Context) {
	for wait := time.Minute; ; wait = time.Hour {
		if a.parts.Sleep(ctx, wait) != nil {
			return
		}
		a.maintain(ctx)
		if _, err := a.DB.SweepMedia(ctx, a.parts.Now(), a.Config().Bot.Media.Keep); err != nil && ctx.Err() == nil {
			a.parts.Log.Warn("old files of messages not deleted", "err", err)
		}
		n, err := a.DB.Prune(ctx, a.parts.Now(), retention)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			a.parts.Log.Warn("old rows not deleted", "err", err)
		case n > 0:
			a.parts.Log.Debug("old rows deleted", "rows", n)
		}
	}
}

// Close tears down what stands, last first. Run does so itself.
func (a *App) Close() error {
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

// Use takes over a config, for turns that begin from now on.
func (a *App) Use(c *config.Compiled) {
	c.Bot.Version = Version()
	a.current.Store(c)
}

// Config is the config that turns begin with now.
func (a *App) Config() *config.Compiled { return a.current.Load() }

// change takes over a config while the daemon runs: rules and models at once,
// and the accounts whose own block changed are connected anew [G8].
func (a *App) change(c *config.Compiled) {
	former := a.current.Load()
	a.Use(c)
	a.startTools(c)
	if a.beats != nil {
		a.beats.Reload()
	}
	if a.jobs != nil {
		a.jobs.Nudge()
	}
	if is, was := c.Encryption, former.Encryption; is.KeyFile != was.KeyFile || is.PassphraseEnv != was.PassphraseEnv {
		a.parts.Log.Warn("auth.encryption changed in the config: that needs a restart, and standin auth seal or unseal before it")
	}
	if !a.parts.Accounts {
		return
	}
	if c.Gateway != former.Gateway {
		a.parts.Log.Warn("gateway changed in the config: that needs a restart", "now", former.Gateway, "wanted", c.Gateway)
	} else if !c.Operator.Same(former.Operator) {
		a.parts.Log.Warn("gateway changed in the config: that needs a restart")
	}
	a.fleet.apply(c.Accounts)
}

// Follow reloads the config when its file at path changes and whenever hup says
// so, until ctx ends or the App is closed. It does not wait.
func (a *App) Follow(ctx context.Context, hup <-chan os.Signal, path string, load func() (*config.Compiled, []config.Fault)) {
	r := &reloader{path: path, use: a.change, log: a.parts.Log, load: load}
	ctx, stop := context.WithCancel(ctx)
	var listening sync.WaitGroup
	a.onStop("config watch", func(context.Context) error { stop(); listening.Wait(); return nil })
	listening.Go(func() {
		if err := watch(ctx, path, func() { r.reload() }); err != nil && ctx.Err() == nil {
			a.parts.Log.Warn("config changes are not watched any more; SIGHUP still reloads", "err", err)
		}
	})
	listening.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hup:
				r.reload()
			}
		}
	})
}

// liveCredentials are the stored ones and those that the current config names.
type liveCredentials struct{ a *App }

func (c liveCredentials) now() *store.Credentials {
	return c.a.DB.Credentials(c.a.current.Load().Profiles)
}

func (c liveCredentials) Profiles(ctx context.Context, a fallback.AgentID, provider string) ([]fallback.Profile, error) {
	profiles, err := c.now().Profiles(ctx, a, provider)
	return c.a.parts.Staging.order(profiles), err
}

func (c liveCredentials) Usage(ctx context.Context, a fallback.AgentID, provider string) (map[fallback.ProfileID]fallback.Usage, error) {
	return c.now().Usage(ctx, a, provider)
}

func (c liveCredentials) Update(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, change func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	return c.now().Update(ctx, a, p, change)
}

// journals is a journal that others read along.
type journals [5]fallback.Journal

// Record hands the step to each.
func (j journals) Record(ctx context.Context, s fallback.Step) {
	for _, one := range j {
		if one != nil {
			one.Record(ctx, s)
		}
	}
}

// Sleep waits in real time.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
