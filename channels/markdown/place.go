package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// The places within a line where it may be cut, the worst first.
type place int

const (
	anywhere     place = iota // between graphemes, though the rest would read as a fence
	betweenSigns              // between graphemes
	breakable                 // between two ideographs, where a line may be broken
	afterMark                 // after East Asian punctuation
	afterWord                 // at a blank
	afterSentence
	places
)

// preferences says how full a message must be for a place to be taken before
// the worse ones that come later. A word that fills most of a message, such as
// a long address, goes to the next one whole.
var preferences = []struct {
	place place
	fill  float64
}{
	{afterSentence, 0.7}, {afterWord, 0.5}, {afterMark, 0.5}, {breakable, 0.5}, {afterWord, 0.2},
	{betweenSigns, 0}, {afterSentence, 0}, {afterWord, 0}, {afterMark, 0}, {breakable, 0}, {anywhere, 0},
}

// inLine finds the best cut in line i, of which room units from offset from on
// fit; spent is what the message holds before that.
func (c *cutter) inLine(i, from, spent, room int) (cut, bool) {
	l := c.plan.lines[i]
	least := from
	if l.role == opener { // never through the fence itself
		least += strings.IndexAny(c.text[from:l.end], "`~")
		least += len(fenceRun(c.text[least:l.end]))
	}
	var best [places]cut
	at, rest, state, used := from, c.text[from:l.end], -1, 0
	for rest != "" {
		var sign string
		var borders int
		sign, rest, borders, state = uniseg.StepString(rest, state)
		if used += c.limit.Count(sign); used > room {
			break
		}
		at += len(sign)
		if at <= least || rest == "" {
			continue
		}
		p := c.placeOf(l, sign, at, borders)
		best[p] = cut{end: at, next: at, fill: float64(spent+used) / float64(c.limit.Max), line: i, mid: true}
	}
	for _, p := range preferences {
		if b := best[p.place]; b.mid && b.fill >= p.fill {
			return c.past(l, b), true
		}
	}
	return cut{}, false
}

// past moves the next piece's beginning over the blanks at the cut. In code they
// are text and stay.
func (c *cutter) past(l line, b cut) cut {
	if l.role == content {
		return b
	}
	b.next += len(c.text[b.next:l.end]) - len(strings.TrimLeft(c.text[b.next:l.end], " \t"))
	return b
}

// placeOf says how good it is to cut after sign, which ends at at.
func (c *cutter) placeOf(l line, sign string, at, borders int) place {
	blank := isBlank(sign) || isBlank(c.text[at:at+1])
	if l.role == content {
		if blank {
			return afterWord
		}
		return betweenSigns
	}
	rest := c.text[at:l.end]
	if blank {
		rest = strings.TrimLeft(rest, " \t")
	}
	last, _ := utf8.DecodeLastRuneInString(sign)
	switch {
	case strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"):
		return anywhere
	case readsAsBlock(rest) || c.plan.within(at):
		return betweenSigns
	case borders&uniseg.MaskSentence != 0 && blank:
		return afterSentence
	case blank:
		return afterWord
	case last >= 0x2000 && unicode.IsPunct(last) && !opensBracket(last):
		return afterMark
	case last >= 0x2E80 && borders&uniseg.MaskLine == uniseg.LineCanBreak:
		return breakable
	}
	return betweenSigns
}

func isBlank(sign string) bool { return strings.Trim(sign, " \t") == "" }

// opensBracket tells whether the sign belongs to what follows it.
func opensBracket(r rune) bool { return unicode.Is(unicode.Ps, r) || unicode.Is(unicode.Pi, r) }

// readsAsBlock tells whether text that begins a message would be taken for a
// heading, a quote, a list item, a table or a rule, which it was not before.
func readsAsBlock(rest string) bool {
	if rest == "" {
		return false
	}
	switch rest[0] {
	case '#', '>', '|', '=':
		return true
	case '-', '+', '*', '_':
		return len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t' || strings.HasPrefix(rest, strings.Repeat(rest[:1], 3))
	}
	digits := 0
	for digits < min(len(rest), 10) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits < 10 && digits+1 < len(rest) &&
		(rest[digits] == '.' || rest[digits] == ')') && (rest[digits+1] == ' ' || rest[digits+1] == '\t')
}
