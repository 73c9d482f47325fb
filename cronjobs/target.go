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

// Direct names the conversation in which a person is spoken to directly, as the
// channel wants it [IL-018].
type Direct func(channel, user string) (conversation string)

// latestResult is how long after its time an answer is still worth posting [R51].
const latestResult = 3 * time.Hour

// way is how the job's result leaves [R11].
func (j *Job) way() Place {
	if j.Delivery != nil {
		p := j.Delivery.Place
		if p.Mode == "" {
			p.Mode = Announce
		}
		return p
	}
	if j.Payload.Kind == AgentTurn {
		return Place{Mode: Announce, Channel: Last}
	}
	return Place{Mode: None}
}

func (j *Job) bestEffort() bool { return j.Delivery != nil && j.Delivery.BestEffort }

// destination finds where a run's answer goes before a model is asked. ok is
// false when it goes nowhere although it should: then nothing runs and nothing
// is sent [R49], unless the job asks for no more than a try.
func (s *Scheduler) destination(ctx context.Context, j Job, r *Run) (to channels.Address, ok bool) {
	p := j.way()
	r.Delivery = Delivers{Status: NotRequested, Mode: p.Mode}
	switch p.Mode {
	case None:
		return to, true
	case Webhook:
		r.Delivery.Target = hostOf(p.To)
		return to, true
	}
	to, err := s.address(ctx, r.Agent, p)
	if err == nil {
		r.Delivery.Target = spelled(to)
		return to, true
	}
	r.Delivery.Status, r.Delivery.Error = NotDelivered, err.Error()
	if j.bestEffort() {
		return to, true
	}
	*r = r.failed(whyDelivery, "nothing was asked, because the answer could not be delivered: "+err.Error())
	return to, false
}

// errNoRoute is the error of "last" where nobody has spoken to the agent yet.
var errNoRoute = errors.New(`nobody has written to the agent yet, so "last" leads nowhere; write to it once, or name a channel and a target`)

// address finds where a place is.
func (s *Scheduler) address(ctx context.Context, agent fallback.AgentID, p Place) (to channels.Address, err error) {
	if p.Channel == "" || p.Channel == Last {
		sess, err := s.Store.Session(ctx, fallback.SessionID("agent:"+string(agent)+":main"))
		if err != nil {
			return to, fmt.Errorf("read where the agent was last spoken to: %w", err)
		}
		if sess.Route.Channel == "" {
			return to, errNoRoute
		}
		return sess.Route, nil
	}
	if s.Channels != nil && !contains(s.Channels, p.Channel) {
		return to, fmt.Errorf("the channel %q is not there any more; give the job another one", p.Channel)
	}
	to = channels.Address{Channel: p.Channel, Account: p.Account, Thread: p.Thread}
	if to.Account == "default" {
		to.Account = ""
	}
	kind, id, typed := strings.Cut(p.To, ":")
	if !typed {
		kind, id = "channel", p.To
	}
	switch kind {
	case "channel", "conversation", "dm":
		to.Conversation = id
	case "thread":
		to.Conversation = id
	case "user":
		to.Conversation = id
		if s.Direct != nil {
			to.Conversation = s.Direct(p.Channel, id)
		}
	default:
		to.Conversation = p.To // an id with a colon of its own
	}
	return to, nil
}

// spelled is an address for people.
func spelled(a channels.Address) string {
	s := a.Channel
	if a.Account != "" {
		s += "/" + a.Account
	}
	if a.Conversation != "" {
		s += " " + a.Conversation
	}
	if a.Thread != "" {
		s += " thread " + a.Thread
	}
	return s
}

// verdict decides what becomes of an answer [R50, R51].
func (s *Scheduler) verdict(j Job, r Run, text string) bot.Verdict {
	due := r.Slot.Time()
	switch r.Trigger {
	case ByHand:
		due = time.Time{}
	case OnCatchUp: // late on purpose [D17]
		due = r.Started.Time()
	}
	switch late := s.Now().Sub(due); {
	case text == "":
		return bot.Verdict{Why: "the model had nothing to say"}
	case isAllWell(text):
		return bot.Verdict{Why: "the model said that all is well"}
	case !due.IsZero() && late > latestResult:
		return bot.Verdict{Why: fmt.Sprintf("it came %s late", round(late))}
	case r.Trigger == OnCatchUp:
		return bot.Verdict{Text: sayLate(r.Slot.Time(), zoneOf(j, s.Config().Home)) + "\n\n" + text}
	}
	return bot.Verdict{Text: text}
}

// isAllWell tells whether an answer is the word of a heartbeat that has nothing
// to report, and no more [R50].
func isAllWell(text string) bool {
	return strings.EqualFold(strings.Trim(text, " \t\r\n.!*_`"), "HEARTBEAT_OK")
}

// event is a run of a main job: the agent hears of it with its next turn, and
// is woken for that [R26].
func (s *Scheduler) event(ctx context.Context, j Job, r Run) Run {
	session := fallback.SessionID("agent:" + string(r.Agent) + ":main")
	r.Session = string(session)
	text := strings.TrimSpace(j.Payload.Text)
	if text == "" {
		return r.skipped(whyNoText, "the job has no text")
	}
	if err := s.Turns.Note(ctx, bot.SystemEvent{Session: session, Key: "cron:" + string(j.ID), Text: oneLine(text)}); err != nil {
		return r.failed("store", err.Error())
	}
	r.Status = OK
	why := "cron:" + string(j.ID)
	if s.Waker == nil {
		r.Summary = "the agent hears of it with its next turn"
		return r
	}
	if j.Wake == WakeNext {
		s.Waker.Request(r.Agent, why)
		r.Summary = "the agent hears of it with its next heartbeat"
		return r
	}
	return s.wake(ctx, r, why)
}

// While a turn is in the way a wake is tried again for a while, and then left
// for later [R26].
const (
	wakeAgain    = 250 * time.Millisecond
	wakePatience = 2 * time.Minute
)

func (s *Scheduler) wake(ctx context.Context, r Run, why string) Run {
	for begun := s.Now(); ; {
		busy, skipped, err := s.Waker.Wake(ctx, r.Agent, why)
		switch {
		case err != nil && ctx.Err() != nil:
			return r.failed(whyInterrupted, context.Cause(ctx).Error())
		case err != nil:
			return r.failed(reasonOf(err), err.Error())
		case skipped != "":
			return r.skipped("heartbeat", "the agent was not woken: "+skipped+"; it hears of it with its next turn")
		case !busy:
			r.Summary = "the agent was woken"
			return r
		case s.Now().Sub(begun) >= wakePatience:
			s.Waker.Request(r.Agent, why)
			r.Summary = "a turn was in the way for long; the agent hears of it after it"
			return r
		}
		if s.Sleep(ctx, wakeAgain) != nil {
			return r.failed(whyInterrupted, context.Cause(ctx).Error())
		}
	}
}
