package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"
)

// readers is the number of connections that read at the same time.
const readers = 4

// file is one SQLite file: a single connection that writes, in the order of
// asking, and a pool that reads beside it.
type file struct {
	path  string
	reads *sql.DB
	w     *writer // nil: open for reading only
	hasty bool    // of a throwaway store

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // of reads
}

// openFile opens the file for reading and writing, after inspect found nothing
// against it. It makes it (mode 0600) and its schema when they are missing.
func openFile(ctx context.Context, path string, k kind) (_ *file, err error) {
	if _, err := inspect(ctx, path, k, true); err != nil {
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
	if err = f.w.begin(ctx, k); err != nil {
		return nil, err
	}
	if _, err = f.w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyStep.Milliseconds())); err != nil {
		return nil, err
	}
	return f, f.openReads("mode=rw")
}

// begin connects the writer and brings the schema up to date. Switching a file
// to WAL does not wait for another process that is doing the same, whatever the
// busy timeout says, so this is tried again for as long as a write may wait.
func (w *writer) begin(ctx context.Context, k kind) error {
	for deadline := time.Now().Add(busyBound); ; {
		conn, err := w.db.Conn(ctx)
		if err == nil {
			if err = migrate(ctx, conn, k); err == nil {
				w.conn = conn
				return nil
			}
			_ = conn.Close()
		}
		if !busy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// openFileReadOnly opens a file that a daemon may be writing. It never does
// schema work: a file of another version is an error.
func openFileReadOnly(ctx context.Context, path string, k kind) (*file, error) {
	version, err := inspect(ctx, path, k, false)
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
	return f, f.openReads(looking(path))
}

// looking opens a file for reading without leaving anything beside it. A file
// that nobody has open has no log; SQLite would make an empty one and, since a
// reader may not tidy up, leave it there. Such a file is read as it lies.
func looking(path string) string {
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return "mode=ro&immutable=1"
	}
	return "mode=ro"
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

// row reads one row beside the writer; found is false when there is none.
func (f *file) row(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	release, err := f.reader(ctx)
	if err != nil {
		return false, trouble(f.path, interrupted(ctx, err))
	}
	defer release()
	s, err := f.stmt(ctx, query)
	if err != nil {
		return false, trouble(f.path, interrupted(ctx, err))
	}
	found, err = one(s.QueryRowContext(ctx, args...).Scan(dest...))
	return found, trouble(f.path, interrupted(ctx, err))
}

// each reads rows beside the writer and hands each one to scan.
func (f *file) each(ctx context.Context, query string, args []any, scan func(scan func(dest ...any) error) error) error {
	release, err := f.reader(ctx)
	if err != nil {
		return trouble(f.path, interrupted(ctx, err))
	}
	defer release()
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
	prepare := f.w.prepareRead
	if f.reads != nil {
		prepare = f.reads.PrepareContext
	}
	s, err := prepare(ctx, query)
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
