package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Owner gives the process that runs on a state directory, 0 when none does. It
// looks at what the kernel tells of locks, and does not try the lock itself: that
// would be to hold it for a moment, and a daemon that starts in that moment would
// give up.
func Owner(dir string) (pid int) {
	path := filepath.Join(dir, lockFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil || pid <= 0 {
		return 0
	}
	if locks, err := os.ReadFile("/proc/locks"); err == nil && len(locks) > 0 {
		if info, err := os.Stat(path); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok && !strings.Contains(string(locks), fmt.Sprintf(":%d ", s.Ino)) {
				return 0 // whoever has the number by now is somebody else
			}
			return pid
		}
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return 0
	}
	return pid
}

// Databases gives the database files of a state directory: the main one first,
// then the agents'.
func Databases(dir string) (paths []string, err error) {
	if _, err := os.Stat(filepath.Join(dir, mainFile)); err == nil {
		paths = append(paths, filepath.Join(dir, mainFile))
	}
	ids, err := newAgents(dir, true).named()
	for _, id := range ids {
		path, err := newAgents(dir, true).path(id)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, err
}

// Still gives a directory that can be read without changing anything in dir:
// dir itself, or a copy of its databases when a process died with a log beside
// one of them, since SQLite brings such a log to order as soon as it reads it.
// What a running daemon has open changes anyway. done removes the copy.
func Still(dir string) (at string, done func(), err error) {
	nothing := func() {}
	paths, err := Databases(dir)
	if err != nil || Owner(dir) != 0 {
		return dir, nothing, err
	}
	logs := 0
	for _, path := range paths {
		if looking(path) == "mode=ro" {
			logs++
		}
	}
	if logs == 0 {
		return dir, nothing, nil
	}
	tmp, err := os.MkdirTemp("", "standin-look-") // mode 0700
	if err != nil {
		return dir, nothing, err
	}
	done = func() { _ = os.RemoveAll(tmp) }
	for _, path := range paths {
		rel, err := filepath.Rel(dir, path)
		if err == nil {
			err = os.MkdirAll(filepath.Join(tmp, filepath.Dir(rel)), 0o700)
		}
		if err == nil {
			err = copyFile(path, filepath.Join(tmp, rel))
		}
		if err == nil {
			if err = copyFile(path+"-wal", filepath.Join(tmp, rel)+"-wal"); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			done()
			return dir, nothing, fmt.Errorf("copy %s to look at it: %w", path, err)
		}
	}
	return tmp, done, nil
}
