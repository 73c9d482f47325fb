package store

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"standin/bot"
	"standin/fallback"
)

// Options say where the state is.
type Options struct {
	Dir string       // the state directory; made with mode 0700 when missing [D15]
	Log *slog.Logger // nil: silent
	// Throwaway says that nobody needs the files after the process, or reads
	// them beside it: writes do not wait for the disk, nor for other readers.
	Throwaway bool
	// Sealing says how secrets of credentials are kept; the zero value: as they are.
	Sealing Sealing
}

// DB is the open state directory. It is safe for use by many goroutines.
type DB struct {
	dir     string
	log     *slog.Logger
	main    *file
	lock    *lock
	agents  *agents
	journal *journal
	totals  totals
	closing sync.Once
}

// What the other rooms ask of the store.
var (
	_ bot.Store            = (*DB)(nil)
	_ fallback.Selections  = (*DB)(nil)
	_ fallback.Credentials = (*Credentials)(nil)
	_ fallback.Journal     = (*journal)(nil)
)

// Open opens the state directory as its one owner: a second Open, in this
// process or another, gives a *LockedError until Close. A file that cannot
// serve gives a *FileError and stays as it is.
func Open(ctx context.Context, o Options) (*DB, error) {
	path, err := stateFile(o.Dir, mainFile)
	if err != nil {
		return nil, err
	}
	l, err := takeLock(filepath.Join(o.Dir, lockFile))
	if err != nil {
		return nil, err
	}
	main, err := openFile(ctx, path, mainKind())
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	d := &DB{dir: o.Dir, log: o.logger(), main: main, lock: l, agents: newAgents(o.Dir, false).under(o.Sealing)}
	if o.Throwaway {
		d.agents.hasty = true
		if err := main.makeHasty(ctx); err != nil {
			return nil, errors.Join(err, main.close(), l.release())
		}
	}
	var owed bills
	if err := owed.begin(ctx, main); err != nil {
		return nil, errors.Join(err, main.close(), l.release())
	}
	d.journal = newJournal(main, d.log, owed)
	return d, nil
}

// OpenReadOnly opens the state directory beside its owner, or without one. It
// changes nothing and does no schema work; each write gives ErrReadOnly.
func OpenReadOnly(ctx context.Context, o Options) (*DB, error) {
	main, err := openFileReadOnly(ctx, filepath.Join(o.Dir, mainFile), mainKind())
	if err != nil {
		return nil, err
	}
	return &DB{dir: o.Dir, log: o.logger(), main: main, agents: newAgents(o.Dir, true).under(o.Sealing)}, nil
}

// The names in the state directory.
const (
	mainFile = "standin.sqlite"
	lockFile = "standin.lock"
)

func (o Options) logger() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// Close writes what the journal still holds and lets the next owner in. Later
// writes give an error; a second Close does nothing.
func (d *DB) Close() (err error) {
	d.closing.Do(func() {
		if d.journal != nil {
			d.journal.close()
		}
		err = errors.Join(d.agents.close(), d.main.close(), d.lock.release())
	})
	return err
}
