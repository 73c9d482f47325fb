package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/bot/tools"
)

// workspace is a folder with a secret beside it.
func workspace(t *testing.T) (at tools.Place, outside string) {
	t.Helper()
	dir := t.TempDir()
	at.Workspace, at.Owner = filepath.Join(dir, "ws"), true
	outside = filepath.Join(dir, "secret.txt")
	for name, text := range map[string]string{outside: "the secret", filepath.Join(at.Workspace, "notes.md"): "one\ntwo\nthree"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link.txt": outside, "up": dir, "rel": "../secret.txt"} {
		if err := os.Symlink(to, filepath.Join(at.Workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	return at, outside
}

func do(t *testing.T, at tools.Place, name string, input any) (string, error) {
	t.Helper()
	b, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range append(tools.Workspace(), tools.Memory()...) {
		if tool.Name == name {
			r, err := tool.Run(t.Context(), at, b)
			return r.Text, err
		}
	}
	t.Fatalf("no tool %s", name)
	return "", nil
}

type m = map[string]any

// No path leads out of the workspace: not with dots, not with links, not absolute.
func TestNothingLeadsOutOfTheWorkspace(t *testing.T) {
	at, outside := workspace(t)
	for _, path := range []string{
		"../secret.txt", "./../secret.txt", "a/../../secret.txt", outside, "/etc/passwd", "link.txt", "rel", "up/secret.txt",
		"..\\secret.txt", "up/ws/../secret.txt", "..", "/", at.Workspace + "/../secret.txt",
	} {
		if text, err := do(t, at, "read", m{"path": path}); err == nil || strings.Contains(text, "secret") || strings.Contains(err.Error(), filepath.Dir(outside)) && !strings.HasPrefix(path, "/") {
			t.Errorf("read %s: %q, %v", path, text, err)
		}
		if _, err := do(t, at, "write", m{"path": path, "text": "x"}); err == nil {
			t.Errorf("write %s succeeded", path)
		}
		if _, err := do(t, at, "edit", m{"path": path, "old": "the", "new": "x"}); err == nil {
			t.Errorf("edit %s succeeded", path)
		}
	}
	if text, err := do(t, at, "ls", m{"path": ".."}); err == nil {
		t.Errorf("ls: %q", text)
	}
	if b, _ := os.ReadFile(outside); string(b) != "the secret" {
		t.Errorf("outside stands %q", b)
	}
}

func TestFilesOfTheWorkspace(t *testing.T) {
	at, _ := workspace(t)
	for _, step := range []struct {
		tool  string
		input m
		want  string // of the result, or of the error
	}{
		{"read", m{"path": "notes.md"}, "one\ntwo\nthree"},
		{"read", m{"path": at.Workspace + "/notes.md", "line": 2, "lines": 1}, "two\n[lines 2 to 2 of 3]"},
		{"write", m{"path": "memory/2026-03-01.md", "text": "met bob"}, "wrote memory/2026-03-01.md, 7 bytes"},
		{"edit", m{"path": "memory/2026-03-01.md", "old": "bob", "new": "eve"}, "edited memory/2026-03-01.md"},
		{"edit", m{"path": "memory/2026-03-01.md", "old": "e", "new": "x"}, "stands in memory/2026-03-01.md 3 times"},
		{"read", m{"path": "memory/2026-03-01.md"}, "met eve"},
		{"read", m{"path": "memory"}, "is not a file"},
		{"read", m{"path": "none.md"}, "no such file"},
		{"ls", m{}, "memory/\nnotes.md"},
		{"write", m{"path": "big", "text": strings.Repeat("x", 1<<20+1)}, "too large"},
	} {
		text, err := do(t, at, step.tool, step.input)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, step.want) {
			t.Errorf("%s %v: %q, want %q", step.tool, step.input["path"], text, step.want)
		}
	}
	if err := os.WriteFile(filepath.Join(at.Workspace, "photo"), []byte{0xff, 0xd8, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, at, "read", m{"path": "photo"}); err == nil || !strings.Contains(err.Error(), "not a text file") {
		t.Errorf("%v", err)
	}
	if _, err := do(t, tools.Place{}, "read", m{"path": "x"}); err == nil || !strings.Contains(err.Error(), "agents.defaults.workspace") {
		t.Errorf("%v", err)
	}
}
