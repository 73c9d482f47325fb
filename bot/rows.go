package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Session is the row of one conversation with an agent [S13].
type Session struct {
	Key             fallback.SessionID
	Agent           fallback.AgentID
	Epoch           string // changes with /new, /reset and rollover; history belongs to one epoch
	StartedAt       time.Time
	LastInteraction time.Time // of people; background runs leave it alone [S8]
	Compactions     int
	Turns           int              // finished turns of this epoch
	Aborted         bool             // the previous run was aborted [S34]
	Route           channels.Address // where it was last spoken to
	// Parent is the session whose selection stands in while this one has none of
	// its own (failover.md 3.8); "": see ParentOf.
	Parent fallback.SessionID
	Queue  string // the session's own /queue, as policy.ParseQueue reads it; "" for none
	Seeded bool   // the past of its thread has been told, or is not to be [SL19]
	Send   string // the session's own /send: "on", "off", or "" for the rules
	// Settings are what else it has been told, such as /think.
	Settings Settings
}

// ParentOf is the session that this one is a part of: the row's own parent, or
// the room of a thread [T4]; "" for none.
func (s Session) ParentOf() fallback.SessionID {
	if s.Parent != "" {
		return s.Parent
	}
	if room, _, ok := strings.Cut(string(s.Key), ":thread:"); ok {
		return fallback.SessionID(room)
	}
	return ""
}

// Accepted is an inbox row: a message that is owed exactly one ending [I1].
type Accepted struct {
	ID      int64
	In      channels.Inbound
	Session fallback.SessionID
	Agent   fallback.AgentID
	At      time.Time // when it was accepted
	// Acted says that a turn of a former process did something outside for it
	// and did not end: it is not run again [I8].
	Acted bool
}

// Entry is one row of a session's transcript. Notices never become entries [N20].
type Entry struct {
	Turn  string
	Role  provider.Role
	Text  string
	Model fallback.Model // who answered; zero for the user
	At    time.Time
	// What an assistant's entry asked of tools, and what the entry behind it, a
	// user's, has for results. An entry of results is no question of a person.
	Calls   []provider.ToolCall
	Results []provider.ToolResult
	Seq     int64 // the store's, in order; 0 while it is not stored
	Summary bool  // it stands for what was said before
	// Others says that Text holds words of people other than the owner. A turn that
	// is shown them has strangers' words in it, whoever writes next.
	Others bool
}

// Summary takes the place of a conversation's beginning.
type Summary struct {
	Turn  string
	Text  string
	Model fallback.Model // who wrote it
	Since int64          // Seq of the first entry that it does not take in
	At    time.Time
	// Others is that of the entries that it takes in.
	Others bool
}

// Delivery is an outbox row.
type Delivery struct {
	channels.Outbound
	Turn      string
	State     DeliveryState
	Attempts  int
	Next      time.Time // not before
	Created   time.Time
	MessageID string // the platform's, once sent
	Error     string // of the last try, redacted
}

// Drafted is the row of a message that shows an answer in the making [I8].
type Drafted struct {
	channels.DraftMark
	Turn string
	Owed bool // a delivery of its turn is not finished; read only
}

// DeliveryState is where a delivery stands. Pending → Sending (claimed, before
// the call) → Sent, or back to Pending (certainly not sent), or Unknown until
// it was looked up, or Refused for good.
type DeliveryState string

// The states of a delivery.
const (
	Pending DeliveryState = "pending"
	Sending DeliveryState = "sending"
	Sent    DeliveryState = "sent"
	Unknown DeliveryState = "unknown"
	Refused DeliveryState = "refused"
)

// How an accepted message ended [I1].
type How string

// The endings.
const (
	Answered  How = "answered"
	Failed    How = "failed"
	Commanded How = "command"
	Silent    How = "silent" // with its reason in Ending.Why
)

