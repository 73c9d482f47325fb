package console

import (
	"context"
	"os"
	"time"

	uv "github.com/charmbracelet/ultraviolet"

	"standin/channels"
)

const (
	tick      = 50 * time.Millisecond  // how often a growing answer is painted
	unseen    = 200 * time.Millisecond // work shorter than that shows no spinner
	twice     = 2 * time.Second        // a second Ctrl-C within this leaves
	queueSize = 64                     // messages typed ahead of their acceptance
)

// Bracketed paste: the terminal marks pasted text, so that its line ends are
// not taken for Enter.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// runTerminal is the loop that owns the keyboard. Everything that is painted is
// painted under the lock, here or by Send.
func (c *Console) runTerminal(ctx context.Context, receive channels.Receiver) error {
	restore, err := raw(c.opt.In)
	if err != nil {
		return err
	}
	defer restore()
	c.open()
	defer c.close()

	said := make(chan string, queueSize)
	accepted := make(chan struct{})
	go func() { // acceptance is a durable write: typing does not wait for it
		defer close(accepted)
		for text := range said {
			if err := c.hand(ctx, receive, text, false); err != nil {
				c.tell(channels.Failure, err.Error()+"; it is in the history, say it again")
			}
		}
	}()
	defer func() { close(said); <-accepted }()

	keys, stopKeys := c.keys()
	defer stopKeys()
	var changed <-chan os.Signal
	if IsTerminal(c.opt.In, c.opt.Out) {
		var stop func()
		changed, stop = resizes()
		defer stop()
	}
	t := time.NewTicker(tick)
	defer t.Stop()
	t.Stop() // a quiet console does not wake up
	ticking := false
	for {
		select {
		case <-ctx.Done():
			return c.ended(ctx)
		case <-c.broken:
			return c.ended(ctx)
		case e, ok := <-keys:
			if !ok || c.event(e, said) {
				return c.ended(ctx)
			}
		case <-c.wake:
		case <-changed:
		case <-t.C:
		}
		if busy := c.repaint(); busy != ticking {
			if ticking = busy; busy {
				t.Reset(tick)
			} else {
				t.Stop()
			}
		}
	}
}

// keys reads the keyboard; the channel closes when it is gone.
func (c *Console) keys() (<-chan uv.Event, func()) {
	in := interruptible(c.opt.In)
	events := make(chan uv.Event)
	go func() {
		defer close(events)
		// Not ctx: the reader returns only when its pending Read does.
		_ = uv.NewTerminalReader(in, "").StreamEvents(context.Background(), events)
	}()
	return events, func() {
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			for range events {
			}
		}()
		if in.stop() {
			<-drained
		}
	}
}

// open shows the prompt; close takes it away and leaves the transcript.
func (c *Console) open() {
	past, err := loadHistory(c.opt.History)
	c.mu.Lock()
	c.editor.history = past
	c.live = true
	_, _ = c.writeLocked(pasteOn)
	_, _ = c.paintLocked(nil)
	c.mu.Unlock()
	if err != nil {
		c.tell(channels.Failure, err.Error())
	}
}

func (c *Console) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = false
	_, _ = c.paintLocked(nil)
	_, _ = c.writeLocked(pasteOff)
}

// event applies what came from the keyboard; true means the person leaves.
func (c *Console) event(e uv.Event, said chan<- string) (gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := e.(type) {
	case uv.PasteEvent:
		c.editor.insert(e.Content)
	case uv.KeyPressEvent:
		switch c.editor.press(uv.Key(e)) {
		case leave:
			return true
		case interrupt:
			return c.interruptLocked(said)
		case submit:
			c.submitLocked(said)
		case redraw:
			c.printed = false
			_, _ = c.writeLocked(c.screen.forget())
		case edit:
		}
	}
	return false
}

// submitLocked makes the typed text a message and part of the transcript.
func (c *Console) submitLocked(said chan<- string) {
	text := c.editor.take()
	if text == "" {
		return
	}
	c.hint = ""
	width, _ := c.size()
	rows, _, _ := layout(c.style.prompt, c.prompt(), text, 0, max(width-1, 1))
	if c.printed {
		rows = append([]string{""}, rows...)
	}
	_, _ = c.paintLocked(rows)
	c.keepLocked(text)
	c.handOverLocked(said, text)
}

// keepLocked remembers a message; a history that cannot be kept is said once.
func (c *Console) keepLocked(text string) {
	if !c.editor.remember(text) {
		return
	}
	if err := appendHistory(c.opt.History, text); err != nil {
		c.opt.History = ""
		_, _ = c.printLocked(channels.Failure, err.Error())
	}
}

// handOverLocked queues a message. A full queue means that nothing is accepted
// for long; the text goes back to the person rather than blocking the keys.
func (c *Console) handOverLocked(said chan<- string, text string) {
	select {
	case said <- text:
	default:
		_, _ = c.printLocked(channels.Failure, "Too many messages wait to be accepted; this one was not sent.")
		c.editor.set(text)
	}
}

// interruptLocked is Ctrl-C: it stops the running turn, else it clears the
// line, else it asks for a second one, which leaves.
func (c *Console) interruptLocked(said chan<- string) (gone bool) {
	now := c.opt.Now()
	if c.hint != "" && now.Before(c.hintEnd) {
		return true
	}
	switch {
	case c.runningLocked() != nil:
		c.hintLocked(now, "stopping; Ctrl-C again leaves")
		c.handOverLocked(said, "/stop")
	case c.editor.text != "":
		c.editor.take()
	default:
		c.hintLocked(now, "Ctrl-C again or Ctrl-D leaves")
	}
	return false
}

func (c *Console) hintLocked(now time.Time, text string) {
	c.hint, c.hintEnd = text, now.Add(twice)
}

// repaint brings the region up to date and reports whether time will change it.
func (c *Console) repaint() (busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked(c.opt.Now())
	_, _ = c.paintLocked(nil)
	return len(c.drafts) > 0 || c.hint != ""
}

// paintLocked adds rows to the transcript and paints the region under it.
func (c *Console) paintLocked(above []string) (n int, err error) {
	if len(above) > 0 {
		c.printed = true
	}
	width, height := c.size()
	var next region
	if c.live {
		next = c.viewLocked(width, height).region()
	}
	s := c.screen.frame(above, next, width)
	if s == "" {
		return 0, nil
	}
	return c.writeLocked(s)
}

func (c *Console) prompt() string { return c.opt.User + " › " }

func (c *Console) viewLocked(width, height int) view {
	v := view{
		width: width, height: height, style: c.style, agent: c.opt.Agent,
		prompt: c.prompt(), text: c.editor.text, at: c.editor.at,
		draft: c.shownLocked(), gap: c.printed,
	}
	if d := c.runningLocked(); d != nil {
		if spent := c.opt.Now().Sub(d.began); spent >= unseen {
			v.status = c.style.working(c.opt.Agent, spent)
		}
	}
	if c.hint != "" {
		v.status = c.style.faint(c.hint)
	}
	return v
}
