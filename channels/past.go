package channels

import (
	"context"
	"time"
)

// Said is a message of a conversation's past.
type Said struct {
	ID   string // the platform's
	From User
	Bot  bool // written by a bot or an app
	Own  bool // written by the agent itself, whatever kind of message it is
	Text string
	At   time.Time
}

// Historian is a Channel that can read a conversation's past.
type Historian interface {
	// Past gives the last messages of a conversation or thread before a message id
	// ("" is now), oldest first, at most limit. None of them is handed over.
	Past(ctx context.Context, at Address, before string, limit int) ([]Said, error)
}
