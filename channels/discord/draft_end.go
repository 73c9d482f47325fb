package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
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
		if d.doubt.Nonce != "" {
			d.left(ctx)
		} else {
			d.gone(ctx)
		}
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
		d.mu.Lock()
		d.taken = false // for the next try, or for Tidy
		d.mu.Unlock()
		return ""
	}
	ds.forget(d)
	if d.id == "" {
		return ""
	}
	last, _ := ds.c.latest.Get(out.To.Conversation, ds.c.now())
	if adoptable && !stale && newer(d.id, last) && out.Kind == channels.Reply && d.c.adopts() && d.refers == ds.c.reference(out.To.Conversation, out.ReplyTo) {
		ds.mu.Lock()
		ds.become[out.ID] = d
		ds.mu.Unlock()
		return d.id
	}
	d.remove(ctx)
	return ""
}

// became tells that a delivery stands as the message id, "" if it never will. A
// draft that it did not take over is taken away.
func (ds *drafts) became(ctx context.Context, delivery, id string) {
	ds.mu.Lock()
	d := ds.become[delivery]
	delete(ds.become, delivery)
	ds.mu.Unlock()
	if d != nil && d.id != id {
		d.remove(ctx)
	}
}

// find learns the id of a message whose posting got no answer, so that it can be
// edited or taken away: a half answer must not stay beside the whole one. The
// enforced nonce makes posting it again the question [I2]. False means that it
// is still not known whether there is one.
func (d *draft) find(ctx context.Context, times int) bool {
	for ; d.doubt.Nonce != "" && times > 0; times-- {
		id, known := d.c.echoes.Get(d.doubt.Nonce, d.c.now())
		var err error
		if !known {
			id, err = d.c.create(ctx, d.to.Conversation, d.doubt, nil)
		}
		if err == nil {
			d.id, d.shown, d.doubt = id, d.doubt.Content, outgoing{}
			d.record(ctx, d.shown)
			break
		}
		var ce *callError
		if !errors.As(err, &ce) || times == 1 || channels.Sleep(ctx, max(ce.RetryAfter, d.c.pace.edit)) != nil {
			d.c.log.Debug("a draft is not found", "conversation", d.to.Conversation, "err", err)
			break
		}
	}
	return d.doubt.Nonce == ""
}

// remove takes the message back.
func (d *draft) remove(ctx context.Context) {
	err := d.c.take(ctx, d.to.Conversation, d.id)
	if err != nil {
		d.c.log.Warn("a draft could not be taken back", "conversation", d.to.Conversation, "message", d.id, "err", err)
		d.left(ctx)
	} else {
		d.gone(ctx)
	}
	d.id, d.shown = "", ""
}

// take deletes a message of ours; one that is gone is taken.
func (c *Channel) take(ctx context.Context, conversation, id string) error {
	for try := 1; ; try++ {
		err := c.api.do(ctx, call{method: http.MethodDelete, path: "channels/" + conversation + "/messages/" + id}, nil)
		if err == nil || statusOf(err) == http.StatusNotFound {
			return nil
		}
		var ce *callError
		if try == tries || !errors.As(err, &ce) || channels.Sleep(ctx, max(ce.RetryAfter, c.pace.edit)) != nil {
			return err
		}
	}
}

// record writes the draft into the book: what it shows first, before it is
// posted, and the id of its message when that is known. False means that it must
// not be posted: nobody could find it after this process.
func (d *draft) record(ctx context.Context, text string) bool {
	if d.book == nil || d.noted.ID != "" && d.noted.MessageID == d.id {
		return true
	}
	m := d.noted
	if m.ID == "" {
		m = channels.DraftMark{ID: d.nonce, To: d.to, Text: text, At: d.c.now()}
	}
	m.MessageID = d.id
	if err := d.book.Keep(ctx, m); err != nil {
		d.c.log.Warn("a draft is not written down", "conversation", d.to.Conversation, "err", err)
		return false
	}
	d.noted = m
	return true
}

// gone and left tell the book, if it knows of the draft, what became of it.
func (d *draft) gone(ctx context.Context) {
	if d.noted.ID != "" {
		d.book.Gone(ctx, d.noted.ID)
		d.noted = channels.DraftMark{}
	}
}

func (d *draft) left(ctx context.Context) {
	if d.noted.ID != "" {
		d.book.Left(ctx, d.noted.ID)
		d.noted = channels.DraftMark{} // it is no longer ours to tell of
	}
}

// Retract implements channels.Retractor. A message whose id is not known is
// looked for among our own of that moment: by its nonce, or by what it showed.
func (c *Channel) Retract(ctx context.Context, m channels.DraftMark) error {
	id := m.MessageID
	if id == "" {
		var err error
		if id, err = c.drawn(ctx, m); err != nil {
			return sendError(err)
		}
	}
	if id == "" {
		return nil
	}
	if err := c.take(ctx, m.To.Conversation, id); err != nil {
		return sendError(err)
	}
	return nil
}

// drawAround is how long before and after it was written down a draft can have
// been posted: clocks differ, and calls wait.
const drawAround = time.Minute

// drawn finds the message of a draft, "" when there is none.
func (c *Channel) drawn(ctx context.Context, m channels.DraftMark) (string, error) {
	if id, known := c.echoes.Get(m.ID, c.now()); known {
		return id, nil
	}
	self, err := c.whoAmI(ctx)
	if err != nil {
		return "", err
	}
	query := url.Values{"limit": {"100"}, "after": {snowflakeAt(m.At.Add(-drawAround))}}
	history, err := c.history(ctx, m.To.Conversation, query)
	if codeOf(err) == codeUnknownChannel {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for i := len(history) - 1; i >= 0; i-- { // oldest first
		var p posted
		if json.Unmarshal(history[i], &p) != nil || p.Author.ID != self || timeOf(p.ID).After(m.At.Add(drawAround)) {
			continue
		}
		if n, told := p.Nonce.(string); told && n != "" {
			if n == m.ID {
				return p.ID, nil
			}
			continue // it is something else
		}
		if _, claimed := c.claims.Get(p.ID, c.now()); !claimed && strings.TrimSpace(p.Content) == strings.TrimSpace(m.Text) {
			return p.ID, nil
		}
	}
	return "", nil
}
