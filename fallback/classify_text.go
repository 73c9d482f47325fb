package fallback

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds what is examined of one field, in bytes: vendors say what is
// wrong at the start, and a page of HTML or a stack trace says nothing more.
const maxText = 8 << 10

// text is a field made ready for phrases: lower-cased, blanks collapsed, JSON
// taken apart into one line per telling field, words found once.
type text struct {
	lower    string
	words    []textWord
	lines    []textLine
	codes    []string // values of code, type and status fields of JSON in it
	squeezed string   // lower without blanks, only when it is not plain ASCII
	given    bool     // the field held something, telling or not
	seen     [16]uint64
}

type textWord struct {
	start, end int32
	line       int32
	key        uint32
	before     glue
}

type textLine struct {
	start, end int32
	json       bool
}

// glue is what stands between two words, in rising order of separation.
type glue byte

const (
	glueSoft  glue = iota // blanks, -, /, quotes, a dot inside a name
	glueUnder             // exactly one underscore
	glueColon             // : or =
	glueBreak             // , brackets, dashes, letters of other scripts
	glueStop              // . ; ! ? at the end of a sentence
	glueLine              // another line
)

// read makes a field ready. Blank text has no lines.
func read(field string) *text {
	t := &text{}
	field = strings.ToLower(capped(strings.TrimSpace(field)))
	if field == "" || field == "null" {
		return t
	}
	t.given = strings.Trim(field, "{}[]\"' \t\r\n") != ""
	b := &textBuilder{text: t}
	b.buf.Grow(len(field) + 16)
	t.words = make([]textWord, 0, len(field)/5+4)
	walkText(field, b, 0)
	b.finish()
	return t
}

// capped cuts s to maxText bytes, never inside a character.
func capped(s string) string {
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	for len(s) > 0 {
		if r, n := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || n > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s
}

// empty tells whether there is nothing to read: no word of any script.
func (t *text) empty() bool { return len(t.words) == 0 && t.squeezed == "" }

func (t *text) word(i int) string { return t.lower[t.words[i].start:t.words[i].end] }

func (t *text) lineLen(i int) int {
	l := t.lines[t.words[i].line]
	return int(l.end - l.start)
}

// has tells whether a word, or a stem, with this hash may be in the text: a no
// is certain. It keeps most phrases from being looked for at all.
func (t *text) has(key uint32) bool { return t.seen[key>>6&15]>>(key&63)&1 == 1 }

func (t *text) hasAny(keys []uint32) bool {
	for _, k := range keys {
		if t.has(k) {
			return true
		}
	}
	return false
}

// textBuilder collects lines and finds their words on the way.
type textBuilder struct {
	text *text
	buf  strings.Builder
	high bool // something is not ASCII
}

// line adds a sentence as a line of its own.
func (b *textBuilder) line(s string, json bool) { b.add("", s, json) }

// field adds the value of a JSON field such as code or type: as "code: value",
// and to the codes.
func (b *textBuilder) field(name, value string) {
	value = strings.TrimSpace(value)
	if value == "" {
		return
	}
	b.text.codes = append(b.text.codes, value)
	b.add(name+": ", value, true)
}

func (b *textBuilder) add(label, s string, json bool) {
	t := b.text
	if b.buf.Len() > 0 {
		b.buf.WriteByte('\n')
	}
	from, first := b.buf.Len(), len(t.words)
	before := glueLine
	b.words(label, &before)
	b.words(s, &before)
	if len(t.words) > first {
		t.words[first].before = glueLine
	}
	if b.buf.Len() == from {
		return
	}
	for i := first; i < len(t.words); i++ {
		t.words[i].line = int32(len(t.lines))
	}
	t.lines = append(t.lines, textLine{int32(from), int32(b.buf.Len()), json})
}

// words copies s with collapsed blanks and marks its words. before is the glue
// that is pending for the next word.
func (b *textBuilder) words(s string, before *glue) {
	t := b.text
	start, h := -1, uint32(0)
	flush := func() {
		if start < 0 {
			return
		}
		h |= 1
		if b.buf.Len()-start > stem {
			s := hash(b.buf.String()[start : start+stem])
			t.seen[s>>6&15] |= 1 << (s & 63)
		}
		t.words = append(t.words, textWord{int32(start), int32(b.buf.Len()), 0, h, *before})
		t.seen[h>>6&15] |= 1 << (h & 63)
		start, *before = -1, glueSoft
	}
	for i := 0; i < len(s); {
		c, n := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
			b.high = true
		}
		switch {
		case wordRune(c):
			if start < 0 {
				start, h = b.buf.Len(), 2166136261
			}
			for j := i; j < i+n; j++ {
				h = (h ^ uint32(s[j])) * 16777619
			}
			b.buf.WriteString(s[i : i+n])
		case start >= 0 && (c == '\'' || c == '’') && i+n < len(s) && asciiLetter(s[i+n]):
			// An apostrophe inside a word: "doesn't" is doesnt, "model's" is model.
			if s[i+n] == 's' && (i+n+1 == len(s) || !asciiLetter(s[i+n+1])) {
				n++
			}
		default:
			flush()
			joint := separates(c, s[i+n:])
			if joint == glueUnder && *before != glueSoft {
				joint = glueSoft
			}
			*before = max(*before, joint)
			b.separator(c, s[i:i+n])
		}
		i += n
	}
	flush()
}

