package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"standin/cronjobs"
)

var _ cronjobs.Store = (*DB)(nil)

const readJobs = `SELECT job, revision FROM jobs `

// Jobs gives all jobs in the order in which they were made.
func (d *DB) Jobs(ctx context.Context) ([]cronjobs.Job, error) {
	return d.jobs(ctx, readJobs+`ORDER BY seq`)
}

// Job gives one job, or cronjobs.ErrNoJob.
func (d *DB) Job(ctx context.Context, id cronjobs.JobID) (cronjobs.Job, error) {
	all, err := d.jobs(ctx, readJobs+`WHERE id = ?`, id)
	if err == nil && len(all) == 0 {
		err = cronjobs.ErrNoJob
	}
	if err != nil {
		return cronjobs.Job{}, err
	}
	return all[0], nil
}

// DueJobs gives at most limit jobs that are due and not running, the longest due
// first. The condition is that of the index jobs_due.
func (d *DB) DueJobs(ctx context.Context, now time.Time, limit int) ([]cronjobs.Job, error) {
	return d.jobs(ctx, readJobs+`WHERE enabled = 1 AND running = 0 AND next > 0 AND next <= ? ORDER BY next, seq LIMIT ?`, millis(now), limit)
}

// NextDue tells when the next job that does not run is due; zero: never.
func (d *DB) NextDue(ctx context.Context) (time.Time, error) {
	var next int64
	_, err := d.main.row(ctx, `SELECT coalesce(min(next), 0) FROM jobs WHERE enabled = 1 AND running = 0 AND next > 0`, nil, &next)
	return moment(next), err
}

func (d *DB) jobs(ctx context.Context, query string, args ...any) (all []cronjobs.Job, err error) {
	err = d.main.each(ctx, query, args, func(scan func(...any) error) error {
		var text string
		var j cronjobs.Job
		if err := scan(&text, &j.Revision); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			return fmt.Errorf("a job's row cannot be read: %w", err)
		}
		all = append(all, j)
		return nil
	})
	return all, err
}

// AddJob keeps a new job.
func (d *DB) AddJob(ctx context.Context, j cronjobs.Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return d.main.write(ctx, "add job "+string(j.ID), func(t *tx) error {
		_, err := t.exec(`INSERT INTO jobs (id, revision, enabled, next, running, job) VALUES (?, 1, ?, ?, ?, ?)`,
			j.ID, j.Enabled, j.State.Next, j.State.Running, string(text))
		return err
	})
}

// ChangeJob has look decide on the job and writes what comes of it, in one
// transaction. The write is a compare-and-set on the row's revision: of two that
// want a slot one gets it, whatever the store is one day.
func (d *DB) ChangeJob(ctx context.Context, id cronjobs.JobID, look func(*cronjobs.Job) (cronjobs.Change, error)) (j cronjobs.Job, err error) {
	err = d.main.write(ctx, "change job "+string(id), func(t *tx) error {
		j = cronjobs.Job{}
		var text string
		found, err := t.row(readJobs+`WHERE id = ?`, []any{id}, &text, &j.Revision)
		switch {
		case err != nil:
			return err
		case !found:
			return cronjobs.ErrNoJob
		}
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			return fmt.Errorf("the job's row cannot be read: %w", err)
		}
		change, err := look(&j)
		if err != nil {
			return err
		}
		if change.Run != nil {
			if err := t.putRun(*change.Run); err != nil {
				return err
			}
		}
		for _, out := range change.Posts {
			if _, _, err := t.addDelivery(out, "", change.At); err != nil {
				return err
			}
		}
		switch {
		case change.Remove:
			_, err = t.exec(`DELETE FROM jobs WHERE id = ?`, id)
			return err
		case change.Write:
			return t.putJob(&j)
		}
		return nil
	})
	return j, err
}

func (t *tx) putJob(j *cronjobs.Job) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	n, err := t.exec(`UPDATE jobs SET revision = revision + 1, enabled = ?, next = ?, running = ?, job = ? WHERE id = ? AND revision = ?`,
		j.Enabled, j.State.Next, j.State.Running, string(text), j.ID, j.Revision)
	if err == nil && n == 0 {
		return fmt.Errorf("job %s was changed by somebody else at the same moment; try again", j.ID)
	}
	j.Revision++
	return err
}

func (t *tx) putRun(r cronjobs.Run) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO runs (id, job, ended, delivering, run) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (id) DO UPDATE SET ended = ?3, delivering = ?4, run = ?5`, r.ID, r.Job, r.Ended, r.Delivering(), string(text))
	return err
}

// PutRun makes or replaces a run's row.
func (d *DB) PutRun(ctx context.Context, r cronjobs.Run) error {
	return d.main.write(ctx, "write down run "+string(r.ID), func(t *tx) error { return t.putRun(r) })
}
