package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Keys of the shells people know; | is the cursor.
func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"left goes over a whole cluster", "a👩‍👩‍👧|", "a|👩‍👩‍👧"},
		{"an accent belongs to its letter", "ae\u0301|", "a|e\u0301"},
	} {
		e := put(c.keys)
		e.press(uv.Key{Code: uv.KeyLeft})
		if got := shown(e); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name, before, keys, want string
	}{
		{"Ctrl-A and Ctrl-E are the ends of the line", "one\ntwo|", "\x01", "one\n|two"},
		{"Home and End too", "on|e\ntwo", "\x1b[F", "one|\ntwo"},
		{"Ctrl-W cuts a word and what parts it", "say hello, |", "\x17", "say |"},
		{"Ctrl-Y gives it back", "say hello|", "\x17\x19\x19", "say hellohello|"},
		{"Ctrl-U cuts to the start of the line", "one\ntwo three|", "\x15", "one\n|"},
		{"Ctrl-K cuts to its end", "o|ne\ntwo", "\x0b", "o|\ntwo"},
		{"backspace joins lines", "one\n|two", "\x7f", "one|two"},
		{"delete joins lines", "one|\ntwo", "\x1b[3~", "one|two"},
		{"Alt-B and Alt-F go by words", "one two-three|", "\x1bb\x1bb\x1bb\x1bf", "one| two-three"},
		{"Ctrl-arrows too", "one two|", "\x1b[1;5D\x1b[1;5D\x1b[1;5C", "one| two"},
		{"Alt-Enter starts a line", "one|", "\x1b\rtwo", "one\ntwo|"},
		{"up and down stay in a text of several lines", "long line\nab\nlonger|", "\x1b[A\x1b[A\x1b[B", "long line\nab|\nlonger"},
		{"nothing is left of the first letter", "|a", "\x1b[D\x7f\x17\x15", "|a"},
		{"unknown keys do nothing", "a|", "\x1b[24~\x1b[5~\x1b", "a|"},
	} {
		perform(t, 60, 20, nil, func(s *stage) {
			s.c.editor = put(c.before)
			s.types(c.keys)
			s.passes(3 * uv.DefaultEscTimeout)
			if got := shown(s.c.editor); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func put(s string) editor {
	before, after, _ := strings.Cut(s, "|")
	return editor{text: before + after, at: len(before)}
}

func shown(e editor) string { return e.text[:e.at] + "|" + e.text[e.at:] }

func TestHistoryIsBrowsed(t *testing.T) {
	perform(t, 40, 10, nil, func(s *stage) {
		s.types("one\rtwo\rtwo\rthr")
		for _, c := range []struct{ keys, want string }{
			{"\x1b[A", "two|"}, {"\x1b[A", "one|"}, {"\x1b[A", "one|"},
			{"\x1b[B", "two|"}, {"\x0e", "thr|"}, {"\x0e", "thr|"},
		} {
			s.types(c.keys)
			if got := shown(s.c.editor); got != c.want {
				t.Errorf("%q: %q, want %q", c.keys, got, c.want)
			}
		}
		s.types("\x10\r")
		if d := cmp.Diff([]string{"one", "two", "two", "two"}, s.said()); d != "" {
			t.Error(d)
		}
	})
}

func TestHistoryOutlivesTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "history")
	with := func(o *Options) { o.History = file }
	perform(t, 40, 10, with, func(s *stage) { s.types("one\r\x1b[200~two\nrows\x1b[201~\r") })
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", fi, err)
	}
	perform(t, 40, 10, with, func(s *stage) {
		s.types("\x1b[A")
		if got := shown(s.c.editor); got != "two\nrows|" {
			t.Errorf("%q", got)
		}
	})
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	perform(t, 40, 10, with, func(s *stage) { s.types("three\r") })
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("a file that others could read stays so: %v %v", fi.Mode(), err)
	}
}

func TestHistoryFileIsCut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	for range 2 * keeps {
		if err := appendHistory(file, "x"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := loadHistory(file)
	raw, _ := os.ReadFile(file)
	if err != nil || len(got) != keeps || strings.Count(string(raw), "\n") != keeps {
		t.Errorf("%d entries, %d lines, %v", len(got), strings.Count(string(raw), "\n"), err)
	}
}

func TestHistoryThatCannotBeKeptIsSaidOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	perform(t, 200, 20, func(o *Options) { o.History = filepath.Join(file, "history") }, func(s *stage) {
		s.types("one\rtwo\r")
		if got := s.paper.text(false, false); strings.Count(got, "keep the history") != 1 {
			t.Error(got)
		}
		if d := cmp.Diff([]string{"one", "two"}, s.said()); d != "" {
			t.Error(d)
		}
	})
}

// Any keys in any order: the text stays valid and the cursor between clusters.
func TestEditorStaysWhole(t *testing.T) {
	codes := []uv.Key{
		{Text: "a"}, {Text: "世"}, {Text: "👩‍👧"}, {Text: " "}, {Text: "\u0301"}, {Code: uv.KeyEnter, Mod: uv.ModAlt},
		{Code: uv.KeyLeft}, {Code: uv.KeyRight}, {Code: uv.KeyUp}, {Code: uv.KeyDown}, {Code: uv.KeyHome}, {Code: uv.KeyEnd},
		{Code: uv.KeyBackspace}, {Code: uv.KeyDelete}, {Code: 'w', Mod: uv.ModCtrl}, {Code: 'y', Mod: uv.ModCtrl},
		{Code: 'u', Mod: uv.ModCtrl}, {Code: 'k', Mod: uv.ModCtrl}, {Code: 'b', Mod: uv.ModAlt}, {Code: 'f', Mod: uv.ModAlt},
	}
	rapid.Check(t, func(t *rapid.T) {
		e := editor{history: []string{"past", "two\nrows"}}
		for range rapid.IntRange(1, 40).Draw(t, "keys") {
			e.press(rapid.SampledFrom(codes).Draw(t, "key"))
			if e.at < 0 || e.at > len(e.text) || !utf8.ValidString(e.text) || !utf8.ValidString(e.text[e.at:]) {
				t.Fatalf("%q at %d", e.text, e.at)
			}
		}
	})
}
