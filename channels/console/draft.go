package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"standin/channels"
)

// lingers is how long the text of a closed draft waits for the Send that makes
// it final, so that it does not blink in between.
const lingers = time.Second

// draft is an answer in the region above the prompt. It never reaches the
// transcript: what stays is what Send prints, so a final text stands there once
// whatever the draft showed [I8].
type draft struct {
	c      *Console
	began  time.Time
	on     bool // Working or Show was called
	text   string
	closed time.Time // zero while open
}

// Draft implements channels.Drafter. Without a terminal there are no drafts:
// the result does nothing.
func (c *Console) Draft(_ context.Context, to channels.Address, _ string, _ channels.DraftBook) channels.Draft {
	if !c.opt.Terminal || to.Channel != Name || to.Conversation != Conversation {
		return silent{}
	}
	return &draft{c: c, began: c.opt.Now()}
}

// Working implements channels.Draft.
func (d *draft) Working() { d.change(func() {}) }

// Show implements channels.Draft. The terminal follows within a tick.
func (d *draft) Show(text string) {
	d.change(func() { d.text = strings.TrimRight(clean(text), "\n ") })
}

// Discard implements channels.Draft: the text goes, the spinner stays for the
// candidate that comes next.
func (d *draft) Discard() {
	d.c.mu.Lock()
	if !d.closed.IsZero() {
		d.text = "" // nobody makes it final any more
	}
	d.c.mu.Unlock()
	d.change(func() { d.text = "" })
}

// Close implements channels.Draft.
func (d *draft) Close() { d.change(func() { d.closed = d.c.opt.Now() }) }

func (d *draft) change(f func()) {
	c := d.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !d.closed.IsZero() {
		return
	}
	if !d.on {
		d.on = true
		c.drafts = append(c.drafts, d)
	}
	f()
	select {
	case c.wake <- struct{}{}:
	default: // it is awake
	}
}

// dropClosedDraftsLocked forgets the drafts whose final text is about to stand
// in the transcript.
func (c *Console) dropClosedDraftsLocked() {
	c.drafts = slices.DeleteFunc(c.drafts, func(d *draft) bool { return !d.closed.IsZero() })
}

// expireLocked forgets what nobody made final, and hints that were read.
func (c *Console) expireLocked(now time.Time) {
	c.drafts = slices.DeleteFunc(c.drafts, func(d *draft) bool {
		return !d.closed.IsZero() && now.Sub(d.closed) >= lingers
	})
	if c.hint != "" && !now.Before(c.hintEnd) {
		c.hint = ""
	}
}

// runningLocked gives the oldest open draft: whose seconds the spinner counts.
func (c *Console) runningLocked() *draft {
	for _, d := range c.drafts {
		if d.closed.IsZero() {
			return d
		}
	}
	return nil
}

// shownLocked gives the draft text to be seen: the newest that has one.
func (c *Console) shownLocked() string {
	for _, d := range slices.Backward(c.drafts) {
		if d.text != "" {
			return d.text
		}
	}
	return ""
}

// silent is the draft of a surface that shows none.
type silent struct{}

func (silent) Working()    {}
func (silent) Show(string) {}
func (silent) Discard()    {}
func (silent) Close()      {}
