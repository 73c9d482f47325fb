package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"standin/fallback"
)

// Retention says how long ended things are kept. Zero keeps a sort for ever.
type Retention struct {
	Messages time.Duration // inbox rows after their ending; a platform's late repeat is known for so long [I2]
	Posts    time.Duration // outbox rows, sent or refused, after they were written
	Steps    time.Duration // of the journal, and what the operator's lists tell of it
	MaxSteps int64         // newest steps that are kept at most; 0: no such bound
	Ledger   time.Duration // calls and what they cost, what operators did, and the lines of jobs that are gone
}

// pruneBatch is the number of rows that one transaction deletes: a turn never
// waits for more than that.
const pruneBatch = 500

// Prune deletes what is older than keep says and gives the number of rows. What
// is still owed an ending or a post stays, however old.
func (d *DB) Prune(ctx context.Context, now time.Time, keep Retention) (deleted int64, err error) {
	sweep := func(age time.Duration, query string) error {
		if age <= 0 {
			return nil
		}
		n, err := d.sweep(ctx, query, millis(now.Add(-age)))
		deleted += n
		return err
	}
	if err := errors.Join(
		sweep(keep.Messages, `DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE ended > 0 AND ended < ? LIMIT ?)`),
		sweep(keep.Posts, `DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE created < ? AND state IN ('sent', 'refused') LIMIT ?)`),
		sweep(keep.Steps, `DELETE FROM steps WHERE id IN (SELECT id FROM steps WHERE at < ? LIMIT ?)`),
		sweep(keep.Steps, `DELETE FROM run_log WHERE seq IN (SELECT seq FROM run_log WHERE began < ? LIMIT ?)`),
		sweep(keep.Steps, `DELETE FROM stretches WHERE id IN (SELECT id FROM stretches WHERE ended < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM operator_acts WHERE id IN (SELECT id FROM operator_acts WHERE at < ? LIMIT ?)`),
		// A reminder goes with its one run, so nobody shortens its log [R70].
		sweep(keep.Ledger, `DELETE FROM runs WHERE seq IN (SELECT seq FROM runs WHERE ended > 0 AND ended < ? AND delivering = 0
			AND job NOT IN (SELECT id FROM jobs) LIMIT ?)`),
		sweep(keep.Steps, `DELETE FROM run_log WHERE seq IN (SELECT seq FROM run_log WHERE began < ? LIMIT ?)`),
		sweep(keep.Steps, `DELETE FROM stretches WHERE id IN (SELECT id FROM stretches WHERE ended < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM operator_acts WHERE id IN (SELECT id FROM operator_acts WHERE at < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM ledger WHERE id IN (SELECT id FROM ledger WHERE at < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM ledger_hours WHERE (hour, purpose, agent, provider, model, job) IN
			(SELECT hour, purpose, agent, provider, model, job FROM ledger_hours WHERE hour < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM budget_raises WHERE id IN (SELECT id FROM budget_raises WHERE start < ? LIMIT ?)`),
		sweep(keep.Ledger, `DELETE FROM budget_news WHERE (budget, start, share) IN (SELECT budget, start, share FROM budget_news WHERE start < ? LIMIT ?)`),
	); err != nil {
		return deleted, err
	}
	if keep.MaxSteps > 0 {
		n, err := d.sweep(ctx, `DELETE FROM steps WHERE id IN (SELECT id FROM steps WHERE id <= (SELECT max(id) FROM steps) - ? LIMIT ?)`, keep.MaxSteps)
		return deleted + n, err
	}
	return deleted, nil
}

func (d *DB) sweep(ctx context.Context, query string, bound int64) (deleted int64, err error) {
	for {
		var n int64
		err := d.main.write(ctx, "delete old rows", func(t *tx) (err error) {
			n, err = t.exec(query, bound, pruneBatch)
			return err
		})
		deleted += n
		if err != nil || n < pruneBatch {
			return deleted, err
		}
	}
}

// Stats are numbers for people. Counting walks indexes: not for turns.
type Stats struct {
	Sessions, Overrides int64 // stored sessions; those with a stored model
	Unended             int64 // messages without an ending
	Owed, Unknown       int64 // deliveries not finished; those that may have been posted
	Entries, Steps      int64
	Bytes               int64 // of the main file and its log
}

// Stats counts.
func (d *DB) Stats(ctx context.Context) (s Stats, err error) {
	_, err = d.main.row(ctx, `SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM selection WHERE model <> ''),
			(SELECT count(*) FROM inbox WHERE ended = 0), (SELECT count(*) FROM outbox WHERE `+owed+`),
			(SELECT count(*) FROM outbox WHERE `+owed+` AND state = 'unknown'),
			(SELECT count(*) FROM transcript), (SELECT count(*) FROM steps)`,
		nil, &s.Sessions, &s.Overrides, &s.Unended, &s.Owed, &s.Unknown, &s.Entries, &s.Steps)
	if err != nil {
		return s, fmt.Errorf("count rows: %w", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(d.main.path + suffix); err == nil {
			s.Bytes += info.Size()
		}
	}
	return s, nil
}

// Check looks at every page and index of the main file and of the agents' files
// that exist; damage gives a *FileError. It reads everything: for doctor.
func (d *DB) Check(ctx context.Context) error {
	errs := []error{d.main.integrity(ctx)}
	ids, err := d.agents.named()
	errs = append(errs, err)
	for _, id := range ids {
		f, err := d.agents.existing(ctx, id)
		if f != nil {
			err = f.integrity(ctx)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *file) integrity(ctx context.Context) error {
	var verdict string
	if _, err := f.row(ctx, `PRAGMA integrity_check(1)`, nil, &verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return corrupt(f.path, errors.New(verdict))
	}
	return nil
}

// Backup writes a whole copy of the main file to path, which must not exist yet,
// while turns go on. Credentials are not in it.
func (d *DB) Backup(ctx context.Context, path string) error {
	return d.main.backup(ctx, path)
}

// Backup writes a copy of the agent's credentials to path, which must not exist
// yet. The copy holds secrets; its mode is 0600.
func (c *Credentials) Backup(ctx context.Context, a fallback.AgentID, path string) error {
	f, err := c.agents.existing(ctx, a)
	if err != nil {
		return err
	}
	if f == nil {
		return fmt.Errorf("agent %s has no credentials of its own", a)
	}
	return f.backup(ctx, path)
}

func (f *file) backup(ctx context.Context, path string) error {
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up %s: %w", f.path, err)
	}
	_ = made.Close()
	if f.hasty {
		return f.backupAlone(ctx, path)
	}
	db, err := sql.Open("sqlite3", dsn(f.path, "mode=rw", fmt.Sprintf("_busy_timeout=%d", busyBound.Milliseconds())))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		_ = os.Remove(path) // half a copy is no backup
		return fmt.Errorf("back up %s: %w", f.path, trouble(path, interrupted(ctx, err)))
	}
	return nil
}
