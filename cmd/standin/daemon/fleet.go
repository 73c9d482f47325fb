package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"standin/channels"
	"standin/cmd/standin/config"
)

// fleet runs the channels: those that belong to the process, such as the
// console, and the accounts of platforms, which a reload changes one by one
// while the others go on [G8].
type fleet struct {
	log  *slog.Logger
	now  func() time.Time
	open func(config.Account) (channels.Channel, error)
	// defaults names the account that is meant where none is named and the channel
	// has none of its own, "" for none; nil: nowhere.
	defaults func(channel string) string

	changing sync.Mutex // one apply at a time

	mu      sync.Mutex
	members map[config.Place]*member
	ctx     context.Context // of run; nil before
	receive channels.Receiver
	afloat  int           // members that run, an apply under way, and waits
	waits   bool          // a reload has left nothing that runs
	rest    chan struct{} // closed when afloat has come down to none
}

// member is a channel of the fleet.
type member struct {
	at      config.Place
	account config.Account   // zero for one of the process's own
	ch      channels.Channel // nil when it could not be made
	since   time.Time        // of err
	err     error            // why there is no channel, or why its Run ended
	cancel  context.CancelFunc
	done    chan struct{} // closed when Run has returned; nil while it never ran
}

// newFleet makes the channels; run connects them. What cannot be made is said
// once, and leaves the others alone.
func newFleet(log *slog.Logger, now func() time.Time, own []channels.Channel, accounts []config.Account, open func(config.Account) (channels.Channel, error)) *fleet {
	f := &fleet{log: log, now: now, open: open, members: map[config.Place]*member{}, rest: make(chan struct{})}
	for _, c := range own {
		at := config.Place{Channel: c.Name()}
		f.members[at] = &member{at: at, ch: c}
	}
	for _, a := range accounts {
		if !a.Off {
			f.members[a.Place] = f.make(a)
		}
	}
	return f
}

func (f *fleet) make(a config.Account) *member {
	m := &member{at: a.Place, account: a, since: f.now()}
	if m.ch, m.err = f.open(a); m.err != nil {
		m.ch = nil
		f.log.Error("channel not started, the others go on", "channel", a.Channel, "account", a.Account, "err", m.err)
	}
	return m
}

// run connects the channels and returns when each has ended: because ctx has,
// with nil, or by itself, with the errors of those that could not go on. It is
// called once.
func (f *fleet) run(ctx context.Context, receive channels.Receiver) error {
	f.mu.Lock()
	f.ctx, f.receive, f.afloat = ctx, receive, 1
	for _, at := range sorted(f.members) {
		f.launchLocked(f.members[at])
	}
	f.landLocked()
	f.mu.Unlock()
	defer context.AfterFunc(ctx, f.waitNoMore)()
	<-f.rest
	if ctx.Err() != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, at := range sorted(f.members) {
		if err := f.members[at].err; err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", at, err))
		}
	}
	return errors.Join(errs...)
}

func sorted(members map[config.Place]*member) []config.Place {
	return slices.SortedFunc(maps.Keys(members), func(a, b config.Place) int { return strings.Compare(a.String(), b.String()) })
}

func (f *fleet) launchLocked(m *member) {
	if m.ch == nil {
		return
	}
	ctx, cancel := context.WithCancel(f.ctx)
	m.cancel, m.done = cancel, make(chan struct{})
	f.afloat++
	go func() {
		err := m.ch.Run(ctx, f.receive)
		asked := ctx.Err() != nil
		cancel()
		f.mu.Lock()
		if err != nil && !asked {
			m.err, m.since = err, f.now()
			f.tell(m)
		}
		f.landLocked()
		f.mu.Unlock()
		close(m.done)
	}()
}

// tell says that a channel cannot go on. What its adapter has said already,
// with the mend, is not said again.
func (f *fleet) tell(m *member) {
	if _, told := mendOf(m.err); told {
		f.log.Info("the other channels go on", "channel", m.at.Channel, "account", m.at.Account)
		return
	}
	f.log.Error("channel ended", "channel", m.at.Channel, "account", m.at.Account, "err", m.err)
}

func (f *fleet) landLocked() {
	if f.afloat--; f.afloat == 0 {
		close(f.rest)
	}
}

