package console

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"prose breaks between words", "one two three", []string{"one two", "three"}},
		{"a link stays whole", "see https://example.org/long now", []string{"see", "https://example.org/long", "now"}},
		{"code stays whole", "```go\nx := one + two + three\n```\none two three", []string{"```go", "x := one + two + three", "```", "one two", "three"}},
		{"empty lines stay", "a\n\nb", []string{"a", "", "b"}},
		{"wide characters count twice", "世界 世界 世界", []string{"世界", "世界", "世界"}},
	} {
		if d := cmp.Diff(c.want, fold(c.text, 8)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	// The tail knows of a fence that was opened before it.
	if d := cmp.Diff([]string{"a b c d e f", "```"}, foldTail("```\nx\na b c d e f\n```", 4, 2)); d != "" {
		t.Error(d)
	}
}

func TestElapsed(t *testing.T) {
	for sec, want := range map[int]string{0: "0s", 59: "59s", 61: "1m 01s", 3600: "60m 00s"} {
		if got := elapsed(time.Duration(sec) * time.Second); got != want {
			t.Errorf("%d: %q", sec, got)
		}
	}
}

// Where there is little room the prompt stays, then the status, then the gap.
func TestRegionInATinyTerminal(t *testing.T) {
	v := view{width: 12, style: newStyle(false), agent: "a", prompt: "› ", text: "hi", at: 2, draft: "x", status: "⠋", gap: true}
	for height, want := range map[int][]string{
		2: {"› hi"}, 3: {"⠋", "› hi"}, 4: {"⠋", "", "› hi"}, 5: {"a › x", "⠋", "", "› hi"},
	} {
		v.height = height
		if d := cmp.Diff(want, v.region().rows); d != "" {
			t.Errorf("height %d: %s", height, d)
		}
	}
}
