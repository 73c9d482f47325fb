package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// wish is a partial event: of expect, of never, or of a count (R8).
type wish struct {
	line   int
	text   string // as it may be shown
	fields []want
	count  int // how many there must be; -1: not a count
}

// want is one field of a partial event, or of an element of a list.
type want struct {
	name    string
	absent  bool
	pattern *pattern // of a scalar
	fields  []want   // of an object
	list    [][]want // of a list: each must match one element
	isList  bool
}

// pattern is a wanted scalar: a text, or after ~ a regular expression.
type pattern struct {
	text string
	re   *regexp.Regexp // nil: the text itself
}

// matches tells whether a value is the wanted one. Durations and numbers
// compare as values, the rest as text.
func (p *pattern) matches(v any) bool {
	shown := shownValue(v)
	if p.re != nil {
		return p.re.MatchString(shown)
	}
	switch v := v.(type) {
	case time.Duration:
		d, err := time.ParseDuration(p.text)
		return err == nil && d == v
	case int, float64:
		is, _ := strconv.ParseFloat(shown, 64)
		n, err := strconv.ParseFloat(p.text, 64)
		return err == nil && n == is
	}
	return shown == p.text
}

func shownValue(v any) string {
	if d, ok := v.(time.Duration); ok {
		return short(d)
	}
	return fmt.Sprint(v)
}

// object is something with named fields.
type object interface {
	get(name string) (any, bool)
}

// plainObject is an object out of JSON.
type plainObject map[string]any

func (o plainObject) get(name string) (any, bool) { v, ok := o[name]; return v, ok }

// matches tells whether o has what w wants.
func (w want) matches(o object) bool {
	v, ok := o.get(w.name)
	if !ok && w.name == "usage" { // the fields of a profile's state stand beside its id
		v, ok = o, true
	}
	if w.absent {
		return !ok
	}
	switch w.name {
	case "after", "before":
		at, isTime := first(o.get("at")).(time.Duration)
		bound, err := time.ParseDuration(w.pattern.text)
		if !isTime || err != nil {
			return false
		}
		return w.name == "after" && at > bound || w.name == "before" && at < bound
	}
	if !ok {
		return false
	}
	switch {
	case w.isList:
		return matchesEach(w.list, v)
	case w.pattern == nil:
		inner, isObject := asObject(v)
		return isObject && matchesAll(w.fields, inner)
	}
	return w.pattern.matches(v)
}

func first(v any, _ bool) any { return v }

func asObject(v any) (object, bool) {
	switch v := v.(type) {
	case object:
		return v, true
	case map[string]any:
		return plainObject(v), true
	}
	return nil, false
}

func matchesAll(fields []want, o object) bool {
	return !slices.ContainsFunc(fields, func(w want) bool { return !w.matches(o) })
}

// matchesEach tells whether each wanted element is found in the list.
func matchesEach(list [][]want, v any) bool {
	var have []object
	switch v := v.(type) {
	case []record:
		for _, r := range v {
			have = append(have, r)
		}
	case []any:
		for _, one := range v {
			if o, ok := asObject(one); ok {
				have = append(have, o)
			}
		}
	}
	for _, wanted := range list {
		if !slices.ContainsFunc(have, func(o object) bool { return matchesAll(wanted, o) }) {
			return false
		}
	}
	return true
}

// miss is an expectation that did not hold, with the events to look at.
type miss struct {
	wish    wish
	what    string // "not found", "found although it must not be", …
	nearest []happening
}

