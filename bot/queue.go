package bot

import (
	"context"
	"fmt"
	"slices"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
)

// errOvertaken ends a turn for a newer message. It is a person's wish, like a
// stop: nothing falls over for it [I13, S24].
var errOvertaken = fmt.Errorf("%w: %s", ErrAborted, whyOvertaken)

const whyOvertaken = "a newer message came"

// answer sees that the message gets a turn, perhaps together with others by the
// same person.
func (b *Bot) answer(cfg *Config, r request) {
	b.fetch(cfg, r.row)
	b.bundles.take(r, cfg.Rules.Waits(r.row.In))
}

// queue puts a request into its session's lane, as the session's queue mode says.
func (b *Bot) queue(r request) { b.enqueue(r)() }

// enqueue is queue for a caller that holds a lock: crowdedOut ends the messages
// that got no turn for it, and is to be called when the lock is free.
func (b *Bot) enqueue(r request) (crowdedOut func()) {
	s := r.row.Session
	j := job{req: &r, run: func(ctx context.Context) { b.chat(ctx, &r) }}
	var q policy.Queue
	if b.Busy(s) { // else nothing waits, and no mode matters
		q = b.queueOf(b.life, r.row)
		r.waited = true
	}
	gone, why := b.lanes.Join(s, j, q)
	return func() {
		for _, g := range gone {
			b.endAll(b.life, g, Ending{How: Silent, Why: why})
		}
	}
}

// gather takes what waits for the session's next turns into this one, where it
// may be answered together [S26].
func (b *Bot) gather(ctx context.Context, r *request) {
	if _, waiting := b.lanes.Depth(r.row.Session); waiting == 0 && !r.waited {
		return
	}
	q := b.queueOf(ctx, r.row)
	if q.Mode != policy.Collect {
		return
	}
	for {
		b.lanes.Gather(r.row.Session, func(queued []*request) bool { return !alone(queued) && policy.Merges(q, places(r, queued)) }, r.join)
		rest := q.Debounce - b.Now().Sub(r.row.At) // somebody may still be writing [S25]
		if !r.waited || rest <= 0 || b.Sleep(ctx, rest) != nil {
			return
		}
	}
}

// steer gives what people have written in the running turn's own place
// meanwhile, for the turn to take in before it goes on; "" for nothing. The turn
// answers these messages too [S24], with the rights of whom it began with: words of
// others take the owner's tools away.
func (b *Bot) steer(ctx context.Context, cfg *Config, r *request, used fallback.Tools) string {
	if _, waiting := b.lanes.Depth(r.row.Session); waiting == 0 || r.ambient {
		return ""
	}
	q := b.queueOf(ctx, r.row)
	var said []string
	b.lanes.Gather(r.row.Session, func(queued []*request) bool {
		return !alone(queued) && !withFiles(queued) && policy.Steers(q, places(r, queued))
	}, func(w request) {
		r.with = append(r.with, w.rows()...) // the message that began the turn stays the one that is answered
		r.text = policy.Joined([]string{r.text, w.prompt()})
		said = append(said, w.prompt())
	})
	if box, ok := used.(*tools.Box); ok && len(said) > 0 && b.joined(ctx, cfg, r) {
		box.At.Tainted, box.At.Taint = true, ""
	}
	return policy.Joined(said)
}

// joined tells whether a turn of several messages holds words of others than the
// person whose rights it has, the owner's apart [R71].
func (b *Bot) joined(ctx context.Context, cfg *Config, r *request) bool {
	return slices.ContainsFunc(r.with, func(row Accepted) bool {
		same := row.In.To.Channel == r.row.In.To.Channel && row.In.From.ID == r.row.In.From.ID
		return !same && !b.owns(ctx, cfg, row.In)
	})
}

// alone tells of requests that no other may be answered with.
func alone(queued []*request) bool {
	return slices.ContainsFunc(queued, func(r *request) bool { return r.compact != nil })
}

// withFiles tells of requests that came with files: a running turn cannot be shown
// them any more, the next one can.
func withFiles(queued []*request) bool {
	return slices.ContainsFunc(queued, func(r *request) bool {
		return slices.ContainsFunc(r.rows(), func(row Accepted) bool { return len(row.In.Files) > 0 })
	})
}

// places are where a request and those that wait behind it were written.
func places(r *request, queued []*request) []channels.Address {
	all := []channels.Address{r.row.In.To}
	for _, w := range queued {
		all = append(all, w.row.In.To)
	}
	return all
}

// queueOf is how the waiting messages of a session are treated [S27].
func (b *Bot) queueOf(ctx context.Context, row Accepted) policy.Queue {
	var own policy.Queue
	sess, err := b.Store.Session(ctx, row.Session)
	if err == nil {
		own, err = policy.ParseQueue(sess.Queue)
	}
	if err != nil {
		b.Log.Error("queue setting of a session not read", "session", row.Session, "err", err)
	}
	return b.Config().Rules.Queue.Of(own, row.In.To.Channel)
}

// endAll ends all messages of a request, each by itself.
func (b *Bot) endAll(ctx context.Context, r request, e Ending) (n int) {
	for _, row := range r.rows() {
		if row.ID != 0 && b.end(ctx, row, e) {
			n++
		}
	}
	return n
}

// obeyQueue shows or changes how the session's waiting messages are treated [S27].
func obeyQueue(_ context.Context, o *order) (reply, error) {
	now := func(own policy.Queue) string {
		_, waiting := o.lanes.Depth(o.row.Session)
		return sayQueue(o.cfg.Rules.Queue.Of(own, o.row.In.To.Channel), waiting)
	}
	own, err := policy.ParseQueue(o.sess.Queue)
	if err != nil {
		own = policy.Queue{} // what cannot be read is as good as nothing
	}
	switch o.args {
	case "":
		return say(now(own))
	case wordDefault, "reset":
		none := ""
		return reply{queue: &none, text: now(policy.Queue{})}, nil
	}
	change, err := policy.ParseQueue(o.args)
	if err != nil {
		return say(sayQueueRefused(err))
	}
	merged := own.Merged(change)
	text := merged.String()
	return reply{queue: &text, text: now(merged)}, nil
}

// dropWaiting takes a session's waiting messages out of what is still being held
// and out of its queue, in this order: what is released in between is in the
// queue by then. They are the caller's to end.
func (b *Bot) dropWaiting(s fallback.SessionID, cause error) []request {
	held := b.bundles.drop(s)
	return append(b.lanes.Drop(s, cause), held...)
}
