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
		if err != nil {
			return done, fmt.Errorf("credentials of agent %s stay as they were: %w", id, err)
		}
		done.Secrets += n
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
	return len(rows), f.rewrite(ctx)
}

// rewrite writes the file anew and empties its log: what was deleted is gone.
func (f *file) rewrite(ctx context.Context) error {
	if err := f.w.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-f.w.turn }()
	for _, s := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := f.w.conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("the secrets are rewritten, but %s still holds pages of before: %w", f.path, trouble(f.path, interrupted(ctx, err)))
		}
	}
	return nil
}
