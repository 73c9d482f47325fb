package cronjobs

import (
	"context"
	"errors"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// places are the addresses of the chats that may hear of a run. They are found
// before the transaction that writes its end, which reads nothing else.
type places map[Place]place

// place is an address, or why there is none.
type place struct {
	to  channels.Address
	err error
}

// placesFor finds where the failure of r would be told. The job may be another
// one a moment later: then its next failure goes to the new place.
func (s *Scheduler) placesFor(ctx context.Context, r Run) places {
	if r.Status == OK {
		return nil
	}
	j, err := s.Store.Job(ctx, r.Job)
	if err != nil {
		s.Log.Warn("where a job's failure is told could not be read", "job", r.Job, "run", r.ID, "err", err)
		return nil
	}
	return s.find(ctx, r, s.failureDestination(j), s.alertPlace(j))
}

// find looks up the chats among some places.
func (s *Scheduler) find(ctx context.Context, r Run, some ...*Place) places {
	found := places{}
	for _, p := range some {
		if p == nil || p.Mode == Webhook {
			continue
		}
		to, err := s.address(ctx, r.Agent, *p)
		found[*p] = place{to, err}
	}
	return found
}

// news is what people hear of the end of r: failures in a row, and a failure that
// was to be told [R47, R48]. Webhooks are noted in r as owed. alerted is false
// when an alert had no place to go to: the next failure's may have one.
func (s *Scheduler) news(j Job, r *Run, after settled, found places) (posts []Outbound, alerted bool) {
	if r.Status == OK {
		return nil, true
	}
	zone, now := zoneOf(j, s.Config().Home), s.Now()
	each := s.failureDestination(j)
	told := false
	if each != nil && r.Status == Failed {
		posts, told = s.owe(r, posts, *each, found, OwedCall{ofFailure, sayFailure(j, *r, zone, now)})
	}
	// The last word on a one-shot job is always said, alerts or not: nobody will
	// hear of it otherwise.
	if !after.alert && !(after.gaveUp && !j.bestEffort() && (j.FailureAlert == nil || !j.FailureAlert.Off)) {
		return posts, true
	}
	to := s.alertPlace(j)
	if each != nil && r.Status == Failed && *each == *to {
		return posts, told // they read it there already [R48]
	}
	return s.owe(r, posts, *to, found, OwedCall{ofAlert, sayAlert(j, *r, zone, now)})
}

// owe has a place hear of the run: a webhook is noted, a chat gets a post. ok is
// false when there is no such chat.
func (s *Scheduler) owe(r *Run, posts []Outbound, p Place, found places, o OwedCall) (_ []Outbound, ok bool) {
	if p.Mode == Webhook {
		r.Owed = append(r.Owed, o)
		return posts, true
	}
	at, ok := found[p]
	if !ok || at.err != nil {
		s.Log.Error("a job's failure could not be told", "job", r.Job, "run", r.ID, "channel", p.Channel, "to", p.To, "text", o.Text, "err", at.err)
		return posts, false
	}
	return append(posts, r.post(at.to, o)), true
}

func (r *Run) post(to channels.Address, o OwedCall) Outbound {
	return Outbound{ID: word(string(r.ID)) + "-" + string(o.Of), To: to, Kind: channels.Failure, Text: o.Text}
}

// send has posts that are written leave now: the same delivery is not made twice.
func (s *Scheduler) send(ctx context.Context, posts []Outbound) {
	if len(posts) == 0 {
		return
	}
	if err := s.Turns.Post(ctx, posts...); err != nil {
		s.Log.Warn("a job's failure is told later: the outbox was not woken", "err", err)
	}
}

// callOwed tells webhooks of a failure and writes down each that was told, or
// that refused to hear. What a crash leaves untold the next start tells.
func (s *Scheduler) callOwed(ctx context.Context, j Job, r Run) Run {
	for len(r.Owed) > 0 {
		o := r.Owed[0]
		err := s.call(ctx, j, r, o)
		if errors.Is(err, errLeft) {
			return r
		}
		if err != nil {
			s.Log.Error("a job's failure could not be told", "job", r.Job, "run", r.ID, "text", o.Text, "err", provider.Redact(err.Error()))
		}
		r.Owed = r.Owed[1:]
		if err := s.record(ctx, r, nil); err != nil {
			s.Log.Error("that a job's failure was told is not written", "job", r.Job, "run", r.ID, "err", err)
			return r
		}
	}
	return r
}

// call tells one thing where it is to be told today.
func (s *Scheduler) call(ctx context.Context, j Job, r Run, o OwedCall) error {
	p := s.failureDestination(j)
	if o.Of == ofAlert {
		p = s.alertPlace(j)
	}
	switch {
	case p == nil || j.ID == "" && o.Of == ofAlert:
		return errors.New("the job, or its destination, is gone")
	case p.Mode == Webhook:
		cfg := s.Config()
		return s.postPatiently(ctx, WebhookCall{URL: p.To, ID: string(r.ID) + "-" + string(o.Of), Token: cfg.WebhookToken, Hosts: cfg.WebhookHosts,
			Event: eventOf(j, r, o.Text)})
	}
	to, err := s.address(ctx, r.Agent, *p) // another place since
	if err != nil {
		return err
	}
	return s.Turns.Post(ctx, r.post(to, o))
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
func (s *Scheduler) alertPlace(j Job) *Place {
	a := j.alerts(s.Config().Alert)
	if a.Mode == Webhook || a.Channel != "" || a.To != "" {
		return &a.Place
	}
	if p := j.way(); p.Mode != None {
		return &p
	}
	return &Place{Mode: Announce, Channel: Last}
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
