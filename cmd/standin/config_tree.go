package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// kind is what a value of the file is.
type kind string

// The kinds, in the words of the messages.
const (
	isObject kind = "an object"
	isList   kind = "a list"
	isText   kind = "text"
	isNumber kind = "a number"
	isTruth  kind = "true or false"
	isEmpty  kind = "nothing"
)

// node is a value of the file with its place. Anchors, merges and variables are
// resolved in it, so that what follows sees a plain tree.
type node struct {
	kind      kind
	line, col int
	text      string // of a scalar, variables replaced
	raw       string // of a scalar, as written: the form that may be shown
	expanded  bool   // raw holds a variable
	index     int    // place in the list of the file; faulty items are taken out
	entries   []entry
	items     []*node
}

// entry is a key of an object with its place.
type entry struct {
	key       string
	line, col int
	value     *node
	merged    bool // came by <<; an own key goes before it
}

// keyPath leads to a value: names of keys and indexes of lists.
type keyPath []any

func (p keyPath) key(k string) keyPath { return append(p[:len(p):len(p)], k) }
func (p keyPath) item(i int) keyPath   { return append(p[:len(p):len(p)], i) }

// String gives the path as people write it: agents.list[0].model. A key that
// is not a plain word stands in brackets: models["openai/*"].
func (p keyPath) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			switch {
			case !plainWord(s):
				fmt.Fprintf(&b, "[%q]", s)
			case b.Len() > 0:
				b.WriteString("." + s)
			default:
				b.WriteString(s)
			}
		}
	}
	return b.String()
}

