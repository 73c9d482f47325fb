package mcp

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// slow gives a hub whose one server, a, takes a moment to end: it does not end
// before free is closed.
func slow(t *testing.T) (h *Hub, free chan struct{}) {
	t.Helper()
	free = make(chan struct{})
	h = New(Options{Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now,
		Sleep: func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			<-free
			return ctx.Err()
		}})
	h.Use([]Server{missing("a")})
	synctest.Wait()
	return h, free
}

// missing is a server whose program is not there: it waits for its next try.
func missing(name string) Server { return Server{Name: name, Command: []string{"/nowhere/" + name}} }

// Close waits for a server that was removed before: it may still hold its files.
func TestCloseWaitsForARemovedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, free := slow(t)
		h.Use(nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := h.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it did not wait: %v", err)
		}
		close(free)
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A server that is removed and configured again begins when the former one has
// ended; a server that has ended is not kept.
func TestAServerThatComesBackWaitsForItsFormerSelf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, free := slow(t)
		h.Use(nil)
		h.Use([]Server{missing("a")})
		synctest.Wait()
		if s := h.Status()[0]; s.State != Starting || s.Error != "" {
			t.Errorf("it has begun beside the former one: %+v", s)
		}
		close(free)
		synctest.Wait()
		if s := h.Status()[0]; s.State != Waiting {
			t.Errorf("it has not begun: %+v", s)
		}
		h.Use(nil)
		synctest.Wait()
		h.Use(nil)
		if len(h.leaving) != 0 {
			t.Errorf("%d ended servers are kept", len(h.leaving))
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
