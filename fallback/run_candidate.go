package fallback

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"standin/fallback/provider"
)

// candidate is one place of the chain with what is known of its credentials.
type candidate struct {
	model    Model
	position int // 1-based
	left     int // candidates after it
	endpoint provider.Endpoint
	order    []Profile
	usage    map[ProfileID]Usage
	pin      Pin // for this candidate's provider, zero: none
}

// answer is what a candidate gave.
type answer struct {
	reply   *provider.Reply
	profile ProfileID
	attempt Attempt
}

// profiles reads a provider's credentials in the order in which they would be
// tried, with their windows.
func (w *walk) profiles(ctx context.Context, providerID string) (all, order []Profile, usage map[ProfileID]Usage, err error) {
	all, err = w.Credentials.Profiles(ctx, w.ask.Agent, providerID)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the credentials of %s: %w", providerID, err)
	}
	// What config names is part of the run's snapshot: a reload does not take it
	// from a turn that is under way [G9].
	for _, p := range w.ask.Config.Named {
		if authProvider(p.Provider) == authProvider(providerID) && !slices.ContainsFunc(all, func(x Profile) bool { return x.ID == p.ID }) {
			all = append(all, p)
		}
	}
	usage, err = w.Credentials.Usage(ctx, w.ask.Agent, providerID)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the windows of %s: %w", providerID, err)
	}
	order, _ = Order(w.ask.Config, providerID, all, usage, w.Now())
	return all, order, usage, nil
}

// visit gathers what stands for and against candidate i and lets Visit decide.
func (w *walk) visit(ctx context.Context, i int) (candidate, Verdict, error) {
	m := w.chain[i]
	c := candidate{model: m, position: i + 1, left: len(w.chain) - 1 - i, endpoint: w.ask.Config.Providers[m.Provider]}
	if no := w.blind(m); no != nil {
		return c, *no, nil
	}
	all, order, usage, err := w.profiles(ctx, m.Provider)
	if err != nil {
		return c, Verdict{}, err
	}
	c.order, c.usage = order, usage
	now := w.Now()
	s := standing(w.ask, w.plan, w.chain, i, all, order, usage, now)
	c.pin = s.Pin
	s.ProbeUsed = w.probed[m.Provider]
	s.LastProbe = w.throttle.Last(w.ask.Agent, m.Provider)
	s.Cached, _ = w.refused.Lookup(w.ask.Session, m, now)
	if w.sight == SightLent {
		return c, w.ungated(s), nil
	}
	v := Visit(s, now)
	if v.Do == Probe && c.position == 1 && !w.throttle.Take(w.ask.Agent, m.Provider, now) {
		s.LastProbe = now // another turn was quicker (11.4)
		v = Visit(s, now)
	}
	return c, v, nil
}

// tryCandidate rotates over the candidate's profiles until one answers or the
// rules of rotation end. The error is the last profile's own.
func (w *walk) tryCandidate(ctx context.Context, c candidate, v Verdict) (*answer, Class, error) {
	profiles := Rotate(c.order, c.usage, c.pin, c.model.Name, v.Do == Probe, w.Now())
	if len(profiles) == 0 {
		return nil, Class{Reason: v.Reason}, fmt.Errorf("no credential of %s can be used for %s now", c.model.Provider, c.model)
	}
	if v.Do == Probe {
		w.decide(ctx, w.book.Probing(w.attempt(c, v, profiles[0])))
	}
	done := map[Reason]int{}
	repeated := false
	for i, guard := 0, LoopGuard(len(profiles)); i < len(profiles) && guard > 0; guard-- {
		p := profiles[i]
		ans, class, err := w.call(ctx, c, v, p)
		if err == nil && w.asks(ans) {
			if err := w.useTools(ctx, c, ans); err != nil {
				return nil, Class{Reason: Unknown}, err
			}
			if err := w.mayCallAgain(ctx, c); err != nil {
				return nil, Class{Reason: Budget, Failover: true, Rule: "a budget is spent"}, err
			}
			guard++ // the rounds have a bound of their own
			continue
		}
		if err == nil || ctx.Err() != nil {
			return ans, class, err
		}
		if w.mend(c, class, err) {
			guard++ // mends have bounds of their own
			continue
		}
		wait := time.Duration(0)
		if !repeated && w.mayRepeat(err) {
			repeated, wait = true, repeatAfter
		} else {
			done[class.Reason]++
			if i+1 == len(profiles) || !seen(c.model, p, class, err, w.Now()).MayRotate(done, w.ask.Config.Cooldowns, len(w.chain) > 1, c.pin) {
				return nil, class, err
			}
			if class.Reason == Overloaded {
				wait = w.ask.Config.Cooldowns.OverloadedBackoff
			}
			i++
		}
		if again, gone := w.pause(ctx, c, wait); gone != nil {
			return nil, class, gone
		} else if !again {
			return nil, class, err
		}
	}
	return nil, Class{Reason: Unknown, Failover: true}, errors.New("gave up after too many credentials")
}