// separator copies what is no word; a run of blanks becomes one.
func (b *textBuilder) separator(c rune, s string) {
	if !unicode.IsSpace(c) {
		b.buf.WriteString(s)
		return
	}
	if out := b.buf.String(); out != "" && out[len(out)-1] != ' ' && out[len(out)-1] != '\n' {
		b.buf.WriteByte(' ')
	}
}

// separates tells how far a character keeps words apart; rest follows it.
func separates(c rune, rest string) glue {
	switch c {
	case '_':
		return glueUnder
	case ':', '=':
		return glueColon
	case ',', '(', ')', '[', ']', '{', '}', '<', '>', '|', '*':
		if c == '(' || c == ')' {
			return glueSoft // "chunk(s)", "(any)"
		}
		return glueBreak
	case '.', ';', '!', '?':
		if rest == "" || strings.IndexByte(" \n\t\r\"')", rest[0]) >= 0 {
			return glueStop
		}
		return glueSoft
	}
	if c >= utf8.RuneSelf && c != '’' && c != '‘' && c != '“' && c != '”' && !unicode.IsSpace(c) {
		return glueBreak
	}
	return glueSoft
}

// wordRune tells letters and digits of scripts that put blanks between words.
func wordRune(c rune) bool {
	if c < utf8.RuneSelf {
		return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
	}
	return unicode.IsLetter(c) && !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func asciiLetter(c byte) bool { return c >= 'a' && c <= 'z' }

func (b *textBuilder) finish() {
	b.text.lower = b.buf.String()
	if b.high {
		b.text.squeezed = strings.ReplaceAll(b.text.lower, " ", "")
	}
}

// readTyped makes the signal's code and type a text of its own, read like the
// fields of an error object (V5).
func readTyped(code, kind string) *text {
	b := &textBuilder{text: &text{}}
	b.field("code", capped(code))
	b.field("type", capped(kind))
	b.finish()
	return b.text
}

// leadingCode is the HTTP status that a code field is, as gateways write it.
func (t *text) leadingCode() (status int, marked, ok bool) {
	if len(t.words) < 2 || len(t.codes) == 0 || t.codes[0] != t.word(1) {
		return 0, false, false
	}
	n := t.status(1)
	return n, true, n != 0
}

// htmlPage tells whether a text is a page of HTML, with or without a status
// before it (5.B.1).
func htmlPage(s string) bool {
	s = strings.ToLower(capped(strings.TrimSpace(s)))
	at := strings.IndexByte(s, '<')
	if at < 0 || at > 16 {
		return false
	}
	page := s[at:]
	return (strings.HasPrefix(page, "<!doctype html") || strings.HasPrefix(page, "<html")) && strings.Contains(page, "</html")
}
