package discord

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// drafts are the answers in the making, one per address.
type drafts struct {
	c *Channel

	mu   sync.Mutex
	open map[channels.Address]*draft
	// become are the drafts that an answer takes over, by delivery, until it has.
	become map[string]*draft

	dropping sync.WaitGroup // what is being taken away
}

func newDrafts(c *Channel) *drafts {
	return &drafts{c: c, open: map[channels.Address]*draft{}, become: map[string]*draft{}}
}

// draft is one answer in the making. Its goroutine makes all calls; the methods
// only say what is wanted.
type draft struct {
	c       *Channel
	to      channels.Address
	message string             // that is being answered
	nonce   string             // of the message that shows it [I2], and its name in the book
	book    channels.DraftBook // nil: nobody keeps one
	wake    chan struct{}
	done    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	working bool
	text    string // what should be shown, "" nothing
	closed  bool
	stale   bool // something else was posted since: it cannot become the answer any more
	taken   bool // a Send has decided what becomes of it

	// The goroutine's own until done is closed.
	shown  string
	id     string             // of the message that shows it, "" none
	doubt  outgoing           // was posted, or not: the answer was lost; no nonce: there is none
	refers string             // what that message refers to
	marked bool               // the ack reaction was put
	noted  channels.DraftMark // as the book has it; no ID: it does not
}

// Draft implements channels.Drafter. What Discord does not take of a draft is no
// failure of the turn.
func (c *Channel) Draft(ctx context.Context, to channels.Address, replyTo string, keeper channels.DraftBook) channels.Draft {
	d := &draft{c: c, to: to, message: replyTo, book: keeper, nonce: strings.ToLower(rand.Text())[:nonceSize], wake: make(chan struct{}, 1), done: make(chan struct{})}
	c.drafts.mu.Lock()
	old := c.drafts.open[to]
	c.drafts.open[to] = d
	c.drafts.mu.Unlock()
	if old != nil {
		c.drafts.dropping.Go(old.drop) // its answer has not been posted yet, and will be a message of its own
	}
	go d.run(ctx)
	return d
}

func (d *draft) change(f func()) {
	d.mu.Lock()
	f()
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Working implements channels.Draft.
func (d *draft) Working() { d.change(func() { d.working = true }) }

// Show implements channels.Draft. Discord follows within the pace of edits.
func (d *draft) Show(text string) { d.change(func() { d.working, d.text = true, text }) }

// Discard implements channels.Draft.
func (d *draft) Discard() {
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		d.c.drafts.dropping.Go(d.drop)
		return
	}
	d.change(func() { d.text = "" })
}

// Close implements channels.Draft.
func (d *draft) Close() { d.change(func() { d.closed = true }) }

// abandon is Close for a turn that ended without it.
func (d *draft) abandon() {
	d.change(func() {
		if !d.closed {
			d.closed, d.text = true, ""
		}
	})
}

// run brings Discord up to what is wanted until the draft is closed.
func (d *draft) run(ctx context.Context) {
	defer close(d.done)
	calls, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.c.pace.draftLife)
	defer cancel()
	typing := time.NewTicker(d.c.pace.typing)
	defer typing.Stop()
	begun := false
	var next time.Time // no edit before
	for {
		d.mu.Lock()
		working, text, closed := d.working, d.c.preview(d.text), d.closed
		d.mu.Unlock()
		if working && !begun && !closed {
			begun = true
			d.mark(calls)
			d.type_(calls)
		}
		var later <-chan time.Time
		if closed || text == "" {
			d.find(calls, tries)
		}
		switch wait := time.Until(next); {
		case d.id != "" && (text == "" || closed && !d.c.adopts()):
			d.remove(calls)
		case closed || text == "" || text == d.shown:
		case wait > 0:
			later = time.After(wait)
		default:
			d.show(calls, text)
			next = time.Now().Add(d.c.pace.edit)
			if d.shown != text && d.doubt.Nonce != "" {
				later = time.After(d.c.pace.edit)
			}
		}
		if closed {
			d.finish(calls)
			return
		}
		select {
		case <-d.wake:
		case <-later:
		case <-typing.C:
			if working {
				d.type_(calls)
			}
		case <-ctx.Done():
			d.abandon()
		case <-calls.Done():
			d.abandon()
		}
	}
}

// adopts tells whether drafts become answers: progress is not the answer's text.
func (c *Channel) adopts() bool {
	return c.cfg.Streaming == streamPartial || c.cfg.Streaming == streamBlock
}

// reference is what a post in a conversation can refer to.
func (c *Channel) reference(conversation, message string) string {
	if _, interaction := c.asked.Get(message, c.now()); interaction || !isSnowflake(message) || message == conversation {
		return ""
	}
	return message
}

