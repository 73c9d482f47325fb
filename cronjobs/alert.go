package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// tell has people hear of what they should: failures in a row, a failure that
// was to be told, a job that was switched off [R21, R47, R48].
func (s *Scheduler) tell(ctx context.Context, j Job, r Run, after settled) {
	if after.off {
		s.note(ctx, r.Agent, "cron-off:"+string(j.ID), saySwitchedOff(j))
	}
	if r.Status == OK {
		return
	}
	zone, now := zoneOf(j, s.Config().Home), s.Now()
	var told []Place
	if to := s.failureDestination(j); to != nil && r.Status == Failed {
		if s.say(ctx, j, r, *to, "f", sayFailure(j, r, zone, now)) {
			told = append(told, *to)
		}
	}
	// The last word on a one-shot job is always said, alerts or not: nobody will
	// hear of it otherwise.
	if !after.alert && !(after.gaveUp && !j.bestEffort() && (j.FailureAlert == nil || !j.FailureAlert.Off)) {
		return
	}
	to := s.alertPlace(j)
	for _, p := range told {
		if p == to {
			return // they have just read it [R48]
		}
	}
	s.say(ctx, j, r, to, "a", sayAlert(j, r, zone, now))
}

// failureDestination is where each failure of the job is told; nil: nowhere.
func (s *Scheduler) failureDestination(j Job) *Place {
	if j.bestEffort() {
		return nil
	}
	if j.Delivery != nil && j.Delivery.Destination != nil {
		return j.Delivery.Destination
	}
	return s.Config().FailureDestination
}

// alertPlace is where the job's alerts go: what its own setting or config's
// names, else to where its answers go, else to where the agent was last spoken
// to [R47].
func (s *Scheduler) alertPlace(j Job) Place {
	a := j.alerts(s.Config().Alert)
	if a.Mode == Webhook || a.Channel != "" || a.To != "" {
		return a.Place
	}
	if p := j.way(); p.Mode != None {
		return p
	}
	return Place{Mode: Announce, Channel: Last}
}

// say has a line on a failed run said at a place.
func (s *Scheduler) say(ctx context.Context, j Job, r Run, p Place, sort, text string) bool {
	log := s.Log.With("job", j.ID, "run", r.ID)
	if p.Mode == Webhook {
		if err := s.Post(ctx, WebhookCall{URL: p.To, ID: string(r.ID) + "-" + sort, Token: s.Config().WebhookToken, Hosts: s.Config().WebhookHosts,
			Event: eventOf(j, r, text)}); err != nil {
			log.Error("a job's failure could not be told", "to", hostOf(p.To), "err", err)
			return false
		}
		return true
	}
	to, err := s.address(ctx, r.Agent, p)
	if err == nil {
		id := word(string(r.ID)) + "-" + sort
		err = s.Turns.Post(ctx, channels.Outbound{ID: id, To: to, Kind: channels.Failure, Text: text})
	}
	if err != nil {
		log.Error("a job's failure could not be told", "text", text, "err", err)
	}
	return err == nil
}

// note has the agent's main session hear of something.
func (s *Scheduler) note(ctx context.Context, agent fallback.AgentID, key, text string) {
	if agent == "" {
		agent = s.Models().DefaultAgent
	}
	e := bot.SystemEvent{Session: fallback.SessionID("agent:" + string(agent) + ":main"), Key: key, Text: oneLine(text)}
	if err := s.Turns.Note(ctx, e); err != nil {
		s.Log.Error("the agent was not told", "key", key, "err", err)
	}
}

// follow sees a good run's result to its receipt: a webhook is called, a post is
// looked after until it was sent. What is not known in the end is looked at
// again now and then.
func (s *Scheduler) follow(ctx context.Context, j Job, r Run) {
	switch {
	case r.Status != OK || r.Delivery.Status != Unclear:
		return
	case r.Delivery.Mode == Webhook:
		s.callWebhook(ctx, j, r)
		return
	}
	for wait := 50 * time.Millisecond; wait < receiptPatience; wait *= 2 {
		known, err := s.receipt(ctx, j, r)
		if known || err != nil || s.Sleep(s.life, wait) != nil {
			return
		}
	}
}

// receiptPatience is the longest wait of those that look for a receipt; before
// it lie about as much again.
const receiptPatience = 16 * time.Second

// receipt looks whether a run's post was sent, and writes down what is known.
func (s *Scheduler) receipt(ctx context.Context, j Job, r Run) (known bool, err error) {
	left, err := s.Store.Left(ctx, sessionOf(r), strings.TrimSuffix(r.Delivery.Post, "-r"))
	if err != nil {
		return false, err
	}
	for _, d := range left.Posts {
		if d.ID != r.Delivery.Post {
			continue
		}
		switch d.State {
		case bot.Sent:
			r.Delivery.Status, r.Delivery.MessageID = Delivered, d.MessageID
		case bot.Refused:
			r.Delivery.Status, r.Delivery.Error = NotDelivered, d.Error
		default:
			return false, nil
		}
		return true, s.delivered(ctx, j, r)
	}
	return false, nil
}

// delivered writes down what became of a run's result.
func (s *Scheduler) delivered(ctx context.Context, j Job, r Run) error {
	_, err := s.changeJob(ctx, r.Job, func(j *Job) (Change, error) {
		if j.State.LastRun == r.Started {
			j.State.LastDelivery, j.State.DeliveryError = r.Delivery.Status, r.Delivery.Error
		}
		return Change{Write: true, Run: &r}, nil
	})
	if errors.Is(err, ErrNoJob) {
		err = s.Store.PutRun(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("write down a delivery: %w", err)
	}
	if r.Delivery.Status == NotDelivered {
		s.Log.Error("a job's answer was not delivered", "job", r.Job, "name", r.Name, "run", r.ID, "to", r.Delivery.Target, "err", r.Delivery.Error)
		lost := r
		lost.Reason, lost.Error = whyDelivery, "the answer is there and could not be delivered to "+r.Delivery.Target+": "+r.Delivery.Error
		if to := s.failureDestination(j); to != nil {
			s.say(ctx, j, lost, *to, "d", sayFailure(j, lost, zoneOf(j, s.Config().Home), s.Now()))
		} else if !j.bestEffort() {
			s.note(ctx, r.Agent, "cron-lost:"+string(r.Job), sayFailure(j, lost, zoneOf(j, s.Config().Home), s.Now()))
		}
		return nil
	}
	if p := j.way(); r.Delivery.Status == Delivered && p.Mode == Announce && p.Channel != "" && p.Channel != Last && !j.bestEffort() {
		key := "cron:" + string(j.ID)
		if j.Guest {
			key = "guest-" + key // what it says is not the owner's word
		}
		s.note(ctx, r.Agent, key, sayAware(j, r)) // [R54]
	}
	return nil
}
