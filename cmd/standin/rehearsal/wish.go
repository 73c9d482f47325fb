package rehearsal

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"standin/cmd/standin/config"
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
	"tool":      {"turn", "model", "name", "failed", "acted"},
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
	e := s.root.Entry(key)
	if e == nil || e.Value.Kind == config.Empty {
		return nil
	}
	at := config.Path{key}
	if e.Value.Kind != config.List {
		s.report(at, "wants a list, found "+string(e.Value.Kind), "begin each partial event with - ")
		return nil
	}
	for i, item := range e.Value.Items {
		p := at.Item(i)
		if item.Kind != config.Object {
			s.report(p, "wants a partial event, found "+string(item.Kind), "such as {event: reply}")
			continue
		}
		w := wish{line: item.Line, count: -1}
		if c := item.Entry("count"); c != nil {
			switch {
			case !counts:
				s.reportKey(p.Key("count"), "belongs to expect", "here the partial event stands alone")
				continue
			case c.Value.Kind != config.Object || len(item.Entries) != 1:
				s.reportKey(p.Key("count"), "wants the partial event and n in it, and nothing beside it", "write {count: {event: notice, n: 1}}")
				continue
			}
			item, p = c.Value, p.Key("count")
			w.count = s.countOf(item, p)
		}
		w.text = flow(item)
		w.fields = s.wants(item, p, w.count >= 0)
		list = append(list, w)
	}
	return list
}

// countOf reads n of a count.
func (s *scriptReader) countOf(item *config.Node, p config.Path) int {
	e := item.Entry("n")
	if e == nil {
		s.report(p.Key("n"), "is missing", "say how many there must be")
		return 0
	}
	n, err := strconv.Atoi(e.Value.Text)
	if e.Value.Kind != config.Number || err != nil || n < 0 {
		s.report(p.Key("n"), "wants a whole number from 0 on", "")
	}
	return n
}

// wants reads the fields of a partial event.
func (s *scriptReader) wants(item *config.Node, p config.Path, count bool) (fields []want) {
	known := map[string]bool{"at": true, "after": true, "before": true, "event": true, "session": true}
	for _, names := range eventFields {
		for _, n := range names {
			known[n] = true
		}
	}
	for _, e := range item.Entries {
		at := p.Key(e.Key)
		if e.Key == "n" && count {
			continue
		}
		if !known[e.Key] {
			s.reportKey(at, "is no field of an event", config.DidYouMean(e.Key, slices.Collect(maps.Keys(known))))
			continue
		}
		switch e.Key {
		case "event":
			if _, ok := eventFields[e.Value.Text]; !ok && !strings.HasPrefix(e.Value.Text, "~") {
				mend := config.OnlyNear(e.Value.Text, slices.Sorted(maps.Keys(eventFields)))
				s.report(at, fmt.Sprintf("%s is no event", config.Shown(e.Value)), cmp.Or(mend, "known: "+strings.Join(slices.Sorted(maps.Keys(eventFields)), ", ")))
			}
		case "at", "after", "before", "until":
			if _, err := time.ParseDuration(e.Value.Text); err != nil && e.Value.Kind != config.Empty && !(strings.HasPrefix(e.Value.Text, "~") && (e.Key == "at" || e.Key == "until")) {
				s.report(at, fmt.Sprintf("%s is not a duration", config.Shown(e.Value)), `write a number with its unit, such as "90s"`)
				continue
			}
		}
		fields = append(fields, s.want(e.Key, e.Value, at))
	}
	return fields
}

func (s *scriptReader) want(name string, n *config.Node, p config.Path) want {
	w := want{name: name}
	switch n.Kind {
	case config.Empty:
		w.absent = true
	case config.Object:
		w.fields = s.innerWants(n, p)
	case config.List:
		w.isList = true
		for _, item := range n.Items {
			if item.Kind != config.Object {
				s.report(p.Item(item.Index), "wants an object, found "+string(item.Kind), "")
				continue
			}
			w.list = append(w.list, s.innerWants(item, p.Item(item.Index)))
		}
	default:
		w.pattern = s.pattern(n.Text, p)
	}
	return w
}

func (s *scriptReader) innerWants(n *config.Node, p config.Path) (fields []want) {
	for _, e := range n.Entries {
		fields = append(fields, s.want(e.Key, e.Value, p.Key(e.Key)))
	}
	return fields
}

// pattern reads a wanted scalar.
func (s *scriptReader) pattern(text string, p config.Path) *pattern {
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
func flow(n *config.Node) string {
	switch n.Kind {
	case config.Object:
		var parts []string
		for _, e := range n.Entries {
			parts = append(parts, e.Key+": "+flow(e.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case config.List:
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case config.Empty:
		return "null"
	case config.Text:
		if config.PlainWord(strings.NewReplacer("/", "", ":", "", ".", "").Replace(n.Text)) {
			return n.Text
		}
		return strconv.Quote(n.Text)
	}
	return n.Text
}
