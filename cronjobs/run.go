package cronjobs

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// newRun begins a run's line in the log. The turn's id is made of the job and
// the slot: what a retry posts is the same delivery [R52].
func newRun(j *Job, by Trigger, slot Millis, attempt int, now time.Time) Run {
	name := fmt.Sprintf("%s|%d", j.ID, slot)
	if j.State.Era > 0 {
		name += fmt.Sprintf("|%d", j.State.Era)
	}
	turn := word(name)
	id := RunID(turn)
	if attempt > 0 {
		id = RunID(fmt.Sprintf("%s-%d", turn, attempt))
	}
	return Run{ID: id, Turn: turn, Job: j.ID, Name: j.Name, Agent: j.Agent, Trigger: by, Slot: slot, Attempt: attempt, Started: At(now),
		Delivery: Delivers{Status: NotRequested}}
}

// word makes an id of sixteen letters and digits: with what deliveries add it
// fits what platforms take.
func word(of string) string {
	sum := sha256.Sum256([]byte(of))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// work does a claimed run, from its begin to the writing of its end. It gives
// what is still to be done then: to see the result to its receipt.
func (s *Scheduler) work(ctx context.Context, j Job, r Run) (after func()) {
	log := s.Log.With("job", j.ID, "name", j.Name, "run", r.ID)
	log.Info("job runs", "trigger", r.Trigger, "late", s.Now().Sub(slotOr(r.Slot, r.Started)).String())
	r = s.perform(ctx, j, r)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, bot.ErrShutdown) && r.Status != OK:
		s.interrupted(context.WithoutCancel(ctx), r, "standin was stopped while it ran")
		return func() {}
	case errors.Is(cause, errRemoved):
		r.Status, r.Error, r.Reason = Failed, errRemoved.Error(), "removed"
	}
	ctx = context.WithoutCancel(ctx)
	j, r, ok := s.finish(ctx, r)
	return func() {
		if ok {
			s.seeOff(ctx, j, r)
		}
	}
}

func slotOr(slot, started Millis) time.Time {
	if slot == 0 {
		return started.Time()
	}
	return slot.Time()
}

// finish writes a run's end and what follows it for the job.
func (s *Scheduler) finish(ctx context.Context, r Run) (j Job, _ Run, ok bool) {
	cfg, now := s.Config(), s.Now()
	r.Ended, r.Took = At(now), int64(At(now)-r.Started)
	var after settled
	var posts []Outbound
	places := s.placesFor(ctx, r)
	j, err := s.changeJob(ctx, r.Job, func(j *Job) (Change, error) {
		after, posts, r.Owed = settled{}, nil, nil
		if j.State.Run != r.ID {
			return Change{Run: &r}, nil // somebody else has written its end
		}
		if j.completion() != "" {
			r.Delivery.Completion = Unclear
		}
		last, alerted := j.State.LastAlert, true
		after = settle(j, &r, cfg, now)
		if posts, alerted = s.news(*j, &r, after, places); after.alert && !alerted {
			j.State.LastAlert = last
		}
		if after.remove && r.owesCall() {
			after.remove, j.State.Leaving = false, r.ID
		}
		return Change{Write: !after.remove, Remove: after.remove, Run: &r, Posts: posts, At: now}, nil
	})
	if errors.Is(err, ErrNoJob) { // removed while it ran: its line stays [R70]
		err = s.Store.PutRun(ctx, r)
		after.remove = true
	}
	if err != nil {
		s.Log.Error("the end of a job's run was not written; the next start will look at it", "job", r.Job, "run", r.ID, "err", err)
		return j, r, false
	}
	s.Log.Info("job ended", "job", r.Job, "name", r.Name, "run", r.ID, "status", r.Status, "reason", r.Reason, "model", r.Used,
		"delivery", r.Delivery.Status, "next", r.Next.Time())
	s.send(ctx, posts)
	if after.off {
		s.note(ctx, r.Agent, "cron-off:"+string(j.ID), saySwitchedOff(j))
	}
	return j, r, true
}

// changeJob is ChangeJob with patience: an end that is not written would have
// the run counted as interrupted.
func (s *Scheduler) changeJob(ctx context.Context, id JobID, look func(*Job) (Change, error)) (j Job, err error) {
	for try := range 5 {
		if j, err = s.Store.ChangeJob(ctx, id, look); err == nil || errors.Is(err, ErrNoJob) {
			return j, err
		}
		if s.Sleep(ctx, time.Duration(try+1)*200*time.Millisecond) != nil {
			break
		}
	}
	return j, err
}

