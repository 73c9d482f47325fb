package config

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever stands in the file, reading it ends with a config or with faults
// that have a place, and says nothing of the environment's secrets.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "agents: {defaults: {model: openai/gpt-5.5}}", "a: &a [*a]", "a: &a {<<: *a}", "? {}\n: x", "- - - -", "\ufeffa: 1\r\n",
		"agents: {list: [{id: a, model: {primary: '${KEY}', fallbacks: ['', x, a/b@c:d]}}]}",
		"auth: {profiles: {'a:b': {keyRef: {source: file, id: /dev/null}}}, order: {a: [a:b, 'a:c']}}",
		"models: {providers: {x: {baseUrl: 'http://[::1]:1/v1', apiKey: ${KEY}, models: [a, {id: b}]}}}",
		"x: !!str [1]\ny: !!int 0x1F\nz: .nan\nq: 2001-01-01\n|", "agents:\n  defaults: &d\n    attempt: {idleTimeout: 1m}\n  list: [*d]\n",
	} {
		f.Add(seed)
	}
	const hidden = "s3cret-0f-the-environment"
	f.Fuzz(func(t *testing.T, text string) {
		c, faults := Parse("config.yaml", []byte(text), env("KEY", hidden), "/nonexistent")
		if (c == nil) != Broken(faults) {
			t.Errorf("config %v with faults %v", c != nil, faults)
		}
		height := strings.Count(text, "\n") + 1
		for _, fault := range faults {
			s := fault.String() + fault.excerpt()
			if strings.Contains(s, hidden) {
				t.Errorf("a fault shows a secret: %s", s)
			}
			if fault.Line < 0 || fault.Line > height+1 || fault.Msg == "" {
				t.Errorf("a fault without place or words: %#v", fault)
			}
			if utf8.ValidString(text) && !utf8.ValidString(s) {
				t.Errorf("a fault is not text: %q", s)
			}
		}
	})
}
