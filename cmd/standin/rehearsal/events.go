package rehearsal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"standin/fallback"
)

// happening is one event of a rehearsal (R9–R16).
type happening struct {
	at      time.Duration // from the start
	event   string
	session string // "" where there is none
	facts   []fact // in the order in which they are printed; absent ones are left out
}

// fact is a field of an event: a text, a whole number, a truth value, a
// duration from the start, a list, or an object of such.
type fact struct {
	name  string
	value any
}

// facts drops the fields that are absent: nil, "" and no number.
func facts(all ...fact) []fact {
	return slices.DeleteFunc(all, func(f fact) bool { return f.value == nil || f.value == "" || f.value == 0 })
}

// get gives a field by name.
func (h happening) get(name string) (any, bool) {
	switch name {
	case "at":
		return h.at, true
	case "event":
		return h.event, true
	case "session":
		return h.session, h.session != ""
	}
	for _, f := range h.facts {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

// MarshalJSON writes at, event and session first, then the fields in order.
func (h happening) MarshalJSON() ([]byte, error) {
	head := []fact{{"at", h.at}, {"event", h.event}}
	if h.session != "" {
		head = append(head, fact{"session", h.session})
	}
	return marshalFacts(append(head, h.facts...))
}

// record is an object that keeps the order of its fields.
type record []fact

// MarshalJSON writes the fields in order.
func (r record) MarshalJSON() ([]byte, error) { return marshalFacts(r) }

func (r record) get(name string) (any, bool) {
	for _, f := range r {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

func marshalFacts(all []fact) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	put := func(v any) error {
		if d, ok := v.(time.Duration); ok {
			v = short(d)
		}
		err := enc.Encode(v)
		b.Truncate(b.Len() - 1) // Encode ends with a newline
		return err
	}
	b.WriteByte('{')
	for i, f := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := put(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := put(f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// short is a Go duration without its zero tails: 1h34m, 5h, 6m30s, 0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// happened reads a step of a run as an event. What no event of R9–R15 tells
// gives false.
func happened(s fallback.Step, start time.Time) (happening, bool) {
	h := happening{at: s.At.Sub(start), event: string(s.What), session: string(s.Session)}
	switch s.What {
	case fallback.StepAttempt:
		a := s.Attempt
		outcome := "ok"
		if !a.OK {
			outcome = "failed"
		}
		h.facts = facts(fact{"turn", s.Run}, fact{"purpose", string(s.Kind)}, fact{"model", a.Model.String()}, fact{"profile", string(a.Profile)},
			fact{"outcome", outcome}, fact{"reason", reasonShown(a)}, fact{"status", a.Status}, fact{"code", a.Code},
			fact{"probe", string(a.Probe)}, fact{"position", a.Position}, fact{"total", a.Total})
	case fallback.StepSkip:
		a := s.Attempt
		h.facts = facts(fact{"turn", s.Run}, fact{"model", a.Model.String()}, fact{"reason", reasonShown(a)}, fact{"why", string(a.Skipped)})
	case fallback.StepOverride:
		return overridden(s.Write.Act, s.Write.Now, h), true
	case fallback.StepCooldown:
		h.facts = append(windowFacts(s.Window, start), fact{"errorCount", s.Window.Errors})
	case fallback.StepDisabled, fallback.StepBlocked:
		h.facts = windowFacts(s.Window, start)
	case fallback.StepDecision:
		h.facts = decisionFacts(s.Record)
	case fallback.StepTool:
		h.facts = facts(fact{"turn", s.Run}, fact{"model", s.Tool.Model.String()}, fact{"name", s.Tool.Name}, fact{"failed", truth(s.Tool.Failed)}, fact{"acted", truth(s.Tool.Acted)})
	default:
		return happening{}, false
	}
	return h, true
}

// truth is a truth value that is absent when it is false.
func truth(b bool) any {
	if b {
		return true
	}
	return nil
}

// reasonShown is the class of a failure, or the label where there is no class.
func reasonShown(a *fallback.Attempt) string {
	if a.Reason != fallback.NoReason {
		return string(a.Reason)
	}
	return string(a.Label)
}

func windowFacts(w *fallback.WindowEvent, start time.Time) []fact {
	return facts(fact{"profile", string(w.Profile)}, fact{"until", w.Window.Until.Sub(start)},
		fact{"reason", string(w.Window.Reason)}, fact{"model", w.Model})
}

// overridden fills in R11: the override that is stored afterwards.
func overridden(act fallback.Act, now fallback.Selection, h happening) happening {
	h.event = string(fallback.StepOverride)
	model, source, origin := "", "none", ""
	if !now.Model.IsZero() {
		model = now.Model.String()
		switch {
		case now.Source == fallback.Auto || now.IsAuto():
			source = string(fallback.Auto)
		default:
			source = string(fallback.ByUser)
		}
	}
	if !now.Origin.IsZero() {
		origin = now.Origin.String()
	}
	h.facts = facts(fact{"model", model}, fact{"source", source}, fact{"origin", origin})
	if now.Pin.Profile != "" {
		source := fallback.Auto
		if now.Pin.ByPerson() {
			source = fallback.ByUser
		}
		h.facts = append(h.facts, fact{"profile", string(now.Pin.Profile)}, fact{"profileSource", string(source)})
	}
	h.facts = append(h.facts, fact{"act", string(act)})
	return h
}

// decisionFacts is the decision record, whole, in the names of its contract.
// Its own "event" says the same for each and makes room for ours.
func decisionFacts(d *fallback.Decision) []fact {
	text, err := json.Marshal(d)
	if err != nil {
		return nil
	}
	var out []fact
	dec := json.NewDecoder(bytes.NewReader(text))
	_, _ = dec.Token() // {
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var v any
		if dec.Decode(&v) != nil {
			break
		}
		if name != "event" {
			out = append(out, fact{name.(string), v})
		}
	}
	return out
}
