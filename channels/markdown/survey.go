package markdown

import (
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// plan is what has to be known of a text to cut it well.
type plan struct {
	lines  []line
	spans  []span // inline code, links and emphasis, by start; not to be cut if it can be helped
	source string
}

// line is one line of the source.
type line struct {
	start, end int    // without its newline
	next       int    // start of the next line
	fence      *fence // whose line this is: opener, content or closer
	role       role
	block      bool // a block begins here: the best place to cut before
}

// role is what a line is to its fence.
type role int

const (
	noFence role = iota
	opener
	content
	closer
)

// fence is a fenced code block.
type fence struct {
	open  string // the line that opens it again
	bare  string // the same without the info words
	close string
	quote string // marks of the quotes it stands in, before each line
}

// span is a range that reads badly when it is cut.
type span struct{ start, end int }

// survey asks the parser where blocks, fences and inline markup are.
func survey(source string) plan {
	p := plan{source: source, lines: linesOf(source)}
	doc := goldmark.DefaultParser().Parse(text.NewReader([]byte(source)))
	var fences []*ast.FencedCodeBlock
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			fences = append(fences, n)
		case *ast.CodeSpan, *ast.Link, *ast.Emphasis:
			p.spans = append(p.spans, extent(n)...)
		}
		if n.Parent() == doc && n.Pos() >= 0 && n.Type() == ast.TypeBlock {
			// What stands under a heading belongs to it.
			_, headed := n.PreviousSibling().(*ast.Heading)
			p.lines[p.at(n.Pos())].block = !headed
		}
		return ast.WalkContinue, nil
	})
	for _, n := range fences {
		p.mark(n)
	}
	for i := 1; i < len(p.lines); i++ {
		if p.blank(i-1) && !p.blank(i) && p.lines[i].role <= opener && !p.heads(i-1) {
			p.lines[i].block = true
		}
	}
	sort.Slice(p.spans, func(i, j int) bool { return p.spans[i].start < p.spans[j].start })
	return p
}

func linesOf(source string) []line {
	var lines []line
	for start := 0; start < len(source); {
		l := line{start: start}
		if i := strings.IndexByte(source[start:], '\n'); i >= 0 {
			l.end, l.next = start+i, start+i+1
		} else {
			l.end, l.next = len(source), len(source)
		}
		if l.end > l.start && source[l.end-1] == '\r' {
			l.end--
		}
		lines = append(lines, l)
		start = l.next
	}
	return append(lines, line{start: len(source), end: len(source), next: len(source)})
}

// at gives the line that holds the offset.
func (p *plan) at(pos int) int {
	return sort.Search(len(p.lines), func(i int) bool { return p.lines[i].start > pos }) - 1
}

func (p *plan) blank(i int) bool {
	return strings.Trim(p.source[p.lines[i].start:p.lines[i].end], " \t") == ""
}

// heads tells whether the last line with text at or before i is a heading.
func (p *plan) heads(i int) bool {
	for ; i >= 0; i-- {
		if !p.blank(i) {
			return strings.HasPrefix(strings.TrimLeft(p.source[p.lines[i].start:p.lines[i].end], " "), "#")
		}
	}
	return false
}

// mark writes a fence's lines into the plan.
func (p *plan) mark(n *ast.FencedCodeBlock) {
	if n.Pos() < 0 {
		return
	}
	i := p.at(n.Pos())
	l := p.lines[i]
	marker := fenceRun(p.source[n.Pos():l.end])
	if len(marker) < 3 {
		return
	}
	prefix := reopened(p.source[l.start:n.Pos()])
	f := &fence{
		open:  prefix + strings.TrimRight(p.source[n.Pos():l.end], " \t\r"),
		bare:  prefix + marker,
		close: prefix + marker,
		quote: quoteMarks(p.source[l.start:n.Pos()]),
	}
	p.lines[i].fence, p.lines[i].role = f, opener
	for range n.Lines().Len() {
		if i++; i >= len(p.lines) {
			return
		}
		p.lines[i].fence, p.lines[i].role = f, content
	}
	if i++; i < len(p.lines) && p.lines[i].role == noFence {
		rest := strings.TrimLeft(p.source[p.lines[i].start:p.lines[i].end], "> \t")
		run := fenceRun(rest)
		if len(run) >= len(marker) && run[0] == marker[0] && strings.TrimSpace(rest[len(run):]) == "" {
			p.lines[i].fence, p.lines[i].role = f, closer
		}
	}
}

// fenceRun gives the run of backticks or tildes that s begins with.
func fenceRun(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
}

// reopened turns what stands before an opener into what stands before it in a
// message of its own: the marks of quotes stay, the marks of list items become
// blanks, and no more than three of those, for four would make it indented code.
func reopened(prefix string) string {
	marks := quoteMarks(prefix)
	rest := prefix
	if i := strings.LastIndexByte(prefix, '>'); i >= 0 {
		rest = strings.TrimPrefix(prefix[i+1:], " ")
	}
	return marks + strings.Repeat(" ", min(len(rest), 3))
}

// quoteMarks gives the marks of the quotes that a line's beginning stands in.
func quoteMarks(prefix string) string { return strings.Repeat("> ", strings.Count(prefix, ">")) }

// extent gives the range of an inline node, its marks included as far as they
// can be told from its text.
func extent(n ast.Node) []span {
	start, end := -1, -1
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			if start < 0 {
				start = t.Segment.Start
			}
			end = t.Segment.Stop
		}
		return ast.WalkContinue, nil
	})
	if start < 0 {
		return nil
	}
	if p := n.Pos(); p >= 0 && p < start {
		start = p
	}
	return []span{{start, end + 1}}
}

// within tells whether a cut at pos would go through inline markup.
func (p *plan) within(pos int) bool {
	for i := sort.Search(len(p.spans), func(i int) bool { return p.spans[i].start >= pos }) - 1; i >= 0; i-- {
		if p.spans[i].end > pos {
			return true
		}
		if pos-p.spans[i].start > 4096 {
			break
		}
	}
	return false
}
