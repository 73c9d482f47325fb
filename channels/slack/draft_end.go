package slack

import (
	"context"
	"errors"

	"standin/channels"
)

// How a draft ends: it becomes the answer, or it goes. Nothing of it may stay
// beside the answer [I2, I8].

// findTries bounds the looks for a message of a draft that is closed.
const findTries = 3

// find learns the id of a message whose posting got no answer, so that it can be
// edited or taken away: a half answer must not stay beside the whole one [I2].
// False means that it is still not known whether there is one.
func (d *draft) find(tries int) bool {
	for ; d.doubt && tries > 0; tries-- {
		p := &progress{parts: make([]string, 1)}
		err := d.c.lookFor(d.ctx, d.id, d.to.Conversation, d.thread, stampOf(d.since.Add(-clockSkew)), p)
		if err == nil {
			if d.ts, d.doubt = p.parts[0], false; d.ts != "" {
				d.record("")
			}
			break
		}
		if tries == 1 || channels.Sleep(d.ctx, max(d.c.pace.update, retryAfter(err))) != nil {
			d.c.log.Debug("draft not found", "conversation", d.to.Conversation, "err", plainError(err))
			break
		}
	}
	return !d.doubt
}

// removeTries bounds the tries to take a message away.
const removeTries = 4

// remove deletes a message of ours; one that is gone is removed.
func (c *Channel) remove(ctx context.Context, conversation, ts string) error {
	for try := 1; ; try++ {
		err := c.writing(ctx, func(ctx context.Context) error {
			_, _, err := c.api.DeleteMessageContext(ctx, conversation, ts)
			return err
		})
		if err == nil || codeOf(err) == "message_not_found" {
			return nil
		}
		var known *channels.SendError
		wait := c.pace.update
		if errors.As(err, &known) {
			wait = max(wait, known.RetryAfter)
		}
		if try == removeTries || channels.OutcomeOf(err) == channels.Refused || channels.Sleep(ctx, wait) != nil {
			c.log.Warn("draft not removed", "conversation", conversation, "message", ts, "err", err)
			return err
		}
	}
}

// record writes the draft into the book: what it shows first, before it is
// posted, and the id of its message when that is known. False means that it must
// not be posted: nobody could find it after this process.
func (d *draft) record(text string) bool {
	if d.book == nil {
		return true
	}
	if d.first == "" {
		d.first = text
	}
	to := d.to
	to.Thread = d.thread
	err := d.book.Keep(d.ctx, channels.DraftMark{ID: d.id, To: to, MessageID: d.ts, Text: d.first, At: d.since})
	if err != nil {
		d.c.log.Warn("draft not written down", "conversation", d.to.Conversation, "err", err)
	}
	return err == nil
}

// gone and left tell the book, if it knows of the draft, what became of it.
func (d *draft) gone() {
	if d.book != nil && d.first != "" {
		d.book.Gone(d.ctx, d.id)
		d.first = ""
	}
}

func (d *draft) left() {
	if d.book != nil && d.first != "" {
		d.book.Left(d.ctx, d.id)
		d.first = "" // it is no longer ours to tell of
	}
}

// Retract implements channels.Retractor. A message whose id is not known is found
// by its metadata.
func (c *Channel) Retract(ctx context.Context, m channels.DraftMark) error {
	ts := m.MessageID
	if ts == "" {
		p := &progress{parts: make([]string, 1)}
		err := c.lookFor(ctx, m.ID, m.To.Conversation, m.To.Thread, stampOf(m.At.Add(-clockSkew)), p)
		if err != nil {
			return sendError(err, false)
		}
		ts = p.parts[0]
	}
	if ts == "" {
		return nil
	}
	return c.remove(ctx, m.To.Conversation, ts)
}

// keep holds a closed draft for its final text; an older one of the same place
// is taken away.
func (k *drafts) keep(d *draft) {
	key := factKey(d.to.Conversation, d.thread)
	k.mu.Lock()
	old := k.kept[key]
	k.kept[key] = d
	k.mu.Unlock()
	if old != nil && old != d {
		k.dropping.Go(func() { old.drop(d.ctx) })
	}
}

// forget lets go of a closed draft that shows nothing: a turn that ends in
// silence has no post that would claim it.
func (k *drafts) forget(d *draft) {
	key := factKey(d.to.Conversation, d.thread)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept[key] == d {
		delete(k.kept, key)
	}
}

// release takes a closed draft away that no final text will claim, unless one has.
func (k *drafts) release(d *draft) {
	key := factKey(d.to.Conversation, d.thread)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept[key] == d {
		delete(k.kept, key)
		k.dropping.Go(func() { d.drop(d.ctx) })
	}
}

// claim gives the message of the draft that out makes final, "" when there is
// none. A draft that out does not fit is taken away: a notice is a post of its
// own and stands before the answer [N19, N31, SL25].
func (k *drafts) claim(ctx context.Context, out channels.Outbound, thread string, single bool) string {
	if out.Only != "" {
		return ""
	}
	key := factKey(out.To.Conversation, thread)
	k.mu.Lock()
	d := k.kept[key]
	delete(k.kept, key)
	k.mu.Unlock()
	if d == nil {
		return ""
	}
	select {
	case <-d.done:
	case <-ctx.Done():
		k.keep(d) // for the next try
		return ""
	}
	last, _ := k.c.latest.Get(key, k.c.now())
	if out.Kind == channels.Reply && single && len(out.Choices) == 0 && d.ts > last { // else it would stand above what was said before it
		k.mu.Lock()
		if d.ts != "" {
			k.become[out.ID] = d
		}
		k.mu.Unlock()
		return d.ts
	}
	d.drop(ctx)
	return ""
}

// became tells that a delivery stands as the message ts. A draft that it could
// not take over is taken away.
func (k *drafts) became(ctx context.Context, delivery, ts string) {
	k.mu.Lock()
	d := k.become[delivery]
	delete(k.become, delivery)
	k.mu.Unlock()
	if d != nil && d.ts != ts {
		d.drop(ctx)
	}
}

// Tidy takes the closed drafts away whose final texts were not posted, when
// nothing is posted any more: the texts come as posts of their own after the
// next start, and the halves must not stay beside them. ctx bounds it.
func (c *Channel) Tidy(ctx context.Context) {
	c.drafts.mu.Lock()
	left, halves := c.drafts.kept, c.drafts.become
	c.drafts.kept, c.drafts.become = map[string]*draft{}, map[string]*draft{}
	c.drafts.mu.Unlock()
	for _, d := range halves {
		c.drafts.dropping.Go(func() { d.drop(ctx) })
	}
	for _, d := range left {
		c.drafts.dropping.Go(func() { d.drop(ctx) })
	}
	done := make(chan struct{})
	go func() { c.drafts.dropping.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// drop takes a closed draft away.
func (d *draft) drop(ctx context.Context) {
	select {
	case <-d.done:
	case <-ctx.Done():
		d.left()
		return
	}
	switch {
	case d.ts != "" && d.c.remove(ctx, d.to.Conversation, d.ts) != nil, d.doubt:
		d.left()
	default:
		d.gone()
	}
}
