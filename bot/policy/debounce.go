package policy

import (
	"strings"
	"time"

	"standin/channels"
)

// Waits is how long a message waits for more by the same sender in the same
// conversation; 0 is not at all [S32]. What comes with files goes alone, and a
// command never waits.
func (r Rules) Waits(in channels.Inbound) time.Duration {
	if len(in.Files) > 0 || in.Command {
		return 0
	}
	if d, ok := r.DebounceBy[in.To.Channel]; ok {
		return d
	}
	return r.Debounce
}

// Joined is the text of messages that are answered together.
func Joined(texts []string) string { return strings.Join(texts, "\n") }
