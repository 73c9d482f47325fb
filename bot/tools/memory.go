package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Memory gives memory_search and memory_get over MEMORY.md and the dated notes
// of the workspace [G34, G36]. They are private: rooms do not hear of them.
func Memory() []Tool {
	return []Tool{
		{
			Name: "memory_search", Owner: true, Private: true, Run: searchMemory,
			Description: "Looks through your memory (MEMORY.md and memory/*.md) for what is known about something. Use it before you answer about people, decisions or things of the past.",
			Schema: `{"type":"object","properties":{"query":{"type":"string"},
				"limit":{"type":"integer","minimum":1,"maximum":20,"description":"Default 6."}},"required":["query"],"additionalProperties":false}`,
		},
		{
			Name: "memory_get", Owner: true, Private: true, Run: readFile,
			Description: "Reads a note that memory_search has named.",
			Schema: `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer","minimum":1},
				"lines":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`,
		},
	}
}

// passage is a paragraph of a note.
type passage struct {
	file  string
	line  int
	text  string
	words map[string]int
	size  int
}

func searchMemory(_ context.Context, at Place, input json.RawMessage) (Result, error) {
	in, err := Read[struct {
		Query string
		Limit int
	}](input)
	if err != nil {
		return Result{}, err
	}
	if in.Limit <= 0 || in.Limit > 20 {
		in.Limit = 6
	}
	root, _, err := inside(at, ".")
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	all, err := passages(root)
	if err != nil {
		return Result{}, err
	}
	terms := wordsOf(in.Query)
	if len(terms) == 0 {
		return Result{}, errors.New("the query has no word in it")
	}
	found := rank(all, terms)
	if len(found) == 0 {
		return Say("nothing is remembered about that")
	}
	var out strings.Builder
	for _, p := range found[:min(in.Limit, len(found))] {
		fmt.Fprintf(&out, "%s:%d\n%s\n\n", p.file, p.line, p.text)
	}
	return Say("%s", strings.TrimSpace(out.String()))
}

// passages cuts the notes into paragraphs.
func passages(root *os.Root) (all []passage, err error) {
	names := []string{"MEMORY.md"}
	notes, err := fs.Glob(root.FS(), "memory/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range append(names, notes...) {
		text, err := slurp(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		line := 1
		for _, block := range strings.Split(text, "\n\n") {
			if trimmed := strings.TrimSpace(block); trimmed != "" {
				p := passage{file: name, line: line + strings.Count(block[:strings.Index(block, trimmed)], "\n"), text: trimmed, words: map[string]int{}}
				for _, w := range append(wordsOf(trimmed), wordsOf(path.Base(name))...) {
					p.words[w]++
					p.size++
				}
				all = append(all, p)
			}
			line += strings.Count(block, "\n") + 2
		}
	}
	return all, nil
}

// rank orders the passages that have a word of the query: rare words count more,
// and a word counts less in a long passage (Okapi BM25 with its usual constants).
func rank(all []passage, terms []string) []passage {
	total := 0
	for _, p := range all {
		total += p.size
	}
	mean := float64(max(total, 1)) / float64(max(len(all), 1))
	weight := map[string]float64{}
	for _, t := range terms {
		n := 0
		for _, p := range all {
			n += min(p.words[t], 1)
		}
		weight[t] = math.Log(1 + (float64(len(all)-n)+0.5)/(float64(n)+0.5))
	}
	score := func(p passage) (s float64) {
		for t, w := range weight {
			f := float64(p.words[t])
			s += w * f * 2.2 / (f + 1.2*(0.25+0.75*float64(p.size)/mean))
		}
		return s
	}
	type scored struct {
		passage
		score float64
	}
	var hits []scored
	for _, p := range all {
		if s := score(p); s > 0 {
			hits = append(hits, scored{p, s})
		}
	}
	slices.SortStableFunc(hits, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	found := make([]passage, len(hits))
	for i, h := range hits {
		found[i] = h.passage
	}
	return found
}

// wordsOf gives the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
