package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// debounce is how long the file must be left alone before it is read: editors
// and deploy tools touch it several times [G8].
const debounce = 300 * time.Millisecond

// rewatch is how long to wait before looking for a folder that has gone.
const rewatch = 2 * time.Second

// reloader keeps the last good config. An edit that cannot be used changes
// nothing and is said once; turns that run keep the config they have [G3, G9].
type reloader struct {
	path string
	load func() (*Compiled, []Fault)
	use  func(*Compiled) // takes over a good config, at once and for later turns
	log  *slog.Logger

	mu   sync.Mutex
	said string // faults that were reported and are not mended yet
}

// reload reads the file again and tells whether a new config is in use. It is
// called by the watch and on SIGHUP; calls do not overlap.
func (r *reloader) reload() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, faults := r.load()
	var lines []string
	for _, f := range faults {
		if c != nil || !f.Warning {
			lines = append(lines, f.String())
		}
	}
	text := strings.Join(lines, "\n")
	if c == nil {
		if text != r.said {
			r.log.Warn("config not reloaded: the running one stays in use", "file", r.path, "faults", lines)
		}
		r.said = text
		return false
	}
	r.said = ""
	r.use(c)
	r.log.Info("config reloaded", "file", r.path, "warnings", lines)
	return true
}

// watch calls reload, in this goroutine, after the file at path has changed and
// was left alone for a moment. It watches folders and not the file, because
// editors and Kubernetes replace it: a rename, or a symlink that leads to
// another folder. It returns when ctx ends, with nil, or when the system
// cannot watch at all.
func watch(ctx context.Context, path string, reload func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	defer w.Close()
	dirs := watched{w: w, path: path}
	if err := dirs.follow(); err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	last := printOf(path)
	settle, retry := time.NewTimer(0), time.NewTimer(0)
	defer settle.Stop()
	defer retry.Stop()
	// The first expiry of settle finds an edit that was made between the load
	// of the file and this watch only if the caller's load came later; it is
	// cheap, and SIGHUP remains for the rest.
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.Events:
			if !ok {
				return nil
			}
			settle.Reset(debounce)
		case _, ok := <-w.Errors: // events were lost: look
			if !ok {
				return nil
			}
			settle.Reset(debounce)
		case <-retry.C:
			if dirs.follow() != nil {
				retry.Reset(rewatch)
			}
			settle.Reset(debounce)
		case <-settle.C:
			if dirs.follow() != nil {
				retry.Reset(rewatch)
			}
			// A file that is away for a moment is about to be replaced; when it
			// stays away the running config stays in use.
			if now := printOf(path); now != last && now != missing {
				last = now
				reload()
			}
		}
	}
}

// watched keeps the watcher on the folder of the file, and on the folder of
// the file that it links to.
type watched struct {
	w    *fsnotify.Watcher
	path string
}

// follow adds the folders as they are now and drops those that matter no more.
func (d watched) follow() error {
	want := map[string]bool{filepath.Dir(d.path): true}
	if real, err := filepath.EvalSymlinks(d.path); err == nil {
		want[filepath.Dir(real)] = true
	}
	for _, dir := range d.w.WatchList() {
		if !want[dir] {
			_ = d.w.Remove(dir) // it may be gone already
		}
	}
	var failed error
	for dir := range want {
		if err := d.w.Add(dir); err != nil {
			failed = err
		}
	}
	return failed
}

// missing is the print of a file that cannot be read.
const missing = ""

// printOf tells contents apart: an event says that something happened in the
// folder, not that this file changed.
func printOf(path string) string {
	data, err := readBounded(path, maxFile)
	if err != nil {
		return missing
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}
