package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// screen knows what region is painted and where the cursor is, and nothing else
// of the terminal: all moves are relative to the cursor, so that what others
// printed above stays theirs.
type screen struct {
	now   region
	width int // of the terminal when it was painted
}

// What surrounds a frame: one synchronised update (terminals that do not know
// it ignore it) with the cursor out of sight.
const (
	frameBegin = "\x1b[?2026h\x1b[?25l"
	frameEnd   = "\x1b[?25h\x1b[?2026l"
)

// frame gives the bytes that put the lines above the region and change it to
// next, rewriting from the first row that differs; "" when nothing does.
func (s *screen) frame(above []string, next region, width int) string {
	was := s.now
	same := 0
	if len(above) == 0 && width == s.width {
		for same < len(was.rows) && same < len(next.rows) && was.rows[same] == next.rows[same] {
			same++
		}
		if same == len(was.rows) && same == len(next.rows) && was.row == next.row && was.col == next.col {
			return ""
		}
	}
	var b strings.Builder
	b.WriteString(frameBegin)
	at := was.row // the row of the region the cursor is in
	switch {
	case width != s.width:
		up(&b, s.reflowed(width))
		b.WriteString("\r\x1b[J")
		at = 0
	case same < len(was.rows):
		up(&b, at-same)
		erase(&b, len(was.rows)-same)
		at = same
	case same > 0 && same < len(next.rows):
		up(&b, at-(same-1))
		b.WriteString("\r\n")
		at = same
	}
	for _, line := range above {
		b.WriteString(line + "\r\n")
	}
	if same < len(next.rows) {
		b.WriteString(strings.Join(next.rows[same:], "\r\n"))
		at = len(next.rows) - 1
	}
	up(&b, at-next.row)
	b.WriteString("\r")
	if next.col > 0 {
		b.WriteString("\x1b[" + strconv.Itoa(next.col) + "C")
	}
	b.WriteString(frameEnd)
	s.now, s.width = region{slices.Clone(next.rows), next.row, next.col}, width
	return b.String()
}

// erase empties n rows from the cursor's down and comes back to the first. Row
// by row, because some terminals take "erase from the top left corner" for a
// new page and keep the old one in their scrollback, once for each key.
func erase(b *strings.Builder, n int) {
	b.WriteString("\r\x1b[K")
	for range n - 1 {
		b.WriteString("\x1b[B\x1b[K")
	}
	up(b, n-1)
}

// forget clears the whole terminal and starts at its top.
func (s *screen) forget() string {
	s.now = region{}
	return "\x1b[2J\x1b[H"
}

// reflowed says how many rows the cursor is below the region's top after the
// terminal was resized. Nearly all of them wrap the rows anew; one that cuts
// them instead loses some rows of the transcript from its screen.
func (s *screen) reflowed(width int) int {
	width = max(width, 1)
	n := 0
	for _, row := range s.now.rows[:min(s.now.row, len(s.now.rows))] {
		n += max((ansi.StringWidth(row)+width-1)/width, 1)
	}
	return n + s.now.col/width
}

// up moves the cursor n rows up, or down when n is negative.
func up(b *strings.Builder, n int) {
	switch {
	case n > 0:
		b.WriteString("\x1b[" + strconv.Itoa(n) + "A")
	case n < 0:
		b.WriteString("\x1b[" + strconv.Itoa(-n) + "B")
	}
}