// show posts or edits the message that shows the text.
func (d *draft) show(ctx context.Context, text string) {
	c := d.c
	target, err := c.opened(ctx, d.to.Conversation)
	if err != nil || !isSnowflake(target) {
		return
	}
	m := &discordgo.MessageSend{Content: text, Flags: discordgo.MessageFlagsSuppressEmbeds | discordgo.MessageFlagsSuppressNotifications,
		Embeds: []*discordgo.MessageEmbed{}, Components: []discordgo.MessageComponent{}, StickerIDs: []string{},
		AllowedMentions: mentionsOf(channels.Notice)} // a draft pings nobody [D13]
	if !d.find(ctx, 1) {
		return
	}
	if d.id == "" {
		if c.cfg.ReplyToMode == channels.ReplyFirst || c.cfg.ReplyToMode == channels.ReplyAll {
			if d.refers = c.reference(target, d.message); d.refers != "" {
				gone := false
				m.Reference = &discordgo.MessageReference{MessageID: d.refers, ChannelID: target, FailIfNotExists: &gone}
			}
		}
		if !d.record(ctx, text) {
			return
		}
		post := outgoing{MessageSend: m, Nonce: d.nonce, EnforceNonce: true}
		d.id, err = c.create(ctx, target, post, nil)
		if se := (*channels.SendError)(nil); err != nil && errors.As(sendError(err), &se) && se.Outcome == channels.Unknown {
			d.doubt = post
		}
	} else {
		body := map[string]any{"content": text, "allowed_mentions": m.AllowedMentions}
		err = c.api.do(ctx, call{method: http.MethodPatch, path: "channels/" + target + "/messages/" + d.id, body: body}, nil)
		if codeOf(err) == codeUnknownMessage {
			d.id = ""
		}
	}
	if err != nil {
		c.log.Debug("a draft is not shown", "conversation", d.to.Conversation, "err", err)
		return
	}
	d.shown = text
	d.record(ctx, text)
}

// type_ shows that the bot is writing; Discord forgets it after ten seconds [D15].
func (d *draft) type_(ctx context.Context) {
	if _, waiting := d.c.unopened.Get(d.to.Conversation, d.c.now()); waiting || !isSnowflake(d.to.Conversation) {
		return
	}
	if err := d.c.api.do(ctx, call{method: http.MethodPost, path: "channels/" + d.to.Conversation + "/typing"}, nil); err != nil {
		d.c.log.Debug("typing is not shown", "conversation", d.to.Conversation, "err", err)
	}
}

// mark puts the ack reaction on the message whose turn has begun, where the
// scope says so [D15, SL22].
func (d *draft) mark(ctx context.Context) {
	f, known := d.c.facts.Get(d.message, d.c.now())
	if !known || !d.c.marks(f) {
		return
	}
	d.marked = d.c.react(ctx, http.MethodPut, f.conversation, d.message)
}

// marks tells whether a message gets the ack reaction.
func (c *Channel) marks(f fact) bool {
	if c.cfg.AckReaction == "" {
		return false
	}
	switch c.cfg.AckReactionScope {
	case ackAll:
		return true
	case ackDirect:
		return f.direct
	case ackGroupAll:
		return !f.direct
	case ackGroupMentions:
		return !f.direct && f.mentioned
	}
	return false
}

// react puts or takes away the ack reaction.
func (c *Channel) react(ctx context.Context, method, conversation, message string) bool {
	path := "channels/" + conversation + "/messages/" + message + "/reactions/" + url.PathEscape(c.cfg.AckReaction) + "/@me"
	if err := c.api.do(ctx, call{method: method, path: path}, nil); err != nil {
		c.log.Debug("a reaction is not shown", "conversation", conversation, "err", err)
		return false
	}
	return true
}

// What a progress draft shows at most [D15].
const (
	progressLines = 8
	progressChars = 120
)

// preview is what is shown of a text that grows.
func (c *Channel) preview(text string) string {
	text = strings.TrimSpace(text)
	switch c.cfg.Streaming {
	case streamOff:
		return ""
	case streamBlock:
		i := strings.LastIndex(text, "\n\n")
		if i < 0 || strings.Count(text[:i], "```")%2 == 1 {
			return ""
		}
		text = text[:i]
	case streamProgress:
		lines := strings.Split(text, "\n")
		lines = lines[max(0, len(lines)-progressLines):]
		for i, l := range lines {
			if r := []rune(l); len(r) > progressChars {
				lines[i] = string(r[:progressChars-1]) + "…"
			}
		}
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	if parts := c.split(text); len(parts) > 0 {
		return parts[len(parts)-1] // the part that is being written
	}
	return ""
}