// repeatAfter is the wait before the one repetition of a run that has no other
// candidate [D9, T18].
const repeatAfter = 2500 * time.Millisecond

// mayRepeat tells whether a failure is a passing transport or server fault of
// a single-candidate run that has shown nothing yet [D9].
func (w *walk) mayRepeat(err error) bool {
	var e *provider.Error
	if len(w.chain) != 1 || w.ask.Kind != Chat || !errors.As(err, &e) || e.Streamed {
		return false
	}
	switch e.Transport {
	case provider.Refused, provider.Reset, provider.EOF, provider.DNSFailed, provider.OtherTransport:
		return true
	case provider.NoTransport:
		return e.Status >= 500
	}
	return false
}

// call makes one request with one profile and writes down what came of it: the
// attempt, the profile's windows, the decision.
func (w *walk) call(ctx context.Context, c candidate, v Verdict, p Profile) (*answer, Class, error) {
	started := w.Now()
	if c.model == w.plan.Primary && w.ask.Kind == Chat && w.sight != SightLent {
		w.probes.Mark(w.ask.Session, c.model, started) // when the attempt starts, not when it is planned [T14]
	}
	streamed := false
	call := provider.Call{
		Endpoint: c.endpoint, Model: c.model.Name, Profile: string(p.ID), Key: p.Key, Session: string(w.ask.Session),
		System: w.ask.System, Messages: w.messages(c), Tools: w.offer(c), Think: w.ask.Think, Limits: w.limits(c, started),
	}
	if p.Type != APIKey {
		call.Auth = provider.Bearer
	}
	// Streamed even when nobody reads along: a model that works on a long answer
	// is told from one that is silent by its pieces alone [D23].
	call.OnText = func(piece string) {
		streamed = true
		if w.ask.OnText != nil {
			w.ask.OnText(piece)
		}
	}
	reply, err := w.send(ctx, c, v, p, call)
	a := w.attempt(c, v, p)
	a.At, a.Took = started, w.Now().Sub(started)
	if err == nil {
		a.bill(reply.Tokens, w.ask.Config.FactsOf(c.model).Price, p.Type == OAuth)
		err = w.judge(reply)
	} else {
		a.Priced = !streamed // what broke off in the middle was paid for, nobody knows how much
	}
	if err == nil {
		a.OK, a.Asks = true, w.ask.Tools != nil && len(reply.Calls) > 0
		w.step(ctx, Step{What: StepAttempt, Attempt: &a})
		if err := w.usage(ctx, c, p, nil); err != nil {
			w.Log.Error("success not recorded", "profile", p.ID, "err", err)
		}
		return &answer{reply: reply, profile: p.ID, attempt: a}, Class{}, nil
	}
	if streamed && w.ask.OnDiscard != nil {
		w.ask.OnDiscard()
	}
	if ctx.Err() != nil {
		// The caller ended the call: it happened, and it says nothing of the vendor [D6, I10].
		a.Detail = clip(oneLine(provider.Redact(context.Cause(ctx).Error())), 400)
		w.step(ctx, Step{What: StepAttempt, Attempt: &a})
		return nil, Class{}, context.Cause(ctx)
	}
	class := meaning(err)
	a.fail(class, err)
	ranOut := w.ranOut(err)
	if ranOut {
		a.Code, a.Detail = codeRunDeadline, ErrRunDeadline.Error()
		err = fmt.Errorf("%w: %w", ErrRunDeadline, err)
	}
	w.step(ctx, Step{What: StepAttempt, Attempt: &a})
	w.attempts = append(w.attempts, a)
	if ranOut {
		return nil, class, err // our own clock, not the vendor: it says nothing of the credential
	}
	f := seen(c.model, p, class, err, w.Now())
	f.Asked = started
	if err := w.usage(ctx, c, p, &f); err != nil {
		w.Log.Error("failure not recorded", "profile", p.ID, "err", err)
	}
	return nil, class, err
}

