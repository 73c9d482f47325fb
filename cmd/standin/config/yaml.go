package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// decodeYAML plants a text and fits it into a struct. (The parser itself stops at
// the first fault of syntax.)
func decodeYAML(name string, data []byte, getenv func(string) string, into any) (*Node, []Fault) {
	root, faults := Plant(name, data, Planter{Getenv: getenv, Within: FileBounds})
	if root == nil {
		return nil, faults
	}
	return Fit(name, strings.Split(string(data), "\n"), root, faults, into)
}

// Plant gives the tree of a YAML text as t reads it, nil when there is none to
// speak of; name stands in the faults.
func Plant(name string, data []byte, t Planter) (root *Node, faults []Fault) {
	t.anchors = map[string]*Node{}
	t.fault = reporter(name, strings.Split(string(data), "\n"), &faults)
	body := parseYAML(data, t.Within, t.fault)
	if body == nil {
		return nil, faults
	}
	return t.plant(body, nil, 1, 1), faults
}

// reporter gives the function that adds a fault of the text to faults.
func reporter(name string, lines []string, faults *[]Fault) func(line, col int, p Path, msg, mend string) {
	return func(line, col int, p Path, msg, mend string) {
		*faults = append(*faults, Fault{File: name, Line: line, Col: col, Path: p.String(), Msg: msg, Mend: mend}.In(lines))
	}
}

// Fit reads a tree into the struct that into points to, whose json and jsonschema
// tags say what is allowed. Every fault is told with its line of the text, behind
// those of the tree so far; what is faulty is left out of into and taken out of
// the tree. The tree is nil when there is none to speak of.
func Fit(name string, lines []string, root *Node, faults []Fault, into any) (*Node, []Fault) {
	report := reporter(name, lines, &faults)
	if root.Kind != Object {
		report(root.Line, root.Col, nil, "wants keys with values, found "+string(root.Kind), `begin with a key, such as "agents:"`)
		return nil, faults
	}
	i := &inspector{fault: report}
	if !i.fits(root, reflectSchema(into), nil) {
		return nil, SortFaults(faults)
	}
	text, err := json.Marshal(root.Plain())
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil { // the schema and the struct disagree: ours to mend
		report(0, 0, nil, "cannot be understood: "+mask(err.Error()), "")
		return nil, faults
	}
	return root, SortFaults(faults)
}

// parseYAML gives the body of the only document of data, nil after a fault.
func parseYAML(data []byte, within Bounds, report func(line, col int, p Path, msg, mend string)) (body ast.Node) {
	fail := func(line, col int, msg, mend string) ast.Node { report(line, col, nil, msg, mend); return nil }
	// The parser is not ours: whatever it does with odd bytes, the daemon that
	// is running on the former config must not go down with a reload.
	defer func() {
		if recover() != nil {
			body = fail(0, 0, "cannot be read as YAML", "")
		}
	}()
	if len(data) > within.File {
		return fail(0, 0, fmt.Sprintf("is larger than %d KB", within.File>>10), "is it the right file?")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
			return fail(i+1, 1, "is not text in UTF-8", "is it the right file, saved as UTF-8?")
		}
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if tab := bytes.IndexByte(indent, '\t'); tab >= 0 && len(bytes.TrimSpace(line)) > 0 {
			return fail(i+1, tab+1, "a tab stands in the indentation", "YAML is indented with spaces")
		}
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > within.Tokens {
		return fail(0, 0, fmt.Sprintf("holds more than %d words of YAML", within.Tokens), "is it the right file?")
	}
	// Keys that stand twice are found later, with all others.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var bad *yaml.SyntaxError
		if errors.As(err, &bad) && bad.GetToken() != nil {
			at := bad.GetToken().Position
			return fail(at.Line, at.Column, mask(bad.GetMessage()), colonMend(data, at.Line))
		}
		return fail(0, 0, "cannot be read as YAML", "")
	}
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			at := d.Body.GetToken().Position
			if d.Start != nil {
				at = d.Start.Position
			}
			return fail(at.Line, at.Column, "a second document begins here and would not be read", "remove the line ---")
		}
		body = d.Body
	}
	if body == nil {
		return fail(1, 1, "the file is empty", "standin config schema lists the keys; config.example.yaml shows them")
	}
	return body
}

// glueInBraces is a word with a colon inside braces, which the parser takes for
// a key and its value.
var glueInBraces = regexp.MustCompile(`\{.*[\w.-]+:[^\s"',}]`)

func colonMend(data []byte, line int) string {
	lines := bytes.Split(data, []byte("\n"))
	if line <= len(lines) && glueInBraces.Match(lines[line-1]) {
		return "between { and } a word that holds a colon wants quotes"
	}
	return ""
}

// ReadBounded reads a file of at most limit bytes and one more, so that the
// reader can tell that there were more.
func ReadBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// ReasonOf gives an error of a file without the file's name.
func ReasonOf(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
