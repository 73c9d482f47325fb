package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"standin/channels"
)

// roomName is the channel of a rehearsal.
const roomName = "rehearsal"

// stagedRoom is the surface of a rehearsal: it tells the story of each post and
// behaves as the script says. It outlives the daemon's processes, as a platform
// does. A conversation of it is a session.
type stagedRoom struct {
	told func(channels.Outbound, bool) // a post, and whether it is threaded

	mu      sync.Mutex
	refuse  string // how the next posts are refused: definite or ambiguous
	left    int    // how many
	posted  map[string]channels.Receipt
	threads map[string]string // inbound id → replyToMode
	slots   map[string]bool   // inbound id → the first reply slot is used up
}

func newStagedRoom(told func(channels.Outbound, bool)) *stagedRoom {
	return &stagedRoom{told: told, posted: map[string]channels.Receipt{}, threads: map[string]string{}, slots: map[string]bool{}}
}

// Name implements channels.Channel.
func (r *stagedRoom) Name() string { return roomName }

// Run implements channels.Channel. What is said comes straight from the script.
func (r *stagedRoom) Run(ctx context.Context, _ channels.Receiver) error {
	<-ctx.Done()
	return nil
}

// turnDown makes the next n posts fail.
func (r *stagedRoom) turnDown(how string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse, r.left = how, n
}

// said notes how a message wants to be answered: off, first, all or batched.
func (r *stagedRoom) said(id, replyToMode string) {
	if replyToMode == "" || replyToMode == "off" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads[id] = replyToMode
}

// Send implements channels.Channel. A delivery is posted once, however often it
// is sent.
func (r *stagedRoom) Send(_ context.Context, out channels.Outbound) (channels.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	how := ""
	if r.left > 0 {
		how, r.left = r.refuse, r.left-1
	}
	if how == "definite" {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.NotSent, Err: errors.New("the room refused the post")}
	}
	receipt, again := r.posted[out.ID]
	if !again {
		receipt = channels.Receipt{MessageID: fmt.Sprintf("post-%d", len(r.posted)+1)}
		r.posted[out.ID] = receipt
		r.told(out, r.threadedLocked(out))
	}
	if how == "ambiguous" {
		return channels.Receipt{}, &channels.SendError{Outcome: channels.Unknown, Err: errors.New("no answer from the room")}
	}
	return receipt, nil
}

// Find implements channels.Finder.
func (r *stagedRoom) Find(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	receipt, ok := r.posted[out.ID]
	return receipt, ok, nil
}

// threadedLocked decides whether a post hangs under the message that it answers,
// as the adapters do: in a thread always; else by the reply mode, where only
// the first piece of assistant content uses up the slot of mode first [M14].
func (r *stagedRoom) threadedLocked(out channels.Outbound) bool {
	if out.To.Thread != "" {
		return true
	}
	switch r.threads[out.ReplyTo] {
	case "all":
		return true
	case "first", "batched":
		if r.slots[out.ReplyTo] {
			return false
		}
		r.slots[out.ReplyTo] = usesReplySlot(out.Kind)
		return true
	}
	return false
}

// usesReplySlot tells whether a post of the kind takes the first reply slot of
// a threaded channel [M14].
func usesReplySlot(k channels.Kind) bool { return k == channels.Reply }
