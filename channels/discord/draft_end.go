package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"standin/channels"
)

// How a draft ends: it becomes the answer, or it goes. Nothing of it may stay
// beside the answer [I2, I8].

// finish ends the draft: what still stands there waits for a Send to make it the
// answer, but not for long.
func (d *draft) finish(ctx context.Context) {
	if d.marked && d.c.cfg.RemoveAckAfterReply {
		d.c.react(ctx, http.MethodDelete, d.to.Conversation, d.message)
	}
	if d.id == "" {
		d.c.drafts.forget(d)
		return
	}
	time.AfterFunc(d.c.pace.orphan, d.drop)
}

// drop takes a closed draft away, unless a Send has decided what becomes of it.
func (d *draft) drop() {
	d.mu.Lock()
	taken := d.taken
	d.taken = true
	d.mu.Unlock()
	if taken {
		return
	}
	<-d.done
	ctx, cancel := context.WithTimeout(context.Background(), d.c.pace.call)
	defer cancel()
	if d.id != "" {
		d.remove(ctx)
	}
	d.c.drafts.forget(d)
}

// Tidy takes the drafts away whose answers were not posted, when nothing is
// posted any more: the answers come as messages of their own after the next
// start, and the halves must not stay beside them. ctx bounds it.
func (c *Channel) Tidy(ctx context.Context) {
	c.drafts.mu.Lock()
	var left []*draft
	for _, d := range c.drafts.open {
		left = append(left, d)
	}
	for _, d := range c.drafts.become {
		c.drafts.dropping.Go(func() { d.remove(ctx) })
	}
	clear(c.drafts.become)
	c.drafts.mu.Unlock()
	for _, d := range left {
		c.drafts.dropping.Go(d.drop)
	}
	done := make(chan struct{})
	go func() { c.drafts.dropping.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (ds *drafts) forget(d *draft) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.open[d.to] == d {
		delete(ds.open, d.to)
	}
}

// settle decides what becomes of the draft at a delivery's address: the id of
// the message that the delivery takes over, or "" after it was removed. Anything
// that is not the turn's answer leaves the draft alone, but ends its chance: an
// answer must not stand above what was said before it [N31].
func (ds *drafts) settle(ctx context.Context, out channels.Outbound, adoptable bool) string {
	ds.mu.Lock()
	d := ds.open[out.To]
	ds.mu.Unlock()
	if d == nil {
		return ""
	}
	d.mu.Lock()
	answer := d.closed && (out.Kind == channels.Reply || out.Kind == channels.Failure)
	if !answer || d.taken {
		d.stale = true
		d.mu.Unlock()
		return ""
	}
	d.taken = true
	stale := d.stale
	d.mu.Unlock()
	select {
	case <-d.done:
	case <-ctx.Done():
		return ""
	}
	ds.forget(d)
	if d.id == "" {
		return ""
	}
	last, _ := ds.c.latest.get(out.To.Conversation, ds.c.now())
	if adoptable && !stale && newer(d.id, last) && out.Kind == channels.Reply && d.c.adopts() && d.refers == ds.c.reference(out.To.Conversation, out.ReplyTo) {
		ds.mu.Lock()
		ds.become[out.ID] = d
		ds.mu.Unlock()
		return d.id
	}
	d.remove(ctx)
	return ""
}

// became tells that a delivery stands, in place of its draft or not.
func (ds *drafts) became(delivery string) {
	ds.mu.Lock()
	delete(ds.become, delivery)
	ds.mu.Unlock()
}

// find learns the id of a message whose posting got no answer, so that it can be
// edited or taken away: a half answer must not stay beside the whole one. The
// enforced nonce makes posting it again the question [I2]. False means that it
// is still not known whether there is one.
func (d *draft) find(ctx context.Context, times int) bool {
	for ; d.doubt.Nonce != "" && times > 0; times-- {
		id, known := d.c.echoes.get(d.doubt.Nonce, d.c.now())
		var err error
		if !known {
			id, err = d.c.create(ctx, d.to.Conversation, d.doubt, nil)
		}
		if err == nil {
			d.id, d.shown, d.doubt = id, d.doubt.Content, outgoing{}
			break
		}
		var ce *callError
		if !errors.As(err, &ce) || times == 1 || sleep(ctx, max(ce.RetryAfter, d.c.pace.edit)) != nil {
			d.c.log.Debug("a draft is not found", "conversation", d.to.Conversation, "err", err)
			break
		}
	}
	return d.doubt.Nonce == ""
}

// remove takes the message back.
func (d *draft) remove(ctx context.Context) {
	path := "channels/" + d.to.Conversation + "/messages/" + d.id
	for range tries {
		err := d.c.api.do(ctx, call{method: http.MethodDelete, path: path}, nil)
		if err == nil || statusOf(err) == http.StatusNotFound {
			d.id, d.shown = "", ""
			return
		}
		var ce *callError
		if !errors.As(err, &ce) || sleep(ctx, max(ce.RetryAfter, d.c.pace.edit)) != nil {
			break
		}
	}
	d.c.log.Warn("a draft could not be taken back", "conversation", d.to.Conversation, "message", d.id)
	d.id, d.shown = "", ""
}
