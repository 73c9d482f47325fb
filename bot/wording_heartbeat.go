package bot

import (
	"fmt"
	"strings"
	"time"

	"standin/fallback"
)

// SayBeatFailed is the line of a heartbeat that no model answered: which models
// were asked, why each did not answer, when one can again, and that people are
// not held up by it [T19, H22, IL-289]. key is the same for the same trouble,
// whatever times the line names.
func SayBeatFailed(err error, now time.Time) (key, line string) {
	c := fallback.CauseOf(err, now)
	var b strings.Builder
	b.WriteString("The heartbeat did not run: ")
	switch {
	case len(c.Attempts) > 0:
		b.WriteString(tried(c))
	default:
		b.WriteString(strings.TrimSuffix(lowerFirst(what(c)), "."))
	}
	b.WriteString(".")
	if c.Wait > 0 {
		fmt.Fprintf(&b, " A model is ready again in %s; it is tried again then.", about(c.Wait))
	} else {
		b.WriteString(" It is tried again at its next time.")
	}
	if c.Command != "" {
		fmt.Fprintf(&b, " Whoever runs this bot can fix the credential with: %s.", c.Command)
	}
	b.WriteString(" You can go on writing to me as usual.")

	parts := []string{string(c.Kind)}
	for _, a := range c.Attempts {
		parts = append(parts, a.Model.String()+"="+string(a.Reason))
	}
	return strings.Join(parts, " "), b.String()
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
