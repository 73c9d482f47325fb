package channels

import (
	"fmt"
	"log/slog"
)

// Secret is a token that cannot be printed: fmt, slog, JSON and YAML show a
// mark, also when it sits in an unexported field. Reveal is for the one place
// that hands it to the platform's library [I12].
type Secret struct{ p *string }

// NewSecret wraps a token; an empty one gives the zero Secret.
func NewSecret(token string) Secret {
	if token == "" {
		return Secret{}
	}
	return Secret{p: &token}
}

// Reveal gives the token itself, "" for the zero Secret.
func (s Secret) Reveal() string {
	if s.p == nil {
		return ""
	}
	return *s.p
}

// Empty tells whether there is nothing to reveal.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// Format prints a mark instead of the token, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[secret]")) }

// LogValue keeps the token out of slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText keeps the token out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }
