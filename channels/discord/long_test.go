package discord

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"standin/channels"
)

// 30 kB of Markdown with tables, nested fences and emoji: every message is
// within Discord's limits and closes its fences, they stand in order, only the
// first refers, and nothing is lost [D10, D12, discord-04, discord-05]. The
// golden file is what people see.
func TestLongMarkdown(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "long.md"))
	if err != nil || len(raw) < 30_000 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	w := newWorld(t, setup{config: func(cfg *Config) { cfg.ReplyToMode = channels.ReplyFirst }})
	asked := w.s.Say(w.alice, w.room, "question")
	w.next()
	out := w.out("d1", w.room.ID, string(raw))
	out.ReplyTo = asked.ID
	w.mustSend(out)
	var seen []string
	for i, m := range w.s.Posts(w.room.ID) {
		if n := len(utf16.Encode([]rune(m.Content))); n > 2000 || strings.TrimSpace(m.Content) == "" {
			t.Errorf("message %d has %d characters", i, n)
		}
		if n := strings.Count(m.Content, "\n") + 1; n > 17+2 { // a fence that goes on is closed and opened
			t.Errorf("message %d has %d lines", i, n)
		}
		if (m.Reference != "") != (i == 0) {
			t.Errorf("message %d refers to %q", i, m.Reference)
		}
		if open := openFence(m.Content); open != "" {
			t.Errorf("message %d leaves %s open", i, open)
		}
		seen = append(seen, m.Content)
	}
	if want, got := words(string(raw)), words(strings.Join(seen, "\n")); want != got {
		t.Errorf("%d letters and digits were sent, %d arrived", len(want), len(got))
	}
	golden(t, "long.golden", []byte(strings.Join(seen, "\n======== next message ========\n")))
}

// openFence gives the fence that a message leaves open.
func openFence(text string) (open string) {
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimLeft(line, " >")
		mark := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		if mark == "" {
			mark = bare[:len(bare)-len(strings.TrimLeft(bare, "~"))]
		}
		switch {
		case open == "" && len(mark) >= 3:
			open = mark
		case open != "" && mark != "" && mark[0] == open[0] && len(mark) >= len(open) && mark == strings.TrimSpace(bare):
			open = ""
		}
	}
	return open
}

// words keeps what is neither drawn nor repeated by cutting: the text of the
// lines outside of fences' marks.
func words(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if bare := strings.TrimSpace(line); strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			continue
		}
		for _, r := range line {
			if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x2fff {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
