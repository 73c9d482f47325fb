package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/cmd/standin/config"
)

// "An invalid edit keeps the running config and says so once" [G3].
func TestInvalidEditKeepsTheRunningConfig(t *testing.T) { // config-02
	path := written(t, "agents: {defaults: {model: openai/a}}")
	var log bytes.Buffer
	var used []*config.Compiled
	r := &reloader{
		path: path,
		load: func() (*config.Compiled, []config.Fault) { return config.Load(path, noEnv) },
		use:  func(c *config.Compiled) { used = append(used, c) },
		log:  slog.New(slog.NewTextHandler(&log, nil)),
	}
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.reload()
	}
	warnings := func() int { return strings.Count(log.String(), "config not reloaded") }

	edit("agents: {defaults: {modle: openai/b}}")
	edit("agents: {defaults: {modle: openai/b}}")
	if len(used) != 0 || warnings() != 1 {
		t.Errorf("used %d configs, said it %d times:\n%s", len(used), warnings(), &log)
	}
	if !strings.Contains(log.String(), "config.yaml:1:21: agents.defaults.modle: unknown key") {
		t.Errorf("the warning does not say what is wrong:\n%s", &log)
	}
	edit("agents: {defaults: {modell: openai/b}}")
	if warnings() != 2 {
		t.Error("another fault is another warning")
	}
	edit("agents: {defaults: {model: openai/b}}")
	if len(used) != 1 || used[0].Fallback.Default.Primary.Name != "b" {
		t.Errorf("the mended config is not in use: %v", used)
	}
	edit("agents: {defaults: {modell: openai/b}}")
	if warnings() != 3 {
		t.Error("a fault that comes back is said again")
	}
}

// A running turn keeps the snapshot it started with [G9]: a reload makes a new
// config and leaves the former one alone.
func TestReloadLeavesTheFormerConfigAlone(t *testing.T) {
	path := written(t, "agents: {defaults: {model: {primary: openai/a, fallbacks: [openai/b]}}}")
	before, _ := config.Load(path, noEnv)
	running := before.Fallback
	if err := os.WriteFile(path, []byte("agents: {defaults: {model: openai/c}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, _ := config.Load(path, noEnv)
	if config.ChainText(before.Plans[0].Chain, " ") != "openai/a openai/b" || running.Default.Primary.Name != "a" || after.Fallback == running {
		t.Error("a reload changed what a running turn sees")
	}
}

// The ways in which a config file changes on real machines.
func TestWatchSeesEveryKindOfChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout func(t *testing.T, dir string) (path string, change func())
	}{
		{"written in place", func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "config.yaml")
			put(t, path, "old")
			return path, func() {
				put(t, path, "half") // an editor that writes in pieces
				put(t, path, "new")
			}
		}},
		{"replaced by an editor's rename", func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "config.yaml")
			put(t, path, "old")
			return path, func() {
				put(t, path+"~", "new")
				rename(t, path+"~", path)
			}
		}},
		{"removed and written again", func(t *testing.T, dir string) (string, func()) {
			path := filepath.Join(dir, "config.yaml")
			put(t, path, "old")
			return path, func() {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				put(t, path, "new")
			}
		}},
		{"swapped like a Kubernetes volume", func(t *testing.T, dir string) (string, func()) {
			put(t, filepath.Join(dir, "..v1", "config.yaml"), "old")
			put(t, filepath.Join(dir, "..v2", "config.yaml"), "new")
			link(t, "..v1", filepath.Join(dir, "..data"))
			path := filepath.Join(dir, "config.yaml")
			link(t, filepath.Join("..data", "config.yaml"), path)
			return path, func() {
				link(t, "..v2", filepath.Join(dir, "..tmp"))
				rename(t, filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data"))
			}
		}},
		{"in a release folder that is swapped", func(t *testing.T, dir string) (string, func()) {
			put(t, filepath.Join(dir, "r1", "conf", "config.yaml"), "old")
			put(t, filepath.Join(dir, "r2", "conf", "config.yaml"), "new")
			link(t, "r1", filepath.Join(dir, "current"))
			path := filepath.Join(dir, "config.yaml")
			link(t, filepath.Join("current", "conf", "config.yaml"), path)
			return path, func() {
				link(t, "r2", filepath.Join(dir, "next"))
				rename(t, filepath.Join(dir, "next"), filepath.Join(dir, "current"))
			}
		}},
		{"a link to a file that is kept elsewhere", func(t *testing.T, dir string) (string, func()) {
			real := filepath.Join(t.TempDir(), "dotfiles", "standin.yaml")
			put(t, real, "old")
			path := filepath.Join(dir, "config.yaml")
			link(t, real, path)
			return path, func() { put(t, real, "new") }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, change := c.layout(t, t.TempDir())
			w, err := openWatch(path)
			if err != nil {
				t.Fatal(err)
			}
			change()
			ctx, stop := context.WithCancel(t.Context())
			seen := make(chan string, 16)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				w.run(ctx, func() {
					data, _ := os.ReadFile(path)
					seen <- string(data)
				})
			}()
			select {
			case got := <-seen:
				if got != "new" {
					t.Errorf("reloaded %q: it was read before it was left alone", got)
				}
			case <-time.After(20 * time.Second):
				t.Error("the change was not seen")
			}
			stop()
			<-ended
		})
	}
}

// The state folder, where the config may lie, has databases that change with
// every message: they neither cause a reload nor put one off.
func TestWatchIgnoresItsNeighbours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	put(t, path, "old")
	way := trailOf(path)
	for name, want := range map[string]bool{"config.yaml": true, "standin.sqlite-wal": false, "config.yaml.swp": false} {
		if got := way.names[name]; got != want {
			t.Errorf("%s matters: %t, want %t", name, got, want)
		}
	}
}

func TestWatchNeedsAFolder(t *testing.T) {
	if err := watch(t.Context(), filepath.Join(t.TempDir(), "no", "config.yaml"), func() {}); err == nil {
		t.Error("a folder that is not there cannot be watched, but no error was given")
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
