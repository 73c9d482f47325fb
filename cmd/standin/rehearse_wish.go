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
