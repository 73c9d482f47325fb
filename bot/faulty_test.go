package bot_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
)

var (
	errDisk = errors.New("the disk said no")
	errDead = errors.New("this process is dead")
)

// mishap is what one write of the store, or one send, meets.
type mishap string

const (
	notApplied    mishap = "not applied"
	appliedUnsaid mishap = "applied, but reported failed"
	crashBefore   mishap = "crash before"
	crashAfter    mishap = "crash after"
)

// faulty is a store in front of a real one. It counts writes, lets the n-th
// meet a mishap, and after die lets nothing through.
type faulty struct {
	bot.Store
	mu      sync.Mutex
	writes  []string // what was written, in order
	at      int      // which write meets it; 0: none
	what    mishap
	dead    bool
	crashed chan struct{} // closed when a mishap was a crash
}

func (f *faulty) arm(n int, m mishap) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.what, f.crashed = n, m, make(chan struct{})
}

func (f *faulty) die() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

func (f *faulty) isDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

func (f *faulty) written() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.writes...)
}

// write does one write under whatever is in store for it.
func (f *faulty) write(name string, do func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errDead
	}
	f.writes = append(f.writes, name)
	var m mishap
	if f.at > 0 && len(f.writes) == f.at {
		m = f.what
	}
	if m == crashBefore {
		f.dead = true
		close(f.crashed)
	}
	f.mu.Unlock()
	switch m {
	case notApplied:
		return errDisk
	case crashBefore:
		return errDead
	}
	err := do()
	switch m {
	case appliedUnsaid:
		return errors.Join(errDisk, err)
	case crashAfter:
		f.mu.Lock()
		f.dead = true
		close(f.crashed)
		f.mu.Unlock()
		return errDead
	}
	return err
}

func (f *faulty) read() error {
	if f.isDead() {
		return errDead
	}
	return nil
}

func (f *faulty) Accept(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID, at time.Time) (row bot.Accepted, fresh bool, err error) {
	err = f.write("accept", func() (err error) {
		row, fresh, err = f.Store.Accept(ctx, in, s, a, at)
		return err
	})
	return row, fresh, err
}

func (f *faulty) End(ctx context.Context, e bot.Ending) (posted []bot.Delivery, err error) {
	err = f.write("end", func() (err error) {
		posted, err = f.Store.End(ctx, e)
		return err
	})
	return posted, err
}

func (f *faulty) Claim(ctx context.Context, id string) (ok bool, err error) {
	err = f.write("claim", func() (err error) {
		ok, err = f.Store.Claim(ctx, id)
		return err
	})
	return ok && err == nil, err
}

func (f *faulty) Mark(ctx context.Context, d bot.Delivery) error {
	return f.write("mark", func() error { return f.Store.Mark(ctx, d) })
}

func (f *faulty) Due(ctx context.Context, now time.Time) ([]bot.Delivery, error) {
	if err := f.read(); err != nil {
		return nil, err
	}
	return f.Store.Due(ctx, now)
}

func (f *faulty) Session(ctx context.Context, s fallback.SessionID) (bot.Session, error) {
	if err := f.read(); err != nil {
		return bot.Session{}, err
	}
	return f.Store.Session(ctx, s)
}

// wire is the room as one process sees it: a dead one posts nothing. A send is
// counted as a write of the store, so that it can meet a mishap too.
type wire struct {
	*channeltest.Room
	f *faulty
}

func (w *wire) Send(ctx context.Context, out channels.Outbound) (r channels.Receipt, err error) {
	fault := w.f.write(fmt.Sprintf("send %s", out.Kind), func() (e error) {
		r, err = w.Room.Send(ctx, out)
		return nil
	})
	if fault != nil {
		// The sender cannot know whether it arrived.
		return r, &channels.SendError{Outcome: channels.Unknown, Err: fault}
	}
	return r, err
}

// Draft of a dead process shows nothing any more, and takes nothing back.
func (w *wire) Draft(ctx context.Context, to channels.Address, replyTo string, book channels.DraftBook) channels.Draft {
	return mortal{w.Room.Draft(ctx, to, replyTo, book), w.f}
}

type mortal struct {
	channels.Draft
	f *faulty
}

func (m mortal) Show(text string) {
	if !m.f.isDead() {
		m.Draft.Show(text)
	}
}

func (m mortal) Discard() {
	if !m.f.isDead() {
		m.Draft.Discard()
	}
}

func (m mortal) Close() {
	if !m.f.isDead() {
		m.Draft.Close()
	}
}