// meaning is the class of a failed call, an answer that is none included.
func meaning(err error) Class {
	switch {
	case errors.Is(err, errRefused):
		return Class{Refusal: true, Rule: "the model declined"}
	case errors.Is(err, errEmpty):
		return Class{Reason: EmptyResponse, Label: LabelEmpty, Failover: true, Rule: "an answer without text"}
	}
	return Classify(SignalOf(err))
}

// codeRunDeadline is the code of an attempt that the run's own deadline ended.
const codeRunDeadline = "run_deadline"

// ranOut tells whether it was the run's time that ended the attempt, and no
// limit of the attempt's own [I13, D23].
func (w *walk) ranOut(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Transport == provider.AttemptTimeout && w.overdue()
}

// The answers that are failures although the vendor said 200 [M26, M28].
var (
	errEmpty   = errors.New("the model answered without any text")
	errRefused = errors.New("the model declined to answer")
)

// judge tells an answer from a refusal and from nothing at all. Whether a
// refusal with words counts is the vendor's stop reason's to say.
func judge(r *provider.Reply) error {
	if strings.TrimSpace(r.Text) != "" {
		return nil
	}
	if RefusalFinish(r.Finish) {
		return errRefused
	}
	return errEmpty
}

// seen is what a failure says to the profile's windows and to rotation. A
// subscription's own reset time blocks logins alone [M19]; for an API key it is
// a hint like any other, when there is no plainer one [IL-293].
func seen(m Model, p Profile, class Class, err error, now time.Time) Failed {
	f := Failed{Provider: m.Provider, Model: m.Name, Reason: class.Reason}
	var e *provider.Error
	if !errors.As(err, &e) {
		return f
	}
	f.Status, f.Transport, f.RetryAfter, f.Streamed = e.Status, e.Transport, e.RetryAfter, e.Streamed
	var windows []LimitWindow
	for _, w := range e.Windows {
		windows = append(windows, LimitWindow{Used: w.Used, Reset: w.Reset(now)})
	}
	switch reset := ResetTime(windows, now); {
	case p.Type == OAuth || p.Type == Token:
		f.Reset, f.ResetSource = reset, "codex_rate_limits"
	case f.RetryAfter == 0 && !reset.IsZero():
		f.RetryAfter = reset.Sub(now)
	}
	return f
}

// usage writes a call's effect on its profile, a success when f is nil, and
// tells the journal of windows that it opened or counted into.
func (w *walk) usage(ctx context.Context, c candidate, p Profile, f *Failed) error {
	if f != nil && (Bypasses(c.model.Provider) || !f.Penalises()) {
		return nil
	}
	now := w.Now()
	ctx = context.WithoutCancel(ctx) // what was seen is kept even if the caller has gone
	was, is, err := w.Credentials.Update(ctx, w.ask.Agent, p.ID, func(u Usage) Usage {
		if f == nil {
			return u.Success(now)
		}
		return u.After(*f, w.ask.Config.Cooldowns, now)
	})
	if err != nil || f == nil {
		return err
	}
	for _, change := range Changes(p.ID, was, is, now) {
		w.step(ctx, Step{What: change.What, Window: &change.WindowEvent})
	}
	return nil
}

// reserve is what an attempt leaves of the run's time for each candidate after
// it, and leastAttempt what it may take in any case [D23].
const (
	reserve      = 60 * time.Second
	leastAttempt = 30 * time.Second
)

// limits gives the attempt's times: the configured ones, and no more of the
// run's time than the candidates after it can spare.
func (w *walk) limits(c candidate, now time.Time) provider.Limits {
	l := w.ask.Config.Attempt
	if w.deadline.IsZero() {
		return l
	}
	rest := max(w.deadline.Sub(now), time.Millisecond) // 0 would be no limit at all
	l.Total = rest
	if c.left > 0 {
		l.Total = min(rest, max(rest-time.Duration(c.left)*reserve, leastAttempt))
	}
	return l
}
