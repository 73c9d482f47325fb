package store

import (
	"context"
	"fmt"
	"time"

	"standin/fallback"
)

// Keeping says how long conversations are kept [S15]. Zero keeps all.
type Keeping struct {
	// After: a session that nothing has used for so long is forgotten, and so is
	// what a session has put behind it (/new, a reset by time).
	After time.Duration
	// Most sessions are kept at most; of more, those that were unused for longest go.
	Most int
	// Busy tells whether a session is being answered; nil: none is.
	Busy func(fallback.SessionID) bool
	// Dry forgets nothing.
	Dry bool
}

// Maintain forgets what has been kept long enough, and gives how many sessions
// that were. An agent's main session stays, and so does one that is busy, that a
// message waits for, or that is a job's: PruneSaid empties that one, so that its
// age tells nothing [R64]. A session that is spoken to again begins anew.
func (d *DB) Maintain(ctx context.Context, now time.Time, keep Keeping) (forgotten int, err error) {
	idle, err := d.idle(ctx, now, keep)
	if err != nil || keep.Dry {
		return len(idle), err
	}
	for _, s := range idle {
		gone, err := d.forget(ctx, s, now)
		if err != nil {
			return forgotten, err
		}
		if gone {
			forgotten++
		}
	}
	if keep.After > 0 {
		return forgotten, d.sweepEpochs(ctx, millis(now.Add(-keep.After)))
	}
	return forgotten, d.sweepEpochs(ctx, 0) // only of those that were just forgotten
}

// idleSession is a session that may go.
type idleSession struct {
	key  fallback.SessionID
	used int64 // when anything last used it, ms
	last int64 // when a person last did
}

// idle lists the sessions that have been kept long enough. A run that no person
// started uses its session too; its last entry tells when.
func (d *DB) idle(ctx context.Context, now time.Time, keep Keeping) (idle []idleSession, err error) {
	var all []idleSession // unused for longest first
	kept := 0
	err = d.main.each(ctx, `SELECT key, last_interaction, max(started, last_interaction, coalesce(
				(SELECT at FROM transcript WHERE session = key AND transcript.epoch = sessions.epoch ORDER BY seq DESC LIMIT 1), 0)) AS used,
			key LIKE '%:main' OR key IN (SELECT session FROM inbox WHERE ended = 0)
				OR key LIKE 'agent:%:cron:%' AND substr(key, instr(key, ':cron:') + 6) IN (SELECT id FROM jobs) AS stays
		FROM sessions ORDER BY used, key`, nil, func(scan func(...any) error) error {
		var s idleSession
		var stays bool
		if err := scan(&s.key, &s.last, &s.used, &stays); err != nil {
			return err
		}
		kept++
		if !stays && (keep.Busy == nil || !keep.Busy(s.key)) {
			all = append(all, s)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions that may go: %w", err)
	}
	for _, s := range all {
		tooOld := keep.After > 0 && s.used < millis(now.Add(-keep.After))
		if tooMany := keep.Most > 0 && kept > keep.Most; !tooOld && !tooMany {
			break
		}
		idle = append(idle, s)
		kept--
	}
	return idle, nil
}

// forget drops a session's row and leaves its transcript to the sweep. One that
// was spoken to meanwhile stays.
func (d *DB) forget(ctx context.Context, s idleSession, now time.Time) (gone bool, err error) {
	err = d.main.write(ctx, "forget session "+string(s.key), func(t *tx) error {
		var epoch string
		gone, err = t.row(`DELETE FROM sessions WHERE key = ? AND last_interaction = ? AND key NOT IN (SELECT session FROM inbox WHERE ended = 0) RETURNING epoch`,
			[]any{s.key, s.last}, &epoch)
		if err != nil || !gone {
			return err
		}
		for _, drop := range []string{`DELETE FROM selection WHERE session = ?`, `DELETE FROM events WHERE session = ?`} {
			if _, err := t.exec(drop, s.key); err != nil {
				return err
			}
		}
		// Its end lies before every cutoff: the sweep takes it at once.
		_, err = t.exec(`INSERT INTO epochs (session, epoch, ended) VALUES (?,?,-1) ON CONFLICT (session, epoch) DO UPDATE SET ended = -1`, s.key, epoch)
		return err
	})
	return gone, err
}

// sweepEpochs deletes the transcripts of what ended before the cutoff, a few
// rows at a time.
func (d *DB) sweepEpochs(ctx context.Context, before int64) error {
	type epoch struct{ session, epoch string }
	for {
		var due []epoch
		err := d.main.each(ctx, `SELECT session, epoch FROM epochs WHERE ended < ? ORDER BY ended LIMIT 100`, []any{before}, func(scan func(...any) error) error {
			var e epoch
			err := scan(&e.session, &e.epoch)
			due = append(due, e)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, e := range due {
			for done := false; !done; {
				err := d.main.write(ctx, "delete an old transcript", func(t *tx) error {
					n, err := t.exec(`DELETE FROM transcript WHERE seq IN (SELECT seq FROM transcript WHERE session = ? AND epoch = ? LIMIT ?)`, e.session, e.epoch, pruneBatch)
					if err != nil {
						return err
					}
					if done = n < pruneBatch; done {
						_, err = t.exec(`DELETE FROM epochs WHERE session = ? AND epoch = ?`, e.session, e.epoch)
					}
					return err
				})
				if err != nil {
					return err
				}
			}
		}
	}
}
