package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"standin/channels"
)

// How often a write that failed is tried again: from firstWait, doubling, to lastWait.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 10 * time.Second
)

// retry runs f until it succeeds, at most tries times, or until ctx ends; it
// gives f's last error.
func (b *Bot) retry(ctx context.Context, tries int, f func() error) error {
	wait := firstWait
	for {
		err := f()
		if tries--; err == nil || tries <= 0 {
			return err
		}
		if b.Sleep(ctx, wait) != nil {
			return err
		}
		wait = min(2*wait, lastWait)
	}
}

// end gives the message its ending and sees its posts on their way. It reports
// whether this ending is the one that counts: somebody else may have been first
// (a /stop and an answer that cross each other) [I1].
//
// A store that fails is asked again until ctx or the bot ends. That is safe
// because a message ends once: ErrEnded after an error of our own means that
// the earlier try was written after all. If it never succeeds the message keeps
// its row and is taken up at the next start.
func (b *Bot) end(ctx context.Context, row Accepted, e Ending) (counts bool) {
	e.Accepted, e.Session, e.At = row.ID, row.Session, b.Now()
	e.Posts = b.takeFiles(ctx, e.Posts)
	for _, w := range e.with {
		e.With = append(e.With, w.ID)
	}
	key := keyOf(row.In)
	b.ledger.expect(key, postsOf(e))
	doubt := false
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		posted, err := b.Store.End(context.WithoutCancel(ctx), e)
		switch {
		case err == nil:
			b.ledger.ended(key, postsOf(e), idsOf(posted))
		case errors.Is(err, ErrEnded) && doubt:
			// Ours. Whether its notice was written is not known here; the posts were.
			made := idsOfPosts(e.Posts)
			if e.Pair != nil {
				made = nil // nor whether they were
			}
			b.ledger.ended(key, postsOf(e), made)
		case errors.Is(err, ErrEnded):
			b.ledger.forget(postsOf(e))
			return false
		default:
			if !doubt {
				b.Log.Error("ending not written, trying again", "session", e.Session, "message", row.In.ID, "err", err)
			}
			doubt = true
			if b.pause(ctx, wait) != nil {
				b.ledger.forget(postsOf(e))
				b.Log.Error("ending given up until the next start", "session", e.Session, "message", row.In.ID, "err", err)
				return false
			}
			continue
		}
		for _, w := range e.with {
			b.ledger.ended(keyOf(w.In), nil, nil)
		}
		b.dropped(e)
		b.record(ctx, e)
		b.outbox.kick()
		return true
	}
}

// pause sleeps until ctx or the bot ends.
func (b *Bot) pause(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(b.life, func() { cancel(context.Cause(b.life)) })()
	return b.Sleep(ctx, d)
}

// endAlone writes an Ending that belongs to no message: a background run, or a
// change from outside the chat. Without a message's row to guard it, it is
// written once or fails.
func (b *Bot) endAlone(ctx context.Context, e Ending) error {
	e.At = b.Now()
	e.Posts = b.takeFiles(ctx, e.Posts)
	if _, err := b.Store.End(context.WithoutCancel(ctx), e); err != nil {
		return fmt.Errorf("write the end of %s: %w", e.Session, err)
	}
	b.dropped(e)
	b.record(ctx, e)
	b.outbox.kick()
	return nil
}

// drop has waiting requests end with e.
func (e *Ending) drop(all []request) {
	e.drops = rowsOf(all)
	for _, row := range e.drops {
		e.Drops = append(e.Drops, row.ID)
	}
}

// rowsOf are the messages of requests that have a row.
func rowsOf(all []request) (rows []Accepted) {
	for _, r := range all {
		for _, row := range r.rows() {
			if row.ID != 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// dropped tells those who wait for a message that it ended with e.
func (b *Bot) dropped(e Ending) {
	for _, row := range e.drops {
		b.ledger.ended(keyOf(row.In), nil, nil)
	}
}

// restore has requests wait again that were to end with a change that was not
// written.
func (b *Bot) restore(cfg *Config, all []request) {
	for _, r := range all {
		b.answer(cfg, r)
	}
}

// post makes the message that answers in. One turn makes at most one post of a
// kind, so kind and turn are its delivery id.
func post(turn string, kind channels.Kind, in channels.Inbound, text string) channels.Outbound {
	return channels.Outbound{ID: turn + "-" + string(kind[:1]), To: in.To, Kind: kind, Text: text, ReplyTo: in.ID}
}

func postsOf(e Ending) []string {
	ids := idsOfPosts(e.Posts)
	if e.Notice != nil {
		ids = append(ids, e.Notice.ID)
	}
	return ids
}

func idsOfPosts(posts []channels.Outbound) (ids []string) {
	for _, p := range posts {
		ids = append(ids, p.ID)
	}
	return ids
}

func idsOf(rows []Delivery) (ids []string) {
	for _, d := range rows {
		ids = append(ids, d.ID)
	}
	return ids
}

// ledger knows which messages still wait for their ending or for a delivery of
// it, so that Wait can tell when one is done. It is memory: after a restart
// nobody waits any more.
type ledger struct {
	mu    sync.Mutex
	owed  map[message]*owed
	posts map[string]message // delivery id → the message it answers
}

type owed struct {
	left  int // deliveries not yet sent or refused
	ended bool
	done  chan struct{}
}

// open notes that the message is owed an ending.
func (l *ledger) open(key message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owed == nil {
		l.owed, l.posts = map[message]*owed{}, map[string]message{}
	}
	if l.owed[key] == nil {
		l.owed[key] = &owed{done: make(chan struct{})}
	}
}

// expect notes deliveries before they are written: one may be sent before the
// write that made it has returned.
func (l *ledger) expect(key message, ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owed[key]
	if o == nil {
		return
	}
	for _, id := range ids {
		l.posts[id] = key
		o.left++
	}
}

// ended notes the ending; of the expected deliveries only the posted ones exist.
func (l *ledger) ended(key message, expected, posted []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owed[key]
	if o == nil {
		return
	}
	o.ended = true
	made := map[string]bool{}
	for _, id := range posted {
		made[id] = true
	}
	for _, id := range expected {
		if !made[id] {
			l.settleLocked(id)
		}
	}
	l.closeLocked(key, o)
}

// forget takes deliveries back that were expected and will not be made.
func (l *ledger) forget(ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.settleLocked(id)
	}
}

// settle notes that a delivery was sent or refused.
func (l *ledger) settle(id string) { l.forget([]string{id}) }

func (l *ledger) settleLocked(id string) {
	key, ok := l.posts[id]
	if !ok {
		return
	}
	delete(l.posts, id)
	if o := l.owed[key]; o != nil {
		o.left--
		l.closeLocked(key, o)
	}
}

func (l *ledger) closeLocked(key message, o *owed) {
	if o.ended && o.left == 0 && l.owed[key] == o {
		close(o.done)
		delete(l.owed, key)
	}
}

// wait blocks until the message is done.
func (l *ledger) wait(ctx context.Context, key message) error {
	l.mu.Lock()
	o := l.owed[key]
	l.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
