// Package channeltest has what stands in for a surface in tests: Room, a
// channel that keeps a journal, and Contract, the list of promises that every
// adapter keeps. Nothing here waits for real time.
package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"standin/channels"
)

// Room is a channel whose people and whose platform are the test. It posts what
// it is given, refuses what it is told to, and writes everything down. The zero
// value is not usable; see NewRoom. It is safe for concurrent use.
type Room struct {
	name string

	mu       sync.Mutex
	receive  channels.Receiver
	running  chan struct{} // closed while Run listens
	closed   chan struct{} // closed by Close: the surface is exhausted
	faults   []Fault
	blind    error
	gate     chan struct{}
	journal  []Entry
	posted   []channels.Outbound
	receipts map[string]channels.Receipt
	changed  chan struct{} // closed and renewed at each entry
	sending  map[channels.Address]int
	said     int
	drafted  int
	files    []string // that stand in the room, as "name: content"
	standing []*roomDraft
	holds    int // retractions that fail
	past     map[channels.Address][]channels.Said
	pastErr  error
}

// Fault is what one Send meets instead of success.
type Fault struct {
	Outcome    channels.Outcome // "" is no fault: the send succeeds
	Posted     bool             // with Unknown: it stands in the room all the same
	RetryAfter time.Duration
}

// What an Entry tells.
const (
	Posted    = "posted"    // stands in the room
	Failed    = "failed"    // a Send met a Fault; Outcome says which
	Repeated  = "repeated"  // an ID that stands in the room already was sent again
	Overlap   = "overlap"   // two Sends to one address at a time: the caller's bug
	Drafted   = "drafted"   // a draft shows Text
	Working   = "working"   // a draft shows that the turn runs
	Discarded = "discarded" // a draft took its text back
	Finished  = "finished"  // a draft was closed
	LookedUp  = "looked up" // a Find for Out.ID
	Retracted = "retracted" // a Retract for the draft Text
	Recalled  = "recalled"  // a Past of To
)

// Entry is one line of a Room's journal.
type Entry struct {
	Event   string
	Out     channels.Outbound // of sends and look-ups
	Outcome channels.Outcome  // of Failed
	To      channels.Address  // of drafts
	Text    string            // of Drafted
}

// NewRoom makes a room; name is the channel part of its addresses.
func NewRoom(name string) *Room {
	return &Room{
		name:     name,
		running:  make(chan struct{}),
		closed:   make(chan struct{}),
		changed:  make(chan struct{}),
		receipts: map[string]channels.Receipt{},
		sending:  map[channels.Address]int{},
	}
}

// Name implements channels.Channel.
func (r *Room) Name() string { return r.name }

// Run implements channels.Channel: it lets Say through until ctx ends or Close.
func (r *Room) Run(ctx context.Context, receive channels.Receiver) error {
	r.mu.Lock()
	if r.receive != nil {
		r.mu.Unlock()
		return errors.New("channeltest: the room is run twice")
	}
	r.receive = receive
	close(r.running)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.receive, r.running = nil, make(chan struct{})
		r.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.closed:
		return nil
	}
}

// Close makes the surface exhausted: Run returns nil.
func (r *Room) Close() { close(r.closed) }

// Say hands a message to the receiver, once Run listens, and gives what the
// receiver gave: nil means that the message was acknowledged. What is left out
// of in is filled: a direct chat in "dm" with an authorized "alice", an ID that
// no other message has. The same ID twice is a redelivery.
func (r *Room) Say(ctx context.Context, in channels.Inbound) error {
	r.mu.Lock()
	running := r.running
	r.said++
	if in.ID == "" {
		in.ID = fmt.Sprintf("%s-%d", r.name, r.said)
	}
	r.mu.Unlock()
	if in.To.Channel == "" {
		in.To.Channel = r.name
	}
	if in.To.Conversation == "" {
		in.To.Conversation = "dm"
	}
	if in.From.ID == "" {
		in.From = channels.User{ID: "alice", Name: "Alice"}
	}
	if in.Chat == "" {
		in.Chat, in.Mentioned, in.Authorized = channels.Direct, true, true
	}
	if in.At.IsZero() {
		in.At = time.Now()
	}
	select {
	case <-running:
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	receive := r.receive
	r.mu.Unlock()
	if receive == nil {
		return errors.New("channeltest: nobody listens any more")
	}
	return receive(ctx, in)
}

// Break makes the next sends meet the faults, in order.
func (r *Room) Break(f ...Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, f...)
}

