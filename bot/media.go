package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"standin/channels"
	"standin/fallback/provider"
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

// MediaConfig bounds what is made of files that come with messages.
type MediaConfig struct {
	// MaxBytes is the largest file that is read (agents.defaults.mediaMaxMb); a
	// channel's own mediaMaxMb may be less.
	MaxBytes int64
	// Keep is how long one is kept (media.ttlHours); 0: as long as its message.
	Keep time.Duration
}

const (
	fetchTime  = time.Minute // of one download
	fetchSlots = 4           // downloads side by side
)

// fetches downloads the files of messages as soon as these are accepted: a
// message may wait long for its turn, a link may not, and a restart in between
// leaves no way to open it. What was fetched is the store's; here is what is
// under way, and why something could not be had.
type fetches struct {
	mu    sync.Mutex
	under map[int64]*fetch
	slots chan struct{}
	all   sync.WaitGroup
}

// fetch is the downloads of one message. why is by the number of the file, and is
// read once done is closed.
type fetch struct {
	done chan struct{}
	why  map[int]error
}

// errGone is the reason of a file whose download a restart cut off.
var errGone = errors.New("standin was restarted before it had been fetched; send it again")

// fetch begins to download a message's files. It returns at once.
func (b *Bot) fetch(cfg *Config, row Accepted) {
	if len(row.In.Files) == 0 {
		return
	}
	f := &b.fetches
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.under == nil {
		f.under, f.slots = map[int64]*fetch{}, make(chan struct{}, fetchSlots)
	}
	if f.under[row.ID] != nil {
		return
	}
	one := &fetch{done: make(chan struct{}), why: map[int]error{}}
	f.under[row.ID] = one
	f.all.Go(func() {
		defer f.over(row.ID, one)
		for n, file := range row.In.Files {
			f.slots <- struct{}{}
			err := b.take(b.life, cfg.Media.MaxBytes, row.ID, n, file)
			<-f.slots
			if err != nil {
				one.why[n] = err
				b.Log.Warn("a file of a message was not fetched", "session", row.Session, "message", row.In.ID, "file", channels.FileName(file.Name), "err", provider.Redact(err.Error()))
			}
		}
	})
}

// over ends the downloads of a message. Only failures are to be remembered: a
// message may never get its turn, and what went well is the store's.
func (f *fetches) over(message int64, one *fetch) {
	close(one.done)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(one.why) == 0 && f.under[message] == one {
		delete(f.under, message)
	}
}

// take downloads one file and stores it. One that a former process has stored is
// left alone.
func (b *Bot) take(ctx context.Context, limit int64, message int64, n int, f channels.File) error {
	if f.Open == nil {
		return errGone
	}
	data, err := download(ctx, f, limit)
	if err != nil {
		return err
	}
	m := Media{Message: message, N: n, Name: channels.FileName(f.Name), Type: http.DetectContentType(data), Size: int64(len(data)), At: b.Now()}
	if err := b.retry(ctx, readTries, func() error { return b.Store.KeepMedia(ctx, m, data) }); err != nil {
		b.Log.Error("a file was not stored", "file", m.Name, "err", err)
		return errors.New("it could not be stored here; the operator finds the reason in the log")
	}
	return nil
}

// download reads a file within its limits.
func download(ctx context.Context, f channels.File, limit int64) ([]byte, error) {
	tooLarge := func(n int64) error {
		return fmt.Errorf("it has %s, and at most %s are read (agents.defaults.mediaMaxMb)", sized(n), sized(limit))
	}
	if f.Size > limit {
		return nil, tooLarge(f.Size)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took longer than %s to fetch", fetchTime))
	defer cancel()
	body, err := f.Open(ctx)
	if err == nil {
		var data []byte
		data, err = io.ReadAll(io.LimitReader(body, limit+1))
		_ = body.Close()
		switch {
		case err != nil:
		case int64(len(data)) > limit:
			return nil, fmt.Errorf("it has more than the %s that are read (agents.defaults.mediaMaxMb)", sized(limit))
		case len(data) == 0:
			return nil, errors.New("it is empty")
		default:
			return data, nil
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return nil, err
}

// sized words a number of bytes.
func sized(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1<<9)>>10)
	}
	return fmt.Sprintf("%.3g MB", float64(n)/(1<<20))
}

// fetched waits until the downloads of a message are over and gives why files
// could not be had, by their number. Its memory of them ends here.
func (b *Bot) fetched(ctx context.Context, message int64) map[int]error {
	f := &b.fetches
	f.mu.Lock()
	one := f.under[message]
	f.mu.Unlock()
	if one == nil {
		return nil
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return nil // the turn ends anyway
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.under, message)
	return one.why
}

// rest waits until no download runs, after the bot's life.
func (f *fetches) rest(ctx context.Context) error {
	done := make(chan struct{})
	go func() { f.all.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
