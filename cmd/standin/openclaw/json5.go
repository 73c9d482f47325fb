package openclaw

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth bounds how deeply values may be nested.
const maxDepth = 64

// json5 reads a JSON5 text (spec.json5.org): comments, keys without quotes,
// single quotes, trailing commas, hexadecimal numbers, line breaks in texts. Of
// two keys of one name the last counts, as in JavaScript.
type json5 struct {
	src   string
	pos   int
	depth int
}

// syntaxError is a fault of the text. It repeats nothing of it.
type syntaxError struct {
	line, col int // from 1, col in characters
	what      string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.col, e.what)
}

func parseJSON5(data []byte) (v *value, err error) {
	if !utf8.Valid(data) {
		return nil, &syntaxError{1, 1, "the file is not text in UTF-8"}
	}
	p := &json5{src: strings.TrimPrefix(string(data), "\ufeff")}
	defer func() { // a fault unwinds the descent
		if r := recover(); r != nil {
			fault, ours := r.(*syntaxError)
			if !ours {
				panic(r)
			}
			v, err = nil, fault
		}
	}()
	v = p.value()
	if p.space(); p.pos < len(p.src) {
		p.fail("something stands behind the end")
	}
	return v, nil
}

func (p *json5) fail(what string) {
	before := p.src[:min(p.pos, len(p.src))]
	panic(&syntaxError{strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1, what})
}

func (p *json5) peek() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if n == 0 {
		return -1
	}
	return r
}

func (p *json5) next() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	if n == 0 {
		p.fail("the file breaks off")
	}
	p.pos += n
	return r
}

// space passes over blanks and comments.
func (p *json5) space() {
	for {
		rest := p.src[p.pos:]
		switch r := p.peek(); {
		case r == -1:
			return
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || unicode.Is(unicode.Zs, r):
			p.pos += utf8.RuneLen(r)
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexAny(rest, "\r\n\u2028\u2029")
			if n < 0 {
				n = len(rest)
			}
			p.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest, "*/")
			if n < 0 {
				p.fail("this comment has no end")
			}
			p.pos += n + 2
		default:
			return
		}
	}
}

func (p *json5) value() *value {
	if p.depth++; p.depth > maxDepth {
		p.fail("this is nested too deeply")
	}
	defer func() { p.depth-- }()
	p.space()
	switch r := p.peek(); {
	case r == '{':
		return p.object()
	case r == '[':
		return p.list()
	case r == '"' || r == '\'':
		return textOf(p.quoted())
	case r == '+' || r == '-' || r == '.' || r >= '0' && r <= '9' || r == 'I' || r == 'N':
		return p.number()
	case r == -1:
		p.fail("the file breaks off")
	}
	start := p.pos
	switch p.word() {
	case "true", "false":
		return &value{form: truth, text: p.src[start:p.pos]}
	case "null":
		return &value{form: empty}
	}
	p.pos = start
	p.fail("a value is missing here; texts want quotes")
	return nil
}

func (p *json5) object() *value {
	o := &value{form: object}
	p.next()
	for {
		if p.space(); p.peek() == '}' {
			p.next()
			return o
		}
		var key string
		if r := p.peek(); r == '"' || r == '\'' {
			key = p.quoted()
		} else if key = p.word(); key == "" {
			p.fail("a key is missing here")
		}
		if p.space(); p.peek() != ':' {
			p.fail("a colon is missing behind this key")
		}
		p.next()
		o.set(key, p.value())
		switch p.space(); p.peek() {
		case ',':
			p.next()
		case '}':
		default:
			p.fail("a comma is missing here")
		}
	}
}

func (p *json5) list() *value {
	l := &value{form: list}
	p.next()
	for {
		if p.space(); p.peek() == ']' {
			p.next()
			return l
		}
		l.items = append(l.items, p.value())
		switch p.space(); p.peek() {
		case ',':
			p.next()
		case ']':
		default:
			p.fail("a comma is missing here")
		}
	}
}

// word reads a name without quotes: letters, digits, $ and _, as in ECMAScript.
func (p *json5) word() string {
	start := p.pos
	for {
		r := p.peek()
		first := p.pos == start
		switch {
		case r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r):
		case !first && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.Is(unicode.Pc, r)):
		default:
			return p.src[start:p.pos]
		}
		p.pos += utf8.RuneLen(r)
	}
}

func (p *json5) number() *value {
	start := p.pos
	for {
		r := p.peek()
		if r == '+' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			p.pos += utf8.RuneLen(r)
			continue
		}
		break
	}
	raw := p.src[start:p.pos]
	digits, minus := strings.TrimPrefix(raw, "+"), false
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		digits, minus = rest, true
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "0x"); ok {
		if n, err := strconv.ParseUint(hex, 16, 63); err == nil {
			digits = strconv.FormatUint(n, 10)
		}
	}
	f, err := strconv.ParseFloat(digits, 64)
	// ParseFloat knows more words than JSON5, and underscores never pass it.
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(digits, "xXpP") || len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		p.pos = start
		p.fail("this is no number that a setting can have")
	}
	if strings.HasPrefix(digits, ".") || strings.HasSuffix(digits, ".") || strings.Contains(strings.ToLower(digits), ".e") {
		digits = strconv.FormatFloat(f, 'g', -1, 64)
	}
	if minus {
		digits = "-" + digits
	}
	return &value{form: number, text: digits}
}

// quoted reads a text in single or double quotes.
func (p *json5) quoted() string {
	quote := p.next()
	var b strings.Builder
	for {
		switch r := p.next(); r {
		case quote:
			return b.String()
		case '\n', '\r':
			p.pos--
			p.fail("this text has no closing quote on its line")
		case '\\':
			p.escape(&b)
		default:
			b.WriteRune(r)
		}
	}
}

func (p *json5) escape(b *strings.Builder) {
	switch r := p.next(); r {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'v':
		b.WriteByte('\v')
	case '0':
		b.WriteByte(0)
	case 'x':
		b.WriteRune(p.hex(2))
	case 'u':
		c := p.hex(4)
		if c >= 0xd800 && c < 0xdc00 && strings.HasPrefix(p.src[p.pos:], `\u`) {
			p.pos += 2
			c = 0x10000 + (c-0xd800)<<10 + (p.hex(4) - 0xdc00)
		}
		b.WriteRune(c) // half a pair becomes the mark of what cannot be shown
	case '\r':
		if p.peek() == '\n' {
			p.next()
		}
	case '\n', '\u2028', '\u2029': // the text goes on in the next line
	default:
		b.WriteRune(r)
	}
}

func (p *json5) hex(n int) rune {
	if p.pos+n > len(p.src) {
		p.pos = len(p.src)
		p.fail("the file breaks off")
	}
	c, err := strconv.ParseUint(p.src[p.pos:p.pos+n], 16, 32)
	if err != nil {
		p.fail(fmt.Sprintf("%d hexadecimal digits are missing here", n))
	}
	p.pos += n
	return rune(c)
}
