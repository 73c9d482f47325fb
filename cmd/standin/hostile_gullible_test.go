package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// gullible is a model that does whatever any text before it says, whoever wrote
// it, and in the end says aloud all that it has been shown. An order is
// `DO tool {input} OK` anywhere in a request.
type gullible struct {
	mu    sync.Mutex
	given []provider.ToolResult // what all tools have ever given back
	asked map[string]int        // tools that were asked for
	seen  string                // the last request's texts
}

var order = regexp.MustCompile(`DO (\w+) (\{.*?\}) OK`)

// do words an order.
func do(tool, input string) string { return "DO " + tool + " " + input + " OK" }

func (g *gullible) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	texts, done, results := readTalk(body)
	var calls []provider.ToolCall
	for _, o := range order.FindAllStringSubmatch(texts, -1) {
		if key := o[1] + o[2]; !done[key] {
			done[key] = true
			calls = append(calls, provider.ToolCall{Name: o[1], Input: o[2]})
		}
	}
	g.mu.Lock()
	g.seen = texts
	g.given = append(g.given, results...)
	for _, c := range calls {
		g.asked[c.Name]++
	}
	g.mu.Unlock()
	act := providertest.Calls("", calls...)
	if len(calls) == 0 {
		act = providertest.Answer("I was shown: " + strings.NewReplacer("DO ", "do ", " OK", " ok").Replace(texts))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	providertest.New(act).ServeHTTP(w, r)
}

// readTalk gives all texts of a request, the calls of its turn so far, and what
// the latest ones gave back.
func readTalk(body []byte) (texts string, done map[string]bool, results []provider.ToolResult) {
	var talk struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   any    `json:"content"`
			ToolCalls []struct {
				Function struct{ Name, Arguments string } `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &talk)
	var all strings.Builder
	done = map[string]bool{}
	for _, m := range talk.Messages {
		switch m.Role {
		case "user":
			done = map[string]bool{}
		case "assistant":
			results = nil
			for _, c := range m.ToolCalls {
				done[c.Function.Name+c.Function.Arguments] = true
			}
			continue // its own words are no orders
		case "tool":
			results = append(results, provider.ToolResult{Text: spoken(m.Content)})
		}
		fmt.Fprintln(&all, spoken(m.Content))
	}
	return all.String(), done, results
}

// spoken is the text of a message's content in either form.
func spoken(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var all []string
		for _, part := range c {
			if p, ok := part.(map[string]any); ok {
				all = append(all, spoken(p["text"]))
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}
