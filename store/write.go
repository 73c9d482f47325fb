package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	// busyBound is how long a write waits for its turn or for another process's
	// lock: a little longer than the three seconds that a backup or a browser of
	// databases may take [IL-244]. A turn's answer is not held up longer than that.
	busyBound = 3500 * time.Millisecond
	// busyStep is SQLite's own wait inside one try; between tries the caller's
	// ctx is looked at.
	busyStep = 50 * time.Millisecond
)

// writer is the one connection that writes and its prepared statements. Who
// holds the token of turn may use it.
type writer struct {
	turn     chan struct{}
	closed   chan struct{}
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// tx is a running write transaction.
type tx struct {
	ctx context.Context
	w   *writer
}

// write runs do in one immediate transaction: all of it is kept, or nothing.
// ctx ends the waiting; once the transaction stands it is finished, so that a
// cancelled turn never leaves a caller in doubt of what was written.
func (f *file) write(ctx context.Context, what string, do func(*tx) error) error {
	return f.transact(ctx, what, false, do)
}

func (f *file) transact(ctx context.Context, what string, durably bool, do func(*tx) error) (err error) {
	if f.w == nil {
		return fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, trouble(f.path, err))
		}
	}()
	deadline := time.Now().Add(busyBound)
	if err := f.w.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-f.w.turn }()

	t := &tx{context.WithoutCancel(ctx), f.w}
	if durably && !f.hasty {
		if _, err := t.exec("PRAGMA synchronous = FULL"); err != nil {
			return err
		}
		defer func() { _, _ = t.exec("PRAGMA synchronous = NORMAL") }()
	}
	if err := t.begin(ctx, deadline); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // an error, or a panic that passes through
			_, _ = t.exec("ROLLBACK") // fails harmlessly where SQLite rolled back by itself
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	if _, err := t.exec("COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

// writeDurably is write for what must survive a power failure: a refreshed token
// that is lost cannot be had again. Other rows may lose the last moments before
// one; their file stays whole.
func (f *file) writeDurably(ctx context.Context, what string, do func(*tx) error) error {
	return f.transact(ctx, what, true, do)
}

var errClosed = errors.New("the store is closed")

// acquire waits for the writer, at most busyBound.
func (w *writer) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case w.turn <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(busyBound)
	defer timer.Stop()
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-w.closed:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("no write finished within %v", busyBound)
	}
}

// begin takes SQLite's write lock, which another process may hold for a while.
// The tries are counted too, since a test's clock may stand still.
func (t *tx) begin(ctx context.Context, deadline time.Time) error {
	for left := int(busyBound / busyStep); ; left-- {
		_, err := t.exec("BEGIN IMMEDIATE")
		if !busy(err) || left <= 1 || !time.Now().Before(deadline) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// stmt gives the prepared statement of a query text.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.w.prepared[query]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(t.ctx, query)
	if err == nil {
		t.w.prepared[query] = s
	}
	return s, err
}

// exec runs a statement and gives the number of rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// row runs a statement that gives one row; found is false when it gives none.
func (t *tx) row(query string, args []any, dest ...any) (found bool, err error) {
	s, err := t.stmt(query)
	if err != nil {
		return false, err
	}
	return one(s.QueryRowContext(t.ctx, args...).Scan(dest...))
}
