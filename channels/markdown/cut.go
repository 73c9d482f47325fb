package markdown

import (
	"strings"
	"unicode/utf8"
)

// cutter makes one piece after the other.
type cutter struct {
	text  string
	plan  plan
	limit Limit
}

// cut is a place where a piece may end.
type cut struct {
	end  int     // of the body
	next int     // where the next piece begins
	fill float64 // how much of the limit is used, 0 to 1
	line int     // the line that ends here, or is cut here
	mid  bool    // within the line
}

// How full a message must be at a place that is good for the reader, so that
// good places do not make many small messages.
const (
	paragraphFill = 0.4
	lineFill      = 0.35
)

// piece makes the piece that begins at pos and tells where the next one begins.
func (c *cutter) piece(pos int) (p piece, next int) {
	pos = c.skip(pos)
	if pos >= len(c.text) {
		return piece{}, len(c.text)
	}
	for _, head := range c.heads(pos) {
		if at, ok := c.choose(pos, head); ok {
			return c.finish(pos, head, at)
		}
	}
	// Not even a grapheme fits: the limit wins over everything but a code point.
	end := pos
	for end < len(c.text) {
		_, size := utf8.DecodeRuneInString(c.text[end:])
		if end > pos && c.limit.Count(c.text[pos:end+size]) > c.limit.Max {
			break
		}
		end += size
	}
	if i := strings.IndexByte(c.text[pos:end], '\n'); i > 0 {
		end = pos + i
	}
	return piece{body: c.text[pos:end]}, end
}

// skip passes over blank lines outside of fences.
func (c *cutter) skip(pos int) int {
	for i := c.plan.at(pos); i < len(c.plan.lines); i++ {
		l := c.plan.lines[i]
		from := max(pos, l.start)
		if l.role >= content || strings.Trim(c.text[from:l.end], " \t\r") != "" {
			return from
		}
		pos = l.next
	}
	return len(c.text)
}

// heads gives what may stand before the piece, the best first.
func (c *cutter) heads(pos int) []string {
	l := c.plan.lines[c.plan.at(pos)]
	mid := pos > l.start
	switch {
	case l.role == content:
		marks := ""
		if mid {
			marks = l.fence.quote
		}
		if c.limit.Count(l.fence.open)-c.limit.Count(l.fence.bare) > c.limit.Max/4 {
			return []string{l.fence.bare + "\n" + marks, ""}
		}
		return []string{l.fence.open + "\n" + marks, l.fence.bare + "\n" + marks, ""}
	case l.role == opener && mid: // the opener's words were too long for one message
		return []string{l.fence.bare + "\n" + l.fence.quote, ""}
	case mid:
		if marks := c.marksBefore(l); marks != "" {
			return []string{marks, ""}
		}
	}
	return []string{""}
}

// marksBefore gives the quote marks that a line begins with.
func (c *cutter) marksBefore(l line) string {
	s := c.text[l.start:l.end]
	return quoteMarks(s[:len(s)-len(strings.TrimLeft(s, "> "))])
}

// choose finds the best place to end the piece that begins at pos with head;
// false when nothing fits.
func (c *cutter) choose(pos int, head string) (cut, bool) {
	first := c.plan.at(pos)
	degraded := c.degraded(pos, head)
	used, rows := c.limit.Count(head), strings.Count(head, "\n")
	var ends []cut // after whole lines
	i := first
	for ; i < len(c.plan.lines) && c.plan.lines[i].start < len(c.text); i++ {
		if i > first && c.endsUnsaid(i) {
			return ends[len(ends)-1], true
		}
		l := c.plan.lines[i]
		size := c.size(c.text[max(pos, l.start):l.end]) + c.newline(first, i)
		tail := c.tail(l, degraded)
		if used+size+c.limit.Count(tail) > c.limit.Max || !c.rowsFit(rows+1, tail) {
			break
		}
		used, rows = used+size, rows+1
		ends = append(ends, cut{end: l.end, next: l.next, fill: c.fill(used, rows), line: i})
	}
	if i == len(c.plan.lines) || c.plan.lines[i].start >= len(c.text) {
		last := ends[len(ends)-1]
		last.next = len(c.text)
		return last, true
	}
	if at, ok := c.betweenLines(ends); ok {
		return at, true
	}
	l := c.plan.lines[i]
	tail := c.tail(l, degraded)
	if l.role != closer && c.rowsFit(rows+1, tail) {
		spent := used + c.newline(first, i)
		room := c.limit.Max - spent - c.limit.Count(tail)
		if at, ok := c.inLine(i, max(pos, l.start), spent, room); ok {
			return at, true
		}
	}
	if len(ends) > 0 {
		return ends[len(ends)-1], true
	}
	return cut{}, false
}

