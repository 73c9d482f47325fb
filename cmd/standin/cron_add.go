package main

import (
	"fmt"

	"standin/cronjobs"
	"standin/fallback"
)

// shownTimes is how many next times people are shown of a job.
const shownTimes = 5

type cronAddCmd struct {
	cronFlags
	jobFlags
}

func (w world) cronAddVerb() *verb {
	var c cronAddCmd
	v := w.verb(&c, "add", "Add a job: one time (--at, --every or --cron) and one thing to do (--message or --system-event).")
	v.Aliases = []string{"create"}
	c.jobFlags.bind(v, false)
	c.cronFlags.bind(v)
	return v
}

// Run adds the job and tells what it will do.
func (c *cronAddCmd) Run(w world) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case !c.given("at") && !c.given("every") && !c.given("cron"):
		return misuse{"when is it to run? Give --at, --every or --cron"}
	case !c.given("message") && !c.given("system-event"):
		return misuse{"what is it to do? Give --message, or --system-event for the agent's main session"}
	}
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j := cronjobs.Job{Enabled: true}
	if err := c.apply(&j, d.Now()); err != nil {
		return wrong(err)
	}
	j, err = d.Add(w.ctx, j, fallback.SessionID(j.SessionKey))
	if err != nil {
		return c.wrong(err)
	}
	return d.tell(w, j, "Added", c.JSON)
}

// tell shows a job that was added or changed, and has the daemon look at it.
func (d *cronDesk) tell(w world, j cronjobs.Job, done string, asJSON bool) error {
	o, err := d.Look(w.ctx, j, shownTimes)
	if err != nil {
		return err
	}
	if asJSON {
		d.nudge(w, true)
		return printJSON(w, o)
	}
	fmt.Fprintf(w.stdout, "%s %q (%s).\n%s", done, j.Name, j.ID, cronjobs.SayAdded(o, d.Config.Home))
	if d.Rules.AnyModel && j.Payload.Kind == cronjobs.AgentTurn {
		fmt.Fprintln(w.stdout, "No config file was found, so its models were not checked (--config names one).")
	}
	d.nudge(w, false)
	return nil
}

type cronEditCmd struct {
	cronFlags
	jobFlags
	Job string
}

func (w world) cronEditVerb() *verb {
	var c cronEditCmd
	v := w.verb(&c, "edit", "Change a job. What no flag names stays as it is.", jobArgument(&c.Job))
	c.jobFlags.bind(v, true)
	c.cronFlags.bind(v)
	return v
}

// Run changes the job.
func (c *cronEditCmd) Run(w world) error {
	if err := c.check(); err != nil {
		return err
	}
	d, err := c.open(w, true)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	j, err = d.Edit(w.ctx, j.ID, func(j *cronjobs.Job) error { return c.apply(j, d.Now()) })
	if err != nil {
		return c.wrong(err)
	}
	return d.tell(w, j, "Changed", c.JSON)
}

type cronSwitchCmd struct {
	cronFlags
	on  bool
	Job string
}

func (w world) cronSwitchVerb(name string) *verb {
	c := cronSwitchCmd{on: name == "enable"}
	help := "Switch a job on. Its failures are forgotten, and its next time is planned anew."
	if !c.on {
		help = "Switch a job off. A run that is under way finishes."
	}
	v := w.verb(&c, name, help, jobArgument(&c.Job))
	c.bind(v)
	return v
}

// Run switches the job.
func (c *cronSwitchCmd) Run(w world) error {
	d, err := c.open(w, c.on)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	j, err = d.Switch(w.ctx, j.ID, c.on)
	if err != nil {
		return wrong(err)
	}
	if c.on {
		return d.tell(w, j, "Switched on", c.JSON)
	}
	d.nudge(w, true)
	if c.JSON {
		return printJSON(w, j)
	}
	fmt.Fprintf(w.stdout, "Switched off %q (%s).\n", j.Name, j.ID)
	return nil
}

type cronRemoveCmd struct {
	cronFlags
	Job string
}

func (w world) cronRemoveVerb() *verb {
	var c cronRemoveCmd
	v := w.verb(&c, "rm", "Take a job away. A run that is under way is ended; the record of its runs stays.", jobArgument(&c.Job))
	v.Aliases = []string{"remove", "delete"}
	c.bind(v)
	return v
}

// Run takes the job away.
func (c *cronRemoveCmd) Run(w world) error {
	d, err := c.open(w, false)
	if err != nil {
		return err
	}
	defer d.db.Close()
	j, err := d.find(w, c.Job)
	if err != nil {
		return err
	}
	if j, err = d.Remove(w.ctx, j.ID); err != nil {
		return err
	}
	_ = askDaemon(w.ctx, d.dir, "POST", "/cron/removed", map[string]any{"id": j.ID}, nil)
	if c.JSON {
		return printJSON(w, j)
	}
	fmt.Fprintf(w.stdout, "Removed %q (%s).\n", j.Name, j.ID)
	return nil
}
