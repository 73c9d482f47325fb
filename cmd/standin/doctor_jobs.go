package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"standin/channels/console"
	"standin/channels/discord"
	"standin/channels/slack"
	"standin/cmd/standin/config"
	"standin/cmd/standin/doctor"
	"standin/cmd/standin/openclaw"
	"standin/cronjobs"
	"standin/fallback"
	"standin/store"
)

// olderRuns is how many lines of a job's older record are taken over.
const olderRuns = 200

// olderJobs looks for the jobs of an older store, cron/jobs.json with runs beside
// it, in the folder that is to be taken over or in the state folder itself, and
// takes them over if it is asked to [R12, R63]. A job that is there already, by
// its id, is left alone: what was changed since counts.
func (w world) olderJobs(ctx context.Context, e doctor.Exam, at string) (found []doctor.Finding) {
	dir := e.From
	if dir == "" {
		dir = e.Dir
	}
	t := &takenJobs{w: w, e: e, ctx: ctx, at: at, dir: dir, file: filepath.Join(dir, "cron", "jobs.json")}
	data, err := os.ReadFile(t.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		t.tell(doctor.Warning, "cannot be read: "+config.ReasonOf(err), "make it readable for this user")
		return t.found
	}
	all, err := cronjobs.ReadOlder(data, openclaw.CronWebhook(dir))
	if err != nil {
		t.tell(doctor.Error, err.Error()+"; nothing of it was taken over", "put a whole one in its place, or add the jobs anew: standin cron add --help")
		return t.found
	}
	if err := t.jobs(all); err != nil {
		t.tell(doctor.Error, "the jobs were not taken over: "+err.Error(), "")
	}
	return t.found
}

// takenJobs is a take-over under way.
type takenJobs struct {
	w     world
	e     doctor.Exam
	ctx   context.Context
	at    string // where the state may be read without a trace
	dir   string // that holds cron/
	file  string
	found []doctor.Finding
}

func (t *takenJobs) tell(level doctor.Level, what, mend string) *doctor.Finding {
	t.found = append(t.found, doctor.Finding{Area: doctor.Import, Level: level, Where: t.file, What: what, Mend: mend})
	return &t.found[len(t.found)-1]
}

