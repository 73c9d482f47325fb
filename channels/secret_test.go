package channels

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// A token reaches no print, log or document, wherever it sits [I12].
func TestSecretDoesNotPrint(t *testing.T) {
	const token = "xoxb-not-to-be-seen"
	s := NewSecret(token)
	if s.Reveal() != token || s.Empty() || !NewSecret("").Empty() || !(Secret{}).Empty() {
		t.Fatal("Reveal and Empty do not agree with what was put in")
	}
	owner := struct {
		Open   Secret
		closed Secret
	}{s, s}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "owner", owner)
	doc, err := json.Marshal(owner)
	if err != nil {
		t.Fatal(err)
	}
	seen := []string{log.String(), string(doc)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		seen = append(seen, fmt.Sprintf(verb, s), fmt.Sprintf(verb, owner), fmt.Sprintf(verb, &owner))
	}
	hex := fmt.Sprintf("%x", token)
	for _, out := range seen {
		if strings.Contains(out, token) || strings.Contains(out, hex) {
			t.Errorf("the token stands in %q", out)
		}
	}
}
