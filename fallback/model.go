package fallback

import "strings"

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
// and lower-cased (failover.md 2.5).
func NormalProvider(id string) string { return strings.ToLower(strings.TrimSpace(id)) }
