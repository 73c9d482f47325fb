package console

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// paper is the terminal of the tests: it understands exactly what screen emits
// and complains about anything else, so what a person would see can be read as
// text. Rows that scrolled away are kept.
type paper struct {
	width, height int

	mu       sync.Mutex
	rows     [][]cell
	top      int // index of the first row on the screen
	row, col int // the cursor; row is an index in rows
	pen      string
	faults   []string
	raw      strings.Builder
}

// cell is a character with its pen; wide characters are followed by empty ones.
type cell struct{ text, pen string }

func newPaper(width, height int) *paper {
	return &paper{width: width, height: height, rows: [][]cell{nil}}
}

// Write implements io.Writer; one call holds whole sequences.
func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raw.Write(b)
	s := string(b)
	for s != "" {
		switch {
		case s[0] == '\r':
			p.col, s = 0, s[1:]
		case s[0] == '\n':
			p.down()
			s = s[1:]
		case strings.HasPrefix(s, "\x1b["):
			end := 2 + strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			p.control(s[2:end], s[end])
			s = s[end+1:]
		case s[0] < ' ' || s[0] == 0x7f:
			p.faults = append(p.faults, fmt.Sprintf("control character %q", s[0]))
			s = s[1:]
		default:
			g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			p.put(g, w)
			s = s[len(g):]
		}
	}
	return len(b), nil
}

func (p *paper) down() {
	p.row++
	for p.row >= len(p.rows) {
		p.rows = append(p.rows, nil)
	}
	p.top = max(p.top, p.row-p.height+1)
}

func (p *paper) put(g string, w int) {
	if p.col+w > p.width {
		p.down()
		p.col = 0
	}
	for len(p.rows[p.row]) < p.col+w {
		p.rows[p.row] = append(p.rows[p.row], cell{" ", ""})
	}
	p.rows[p.row][p.col] = cell{g, p.pen}
	for i := 1; i < w; i++ {
		p.rows[p.row][p.col+i] = cell{}
	}
	p.col += w
}

func (p *paper) control(arg string, final byte) {
	n, err := strconv.Atoi(arg)
	if arg == "" {
		n, err = 1, nil
	}
	switch {
	case strings.HasPrefix(arg, "?"): // modes
	case final == 'm':
		p.pen = arg
	case err != nil:
		p.faults = append(p.faults, "sequence "+arg+string(final))
	case final == 'A':
		p.row = max(p.row-n, p.top)
	case final == 'B':
		if p.row+n >= len(p.rows) {
			p.faults = append(p.faults, "moved below the last row")
		}
		p.row = min(p.row+n, len(p.rows)-1)
	case final == 'C':
		p.col = min(p.col+n, p.width-1)
	case final == 'H':
		p.row, p.col = p.top, 0
	case final == 'J' && arg == "2":
		p.rows = append(p.rows[:p.top], nil)
		p.row, p.col = p.top, 0
	case final == 'K':
		p.rows[p.row] = p.rows[p.row][:min(p.col, len(p.rows[p.row]))]
	case final == 'J':
		p.rows = p.rows[:p.row+1]
		p.rows[p.row] = p.rows[p.row][:min(p.col, len(p.rows[p.row]))]
	default:
		p.faults = append(p.faults, "sequence "+arg+string(final))
	}
}

// text gives all rows without their trailing blanks; pens are shown in braces
// if asked for, the cursor as ▏.
func (p *paper) text(pens, cursor bool) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.rows) - 1
	for last > p.row && len(p.rows[last]) == 0 {
		last--
	}
	var all []string
	for r, row := range p.rows[:last+1] {
		var b strings.Builder
		pen := ""
		for i, c := range row {
			if cursor && r == p.row && i == p.col {
				b.WriteString("▏")
			}
			if pens && c.text != "" && c.pen != pen {
				pen = c.pen
				b.WriteString("{" + pen + "}")
			}
			b.WriteString(c.text)
		}
		line := b.String()
		if cursor && r == p.row && p.col >= len(row) {
			line += strings.Repeat(" ", p.col-len(row)) + "▏"
		} else {
			line = strings.TrimRight(line, " ")
		}
		if pen != "" {
			line += "{}"
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n") + "\n"
}
