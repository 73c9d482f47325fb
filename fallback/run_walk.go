package fallback

import (
	"context"
	"errors"
	"time"
)

// walk is one pass over one chain.
type walk struct {
	*Runner
	ask      Ask
	plan     Plan
	chain    []Model
	row      Selection // the stored selection as this walk last knew it
	book     Book
	sight    Sight // how it deals with pictures
	attempts []Attempt
	probed   map[string]bool // providers whose transient probe of this run is used up [M29]
	deadline time.Time       // of the run; zero: none
	last     error           // the last candidate's own error
	deed     deed            // what the candidate that runs has done so far
	bill     Bill            // of all calls of this walk
}

// walk tries the candidates one after the other, never side by side (1.3).
func (w *walk) walk(ctx context.Context) (*Outcome, error) {
	for i := 0; i < len(w.chain); i++ {
		if err := w.mayGoOn(ctx); err != nil {
			return nil, err
		}
		c, verdict, err := w.visit(ctx, i)
		if err != nil {
			return nil, err
		}
		if verdict = w.refuse(ctx, &c, verdict); verdict.Do == Skip {
			w.skip(ctx, c, verdict)
			continue
		}
		before, err := w.engage(ctx, c)
		if err != nil {
			return nil, err
		}
		reply, class, err := w.tryCandidate(ctx, c, verdict)
		if err == nil {
			return w.answered(ctx, c, reply)
		}
		w.last = err
		w.rollback(ctx, before)
		if ctx.Err() != nil { // the caller's abort or shutdown never advances the chain [D6, I13]
			return nil, context.Cause(ctx)
		}
		w.remember(c, verdict, class)
		move := w.advance(class, c.left)
		if errors.Is(err, ErrRunDeadline) {
			move = Stop // no candidate is begun with no time [I13]
		}
		if w.deed.acted {
			// What has been done would be done again [I8]; a choice that the user
			// makes meanwhile waits for a turn that starts clean (17.2).
			w.failed(ctx, c, class, Stop)
			break
		}
		w.deed = deed{}
		w.failed(ctx, c, class, move)
		// Who chose another model meanwhile is answered by it, even when this was
		// the last candidate and its failure the one to be told.
		next, err := w.follow(ctx, i)
		if err != nil {
			return nil, err
		}
		if move == Stop && next == i {
			break
		}
		i = next
	}
	return nil, w.summary(ctx)
}

// mayGoOn ends the walk when the caller or the run's time has ended.
func (w *walk) mayGoOn(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.overdue() {
		w.last = ErrRunDeadline
		return w.summary(ctx)
	}
	return nil
}

// overdue tells whether the run's own time is over.
func (w *walk) overdue() bool { return !w.deadline.IsZero() && !w.Now().Before(w.deadline) }

// answered ends a good run: the primary's return clears the row, the credential
// is kept for the session, and the room's told pair is decided.
func (w *walk) answered(ctx context.Context, c candidate, reply *answer) (*Outcome, error) {
	if d, ok := w.book.Succeeded(reply.attempt, w.attempts); ok {
		w.decide(ctx, d)
	}
	w.missed(c)
	out := &Outcome{Reply: *reply.reply, Used: c.model, Profile: reply.profile, Plan: w.plan, Attempts: w.attempts,
		Sight: w.sight, Said: w.deed.said, Acted: w.deed.acted, Bill: w.bill, Context: reply.reply.Tokens.Input + reply.reply.Tokens.Output}
	out.Reply.Tokens = w.deed.spent.Plus(out.Reply.Tokens)
	if w.ask.Kind != Chat || w.sight == SightLent {
		return out, nil
	}
	if !w.plan.Announces() {
		return out, nil
	}
	if err := w.settleDown(ctx, c, reply); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w.Log.Error("selection not brought up to date after an answer", "session", w.ask.Session, "model", c.model, "err", err)
	}
	if w.row.IsAuto() {
		out.Since = w.row.Since
	}
	text, told, change := Announce(w.row.Told, w.plan.Selected, c.model, w.attempts)
	if change != NoChange {
		out.Notice = text
		out.Settle = &Settle{Session: w.ask.Session, Told: told, Model: w.row.Model, Source: w.row.Source, Quiet: change == Quiet}
	}
	return out, nil
}

// remember keeps what a failed candidate teaches this run and the next ones.
func (w *walk) remember(c candidate, v Verdict, class Class) {
	if v.Transient && !FreesSlot(class.Reason) {
		w.probed[c.model.Provider] = true
	}
	if c.position > 1 && w.sight != SightLent { // primaries are never passed over for a refusal [M12]
		w.refused.Mark(w.ask.Session, c.model, class.Reason, w.ask.Config.SkipTTL, w.Now())
	}
}

// summary is the error of a walk that found no answer, with the soonest end of
// a window that blocks one of its models [M33].
func (w *walk) summary(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	e := &SummaryError{Attempts: w.attempts, Plan: w.plan, Sight: w.sight, Err: w.last, Said: w.deed.said, Acted: w.deed.acted}
	orders := map[string][]Profile{}
	usages := map[string]map[ProfileID]Usage{}
	for _, m := range w.chain {
		if _, ok := orders[m.Provider]; ok {
			continue
		}
		_, order, usage, err := w.profiles(ctx, m.Provider)
		if err != nil {
			w.Log.Error("windows not read for the summary", "provider", m.Provider, "err", err)
			continue
		}
		orders[m.Provider], usages[m.Provider] = order, usage
	}
	e.Soonest = Soonest(w.chain,
		func(m Model) []Profile { return orders[m.Provider] },
		func(m Model) map[ProfileID]Usage { return usages[m.Provider] }, w.Now())
	return e
}
