package fallback

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting bounds JSON in strings of JSON (a gateway that quotes its vendor).
const maxNesting = 4

// The fields of an error object that say something of the failure. All others
// (request ids, user ids, echoes of the request) are passed over: what they
// hold is not the vendor's sentence [D13, failover.md 5.A.5].
var (
	sentenceFields = fieldSet("message msg error errors detail details error_description error_message errormessage error_msg errormsg " +
		"status_msg description title reason_message raw param body errorbody cause inner_error innererror status_message")
	codeFields = map[string]string{
		"code": "code", "error_code": "code", "errorcode": "code", "err_code": "code", "reason": "code", "base_code": "code",
		"__type": "type", "type": "type", "error_type": "type", "errortype": "type", "name": "type", "exception": "type",
		"status": "status", "status_code": "status", "statuscode": "status", "httpstatus": "status", "http_status": "status", "http_code": "status",
		"finish_reason": "finish_reason", "stop_reason": "stop_reason", "native_finish_reason": "finish_reason",
		"block_reason": "block_reason", "blockreason": "block_reason", "finishreason": "finish_reason",
	}
)

func fieldSet(names string) map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields(names) {
		set[n] = true
	}
	return set
}

// walkText adds s to b: the text around JSON as it stands, JSON (also Python's
// way of printing it, and JSON that was cut off) field by field.
func walkText(s string, b *textBuilder, depth int) {
	for s != "" {
		at := jsonStart(s)
		if at < 0 || depth >= maxNesting {
			break
		}
		if head := strings.TrimSpace(s[:at]); head != "" {
			b.line(head, depth > 0)
		}
		w := &jsonWalker{s: s, i: at, b: b, depth: depth}
		w.value("message", 0)
		s = s[w.i:]
	}
	if s = strings.TrimSpace(s); s != "" {
		b.line(s, depth > 0)
	}
}

// jsonStart is where an object with a quoted first key, or an array of such,
// begins; -1 when there is none.
func jsonStart(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '{' && s[i] != '[' {
			continue
		}
		rest := strings.TrimLeft(s[i:], " \t\r\n[{")
		opening := s[i : len(s)-len(rest)]
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') && strings.Contains(opening, "{") && keyFollows(rest) {
			return i
		}
		i += len(opening) - 1 // "[429] …" and the like
	}
	return -1
}

// keyFollows tells whether a quoted word and a colon come next.
func keyFollows(s string) bool {
	end := strings.IndexByte(s[1:], s[0])
	return end >= 0 && strings.HasPrefix(strings.TrimLeft(s[end+2:], " \t\r\n"), ":")
}

// jsonWalker reads JSON without caring whether it is well formed.
type jsonWalker struct {
	s     string
	i     int
	b     *textBuilder
	depth int // of JSON in strings
}

// maxObjects bounds objects in objects, as failover.md 5.A.1 does.
const maxObjects = 25

// value reads one value that belongs to key.
func (w *jsonWalker) value(key string, level int) {
	w.space()
	if w.i >= len(w.s) {
		return
	}
	switch c := w.s[w.i]; c {
	case '{':
		w.i++
		w.object(level + 1)
	case '[':
		w.i++
		for w.more(']') {
			w.value(key, level+1)
		}
	case '"', '\'':
		w.found(key, w.quoted(c), true)
	default:
		from := w.i
		for w.i < len(w.s) && !strings.ContainsRune(",]}\n", rune(w.s[w.i])) {
			w.i++
		}
		w.found(key, strings.TrimSpace(w.s[from:w.i]), false)
	}
}

func (w *jsonWalker) object(level int) {
	for w.more('}') {
		c := w.s[w.i]
		if c != '"' && c != '\'' {
			w.i++ // not a key: skip what we do not understand
			continue
		}
		key := w.quoted(c)
		if w.space(); w.i < len(w.s) && w.s[w.i] == ':' {
			w.i++
			if level > maxObjects {
				key = ""
			}
			w.value(key, level)
		}
	}
}

// more goes to the next element and tells whether there is one before end.
func (w *jsonWalker) more(end byte) bool {
	for w.space(); w.i < len(w.s) && w.s[w.i] == ','; w.space() {
		w.i++
	}
	if w.i >= len(w.s) {
		return false
	}
	if c := w.s[w.i]; c == end {
		w.i++
		return false
	} else if c == '}' || c == ']' {
		return false // someone else's end
	}
	return true
}

func (w *jsonWalker) space() {
	for w.i < len(w.s) && strings.IndexByte(" \t\r\n", w.s[w.i]) >= 0 {
		w.i++
	}
}

// quoted reads a string and its escapes. One that is cut off ends where the
// text ends.
func (w *jsonWalker) quoted(quote byte) string {
	w.i++
	from := w.i
	for w.i < len(w.s) && w.s[w.i] != quote && w.s[w.i] != '\\' {
		w.i++
	}
	if w.i < len(w.s) && w.s[w.i] == quote {
		w.i++
		return w.s[from : w.i-1]
	}
	var out strings.Builder
	out.WriteString(w.s[from:w.i])
	for w.i < len(w.s) && w.s[w.i] != quote {
		if w.s[w.i] != '\\' || w.i+1 >= len(w.s) {
			out.WriteByte(w.s[w.i])
			w.i++
			continue
		}
		c := w.s[w.i+1]
		w.i += 2
		switch c {
		case 'n', 't', 'r':
			out.WriteByte(' ')
		case 'u':
			out.WriteRune(w.escaped())
		default:
			out.WriteByte(c)
		}
	}
	w.i = min(w.i+1, len(w.s))
	return out.String()
}

// escaped reads the four hex digits of \u.
func (w *jsonWalker) escaped() rune {
	if w.i+4 <= len(w.s) {
		if n, err := strconv.ParseUint(w.s[w.i:w.i+4], 16, 32); err == nil {
			w.i += 4
			return unicode.ToLower(rune(n))
		}
	}
	return utf8.RuneError
}

// found hands a value on if its field says something.
func (w *jsonWalker) found(key, value string, quoted bool) {
	if value == "" || !quoted && (value == "null" || value == "none" || value == "true" || value == "false") {
		return
	}
	if name := codeFields[key]; name != "" && !strings.ContainsAny(value, "{\n") {
		if i := strings.LastIndexByte(value, '#'); name == "type" && i >= 0 {
			value = value[i+1:] // AWS: com.amazonaws.bedrock#throttlingexception
		}
		w.b.field(name, value)
		return
	}
	if sentenceFields[key] {
		walkText(value, w.b, w.depth+1)
	}
}
