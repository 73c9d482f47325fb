package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"standin/cmd/standin/rehearsal"
	"standin/fallback"
)

// simulation is what --simulate says.
type simulation struct {
	spec  []string // the parts as they were written
	rules []whatIf // the most exact first
}

// whatIf is one part of a simulation: whom it concerns and what they do.
type whatIf struct {
	text    string         // as it was written
	model   fallback.Model // Name "*": all of a provider; zero: all
	profile fallback.ProfileID
	effect  string // a word of effects, or a status number
}

// parseSimulation reads `openai/*=429,anthropic/x=timeout`. The error says which
// part is wrong and what may stand there.
func parseSimulation(spec string) (s simulation, err error) {
	for _, part := range strings.Split(spec, ",") {
		p, err := parseWhatIf(strings.TrimSpace(part))
		if err != nil {
			return simulation{}, err
		}
		if i := slices.IndexFunc(s.rules, func(o whatIf) bool { return o.model == p.model && o.profile == p.profile }); i >= 0 {
			return simulation{}, fmt.Errorf("%q and %q concern the same; leave one of them out", s.rules[i].text, p.text)
		}
		s.spec, s.rules = append(s.spec, p.text), append(s.rules, p)
	}
	slices.SortStableFunc(s.rules, func(a, b whatIf) int { return cmp.Compare(b.exactness(), a.exactness()) })
	return s, nil
}

func parseWhatIf(part string) (whatIf, error) {
	bad := func(format string, args ...any) (whatIf, error) {
		return whatIf{}, fmt.Errorf("%q: "+format, append([]any{part}, args...)...)
	}
	at := strings.LastIndexByte(part, '=')
	if at < 0 {
		return bad("wants a model and an effect, as in openai/*=429")
	}
	whom, effect := strings.TrimSpace(part[:at]), strings.ToLower(strings.TrimSpace(part[at+1:]))
	p := whatIf{text: part, effect: effect}
	if whom == "" {
		return bad("names no model; write provider/model, provider/* or *")
	}
	if !rehearsal.KnownEffect(effect) {
		return bad("%q is no effect; it may be an HTTP status such as 429, or %s", effect, strings.Join(rehearsal.EffectWords(), ", "))
	}
	if ref, profile, ok := strings.Cut(whom, "@"); ok && (ref == "*" || strings.HasSuffix(ref, "/*")) {
		whom, p.profile = ref, fallback.ProfileID(profile)
		if profile == "" {
			return bad("names no credential behind the @")
		}
	}
	if whom == "*" {
		return p, nil
	}
	m, profile := fallback.ParseRef(whom)
	if profile != "" {
		p.profile = profile
	}
	switch {
	case m.Provider == "" || m.Name == "":
		return bad("%q is no model; write provider/model, provider/* or *", whom)
	case strings.Contains(m.Provider, "*"), m.Name != "*" && strings.Contains(m.Name, "*"):
		return bad("a * stands for a whole model name, as in openai/*, or alone for all")
	}
	p.model = m
	return p, nil
}

// exactness ranks patterns: the one that names a credential, then a model, then
// a provider wins over the others, wherever it was written.
func (p whatIf) exactness() int {
	n := 0
	if p.profile != "" {
		n += 4
	}
	switch {
	case p.model.IsZero():
	case p.model.Name == "*":
		n++
	default:
		n += 2
	}
	return n
}

// matches tells whether the pattern concerns a model with a profile.
func (p whatIf) matches(m fallback.Model, profile fallback.ProfileID) bool {
	switch {
	case p.profile != "" && p.profile != profile:
		return false
	case p.model.IsZero(), p.model == m:
		return true
	}
	return p.model.Name == "*" && p.model.Provider == m.Provider
}

// effectOf is what a model does with a profile, ok when nothing is said of it.
func (s simulation) effectOf(m fallback.Model, profile fallback.ProfileID) string {
	for _, p := range s.rules {
		if p.matches(m, profile) {
			return p.effect
		}
	}
	return rehearsal.EffectOK
}
