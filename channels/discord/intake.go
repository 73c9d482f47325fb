package discord

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/bwmarrin/discordgo"

	"standin/channels"
)

// intake takes events off the gateway and does their work in order per
// conversation, so that a slow store or a slow look-up holds up nobody else and
// never the gateway [IL-188].
type intake struct {
	c       *Channel
	receive channels.Receiver
	room    chan struct{} // one token per waiting job

	mu     sync.Mutex
	queues map[string][]job
	work   sync.WaitGroup
}

// job is something to be done in a conversation.
type job func(ctx context.Context)

// maxWaiting bounds the jobs of all conversations. When there are more, the
// gateway is read no further: its replay keeps what comes.
const maxWaiting = 10_000

func newIntake(c *Channel, receive channels.Receiver) *intake {
	return &intake{c: c, receive: receive, room: make(chan struct{}, maxWaiting), queues: map[string][]job{}}
}

// put appends a job to its conversation's queue.
func (in *intake) put(ctx context.Context, conversation string, j job) {
	select {
	case in.room <- struct{}{}:
	case <-ctx.Done():
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	queue, running := in.queues[conversation]
	in.queues[conversation] = append(queue, j)
	if !running {
		in.work.Go(func() { in.drain(ctx, conversation) })
	}
}

// drain does a conversation's jobs until there are none.
func (in *intake) drain(ctx context.Context, conversation string) {
	for {
		in.mu.Lock()
		queue := in.queues[conversation]
		if len(queue) == 0 {
			delete(in.queues, conversation)
			in.mu.Unlock()
			return
		}
		in.queues[conversation] = queue[1:]
		in.mu.Unlock()
		if ctx.Err() == nil {
			in.do(ctx, queue[0])
		}
		<-in.room
	}
}

// do does one job; a panic in it is its own affair.
func (in *intake) do(ctx context.Context, j job) {
	defer func() {
		if r := recover(); r != nil {
			in.c.log.Error("a message's handling panicked", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	j(ctx)
}

// beside does work that belongs to no conversation's order, such as telling
// Discord in time that an interaction was seen.
func (in *intake) beside(ctx context.Context, j job) {
	in.work.Go(func() { in.do(ctx, j) })
}

// wait waits for what still runs.
func (in *intake) wait() { in.work.Wait() }

// handOver gives a message to the receiver until it is durable [I1]. Discord
// does not send it again, so a receiver that fails is asked again, for about a
// minute; then the message is lost, which the log says, and its id is free.
func (in *intake) handOver(ctx context.Context, msg channels.Inbound) bool {
	wait := in.c.pace.retake
	for try := 1; ; try++ {
		err := in.receive(ctx, msg)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if try == maxRetakes {
			in.c.log.Error("a message was not taken and is given up", "conversation", msg.To.Conversation, "message", msg.ID, "err", err)
			return false
		}
		in.c.log.Warn("a message was not taken, trying again", "conversation", msg.To.Conversation, "message", msg.ID, "err", err)
		if channels.Sleep(ctx, wait) != nil {
			return false
		}
		wait *= 2
	}
}

const maxRetakes = 7

// event takes an event of the gateway.
func (in *intake) event(ctx context.Context, ev discordgo.Event) {
	c := in.c
	switch ev.Type {
	case "READY":
		c.meet(ev.RawData)
		in.catchUp(ctx)
		in.beside(ctx, c.registerCommands)
	case "MESSAGE_CREATE":
		in.message(ctx, ev.RawData)
	case "INTERACTION_CREATE":
		in.interaction(ctx, ev.RawData)
	default:
		in.happening(ctx, ev) // before a new name takes the old one's place
		c.places.event(ev)
	}
}
