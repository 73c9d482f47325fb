// Package markdown cuts a long Markdown text into messages that a chat platform
// takes. Where blocks and fences are is asked of a real parser; what is decided
// here is only where to cut [D12, SL23].
package markdown

import (
	"strings"
	"unicode/utf8"
)

// Limit is the most that one message may hold.
type Limit struct {
	// Max is the size in the units of Count; below 1 nothing is cut.
	Max int
	// Count measures a text: Runes, UTF16 or Bytes, or another measure that is
	// additive (the measure of a text is the sum of its parts'); nil is Runes.
	Count func(string) int
	// Lines is the most lines, added fences included; 0 is no limit. Less than
	// three would leave no room for a line of code and its fence, and counts as three.
	Lines int
}

// Runes counts code points.
func Runes(s string) int { return utf8.RuneCountInString(s) }

// UTF16 counts UTF-16 units, as JavaScript and Discord's clients do.
func UTF16(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}

// Bytes counts bytes of UTF-8.
func Bytes(s string) int { return len(s) }

// Split cuts the text into messages within the limit. It prefers the end of a
// paragraph to the end of a line, that to the end of a sentence, a blank, East
// Asian punctuation, and at last the border of a grapheme. A fenced code block
// that is cut is closed, and opened again by its own opener in the next message
// (by the bare fence where the opener's words would take too much room). Blanks
// around a cut are dropped, and so are messages of blanks; nothing else is.
//
// The limit wins over all of this: where it is so small that a fence or a
// grapheme does not fit, fences are left out and graphemes are cut between their
// code points. Only a single code point that is larger than Max is let through.
func Split(text string, l Limit) []string {
	var messages []string
	for _, p := range pieces(text, l) {
		messages = append(messages, p.head+p.body+p.tail)
	}
	return messages
}

// Paragraphs cuts a text between its blocks, for those who want each as a message
// of its own (chunkMode: newline). A heading stays with what follows it.
func Paragraphs(text string) []string {
	p := survey(text)
	var all []string
	start := 0
	add := func(end int) {
		if s := trimLines(text[start:end]); s != "" {
			all = append(all, s)
		}
		start = end
	}
	for _, l := range p.lines {
		if l.block && l.role <= opener {
			add(l.start)
		}
	}
	add(len(text))
	return all
}

// piece is one message: a part of the source between what was added to it.
type piece struct {
	head string // opens the fence again, or repeats a quote's marks
	body string // the source's own text
	tail string // closes the fence
	// closer is a closing fence of the source for which tail stands.
	closer string
}

// pieces cuts the text. Joined, all body and closer are the text up to blanks.
func pieces(text string, l Limit) []piece {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if l.Count == nil {
		l.Count = Runes
	}
	if l.Lines > 0 {
		l.Lines = max(l.Lines, 3)
	}
	if fits(text, l) {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return []piece{{body: trimLines(text)}}
	}
	c := cutter{text: text, plan: survey(text), limit: l}
	var all []piece
	for pos := 0; pos < len(text); {
		p, next := c.piece(pos)
		if next <= pos { // cannot be; but a loop without end would be worse than a lost cut
			next = len(text)
			p.body = text[pos:]
		}
		if strings.TrimSpace(p.body) != "" {
			all = append(all, p)
		} else if p.closer != "" && len(all) > 0 {
			all[len(all)-1].closer += p.closer
		}
		pos = next
	}
	return all
}

// fits tells, without asking the parser, that there is nothing to cut and no
// fence that might have to be closed.
func fits(text string, l Limit) bool {
	if l.Max < 1 {
		return true
	}
	return l.Count(text) <= l.Max && (l.Lines <= 0 || strings.Count(text, "\n") < l.Lines) &&
		!strings.Contains(text, "```") && !strings.Contains(text, "~~~")
}

// trimLines drops blank lines at both ends and blanks at the very end; the
// indentation of the first line stays.
func trimLines(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 || strings.TrimSpace(s[:i]) != "" {
			return s
		}
		s = s[i+1:]
	}
}
