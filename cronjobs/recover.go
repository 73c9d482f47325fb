package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"standin/fallback"
)

func sessionOf(r Run) fallback.SessionID { return fallback.SessionID(r.Session) }

// recover looks at the runs that a former process did not end [R57].
func (s *Scheduler) recover(ctx context.Context) error {
	open, err := s.Store.Runs(ctx, RunsOf{Unended: true})
	if err != nil {
		return fmt.Errorf("look for runs of jobs that were cut short: %w", err)
	}
	unread := map[JobID]bool{}
	for _, r := range open {
		if !s.interrupted(ctx, r, "standin ended while it ran") {
			unread[r.Job], s.former[r.ID] = true, true
		}
	}
	// A mark without a run cannot come of our own transactions; a copied or
	// mended database may have one.
	jobs, err := s.Store.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("look for jobs that are marked as running: %w", err)
	}
	for _, j := range jobs {
		if j.State.Running == 0 || unread[j.ID] {
			continue
		}
		if _, err := s.changeJob(ctx, j.ID, func(j *Job) (Change, error) {
			j.State.Running, j.State.Run = 0, ""
			return Change{Write: true}, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// interrupted ends a run that was cut short. If its turn has written its answer
// the run has ended well: what the outbox holds will be posted, and nothing is
// run again. Otherwise it counts as a failure. It tells whether that is known.
func (s *Scheduler) interrupted(ctx context.Context, r Run, why string) (known bool) {
	session, err := s.ranIn(ctx, r)
	if err == nil && session != "" {
		r.Session = string(session)
		err = s.traces(ctx, &r)
	}
	if err != nil {
		s.Log.Error("what an interrupted run left could not be read", "job", r.Job, "run", r.ID, "err", err)
		return false // its mark stays for the next look
	}
	if r.Status != OK {
		r = r.failed(whyInterrupted, why)
		r.Delivery.Status = NotDelivered
	}
	_, _, known = s.finish(ctx, r)
	return known
}

// ranIn is the session of a run whose line does not say it yet.
func (s *Scheduler) ranIn(ctx context.Context, r Run) (fallback.SessionID, error) {
	if r.Session != "" {
		return sessionOf(r), nil
	}
	j, err := s.Store.Job(ctx, r.Job)
	if errors.Is(err, ErrNoJob) {
		return "", nil // nothing can be known, and nothing follows
	}
	if err != nil {
		return "", err
	}
	agent := j.Agent
	if agent == "" {
		agent = s.Models().DefaultAgent
	}
	session, _ := j.session(agent)
	return session, nil
}

// turnsOf are a run's turns: the second asks for the result when the first gave a
// promise alone [R53].
func turnsOf(r Run) [2]string { return [2]string{r.Turn, r.Turn + "2"} }

// traces makes a run good whose turn has written its answer.
func (s *Scheduler) traces(ctx context.Context, r *Run) error {
	j, err := s.Store.Job(ctx, r.Job)
	if err != nil && !errors.Is(err, ErrNoJob) {
		return err // without it a webhook's answer would count as asked for by nobody
	}
	for _, turn := range turnsOf(*r) {
		left, err := s.Store.Left(ctx, sessionOf(*r), turn)
		if err != nil {
			return err
		}
		if len(left.Posts) == 0 && (!left.Answered || onlyPromises(left.Text)) {
			continue
		}
		r.Status, r.Error, r.Reason = OK, "", ""
		r.Used, r.Summary = left.Model.String(), cut(left.Text, summaryMost)
		r.Delivery = Delivers{Status: NotRequested, Mode: j.way().Mode}
		switch p := j.way(); {
		case len(left.Posts) > 0:
			first := left.Posts[0]
			r.Delivery = Delivers{Status: Unclear, Mode: Announce, Post: first.ID, Target: spelled(first.To)}
			if r.Summary == "" {
				r.Summary = cut(first.Text, summaryMost)
			}
		case p.Mode == Webhook:
			r.Delivery.Status, r.Delivery.Target = Unclear, hostOf(p.To)
		case p.Mode == Announce:
			r.Delivery.Status, r.Delivery.Why = NotDelivered, "there was nothing to post"
		}
		return nil
	}
	return nil
}

// lookForMissed plans what was missed while nobody looked, once per job and
// spread, or passes it over [R58–R60, D17].
func (s *Scheduler) lookForMissed(ctx context.Context) error {
	cfg, now := s.Config(), s.Now()
	jobs, err := s.Store.Jobs(ctx)
	if err != nil {
		return fmt.Errorf("look for missed jobs: %w", err)
	}
	if !cfg.Enabled {
		return nil
	}
	places := &spread{now: now}
	for _, j := range jobs {
		var slot time.Time
		var over *Run
		anew := false
		_, err := s.changeJob(ctx, j.ID, func(j *Job) (Change, error) {
			slot, over, anew = time.Time{}, nil, false
			t, err := j.ready(cfg.Home)
			if err != nil {
				return Change{}, nil // its next claim counts that
			}
			found := false
			if slot, found = missed(j, t, now); !found {
				if j.Enabled && j.State.Next == 0 && j.State.Running == 0 && t.kind != KindAt {
					err := j.plan(t, now) // lost its next time: a mended database
					return Change{Write: err == nil}, nil
				}
				anew = replan(j, t, now)
				return Change{Write: anew}, nil
			}
			over = makeUp(j, t, cfg, slot, places)
			return Change{Write: true, Run: over}, nil
		})
		if err != nil {
			return fmt.Errorf("plan the missed job %s: %w", j.ID, err)
		}
		switch {
		case over != nil:
			s.Log.Warn("missed job passed over", "job", j.ID, "name", j.Name, "slot", slot, "why", over.Error)
		case !slot.IsZero():
			s.Log.Info("missed job will run", "job", j.ID, "name", j.Name, "slot", slot)
		case anew:
			s.Log.Warn("job planned anew: this machine's clock or time zone is another than when it was planned", "job", j.ID, "name", j.Name, "was", j.State.Next.Time())
		}
	}
	return nil
}

const (
	stuckAfter = 2 * time.Hour   // a mark of nobody's [R24]
	tidyGap    = 5 * time.Minute // between two sweeps
	forgetGap  = time.Hour       // between two of what jobs said [R64]
)

// upkeep looks after what nobody waits for: marks of processes that are gone,
// results whose receipt is still missing, old lines.
func (s *Scheduler) upkeep(ctx context.Context, cfg *Config, now time.Time) {
	if now.Sub(s.tidied) < tidyGap {
		return
	}
	first := s.tidied.IsZero()
	s.tidied = now
	if err := s.tidy(ctx, cfg, now, first); err != nil && ctx.Err() == nil {
		s.Log.Warn("the jobs' rows were not tidied", "err", err)
	}
}

func (s *Scheduler) tidy(ctx context.Context, cfg *Config, now time.Time, first bool) error {
	open, err := s.Store.Runs(ctx, RunsOf{Unended: true})
	if err != nil {
		return err
	}
	for _, r := range open {
		switch {
		case s.former[r.ID]:
			if s.interrupted(ctx, r, "standin ended while it ran") {
				delete(s.former, r.ID)
			}
		case !s.hasHere(r.Job) && now.Sub(r.Started.Time()) > stuckAfter:
			s.interrupted(ctx, r, "it was marked as running for more than two hours and nobody ran it")
		}
	}
	unclear, err := s.Store.Runs(ctx, RunsOf{Delivering: true})
	if err != nil {
		return err
	}
	for _, r := range unclear {
		s.lookAfter(ctx, r, now, first)
	}
	if cfg.KeepLines > 0 {
		for _, id := range s.haveRun() {
			if err := s.Store.PruneRuns(ctx, id, cfg.KeepLines); err != nil {
				return err
			}
		}
	}
	if cfg.SessionRetention > 0 && now.Sub(s.forgot) >= forgetGap {
		s.forgot = now
		_, err = s.Store.PruneSaid(ctx, now.Add(-cfg.SessionRetention))
	}
	return err
}

// haveRun gives the jobs that have run since the last sweep.
func (s *Scheduler) haveRun() (ids []JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.ran {
		ids = append(ids, id)
	}
	clear(s.ran)
	return ids
}

// followed is how long whoever ran a job sees to its result: the tries of two
// webhooks, or of a receipt, and some more.
const followed = 5 * time.Minute

// lookAfter follows a result whose fate was not known when its run ended. After
// the time that the outbox itself tries, nobody will know any more.
func (s *Scheduler) lookAfter(ctx context.Context, r Run, now time.Time, first bool) {
	j, err := s.Store.Job(ctx, r.Job)
	switch {
	case !first && now.Sub(r.Ended.Time()) < followed:
		return // whoever ran it looks after it
	case err != nil && !errors.Is(err, ErrNoJob):
		s.Log.Warn("what a job still owes is looked at again later: it cannot be read", "job", r.Job, "run", r.ID, "err", err)
		return
	case len(r.Owed) > 0, r.Delivery.Completion == Unclear && j.completion() != "":
		s.works.Go(func() { s.seeOff(context.WithoutCancel(ctx), j, r) })
		return
	case r.Delivery.Status != Unclear:
		r.Delivery.Completion = NotDelivered // the job, or its URL, is gone
		if err := s.record(ctx, r, nil); err != nil {
			s.Log.Warn("what became of a webhook was not written", "job", r.Job, "run", r.ID, "err", err)
		}
		return
	case err == nil && r.Delivery.Mode == Webhook:
		s.works.Go(func() { s.callWebhook(context.WithoutCancel(ctx), j, r) })
		return
	}
	known, err := s.receipt(ctx, j, r)
	if err == nil && !known && now.Sub(r.Ended.Time()) > 25*time.Hour {
		r.Delivery.Status, r.Delivery.Error = NotDelivered, "nobody can tell what became of it"
		err = s.delivered(ctx, j, r)
	}
	if err != nil {
		s.Log.Warn("the fate of a job's answer is not known", "job", r.Job, "run", r.ID, "err", err)
	}
}