// perform does the work of a run and tells how it ended. A panic is a failed run
// like any other [IL-228].
func (s *Scheduler) perform(ctx context.Context, j Job, r Run) (out Run) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("job panicked", "job", j.ID, "run", r.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			out = r.failed(whyPanic, "a fault in standin itself; the log has the details")
		}
	}()
	if r.Agent == "" {
		r.Agent = s.Models().DefaultAgent
	}
	if j.Payload.Kind == SystemEvent {
		return s.event(ctx, j, r)
	}
	return s.turn(ctx, j, r)
}

func (r Run) failed(reason, text string) Run {
	r.Status, r.Reason, r.Error = Failed, reason, provider.Redact(text)
	if r.Delivery.Mode != "" && r.Delivery.Mode != None {
		r.Delivery.Status = NotDelivered
	}
	return r
}

func (r Run) skipped(reason, text string) Run {
	r.Status, r.Reason, r.Error = Skipped, reason, provider.Redact(text)
	return r
}

// How long a run may take [R25].
const (
	turnLimit  = time.Hour
	eventLimit = 10 * time.Minute
	// laneWait is what the job's session may be busy with others' turns, on top.
	laneWait = 10 * time.Minute
)

// limit is the run's time; below 0: no limit.
func (p Payload) limit() time.Duration {
	switch {
	case p.TimeoutSeconds == nil && p.Kind == SystemEvent:
		return eventLimit
	case p.TimeoutSeconds == nil:
		return turnLimit
	case *p.TimeoutSeconds <= 0:
		return -1
	}
	return time.Duration(*p.TimeoutSeconds) * time.Second
}

// bounded ends ctx when the run has taken its time, and that of its lane, and
// has not ended by itself.
func (s *Scheduler) bounded(ctx context.Context, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if limit < 0 {
		return ctx, func() { cancel(nil) }
	}
	watch, stop := context.WithCancel(ctx)
	go func() {
		if s.Sleep(watch, limit+laneWait) == nil {
			cancel(errTooLong)
		}
	}()
	return ctx, func() { stop(); cancel(nil) }
}

var errTooLong = errors.New("the run did not end in time")

// turn is a run of kind agentTurn.
func (s *Scheduler) turn(ctx context.Context, j Job, r Run) Run {
	models := s.Models()
	session, fresh := j.session(r.Agent)
	r.Session = string(session)
	ask, err := s.asks(ctx, j, r, models)
	r.Requested = ask.model.String()
	if err != nil {
		return r.failed(whyModel, err.Error())
	}
	to, deliver := s.destination(ctx, j, &r)
	if !deliver {
		return r
	}
	limit := j.Payload.limit()
	ctx, done := s.bounded(ctx, limit)
	defer done()
	t := bot.Turn{
		ID: r.Turn, Session: session, Agent: r.Agent, Kind: fallback.Cron, Text: j.prompt(s.Now(), s.Config().Home),
		Model: ask.own, Fallbacks: ask.fallbacks, Listed: ask.listed, Refuse: s.refuses(ctx, models),
		Fresh: fresh, Light: j.Payload.LightContext, Tools: j.Payload.ToolsAllow, Timeout: limit, To: to,
		Job: string(j.ID), Caps: j.caps(s.Config().Home), Guest: j.Guest, Chat: j.madeIn(),
	}
	if e, ok := provider.ParseEffort(j.Payload.Thinking); ok {
		t.Think = e // [R29]
	}
	acted := false
	t.Acting = func(context.Context) error { acted = true; return nil }
	interim := false
	t.Judge = func(res bot.Result) bot.Verdict {
		if interim = onlyPromises(res.Text) && t.ID == r.Turn; interim {
			return bot.Verdict{Why: "only said that it will do it", Forget: fresh}
		}
		for _, sent := range res.Sent {
			if sent.To == to {
				return bot.Verdict{Why: "the agent has posted it itself"} // [R50]
			}
		}
		return s.verdict(j, r, res.Text)
	}
	res, err := s.Turns.Turn(ctx, t)
	if err == nil && interim { // once more, for the result [R53]
		t.ID, t.Text = turnsOf(r)[1], t.Text+"\n\n"+insist(res.Text)
		res, err = s.Turns.Turn(ctx, t)
	}
	if res.Outcome != nil {
		r.answeredBy(res.Outcome)
	}
	if err != nil {
		return r.broke(err, res, acted)
	}
	r.Status, r.Summary = OK, cut(provider.Redact(res.Text), summaryMost)
	s.deliverable(j, &r, res, to)
	return r
}

