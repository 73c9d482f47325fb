package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"standin/channels/console"
)

// tame writes to a terminal what others may have written: names of people and
// of files, words of vendors. A terminal would obey the control characters in
// it; here they are shown.
type tame struct{ to io.Writer }

// tamed is out, tame where a terminal reads it. A file or another program gets
// what there is as it is.
func tamed(out io.Writer) io.Writer {
	if !console.IsScreen(out) {
		return out
	}
	return tame{out}
}

// Write implements io.Writer; it never cuts what it is given.
func (t tame) Write(p []byte) (int, error) {
	if _, err := io.WriteString(t.to, shown(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// shown is a text with its control characters, and those that turn the direction
// of writing, spelt out. Lines and tabs stay.
func shown(text string) string {
	wild := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if !strings.ContainsFunc(text, wild) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case !wild(r):
			b.WriteString(text[:size]) // also what is no character
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}
