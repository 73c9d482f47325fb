package bot

import (
	"context"
	"errors"
	"time"

	"standin/bot/policy"
	"standin/channels"
)

// Pairing is an unknown person's request to be let in, or the approval that
// came of it [P1, P2].
type Pairing struct {
	Channel, Account string
	User, Name       string // as the platform knows them
	Code             string
	Asked, Expires   time.Time
	Approved         time.Time // zero: waits
	Conversation     string    // the direct chat in which they asked
	Owner            bool      // was approved first, and so owns the daemon
}

// Welcome is what a person who was let in is owed, in the chat in which they
// asked; ok is false when that is not known.
func Welcome(p Pairing) (out channels.Outbound, ok bool) {
	to := channels.Address{Channel: p.Channel, Account: p.Account, Conversation: p.Conversation}
	return channels.Outbound{ID: randomID() + "-w", To: to, Kind: channels.Command, Text: sayWelcome(p)}, p.Conversation != ""
}

// ErrNoPairing says that nobody waits with that code.
var ErrNoPairing = errors.New("nobody waits with that code: it was used, denied, or is more than an hour old")

// People is what the bot remembers of people and rooms.
type People interface {
	// Known tells what was decided about a sender on the account of the address.
	Known(ctx context.Context, to channels.Address, user string) (policy.Known, error)
	// Message finds a message of the address's conversation by the platform's id,
	// a person's or one of ours; found is false when no session has it.
	Message(ctx context.Context, to channels.Address, id string) (m KnownMessage, found bool, err error)
	// Overheard gives the last lines that were said at the address, or with whole
	// in any thread of its conversation, without speaking to the agent and that no
	// turn has taken up, oldest first, at most limit, and the highest of their
	// inbox ids.
	Overheard(ctx context.Context, to channels.Address, whole bool, limit int) (lines []policy.Line, upTo int64, err error)
}

// Roster is a Channel that can tell who is in a room. It is asked where a bot is
// only listened to beside an owner [SL15].
type Roster interface {
	// Member tells whether the user is a member of the address's conversation.
	Member(ctx context.Context, to channels.Address, user string) (bool, error)
}
