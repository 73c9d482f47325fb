package config

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// schemaOf gives the JSON Schema of the file's keys. The same schema is printed
// for editors and judges the file here, so the two cannot differ.
func schemaOf() *jsonschema.Schema {
	s := reflectSchema(&document{})
	s.Title = "standin config"
	s.Description = "The config file of standin. Any text may hold ${VARIABLE}."
	return s
}

// reflectSchema gives the schema of a struct that v points to.
func reflectSchema(v any) *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true}
	return r.Reflect(v)
}

// WriteSchema writes the JSON Schema of the config file, for editors.
func WriteSchema(out io.Writer) error {
	text, err := json.MarshalIndent(schemaOf(), "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", text)
	}
	return err
}

// inspector compares the tree with the schema. It reports each difference and
// takes the part out of the tree, so that the rest can still be understood and
// its faults shown in the same run.
type inspector struct {
	fault func(line, col int, p Path, msg, mend string)
}

// fits tells whether n may stay.
func (c *inspector) fits(n *Node, s *jsonschema.Schema, p Path) bool {
	if s.Comments == AnyForm {
		return true
	}
	c.adapt(n, s)
	form := s
	for _, one := range s.OneOf {
		if wants(one) == n.Kind {
			form = one
		}
	}
	if wants(form) != n.Kind {
		return c.mistyped(n, s, p)
	}
	switch n.Kind {
	case Object:
		return c.object(n, form, p)
	case List:
		kept := n.Items[:0]
		for _, item := range n.Items {
			if c.fits(item, form.Items, p.Item(item.Index)) {
				kept = append(kept, item)
			}
		}
		n.Items = kept
		return true
	case Number:
		return c.number(n, form, p)
	case Text:
		return c.text(n, form, p)
	}
	return true
}

// AnyForm marks, as its comment, the schema of a value that is judged elsewhere.
const AnyForm = "any form"

// SignedDuration is the format of a duration that may lie before zero.
const SignedDuration = "go-signed-duration"

func isDuration(s *jsonschema.Schema) bool {
	return s.Format == "go-duration" || s.Format == SignedDuration
}

// adapt reads text that came out of a variable as the number or truth value
// that the key wants; an empty object is written as nothing.
func (c *inspector) adapt(n *Node, s *jsonschema.Schema) {
	want := wants(s)
	switch {
	case n.Kind == Empty && want == Object:
		n.Kind = Object
	case n.Kind != Text || !n.expanded:
	case want == Number:
		if f, err := strconv.ParseFloat(n.Text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			n.Kind, n.Text = Number, strconv.FormatFloat(f, 'g', -1, 64)
		}
	case want == Truth && (n.Text == "true" || n.Text == "false"):
		n.Kind = Truth
	}
}

// wants gives the kind a schema asks for, "" when it has several forms.
func wants(s *jsonschema.Schema) Kind {
	switch s.Type {
	case "object":
		return Object
	case "array":
		return List
	case "string":
		return Text
	case "integer", "number":
		return Number
	case "boolean":
		return Truth
	}
	return ""
}

func (c *inspector) mistyped(n *Node, s *jsonschema.Schema, p Path) bool {
	var forms []string
	for _, one := range append(slices.Clone(s.OneOf), s) {
		if w := wants(one); w != "" {
			forms = append(forms, string(w))
		}
	}
	mend := ""
	switch {
	case n.Kind == Empty && slices.Contains(forms, string(List)):
		mend = "write [] for none, or remove the line"
	case n.Kind == Empty:
		mend = "give a value, or remove the line"
	case wants(s) == Text && isDuration(s) && n.Kind == Number:
		mend = fmt.Sprintf("write a duration with its unit, such as %q", n.Raw+"s")
	case wants(s) == Text && (n.Kind == Number || n.Kind == Truth):
		mend = fmt.Sprintf("write it in quotes: %q", n.Raw)
	case wants(s) == List && n.Kind == Text:
		mend = fmt.Sprintf("write it as a list: [%s]", Shown(n))
	case wants(s) == Number && n.Kind == Text:
		mend = "write it without quotes or unit"
	case wants(s) == Truth:
		forms, mend = []string{"true or false"}, "write true or false, without quotes"
	}
	if isDuration(s) {
		forms = []string{"a duration"}
	}
	msg := "wants " + strings.Join(forms, " or ") + ", found " + string(n.Kind)
	if n.Kind == Empty {
		msg = "has no value"
	}
	c.fault(n.Line, n.Col, p, msg, mend)
	return false
}

