// Package channels holds the words that all surfaces share: where a message
// came from, what is sent back, and how sure we are that it arrived. The
// platforms' SDKs stay in the sub-packages; what a message means is decided in
// package bot.
package channels

import (
	"context"
	"errors"
	"io"
	"time"
)

// Address is a place where something can be said: a conversation of a channel
// account, and a thread in it when there is one.
type Address struct {
	Channel      string // "console", "slack", "discord"
	Account      string // "" is the default account
	Conversation string // the platform's id of the DM, room or group
	Thread       string // the platform's thread id, "" outside threads
}

// ChatType says what kind of conversation it is.
type ChatType string

// The chat types.
const (
	Direct ChatType = "direct"
	Group  ChatType = "group"
	Room   ChatType = "channel"
)

// User is a sender as the platform names them. Name is for people only.
type User struct{ ID, Name string }

// Inbound is one message as the adapter understood it [T1]. It holds facts; who
// may speak and what counts as addressed is decided in package bot.
type Inbound struct {
	ID         string // the platform's message id; unique within the conversation
	To         Address
	Chat       ChatType
	From       User
	Text       string
	Mentioned  bool      // addressed to the agent (always true in a direct chat)
	Authorized bool      // the sender may give commands [C1]
	At         time.Time // the platform's time of the message

	// What only platforms with many people have; the zero values mean no.
	Bot            bool     // written by a bot or an app [SL15, D8]
	Implicit       bool     // not mentioned by name, but an answer to the agent or in a thread it speaks in [SL12, D6]
	MentionsOthers bool     // names somebody else and not the agent [D6]
	Guild          string   // server or workspace id
	Parent         string   // conversation that To.Conversation is a thread of, where threads are conversations (Discord) [D5]
	Roles          []string // of the sender, for rules by role [D4]
	Command        bool     // a native slash command, button or picker: addressed to the agent, answered to this person [SL28, D16]
	// ThreadRoot is the id under which a reply would open a thread; "" when the
	// message is in a thread already or the surface has none [SL18].
	ThreadRoot string
	Files      []File
	// Unasked: it counts as addressed only because its room asks for no mention [S36].
	Unasked bool
	// Public lets all see the answer of a Command; else its giver alone does.
	Public bool
	// Happening is what happened, where this tells of no message; nil for a message.
	Happening *Happening
}

// File is a file that came with a message or goes out with one. Open reads it;
// for inbound files that is a download with the platform's credential.
type File struct {
	Name string
	Type string // MIME type as the platform says, "" unknown
	Size int64  // bytes, 0 unknown
	Open func(ctx context.Context) (io.ReadCloser, error)

	// Of a file that goes out: what the platform calls the upload that stands for
	// it, "" before there is one, and how that is remembered beyond the process.
	// Keep may be nil.
	Ref  string
	Keep func(ctx context.Context, ref string) error
}

// Kind says what an outbound message is; it is all that an adapter needs to
// know to skip the reply slot, suppression, speech and context [M14].
type Kind string

// The kinds of outbound messages.
const (
	Reply   Kind = "reply"   // assistant content
	Notice  Kind = "notice"  // operational, such as a fallback notice
	Failure Kind = "failure" // the line a user reads when a turn failed
	Command Kind = "command" // the answer of a command
)

// Outbound is one message to be posted. ID is the delivery id: the same ID is
// the same message, however often it is handed to Send [I2].
type Outbound struct {
	ID      string
	To      Address
	Kind    Kind
	Text    string
	ReplyTo string // platform id of the message that is answered, "" for none

	// Only makes it visible to this person alone where the surface can
	// (ephemeral); the user's platform id.
	Only string
	// Choices are offered below the text where the surface can, as buttons or a
	// menu that only For may use. Choosing one sends its Text as For's command.
	Choices []Choice
	For     string
	// Files come with the text, which may then be empty; at most MaxFiles, of
	// MaxFileBytes together.
	Files []File
}

