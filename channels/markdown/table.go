package markdown

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// TableMode says what becomes of tables where a platform shows none
// (markdown.tables) [D13].
type TableMode string

// The choices of markdown.tables.
const (
	TablesOff     TableMode = "off"     // they stay as they are
	TablesCode    TableMode = "code"    // columns in a code block
	TablesBullets TableMode = "bullets" // a list item for each row
)

// Tables rewrites the tables of a text that stand by themselves; those in lists
// and quotes, and everything else, stay as they are.
func Tables(source string, mode TableMode) string {
	if mode == TablesOff || !strings.Contains(source, "|") {
		return source
	}
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	doc := md.Parser().Parse(text.NewReader([]byte(source)))
	lines := linesOf(source)
	p := plan{source: source, lines: lines}
	var out strings.Builder
	from := 0
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		table, ok := n.(*east.Table)
		if !ok {
			continue
		}
		rows, first := rowsOf(table, source)
		if first < 0 {
			continue
		}
		top := p.at(first)
		bottom := top + len(rows) // the line of dashes is no row
		if bottom >= len(lines) || lines[top].start < from {
			continue
		}
		out.WriteString(source[from:lines[top].start])
		if mode == TablesBullets {
			out.WriteString(bullets(rows))
		} else {
			out.WriteString(columns(rows))
		}
		from = lines[bottom].end
	}
	out.WriteString(source[from:])
	return out.String()
}

// rowsOf gives a table's cells, the header first, and where the first one stands.
func rowsOf(table ast.Node, source string) (rows [][]string, first int) {
	first = -1
	for r := table.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cell := ""
			if c.Lines().Len() > 0 {
				s := c.Lines().At(0)
				cell = strings.TrimSpace(source[s.Start:s.Stop])
				if first < 0 {
					first = s.Start
				}
			}
			cells = append(cells, strings.ReplaceAll(cell, `\|`, "|"))
		}
		rows = append(rows, cells)
	}
	return rows, first
}

// columns sets rows in columns, in a fence that no cell can close.
func columns(rows [][]string) string {
	var widths []int
	fence := "```"
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
			for strings.Contains(cell, fence) {
				fence += "`"
			}
		}
	}
	lines := []string{fence}
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			b.WriteString(cell)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[j]-uniseg.StringWidth(cell)+2))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		if i == 0 {
			rule := make([]string, len(widths))
			for j, w := range widths {
				rule[j] = strings.Repeat("─", max(w, 1))
			}
			lines = append(lines, strings.Join(rule, "  "))
		}
	}
	return strings.Join(append(lines, fence), "\n")
}

// bullets makes an item of each row, whose first cell stands for it.
func bullets(rows [][]string) string {
	head := rows[0]
	var items []string
	for _, row := range rows[1:] {
		var parts []string
		for i, cell := range row {
			switch {
			case cell == "":
			case i == 0:
				parts = append(parts, "**"+strings.Trim(cell, "*")+"**")
			case i < len(head) && head[i] != "":
				parts = append(parts, head[i]+": "+cell)
			default:
				parts = append(parts, cell)
			}
		}
		if len(parts) > 0 {
			items = append(items, "- "+strings.Join(parts, ", "))
		}
	}
	if len(items) == 0 {
		return strings.Join(head, ", ")
	}
	return strings.Join(items, "\n")
}
