package provider

import (
	"bytes"
	"errors"
	"io"
)

// Bounds of what a tape keeps, in bytes.
const (
	maxRead = 64 << 10 // of an error body, for parsing
	maxLine = 64 << 10 // of one line of a stream
)

// tape is a response body that remembers what went through it. The SDKs lose
// evidence (a status, an event, the reason of a break), so what a call is
// judged by is read here, off the wire.
type tape struct {
	rc  io.ReadCloser
	api API
	sse bool

	head []byte // the first bytes, at most maxRead
	err  error  // what broke the body, nil after a clean end

	onDone func()
	fields bool   // a line of an event stream went by
	done   bool   // the protocol's last event went by
	finish string // the last finish_reason or stop_reason
	failed []byte // data of the last event that speaks of an error

	line  []byte
	event []byte
	data  []byte
}

// Read passes the body on. After the protocol's last event nothing more is
// passed on, whatever the connection does.
func (t *tape) Read(p []byte) (int, error) {
	spent := t.done
	n, err := t.rc.Read(p)
	if spent {
		return 0, end(err)
	}
	t.feed(p[:n])
	if err != nil && t.done {
		err = io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) && t.err == nil {
		t.err = err
	}
	return n, err
}

// end turns whatever came after the last event into a clean end.
func end(err error) error {
	if err == nil {
		return nil
	}
	return io.EOF
}

// Close closes the body.
func (t *tape) Close() error { return t.rc.Close() }

func (t *tape) feed(p []byte) {
	if room := maxRead - len(t.head); room > 0 && (!t.sse || len(t.head) == 0) {
		t.head = append(t.head, p[:min(room, len(p))]...)
	}
	if !t.sse {
		return
	}
	for len(p) > 0 && !t.done {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.line = appendBounded(t.line, p)
			return
		}
		t.line = appendBounded(t.line, p[:i])
		t.takeLine(bytes.TrimSuffix(t.line, []byte("\r")))
		t.line = t.line[:0]
		p = p[i+1:]
	}
}

func appendBounded(dst, p []byte) []byte {
	return append(dst, p[:min(len(p), max(0, maxLine-len(dst)))]...)
}

// takeLine reads one line of an event stream; an empty one ends an event.
func (t *tape) takeLine(line []byte) {
	if len(line) == 0 {
		t.takeEvent()
		t.event, t.data = t.event[:0], t.data[:0]
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		t.event, t.fields = append(t.event[:0], value...), true
	case "data":
		t.data, t.fields = appendBounded(t.data, value), true
	}
}

func (t *tape) takeEvent() {
	if len(t.data) == 0 {
		return
	}
	kind := string(t.event)
	if kind == "" && t.api != OpenAICompletions {
		kind = quoted(t.data, `"type"`)
	}
	switch {
	case bytes.HasPrefix(t.data, []byte("[DONE]")):
		t.end()
		return
	case kind == "message_stop", kind == "response.completed", kind == "response.incomplete":
		t.end()
		return
	case kind == "error", kind == "response.failed":
		t.failed = bytes.Clone(t.data)
		t.end()
		return
	}
	// A text that contains this word arrives with escaped quotes, so only a
	// field of the envelope matches.
	if bytes.Contains(t.data, []byte(`"error"`)) && isFailure(t.data) {
		t.failed = bytes.Clone(t.data)
	}
	key := `"finish_reason"`
	if t.api == AnthropicMessages {
		key = `"stop_reason"`
	}
	if reason := quoted(t.data, key); reason != "" {
		t.finish = reason
	}
}

func (t *tape) end() {
	t.done = true
	if t.onDone != nil {
		t.onDone()
	}
}

// complete tells whether a streamed answer reached its end, even when the
// connection broke or stayed open after it.
func (t *tape) complete() bool {
	return len(t.failed) == 0 && (t.done || t.finish != "")
}

// quoted gives the string value that follows key, "" when it is not a string.
func quoted(data []byte, key string) string {
	i := bytes.Index(data, []byte(key))
	if i < 0 {
		return ""
	}
	rest := bytes.TrimLeft(data[i+len(key):], " \t")
	if !bytes.HasPrefix(rest, []byte(":")) {
		return ""
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	if !bytes.HasPrefix(rest, []byte(`"`)) {
		return ""
	}
	rest = rest[1:]
	j := bytes.IndexByte(rest, '"')
	if j < 0 {
		return ""
	}
	return string(rest[:j])
}