func (c *inspector) object(n *Node, s *jsonschema.Schema, p Path) bool {
	var known []string
	if s.Properties != nil {
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			known = append(known, pair.Key)
		}
	}
	for _, key := range s.Required {
		if n.Entry(key) == nil {
			c.fault(n.Line, n.Col, p.Key(key), "is missing", "")
		}
	}
	kept := n.Entries[:0]
	for _, e := range n.Entries {
		at := p.Key(e.Key)
		var form *jsonschema.Schema
		if s.Properties != nil {
			form, _ = s.Properties.Get(e.Key)
		}
		if form == nil && s.AdditionalProperties != jsonschema.FalseSchema {
			form = s.AdditionalProperties
		}
		switch {
		case form == nil:
			c.fault(e.Line, e.Col, at, "unknown key", DidYouMean(e.Key, known))
		case c.fits(e.Value, form, at):
			kept = append(kept, e)
		}
	}
	n.Entries = kept
	for _, key := range s.Required { // missing, or there and faulty
		if n.Entry(key) == nil {
			return false
		}
	}
	return true
}

func (c *inspector) number(n *Node, s *jsonschema.Schema, p Path) bool {
	f, err := strconv.ParseFloat(n.Text, 64)
	bound := func(b json.Number) float64 { v, _ := b.Float64(); return v }
	switch {
	case err != nil:
		c.fault(n.Line, n.Col, p, "is not a number", "")
	case s.Type == "integer" && f != math.Trunc(f):
		c.fault(n.Line, n.Col, p, "wants a whole number", "")
	case s.Minimum != "" && f < bound(s.Minimum):
		c.fault(n.Line, n.Col, p, fmt.Sprintf("must be at least %s", s.Minimum), "")
	case s.ExclusiveMinimum != "" && f <= bound(s.ExclusiveMinimum):
		c.fault(n.Line, n.Col, p, fmt.Sprintf("must be greater than %s", s.ExclusiveMinimum), "")
	case s.Maximum != "" && f > bound(s.Maximum):
		c.fault(n.Line, n.Col, p, fmt.Sprintf("must be at most %s", s.Maximum), "")
	default:
		if s.Type == "integer" {
			n.Text = strconv.FormatInt(int64(f), 10) // 4.0 and 1e2 are whole too
		}
		return true
	}
	return false
}

func (c *inspector) text(n *Node, s *jsonschema.Schema, p Path) bool {
	var words []string
	for _, e := range s.Enum {
		words = append(words, fmt.Sprint(e))
	}
	switch {
	case len(words) > 0 && !slices.Contains(words, n.Text):
		c.fault(n.Line, n.Col, p, fmt.Sprintf("%s is not one of %s", Shown(n), strings.Join(words, ", ")), OnlyNear(n.Text, words))
	case s.MinLength != nil && strings.TrimSpace(n.Text) == "" && !n.expanded:
		c.fault(n.Line, n.Col, p, "is empty", "")
	case s.Format == "go-duration", s.Format == SignedDuration:
		if d, err := time.ParseDuration(n.Text); err != nil || d < 0 && s.Format != SignedDuration {
			c.fault(n.Line, n.Col, p, fmt.Sprintf("%s is not a duration", Shown(n)), `write a number with its unit, such as "90s", "10m" or "1h30m"`)
			return false
		}
		return true
	case s.Format == ageFormat:
		if _, err := parseAge(n.Text); err != nil {
			c.fault(n.Line, n.Col, p, fmt.Sprintf("%s is not a duration", Shown(n)), `write a number with its unit, such as "30d" or "12h"`)
			return false
		}
		return true
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(n.Text):
		c.fault(n.Line, n.Col, p, fmt.Sprintf("%s has not the form that is wanted", Shown(n)), s.Description)
	default:
		return true
	}
	return false
}

// OnlyNear gives the mend that names the nearest word, "" when none is near.
func OnlyNear(s string, words []string) string {
	if n := nearest(s, words); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// Shown gives a scalar as a message may show it: as written, masked, short.
func Shown(n *Node) string {
	s := mask(n.Raw)
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}
