package daemon

import (
	"slices"
	"sync"
	"time"

	"standin/fallback"
)

// outages remembers which agents no model has answered for, as the steps of runs
// tell it. What a former process saw is read off its incidents.
type outages struct {
	mu     sync.Mutex
	agents map[fallback.AgentID]outage
}

// outage is one agent's.
type outage struct {
	since  time.Time
	models int // that were asked or passed over; 0: not known any more
	reason string
}

func (o *outages) remember(a fallback.AgentID, one outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.agents == nil {
		o.agents = map[fallback.AgentID]outage{}
	}
	if was, known := o.agents[a]; known {
		one.since = was.since
	}
	o.agents[a] = one
}

// answered ends an agent's outage, if the model is one of its own. news says that
// there was one.
func (o *outages) answered(cfg *fallback.Config, a fallback.AgentID, m fallback.Model) (news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, is := o.agents[a]; !is || !slices.Contains(chainOf(cfg, a), m) {
		return false
	}
	delete(o.agents, a)
	return true
}

// failed notes a run whose chain came to its end, if that is the agent's own: a
// model that somebody chose for a session or a job says nothing of the others,
// and a request that no model takes nothing of the models.
func (o *outages) failed(cfg *fallback.Config, s fallback.Step) (news bool) {
	d := s.Record
	switch {
	case s.Kind == fallback.ProbeRun || s.Kind == fallback.Compaction || d.Attempt < d.Total:
		return false
	case slices.Contains([]string{"", string(fallback.Format), string(fallback.ContextOverflow), string(fallback.SessionExpired)}, d.Reason):
		return false
	}
	chain := chainOf(cfg, s.Agent)
	if len(chain) == 0 || d.Total < len(chain) || chain[0] != (fallback.Model{Provider: d.RequestedProvider, Name: d.RequestedModel}) {
		return false
	}
	o.remember(s.Agent, outage{since: s.At, models: d.Total, reason: d.Reason})
	return true
}

// all gives the outages of agents.
func (o *outages) all() map[fallback.AgentID]outage {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := map[fallback.AgentID]outage{}
	for a, one := range o.agents {
		all[a] = one
	}
	return all
}

// chainOf is what a message without a choice of its own would walk.
func chainOf(cfg *fallback.Config, a fallback.AgentID) []fallback.Model {
	return fallback.Chain(cfg, fallback.Resolve(fallback.Ask{Agent: a, Kind: fallback.Chat, Config: cfg}, fallback.Selection{}, false))
}
