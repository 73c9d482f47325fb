package bot

import (
	"context"
	"time"
)

// Media is a file that came with a message and has been fetched [G40].
type Media struct {
	Message int64 // inbox row
	N       int   // which of the message's files
	Name    string
	Type    string // MIME type, by its bytes and not by what somebody calls it
	Size    int64
	At      time.Time // when it was fetched
	// Read gives its bytes, or an error once it was thrown away. The store's; not
	// asked for by KeepMedia.
	Read func() ([]byte, error)
}

// Files is what the bot remembers of files that came with messages.
type Files interface {
	// KeepMedia stores a file; one that is there already is replaced.
	KeepMedia(ctx context.Context, m Media, data []byte) error
	// Media gives the stored files of messages, in the order of the messages.
	Media(ctx context.Context, messages []int64) ([]Media, error)
}