// judge compares what happened with what the script expects.
func (r *rehearsal) judge(all []happening) (misses []miss) {
	place := 0
	for _, w := range r.expect {
		if w.count >= 0 {
			if found := w.all(all); len(found) != w.count {
				m := miss{w, fmt.Sprintf("found %d times, not %d", len(found), w.count), head(found, 5)}
				if len(found) == 0 {
					m.nearest = w.nearest(all)
				}
				misses = append(misses, m)
			}
			continue
		}
		i := slices.IndexFunc(all[place:], w.matches)
		if i >= 0 {
			place += i + 1
			continue
		}
		what := "not found"
		if place > 0 {
			what += " after " + all[place-1].line()
			if earlier := slices.IndexFunc(all[:place], w.matches); earlier >= 0 {
				what += ", only before it"
			}
		}
		misses = append(misses, miss{w, what, w.nearest(all)})
	}
	for _, w := range r.never {
		if found := w.all(all); len(found) > 0 {
			misses = append(misses, miss{w, "happened although it never should", head(found, 5)})
		}
	}
	return misses
}

func (w wish) matches(h happening) bool { return matchesAll(w.fields, h) }

func (w wish) all(all []happening) (found []happening) {
	for _, h := range all {
		if w.matches(h) {
			found = append(found, h)
		}
	}
	return found
}

