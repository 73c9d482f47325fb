package slack

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// drafts keeps the closed drafts whose final text has not been posted yet.
//
// A draft is a message that is edited, also in a thread, where Slack has streams
// of its own (chat.startStream, appendStream, stopStream) [SL25]. They were looked
// at and declined. A stream only grows: when a candidate fails, what it wrote has
// to be stopped and deleted and another begun, which people see as a message that
// vanishes [I8]. It takes metadata only as it is stopped, so one whose start got
// no answer, or whose process was killed, cannot be found again, and a draft that
// cannot be found must not be posted. Slack ends a stream that pauses too long,
// as a model at work does, and chat.update has to take over anyway. And starting
// one is limited to some twenty a minute for the whole workspace, where
// chat.update takes its fifty and more. One mechanism does all of it.
type drafts struct {
	c *Channel

	mu   sync.Mutex
	kept map[string]*draft // by conversation and thread
	// become are the messages that a final text takes over, by delivery, until it has.
	become map[string]*draft

	dropping sync.WaitGroup // what is being taken away
}

func newDrafts(c *Channel) *drafts {
	return &drafts{c: c, kept: map[string]*draft{}, become: map[string]*draft{}}
}

// Draft implements channels.Drafter. All it does is out of band: a draft that
// Slack does not take is no failure of the turn.
func (c *Channel) Draft(ctx context.Context, to channels.Address, replyTo string, keeper channels.DraftBook) channels.Draft {
	d := &draft{
		c: c, to: to, message: tsOf(replyTo), ctx: context.WithoutCancel(ctx), book: keeper,
		id: "draft-" + rand.Text(), since: c.now(),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	d.thread = to.Thread
	f, known := c.facts.Get(factKey(to.Conversation, d.message), c.now())
	if d.thread == "" && known {
		switch c.cfg.ReplyMode(f.chat) {
		case channels.ReplyFirst, channels.ReplyAll:
			d.thread = d.message // where the final text will be
		case channels.ReplyBatched:
			d.blind = true // where it will be depends on what was batched
		}
	}
	d.marks = d.message != "" && known && c.acknowledges(f)
	go d.run()
	return d
}

// draft is one answer in the making. Its goroutine makes all calls to Slack.
type draft struct {
	c       *Channel
	ctx     context.Context // of the calls; outlives the turn, whose text may have to be taken back
	to      channels.Address
	thread  string
	message string // that is answered, "" none
	marks   bool   // it gets the ack reaction
	blind   bool   // no text is shown

	mu      sync.Mutex
	working bool
	want    string // text to show, "" none
	closed  bool
	wake    chan struct{}

	id    string             // in the metadata of the message that shows it
	since time.Time          // the message cannot be older
	book  channels.DraftBook // nil: nobody keeps one

	done chan struct{} // closed when the goroutine is
	// The goroutine's own until done is closed.
	ts    string // of the message that shows it
	doubt bool   // a message may show it whose id Slack's lost answer had
	first string // what it showed first; "" while it is not in the book
}

func (d *draft) change(f func()) {
	d.mu.Lock()
	if !d.closed {
		f()
	}
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default: // it is awake
	}
}

// Working implements channels.Draft.
func (d *draft) Working() { d.change(func() { d.working = true }) }

// Show implements channels.Draft. Slack follows within the pace of edits.
func (d *draft) Show(text string) {
	if !d.blind {
		d.change(func() { d.want = d.c.shown(text) })
	}
}

// Discard implements channels.Draft.
func (d *draft) Discard() {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		d.c.drafts.release(d)
		return
	}
	d.change(func() { d.want = "" })
}

// Close implements channels.Draft. The message stays for the Send that makes it
// final, or that takes it away.
func (d *draft) Close() {
	d.c.drafts.keep(d)
	d.change(func() { d.closed = true })
}

