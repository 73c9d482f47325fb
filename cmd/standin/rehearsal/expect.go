package rehearsal

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
