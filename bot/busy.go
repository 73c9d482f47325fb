package bot

import (
	"strings"

	"standin/fallback"
)

// BusyBeside tells whether a turn of one of the agent's other sessions runs or
// waits [H12].
func (b *Bot) BusyBeside(a fallback.AgentID, s fallback.SessionID) bool {
	b.lanes.mu.Lock()
	defer b.lanes.mu.Unlock()
	for other, ln := range b.lanes.busy {
		if other != s && strings.HasPrefix(string(other), "agent:"+string(a)+":") && (ln.current != nil || len(ln.queue) > 0) {
			return true
		}
	}
	return false
}
