package console

import (
	"strings"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// editor is the text being typed: a pure value that keys are applied to.
type editor struct {
	text string
	at   int    // byte offset of the cursor, always between two clusters
	kill string // what was cut last, for Ctrl-Y

	history []string // oldest first
	browse  int      // how far back in history, 0 is the text being typed
	parked  string   // the text being typed while history is looked through
}

// act is what a key asks of the terminal beyond a change of the text.
type act int

const (
	edit      act = iota // the text may have changed
	submit               // Enter
	interrupt            // Ctrl-C
	leave                // Ctrl-D on an empty line
	redraw               // Ctrl-L
)

// press applies a key. Unknown keys do nothing.
func (e *editor) press(k uv.Key) act {
	if k.Text != "" && !k.Mod.Contains(uv.ModCtrl) && !k.Mod.Contains(uv.ModAlt) {
		e.insert(k.Text)
		return edit
	}
	switch k.Keystroke() {
	case "enter", "ctrl+j", "ctrl+m", "kpenter":
		return submit
	case "ctrl+c":
		return interrupt
	case "ctrl+d":
		if e.text == "" {
			return leave
		}
		e.cut(e.at, e.right())
	case "ctrl+l":
		return redraw
	case "alt+enter", "shift+enter", "ctrl+enter":
		e.insert("\n")
	case "tab":
		e.insert("\t")
	case "left", "ctrl+b":
		e.at = e.left()
	case "right", "ctrl+f":
		e.at = e.right()
	case "ctrl+left", "alt+left", "alt+b":
		e.at = e.wordLeft()
	case "ctrl+right", "alt+right", "alt+f":
		e.at = e.wordRight()
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "up", "ctrl+p":
		e.up()
	case "down", "ctrl+n":
		e.down()
	case "backspace", "ctrl+h", "shift+backspace":
		e.cut(e.left(), e.at)
	case "delete":
		e.cut(e.at, e.right())
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.killed(e.wordLeft(), e.at)
	case "alt+d":
		e.killed(e.at, e.wordRight())
	case "ctrl+u":
		e.killed(e.lineStart(), e.at)
	case "ctrl+k":
		e.killed(e.at, e.lineEnd())
	case "ctrl+y":
		e.insert(e.kill)
	}
	return edit
}

// insert puts text at the cursor; pasted rows stay one message.
func (e *editor) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
}

// take gives the message and starts an empty one.
func (e *editor) take() string {
	s := strings.TrimSpace(e.text)
	e.set("")
	e.browse, e.parked = 0, ""
	return s
}

// remember adds a message to the history, unless it repeats the last one.
func (e *editor) remember(s string) (added bool) {
	if n := len(e.history); n > 0 && e.history[n-1] == s {
		return false
	}
	e.history = append(e.history, s)
	return true
}

func (e *editor) set(s string) { e.text, e.at = s, len(s) }

func (e *editor) cut(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.at = from
}

func (e *editor) killed(from, to int) {
	if from < to {
		e.kill = e.text[from:to]
		e.cut(from, to)
	}
}

// left and right are the cluster borders beside the cursor.
func (e *editor) left() int {
	start := e.lineStart()
	if start == e.at {
		return max(e.at-1, 0) // the newline before
	}
	last := start
	for i := start; i < e.at; {
		last = i
		g, _ := cluster(e.text[i:])
		i += len(g)
	}
	return last
}

func (e *editor) right() int {
	g, _ := cluster(e.text[e.at:])
	return e.at + len(g)
}

func (e *editor) lineStart() int { return strings.LastIndexByte(e.text[:e.at], '\n') + 1 }

func (e *editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.at:], '\n'); i >= 0 {
		return e.at + i
	}
	return len(e.text)
}

func (e *editor) wordLeft() int {
	s := strings.TrimRightFunc(e.text[:e.at], notWord)
	return len(strings.TrimRightFunc(s, word))
}

func (e *editor) wordRight() int {
	s := strings.TrimLeftFunc(e.text[e.at:], notWord)
	return len(e.text) - len(strings.TrimLeftFunc(s, word))
}

func word(r rune) bool    { return unicode.In(r, unicode.L, unicode.N, unicode.M) || r == '_' }
func notWord(r rune) bool { return !word(r) }

// up goes a line up in a text of several, else back in history.
func (e *editor) up() {
	if start := e.lineStart(); start > 0 {
		col := utf8.RuneCountInString(e.text[start:e.at])
		e.at = start - 1
		e.at = column(e.text, e.lineStart(), col)
		return
	}
	if e.browse < len(e.history) {
		if e.browse == 0 {
			e.parked = e.text
		}
		e.browse++
		e.set(e.history[len(e.history)-e.browse])
	}
}

// down goes a line down in a text of several, else forth in history.
func (e *editor) down() {
	if end := e.lineEnd(); end < len(e.text) {
		col := utf8.RuneCountInString(e.text[e.lineStart():e.at])
		e.at = column(e.text, end+1, col)
		return
	}
	switch {
	case e.browse > 1:
		e.browse--
		e.set(e.history[len(e.history)-e.browse])
	case e.browse == 1:
		e.browse = 0
		e.set(e.parked)
	}
}

// column gives the border at or before the nth rune of the line at start.
func column(text string, start, n int) int {
	i := start
	for seen := 0; i < len(text) && text[i] != '\n'; {
		g, _ := cluster(text[i:])
		if seen += utf8.RuneCountInString(g); seen > n {
			break
		}
		i += len(g)
	}
	return i
}