// betweenLines takes the last good place between lines, if there is one.
func (c *cutter) betweenLines(ends []cut) (cut, bool) {
	for i := len(ends) - 1; i >= 0 && ends[i].fill >= paragraphFill; i-- {
		if at := ends[i]; c.plan.lines[at.line+1].block && !c.open(at.line) {
			return at, true
		}
	}
	for len(ends) > 0 && c.plan.lines[ends[len(ends)-1].line].role == opener {
		ends = ends[:len(ends)-1] // an opener stays with its code
	}
	if len(ends) == 0 {
		return cut{}, false
	}
	at := ends[len(ends)-1]
	return at, at.fill >= lineFill || c.fitsAlone(at.line+1)
}

// open tells whether a fence is open after the line.
func (c *cutter) open(i int) bool {
	r := c.plan.lines[i].role
	return r == opener || r == content
}

// endsUnsaid tells whether a fence ends between line i and the one before it
// without a closer: the list item or quote around it has ended, or the text. A
// message that does not show that would leave it open, so it is closed there.
func (c *cutter) endsUnsaid(i int) bool {
	l, before := c.plan.lines[i], c.plan.lines[i-1]
	if !c.open(i - 1) {
		return false
	}
	return l.role != content && l.role != closer || l.fence != before.fence
}

// fitsAlone tells whether the whole line has room in a message of its own.
func (c *cutter) fitsAlone(i int) bool {
	l := c.plan.lines[i]
	s := c.text[l.start:l.end]
	if l.role == content {
		s = l.fence.bare + "\n" + s + "\n" + l.fence.close
	}
	return c.size(s) <= c.limit.Max
}

// degraded gives the fence that the piece begins in without opening it again,
// because there was no room for that.
func (c *cutter) degraded(pos int, head string) *fence {
	l := c.plan.lines[c.plan.at(pos)]
	if head == "" && (l.role == content || l.role == opener && pos > l.start) {
		return l.fence
	}
	return nil
}

// tail is what closes the fence when a piece ends with or in the line.
func (c *cutter) tail(l line, degraded *fence) string {
	if l.role != opener && l.role != content || l.fence == degraded {
		return ""
	}
	return "\n" + l.fence.close
}

// size measures a text, but no further than is needed to know that it is too large.
func (c *cutter) size(s string) int {
	if most := 4*c.limit.Max + utf8.UTFMax; len(s) > most {
		for !utf8.RuneStart(s[most]) {
			most--
		}
		if n := c.limit.Count(s[:most]); n > c.limit.Max {
			return n
		}
	}
	return c.limit.Count(s)
}

// newline is the size of what stands between line i and the one before it.
func (c *cutter) newline(first, i int) int {
	if i == first {
		return 0
	}
	return c.limit.Count(c.text[c.plan.lines[i-1].end:c.plan.lines[i].start])
}

func (c *cutter) rowsFit(rows int, tail string) bool {
	return c.limit.Lines <= 0 || rows+strings.Count(tail, "\n") <= c.limit.Lines
}

// fill is how full a message is, by size or by lines, whichever is nearer to its limit.
func (c *cutter) fill(used, rows int) float64 {
	f := float64(used) / float64(c.limit.Max)
	if c.limit.Lines > 0 {
		f = max(f, float64(rows)/float64(c.limit.Lines))
	}
	return f
}

// finish makes the piece and tells where the next one begins.
func (c *cutter) finish(pos int, head string, at cut) (piece, int) {
	l := c.plan.lines[at.line]
	p := piece{head: head, body: c.text[pos:at.end], tail: c.tail(l, c.degraded(pos, head))}
	if !c.open(at.line) {
		p.body = strings.TrimRight(p.body, " \t\r\n")
	}
	if after := c.plan.lines[min(at.line+1, len(c.plan.lines)-1)]; !at.mid && p.tail != "" && after.role == closer {
		p.closer, at.next = c.text[after.start:after.end], after.next
	}
	return p, at.next
}
