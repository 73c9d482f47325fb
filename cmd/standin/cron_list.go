package main

import (
	"fmt"

	"standin/cronjobs"
	"standin/fallback"
)

type cronListCmd struct {
	cronFlags
	ofChat
	All   bool
	Agent string
}

func (w world) cronListVerb() *verb {
	var c cronListCmd
	v := w.verb(&c, "list", "List the jobs.")
	v.Flags().BoolVar(&c.All, "all", false, "Those that are off, too.")
	v.Flags().Var(text{&c.Agent, "ID"}, "agent", "Of one agent.")
	c.cronFlags.bind(v)
	c.ofChat.bind(v)
	return v
}

// ofChat are the flags by which /cron keeps to a chat's own jobs.
type ofChat struct {
	Session string
	Guests  bool
}

func (c *ofChat) bind(v *verb) {
	v.Flags().Var(text{&c.Session, "KEY"}, "of-session", "Of the chat with this session key.")
	v.Flags().BoolVar(&c.Guests, "of-guests", false, "Those that others than the owner have asked for.")
}

// has tells whether a job is among them.
func (c *ofChat) has(j cronjobs.Job) bool {
	return (c.Session == "" || j.SessionKey == c.Session) && (!c.Guests || j.Guest)
}

// Run lists jobs [R69].
func (c *cronListCmd) Run(w world) error {
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.db.Close()
	jobs, err := d.db.Jobs(w.ctx)
	if err != nil {
		return err
	}
	shown, off := []cronjobs.Job{}, 0
	for _, j := range jobs {
		switch {
		case !c.has(j):
		case c.Agent != "" && j.Agent != fallback.AgentID(c.Agent):
		case !j.Enabled && !c.All:
			off++
		default:
			shown = append(shown, j)
		}
	}
	if c.JSON {
		return printJSON(w, shown)
	}
	if len(shown) == 0 {
		fmt.Fprintln(w.stdout, "There are no jobs. standin cron add --help tells how to add one.")
	} else if err := cronjobs.ListJobs(w.stdout, shown, d.Config.Home, d.Now()); err != nil {
		return err
	}
	switch {
	case off == 1:
		fmt.Fprintln(w.stdout, "One more is off; --all shows it.")
	case off > 1:
		fmt.Fprintf(w.stdout, "%d more are off; --all shows them.\n", off)
	}
	return nil
}

type cronShowCmd struct {
	cronFlags
	Job string
	raw bool
}

func (w world) cronShowVerb() *verb {
	var c cronShowCmd
	v := w.verb(&c, "show", "Show a job and its last runs.", jobArgument(&c.Job))
	c.bind(v)
	return v
}

func (w world) cronGetVerb() *verb {
	c := cronShowCmd{raw: true}
	v := w.verb(&c, "get", "Print a job as JSON.", jobArgument(&c.Job))
	c.bind(v)
	return v
}

// Run shows the job.
func (c *cronShowCmd) Run(w world) error {
	d, err := c.open(w, !c.raw)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	if c.raw || c.JSON {
		return printJSON(w, j)
	}
	o, err := d.Look(w.ctx, j, shownTimes)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.stdout, "%q (%s)\n%s", j.Name, j.ID, cronjobs.SayAdded(o, d.Config.Home))
	if j.State.Errors > 0 {
		fmt.Fprintf(w.stdout, "%s: %s\n", cronjobs.SayFailing(j), j.State.LastError)
	}
	runs, err := d.db.Runs(w.ctx, cronjobs.RunsOf{Job: j.ID, Limit: shownTimes})
	if err != nil || len(runs) == 0 {
		return err
	}
	fmt.Fprintln(w.stdout)
	return cronjobs.ListRuns(w.stdout, runs, d.Config.Home)
}

type cronExplainCmd struct {
	cronFlags
	Job string
}

func (w world) cronExplainVerb() *verb {
	var c cronExplainCmd
	v := w.verb(&c, "explain", "Tell when a job runs next and which models it would ask, and why.", jobArgument(&c.Job))
	c.bind(v)
	return v
}

// Run explains the job.
func (c *cronExplainCmd) Run(w world) error {
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	o, err := d.Look(w.ctx, j, shownTimes)
	if err != nil {
		return wrong(err)
	}
	if c.JSON {
		return printJSON(w, o)
	}
	fmt.Fprint(w.stdout, cronjobs.SayOutlook(o, d.Config.Home))
	return nil
}

type cronStatusCmd struct{ cronFlags }

func (w world) cronStatusVerb() *verb {
	var c cronStatusCmd
	v := w.verb(&c, "status", "Ask the running daemon how its jobs are.")
	c.bind(v)
	return v
}

// Run asks the daemon: 0 when it runs jobs, 1 when they are switched off, 2 when
// no daemon answers.
func (c *cronStatusCmd) Run(w world) error {
	var h cronjobs.Health
	if err := askDaemon(w.ctx, c.dir(w), "GET", "/cron", nil, &h); err != nil {
		return exit{exitUsage, err.Error() + "; jobs run while standin serve runs"}
	}
	if c.JSON {
		if err := printJSON(w, h); err != nil {
			return err
		}
	} else {
		fmt.Fprint(w.stdout, cronjobs.SayHealth(h))
	}
	if !h.Enabled {
		return exit{code: exitFault}
	}
	return nil
}
