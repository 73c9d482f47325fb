package openclaw

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// plain is a text that YAML reads as that very text without quotes. What might
// be taken for something else gets quotes.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@+-]*$`)

// words are those that YAML, in one of its versions, takes for something else.
var words = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

func scalar(s string) string {
	if plain.MatchString(s) && !words[strings.ToLower(s)] {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always has a form in JSON, which is one of YAML's
	return strings.TrimSuffix(b.String(), "\n")
}

// writeYAML writes v, which begins on a line of its own when it is not short.
func (v *value) writeYAML(b *strings.Builder, indent string) {
	switch {
	case v.form == object && len(v.members) > 0:
		for _, m := range v.members {
			b.WriteString(indent + scalar(m.key) + ":")
			m.value.behind(b, indent)
		}
	case v.form == list && len(v.items) > 0:
		for _, item := range v.items {
			if item.short() {
				b.WriteString(indent + "- " + item.line() + "\n")
				continue
			}
			var below strings.Builder
			item.writeYAML(&below, indent+"  ")
			b.WriteString(indent + "- " + strings.TrimPrefix(below.String(), indent+"  "))
		}
	}
}

// behind writes the value of a key after its colon.
func (v *value) behind(b *strings.Builder, indent string) {
	if v.short() {
		b.WriteString(" " + v.line() + "\n")
		return
	}
	b.WriteString("\n")
	v.writeYAML(b, indent+"  ")
}

// short tells whether a value stands on the line of its key.
func (v *value) short() bool {
	switch v.form {
	case object:
		return len(v.members) == 0
	case list:
		return len(v.items) == 0
	}
	return true
}

func (v *value) line() string {
	switch v.form {
	case object:
		return "{}"
	case list:
		return "[]"
	case text:
		return scalar(v.text)
	case empty:
		return "null"
	}
	return v.text
}
