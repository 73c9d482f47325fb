package main

import (
	"strings"
	"testing"
)

// What others wrote is shown on a terminal and not obeyed: neither a colour, a
// title, a line that is written over, nor a text that runs backwards.
func TestATerminalIsNotToldWhatToDo(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode 🙂, tab\tand line\n": "plain, ünïcode 🙂, tab\tand line\n",
		"\x1b[31mred\x1b[0m":                `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\x07":                  `\x1b]0;title\x07`,
		"WRONG\rfine \x7f":                  `WRONG\x0dfine \x7f`,
		"\u009b31m \u202egnp.exe":           `\u009b31m \u202egnp.exe`,
		"no \xff character \x1b":            "no \xff character \\x1b",
	} {
		var out strings.Builder
		if n, err := (tame{&out}).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("%q is shown as %q, want %q (%d, %v)", text, out.String(), want, n, err)
		}
	}
	var file strings.Builder
	if tamed(&file) != &file {
		t.Error("what is no terminal gets the text changed")
	}
}
