package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"standin/channels/console"
	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// cronVerb is `standin cron`: jobs that run at a time [R66]. Its verbs work on
// the state folder, beside a running daemon, which hears of each change at once.
func (w world) cronVerb() *verb {
	return w.group("cron", "Jobs that run at a time.",
		w.cronAddVerb(), w.cronListVerb(), w.cronShowVerb(), w.cronGetVerb(), w.cronEditVerb(),
		w.cronSwitchVerb("enable"), w.cronSwitchVerb("disable"), w.cronRemoveVerb(),
		w.cronRunVerb(), w.cronRunsVerb(), w.cronExplainVerb(), w.cronStatusVerb())
}

// cronFlags say where jobs are kept and by which config they are judged.
type cronFlags struct {
	stateFlag
	Config string
	JSON   bool
}

func (f *cronFlags) bind(v *verb) {
	f.stateFlag.bind(v)
	v.Flags().VarP(text{&f.Config, "FILE"}, "config", "c", configHelp)
	v.Flags().BoolVar(&f.JSON, "json", false, "As JSON.")
}

// jobArgument names a job.
func jobArgument(to *string) argument {
	return argument{name: "job", help: "The job's id, the beginning of it, or its exact name.", to: to}
}

// cronDesk is the state folder's jobs, open.
type cronDesk struct {
	*cronjobs.Book
	db  *store.DB
	dir string
}

// open opens the jobs. judged says that models are to be checked: then a config
// that cannot be used is an error.
func (f cronFlags) open(w world, judged bool) (*cronDesk, error) {
	d := &cronDesk{dir: f.dir(w), Book: &cronjobs.Book{Now: time.Now}}
	settings := cronjobs.Defaults()
	d.Config = &settings
	d.Rules = cronjobs.Rules{Channels: []string{slack.Name, discord.Name, console.Name}}
	path, _ := config.Find(f.Config, f.dir(w), w.getenv)
	if path != "" && judged {
		conf, faults := config.Load(path, w.getenv)
		if conf == nil {
			config.PrintFaults(w.stderr, faults)
			return nil, exit{exitUsage, fmt.Sprintf("%s %s; mend the lines above", path, notChecked)}
		}
		d.Config, d.Rules.Fallback, d.Rules.Hosts = conf.Cron, conf.Fallback, conf.Cron.WebhookHosts
	}
	if d.Rules.Fallback == nil {
		d.Rules.Fallback, d.Rules.AnyModel = &fallback.Config{DefaultAgent: "main"}, true
	}
	var err error
	if d.db, err = openJobs(w.ctx, f.options(w)); err != nil {
		return nil, exit{exitUsage, "state: " + err.Error()}
	}
	d.Store = d.db
	return d, nil
}

// notChecked says that a config with a fault keeps jobs from being checked.
const notChecked = "cannot be used, so the job cannot be checked"

// openJobs opens the store beside its owner; where no daemon ever ran it is made.
func openJobs(ctx context.Context, o store.Options) (*store.DB, error) {
	_, err := os.Stat(filepath.Join(o.Dir, "standin.sqlite"))
	if !errors.Is(err, fs.ErrNotExist) {
		return store.OpenBeside(ctx, o)
	}
	return store.Open(ctx, o)
}

// nudge tells the daemon that jobs have changed, and people if there is none.
func (d *cronDesk) nudge(w world, quiet bool) {
	err := askDaemon(w.ctx, d.dir, http.MethodPost, "/cron/nudge", nil, nil)
	if err != nil && !quiet {
		fmt.Fprintf(w.stdout, "No daemon runs on %s; it takes this up when it starts (standin serve).\n", d.dir)
	}
}

// errNoDaemon says that nobody answers in a state folder.
var errNoDaemon = errors.New("no daemon answers")

// askDaemon asks the daemon behind the socket in its state folder.
func askDaemon(ctx context.Context, dir, method, path string, ask, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, daemon.SocketFile))
	}}}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://standin"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	got, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%w for %s", errNoDaemon, dir)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		var said daemon.JobAnswer
		if json.NewDecoder(got.Body).Decode(&said) == nil && said.Error != "" {
			return errors.New(said.Error)
		}
		return fmt.Errorf("the daemon says %s", got.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(got.Body).Decode(answer)
}

// find gives the job that a person names.
func (d *cronDesk) find(w world, ref string) (cronjobs.Job, error) {
	j, err := d.Find(w.ctx, ref)
	if err != nil {
		return j, exit{exitFault, err.Error()}
	}
	return j, nil
}

// wrong is the answer to a job that cannot be kept: a line for each fault, with
// the flag that it is about.
func wrong(err error) error {
	var m misuse
	if errors.As(err, &m) {
		return m
	}
	var lines []string
	for _, one := range parted(err) {
		var f *cronjobs.Fault
		if !errors.As(one, &f) {
			return exit{exitFault, err.Error()}
		}
		field, _, _ := strings.Cut(f.Field, "[")
		if flag, known := flagOf[field]; known {
			one = fmt.Errorf("--%s %w", flag, &cronjobs.Fault{Field: "", Wrong: f.Wrong, Mend: f.Mend})
		}
		lines = append(lines, one.Error())
	}
	return exit{exitUsage, strings.Join(lines, "\nstandin: ")}
}

// wrong is the same, for the flags that were given: a webhook's URL is the field
// "to", and was not written as --to.
func (f *jobFlags) wrong(err error) error {
	var bad *cronjobs.Fault
	for _, one := range parted(err) {
		if f.given("webhook") && errors.As(one, &bad) && bad.Field == "delivery.to" {
			bad.Field = "webhook"
		}
	}
	return wrong(err)
}

// parted takes joined errors apart.
func parted(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, parted(one)...)
	}
	return all
}

// flagOf is the flag that sets a field of a job.
var flagOf = map[string]string{
	"name": "name", "agentId": "agent", "sessionTarget": "session", "schedule.at": "at", "schedule.everyMs": "every", "schedule.expr": "cron", "schedule.tz": "tz",
	"schedule.staggerMs": "stagger", "payload.text": "system-event", "payload.message": "message", "payload.model": "model", "payload.fallbacks": "fallbacks", "payload.maxCostPerDay": "max-cost-per-day",
	"delivery.channel": "channel", "delivery.to": "to", "webhook": "webhook", "failureAlert.after": "failure-alert-after", "failureAlert.to": "failure-alert-to",
	"failureAlert.channel": "failure-alert-channel", "failureAlert.mode": "failure-alert-mode", "delivery.failureDestination.to": "failure-to",
	"delivery.completionDestination.to": "completion-webhook", "payload.thinking": "thinking",
	"delivery.failureDestination.channel": "failure-channel", "delivery.failureDestination.mode": "failure-mode",
}