// shown is what a draft shows of a text so far, by the streaming mode [SL25].
func (c *Channel) shown(text string) string {
	switch c.cfg.Streaming {
	case streamOff:
		return ""
	case streamProgress:
		if strings.TrimSpace(text) == "" {
			return ""
		}
		return "_Writing the answer…_"
	case streamBlock:
		end := strings.LastIndex(text, "\n\n")
		for end > 0 && strings.Count(text[:end], "```")%2 == 1 {
			end = strings.LastIndex(text[:end], "\n\n")
		}
		text = text[:max(end, 0)]
	}
	if parts := c.cut(text); len(parts) > 0 {
		return parts[0] // the rest comes with the final posts
	}
	return ""
}

// run brings Slack up to what is wanted, at most once per pace of edits.
func (d *draft) run() {
	defer close(d.done)
	var working, typing bool
	shown := ""
	if d.marks {
		d.c.react(d.ctx, d.to.Conversation, d.message, d.c.cfg.AckReaction, true)
		d.c.marked(d.to.Conversation, d.thread, d.message)
	}
	for {
		<-d.wake
		d.mu.Lock()
		want, closed := d.want, d.closed
		startWorking := d.working && !working
		d.mu.Unlock()
		if startWorking && !closed {
			working = true
			typing = d.status(true)
		}
		called := false
		switch {
		case want == shown && (want != "" || d.ts == "" && !d.doubt):
		case closed && want != "":
			// The final text follows at once; this one need not be shown.
			d.find(findTries)
		default:
			called = true
			if d.write(want) {
				shown = want
			}
		}
		if closed {
			if typing || working && want == "" {
				d.status(false)
			}
			switch {
			case d.ts == "" && !d.doubt:
				d.c.drafts.forget(d)
				d.gone()
			case d.doubt, want == "": // it may stand, and is none to be taken over
				d.c.drafts.forget(d)
				d.left()
			}
			return
		}
		if called {
			d.pause()
		}
	}
}

// pause keeps the pace of edits; closing ends it early.
func (d *draft) pause() {
	t := time.NewTimer(max(d.c.pace.update, 0))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			d.nudge()
			return
		case <-d.wake:
			d.mu.Lock()
			hurry := d.closed || d.want == ""
			d.mu.Unlock()
			if hurry {
				d.nudge()
				return
			}
		}
	}
}

func (d *draft) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// write makes the message show text, "" takes it away. It reports success.
func (d *draft) write(text string) bool {
	tries := 1
	if text == "" {
		tries = findTries
	}
	if !d.find(tries) {
		return false
	}
	if text == "" {
		if d.ts == "" {
			return true
		}
		if d.c.remove(d.ctx, d.to.Conversation, d.ts) != nil {
			return false // the final text can still take its place
		}
		d.ts = ""
		d.gone()
		return true
	}
	if d.ts == "" && !d.record(text) {
		return false
	}
	opts := []slackapi.MsgOption{
		slackapi.MsgOptionText(summary(text), false), slackapi.MsgOptionBlocks(blocksFor(text)...), slackapi.MsgOptionDisableLinkUnfurl(),
	}
	if d.thread != "" {
		opts = append(opts, slackapi.MsgOptionTS(d.thread))
	}
	posted := d.ts == ""
	err := d.c.writing(d.ctx, func(ctx context.Context) (err error) {
		if d.ts != "" {
			_, _, _, err = d.c.api.UpdateMessageContext(ctx, d.to.Conversation, d.ts, opts...)
			return err
		}
		meta := slackapi.SlackMetadata{EventType: deliveryEvent, EventPayload: map[string]any{"id": d.id, "part": 0, "of": 1}}
		_, d.ts, err = d.c.api.PostMessageContext(ctx, d.to.Conversation, append(opts, slackapi.MsgOptionMetadata(meta))...)
		return err
	})
	if err != nil {
		d.doubt = d.ts == "" && channels.OutcomeOf(err) == channels.Unknown
		d.c.log.Debug("draft not shown", "conversation", d.to.Conversation, "err", err)
		return false
	}
	if posted {
		d.record(text)
	}
	return true
}
