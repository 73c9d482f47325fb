package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
)

// makeHasty turns a file into one of a throwaway store (Options.Throwaway):
// everything goes over the one connection of the writer, which keeps the file
// to itself and its journal in memory.
func (f *file) makeHasty(ctx context.Context) error {
	if f.w == nil {
		return nil
	}
	if err := f.reads.Close(); err != nil {
		return err
	}
	f.reads, f.hasty = nil, true
	_, err := f.w.conn.ExecContext(ctx, "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY")
	return err
}

// reader gives the right to read, which a throwaway store's readers share with
// its writer.
func (f *file) reader(ctx context.Context) (release func(), err error) {
	if !f.hasty {
		return func() {}, nil
	}
	if err := f.w.acquire(ctx); err != nil {
		return nil, err
	}
	return func() { <-f.w.turn }, nil
}

// prepareRead prepares a reading statement on the writer's connection.
func (w *writer) prepareRead(ctx context.Context, query string) (*sql.Stmt, error) {
	return w.conn.PrepareContext(ctx, query)
}

// backupAlone is backup over the only connection that there is.
func (f *file) backupAlone(ctx context.Context, path string) error {
	release, err := f.reader(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := f.w.conn.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("back up %s: %w", f.path, trouble(path, interrupted(ctx, err)))
	}
	return nil
}
