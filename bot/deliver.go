package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"standin/channels"
	"standin/fallback/provider"
)

// How the outbox behaves.
const (
	sendTimeout   = time.Minute         // of one call to an adapter
	firstSendWait = time.Second         // after a send that certainly failed, doubling
	lastSendWait  = time.Minute         // up to this
	sendMaxAge    = 24 * time.Hour      // a delivery that could not be sent for so long is given up
	maxLooks      = 3                   // tries to find out about an ambiguous send
	perChannel    = 8                   // sends of one channel side by side
	horizon       = 30 * 24 * time.Hour // how far ahead the outbox reads its own agenda
)

// outbox posts what the store says is owed, at run time and after a restart by
// the same code. It keeps no list of its own: the rows are the queue, in order
// for each address [N31]; what is in memory is only who is busy.
type outbox struct {
	b *Bot

	mu       sync.Mutex
	reading  bool // somebody reads the agenda
	again    bool // and has to read it once more
	busy     map[channels.Address]bool
	perChan  map[string]int
	looks    map[string]int // tries to find out about a delivery [I2]
	wake     time.Time      // when the sleeper, if any, kicks
	sleeper  context.CancelFunc
	sleeping int
	waiters  []waiter
}

// waiter waits until nothing can be sent now, or, with all, until no goroutine
// of the outbox is left.
type waiter struct {
	done chan struct{}
	all  bool
}

func newOutbox(b *Bot) *outbox {
	return &outbox{b: b, busy: map[channels.Address]bool{}, perChan: map[string]int{}, looks: map[string]int{}}
}

// kick makes the outbox read its agenda. It returns at once.
func (o *outbox) kick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kickLocked()
}

func (o *outbox) kickLocked() {
	if o.b.life.Err() != nil {
		o.tellLocked() // nothing is begun any more
		return
	}
	if o.reading {
		o.again = true
		return
	}
	o.reading = true
	go o.read()
}

// read starts what is due and sleeps until the rest is.
func (o *outbox) read() {
	for {
		now := o.b.Now()
		rows, err := o.b.Store.Due(context.WithoutCancel(o.b.life), now.Add(horizon))
		o.mu.Lock()
		wake := time.Time{}
		if err != nil {
			o.b.Log.Error("outbox not read, trying again", "err", err)
			wake = now.Add(lastWait)
		}
		for _, d := range rows {
			switch {
			case o.busy[d.To]:
			case d.Next.After(now):
				if wake.IsZero() || d.Next.Before(wake) {
					wake = d.Next
				}
			case o.perChan[d.To.Channel] >= perChannel:
			case o.b.life.Err() == nil:
				o.busy[d.To] = true
				o.perChan[d.To.Channel]++
				go o.deliver(d)
			}
		}
		o.sleepLocked(wake)
		if !o.again || o.b.life.Err() != nil {
			o.reading = false
			o.tellLocked()
			o.mu.Unlock()
			return
		}
		o.again = false
		o.mu.Unlock()
	}
}

// sleepLocked sees to it that the outbox is kicked at wake (zero: not needed).
func (o *outbox) sleepLocked(wake time.Time) {
	if wake.Equal(o.wake) {
		return
	}
	if o.sleeper != nil {
		o.sleeper()
		o.sleeper = nil
	}
	o.wake = wake
	if wake.IsZero() || o.b.life.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(o.b.life)
	o.sleeper = cancel
	o.sleeping++
	go func() {
		err := o.b.Sleep(ctx, wake.Sub(o.b.Now()))
		cancel()
		o.mu.Lock()
		o.sleeping--
		if err == nil && o.wake.Equal(wake) {
			o.wake, o.sleeper = time.Time{}, nil
		}
		if err == nil {
			o.kickLocked() // before anybody can see the outbox at rest
		}
		o.tellLocked()
		o.mu.Unlock()
	}()
}

// settled waits until nothing can be sent now.
func (o *outbox) settled(ctx context.Context) error { return o.wait(ctx, false) }

// ended waits until no goroutine of the outbox is left; after the bot's life.
func (o *outbox) ended(ctx context.Context) error { return o.wait(ctx, true) }

func (o *outbox) wait(ctx context.Context, all bool) error {
	o.mu.Lock()
	w := waiter{make(chan struct{}), all}
	o.waiters = append(o.waiters, w)
	o.tellLocked()
	o.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *outbox) tellLocked() {
	if o.reading || len(o.busy) > 0 {
		return
	}
	o.b.Stirred()
	var rest []waiter
	for _, w := range o.waiters {
		if w.all && o.sleeping > 0 {
			rest = append(rest, w)
			continue
		}
		close(w.done)
	}
	o.waiters = rest
}

// deliver sees to one delivery: claim it, post it, write down what became of it.
func (o *outbox) deliver(d Delivery) {
	o.attempt(d)
	o.mu.Lock()
	delete(o.busy, d.To)
	if o.perChan[d.To.Channel]--; o.perChan[d.To.Channel] == 0 {
		delete(o.perChan, d.To.Channel)
	}
	o.kickLocked()
	o.mu.Unlock()
}

// attempt is one try: nothing is sent that is not claimed, and nothing claimed
// stays without a mark unless the process dies. That is then what
// Store.Interrupted finds.
func (o *outbox) attempt(d Delivery) {
	ambiguous := d.State == Unknown
	if !o.claim(d) {
		return
	}
	ctx, cancel := context.WithTimeout(o.b.life, sendTimeout)
	defer cancel()
	d.Attempts++
	ch := o.b.Channels[d.To.Channel]
	switch {
	case ch == nil:
		d.State, d.Error = Refused, "there is no channel "+d.To.Channel
	case ambiguous && !o.mayPost(ctx, ch, &d):
	case !o.clear(ctx, &d):
	default:
		o.send(ctx, ch, &d)
	}
	o.mark(d)
}

