package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/fallback"
)

// SystemEvent is a thing that happened and that the agent hears of with its
// next turn in the session: an edit in the room, a job's result, a wake
// [R26, R54, SL-events]. It starts no turn.
type SystemEvent struct {
	ID      int64 // the store's, in order of writing
	Session fallback.SessionID
	// Key is the event's context key: a later one of the same key takes the
	// place of one that still waits [R26]. "": each stands for itself.
	Key  string
	Text string // one line, written by us; other people's words in it are marked by who writes it
	At   time.Time
}

// Events is where system events wait.
type Events interface {
	// Note keeps an event. Of more than policy.EventsMost that wait in a session
	// the oldest go.
	Note(ctx context.Context, e SystemEvent) error
	// Noted gives what waits in the session, oldest first.
	Noted(ctx context.Context, s fallback.SessionID) ([]SystemEvent, error)
}

// Note has the agent told with its next turn in the session.
func (b *Bot) Note(ctx context.Context, e SystemEvent) error {
	if e.At.IsZero() {
		e.At = b.Now()
	}
	if err := b.Store.Note(ctx, e); err != nil {
		return fmt.Errorf("keep a system event of %s: %w", e.Session, err)
	}
	return nil
}

// withEvents puts what happened since the last turn in front of a text, and
// gives the last event that this takes in. strange says that people's words are
// among them. A turn does without what cannot be
// read; the events stay for the next one.
func (b *Bot) withEvents(ctx context.Context, s fallback.SessionID, text string) (told string, upTo int64, strange bool) {
	waiting, err := b.Store.Noted(ctx, s)
	if err != nil {
		b.Log.Error("system events were not read", "session", s, "err", err)
		return text, 0, false
	}
	if len(waiting) == 0 {
		return text, 0, false
	}
	lines := make([]policy.Line, len(waiting))
	for i, e := range waiting {
		lines[i] = policy.Line{Text: e.Text, At: e.At}
		strange = strange || !e.ours()
	}
	return policy.WithEvents(lines, text), waiting[len(waiting)-1].ID, strange
}

// The beginnings of the keys of events that the operator's own jobs and wakes
// make. All others tell of what people did, in their words.
const (
	JobKey  = "cron"
	WakeKey = "wake:"
)

func (e SystemEvent) ours() bool {
	return strings.HasPrefix(e.Key, JobKey) || strings.HasPrefix(e.Key, WakeKey)
}
