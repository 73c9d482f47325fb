package console

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// region is what stands below the transcript and is painted over and over: the
// draft, the status row and the prompt. Each row fits the width.
type region struct {
	rows     []string
	row, col int // the cursor
}

// view is all that a region is made from.
type view struct {
	width, height int
	style         style
	agent         string
	prompt        string
	text          string // typed so far
	at            int    // byte offset of the cursor in text
	draft         string // the answer so far, "" for none
	status        string // a spinner or a hint, "" for none
	gap           bool   // keep a row free between transcript and prompt
}

// region lays the view out in at most height-1 rows; of a long draft it shows
// the end, of a long input the part around the cursor.
func (v view) region() region {
	limit := max(v.width-1, 1)
	input, row, col := layout(v.style.prompt, v.prompt, v.text, v.at, limit)
	if most := max(v.height/2, 1); len(input) > most {
		top := min(max(row-most/2, 0), len(input)-most)
		input, row = input[top:top+most], row-top
	}
	room := v.height - 1 - len(input)
	var below []string
	if v.status != "" && room > 0 {
		below = append(below, ansi.Truncate(v.status, limit, "…"))
	}
	if v.gap && room > len(below) {
		below = append(below, "")
	}
	rows := v.draftRows(limit, room-len(below))
	rows = append(rows, below...)
	row += len(rows)
	return region{rows: append(rows, input...), row: row, col: col}
}

func (v view) draftRows(limit, most int) []string {
	if v.draft == "" || most < 1 {
		return nil
	}
	label := agentLabel(v.agent)
	var rows []string
	for _, line := range foldTail(label+v.draft, limit, most) {
		rows = append(rows, strings.Split(ansi.Hardwrap(untab(line), limit, true), "\n")...)
	}
	rows = v.style.labelled(rows, label)
	return rows[max(len(rows)-most, 0):]
}

// layout breaks the prompt and the typed text into rows of at most limit cells
// and finds the cursor. Following rows are indented to the prompt, unless that
// would leave little room.
func layout(paint func(string) string, prompt, text string, at, limit int) (rows []string, row, col int) {
	x := ansi.StringWidth(prompt)
	if x > limit/2 {
		prompt, x = "", 0
	}
	indent := strings.Repeat(" ", x)
	var b strings.Builder
	b.WriteString(paint(prompt))
	next := func() {
		rows = append(rows, b.String())
		b.Reset()
		b.WriteString(indent)
		x = len(indent)
	}
	for i := 0; i < len(text); {
		g, w := cluster(text[i:])
		shown := g
		switch g {
		case "\n", "\r\n":
			w, shown = 0, ""
		case "\t":
			w, shown = 4, "    "
		}
		if x+w > limit && x > len(indent) {
			next()
		}
		if i == at {
			row, col = len(rows), x
		}
		b.WriteString(shown)
		x += w
		if shown == "" && g != "" && g[len(g)-1] == '\n' {
			next()
		}
		i += len(g)
	}
	if at >= len(text) {
		row, col = len(rows), x
	}
	return append(rows, b.String()), row, col
}

// cluster gives what a reader calls the first character, and its cells.
func cluster(s string) (string, int) { return ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth) }

// fold breaks prose between words at limit cells. Longer words (links) and
// fenced code stay whole: the terminal wraps them and they copy as one piece.
func fold(text string, limit int) []string { return foldTail(text, limit, -1) }

// foldTail is fold for the last most lines of text, all of them if most < 0; a
// growing answer is folded twenty times a second and only its end is seen.
func foldTail(text string, limit, most int) []string {
	lines := strings.Split(text, "\n")
	first := 0
	if most >= 0 {
		first = max(len(lines)-most, 0)
	}
	var rows []string
	fenced := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		switch {
		case i < first:
		case fence || fenced || limit < 1 || ansi.StringWidth(line) <= limit:
			rows = append(rows, line)
		default:
			rows = append(rows, strings.Split(ansi.Wordwrap(line, limit, " "), "\n")...)
		}
	}
	return rows
}

func untab(s string) string { return strings.ReplaceAll(s, "\t", "    ") }
