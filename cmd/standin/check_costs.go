package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"standin/cmd/standin/config"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// printJobs writes how many requests jobs make in a day, and what they have cost
// of late: what is spent without anybody looking is told before it is [IL-109].
func printJobs(w io.Writer, c *config.Compiled, dir string, now time.Time) {
	if _, err := os.Stat(filepath.Join(dir, "standin.sqlite")); errors.Is(err, fs.ErrNotExist) || dir == "" {
		return // no daemon has run here
	}
	ctx := context.Background()
	db, err := store.OpenReadOnly(ctx, store.Options{Dir: dir})
	if err != nil {
		fmt.Fprintf(w, "jobs: cannot be read: %v\n\n", err)
		return
	}
	defer db.Close()
	jobs, err := db.Jobs(ctx)
	if err != nil || len(jobs) == 0 {
		return
	}
	line := "jobs: " + jobsADay(jobs, c.Cron, now)
	if cost, err := db.Costs(ctx, store.CostsOf{By: []store.CostBy{store.ByPurpose}, Since: now.AddDate(0, 0, -7)}); err == nil {
		for _, one := range cost {
			if one.By[0] == string(fallback.Cron) {
				line += fmt.Sprintf("; in the last 7 days they cost %s a day", fallback.Dollars(one.USD/7))
			}
		}
	}
	fmt.Fprintf(w, "%s\n\n", line)
}

// mostFires bounds how many runs of one job are counted.
const mostFires = 24 * 60

// jobsADay says how often jobs run in the next 24 hours.
func jobsADay(jobs []cronjobs.Job, c *cronjobs.Config, now time.Time) string {
	on, runs := 0, 0
	for _, j := range jobs {
		if !j.Enabled {
			continue
		}
		on++
		fires, err := j.Next(c.Home, now, mostFires)
		if err != nil {
			continue // standin cron list says what is wrong with it
		}
		for _, at := range fires {
			if at.Sub(now) <= 24*time.Hour {
				runs++
			}
		}
	}
	if !c.Enabled {
		return fmt.Sprintf("%s, none of which runs by itself (cron.enabled: false)", counted(len(jobs), "job"))
	}
	return fmt.Sprintf("%d of %s on, with %s in the next 24 hours", on, counted(len(jobs), "job"), counted(runs, "run"))
}

// printBudgets writes what bounds the spending, or that nothing does.
func printBudgets(w io.Writer, c *config.Compiled) {
	if len(c.Fallback.Budgets) == 0 {
		fmt.Fprint(w, "budgets: none; nothing bounds what is spent\n\n")
		return
	}
	fmt.Fprintln(w, "budgets:")
	for _, b := range c.Fallback.Budgets {
		switch {
		case b.NoPaid:
			fmt.Fprintf(w, "    %s: models that cost money are not used\n", b.Name)
		default:
			stops := "paid models are passed over"
			if b.BackgroundOnly {
				stops = "jobs and heartbeats pass over paid models"
			}
			fmt.Fprintf(w, "    %s: %s a %s for %s; then %s\n", b.Name, fallback.Dollars(b.Limit), b.Period, b.Scope(), stops)
		}
	}
	fmt.Fprintln(w)
}