// Choice is one thing to pick. Label is shown, Text is the command it sends.
type Choice struct{ Label, Text string }

// Receipt is the platform's id of a posted message.
type Receipt struct{ MessageID string }

// SendError says how a send failed. Without one an error of Send counts as
// NotSent and worth another try.
type SendError struct {
	Outcome    Outcome
	RetryAfter time.Duration // earliest next try, 0 when the platform gave none
	Err        error
}

// Outcome is what is known of a send that did not plainly succeed.
type Outcome string

// The outcomes of a failed send [I2].
const (
	NotSent Outcome = "not_sent" // certainly not posted; try again
	Unknown Outcome = "unknown"  // may have been posted; look before posting again
	Refused Outcome = "refused"  // will never be accepted; do not try again
)

func (e *SendError) Error() string { return string(e.Outcome) + ": " + e.Err.Error() }

// Unwrap gives the platform's error.
func (e *SendError) Unwrap() error { return e.Err }

// OutcomeOf reads the outcome of a Send error; nil means posted and gives "".
func OutcomeOf(err error) Outcome {
	if err == nil {
		return ""
	}
	var se *SendError
	if errors.As(err, &se) {
		return se.Outcome
	}
	return NotSent
}

// Receiver takes an inbound message. It returns nil once the message is
// durable: only then may the adapter acknowledge it to the platform [I1].
type Receiver func(ctx context.Context, in Inbound) error

// Channel is one connected surface.
type Channel interface {
	// Name is the channel part of an Address.
	Name() string
	// Run listens until ctx ends or the surface is exhausted (end of input of
	// a console), handing each message to receive in order per conversation.
	Run(ctx context.Context, receive Receiver) error
	// Send posts one message. Sends to one Address are never concurrent.
	Send(ctx context.Context, out Outbound) (Receipt, error)
}

// Finder is a Channel that can look whether a delivery was posted although its
// Send did not say so.
type Finder interface {
	// Find reports whether the delivery was posted. An error means: unknowable now.
	Find(ctx context.Context, out Outbound) (r Receipt, posted bool, err error)
}

// Drafter is a Channel that can show an answer while it grows.
type Drafter interface {
	// Draft opens a draft for the turn at the address; out of band, best effort.
	// What it posts is written down in the book, before; nil: nobody keeps one.
	Draft(ctx context.Context, to Address, replyTo string, book DraftBook) Draft
}

// Draft is an answer that is not final. Until Send posts the final text under
// deliveryID the draft may be replaced or dropped [I8].
type Draft interface {
	// Working shows that the turn runs (typing, a spinner).
	Working()
	// Show replaces the draft's text with the whole text so far.
	Show(text string)
	// Discard takes the draft back: the candidate that wrote it failed. After
	// Close it says that no Send will come, unless one has adopted it already.
	Discard()
	// Close ends the draft; a following Send with the same text may adopt it.
	Close()
}

// DraftMark is what a later process has to know to take a draft back.
type DraftMark struct {
	ID        string    // the adapter's own name of it, unique for ever
	To        Address   // where it stands, its thread included
	MessageID string    // the platform's, "" while that is not known
	Text      string    // what it showed first
	At        time.Time // it is no older
}

// DraftBook remembers, beyond the process, the drafts that stand on a surface.
// A delivery that takes over a draft's message ends the draft by its receipt;
// all else is told here.
type DraftBook interface {
	// Keep writes a draft down: before it is posted, and again with its MessageID.
	// A draft that cannot be written down must not be posted.
	Keep(ctx context.Context, m DraftMark) error
	// Gone says that nothing of the draft stands any more.
	Gone(ctx context.Context, id string)
	// Left says that it may stand, and that its adapter has given it up.
	Left(ctx context.Context, id string)
}

// Retractor is a Drafter that can take back what another process has shown.
type Retractor interface {
	// Retract takes the draft's message away; one that is gone is no error. A
	// SendError says whether another try makes sense.
	Retract(ctx context.Context, m DraftMark) error
}
