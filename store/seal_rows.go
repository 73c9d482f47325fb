package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"standin/fallback"
)

// Resealed is what a Reseal did.
type Resealed struct {
	Secrets int  // rows that it rewrote
	MadeKey bool // there was no key file before
}

// Reseal brings the stored secrets of all agents from the sealing of o to
// another one, in one transaction per agent, and makes its key file when there is
// none. Each is read back and opened before its old row goes; afterwards the file is
// written anew, so that no free page of it holds what stood there. It must be
// alone: a daemon that runs gives a *LockedError, since it holds the key of
// before. Cut short, it goes on where it was when it runs again.
func Reseal(ctx context.Context, o Options, to Sealing, d fallback.Deed) (done Resealed, err error) {
	if _, err := stateFile(o.Dir, lockFile); err != nil {
		return done, err
	}
	l, err := takeLock(filepath.Join(o.Dir, lockFile))
	if err != nil {
		return done, err
	}
	a := newAgents(o.Dir, false)
	defer func() { err = errors.Join(err, a.close(), l.release()) }()
	if to.KeyFile != "" {
		if done.MadeKey, err = MakeKeyFile(to.KeyFile); err != nil {
			return done, err
		}
	}
	ids, err := a.named()
	if err != nil {
		return done, err
	}
	d.What = fallback.DeedUnseal
	if to.On() {
		d.What = fallback.DeedSeal
	}
	from, into := newVault(o.Sealing), newVault(to)
	for _, id := range ids {
		f, err := a.owned(ctx, id)
		if err != nil {
			return done, err
		}
		n, err := f.reseal(ctx, from, into, d)
		done.Secrets += n
		if err != nil && n == 0 {
			return done, fmt.Errorf("credentials of agent %s stay as they were: %w", id, err)
		}
		if err == nil {
			// Also where nothing was to be rewritten: the run that did so may have
			// been cut short before this.
			err = f.rewrite(ctx)
		}
		if err != nil {
			return done, fmt.Errorf("credentials of agent %s: %w", id, err)
		}
	}
	return done, nil
}

// reseal rewrites the rows of one file that are not as into makes them.
func (f *file) reseal(ctx context.Context, from, into *vault, d fallback.Deed) (n int, err error) {
	type row struct {
		profile fallback.ProfileID
		text    string
	}
	var rows []row
	err = f.each(ctx, `SELECT profile, secret FROM credentials ORDER BY profile`, nil, func(scan func(...any) error) error {
		var r row
		err := scan(&r.profile, &r.text)
		if isSealed(r.text) != into.On() {
			rows = append(rows, r)
		}
		return err
	})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	err = f.writeDurably(ctx, "rewrite secrets", func(t *tx) error {
		for _, r := range rows {
			secret, err := from.open(r.profile, r.text)
			if err != nil {
				return err
			}
			text, err := into.seal(r.profile, secret)
			if err != nil {
				return err
			}
			if _, err := t.exec(`UPDATE credentials SET secret = ? WHERE profile = ?`, text, r.profile); err != nil {
				return err
			}
			var back string
			if _, err := t.row(`SELECT secret FROM credentials WHERE profile = ?`, []any{r.profile}, &back); err != nil {
				return err
			}
			if again, err := into.open(r.profile, back); err != nil || again.Reveal() != secret.Reveal() {
				return fmt.Errorf("the secret of %s reads otherwise than it was written: nothing was changed", r.profile)
			}
		}
		d.Detail = fmt.Sprintf("%d secrets", len(rows))
		return record(t, d)
	})
	if err != nil {
		return 0, err
	}
	return len(rows), nil
}

// rewrite writes the file anew and empties its log: what was deleted is gone.
func (f *file) rewrite(ctx context.Context) error {
	if err := f.w.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-f.w.turn }()
	still := func(err error) error {
		return fmt.Errorf("the secrets are rewritten, but pages of before are still in %s or its log: %w; run it once more", f.path, trouble(f.path, interrupted(ctx, err)))
	}
	if _, err := f.w.conn.ExecContext(ctx, "VACUUM"); err != nil {
		return still(err)
	}
	// The log keeps its pages while somebody reads them: SQLite says so in a row,
	// not by an error.
	var reads, pages, moved int
	if err := f.w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&reads, &pages, &moved); err != nil {
		return still(err)
	}
	if reads != 0 {
		return still(errors.New("another program reads it just now"))
	}
	return nil
}
