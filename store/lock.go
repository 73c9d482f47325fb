package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// lock is the right to be the only one, held by a lock on an open file. The
// kernel lets go of it when the process dies, however it dies, so a file that
// is left behind is no lock.
type lock struct{ f *os.File }

// takeLock locks the file, which is made when it is missing. When another
// process holds it the error names that process.
func takeLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot make the lock file %s: %w; the folder must be writable by this user", path, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &LockedError{Path: path, PID: strings.TrimSpace(string(holder))}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // for people only
	}
	return &lock{f}, nil
}

// release lets the next one in. The file stays: removing it would let two
// processes lock two files of one name.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}

// LockedError says that another process owns the state directory.
type LockedError struct {
	Path string // of the lock file
	PID  string // of the owner, "" when it has not written it yet
}

// Error names the owner and the ways out.
func (e *LockedError) Error() string {
	owner := "another process"
	if e.PID != "" {
		owner = "process " + e.PID
	}
	return fmt.Sprintf("%s already runs on this state directory (lock %s): stop it, or give this one a directory of its own (STANDIN_STATE_DIR)", owner, e.Path)
}
