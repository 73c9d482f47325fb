package main

import (
	"errors"
	"fmt"
	"time"

	"standin/cmd/standin/daemon"
	"standin/cronjobs"
)

type cronRunCmd struct {
	cronFlags
	Job                string
	Due, Wait          bool
	WaitTimeout, Every string
}

func (w world) cronRunVerb() *verb {
	c := cronRunCmd{WaitTimeout: "1h", Every: "500ms"}
	v := w.verb(&c, "run", "Have the running daemon run a job now, whether or not it is on. Its schedule stays as it is.", jobArgument(&c.Job))
	v.Flags().BoolVar(&c.Due, "due", false, "Only if it is due.")
	v.Flags().BoolVar(&c.Wait, "wait", false, "Wait for its end, and tell what came of it.")
	v.Flags().Var(text{&c.WaitTimeout, "DURATION"}, "wait-timeout", "Do not wait longer than this.")
	v.Flags().Var(text{&c.Every, "DURATION"}, "poll-interval", "How often to look.")
	c.bind(v)
	return v
}

// Run asks the daemon: 0 when the job runs, or with --wait has run well; 1 when
// it does not; 2 when no daemon answers.
func (c *cronRunCmd) Run(w world) error {
	limit, err := span("wait-timeout", c.WaitTimeout)
	if err != nil {
		return err
	}
	every, err := span("poll-interval", c.Every)
	if err != nil {
		return err
	}
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	var got daemon.JobAnswer
	err = askDaemon(w.ctx, d.dir, "POST", "/cron/run", map[string]any{"id": j.ID, "due": c.Due}, &got)
	switch {
	case errors.Is(err, errNoDaemon):
		return exit{exitUsage, err.Error() + ", and only a running one can run a job; start it with standin serve"}
	case err != nil:
		return exit{exitFault, err.Error()}
	}
	if !c.Wait || got.Result != cronjobs.Ran && got.Result != cronjobs.Queued {
		return c.answered(w, j, got)
	}
	return c.await(w, d, got.Run, limit, max(every, 10*time.Millisecond))
}

// answered tells what the daemon said.
func (c *cronRunCmd) answered(w world, j cronjobs.Job, got daemon.JobAnswer) error {
	if c.JSON {
		if err := printJSON(w, got); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(w.stdout, cronjobs.SayAsked(j, got.Result, got.Run))
	}
	if got.Result != cronjobs.Ran && got.Result != cronjobs.Queued {
		return exit{code: exitFault}
	}
	return nil
}

// await waits for the end of a run, and for its receipt for a moment.
func (c *cronRunCmd) await(w world, d *cronDesk, id cronjobs.RunID, limit, every time.Duration) error {
	var ended time.Time
	for begun := time.Now(); ; {
		runs, err := d.db.Runs(w.ctx, cronjobs.RunsOf{Run: id})
		if err != nil {
			return err
		}
		if len(runs) == 1 && runs[0].Ended != 0 {
			r := runs[0]
			if ended.IsZero() {
				ended = time.Now()
			}
			if r.Delivery.Status != cronjobs.Unclear || time.Since(ended) > 5*time.Second {
				return c.ran(w, d, r)
			}
		}
		if time.Since(begun) > limit {
			return exit{exitFault, fmt.Sprintf("the run has not ended within %s; standin cron runs --run-id %s tells when it has", limit, id)}
		}
		if err := daemon.Sleep(w.ctx, every); err != nil {
			return err
		}
	}
}

func (c *cronRunCmd) ran(w world, d *cronDesk, r cronjobs.Run) error {
	if c.JSON {
		if err := printJSON(w, r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(w.stdout, cronjobs.SayRun(r))
	}
	if r.Status != cronjobs.OK {
		return exit{code: exitFault}
	}
	return nil
}

type cronRunsCmd struct {
	cronFlags
	ofChat
	ID, RunID string
	Limit     int
}

func (w world) cronRunsVerb() *verb {
	var c cronRunsCmd
	v := w.verb(&c, "runs", "Show the record of runs, the newest first.")
	v.Flags().Var(text{&c.ID, "JOB"}, "id", "Of one job: its id, the beginning of it, or its name. A job that is gone is named by its whole id.")
	v.Flags().Var(text{&c.RunID, "ID"}, "run-id", "One run, in full.")
	v.Flags().IntVar(&c.Limit, "limit", 50, "How many, 200 at most.")
	c.cronFlags.bind(v)
	c.ofChat.bind(v)
	return v
}

// Run shows runs [R63].
func (c *cronRunsCmd) Run(w world) error {
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.db.Close()
	of := cronjobs.RunsOf{Run: cronjobs.RunID(c.RunID), Limit: min(max(1, c.Limit), 200)}
	if c.ID != "" {
		j, err := d.Find(w.ctx, c.ID)
		of.Job = j.ID
		if errors.Is(err, cronjobs.ErrNoJob) {
			of.Job = cronjobs.JobID(c.ID) // its record outlives it
		} else if err != nil {
			return exit{exitFault, err.Error()}
		}
		runs, err2 := d.db.Runs(w.ctx, cronjobs.RunsOf{Job: of.Job, Limit: 1})
		if err2 != nil {
			return err2
		}
		if len(runs) == 0 && err != nil {
			return exit{exitFault, err.Error()}
		}
	}
	runs, err := d.db.Runs(w.ctx, of)
	if err == nil && c.ofChat != (ofChat{}) {
		runs, err = d.ofChat(w, runs, c.ofChat)
	}
	switch {
	case err != nil:
		return err
	case c.RunID != "" && len(runs) == 0:
		return exit{exitFault, fmt.Sprintf("there is no run %q; standin cron runs lists them", c.RunID)}
	case c.JSON:
		return printJSON(w, append([]cronjobs.Run{}, runs...))
	case c.RunID != "":
		fmt.Fprint(w.stdout, cronjobs.SayRun(runs[0]))
		return nil
	case len(runs) == 0:
		fmt.Fprintln(w.stdout, "No job has run yet.")
		return nil
	}
	return cronjobs.ListRuns(w.stdout, runs, d.Config.Home)
}

// ofChat keeps the runs of the jobs that one chat made.
func (d *cronDesk) ofChat(w world, runs []cronjobs.Run, of ofChat) (kept []cronjobs.Run, err error) {
	jobs, err := d.db.Jobs(w.ctx)
	for _, r := range runs {
		for _, j := range jobs {
			if j.ID == r.Job && of.has(j) {
				kept = append(kept, r)
			}
		}
	}
	return kept, err
}
