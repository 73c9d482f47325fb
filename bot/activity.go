package bot

import (
	"context"
	"fmt"

	"standin/channels"
	"standin/fallback"
)

// Activity tells what the bot is doing, for a wiring that owns the clock: how
// many turns run, on how many of its own timers the outbox waits, and whether
// it is reading or posting. When every running turn and every timer sleeps on
// that clock and nothing is being posted, nothing happens until time passes
// (see Options.Stirred).
//
// What is held is counted before the turns, and those before the outbox: what
// moves on meanwhile is counted twice then, never missed. A held message that is
// released is in its lane before it stops counting, and a turn that ends has
// handed its posts to the outbox.
func (b *Bot) Activity() (turns, timers int, posting bool) {
	held := b.bundles.count()
	b.lanes.mu.Lock()
	turns = b.lanes.running
	b.lanes.mu.Unlock()
	b.outbox.mu.Lock()
	defer b.outbox.mu.Unlock()
	return turns, b.outbox.sleeping + held, b.outbox.reading || len(b.outbox.busy) > 0
}

// Nudge has the outbox look for what somebody else has written there.
func (b *Bot) Nudge() { b.outbox.kick() }

// Busy tells whether a turn of the session runs or waits.
func (b *Bot) Busy(s fallback.SessionID) bool {
	running, waiting := b.lanes.Depth(s)
	return running || waiting > 0
}

// ReceiveFor is Receive for a message whose session and agent are known
// already, instead of being read off its address, and whose sender was let in.
func (b *Bot) ReceiveFor(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID) error {
	if b.isStopping() {
		return ErrShutdown
	}
	row, ours, err := b.accept(ctx, in, s, a)
	if err != nil {
		return fmt.Errorf("accept message %s: %w", in.ID, err)
	}
	if ours {
		b.ledger.open(keyOf(in))
		b.dispatch(ctx, b.Config(), row)
	}
	return nil
}

// Begin is Turn for a caller that does not wait: done is called once, in the
// lane, when the turn has ended or was dropped.
func (b *Bot) Begin(ctx context.Context, t Turn, done func(Result, error)) {
	b.lanes.Do(t.Session, job{
		run:     func(lane context.Context) { done(b.background(lane, ctx, t)) },
		dropped: func(cause error) { done(Result{}, cause) },
	})
}