func plainWord(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

// entry gives the object's entry of that name, nil when there is none.
func (n *node) entry(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// at gives the place of the value, or of the nearest part of the path that is
// in the file; written tells whether the whole path is.
func (n *node) at(p keyPath) (found *node, written bool) {
	for _, step := range p {
		var next *node
		switch s := step.(type) {
		case string:
			if e := n.entry(s); e != nil {
				next = e.value
			}
		case int:
			if s < len(n.items) && n.items[s].index == s {
				next = n.items[s]
				break
			}
			for _, item := range n.items { // some before it were taken out
				if item.index == s {
					next = item
				}
			}
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// plain gives the value as encoding/json understands it.
func (n *node) plain() any {
	switch n.kind {
	case isObject:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			m[e.key] = e.value.plain()
		}
		return m
	case isList:
		l := make([]any, 0, len(n.items)) // [] and nothing differ [M5]
		for _, v := range n.items {
			l = append(l, v.plain())
		}
		return l
	case isNumber:
		return json.Number(n.text)
	case isTruth:
		return n.text == "true"
	case isEmpty:
		return nil
	}
	return n.text
}

// bounds are those of a file. Anchors may repeat a part, so values are counted
// after they are resolved.
type bounds struct {
	file   int // bytes
	tokens int // the YAML parser's time may grow with their square
	nodes  int
}

// configBounds are those of a config file.
var configBounds = bounds{file: maxFile, tokens: 20_000, nodes: 20_000}

const (
	maxFile  = 1 << 20 // bytes
	maxDepth = 40
)

// planter makes the tree out of the parser's. It collects faults and goes on.
type planter struct {
	getenv  func(string) string
	within  bounds
	literal func(p keyPath) bool // texts in which ${NAME} means nothing; nil: none
	anchors map[string]*node
	nodes   int
	fault   func(line, col int, p keyPath, msg, mend string)
}

// plant gives the value of n, nil when it cannot be used: that was reported.
func (t *planter) plant(n ast.Node, p keyPath, line, col int) *node {
	if t.nodes++; t.nodes > t.within.nodes {
		if t.nodes == t.within.nodes+1 {
			t.fault(line, col, p, fmt.Sprintf("the file holds more than %d values", t.within.nodes), "anchors (&, *) count as often as they are used")
		}
		return nil
	}
	if len(p) > maxDepth {
		t.fault(line, col, p[:1], "is nested too deeply", "")
		return nil
	}
	switch v := n.(type) {
	case nil:
		return &node{kind: isEmpty, line: line, col: col}
	case *ast.NullNode: // its own place is behind the colon; the key's says more
		return &node{kind: isEmpty, line: line, col: col, raw: "null"}
	case *ast.MappingNode:
		o := &node{kind: isObject, line: line, col: col}
		if v.IsFlowStyle {
			o.line, o.col = v.Start.Position.Line, v.Start.Position.Column
		} else if len(v.Values) > 0 {
			pos := v.Values[0].Key.GetToken().Position
			o.line, o.col = pos.Line, pos.Column
		}
		t.fill(o, v.Values, p)
		return o
	case *ast.MappingValueNode:
		pos := v.Key.GetToken().Position
		o := &node{kind: isObject, line: pos.Line, col: pos.Column}
		t.fill(o, []*ast.MappingValueNode{v}, p)
		return o
	case *ast.SequenceNode:
		l := &node{kind: isList, line: v.Start.Position.Line, col: v.Start.Position.Column}
		for i, item := range v.Values {
			child := t.glued(item, p.item(i))
			if child == nil {
				child = t.plant(item, p.item(i), l.line, l.col)
			}
			if child != nil {
				child.index = i
				l.items = append(l.items, child)
			}
		}
		return l
	case *ast.AnchorNode:
		made := t.plant(v.Value, p, line, col)
		if made != nil && v.Name != nil {
			t.anchors[v.Name.GetToken().Value] = made
		}
		return made
	case *ast.AliasNode:
		pos := v.GetToken().Position
		name := v.Value.GetToken().Value
		made, ok := t.anchors[name]
		if !ok { // also an anchor inside itself
			t.fault(pos.Line, pos.Column, p, fmt.Sprintf("*%s names no anchor that stands before it", name), "")
			return nil
		}
		return t.copy(made)
	case *ast.TagNode:
		if v.Start.Value != "!!str" && v.Start.Value != "!!int" && v.Start.Value != "!!float" && v.Start.Value != "!!bool" {
			t.fault(v.Start.Position.Line, v.Start.Position.Column, p, fmt.Sprintf("the tag %s is not used here", v.Start.Value), "remove it")
			return nil
		}
		made := t.plant(v.Value, p, line, col)
		if made != nil && v.Start.Value == "!!str" && (made.kind == isNumber || made.kind == isTruth) {
			made.kind, made.text = isText, made.raw
		}
		return made
	}
	return t.scalar(n, p)
}

// glued gives the text that a list item is when the parser took a word with a
// colon in it for a pair, as it does with {openai: [openai:work]}. In YAML the
// colon of a pair has a space behind it. nil: it is something else.
func (t *planter) glued(n ast.Node, p keyPath) *node {
	pair, ok := n.(*ast.MappingValueNode)
	if m, isMap := n.(*ast.MappingNode); isMap && !m.IsFlowStyle && len(m.Values) == 1 {
		pair, ok = m.Values[0], true
	}
	if !ok || pair.Value == nil || pair.Start == nil {
		return nil
	}
	key, plainKey := pair.Key.(*ast.StringNode)
	value, isScalar := pair.Value.(ast.ScalarNode)
	if !plainKey || !isScalar || key.Token.Type != token.StringType {
		return nil
	}
	from, colon, rest := key.Token.Position, pair.Start.Position, value.GetToken()
	if rest.Type == token.SingleQuoteType || rest.Type == token.DoubleQuoteType ||
		from.Line != rest.Position.Line || colon.Column+1 != rest.Position.Column ||
		from.Column+utf8.RuneCountInString(key.Token.Value) != colon.Column {
		return nil
	}
	text := key.Token.Value + ":" + rest.Value
	s := &node{kind: isText, line: from.Line, col: from.Column, text: text, raw: text}
	t.expand(s, p)
	return s
}

// fill adds the pairs of a mapping to o.
func (t *planter) fill(o *node, pairs []*ast.MappingValueNode, p keyPath) {
	for _, pair := range pairs {
		name := pair.Key.GetToken()
		line, col := name.Position.Line, name.Position.Column
		if pair.Key.IsMergeKey() {
			t.merge(o, t.plant(pair.Value, p, line, col), p, line, col)
			continue
		}
		key := name.Value
		if e := o.entry(key); e != nil && !e.merged {
			t.fault(line, col, p.key(key), fmt.Sprintf("is given twice, first in line %d", e.line), "keep one of them")
			continue
		}
		value := t.plant(pair.Value, p.key(key), line, col)
		if value == nil {
			continue
		}
		made := entry{key: key, line: line, col: col, value: value}
		if e := o.entry(key); e != nil {
			*e = made
		} else {
			o.entries = append(o.entries, made)
		}
	}
}

// merge takes over the keys of from, an object or a list of objects, that o
// does not have yet.
func (t *planter) merge(o, from *node, p keyPath, line, col int) {
	switch {
	case from == nil:
	case from.kind == isObject:
		for _, e := range from.entries {
			if o.entry(e.key) == nil {
				e.merged = true
				o.entries = append(o.entries, e)
			}
		}
	case from.kind == isList:
		for _, item := range from.items {
			t.merge(o, item, p, line, col)
		}
	default:
		t.fault(line, col, p, "<< wants an object to merge, found "+string(from.kind), "")
	}
}

// copy gives an anchor's value once more: later steps take faulty parts out of
// one place without touching the others.
func (t *planter) copy(n *node) *node {
	if t.nodes++; t.nodes > t.within.nodes {
		if t.nodes == t.within.nodes+1 {
			t.fault(n.line, n.col, nil, fmt.Sprintf("the file holds more than %d values", t.within.nodes), "anchors (&, *) count as often as they are used")
		}
		return nil
	}
	c := *n
	c.entries, c.items = nil, nil
	for _, e := range n.entries {
		if e.value = t.copy(e.value); e.value != nil {
			c.entries = append(c.entries, e)
		}
	}
	for _, item := range n.items {
		if item = t.copy(item); item != nil {
			c.items = append(c.items, item)
		}
	}
	return &c
}

// scalar gives a single value, its variables replaced.
func (t *planter) scalar(n ast.Node, p keyPath) *node {
	word := n.GetToken()
	s := &node{line: word.Position.Line, col: word.Position.Column, raw: word.Value}
	switch v := n.(type) {
	case *ast.StringNode:
		s.kind, s.text = isText, v.Value
	case *ast.LiteralNode:
		s.kind, s.text, s.raw = isText, v.Value.Value, v.Value.Value
	case *ast.IntegerNode:
		s.kind, s.text = isNumber, fmt.Sprint(v.Value)
	case *ast.FloatNode:
		s.kind, s.text = isNumber, strconv.FormatFloat(v.Value, 'g', -1, 64)
		if math.IsInf(v.Value, 0) || math.IsNaN(v.Value) {
			s.kind = isText
		}
	case *ast.BoolNode:
		s.kind, s.text = isTruth, strconv.FormatBool(v.Value)
	default: // .inf, .nan: no key wants them
		s.kind, s.text = isText, word.Value
	}
	if s.kind == isText {
		t.expand(s, p)
	}
	return s
}

// expand replaces ${NAME} by the variable; $${NAME} stays as ${NAME} [G5]. It
// looks at values after parsing, so that a variable can add no YAML.
func (t *planter) expand(s *node, p keyPath) {
	if t.literal != nil && t.literal(p) {
		return
	}
	s.text = variable.ReplaceAllStringFunc(s.text, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		s.expanded = true
		name := m[2 : len(m)-1]
		value := t.getenv(name)
		if value == "" {
			t.fault(s.line, s.col, p, fmt.Sprintf("the variable %s is not set, or empty", name),
				fmt.Sprintf("set it in the environment, or write $${%s} for the plain text", name))
		}
		return value
	})
}