// summaryMost is how much of an answer the run log keeps, in bytes.
const summaryMost = 2000

// deliverable fills in how a good run's answer leaves.
func (s *Scheduler) deliverable(j Job, r *Run, res bot.Result, to channels.Address) {
	switch {
	case r.Delivery.Mode == Webhook:
		r.Delivery.Status = Unclear
		if v := s.verdict(j, *r, res.Text); v.Text == "" {
			r.Delivery.Status, r.Delivery.Why = NotDelivered, v.Why
		}
	case res.Posted != "":
		r.Delivery.Status, r.Delivery.Post = Unclear, res.Posted
	case r.Delivery.Mode == Announce && to != (channels.Address{}):
		r.Delivery.Status, r.Delivery.Why = NotDelivered, res.Why
	}
}

// answeredBy notes who answered, after whom, and for how much.
func (r *Run) answeredBy(out *fallback.Outcome) {
	r.Used, r.Profile = out.Used.String(), string(out.Profile)
	r.Attempts = tried(out.Attempts)
	if r.Requested == "" {
		r.Requested = out.Plan.Requested.String()
	}
	t := Tokens{Input: out.Reply.Tokens.Input, Output: out.Reply.Tokens.Output}
	if t != (Tokens{}) {
		r.Tokens = &t
	}
	r.Cost = out.Bill.USD
}

func tried(attempts []fallback.Attempt) (list []Tried) {
	for _, a := range attempts {
		list = append(list, Tried{Model: a.Model.String(), Profile: string(a.Profile), Reason: string(a.Reason), Detail: a.Detail, Skipped: string(a.Skipped)})
	}
	return list
}

// broke reads the error of a turn as the end of a run. acted says that one of its
// tools may have done something that cannot be undone.
func (r Run) broke(err error, res bot.Result, acted bool) Run {
	var summary *fallback.SummaryError
	if errors.As(err, &summary) {
		r.Attempts, acted = tried(summary.Attempts), summary.Acted
		if r.Requested == "" {
			r.Requested = summary.Plan.Requested.String()
		}
	}
	reason := reasonOf(err)
	text := err.Error()
	if summary == nil && res.Failure != "" {
		text = res.Failure // in words, where the engine's own say nothing to people
	}
	if reason == whyLocalDown {
		return r.skipped(reason, text) // not the job's fault, and no vendor's [R39]
	}
	if acted {
		// No failure that passes: another try would do it twice.
		reason, text = whyActed, text+"; a tool had already done something, so this run is not tried again"
	}
	return r.failed(reason, text)
}

// reasonOf names the class of a failed run: that of its last candidate, in the
// words of cron.retry.retryOn where it is one that passes [R43].
func reasonOf(err error) string {
	var summary *fallback.SummaryError
	switch {
	case errors.Is(err, errTooLong), errors.Is(err, fallback.ErrRunDeadline):
		return whyTimeout
	case errors.Is(err, bot.ErrAborted):
		return "aborted"
	case !errors.As(err, &summary) || len(summary.Attempts) == 0:
		return "unknown"
	}
	down := true
	for _, a := range summary.Attempts {
		down = down && a.Skipped == skipLocalDown
	}
	if down {
		return whyLocalDown
	}
	// One failure that passes is enough: the next try may be answered there.
	last := ""
	for _, a := range summary.Attempts {
		last = className(a)
		if passing(last) {
			return last
		}
	}
	return last
}

func className(a fallback.Attempt) string {
	switch {
	case a.Transport != provider.NoTransport && a.Reason == fallback.Timeout && !timedOut(a.Transport):
		return "network"
	case a.Reason == "":
		return "unknown"
	}
	return string(a.Reason)
}

func timedOut(t provider.Transport) bool {
	switch t {
	case provider.ConnectTimeout, provider.FirstTokenTimeout, provider.IdleTimeout, provider.AttemptTimeout:
		return true
	}
	return false
}

func passing(class string) bool { return contains(Transients(), class) }
