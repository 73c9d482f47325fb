package fallback

import (
	"fmt"
	"regexp"
	"strings"
)

// Model is a provider's model: the pair that a reference "provider/model"
// names. The zero Model means none.
type Model struct{ Provider, Name string }

// String gives "provider/model", "" for the zero Model.
func (m Model) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Provider + "/" + m.Name
}

// IsZero tells whether no model is named.
func (m Model) IsZero() bool { return m == Model{} }

// complete tells whether both halves are there: half a pair can neither be
// asked nor be an origin (failover.md 2.9, 3.1).
func (m Model) complete() bool { return m.Provider != "" && m.Name != "" }

// normal gives the form in which models are compared: provider normalised,
// id trimmed. The id keeps its case, vendors tell ids apart by it [2.5].
func (m Model) normal() Model {
	return Model{Provider: NormalProvider(m.Provider), Name: strings.TrimSpace(m.Name)}
}

// SessionID is a session key, such as "agent:main:main" [S1].
type SessionID string

// AgentID names an agent of the config.
type AgentID string

// ProfileID names a stored credential, such as "openai:default" [M16].
type ProfileID string

// Provider is the part of the id before the colon.
func (p ProfileID) Provider() string {
	provider, _, _ := strings.Cut(string(p), ":")
	return NormalProvider(provider)
}

// NormalProvider gives the form in which provider ids are compared: trimmed
// and lower-cased (failover.md 2.5). That a Codex subscription and an OpenAI
// key are credentials of one vendor is profiles.go's to know [M19].
func NormalProvider(id string) string { return strings.ToLower(strings.TrimSpace(id)) }

// ParseRef reads "provider/model@profile" by its shape alone: nothing is looked
// up. The provider ends at the first slash, since model ids have slashes of
// their own [C7]; a reference without one gives a Model without provider. What
// cannot be a pair ("", "anthropic/") comes back with an empty half.
func ParseRef(s string) (m Model, profile ProfileID) {
	ref, profile := splitProfile(strings.TrimSpace(s))
	provider, name, ok := strings.Cut(ref, "/")
	if !ok {
		return Model{Name: ref}, profile
	}
	return Model{Provider: provider, Name: name}.normal(), profile
}

// idSuffix is what may follow an "@" and still be part of a model id: a date
// of eight digits or the name of a quantisation, up to the next "@" [C8].
var idSuffix = regexp.MustCompile(`(?i)^(\d{8}|i?q\d+(_[a-z0-9]+)*|\d+bit)(@|$)`)

// splitProfile cuts a reference at the "@" that starts a profile: the first one
// after the last slash that neither begins the id nor leads a date or a
// quantisation tag. An empty half means that there is no profile, and the
// whole text is the model [C8].
func splitProfile(ref string) (model string, profile ProfileID) {
	start := strings.LastIndexByte(ref, '/') + 1
	for from := start; ; {
		i := strings.IndexByte(ref[from:], '@')
		if i < 0 {
			return ref, ""
		}
		at := from + i
		if at == start {
			return ref, ""
		}
		if idSuffix.MatchString(ref[at+1:]) {
			from = at + 1
			continue
		}
		model, name := strings.TrimSpace(ref[:at]), strings.TrimSpace(ref[at+1:])
		if model == "" || name == "" {
			return ref, ""
		}
		return model, ProfileID(name)
	}
}

// RefError says why a reference names no model that can be asked. Its text is
// fit for people.
type RefError struct {
	Ref  string   // as it was written
	Why  string   // one clause, such as `no provider "opneai" is configured`
	Near []string // what may have been meant, best first; may be empty
}

// Error gives the clause and the nearest names.
func (e *RefError) Error() string {
	s := fmt.Sprintf("%q: %s", e.Ref, e.Why)
	if len(e.Near) > 0 {
		s += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return s
}
