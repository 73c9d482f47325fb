// Package console is the surface of one person at a keyboard. On a terminal it
// is a line editor with history under a transcript that grows upwards: answers
// stream, notices stand apart, a quiet spinner counts the seconds. Without one
// it is a filter: a message per line in, plain text out.
//
// What is here: reading keys and lines, laying out and painting. What is not:
// what a message means (package bot), whether a terminal is wanted (cmd).
//
// A way through the files: console.go says what the surface is and posts;
// terminal.go and piped.go are its two ways of listening; editor.go, layout.go
// and style.go decide in values what the keys and texts come to; screen.go puts
// the difference on the terminal; tty.go is the only one that knows of files.
package console

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"standin/channels"
)

// The one address of this surface.
const (
	Name         = "console" // the channel part
	Conversation = "local"   // the conversation part
)

// Options says what a console is wired to. In and Out are required.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Terminal asks for the line editor; see IsTerminal. False is the filter.
	Terminal bool
	// Width and Height of the terminal in cells. Nil asks Out when it is a
	// file, else 80 by 24.
	Width, Height func() int
	// NoColor leaves out colours and all other type styles on a terminal.
	NoColor bool
	// Agent is the label of answers, "standin" when empty.
	Agent string
	// User is the sender's id and the label of the prompt, "you" when empty.
	User string
	// History is the file that keeps what was typed (mode 0600), "" for none.
	History string
	// Files is the folder that files of answers are saved in (mode 0600, in a
	// folder of their delivery), "" for none: then they are not had.
	Files string
	// Now is the clock of message times and of the spinner; nil is time.Now.
	Now func() time.Time
	// Local answers a line itself; handled lines are not handed on. May be nil.
	Local func(line string) (answer string, handled bool)
	// Wait blocks until the message has its ending and all that was to be
	// posted for it was handed to Send. The filter calls it after each message,
	// so that a line is read only when the one before is dealt with. Nil does
	// not wait.
	Wait func(ctx context.Context, in channels.Inbound) error
}

// Console is the surface. It is a channels.Channel, Drafter and Finder; all
// methods are safe for concurrent use, Run is for one call.
type Console struct {
	opt   Options
	style style

	broken chan struct{} // closed when Out takes no more
	wake   chan struct{} // a draft began; the terminal loop starts ticking

	mu      sync.Mutex
	err     error // why Out takes no more
	entropy *ulid.MonotonicEntropy
	sent    ledger
	screen  screen
	editor  editor
	drafts  []*draft
	live    bool // the prompt is on the screen
	printed bool // something stands above the prompt
	hint    string
	hintEnd time.Time
}

// New makes a console that does nothing until Run or Send.
func New(o Options) *Console {
	if o.Agent == "" {
		o.Agent = "standin"
	}
	if o.User == "" {
		o.User = "you"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Console{
		opt:     o,
		style:   newStyle(o.Terminal && !o.NoColor),
		broken:  make(chan struct{}),
		wake:    make(chan struct{}, 1),
		entropy: ulid.Monotonic(rand.Reader, 0),
		sent:    ledger{},
	}
}

// Name implements channels.Channel.
func (c *Console) Name() string { return Name }

// Run listens until ctx ends (its error), the person leaves or the input ends
// (nil), or the output is closed (an error that says so).
func (c *Console) Run(ctx context.Context, receive channels.Receiver) error {
	if c.opt.Terminal {
		return c.runTerminal(ctx, receive)
	}
	return c.runPiped(ctx, receive)
}

var errElsewhere = errors.New("the console has one conversation, " + Name + "/" + Conversation)
var errEmpty = errors.New("the message is empty")

// Send implements channels.Channel. An ID that was shown before is not shown
// again [I2]. A closed output is NotSent, not Refused: the delivery stays owed
// and the next console prints it; Run ends, so nothing is tried in a loop.
func (c *Console) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: err}
	}
	if out.To.Channel != Name || out.To.Conversation != Conversation {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.Refused, Err: errElsewhere}
	}
	out, err := c.withFiles(ctx, out)
	if err != nil {
		return channels.Receipt{}, err
	}
	if strings.TrimSpace(out.Text) == "" {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.Refused, Err: errEmpty}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := channels.Receipt{MessageID: out.ID}
	if c.sent.has(out.ID) {
		return r, nil
	}
	if out.Kind == channels.Reply || out.Kind == channels.Failure {
		c.dropClosedDraftsLocked() // the final text takes the draft's place [I8]
	}
	n, err := c.printLocked(out.Kind, out.Text)
	if err != nil {
		how := channels.NotSent
		if n > 0 {
			how = channels.Unknown
		}
		return channels.Receipt{}, &channels.SendError{Outcome: how, Err: err}
	}
	c.sent.add(out.ID)
	return r, nil
}

// Find implements channels.Finder as far as it can: it knows what this process
// has printed. Paper tape cannot be searched, so any other delivery is an error.
func (c *Console) Find(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent.has(out.ID) {
		return channels.Receipt{MessageID: out.ID}, true, nil
	}
	return channels.Receipt{}, false, errors.New("a console cannot tell what was printed before it started")
}

// inbound makes the message that a line is.
func (c *Console) inbound(text string) (channels.Inbound, error) {
	now := c.opt.Now()
	c.mu.Lock()
	id, err := ulid.New(ulid.Timestamp(now), c.entropy)
	c.mu.Unlock()
	if err != nil {
		return channels.Inbound{}, fmt.Errorf("console: message id: %w", err)
	}
	return channels.Inbound{
		ID:         id.String(),
		To:         channels.Address{Channel: Name, Conversation: Conversation},
		Chat:       channels.Direct,
		From:       channels.User{ID: c.opt.User, Name: c.opt.User},
		Text:       text,
		Mentioned:  true,
		Authorized: true,
		At:         now,
	}, nil
}

// tell prints a line of the console's own making.
func (c *Console) tell(k channels.Kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.printLocked(k, text) // a closed output ends Run
}

// printLocked puts a text above the prompt, or on the plain output, in one
// write. n is what Out took of it before it failed.
func (c *Console) printLocked(k channels.Kind, text string) (n int, err error) {
	text = clean(text)
	if !c.opt.Terminal {
		return c.writeLocked(strings.TrimRight(text, "\n") + "\n")
	}
	width, _ := c.size()
	return c.paintLocked(c.style.block(k, c.opt.Agent, text, width))
}

// writeLocked is the only write to Out.
func (c *Console) writeLocked(s string) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	if n, err = io.WriteString(c.opt.Out, s); err != nil {
		c.err = fmt.Errorf("console: the output is closed: %w", err)
		close(c.broken)
		return n, c.err
	}
	return n, nil
}

// ended gives the reason why Run is over: the closed output before the context
// that was cancelled for it.
func (c *Console) ended(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return ctx.Err()
}

// ledger remembers the deliveries this process printed. One entry is some
// hundred bytes and a person reads some thousand lines a day at most, so it
// forgets nothing while the process lives.
type ledger map[string]struct{}

func (l ledger) has(id string) bool { _, ok := l[id]; return ok && id != "" }
func (l ledger) add(id string)      { l[id] = struct{}{} }
