package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// ErrReadOnly is given by each write of a store opened with OpenReadOnly.
var ErrReadOnly = errors.New("the store is open for reading only")

// FileError says that a file cannot serve as a store, and how to mend that.
// The file was not changed.
type FileError struct {
	Path string
	What string // what is the matter
	Mend string // what a person can do
	Err  error  // the cause, may be nil
}

// Error gives file, fault and mend in one line.
func (e *FileError) Error() string {
	s := e.Path + ": " + e.What
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s + "; " + e.Mend
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// trouble turns an error of SQLite that a person must mend into a FileError and
// leaves the others as they are.
func trouble(path string, err error) error {
	var se sqlite3.Error
	if !errors.As(err, &se) {
		return err
	}
	var fe *FileError
	if errors.As(err, &fe) {
		return err
	}
	switch se.Code {
	case sqlite3.ErrCorrupt:
		return corrupt(path, err)
	case sqlite3.ErrNotADB:
		return foreign(path, "is not an SQLite database", err)
	case sqlite3.ErrFull:
		return &FileError{path, "the disk is full", "free some space; nothing of this write was kept", err}
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return &FileError{path, "cannot be written", "make the file and its folder writable by this user", err}
	case sqlite3.ErrCantOpen:
		return &FileError{path, "cannot be opened", "check that the file and its folder belong to this user", err}
	case sqlite3.ErrIoErr:
		return &FileError{path, "the disk gave an input/output error", "check the disk; nothing of this write was kept", err}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return &FileError{path, "another process holds the write lock", "close the program that has the file open (a database browser, a backup)", err}
	}
	return err
}

func corrupt(path string, cause error) error {
	return &FileError{path, "is damaged",
		fmt.Sprintf("it was left as it is: stop standin, move %s and its -wal and -shm files away, put a backup in its place, or save what can be read with: sqlite3 %s .recover", path, path), cause}
}

func foreign(path, what string, cause error) error {
	return &FileError{path, what, "it was left as it is: move it away, or choose another state directory (STANDIN_STATE_DIR)", cause}
}

// busy tells whether another process's lock is the cause.
func busy(err error) bool {
	var se sqlite3.Error
	return errors.As(err, &se) && (se.Code == sqlite3.ErrBusy || se.Code == sqlite3.ErrLocked)
}

// interrupted prefers the caller's own reason over "interrupted" of SQLite.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
