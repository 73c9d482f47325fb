package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider"
)

// Runs gives runs of jobs, the newest first.
func (d *DB) Runs(ctx context.Context, of cronjobs.RunsOf) (all []cronjobs.Run, err error) {
	// Each condition has its own index, which a general one would not use.
	query, args := `SELECT run FROM runs `, []any{}
	switch {
	case of.Run != "":
		query, args = query+`WHERE id = ?`, []any{of.Run}
	case of.Unended:
		query += `WHERE ended = 0`
	case of.Delivering:
		query += `WHERE delivering = 1`
	case of.Job != "":
		query, args = query+`WHERE job = ?`, []any{of.Job}
	}
	limit := of.Limit
	if limit <= 0 {
		limit = math.MaxInt32
	}
	err = d.main.each(ctx, query+` ORDER BY seq DESC LIMIT ?`, append(args, limit), func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		var r cronjobs.Run
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return fmt.Errorf("a run's row cannot be read: %w", err)
		}
		all = append(all, r)
		return nil
	})
	return all, err
}

// Left tells what a turn of a job left: its post, and its entries.
func (d *DB) Left(ctx context.Context, s fallback.SessionID, turn string) (l cronjobs.Left, err error) {
	if l.Posts, err = d.deliveries(ctx, `SELECT `+outboxColumns+` FROM outbox WHERE id = ?`, turn+"-r"); err != nil {
		return l, err
	}
	err = d.main.each(ctx, `SELECT role, text, provider, model FROM transcript WHERE session = ? AND turn = ? ORDER BY seq`, []any{s, turn},
		func(scan func(...any) error) error {
			var role, text string
			var m fallback.Model
			if err := scan(&role, &text, &m.Provider, &m.Name); err != nil {
				return err
			}
			l.Answered = true
			if role == string(provider.Assistant) {
				l.Text, l.Model = text, m
			}
			return nil
		})
	return l, err
}

// PruneRuns keeps the newest lines of a job's log. A run that has not ended
// stays.
func (d *DB) PruneRuns(ctx context.Context, id cronjobs.JobID, keep int) error {
	return d.main.write(ctx, "shorten the log of job "+string(id), func(t *tx) error {
		_, err := t.exec(`DELETE FROM runs WHERE job = ?1 AND ended > 0 AND
			seq <= (SELECT seq FROM runs WHERE job = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, id, keep)
		return err
	})
}

// PruneSaid deletes what jobs' own sessions said before a time. The sessions
// stay, with the model that somebody chose for them [R64].
func (d *DB) PruneSaid(ctx context.Context, before time.Time) (int64, error) {
	return d.sweep(ctx, `DELETE FROM transcript WHERE seq IN (SELECT t.seq FROM sessions s JOIN transcript t ON t.session = s.key AND t.epoch = s.epoch
		WHERE s.key LIKE 'agent:%:cron:%' AND t.at < ? LIMIT ?)`, millis(before))
}
