package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

const (
	// busyBound is how long a write waits for its turn or for another process's
	// lock. A turn's answer is not held up longer than that.
	busyBound = 3 * time.Second
	// busyStep is SQLite's own wait inside one try; between tries the caller's
	// ctx is looked at.
	busyStep = 50 * time.Millisecond
	// checkLimit is the largest file in bytes whose pages are checked at every
	// start: a cold start stays under 100 ms. Check looks at larger ones.
	checkLimit = 8 << 20
	// readers is the number of connections that read at the same time.
	readers = 4
)

// file is one SQLite file: a single connection that writes, in the order of
// asking, and a pool that reads beside it.
type file struct {
	path  string
	reads *sql.DB
	w     *writer // nil: open for reading only
	hasty bool    // writes do not wait for the disk

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // of reads
}

// writer is the one connection that writes and its prepared statements. Who
// holds the token of turn may use it.
type writer struct {
	turn     chan struct{}
	closed   chan struct{}
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// openFile opens the file for reading and writing, after inspect found nothing
// against it. It makes it (mode 0600) and its schema when they are missing.
func openFile(ctx context.Context, path string, k kind) (_ *file, err error) {
	if _, err := inspect(ctx, path, k); err != nil {
		return nil, err
	}
	if err := claimMode(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", dsn(path, "mode=rw", "_journal_mode=WAL", "_synchronous=NORMAL", "_txlock=immediate",
		fmt.Sprintf("_busy_timeout=%d", busyBound.Milliseconds())))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &file{path: path, w: &writer{turn: make(chan struct{}, 1), closed: make(chan struct{}), db: db, prepared: map[string]*sql.Stmt{}}}
	defer func() {
		if err != nil {
			_ = f.close()
			err = trouble(path, interrupted(ctx, err))
		}
	}()
	if f.w.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	if err = migrate(ctx, f.w.conn, k); err != nil {
		return nil, err
	}
	if err = f.quickCheck(ctx); err != nil {
		return nil, err
	}
	if _, err = f.w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyStep.Milliseconds())); err != nil {
		return nil, err
	}
	return f, f.openReads("mode=rw")
}

// openFileReadOnly opens a file that a daemon may be writing. It never does
// schema work: a file of another version is an error.
func openFileReadOnly(ctx context.Context, path string, k kind) (*file, error) {
	version, err := inspect(ctx, path, k)
	switch {
	case err != nil:
		return nil, err
	case version == 0:
		return nil, &FileError{path, "holds nothing yet", "start the daemon once on this state directory", nil}
	case version < k.version():
		return nil, &FileError{path, fmt.Sprintf("has schema %d, this program reads %d", version, k.version()),
			"start the daemon of this version once: it brings the file up to date", nil}
	}
	f := &file{path: path}
	return f, f.openReads("mode=ro")
}

func (f *file) openReads(mode string) error {
	db, err := sql.Open("sqlite3", dsn(f.path, mode, "_query_only=1", fmt.Sprintf("_busy_timeout=%d", busyBound.Milliseconds())))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	f.reads, f.prepared = db, map[string]*sql.Stmt{}
	return nil
}

// dsn names the file as a URI, so that any character may stand in its path.
// The cache is private: a shared one answers "table is locked" to readers.
func dsn(path string, options ...string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(append(options, "cache=private"), "&")
}

// claimMode makes sure that the file exists and is for this user only [D15].
// SQLite gives its -wal and -shm files the same mode.
func claimMode(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return &FileError{path, "cannot be written", "make the file and its folder writable by this user", err}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		return f.Chmod(0o600)
	}
	return nil
}

// quickCheck looks at every page of a small file.
func (f *file) quickCheck(ctx context.Context) error {
	info, err := os.Stat(f.path)
	if err != nil || info.Size() > checkLimit {
		return err
	}
	var verdict string
	if err := f.w.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return corrupt(f.path, errors.New(verdict))
	}
	return nil
}

// close waits for the running write, then closes all connections. The writer's
// turn is not given back: later writes are refused.
func (f *file) close() error {
	var errs []error
	if f.reads != nil {
		errs = append(errs, f.reads.Close())
	}
	if f.w != nil {
		f.w.turn <- struct{}{}
		close(f.w.closed)
		for _, s := range f.w.prepared {
			_ = s.Close()
		}
		if f.w.conn != nil {
			errs = append(errs, f.w.conn.Close())
		}
		errs = append(errs, f.w.db.Close())
	}
	return errors.Join(errs...)
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

// row reads one row beside the writer; found is false when there is none.
func (f *file) row(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	s, err := f.stmt(ctx, query)
	if err != nil {
		return false, trouble(f.path, interrupted(ctx, err))
	}
	found, err = one(s.QueryRowContext(ctx, args...).Scan(dest...))
	return found, trouble(f.path, interrupted(ctx, err))
}

// each reads rows beside the writer and hands each one to scan.
func (f *file) each(ctx context.Context, query string, args []any, scan func(scan func(dest ...any) error) error) error {
	s, err := f.stmt(ctx, query)
	if err != nil {
		return trouble(f.path, interrupted(ctx, err))
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return trouble(f.path, interrupted(ctx, err))
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return trouble(f.path, interrupted(ctx, err))
		}
	}
	return trouble(f.path, interrupted(ctx, rows.Err()))
}

func (f *file) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.prepared[query]; ok {
		return s, nil
	}
	s, err := f.reads.PrepareContext(ctx, query)
	if err == nil {
		f.prepared[query] = s
	}
	return s, err
}

func one(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) { // it never leaves this package
		return false, nil
	}
	return err == nil, err
}

// millis is how a time is kept: Unix milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment reads a kept time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// stateFile is the path of a file in the state directory; its folder is made.
func stateFile(elems ...string) (string, error) {
	path := filepath.Join(elems...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of %s: %w", path, err)
	}
	return path, nil
}
