package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"standin/bot/operator"
	"standin/cronjobs"
)

// deskJobs are the jobs in the operator's words: it goes the ways of standin cron.
// It implements operator.Schedule.
type deskJobs struct{ a *App }

// shownFires is how many next times are shown of a job.
const shownFires = 5

// All lists the jobs.
func (d deskJobs) All(ctx context.Context) (out operator.Jobs, err error) {
	health, err := d.a.jobs.Status(ctx)
	if err != nil {
		return out, err
	}
	out = operator.Jobs{Enabled: health.Enabled, Running: health.Running, Waiting: health.Waiting, Jobs: []operator.Job{}}
	all, err := d.a.DB.Jobs(ctx)
	for _, j := range all {
		out.Jobs = append(out.Jobs, d.view(j))
	}
	return out, err
}

func (d deskJobs) view(j cronjobs.Job) operator.Job {
	home, st := d.a.current.Load().Cron.Home, j.State
	v := operator.Job{ID: string(j.ID), Name: j.Name, Agent: string(j.Agent), Enabled: j.Enabled, OffWhy: st.OffWhy, Schedule: j.Schedule.Describe(home), Next: []time.Time{},
		Running: st.Running.Time(), LastRun: st.LastRun.Time(), LastStatus: string(st.LastStatus), LastError: st.LastError, Errors: st.Errors, Model: j.Payload.Model, Description: j.Description}
	v.Next = append(v.Next, d.fires(j, d.a.parts.Now(), shownFires)...)
	return v
}

// fires gives the next times of a job, the planned one in front: a retry or a
// catch-up may have moved it.
func (d deskJobs) fires(j cronjobs.Job, after time.Time, n int) (list []time.Time) {
	if !j.Enabled {
		return nil
	}
	if next := j.State.Next.Time(); next.After(after) {
		list, after = append(list, next), next
	}
	if more, err := j.Next(d.a.current.Load().Cron.Home, after, n); err == nil { // a schedule that is wrong has no times
		list = append(list, more...)
	}
	return list[:min(len(list), n)]
}

// Job tells what a job would do.
func (d deskJobs) Job(ctx context.Context, id string) (operator.JobDetail, error) {
	j, err := d.a.JobBook().Find(ctx, id)
	if err != nil {
		return operator.JobDetail{}, noJob(err)
	}
	return d.detail(ctx, j)
}

func (d deskJobs) detail(ctx context.Context, j cronjobs.Job) (out operator.JobDetail, err error) {
	look, err := d.a.JobBook().Look(ctx, j, shownFires)
	if err != nil {
		look.Refused = err.Error() // a job that today's config does not take is shown all the same
	}
	out = operator.JobDetail{Job: d.view(j), Chain: []operator.Reasoned{}, Why: look.Why, Refused: look.Refused, Session: string(look.Session), Delivery: look.Delivery, StaggerMs: look.Stagger.Milliseconds()}
	for _, m := range look.Chain {
		out.Chain = append(out.Chain, operator.Reasoned{Model: m.Model, Why: m.Why})
	}
	out.Spec, err = json.Marshal(j)
	return out, err
}

// noJob says that it was the request's fault.
func noJob(err error) error {
	var fault *cronjobs.Fault
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cronjobs.ErrNoJob):
		return fmt.Errorf("%w: %w", operator.ErrNotFound, err)
	case errors.As(err, &fault):
		return &operator.Wrong{Says: err.Error()}
	}
	return err
}

// ownFields are the store's: nobody sets them. A job that was read is sent back
// whole, so they are left out rather than refused.
var ownFields = []string{"id", "createdAtMs", "updatedAtMs", "state"}

// patched is a job with fields of its spec put in, as a JSON merge patch does:
// objects are merged, null takes a field out.
func patched(j cronjobs.Job, raw json.RawMessage) (cronjobs.Job, error) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return j, &operator.Wrong{Says: "the job cannot be read: " + err.Error()}
	}
	base := map[string]any{}
	if j.ID != "" {
		text, err := json.Marshal(j)
		if err == nil {
			err = json.Unmarshal(text, &base)
		}
		if err != nil {
			return j, err
		}
	}
	merge(base, fields)
	for _, own := range ownFields {
		delete(base, own)
	}
	text, err := json.Marshal(base)
	if err != nil {
		return j, err
	}
	out, _, err := cronjobs.Decode(text)
	if err != nil {
		return j, &operator.Wrong{Says: "the job cannot be read: " + err.Error()}
	}
	out.Revision = j.Revision
	return out, nil
}

func merge(into, fields map[string]any) {
	for name, v := range fields {
		was, isObject := into[name].(map[string]any)
		more, given := v.(map[string]any)
		switch {
		case v == nil:
			delete(into, name)
		case isObject && given:
			merge(was, more)
		default:
			into[name] = v
		}
	}
}

// Add adds a job.
func (d deskJobs) Add(ctx context.Context, raw json.RawMessage) (operator.JobDetail, error) {
	j, err := patched(cronjobs.Job{}, raw)
	if err != nil {
		return operator.JobDetail{}, err
	}
	j, err = d.a.JobBook().Add(ctx, j, "")
	if err != nil {
		return operator.JobDetail{}, noJob(err)
	}
	d.a.jobs.Nudge()
	return d.detail(ctx, j)
}

