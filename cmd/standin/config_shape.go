package main

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

// runSchema is `standin config schema`.
func runSchema(out io.Writer) int {
	text, err := json.MarshalIndent(schemaOf(), "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", text)
	}
	if err != nil {
		return exitFault
	}
	return exitOK
}

// inspector compares the tree with the schema. It reports each difference and
// takes the part out of the tree, so that the rest can still be understood and
// its faults shown in the same run.
type inspector struct {
	fault func(line, col int, p keyPath, msg, mend string)
}

// fits tells whether n may stay.
func (c *inspector) fits(n *node, s *jsonschema.Schema, p keyPath) bool {
	if s.Comments == anyForm {
		return true
	}
	c.adapt(n, s)
	form := s
	for _, one := range s.OneOf {
		if wants(one) == n.kind {
			form = one
		}
	}
	if wants(form) != n.kind {
		return c.mistyped(n, s, p)
	}
	switch n.kind {
	case isObject:
		return c.object(n, form, p)
	case isList:
		kept := n.items[:0]
		for _, item := range n.items {
			if c.fits(item, form.Items, p.item(item.index)) {
				kept = append(kept, item)
			}
		}
		n.items = kept
		return true
	case isNumber:
		return c.number(n, form, p)
	case isText:
		return c.text(n, form, p)
	}
	return true
}

// anyForm marks, as its comment, the schema of a value that is judged elsewhere.
const anyForm = "any form"

// signedDuration is the format of a duration that may lie before zero.
const signedDuration = "go-signed-duration"

func isDuration(s *jsonschema.Schema) bool {
	return s.Format == "go-duration" || s.Format == signedDuration
}

// adapt reads text that came out of a variable as the number or truth value
// that the key wants; an empty object is written as nothing.
func (c *inspector) adapt(n *node, s *jsonschema.Schema) {
	want := wants(s)
	switch {
	case n.kind == isEmpty && want == isObject:
		n.kind = isObject
	case n.kind != isText || !n.expanded:
	case want == isNumber:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			n.kind, n.text = isNumber, strconv.FormatFloat(f, 'g', -1, 64)
		}
	case want == isTruth && (n.text == "true" || n.text == "false"):
		n.kind = isTruth
	}
}

// wants gives the kind a schema asks for, "" when it has several forms.
func wants(s *jsonschema.Schema) kind {
	switch s.Type {
	case "object":
		return isObject
	case "array":
		return isList
	case "string":
		return isText
	case "integer", "number":
		return isNumber
	case "boolean":
		return isTruth
	}
	return ""
}

func (c *inspector) mistyped(n *node, s *jsonschema.Schema, p keyPath) bool {
	var forms []string
	for _, one := range append(slices.Clone(s.OneOf), s) {
		if w := wants(one); w != "" {
			forms = append(forms, string(w))
		}
	}
	mend := ""
	switch {
	case n.kind == isEmpty && slices.Contains(forms, string(isList)):
		mend = "write [] for none, or remove the line"
	case n.kind == isEmpty:
		mend = "give a value, or remove the line"
	case wants(s) == isText && isDuration(s) && n.kind == isNumber:
		mend = fmt.Sprintf("write a duration with its unit, such as %q", n.raw+"s")
	case wants(s) == isText && (n.kind == isNumber || n.kind == isTruth):
		mend = fmt.Sprintf("write it in quotes: %q", n.raw)
	case wants(s) == isList && n.kind == isText:
		mend = fmt.Sprintf("write it as a list: [%s]", shown(n))
	case wants(s) == isNumber && n.kind == isText:
		mend = "write it without quotes or unit"
	case wants(s) == isTruth:
		forms, mend = []string{"true or false"}, "write true or false, without quotes"
	}
	if isDuration(s) {
		forms = []string{"a duration"}
	}
	msg := "wants " + strings.Join(forms, " or ") + ", found " + string(n.kind)
	if n.kind == isEmpty {
		msg = "has no value"
	}
	c.fault(n.line, n.col, p, msg, mend)
	return false
}

func (c *inspector) object(n *node, s *jsonschema.Schema, p keyPath) bool {
	var known []string
	if s.Properties != nil {
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			known = append(known, pair.Key)
		}
	}
	for _, key := range s.Required {
		if n.entry(key) == nil {
			c.fault(n.line, n.col, p.key(key), "is missing", "")
		}
	}
	kept := n.entries[:0]
	for _, e := range n.entries {
		at := p.key(e.key)
		var form *jsonschema.Schema
		if s.Properties != nil {
			form, _ = s.Properties.Get(e.key)
		}
		if form == nil && s.AdditionalProperties != jsonschema.FalseSchema {
			form = s.AdditionalProperties
		}
		switch {
		case form == nil:
			c.fault(e.line, e.col, at, "unknown key", didYouMean(e.key, known))
		case c.fits(e.value, form, at):
			kept = append(kept, e)
		}
	}
	n.entries = kept
	for _, key := range s.Required { // missing, or there and faulty
		if n.entry(key) == nil {
			return false
		}
	}
	return true
}

func (c *inspector) number(n *node, s *jsonschema.Schema, p keyPath) bool {
	f, err := strconv.ParseFloat(n.text, 64)
	bound := func(b json.Number) float64 { v, _ := b.Float64(); return v }
	switch {
	case err != nil:
		c.fault(n.line, n.col, p, "is not a number", "")
	case s.Type == "integer" && f != math.Trunc(f):
		c.fault(n.line, n.col, p, "wants a whole number", "")
	case s.Minimum != "" && f < bound(s.Minimum):
		c.fault(n.line, n.col, p, fmt.Sprintf("must be at least %s", s.Minimum), "")
	case s.ExclusiveMinimum != "" && f <= bound(s.ExclusiveMinimum):
		c.fault(n.line, n.col, p, fmt.Sprintf("must be greater than %s", s.ExclusiveMinimum), "")
	case s.Maximum != "" && f > bound(s.Maximum):
		c.fault(n.line, n.col, p, fmt.Sprintf("must be at most %s", s.Maximum), "")
	default:
		if s.Type == "integer" {
			n.text = strconv.FormatInt(int64(f), 10) // 4.0 and 1e2 are whole too
		}
		return true
	}
	return false
}

func (c *inspector) text(n *node, s *jsonschema.Schema, p keyPath) bool {
	var words []string
	for _, e := range s.Enum {
		words = append(words, fmt.Sprint(e))
	}
	switch {
	case len(words) > 0 && !slices.Contains(words, n.text):
		c.fault(n.line, n.col, p, fmt.Sprintf("%s is not one of %s", shown(n), strings.Join(words, ", ")), onlyNear(n.text, words))
	case s.MinLength != nil && strings.TrimSpace(n.text) == "" && !n.expanded:
		c.fault(n.line, n.col, p, "is empty", "")
	case s.Format == "go-duration", s.Format == signedDuration:
		if d, err := time.ParseDuration(n.text); err != nil || d < 0 && s.Format != signedDuration {
			c.fault(n.line, n.col, p, fmt.Sprintf("%s is not a duration", shown(n)), `write a number with its unit, such as "90s", "10m" or "1h30m"`)
			return false
		}
		return true
	case s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(n.text):
		c.fault(n.line, n.col, p, fmt.Sprintf("%s has not the form that is wanted", shown(n)), s.Description)
	default:
		return true
	}
	return false
}

func onlyNear(s string, words []string) string {
	if n := nearest(s, words); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// shown gives a scalar as a message may show it: as written, masked, short.
func shown(n *node) string {
	s := mask(n.raw)
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}
