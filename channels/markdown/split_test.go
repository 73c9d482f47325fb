package markdown

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fenced = "```"

// The chunker keeps what channels.md D12 and the reports from the field ask.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		limit Limit
		want  []string
	}{
		{"a text that fits stays as it is", "one\n\n  two", Limit{Max: 20}, []string{"one\n\n  two"}},
		{"nothing to say is no message", " \n\n\t ", Limit{Max: 20}, nil},
		{"no limit cuts nothing", strings.Repeat("a ", 500) + "b", Limit{}, []string{strings.Repeat("a ", 500) + "b"}},
		{"a paragraph's end comes before a line's end", "aaa\nbbb\n\nccc\nddd", Limit{Max: 14}, []string{"aaa\nbbb", "ccc\nddd"}},
		{"a line's end comes before a word's end", "aaa aaa\nbbb bbb bbb", Limit{Max: 14}, []string{"aaa aaa", "bbb bbb bbb"}},
		{"a sentence's end comes before a word's end", "One two three. Four five", Limit{Max: 20}, []string{"One two three.", "Four five"}},
		{"a word stays whole", "aaaa bbbb cccc", Limit{Max: 12}, []string{"aaaa bbbb", "cccc"}},
		{"a long address goes on whole", "look at https://example.org/abcdefgh", Limit{Max: 30}, []string{"look at", "https://example.org/abcdefgh"}},
		{"East Asian text is cut behind its punctuation", "今日は晴れです。明日は雨が降る", Limit{Max: 11}, []string{"今日は晴れです。", "明日は雨が降る"}},
		{"a surrogate pair stays whole", "😀😀😀", Limit{Max: 5, Count: UTF16}, []string{"😀😀", "😀"}},
		{"a family stays whole", "👨‍👩‍👧👨‍👩‍👧", Limit{Max: 9, Count: Runes}, []string{"👨‍👩‍👧", "👨‍👩‍👧"}},
		{"a heading goes with its text", "aaaa aaaa\n\n# H\n\nbbbb", Limit{Max: 18}, []string{"aaaa aaaa", "# H\n\nbbbb"}},
		{"inline code stays whole", "aaaa aaaa `b c d`", Limit{Max: 14}, []string{"aaaa aaaa", "`b c d`"}},
		{"text that would become a list item is not cut there", "aaaa aa 2 - 1 is one", Limit{Max: 10}, []string{"aaaa aa", "2 - 1 is", "one"}},
		{
			"a fence is closed and opened again with its opener",
			fenced + "go\nfunc a()\nfunc b()\nfunc c()\n" + fenced, Limit{Max: 30},
			[]string{fenced + "go\nfunc a()\nfunc b()\n" + fenced, fenced + "go\nfunc c()\n" + fenced},
		},
		{
			"a longer fence holds shorter ones",
			"````md\n```\naaaa\n```\nbbbb\n````", Limit{Max: 23},
			[]string{"````md\n```\naaaa\n````", "````md\n```\nbbbb\n````"},
		},
		{
			"tildes are closed with tildes",
			"~~~\naaaa\nbbbb\n~~~", Limit{Max: 14},
			[]string{"~~~\naaaa\n~~~", "~~~\nbbbb\n~~~"},
		},
		{
			"a fence in a list keeps its indent",
			"- x\n  ```\n  aaaa\n  bbbb\n  ```\n", Limit{Max: 24},
			[]string{"- x\n  ```\n  aaaa\n  ```", "  ```\n  bbbb\n  ```"},
		},
		{
			"a fence in a quote stays in it",
			"> ```\n> aaaa\n> bbbb\n> ```\n", Limit{Max: 22},
			[]string{"> ```\n> aaaa\n> ```", "> ```\n> bbbb\n> ```"},
		},
		{
			"a long line of code is cut and keeps its blanks",
			fenced + "\naaaa    bbbb    cccc\n" + fenced, Limit{Max: 20},
			[]string{fenced + "\naaaa    bbbb\n" + fenced, fenced + "\n    cccc\n" + fenced},
		},
		{
			"a fence that is never closed is closed at the end",
			fenced + "\naaaa\nbbbb", Limit{Max: 14},
			[]string{fenced + "\naaaa\n" + fenced, fenced + "\nbbbb\n" + fenced},
		},
		{
			"words of an opener that take too much room are not repeated",
			fenced + "abcdefghijklmnop\n1234567890\n1234567890\n" + fenced, Limit{Max: 36},
			[]string{fenced + "abcdefghijklmnop\n1234567890\n" + fenced, fenced + "\n1234567890\n" + fenced},
		},
		{
			"a quoted line that is cut stays a quote",
			"> aaaa bbbb cccc", Limit{Max: 12},
			[]string{"> aaaa bbbb", "> cccc"},
		},
		{"blank messages are dropped", strings.Repeat("\n", 100) + "a" + strings.Repeat("\n", 100), Limit{Max: 10}, []string{"a"}},
		{"lines are counted", "a\nb\nc\nd\ne", Limit{Max: 100, Lines: 3}, []string{"a\nb\nc", "d\ne"}},
		{
			"the lines of added fences are counted",
			fenced + "\na\nb\nc\n" + fenced, Limit{Max: 100, Lines: 4},
			[]string{fenced + "\na\nb\n" + fenced, fenced + "\nc\n" + fenced},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Split(c.text, c.limit)
			if strings.Join(got, "\x00") != strings.Join(c.want, "\x00") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Blocks as messages of their own: a heading with its text, a fence whole.
func TestParagraphs(t *testing.T) {
	got := Paragraphs("# Head\n\none\ntwo\n\n```\na\n\nb\n```\nthree\n\n\n- x\n- y\n")
	want := []string{"# Head\n\none\ntwo", "```\na\n\nb\n```", "three", "- x\n- y"}
	if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Report IL-224: a message full of inline code is cut at its size, not at each
// backtick.
func TestManyCodeSpansAreFewMessages(t *testing.T) {
	text := strings.Repeat("`x` ", 750) + "y"
	if got := Split(text, Limit{Max: 2000, Count: UTF16}); len(got) > 2 {
		t.Errorf("%d messages for %d characters", len(got), len(text))
	}
}

// Report IL-246: an opener of 300 characters before 5,000 characters of code.
func TestALongOpenerIsBudgeted(t *testing.T) {
	text := fenced + strings.Repeat("i", 300) + "\n" + strings.Repeat("some code;\n", 455) + fenced
	for i, m := range Split(text, Limit{Max: 2000, Count: UTF16}) {
		if UTF16(m) > 2000 || strings.Count(m, fenced) != 2 {
			t.Errorf("message %d: %d units, %d fences", i, UTF16(m), strings.Count(m, fenced))
		}
	}
}

// Scenario discord-04: forty short lines are three messages of at most seventeen.
func TestFortyShortLines(t *testing.T) {
	got := Split(strings.TrimSpace(strings.Repeat("fifteen letters\n", 40)), Limit{Max: 2000, Count: UTF16, Lines: 17})
	if len(got) != 3 {
		t.Errorf("%d messages", len(got))
	}
	for _, m := range got {
		if n := strings.Count(m, "\n") + 1; n > 17 {
			t.Errorf("%d lines", n)
		}
	}
}

// A long answer of every kind of block, cut as Discord wants it; the diff of
// the golden file is what a reviewer reads.
func TestGolden(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "answer.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(Split(string(text), Limit{Max: 2000, Count: UTF16}), "\n=====\n")
	golden := filepath.Join("testdata", "answer.split.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("the long answer is cut in another way than before; run with -update and read the diff")
	}
}

// A fence that only the end of its list item closes is closed aloud in a message
// that no longer shows the item.
func TestAFenceThatItsListItemEnds(t *testing.T) {
	text := "- `a b`\n\n  ```\n" + strings.Repeat("  \n", 40) + "\nA"
	for i, m := range Split(text, Limit{Max: 60}) {
		if strings.Count(m, "```")%2 != 0 {
			t.Errorf("message %d leaves its fence open: %q", i, m)
		}
	}
}