// Ending is all that the end of a turn writes, in one transaction: the inbox
// row's fate, the transcript, the told pair with its notice, and the posts.
type Ending struct {
	Accepted   int64 // inbox row, 0 when no message started the turn
	Session    fallback.SessionID
	Epoch      string // entries are dropped when the session has moved on
	Turn       string
	How        How
	Why        string
	At         time.Time
	Entries    []Entry
	Settle     *fallback.Settle
	Notice     *channels.Outbound // written, first, only if Settle changed the row
	Posts      []channels.Outbound
	Choose     *Choice // a command's change of the selection
	Renew      *Renewal
	change     *fallback.Step // what Choose or Renew comes to, for the journal; not for the store
	Background bool           // a run no person started: LastInteraction stays
	Aborted    bool

	With      []int64            // inbox rows that were answered together with Accepted: they end the same way [S26, S32]
	Drops     []int64            // inbox rows that end in silence because of the change that this is, why "reset" [S11]
	drops     []Accepted         // the messages of Drops, for those who wait for them; not for the store
	Overheard bool               // Accepted was said in the room and not to the agent: later turns may hear of it [S18]
	Heard     int64              // what was overheard at the address up to this inbox row has been taken up; 0: nothing
	HeardAll  bool               // so has what was overheard in the other threads of its conversation
	Seeded    bool               // Session.Seeded is set
	Send      *string            // a change of Session.Send
	Pair      *Pairing           // a request to be let in; the posts are made only if it is a new one [P1]
	Queue     *string            // a change of Session.Queue
	Parent    fallback.SessionID // becomes Session.Parent; "": it stays
	with      []Accepted         // the messages of With, for those who wait for them; not for the store
	KeepRoute bool               // Session.Route stays [S4]
	Set       []Setting          // changes of Session.Settings
	Events    int64              // the session's system events up to this one have been taken up; 0: none
}

// Choice is a user's change of the stored selection [M8].
type Choice struct {
	Session fallback.SessionID
	Now     fallback.Selection
}

// Renewal is /new, /reset or sessions.reset [D4]: a new epoch, automatic
// overrides, pins and the told pair gone, a user's model kept unless Drop.
type Renewal struct {
	Session fallback.SessionID
	Epoch   string
	Drop    bool // session.resetKeepsModel: false
	ByTime  bool // nobody asked for it: a thread's past may be told again
}

// ErrEnded says that the accepted message had its ending already [I1]: somebody
// else's, or our own whose success we were not told of.
var ErrEnded = errors.New("the message has ended already")

// Store is what the bot needs to remember. All methods are safe for concurrent
// use; each writes in one transaction.
type Store interface {
	People
	Events
	Files
	// Accept stores a message under its unique key (address and id). fresh is
	// false when it was stored before, whatever became of it [I2]. The session
	// row is made when it is missing; without s (turned away) there is none.
	Accept(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID, at time.Time) (row Accepted, fresh bool, err error)
	// Unended gives the accepted messages without an ending, oldest first.
	Unended(ctx context.Context) ([]Accepted, error)
	// Acting notes, before it is done, that something outside is done for messages.
	Acting(ctx context.Context, messages []int64) error
	// Session gives a session's row; one that does not exist has an empty Epoch.
	Session(ctx context.Context, s fallback.SessionID) (Session, error)
	// History gives the last entries of the session's epoch, oldest first,
	// cut so that it holds at most turns user entries.
	History(ctx context.Context, s fallback.SessionID, epoch string, turns int) ([]Entry, error)
	// Sessions gives those that people spoke to last, latest first; 0: all.
	Sessions(ctx context.Context, limit int) ([]SessionState, error)
	// Summarise puts a summary in the place of the entries before it; false when
	// the session is in another epoch.
	Summarise(ctx context.Context, s fallback.SessionID, epoch string, c Summary) (done bool, err error)
	// Selection gives the stored override.
	Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error)
	// End writes an Ending. posted lists the outbox rows that it made, in order.
	// An inbox row that has ended already makes it do nothing and give ErrEnded.
	End(ctx context.Context, e Ending) (posted []Delivery, err error)

	// Due gives the deliveries that are owed, in the order they were written:
	// at most one per Address unless it is the first of its address.
	Due(ctx context.Context, now time.Time) ([]Delivery, error)
	// Claim moves a delivery from Pending or Unknown to Sending; false when
	// somebody else has it.
	Claim(ctx context.Context, id string) (bool, error)
	// Mark stores what became of a claimed delivery.
	Mark(ctx context.Context, d Delivery) error
	// Interrupted turns Sending rows of a former process into Unknown, and its
	// drafts into abandoned ones.
	Interrupted(ctx context.Context) (int, error)

	// KeepDraft stores a draft that is about to be posted, and later its MessageID.
	// Mark forgets it when a delivery stands as that very message.
	KeepDraft(ctx context.Context, d Drafted) error
	// DropDraft forgets a draft of which nothing stands.
	DropDraft(ctx context.Context, id string) error
	// AbandonDraft notes that its adapter has given a draft up.
	AbandonDraft(ctx context.Context, id string) error
	// Abandoned gives the drafts that nobody will end, oldest first.
	Abandoned(ctx context.Context) ([]Drafted, error)
}