// Refuse makes the next n sends end in the outcome, nothing posted.
func (r *Room) Refuse(n int, o channels.Outcome) {
	r.Break(slices.Repeat([]Fault{{Outcome: o}}, n)...)
}

// Blind makes Find fail with err; nil lets it see again.
func (r *Room) Blind(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blind = err
}

// Hold makes sends wait until the release is called, or until their ctx ends.
func (r *Room) Hold() (release func()) {
	gate := make(chan struct{})
	r.mu.Lock()
	r.gate = gate
	r.mu.Unlock()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		if r.gate == gate {
			r.gate = nil
		}
		r.mu.Unlock()
		close(gate)
	})
}

// Send implements channels.Channel. Like a platform that enforces a nonce, it
// posts an ID once [I2].
func (r *Room) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	r.mu.Lock()
	r.sending[out.To]++
	if r.sending[out.To] > 1 {
		r.noteLocked(Entry{Event: Overlap, Out: out})
	}
	gate := r.gate
	r.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.sending[out.To]-- }()

	if err := ctx.Err(); err != nil {
		return r.failLocked(out, Fault{Outcome: channels.NotSent}, err)
	}
	if out.To.Channel != r.name {
		return r.failLocked(out, Fault{Outcome: channels.Refused}, fmt.Errorf("no channel %q here", out.To.Channel))
	}
	if out.Text == "" && len(out.Files) == 0 {
		return r.failLocked(out, Fault{Outcome: channels.Refused}, errors.New("no text"))
	}
	var f Fault
	if len(r.faults) > 0 {
		f, r.faults = r.faults[0], r.faults[1:]
	}
	if f.Outcome != "" {
		if f.Outcome == channels.Unknown && f.Posted {
			r.postLocked(out)
		}
		return r.failLocked(out, f, errors.New("the test said so"))
	}
	return r.postLocked(out), nil
}

func (r *Room) postLocked(out channels.Outbound) channels.Receipt {
	if rc, ok := r.receipts[out.ID]; ok && out.ID != "" {
		r.noteLocked(Entry{Event: Repeated, Out: out})
		return rc
	}
	files, err := readFiles(out.Files)
	if err != nil {
		out = channels.WithoutFiles(out, "Reason: "+err.Error()+".")
	}
	r.files = append(r.files, files...)
	r.posted = append(r.posted, out)
	rc := channels.Receipt{MessageID: fmt.Sprintf("%s-post-%d", r.name, len(r.posted))}
	r.receipts[out.ID] = rc
	if out.Kind == channels.Reply || out.Kind == channels.Failure {
		r.overtakeLocked(out.To)
	}
	r.noteLocked(Entry{Event: Posted, Out: out})
	return rc
}

func (r *Room) failLocked(out channels.Outbound, f Fault, err error) (channels.Receipt, error) {
	r.noteLocked(Entry{Event: Failed, Out: out, Outcome: f.Outcome})
	return channels.Receipt{}, &channels.SendError{Outcome: f.Outcome, RetryAfter: f.RetryAfter, Err: err}
}

// Find implements channels.Finder.
func (r *Room) Find(_ context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(Entry{Event: LookedUp, Out: out})
	if r.blind != nil {
		return channels.Receipt{}, false, r.blind
	}
	rc, ok := r.receipts[out.ID]
	return rc, ok, nil
}
