package bot

import (
	"context"
	"errors"
	"sync"

	"standin/channels"
	"standin/fallback/provider"
)

// book is the channels.DraftBook of one turn.
type book struct {
	b    *Bot
	turn string
}

// Keep implements channels.DraftBook.
func (k book) Keep(ctx context.Context, m channels.DraftMark) error {
	return k.b.Store.KeepDraft(context.WithoutCancel(ctx), Drafted{DraftMark: m, Turn: k.turn})
}

// Gone implements channels.DraftBook. A row that stays by a fault of the store
// costs the next start one look for nothing.
func (k book) Gone(ctx context.Context, id string) {
	if err := k.b.Store.DropDraft(context.WithoutCancel(ctx), id); err != nil {
		k.b.Log.Warn("a draft that is gone is still in the books", "draft", id, "err", err)
	}
}

// Left implements channels.DraftBook.
func (k book) Left(ctx context.Context, id string) {
	if err := k.b.Store.AbandonDraft(context.WithoutCancel(ctx), id); err != nil {
		k.b.Log.Warn("a draft that was given up is taken back only after the next start", "draft", id, "err", err)
		return
	}
	k.b.leftovers.found(k.turn)
}

// leftovers takes back the drafts that nobody ends: those of a former process,
// and those that an adapter has given up. Half an answer must not stay beside the
// whole one, nor for ever where none comes [I2, I8].
//
// The whole answer, if it is still owed, goes first to the outbox: a delivery
// that may have been posted is looked up before anything is taken away, since
// the draft may be what it has become; one that was not posted has the draft
// taken away and is posted then. What belongs to no owed delivery is swept here.
type leftovers struct {
	b *Bot

	mu    sync.Mutex
	turns map[string]bool // that have some
	tries map[string]int  // by draft
	runs  bool
	again chan struct{} // wakes the sweep
	ended sync.WaitGroup
}

func newLeftovers(b *Bot) *leftovers {
	return &leftovers{b: b, turns: map[string]bool{}, tries: map[string]int{}, again: make(chan struct{}, 1)}
}

// take begins with what a former process left.
func (l *leftovers) take(ctx context.Context) error {
	rows, err := l.b.Store.Abandoned(ctx)
	if err != nil {
		return err
	}
	for _, d := range rows {
		l.found(d.Turn)
	}
	return nil
}

// found notes that a turn has drafts that nobody ends, and has them swept.
func (l *leftovers) found(turn string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns[turn] = true
	l.sweepLocked()
}

// delivered has the turn's drafts swept, if it has any, once nothing of it is owed.
func (l *leftovers) delivered(turn string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turns[turn] {
		l.sweepLocked()
	}
}

func (l *leftovers) sweepLocked() {
	if l.b.life.Err() != nil {
		return // the next start does it
	}
	if l.runs {
		select {
		case l.again <- struct{}{}:
		default:
		}
		return
	}
	l.runs = true
	l.ended.Go(l.sweep)
}

// sweep takes away what belongs to no owed delivery until nothing is left that
// could be.
func (l *leftovers) sweep() {
	wait := firstSendWait
	for {
		rows, err := l.b.Store.Abandoned(context.WithoutCancel(l.b.life))
		if err != nil {
			l.b.Log.Error("the drafts that were left behind are not read, trying again", "err", err)
		}
		stays := err != nil
		turns := map[string]bool{}
		for _, d := range rows {
			turns[d.Turn] = true
			if !d.Owed && l.b.life.Err() == nil && !l.retract(l.b.life, d) {
				stays = true
			}
		}
		l.mu.Lock()
		if err == nil {
			l.turns = turns
		}
		news := false
		select {
		case <-l.again:
			news = true
		default:
		}
		if l.b.life.Err() != nil || !stays && !news {
			l.runs = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		if news {
			continue
		}
		_ = l.b.Sleep(l.b.life, wait)
		wait = min(2*wait, lastSendWait)
	}
}

// clear takes the drafts of a turn away before what it owes is posted. It gives
// the error of one that still stands and may be tried again.
func (l *leftovers) clear(ctx context.Context, turn string) error {
	l.mu.Lock()
	has := l.turns[turn]
	l.mu.Unlock()
	if !has {
		return nil
	}
	rows, err := l.b.Store.Abandoned(ctx)
	if err != nil {
		return err
	}
	for _, d := range rows {
		if d.Turn == turn && !l.retract(ctx, d) && l.tried(d.ID) < maxLooks {
			return errors.New("the half of it that was shown could not be taken back yet")
		}
	}
	return nil
}

func (l *leftovers) tried(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tries[id]
}

// retract takes one draft away and out of the books. False means that it has to
// be tried again.
func (l *leftovers) retract(ctx context.Context, d Drafted) bool {
	log := l.b.Log.With("draft", d.ID, "channel", d.To.Channel, "conversation", d.To.Conversation)
	err := l.call(ctx, d)
	if err != nil && channels.OutcomeOf(err) != channels.Refused && l.b.Now().Sub(d.At) <= sendMaxAge {
		log.Debug("a draft that was left behind is not taken back yet", "err", provider.Redact(err.Error()))
		l.mu.Lock()
		l.tries[d.ID]++
		l.mu.Unlock()
		return false
	}
	if err != nil {
		log.Warn("a draft stays: delete the half answer by hand", "message", d.MessageID, "err", provider.Redact(err.Error()))
	} else {
		log.Info("took back the half of an answer that was left behind")
	}
	if err := l.b.Store.DropDraft(context.WithoutCancel(ctx), d.ID); err != nil {
		log.Error("a draft that is gone is still in the books", "err", err)
		return false
	}
	l.mu.Lock()
	delete(l.tries, d.ID)
	l.mu.Unlock()
	return true
}

func (l *leftovers) call(ctx context.Context, d Drafted) error {
	ch, ok := l.b.Channels[d.To.Channel].(channels.Retractor)
	if !ok {
		return &channels.SendError{Outcome: channels.Refused, Err: errors.New("no channel takes drafts back there")}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return ch.Retract(ctx, d.DraftMark)
}

// rest waits until the sweep has ended, after the bot's life.
func (l *leftovers) rest(ctx context.Context) error {
	done := make(chan struct{})
	go func() { l.ended.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
