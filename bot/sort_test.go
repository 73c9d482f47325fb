package bot

import (
	"reflect"
	"strings"
	"testing"

	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		text, name, args string
		ok               bool
	}{
		{"/model", "model", "", true},
		{"  /Model  OpenAI/gpt-5.4  ", "model", "OpenAI/gpt-5.4", true},
		{"/model: opus", "model", "opus", true},
		{"/new\nwrite\na poem", "new", "write\na poem", true},
		{"/etc/hosts is what?", "", "", false},
		{"//comment", "", "", false},
		{"/ model", "", "", false},
		{"/", "", "", false},
		{"/5m", "", "", false},
		{"say /model", "", "", false},
		{"/stop!", "", "", false},
		{"", "", "", false},
	} {
		if name, args, ok := parseCommand(c.text); name != c.name || args != c.args || ok != c.ok {
			t.Errorf("parseCommand(%q) = %q, %q, %v", c.text, name, args, ok)
		}
	}
}

// The parser takes any text, and neither case nor padding changes which command it is.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"/model", "/model: x", "/new\ntext", "/etc/hosts", "//", "/é", "/stop!", " /a\x00", "/x:y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, args, ok := parseCommand(text)
		if ok && (name == "" || name != strings.ToLower(name) || args != strings.TrimSpace(args)) {
			t.Errorf("parseCommand(%q) = %q, %q", text, name, args)
		}
		if !ok && (name != "" || args != "") {
			t.Errorf("parseCommand(%q) is no command and gives %q, %q", text, name, args)
		}
		if n, a, o := parseCommand(" \t" + text + "\n "); n != name || a != args || o != ok {
			t.Errorf("padding makes %q, %q, %v of %q, %q, %v", n, a, o, name, args, ok)
		}
		if n, _, o := parseCommand(asciiUpper(text)); n != name || o != ok {
			t.Errorf("upper case makes %q, %v of %q, %v", n, o, name, ok)
		}
	})
}

func asciiUpper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func TestStopWords(t *testing.T) { // S33
	for text, want := range map[string]bool{
		"stop": true, " STOP!! ": true, "Please   stop.": true, "wait…": true, "стоп": true, "やめて。": true,
		"stop the presses": false, "don't stop": false, "": false, "!": false,
	} {
		if got := isStopWord(text); got != want {
			t.Errorf("isStopWord(%q) = %v", text, got)
		}
	}
}

func TestSessionKey(t *testing.T) { // S1, SL18
	for _, c := range []struct {
		in   channels.Inbound
		want fallback.SessionID
	}{
		{channels.Inbound{Chat: channels.Direct, To: channels.Address{Channel: "slack", Conversation: "D1", Thread: "5.1"}}, "agent:main:main"},
		{channels.Inbound{Chat: channels.Room, To: channels.Address{Channel: "slack", Conversation: "C1"}}, "agent:main:slack:channel:c1"},
		{channels.Inbound{Chat: channels.Group, To: channels.Address{Channel: "slack", Conversation: "G1"}}, "agent:main:slack:group:g1"},
		{channels.Inbound{Chat: channels.Room, To: channels.Address{Channel: "slack", Account: "x", Conversation: "C1", Thread: "90.0"}}, "agent:main:slack:channel:c1:thread:90.0"},
	} {
		if got := SessionKey("Main", c.in); got != c.want {
			t.Errorf("SessionKey(%+v) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestVisible(t *testing.T) { // S37
	for _, c := range []struct {
		text, shown string
		silent      bool
	}{
		{"hello", "hello", false},
		{" No_Reply ", "", true},
		{"NO_REPLY\nhello", "hello", false},
		{"hello NO_REPLY", "hello", false},
		{"NO_REPLYING is a word", "NO_REPLYING is a word", false},
		{"say_NO_REPLY", "say_NO_REPLY", false},
		{"  ", "", false},
	} {
		if shown, silent := visible(c.text); shown != c.shown || silent != c.silent {
			t.Errorf("visible(%q) = %q, %v", c.text, shown, silent)
		}
	}
}

func TestConversationBeginsWithAQuestionAndAlternates(t *testing.T) {
	u, a := provider.User, provider.Assistant
	got := conversation([]Entry{{Role: a, Text: "cut off"}, {Role: u, Text: "one"}, {Role: u, Text: "two"}, {Role: a, Text: "three"}}, "four", true)
	want := []provider.Message{{Role: u, Text: "one\n\ntwo"}, {Role: a, Text: "three"}, {Role: u, Text: "four"}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("message %d is %v, want %v", i, got[i], want[i])
		}
	}
}
