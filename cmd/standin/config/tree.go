package config

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

// Kind is what a value of the file is.
type Kind string

// The kinds, in the words of the messages.
const (
	Object Kind = "an object"
	List   Kind = "a list"
	Text   Kind = "text"
	Number Kind = "a number"
	Truth  Kind = "true or false"
	Empty  Kind = "nothing"
)

// Node is a value of the file with its place. Anchors, merges and variables are
// resolved in it, so that what follows sees a plain tree.
type Node struct {
	Kind      Kind
	Line, Col int
	Text      string // of a scalar, variables replaced
	Raw       string // of a scalar, as written: the form that may be shown
	expanded  bool   // raw holds a variable
	Index     int    // place in the list of the file; faulty items are taken out
	Entries   []Entry
	Items     []*Node
}

// Entry is a key of an object with its place.
type Entry struct {
	Key       string
	Line, Col int
	Value     *Node
	merged    bool // came by <<; an own key goes before it
}

// Path leads to a value: names of keys and indexes of lists.
type Path []any

// Key leads to a key of the object at p.
func (p Path) Key(k string) Path { return append(p[:len(p):len(p)], k) }

// Item leads to an item of the list at p.
func (p Path) Item(i int) Path { return append(p[:len(p):len(p)], i) }

// String gives the path as people write it: agents.list[0].model. A key that
// is not a plain word stands in brackets: models["openai/*"].
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			switch {
			case !PlainWord(s):
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

// PlainWord tells whether s needs no quotes or brackets where people read it.
func PlainWord(s string) bool {
	for _, r := range s {
		if r != '_' && r != '-' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != ""
}

// Entry gives the object's entry of that name, nil when there is none.
func (n *Node) Entry(key string) *Entry {
	for i := range n.Entries {
		if n.Entries[i].Key == key {
			return &n.Entries[i]
		}
	}
	return nil
}

// At gives the place of the value, or of the nearest part of the path that is
// in the file; written tells whether the whole path is.
func (n *Node) At(p Path) (found *Node, written bool) {
	for _, step := range p {
		var next *Node
		switch s := step.(type) {
		case string:
			if e := n.Entry(s); e != nil {
				next = e.Value
			}
		case int:
			if s < len(n.Items) && n.Items[s].Index == s {
				next = n.Items[s]
				break
			}
			for _, item := range n.Items { // some before it were taken out
				if item.Index == s {
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

// Plain gives the value as encoding/json understands it.
func (n *Node) Plain() any {
	switch n.Kind {
	case Object:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key] = e.Value.Plain()
		}
		return m
	case List:
		l := make([]any, 0, len(n.Items)) // [] and nothing differ [M5]
		for _, v := range n.Items {
			l = append(l, v.Plain())
		}
		return l
	case Number:
		return json.Number(n.Text)
	case Truth:
		return n.Text == "true"
	case Empty:
		return nil
	}
	return n.Text
}

// Bounds are those of a file. Anchors may repeat a part, so values are counted
// after they are resolved.
type Bounds struct {
	File   int // bytes
	Tokens int // the YAML parser's time may grow with their square
	Nodes  int
}

// FileBounds are those of a config file.
var FileBounds = Bounds{File: MaxFile, Tokens: 20_000, Nodes: 20_000}

const (
	MaxFile  = 1 << 20 // bytes
	maxDepth = 40
)

// Planter says how a tree is made out of the parser's. It collects faults and
// goes on.
type Planter struct {
	Getenv  func(string) string
	Within  Bounds
	Literal func(p Path) bool // texts in which ${NAME} means nothing; nil: none
	anchors map[string]*Node
	nodes   int
	fault   func(line, col int, p Path, msg, mend string)
}

// plant gives the value of n, nil when it cannot be used: that was reported.
func (t *Planter) plant(n ast.Node, p Path, line, col int) *Node {
	if t.nodes++; t.nodes > t.Within.Nodes {
		if t.nodes == t.Within.Nodes+1 {
			t.fault(line, col, p, fmt.Sprintf("the file holds more than %d values", t.Within.Nodes), "anchors (&, *) count as often as they are used")
		}
		return nil
	}
	if len(p) > maxDepth {
		t.fault(line, col, p[:1], "is nested too deeply", "")
		return nil
	}
	switch v := n.(type) {
	case nil:
		return &Node{Kind: Empty, Line: line, Col: col}
	case *ast.NullNode: // its own place is behind the colon; the key's says more
		return &Node{Kind: Empty, Line: line, Col: col, Raw: "null"}
	case *ast.MappingNode:
		o := &Node{Kind: Object, Line: line, Col: col}
		if v.IsFlowStyle {
			o.Line, o.Col = v.Start.Position.Line, v.Start.Position.Column
		} else if len(v.Values) > 0 {
			pos := v.Values[0].Key.GetToken().Position
			o.Line, o.Col = pos.Line, pos.Column
		}
		t.fill(o, v.Values, p)
		return o
	case *ast.MappingValueNode:
		pos := v.Key.GetToken().Position
		o := &Node{Kind: Object, Line: pos.Line, Col: pos.Column}
		t.fill(o, []*ast.MappingValueNode{v}, p)
		return o
	case *ast.SequenceNode:
		l := &Node{Kind: List, Line: v.Start.Position.Line, Col: v.Start.Position.Column}
		for i, item := range v.Values {
			child := t.glued(item, p.Item(i))
			if child == nil {
				child = t.plant(item, p.Item(i), l.Line, l.Col)
			}
			if child != nil {
				child.Index = i
				l.Items = append(l.Items, child)
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
		if made != nil && v.Start.Value == "!!str" && (made.Kind == Number || made.Kind == Truth) {
			made.Kind, made.Text = Text, made.Raw
		}
		return made
	}
	return t.scalar(n, p)
}

// glued gives the text that a list item is when the parser took a word with a
// colon in it for a pair, as it does with {openai: [openai:work]}. In YAML the
// colon of a pair has a space behind it. nil: it is something else.
func (t *Planter) glued(n ast.Node, p Path) *Node {
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
	s := &Node{Kind: Text, Line: from.Line, Col: from.Column, Text: text, Raw: text}
	t.expand(s, p)
	return s
}

// fill adds the pairs of a mapping to o.
func (t *Planter) fill(o *Node, pairs []*ast.MappingValueNode, p Path) {
	for _, pair := range pairs {
		name := pair.Key.GetToken()
		line, col := name.Position.Line, name.Position.Column
		if pair.Key.IsMergeKey() {
			t.merge(o, t.plant(pair.Value, p, line, col), p, line, col)
			continue
		}
		key := name.Value
		if e := o.Entry(key); e != nil && !e.merged {
			t.fault(line, col, p.Key(key), fmt.Sprintf("is given twice, first in line %d", e.Line), "keep one of them")
			continue
		}
		value := t.plant(pair.Value, p.Key(key), line, col)
		if value == nil {
			continue
		}
		made := Entry{Key: key, Line: line, Col: col, Value: value}
		if e := o.Entry(key); e != nil {
			*e = made
		} else {
			o.Entries = append(o.Entries, made)
		}
	}
}

// merge takes over the keys of from, an object or a list of objects, that o
// does not have yet.
func (t *Planter) merge(o, from *Node, p Path, line, col int) {
	switch {
	case from == nil:
	case from.Kind == Object:
		for _, e := range from.Entries {
			if o.Entry(e.Key) == nil {
				e.merged = true
				o.Entries = append(o.Entries, e)
			}
		}
	case from.Kind == List:
		for _, item := range from.Items {
			t.merge(o, item, p, line, col)
		}
	default:
		t.fault(line, col, p, "<< wants an object to merge, found "+string(from.Kind), "")
	}
}

// copy gives an anchor's value once more: later steps take faulty parts out of
// one place without touching the others.
func (t *Planter) copy(n *Node) *Node {
	if t.nodes++; t.nodes > t.Within.Nodes {
		if t.nodes == t.Within.Nodes+1 {
			t.fault(n.Line, n.Col, nil, fmt.Sprintf("the file holds more than %d values", t.Within.Nodes), "anchors (&, *) count as often as they are used")
		}
		return nil
	}
	c := *n
	c.Entries, c.Items = nil, nil
	for _, e := range n.Entries {
		if e.Value = t.copy(e.Value); e.Value != nil {
			c.Entries = append(c.Entries, e)
		}
	}
	for _, item := range n.Items {
		if item = t.copy(item); item != nil {
			c.Items = append(c.Items, item)
		}
	}
	return &c
}

// scalar gives a single value, its variables replaced.
func (t *Planter) scalar(n ast.Node, p Path) *Node {
	word := n.GetToken()
	s := &Node{Line: word.Position.Line, Col: word.Position.Column, Raw: word.Value}
	switch v := n.(type) {
	case *ast.StringNode:
		s.Kind, s.Text = Text, v.Value
	case *ast.LiteralNode:
		s.Kind, s.Text, s.Raw = Text, v.Value.Value, v.Value.Value
	case *ast.IntegerNode:
		s.Kind, s.Text = Number, fmt.Sprint(v.Value)
	case *ast.FloatNode:
		s.Kind, s.Text = Number, strconv.FormatFloat(v.Value, 'g', -1, 64)
		if math.IsInf(v.Value, 0) || math.IsNaN(v.Value) {
			s.Kind = Text
		}
	case *ast.BoolNode:
		s.Kind, s.Text = Truth, strconv.FormatBool(v.Value)
	default: // .inf, .nan: no key wants them
		s.Kind, s.Text = Text, word.Value
	}
	if s.Kind == Text {
		t.expand(s, p)
	}
	return s
}

// expand replaces ${NAME} by the variable; $${NAME} stays as ${NAME} [G5]. It
// looks at values after parsing, so that a variable can add no YAML.
func (t *Planter) expand(s *Node, p Path) {
	if t.Literal != nil && t.Literal(p) {
		return
	}
	s.Text = variable.ReplaceAllStringFunc(s.Text, func(m string) string {
		if strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		s.expanded = true
		name := m[2 : len(m)-1]
		value := t.Getenv(name)
		if value == "" {
			t.fault(s.Line, s.Col, p, fmt.Sprintf("the variable %s is not set, or empty", name),
				fmt.Sprintf("set it in the environment, or write $${%s} for the plain text", name))
		}
		return value
	})
}
