package cronjobs

import (
	"context"
	"errors"
	"time"

	"standin/fallback/provider"
)

// completion is the URL that is told of each end of a run beside where its answer
// goes, "" for none (completionDestination) [R5].
func (j *Job) completion() string {
	if j.Delivery == nil || j.Delivery.Completion == nil {
		return ""
	}
	return j.Delivery.Completion.To
}

// complete tells that URL of an end, however the run went, and writes down
// whether it took it. What a crash leaves untold the next start tells.
func (s *Scheduler) complete(ctx context.Context, j Job, r Run) Run {
	to := j.completion()
	if r.Delivery.Completion != Unclear || to == "" {
		return r
	}
	text := r.Summary
	if r.Status == OK {
		text = s.wholeAnswer(ctx, r)
	} else if r.Status == Failed {
		text = sayFailure(j, r, zoneOf(j, s.Config().Home), s.Now())
	}
	cfg := s.Config()
	err := s.postPatiently(ctx, WebhookCall{URL: to, ID: string(r.ID) + "-c", Token: cfg.WebhookToken, Hosts: cfg.WebhookHosts, Event: eventOf(j, r, text)})
	if errors.Is(err, errLeft) {
		return r
	}
	r.Delivery.Completion = Delivered
	if err != nil {
		r.Delivery.Completion = NotDelivered
		s.Log.Error("the end of a job was not told to its completionDestination", "job", r.Job, "run", r.ID, "to", hostOf(to), "err", provider.Redact(err.Error()))
	}
	if err := s.record(ctx, r, nil); err != nil {
		s.Log.Error("what became of a webhook was not written", "job", r.Job, "run", r.ID, "err", err)
	}
	return r
}

// errLeft ends tries that the end of standin cut short: the next start goes on.
var errLeft = errors.New("standin is stopping")

// postPatiently calls a URL up to three times. The error is that of the last try.
// A receiver that is slow does not hold up the end of standin.
func (s *Scheduler) postPatiently(ctx context.Context, call WebhookCall) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	for try := range webhookTries {
		if err = s.Post(ctx, call); err == nil || errors.Is(err, errForGood) {
			break
		}
		if s.life.Err() != nil {
			return errLeft
		}
		if try+1 < webhookTries && s.Sleep(s.life, time.Duration(1+4*try)*time.Second) != nil {
			return errLeft
		}
	}
	return err
}

// wholeAnswer is a good run's answer as the transcript has it: the record keeps
// only its beginning, and a restart has nothing else to go by.
func (s *Scheduler) wholeAnswer(ctx context.Context, r Run) string {
	text := r.Summary
	for _, turn := range turnsOf(r) {
		if left, err := s.Store.Left(ctx, sessionOf(r), turn); err == nil && left.Text != "" {
			text = left.Text
		}
	}
	return text
}
