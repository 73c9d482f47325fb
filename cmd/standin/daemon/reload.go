package daemon

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"standin/cmd/standin/config"
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
	load func() (*config.Compiled, []config.Fault)
	use  func(*config.Compiled) // takes over a good config, at once and for later turns
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
	w, err := openWatch(path)
	if err != nil {
		return fmt.Errorf("watch %s: %w", path, err)
	}
	w.run(ctx, reload)
	return nil
}

// fileWatch is a watch that stands: every change from here on is seen.
type fileWatch struct {
	path   string
	events *fsnotify.Watcher
	trail  trail
	last   string // print of the contents that were seen last
}

func openWatch(path string) (*fileWatch, error) {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &fileWatch{path: path, events: events, trail: trailOf(path)}
	if err := w.trail.watchIn(events); err != nil {
		events.Close()
		return nil, err
	}
	w.last = printOf(path)
	return w, nil
}

func (w *fileWatch) run(ctx context.Context, reload func()) {
	defer w.events.Close()
	settle, retry := time.NewTimer(debounce), time.NewTimer(rewatch)
	settle.Stop() // both run only after something has happened
	retry.Stop()
	defer settle.Stop()
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.events.Events:
			if w.trail.concerns(e) {
				settle.Reset(debounce)
			}
		case <-w.events.Errors: // events may have been lost: look
			settle.Reset(debounce)
		case <-retry.C:
			settle.Reset(0)
		case <-settle.C:
			w.trail = trailOf(w.path)
			if w.trail.watchIn(w.events) != nil { // the folder has gone; it may come back
				retry.Reset(rewatch)
			}
			// A file that is away is about to be replaced. When it stays away,
			// the running config stays in use.
			if now := printOf(w.path); now != w.last && now != missing {
				w.last = now
				reload()
			}
		}
	}
}

// trail is the way from a path to the file that it means, link by link.
type trail struct {
	dirs  []string        // folders to watch
	names map[string]bool // entries of them that matter; the state folder, where
	// the config may be, has databases that change with every message
}

func trailOf(path string) trail {
	t := trail{names: map[string]bool{}}
	for range 40 { // as many links as the system follows
		t.dirs = append(t.dirs, filepath.Dir(path))
		t.names[filepath.Base(path)] = true
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		for _, part := range strings.Split(filepath.ToSlash(target), "/") {
			t.names[part] = true // a folder on the way may be a link that is swapped
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return t
}

// concerns tells whether an event may have changed the file.
func (t trail) concerns(e fsnotify.Event) bool {
	return e.Op != fsnotify.Chmod && (t.names[filepath.Base(e.Name)] || slices.Contains(t.dirs, e.Name))
}

// watchIn makes w watch the folders of the trail and no others.
func (t trail) watchIn(w *fsnotify.Watcher) error {
	for _, dir := range w.WatchList() {
		if !slices.Contains(t.dirs, dir) {
			_ = w.Remove(dir) // it may be gone already
		}
	}
	// Only the folder of the path itself has to be there.
	err := w.Add(t.dirs[0])
	for _, dir := range t.dirs[1:] {
		_ = w.Add(dir)
	}
	return err
}

// missing is the print of a file that cannot be read.
const missing = ""

// printOf tells contents apart: an event says that something happened in the
// folder, not that this file changed.
func printOf(path string) string {
	data, err := config.ReadBounded(path, config.MaxFile)
	if err != nil {
		return missing
	}
	sum := sha256.Sum256(data)
	return string(sum[:])
}
