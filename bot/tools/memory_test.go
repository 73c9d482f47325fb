package tools_test

import (
	"strings"
	"testing"
)

func TestMemoryFindsWhatMatters(t *testing.T) {
	at, _ := workspace(t)
	for name, text := range map[string]string{
		"MEMORY.md":            "# People\n\nAnna likes tea. The project is called Heron.\n\nThe office is in Oslo.",
		"memory/2026-03-01.md": "Met Anna about the budget.\n\nThe the the the the.",
	} {
		if _, err := do(t, at, "write", m{"path": name, "text": text}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := do(t, at, "memory_search", m{"query": "the budget of ANNA?", "limit": 1})
	if err != nil || found != "memory/2026-03-01.md:1\nMet Anna about the budget." {
		t.Errorf("%q, %v", found, err)
	}
	found, _ = do(t, at, "memory_search", m{"query": "heron"})
	if found != "MEMORY.md:3\nAnna likes tea. The project is called Heron." {
		t.Errorf("%q", found)
	}
	if found, _ = do(t, at, "memory_search", m{"query": "zebra"}); !strings.Contains(found, "nothing is remembered") {
		t.Errorf("%q", found)
	}
	if text, err := do(t, at, "memory_get", m{"path": "MEMORY.md", "line": 3, "lines": 1}); err != nil || !strings.HasPrefix(text, "Anna likes tea") {
		t.Errorf("%q, %v", text, err)
	}
}
