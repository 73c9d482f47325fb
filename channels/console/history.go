package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// keeps is how many messages a history file gives back; a file with twice as
// many is cut to that.
const keeps = 1000

// loadHistory reads the messages of a history file, oldest first. Each is one
// quoted Go string a line, so that a message of several lines stays one. A file
// that is not there is an empty history; a line that cannot be read is skipped.
func loadHistory(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	var all []string
	for line := range strings.Lines(string(raw)) {
		if s, err := strconv.Unquote(strings.TrimSpace(line)); err == nil {
			all = append(all, s)
		}
	}
	last := all[max(len(all)-keeps, 0):]
	if len(all) >= 2*keeps {
		return last, cutHistory(path, last)
	}
	return last, nil
}

// cutHistory writes the file anew beside itself, then takes its place: whoever
// dies half way leaves the old one.
func cutHistory(path string, entries []string) error {
	var b strings.Builder
	for _, s := range entries {
		b.WriteString(strconv.Quote(s) + "\n")
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("cut the history: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("cut the history: %w", err)
	}
	return nil
}

// appendHistory adds a message to the file, which is for its owner alone: what
// people tell an agent is private.
func appendHistory(path, s string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	err = f.Chmod(0o600) // one that an older umask made wider
	_, werr := f.WriteString(strconv.Quote(s) + "\n")
	if err = errors.Join(err, werr, f.Close()); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}
