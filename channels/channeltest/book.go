package channeltest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"standin/channels"
)

// Book is a channels.DraftBook in memory. The zero value is an empty one; it is
// safe for concurrent use.
type Book struct {
	mu     sync.Mutex
	kept   []channels.DraftMark // what was written, in order
	open   map[string]channels.DraftMark
	left   []string
	closed bool
}

// Refuse makes every further Keep fail.
func (b *Book) Refuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// Keep implements channels.DraftBook.
func (b *Book) Keep(_ context.Context, m channels.DraftMark) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("the book is closed")
	}
	if b.open == nil {
		b.open = map[string]channels.DraftMark{}
	}
	b.open[m.ID] = m
	b.kept = append(b.kept, m)
	return nil
}

// Gone implements channels.DraftBook.
func (b *Book) Gone(_ context.Context, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, id)
}

// Left implements channels.DraftBook.
func (b *Book) Left(_ context.Context, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = append(b.left, id)
}

// Kept gives everything that was written down, in order.
func (b *Book) Kept() []channels.DraftMark {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.kept)
}

// Open gives the number of drafts that are written down and not gone.
func (b *Book) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// WasLeft tells whether a draft was given up.
func (b *Book) WasLeft() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.left) > 0
}
