package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"standin/bot"
	"standin/fallback"
)

// Compiled is what a config file means to the rooms. It is never changed: a
// reload makes a new one, and a running turn keeps the one it started with [G9].
type Compiled struct {
	Fallback *fallback.Config
	Bot      *bot.Config
	// Profiles are the credentials that the config or the environment names,
	// as opposed to those that are stored.
	Profiles []fallback.Profile
	// RetryMaxWait is STANDIN_SDK_RETRY_MAX_WAIT_SECONDS: the longest hint of a
	// vendor that a transport may wait for by itself; 0: no cap [M21, failover.md
	// 21.B.5]. None of ours waits at all [D13e]; a value that means nothing is
	// told all the same.
	RetryMaxWait time.Duration
	// Accounts are those of the platforms, in the order in which people read them;
	// those that are off are among them.
	Accounts []account
	// Gateway is where standin listens, "" nowhere.
	Gateway string
	// Plans says for each agent, in the order of the file, what it would do.
	Plans []AgentPlan
}

// reading is how a config is read. Its zero fields are the strict daemon's.
type reading struct {
	getenv func(string) string
	base   string // folder that file references start from
	// stored gives the ids of a provider's stored profiles; nil: not known here.
	stored func(provider string) []string
	// catalogue compares models with the catalogue and warns of those that it
	// lacks. Loading it takes longer than a start should.
	catalogue bool
	// anyModel accepts every provider and model, for rehearsals (rehearsal.md R2).
	anyModel bool
}

// loadConfig reads the file at path. The config is nil when one of the faults
// is not a warning.
func loadConfig(path string, getenv func(string) string) (*Compiled, []Fault) {
	return reading{getenv: getenv}.load(path)
}

// parseConfig reads a config that is not a file of its own; name stands in the
// faults, base is the folder that file references start from.
func parseConfig(name string, data []byte, getenv func(string) string, base string) (*Compiled, []Fault) {
	return reading{getenv: getenv, base: base}.parse(name, data)
}

func (r reading) load(path string) (*Compiled, []Fault) {
	data, err := readBounded(path, maxFile)
	if err != nil {
		return nil, []Fault{{File: path, Msg: "cannot be read: " + reasonOf(err)}}
	}
	if r.base == "" {
		r.base = filepath.Dir(path)
	}
	return r.parse(path, data)
}

func (r reading) parse(name string, data []byte) (*Compiled, []Fault) {
	doc := newDocument()
	root, faults := decodeYAML(name, data, r.getenv, &doc)
	if root == nil {
		return nil, faults
	}
	return r.compile(name, strings.Split(string(data), "\n"), root, &doc, faults)
}

// compile makes a decoded document into a config, nil when one of the faults,
// those before it included, is not a warning.
func (r reading) compile(name string, lines []string, root *node, doc *document, faults []Fault) (*Compiled, []Fault) {
	c := newCompiler(r, name, lines, root, doc)
	out := c.compile()
	faults = sortFaults(append(faults, c.faults...))
	if broken(faults) {
		return nil, faults
	}
	return out, faults
}

// decodeYAML reads strict YAML into a struct whose json and jsonschema tags say
// what is allowed, and gives the tree with the places. Every fault is reported;
// what is faulty is left out of into. The tree is nil when there is none to
// speak of. (The parser itself stops at the first fault of syntax.)
func decodeYAML(name string, data []byte, getenv func(string) string, into any) (*node, []Fault) {
	root, faults := plantYAML(name, data, planter{getenv: getenv, within: configBounds})
	if root == nil {
		return nil, faults
	}
	return fitYAML(name, strings.Split(string(data), "\n"), root, faults, into)
}

// plantYAML gives the tree of a YAML text as t reads it, nil when there is none
// to speak of.
func plantYAML(name string, data []byte, t planter) (root *node, faults []Fault) {
	t.anchors = map[string]*node{}
	t.fault = reporter(name, strings.Split(string(data), "\n"), &faults)
	body := parseYAML(data, t.within, t.fault)
	if body == nil {
		return nil, faults
	}
	return t.plant(body, nil, 1, 1), faults
}

