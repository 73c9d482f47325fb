package console

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// Whatever was painted before, a frame leaves the transcript, the new rows and
// the cursor where they belong, and touches nothing above.
func TestFrameShowsWhatItWasGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width, height = 20, 8
		p, s := newPaper(width, height), screen{}
		row := rapid.StringOfN(rapid.RuneFrom([]rune("ab 世é")), 0, 9, -1)
		var transcript []string
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			above := rapid.SliceOfN(row, 0, 4).Draw(t, "above")
			next := region{rows: rapid.SliceOfN(row, 0, height-1).Draw(t, "rows")}
			if n := len(next.rows); n > 0 {
				next.row = rapid.IntRange(0, n-1).Draw(t, "row")
				next.col = rapid.IntRange(0, ansi.StringWidth(next.rows[next.row])).Draw(t, "col")
			}
			transcript = append(transcript, above...)
			_, _ = p.Write([]byte(s.frame(above, next, width)))

			want := append(append([]string{}, transcript...), next.rows...)
			for i := range want {
				want[i] = strings.TrimRight(want[i], " ")
			}
			got := strings.Split(strings.TrimRight(p.text(false, false), "\n"), "\n")
			if g, w := strings.Join(got, "\n"), strings.TrimRight(strings.Join(want, "\n"), "\n"); g != w {
				t.Fatalf("shows\n%s\nwant\n%s", g, w)
			}
			if r := len(transcript) + next.row; p.row != r || p.col != next.col {
				t.Fatalf("cursor in %d,%d, want %d,%d", p.row, p.col, r, next.col)
			}
			if len(p.faults) > 0 {
				t.Fatal(p.faults)
			}
		}
	})
}

func TestFrameIsEmptyWhenNothingChanged(t *testing.T) {
	var s screen
	r := region{rows: []string{"a", "b"}, row: 1, col: 1}
	s.frame(nil, r, 20)
	if got := s.frame(nil, r, 20); got != "" {
		t.Errorf("%q", got)
	}
}

// A spinner that turns must not rewrite the draft above it.
func TestFrameRewritesFromTheFirstChange(t *testing.T) {
	var s screen
	s.frame(nil, region{rows: []string{"long draft", "⠋", "you ›"}, row: 2, col: 5}, 20)
	got := s.frame(nil, region{rows: []string{"long draft", "⠙", "you ›"}, row: 2, col: 5}, 20)
	if strings.Contains(got, "draft") || !strings.Contains(got, "⠙") {
		t.Errorf("%q", got)
	}
}

// A narrower terminal wraps the rows above the cursor anew.
func TestReflowCountsTheRowsOfANarrowerTerminal(t *testing.T) {
	s := screen{now: region{rows: []string{strings.Repeat("x", 25), "", "you › hi"}, row: 2, col: 8}}
	for width, want := range map[int]int{30: 2, 25: 2, 24: 3, 12: 4, 8: 6, 1: 34} {
		if got := s.reflowed(width); got != want {
			t.Errorf("width %d: %d rows, want %d", width, got, want)
		}
	}
}

// The region always leaves a row of the terminal free, fits its width, and has
// the cursor in it: nothing scrolls that is painted again.
func TestRegionFitsTheTerminal(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\t世👩‍👧")))
	rapid.Check(t, func(t *rapid.T) {
		v := view{
			width: rapid.IntRange(6, 60).Draw(t, "width"), height: rapid.IntRange(4, 20).Draw(t, "height"),
			style: newStyle(rapid.Bool().Draw(t, "colour")), agent: "agent", prompt: "you › ",
			text: text.Draw(t, "text"), draft: text.Draw(t, "draft"),
			status: rapid.SampledFrom([]string{"", "⠋ working for a rather long time"}).Draw(t, "status"),
			gap:    rapid.Bool().Draw(t, "gap"),
		}
		for at := range v.text {
			if rapid.Bool().Draw(t, "here") {
				v.at = at
				break
			}
		}
		r := v.region()
		if len(r.rows) > v.height-1 {
			t.Fatalf("%d rows of %d", len(r.rows), v.height)
		}
		for _, row := range r.rows {
			if w := ansi.StringWidth(row); w > v.width-1 || strings.ContainsAny(row, "\n\t") {
				t.Fatalf("row %q has %d cells of %d", row, w, v.width)
			}
		}
		if r.row < 0 || r.row >= len(r.rows) || r.col < 0 || r.col >= v.width {
			t.Fatalf("cursor %d,%d in %d rows", r.row, r.col, len(r.rows))
		}
	})
}

// A terminal may keep what is erased from its top left corner as a page of its
// scrollback; no key may leave one there.
func TestFrameNeverErasesTheWholeScreenWhileTyping(t *testing.T) {
	var s screen
	s.frame(nil, region{rows: []string{"you › "}, col: 6}, 20)
	for _, row := range []string{"you › h", "you › hi", "you › "} {
		if got := s.frame(nil, region{rows: []string{row}, col: 6}, 20); strings.Contains(got, "J") {
			t.Errorf("%q", got)
		}
	}
}
