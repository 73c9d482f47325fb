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

// Load is how many turns run and how many jobs wait for theirs.
func (b *Bot) Load() (running, waiting int) {
	b.lanes.mu.Lock()
	defer b.lanes.mu.Unlock()
	for _, ln := range b.lanes.busy {
		waiting += len(ln.queue)
	}
	return b.lanes.running, waiting
}

// Depths gives the sessions that are being answered or waited for.
func (b *Bot) Depths() map[fallback.SessionID]Depth {
	b.lanes.mu.Lock()
	defer b.lanes.mu.Unlock()
	all := make(map[fallback.SessionID]Depth, len(b.lanes.busy))
	for s, ln := range b.lanes.busy {
		all[s] = Depth{Running: ln.current != nil, Waiting: len(ln.queue)}
	}
	return all
}

// Depth is what a session has going on.
type Depth struct {
	Running bool
	Waiting int
}