// apply makes the fleet what the accounts say: those whose own block changed
// are connected anew, those that are gone are hung up, and the others do not
// notice [G8]. It returns when that is done. Before run and after its end it
// does nothing.
func (f *fleet) apply(accounts []config.Account) {
	f.changing.Lock()
	defer f.changing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx == nil || f.afloat == 0 {
		return
	}
	if f.waits {
		f.waits = false
	} else {
		f.afloat++ // the process does not end while its only channel is changed
	}
	defer func() {
		if f.afloat > 1 || f.ctx.Err() != nil {
			f.landLocked()
			return
		}
		f.waits = true
		f.log.Warn("no channel is left that runs: waiting for a config that has one")
	}()
	want := map[config.Place]config.Account{}
	for _, a := range accounts {
		if !a.Off {
			want[a.Place] = a
		}
	}
	for _, at := range sorted(f.members) {
		m := f.members[at]
		if m.account.Channel == "" {
			continue
		}
		if a, stays := want[at]; stays && a.Same(m.account) {
			delete(want, at)
			continue
		}
		f.hangUpLocked(m)
		if _, stays := want[at]; !stays {
			delete(f.members, at)
			f.log.Info("channel taken out", "channel", at.Channel, "account", at.Account)
		}
	}
	for _, a := range accounts {
		if changed, ok := want[a.Place]; ok {
			delete(want, a.Place)
			m := f.make(changed)
			f.members[a.Place] = m
			f.launchLocked(m)
			f.log.Info("channel connects with its new settings", "channel", a.Channel, "account", a.Account)
		}
	}
}

// waitNoMore lets run return although a reload left nothing.
func (f *fleet) waitNoMore() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waits {
		f.waits = false
		f.landLocked()
	}
}

// hangUpLocked ends a member's Run and waits for it without the lock.
func (f *fleet) hangUpLocked(m *member) {
	if m.done == nil {
		return
	}
	m.cancel()
	f.mu.Unlock()
	<-m.done
	f.mu.Lock()
}

// at gives an account's channel. known is false when the config has no such
// account; err says why one that is known has no channel.
func (f *fleet) at(p config.Place) (ch channels.Channel, known bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, known := f.members[p]
	if !known && p.Account == "" && f.defaults != nil { // another stands for the channel's own [G14]
		m, known = f.members[config.Place{Channel: p.Channel, Account: f.defaults(p.Channel)}]
	}
	if !known {
		return nil, false, nil
	}
	if m.ch == nil {
		return nil, true, m.err
	}
	return m.ch, true, nil
}

// names lists the channels, for people.
func (f *fleet) names() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range sorted(f.members) {
		names = append(names, at.String())
	}
	return names
}

// runs tells whether run has begun.
func (f *fleet) runs() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ctx != nil
}

// standing is how one account is.
type standing struct {
	config.Place
	channels.Health
}

// standings tells how the accounts of platforms are.
func (f *fleet) standings() (all []standing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range sorted(f.members) {
		m := f.members[at]
		if m.account.Channel == "" {
			continue
		}
		h, _ := healthOf(m.ch)
		if m.err != nil { // Run has ended, or never began
			mend, _ := mendOf(m.err)
			h = channels.Health{State: channels.Down, Since: m.since, LastEvent: h.LastEvent, Reason: m.err.Error(), Mend: mend}
		}
		all = append(all, standing{at, h})
	}
	return all
}

// tidyTime bounds how long the process stays for its drafts.
const tidyTime = 3 * time.Second

// tidy takes half answers away, once nothing is posted any more: what is still
// owed is posted after the next start, beside them.
func (f *fleet) tidy(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tidyTime)
	defer cancel()
	f.mu.Lock()
	var all sync.WaitGroup
	for _, m := range f.members {
		if t, ok := m.ch.(interface{ Tidy(context.Context) }); ok {
			all.Go(func() { t.Tidy(ctx) })
		}
	}
	f.mu.Unlock()
	all.Wait()
}

// settled tells whether no channel is still coming up for the first time.
func (f *fleet) settled() bool {
	return !slices.ContainsFunc(f.standings(), func(s standing) bool { return s.State == channels.Connecting })
}

// webhook gives what takes the requests on a path, nil when no account listens
// there.
func (f *fleet) webhook(path string) http.Handler {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.ch == nil || m.account.Webhook() != path {
			continue
		}
		if c, can := m.ch.(interface{ Handler() http.Handler }); can {
			return c.Handler()
		}
	}
	return nil
}