// claim takes the delivery. When a claim fails and the next one finds it taken,
// it is ours: one process drains an outbox, and nothing was sent in between.
func (o *outbox) claim(d Delivery) bool {
	doubt, mine := false, false
	err := o.b.retry(o.b.life, claimTries, func() error {
		ok, err := o.b.Store.Claim(context.WithoutCancel(o.b.life), d.ID)
		mine = ok || doubt && err == nil
		doubt = doubt || err != nil
		return err
	})
	if err != nil {
		o.b.Log.Error("delivery not claimed", "delivery", d.ID, "err", err)
		// It may be taken all the same; the mark frees it for the next reading.
		d.Next, d.Error = o.b.Now().Add(lastWait), "could not be claimed"
		o.mark(d)
	}
	return mine
}

const claimTries = 4

// mayPost decides about a delivery that may have been posted already [I2]: the
// channel looks. When that cannot be known, a notice counts as sent, for a
// second one would break its promise, and a reply is posted again, for a lost
// answer is worse than a repeated one.
func (o *outbox) mayPost(ctx context.Context, ch channels.Channel, d *Delivery) bool {
	finder, can := ch.(channels.Finder)
	if can {
		r, posted, err := finder.Find(ctx, d.Outbound)
		switch {
		case err == nil && posted:
			d.State, d.MessageID, d.Error = Sent, r.MessageID, ""
			return false
		case err == nil:
			return true
		case errors.Is(err, errors.ErrUnsupported): // the surface can never tell
		case o.b.life.Err() != nil || o.looked(d.ID) < maxLooks:
			d.State, d.Next, d.Error = Unknown, o.b.Now().Add(backoff(d.Attempts)), provider.Redact(err.Error())
			return false
		}
	}
	if d.Kind == channels.Notice {
		d.State, d.Error = Sent, "may not have arrived"
		return false
	}
	return true
}

func (o *outbox) looked(id string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks[id]++
	return o.looks[id]
}

// clear takes away what a former process showed of the answer, before it is
// posted whole. One that cannot be taken away holds the answer up for a few
// tries only.
func (o *outbox) clear(ctx context.Context, d *Delivery) bool {
	err := o.b.leftovers.clear(ctx, d.Turn)
	if err != nil {
		d.State, d.Next, d.Error = Pending, o.b.Now().Add(backoff(d.Attempts)), provider.Redact(err.Error())
	}
	return err == nil
}

// send posts the delivery and reads off what is known of it afterwards.
//
// A refusal is for good, a refused notice's too: the room's told pair stays, so
// that the change is not told twice, and /status still shows it [N7, I3].
func (o *outbox) send(ctx context.Context, ch channels.Channel, d *Delivery) {
	r, err := o.post(ctx, ch, d.Outbound)
	if err == nil {
		d.State, d.MessageID, d.Error = Sent, r.MessageID, ""
		return
	}
	d.Error = provider.Redact(err.Error())
	now := o.b.Now()
	var known *channels.SendError
	outcome := channels.OutcomeOf(err)
	if !errors.As(err, &known) && ctx.Err() != nil {
		outcome = channels.Unknown // cut off in the middle by our own timeout or end
	}
	switch outcome {
	case channels.Refused:
		d.State = Refused
	case channels.Unknown:
		d.State, d.Next = Unknown, now.Add(backoff(d.Attempts))
	default:
		d.State, d.Next = Pending, now.Add(backoff(d.Attempts))
		if known != nil && now.Add(known.RetryAfter).After(d.Next) {
			d.Next = now.Add(known.RetryAfter)
		}
	}
	if d.State != Refused && now.Sub(d.Created) > sendMaxAge {
		d.State, d.Error = Refused, "given up after "+sendMaxAge.String()+": "+d.Error
	}
}

// post calls the channel. A panic in it is one send whose fate is not known,
// not the end of the daemon.
func (o *outbox) post(ctx context.Context, ch channels.Channel, out channels.Outbound) (r channels.Receipt, err error) {
	defer func() {
		if p := recover(); p != nil {
			o.b.Log.Error("a send panicked", "delivery", out.ID, "channel", out.To.Channel, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &channels.SendError{Outcome: channels.Unknown, Err: errors.New("the channel broke while sending")}
		}
	}()
	return ch.Send(ctx, out)
}

// mark writes down what became of a claimed delivery, however long the store
// takes to take it: until then a restart would have to look.
func (o *outbox) mark(d Delivery) {
	wait := firstWait
	for {
		err := o.b.Store.Mark(context.WithoutCancel(o.b.life), d)
		if err == nil {
			break
		}
		o.b.Log.Error("delivery not marked, trying again", "delivery", d.ID, "state", d.State, "err", err)
		if o.b.Sleep(o.b.life, wait) != nil {
			return
		}
		wait = min(2*wait, lastWait)
	}
	log := o.b.Log.With("delivery", d.ID, "kind", d.Kind, "channel", d.To.Channel)
	switch d.State {
	case Sent:
		log.Debug("delivered", "message", d.MessageID, "attempts", d.Attempts)
	case Refused:
		log.Error("delivery refused", "err", d.Error)
	default:
		log.Warn("delivery not through yet", "state", d.State, "next", d.Next, "err", d.Error)
		return
	}
	o.mu.Lock()
	delete(o.looks, d.ID)
	o.mu.Unlock()
	o.b.ledger.settle(d.ID)
	o.b.leftovers.delivered(d.Turn)
}

// backoff is the wait after the n-th try.
func backoff(n int) time.Duration {
	return min(firstSendWait<<min(max(n-1, 0), 10), lastSendWait)
}
