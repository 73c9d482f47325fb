package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"standin/bot"
)

// seeOff does what is left once a run's end is written: webhooks hear of it, and
// its answer is followed to the receipt.
func (s *Scheduler) seeOff(ctx context.Context, j Job, r Run) {
	s.follow(ctx, j, s.complete(ctx, j, s.callOwed(ctx, j, r)))
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

// delivered writes down what became of a run's result, and has people hear of one
// that was lost.
func (s *Scheduler) delivered(ctx context.Context, j Job, r Run) error {
	var posts []Outbound
	if r.Delivery.Status == NotDelivered {
		s.Log.Error("a job's answer was not delivered", "job", r.Job, "name", r.Name, "run", r.ID, "to", r.Delivery.Target, "err", r.Delivery.Error)
		lost := r
		lost.Reason, lost.Error = whyDelivery, "the answer is there and could not be delivered to "+r.Delivery.Target+": "+r.Delivery.Error
		text := sayFailure(j, lost, zoneOf(j, s.Config().Home), s.Now())
		if to := s.failureDestination(j); to != nil {
			posts, _ = s.owe(&r, nil, *to, s.find(ctx, r, to), OwedCall{ofLoss, text})
		} else if !j.bestEffort() {
			// Before it is written: a note that is made again is the same note.
			s.note(ctx, r.Agent, "cron-lost:"+string(r.Job), text)
		}
	} else if p := j.way(); r.Delivery.Status == Delivered && p.Mode == Announce && p.Channel != "" && p.Channel != Last && !j.bestEffort() {
		key := "cron:" + string(j.ID)
		if j.Guest {
			key = "guest-" + key // what it says is not the owner's word
		}
		s.note(ctx, r.Agent, key, sayAware(j, r)) // [R54]
	}
	if err := s.record(ctx, r, posts); err != nil {
		return fmt.Errorf("write down a delivery: %w", err)
	}
	s.send(ctx, posts)
	if len(r.Owed) > 0 { // whoever looks for receipts does not wait for that
		s.works.Go(func() { s.callOwed(context.WithoutCancel(ctx), j, r) })
	}
	return nil
}

// record writes what is known of the way of a run's result, with the posts that
// tell of it. A job that was to go goes with the last webhook that it owed.
func (s *Scheduler) record(ctx context.Context, r Run, posts []Outbound) error {
	now := s.Now()
	_, err := s.changeJob(ctx, r.Job, func(j *Job) (Change, error) {
		if j.State.LastRun == r.Started {
			j.State.LastDelivery, j.State.DeliveryError = r.Delivery.Status, r.Delivery.Error
		}
		gone := j.State.Leaving == r.ID && !r.owesCall()
		return Change{Write: !gone, Remove: gone, Run: &r, Posts: posts, At: now}, nil
	})
	if errors.Is(err, ErrNoJob) {
		err = s.Store.PutRun(ctx, r)
	}
	return err
}