// Edit changes the fields of its spec that are given.
func (d deskJobs) Edit(ctx context.Context, id string, raw json.RawMessage) (operator.JobDetail, error) {
	return d.change(ctx, id, func(b *cronjobs.Book, id cronjobs.JobID) (cronjobs.Job, error) {
		return b.Edit(ctx, id, func(j *cronjobs.Job) (err error) {
			*j, err = patched(*j, raw)
			return err
		})
	})
}

// Switch switches a job on or off.
func (d deskJobs) Switch(ctx context.Context, id string, on bool) (operator.JobDetail, error) {
	return d.change(ctx, id, func(b *cronjobs.Book, id cronjobs.JobID) (cronjobs.Job, error) { return b.Switch(ctx, id, on) })
}

func (d deskJobs) change(ctx context.Context, ref string, do func(*cronjobs.Book, cronjobs.JobID) (cronjobs.Job, error)) (operator.JobDetail, error) {
	book := d.a.JobBook()
	j, err := book.Find(ctx, ref)
	if err == nil {
		j, err = do(book, j.ID)
	}
	if err != nil {
		return operator.JobDetail{}, noJob(err)
	}
	d.a.jobs.Nudge()
	return d.detail(ctx, j)
}

// Remove takes a job away and ends its run.
func (d deskJobs) Remove(ctx context.Context, ref string) (string, error) {
	book := d.a.JobBook()
	j, err := book.Find(ctx, ref)
	if err == nil {
		j, err = book.Remove(ctx, j.ID)
	}
	if err != nil {
		return "", noJob(err)
	}
	d.a.jobs.Cancel(j.ID)
	d.a.jobs.Nudge()
	return j.Name, nil
}

// Run runs a job now.
func (d deskJobs) Run(ctx context.Context, ref string, due bool) (operator.JobAsked, error) {
	j, err := d.a.JobBook().Find(ctx, ref)
	if err != nil {
		return operator.JobAsked{}, noJob(err)
	}
	asked, run, err := d.a.jobs.RunNow(ctx, j.ID, due)
	if err != nil {
		return operator.JobAsked{}, noJob(err)
	}
	return operator.JobAsked{Result: string(asked), Run: string(run), Says: cronjobs.SayAsked(j, asked, run)}, nil
}

// Runs gives a page of a job's log; the cursor is how many lines lie in front. A
// log is short: it is read from its beginning.
func (d deskJobs) Runs(ctx context.Context, ref, cursor string, limit int) (out operator.JobRuns, err error) {
	out.Runs = []operator.JobRun{}
	skip := 0
	if cursor != "" {
		if skip, err = strconv.Atoi(cursor); err != nil || skip < 0 {
			return out, &operator.Wrong{Says: "cursor is not one that a page gave; leave it out for the first page"}
		}
	}
	id := cronjobs.JobID(ref) // of a job that is gone, too: its log stays
	if j, err := d.a.JobBook().Find(ctx, ref); err == nil {
		id = j.ID
	} else if !errors.Is(err, cronjobs.ErrNoJob) {
		return out, err
	}
	list, err := d.a.DB.Runs(ctx, cronjobs.RunsOf{Job: id, Limit: skip + limit + 1})
	if err != nil {
		return out, err
	}
	if len(list) > skip+limit {
		out.Next = strconv.Itoa(skip + limit)
	}
	for _, r := range list[min(skip, len(list)):min(skip+limit, len(list))] {
		out.Runs = append(out.Runs, viewJobRun(r))
	}
	return out, nil
}

func viewJobRun(r cronjobs.Run) operator.JobRun {
	v := operator.JobRun{ID: string(r.ID), Job: string(r.Job), Name: r.Name, Agent: string(r.Agent), Session: r.Session, Turn: r.Turn, Trigger: string(r.Trigger), Slot: r.Slot.Time(),
		Started: r.Started.Time(), Ended: r.Ended.Time(), TookMs: r.Took, Status: string(r.Status), Error: r.Error, Reason: r.Reason, Requested: r.Requested, Used: r.Used,
		Credential: r.Profile, Summary: r.Summary, CostUSD: r.Cost, Delivery: string(r.Delivery.Status), DeliveryTarget: r.Delivery.Target,
		DeliveryError: cmp.Or(r.Delivery.Error, r.Delivery.Why), Overlapped: r.Overlapped}
	if r.Tokens != nil {
		v.InputTokens, v.OutputTokens = r.Tokens.Input, r.Tokens.Output
	}
	for _, t := range r.Attempts {
		v.Tried = append(v.Tried, operator.Tried{Model: t.Model, Credential: t.Profile, Reason: t.Reason, Detail: t.Detail, Skipped: t.Skipped})
	}
	return v
}

// Fires gives when jobs fire in a time.
func (d deskJobs) Fires(ctx context.Context, from, to time.Time, limit int) (list []operator.Fire, err error) {
	all, err := d.a.DB.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		for _, at := range d.fires(j, latest(from, d.a.parts.Now()), limit) {
			if at.Before(to) {
				list = append(list, operator.Fire{At: at, Kind: "job", ID: string(j.ID), Name: j.Name, Model: j.Payload.Model})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b operator.Fire) int { return a.At.Compare(b.At) })
	return list[:min(len(list), limit)], nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