func head[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// nearest gives the few events that have most of the wanted fields.
func (w wish) nearest(all []happening) []happening {
	type scored struct {
		h     happening
		score int
	}
	var list []scored
	for _, h := range all {
		score, kind := 0, false
		for _, f := range w.fields {
			if f.matches(h) {
				score++
				kind = kind || f.name == "event"
			}
		}
		if score > 0 && (kind || score > 1) {
			if kind {
				score += 2
			}
			list = append(list, scored{h, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []happening
	for _, s := range head(list, 3) {
		out = append(out, s.h)
	}
	return out
}

// eventFields are the names that a partial event may use, by event.
var eventFields = map[string][]string{
	"attempt":   {"turn", "purpose", "model", "profile", "outcome", "reason", "status", "code", "probe", "position", "total"},
	"skip":      {"turn", "model", "reason", "why"},
	"override":  {"model", "source", "origin", "profile", "profileSource", "act"},
	"cooldown":  {"profile", "until", "reason", "model", "errorCount"},
	"disabled":  {"profile", "until", "reason"},
	"blocked":   {"profile", "until", "reason", "model"},
	"notice":    {"text", "threaded", "usesReplySlot"},
	"reply":     {"model", "text", "threaded"},
	"failure":   {"text"},
	"command":   {"text"},
	"silent":    {"why"},
	"run":       {"job", "status", "requested", "used", "fallbackUsed"},
	"heartbeat": {"agent", "status", "model"},
	"decision": {"decision", "runId", "sessionId", "lane", "requestedProvider", "requestedModel", "candidateProvider", "candidateModel",
		"attempt", "total", "reason", "status", "code", "errorPreview", "errorHash", "errorFingerprint", "httpCode", "providerErrorType",
		"providerErrorMessagePreview", "requestIdHash", "nextCandidateProvider", "nextCandidateModel", "isPrimary", "requestedModelMatched",
		"fallbackConfigured", "allowTransientCooldownProbe", "profileCount", "suppressedDuplicateCount", "why", "fallbackStepType",
		"fallbackStepFromModel", "fallbackStepToModel", "fallbackStepFromFailureReason", "fallbackStepFromFailureDetail",
		"fallbackStepChainPosition", "fallbackStepFinalOutcome", "previousAttempts"},
	"end": {"sessions", "profiles"},
}

// wishes reads expect or never.
func (s *scriptReader) wishes(key string, counts bool) (list []wish) {
	e := s.root.entry(key)
	if e == nil || e.value.kind == isEmpty {
		return nil
	}
	at := keyPath{key}
	if e.value.kind != isList {
		s.report(at, "wants a list, found "+string(e.value.kind), "begin each partial event with - ")
		return nil
	}
	for i, item := range e.value.items {
		p := at.item(i)
		if item.kind != isObject {
			s.report(p, "wants a partial event, found "+string(item.kind), "such as {event: reply}")
			continue
		}
		w := wish{line: item.line, count: -1}
		if c := item.entry("count"); c != nil {
			switch {
			case !counts:
				s.reportKey(p.key("count"), "belongs to expect", "here the partial event stands alone")
				continue
			case c.value.kind != isObject || len(item.entries) != 1:
				s.reportKey(p.key("count"), "wants the partial event and n in it, and nothing beside it", "write {count: {event: notice, n: 1}}")
				continue
			}
			item, p = c.value, p.key("count")
			w.count = s.countOf(item, p)
		}
		w.text = flow(item)
		w.fields = s.wants(item, p, w.count >= 0)
		list = append(list, w)
	}
	return list
}

// countOf reads n of a count.
func (s *scriptReader) countOf(item *node, p keyPath) int {
	e := item.entry("n")
	if e == nil {
		s.report(p.key("n"), "is missing", "say how many there must be")
		return 0
	}
	n, err := strconv.Atoi(e.value.text)
	if e.value.kind != isNumber || err != nil || n < 0 {
		s.report(p.key("n"), "wants a whole number from 0 on", "")
	}
	return n
}

// wants reads the fields of a partial event.
func (s *scriptReader) wants(item *node, p keyPath, count bool) (fields []want) {
	known := map[string]bool{"at": true, "after": true, "before": true, "event": true, "session": true}
	for _, names := range eventFields {
		for _, n := range names {
			known[n] = true
		}
	}
	for _, e := range item.entries {
		at := p.key(e.key)
		if e.key == "n" && count {
			continue
		}
		if !known[e.key] {
			s.reportKey(at, "is no field of an event", didYouMean(e.key, slices.Collect(maps.Keys(known))))
			continue
		}
		switch e.key {
		case "event":
			if _, ok := eventFields[e.value.text]; !ok && !strings.HasPrefix(e.value.text, "~") {
				mend := onlyNear(e.value.text, sortedKeys(eventFields))
				s.report(at, fmt.Sprintf("%s is no event", shown(e.value)), cmp.Or(mend, "known: "+strings.Join(sortedKeys(eventFields), ", ")))
			}
		case "at", "after", "before", "until":
			if _, err := time.ParseDuration(e.value.text); err != nil && e.value.kind != isEmpty && !(strings.HasPrefix(e.value.text, "~") && (e.key == "at" || e.key == "until")) {
				s.report(at, fmt.Sprintf("%s is not a duration", shown(e.value)), `write a number with its unit, such as "90s"`)
				continue
			}
		}
		fields = append(fields, s.want(e.key, e.value, at))
	}
	return fields
}

func (s *scriptReader) want(name string, n *node, p keyPath) want {
	w := want{name: name}
	switch n.kind {
	case isEmpty:
		w.absent = true
	case isObject:
		w.fields = s.innerWants(n, p)
	case isList:
		w.isList = true
		for _, item := range n.items {
			if item.kind != isObject {
				s.report(p.item(item.index), "wants an object, found "+string(item.kind), "")
				continue
			}
			w.list = append(w.list, s.innerWants(item, p.item(item.index)))
		}
	default:
		w.pattern = s.pattern(n.text, p)
	}
	return w
}

func (s *scriptReader) innerWants(n *node, p keyPath) (fields []want) {
	for _, e := range n.entries {
		fields = append(fields, s.want(e.key, e.value, p.key(e.key)))
	}
	return fields
}

// pattern reads a wanted scalar.
func (s *scriptReader) pattern(text string, p keyPath) *pattern {
	out := &pattern{text: text}
	if rest, ok := strings.CutPrefix(text, "~"); ok {
		re, err := regexp.Compile(rest)
		if err != nil {
			s.report(p, "is no regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "write a backslash in front of what is meant literally")
		}
		out.re = re
	}
	return out
}

// flow writes a node in one line, as in YAML.
func flow(n *node) string {
	switch n.kind {
	case isObject:
		var parts []string
		for _, e := range n.entries {
			parts = append(parts, e.key+": "+flow(e.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case isList:
		var parts []string
		for _, item := range n.items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case isEmpty:
		return "null"
	case isText:
		if plainWord(strings.NewReplacer("/", "", ":", "", ".", "").Replace(n.text)) {
			return n.text
		}
		return strconv.Quote(n.text)
	}
	return n.text
}