// reporter gives the function that adds a fault of the text to faults.
func reporter(name string, lines []string, faults *[]Fault) func(line, col int, p keyPath, msg, mend string) {
	return func(line, col int, p keyPath, msg, mend string) {
		*faults = append(*faults, Fault{File: name, Line: line, Col: col, Path: p.String(), Msg: msg, Mend: mend}.in(lines))
	}
}

// fitYAML reads a tree into a struct, as decodeYAML says; faults are those of
// the tree so far.
func fitYAML(name string, lines []string, root *node, faults []Fault, into any) (*node, []Fault) {
	report := reporter(name, lines, &faults)
	if root.kind != isObject {
		report(root.line, root.col, nil, "wants keys with values, found "+string(root.kind), `begin with a key, such as "agents:"`)
		return nil, faults
	}
	i := &inspector{fault: report}
	if !i.fits(root, reflectSchema(into), nil) {
		return nil, sortFaults(faults)
	}
	text, err := json.Marshal(root.plain())
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil { // the schema and the struct disagree: ours to mend
		report(0, 0, nil, "cannot be understood: "+mask(err.Error()), "")
		return nil, faults
	}
	return root, sortFaults(faults)
}

// parseYAML gives the body of the only document of data, nil after a fault.
func parseYAML(data []byte, within bounds, report func(line, col int, p keyPath, msg, mend string)) (body ast.Node) {
	fail := func(line, col int, msg, mend string) ast.Node { report(line, col, nil, msg, mend); return nil }
	// The parser is not ours: whatever it does with odd bytes, the daemon that
	// is running on the former config must not go down with a reload.
	defer func() {
		if recover() != nil {
			body = fail(0, 0, "cannot be read as YAML", "")
		}
	}()
	if len(data) > within.file {
		return fail(0, 0, fmt.Sprintf("is larger than %d KB", within.file>>10), "is it the right file?")
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
	if len(tokens) > within.tokens {
		return fail(0, 0, fmt.Sprintf("holds more than %d words of YAML", within.tokens), "is it the right file?")
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

// readBounded reads a file of at most limit bytes and one more, so that the
// reader can tell that there were more.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// reasonOf gives an error of a file without the file's name.
func reasonOf(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// stateDir is where the daemon keeps its databases [D15].
func stateDir(getenv func(string) string) string {
	if dir := getenv("STANDIN_STATE_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".standin")
}

// findConfig gives the config file to use: the flag, STANDIN_CONFIG, the state
// folder's, the working folder's [D16]. The first two are taken as they are,
// there or not. path is "" when there is none; tried says where it was looked for.
func findConfig(flag string, getenv func(string) string) (path string, tried []string) {
	if flag != "" {
		return flag, []string{flag}
	}
	if named := getenv("STANDIN_CONFIG"); named != "" {
		return named, []string{named}
	}
	for _, p := range []string{filepath.Join(stateDir(getenv), "config.yaml"), "config.yaml"} {
		tried = append(tried, p)
		if info, err := os.Stat(p); err == nil && !info.IsDir() {
			return p, tried
		}
	}
	return "", tried
}

// noConfig tells a person who has no config file what the smallest one holds
// and where to put it.
func noConfig(tried []string) string {
	var b strings.Builder
	b.WriteString("There is no config file yet. Looked for:\n")
	for _, p := range tried {
		fmt.Fprintf(&b, "  %s\n", p)
	}
	fmt.Fprintf(&b, `
Three lines are enough. Put them into %s:

  agents:
    defaults:
      model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}

Then give each vendor's key in its usual variable, and look at the result:

  export OPENAI_API_KEY=…      # from platform.openai.com/api-keys
  export ANTHROPIC_API_KEY=…   # from platform.claude.com
  standin check

config.example.yaml shows every key with its default. To see it work without
any account: standin demo
`, tried[0])
	return b.String()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