func (t *takenJobs) jobs(all []cronjobs.Older) error {
	book, done, err := t.book()
	if err != nil {
		return err
	}
	defer done()
	taken, lines, same := 0, 0, 0
	for _, o := range all {
		j, err := o.Job, o.Err
		if err == nil && strings.ContainsAny(string(j.ID), `/\`) {
			err = &cronjobs.Fault{Field: "id", Wrong: fmt.Sprintf("%q holds a path separator", j.ID)}
		}
		if err == nil && book.Store != nil {
			if _, known := book.Store.Job(t.ctx, j.ID); known == nil && j.ID != "" {
				same++
				continue
			} else if !errors.Is(known, cronjobs.ErrNoJob) && known != nil {
				return known
			}
		}
		switch {
		case err == nil && j.Passed(t.e.Now):
			t.tell(doctor.Note, fmt.Sprintf("the job %q is left there: its one time has passed", o.Name), "")
			continue
		case err == nil:
			err = book.Rules.Check(j, true, t.e.Now)
		}
		if err != nil {
			t.tell(doctor.Warning, fmt.Sprintf("the job %q cannot be taken over: %s", o.Name, strings.ReplaceAll(err.Error(), "\n", "; ")), "mend it there and look again, or add it anew: standin cron add --help")
			continue
		}
		if len(o.Notes) > 0 {
			t.tell(doctor.Note, fmt.Sprintf("of the job %q: %s", o.Name, strings.Join(o.Notes, "; ")), "")
		}
		taken++
		if t.e.Fix {
			n, err := t.take(book, j)
			if err != nil {
				return fmt.Errorf("%q: %w", o.Name, err)
			}
			lines += n
		}
	}
	t.sum(taken, lines, same)
	return nil
}

// sum tells what came of all of them.
func (t *takenJobs) sum(taken, lines, same int) {
	flag := ""
	if t.e.From != "" {
		flag = " --import " + t.e.From
	}
	switch {
	case taken > 0 && t.e.Fix:
		t.tell(doctor.Warning, fmt.Sprintf("%s taken over, with %s of their record", manyOf(taken, "job was", "jobs were"), manyOf(lines, "line", "lines")), "").Mended = true
		_ = askDaemon(t.ctx, t.e.Dir, "POST", "/cron/nudge", nil, nil) // one that runs takes them up now
	case taken > 0:
		t.tell(doctor.Warning, "holds "+manyOf(taken, "job", "jobs")+" that standin does not run yet", "standin doctor --fix"+flag+" takes over").Fixable = true
	case same > 0:
		t.tell(doctor.Note, manyOf(same, "job was", "jobs were")+" taken over already", "")
	}
	if taken > 0 && t.e.From != "" {
		t.tell(doctor.Warning, "as long as OpenClaw runs, it runs these jobs too", "stop it before standin serve, or switch them off there")
	}
	if t.e.From != "" || !t.e.Fix {
		return
	}
	// In our own folder it would be found again, with jobs that were removed since.
	if err := os.Rename(t.file, t.file+".taken"); err != nil {
		t.tell(doctor.Warning, "cannot be put away: "+config.ReasonOf(err), "move it out of the state folder, or jobs that you remove come back with the next --fix")
	}
}

func manyOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// take keeps one job with its past, and gives the lines of its record.
func (t *takenJobs) take(book *cronjobs.Book, j cronjobs.Job) (lines int, err error) {
	past := j.State
	if j, err = book.Add(t.ctx, j, fallback.SessionID(j.SessionKey)); err != nil {
		return 0, err
	}
	if _, err := book.Store.ChangeJob(t.ctx, j.ID, func(j *cronjobs.Job) (cronjobs.Change, error) {
		st := &j.State
		st.LastRun, st.LastStatus, st.LastError, st.Errors = past.LastRun, past.LastStatus, past.LastError, past.Errors
		return cronjobs.Change{Write: true}, nil
	}); err != nil {
		return 0, err
	}
	f, err := os.Open(filepath.Join(t.dir, "cron", "runs", string(j.ID)+".jsonl"))
	if err != nil {
		return 0, nil // a job that never ran has none
	}
	defer f.Close()
	runs, err := cronjobs.ReadOlderRuns(f, j, olderRuns)
	if err != nil {
		t.tell(doctor.Note, fmt.Sprintf("the record of the job %q was not read to its end: %s", j.Name, config.ReasonOf(err)), "")
	}
	for _, r := range runs {
		if err := book.Store.PutRun(t.ctx, r); err != nil {
			return lines, err
		}
		lines++
	}
	return lines, nil
}

// book is where the jobs go; without --fix it only tells what is there.
func (t *takenJobs) book() (*cronjobs.Book, func(), error) {
	settings := cronjobs.Defaults()
	b := &cronjobs.Book{Config: &settings, Now: func() time.Time { return t.e.Now }}
	b.Rules = cronjobs.Rules{Channels: []string{slack.Name, discord.Name, console.Name}, Fallback: &fallback.Config{DefaultAgent: "main"}, AnyModel: true}
	if t.e.Config != "" {
		if conf, _ := config.Load(t.e.Config, t.e.Getenv); conf != nil {
			b.Config, b.Rules.Fallback, b.Rules.Hosts, b.Rules.AnyModel = conf.Cron, conf.Fallback, conf.Cron.WebhookHosts, false
		}
	}
	var db *store.DB
	var err error
	if t.e.Fix {
		db, err = openJobs(t.ctx, store.Options{Dir: t.e.Dir})
	} else if db, err = store.OpenReadOnly(t.ctx, store.Options{Dir: t.at}); err != nil {
		return b, func() {}, nil // there is none yet, or it has been told of
	}
	if err != nil {
		return nil, nil, err
	}
	b.Store = db
	return b, func() { _ = db.Close() }, nil
}
