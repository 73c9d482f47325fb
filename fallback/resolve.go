package fallback

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Resolve decides what a run asks for and what may follow it: section 3 of
// failover.md, with the probe (15.2) and the heartbeat rule (16). probeDue says
// that the five minutes since the last look at the primary are over. The config
// is the ask's snapshot, so the plan is made of today's config and today's row
// and never of an older copy of a chain [IL-028].
func Resolve(ask Ask, stored Selection, probeDue bool) Plan {
	c := ask.Config
	stored.Model, stored.Origin = stored.Model.normal(), stored.Origin.normal()
	switch {
	case ask.Model.complete():
		return ownModel(ask, stored)
	case !stored.Model.complete():
		return configured(ask, stored)
	case stored.Source == Auto || stored.IsAuto():
		return sticky(ask, stored, probeDue)
	}
	// A user's choice, or a legacy one that counts as such [M8, M9]: exact.
	if !c.permits(ask.Agent, ask.Channel, stored.Model) {
		return cleared(ask, stored, ClearNotPermitted)
	}
	p := base(ask, stored)
	p.Why = FromUser
	if stored.Source != ByUser {
		p.Why = FromLegacy
	}
	p.Requested, p.Selected = stored.Model, stored.Model
	p.follow(nil, true)
	if ask.Listed { // a job's own list wins over all other policies (3.6 a)
		p.follow(ask.Fallbacks, true)
	}
	if !c.Known(stored.Model) {
		p.Invalid = fmt.Sprintf("%s was chosen for this session, but no provider %q is configured", stored.Model, stored.Model.Provider)
	}
	return p
}

// base is what all plans of a session have in common.
func base(ask Ask, stored Selection) Plan {
	pin := stored.Pin
	if pin.ByPerson() {
		pin.Source = ByUser
	} else if pin.Profile != "" {
		pin.Source = Auto
	}
	return Plan{Primary: ask.Config.Primary(ask.Agent, ask.Channel), Pin: pin}
}

// follow sets the list after the requested model. An explicit empty list is
// what strict means (3.2).
func (p *Plan) follow(list []Model, explicit bool) {
	p.Fallbacks, p.Explicit = list, explicit
	p.Strict = explicit && len(list) == 0
}

// ownModel is the plan of a run that brings its model: a job, a heartbeat with
// a model, one-off flags. It neither uses nor touches what is stored [M10, H18].
func ownModel(ask Ask, stored Selection) Plan {
	p := base(ask, stored)
	p.Requested = ask.Config.canonical(ask.Model)
	p.Selected = p.Requested
	if ask.Profile != "" {
		p.Pin = Pin{Profile: ask.Profile, Source: ByUser, Compactions: -1}
	}
	switch {
	case ask.OneOff || ask.Kind != Cron && ask.Kind != Heartbeat:
		p.Why = FromOneOff
		p.follow(nil, true)
	case ask.Listed:
		p.Why = ownWhy(ask.Kind)
		p.follow(ask.Fallbacks, true)
	case ask.Kind == Cron:
		// The configured fallbacks, passed as a list, so that no primary hides
		// behind them (3.6 d, R35).
		p.Why = FromCron
		list, _ := ask.Config.policy(ask.Agent)
		p.follow(list, true)
	default:
		p.Why = FromHeartbeat
		p.follow(ask.Config.policy(ask.Agent))
	}
	return p
}

func ownWhy(k Kind) Why {
	if k == Cron {
		return FromCron
	}
	return FromHeartbeat
}

// configured is the plan of a session without a selection: the channel's, the
// agent's or the default model with the agent's policy [M4, M5, T4, T5].
func configured(ask Ask, stored Selection) Plan {
	p := base(ask, stored)
	p.Requested, p.Selected = p.Primary, p.Primary
	switch choice := ask.Config.Agents[ask.Agent]; {
	case ask.Channel.complete():
		p.Why = FromChannel
	case choice.Primary.complete() || choice.Listed:
		p.Why = FromAgent
	default:
		p.Why = FromDefault
	}
	if ask.Listed {
		p.follow(ask.Fallbacks, true)
	} else {
		p.follow(ask.Config.policy(ask.Agent))
	}
	p.Persist = ask.Kind == Chat // the only kind that writes [I6]
	return p
}

// policy gives an agent's list of fallbacks and whether it is exact: an agent
// with a list of its own has exactly that, an agent with a model and no list
// has none, any other agent shares the default list, after which the default
// primary may be appended [M4, M5, 3.1].
func (c *Config) policy(agent AgentID) (list []Model, explicit bool) {
	choice := c.Agents[agent]
	switch {
	case choice.Listed:
		return choice.Fallbacks, true
	case choice.Primary.complete():
		return nil, true
	}
	return c.Default.Fallbacks, false
}

// sticky is the plan of a session on a fallback's stored choice [M6].
func sticky(ask Ask, stored Selection, probeDue bool) Plan {
	c := ask.Config
	primary := c.Primary(ask.Agent, ask.Channel)
	list, _ := c.policy(ask.Agent)
	switch {
	case ask.Kind == Cron:
		return unwritten(ask, stored) // automatic choices never carry over to a job's run [R27]
	case ask.Kind == Heartbeat && origin(stored) != primary:
		return cleared(ask, stored, ClearOrigin)
	case !stored.Origin.complete():
		return cleared(ask, stored, ClearNoOrigin)
	case !c.offers(list, primary, stored.Model):
		return cleared(ask, stored, ClearOffChain)
	}
	p := base(ask, stored)
	p.Why = FromAuto
	p.Requested, p.Selected = stored.Model, stored.Origin
	// Passed as a list: the primary does not stand behind it, the probe is the
	// way back (2.14, 3.5).
	p.follow(list, true)
	if ask.Listed { // a heartbeat's own list wins over the policy (3.6 a)
		p.follow(ask.Fallbacks, true)
	}
	p.Persist = ask.Kind == Chat
	if p.Persist && probeDue && !ask.NoProbe && stored.Origin == primary && stored.Model != stored.Origin {
		p.Probe, p.Current, p.Requested = true, stored.Model, stored.Origin
		if p.Pin.Source == Auto && p.Pin.Profile.serves(p.Requested.Provider) {
			p.Pin = Pin{} // made for the fallback; the primary's credential is chosen afresh (15.5)
		}
	}
	return p
}

// origin is what an automatic row stands in for as far as it can be known: the
// origin, else what the room was told, else the row's own model (16.1, H19).
func origin(s Selection) Model {
	switch {
	case s.Origin.complete():
		return s.Origin
	case s.Told.Selected.complete():
		return s.Told.Selected.normal()
	}
	return s.Model
}

// offers tells whether today's config could still lead an automatic choice to
// the model: a fallback of the list, or one of the primaries that close a
// chain. The allowlist is not asked [D8].
func (c *Config) offers(list []Model, primary, m Model) bool {
	return m == primary || m == c.canonical(c.primary()) ||
		slices.ContainsFunc(list, func(f Model) bool { return c.canonical(f) == m })
}

// permits is Permits for one session, whose own primary is always permitted.
func (c *Config) permits(agent AgentID, channel, m Model) bool {
	return m == c.Primary(agent, channel) || c.Permits(m)
}

// cleared is the plan of a session whose stored selection is stale: it runs as
// if nothing were stored. Only a chat turn may remove the row, and a heartbeat
// under its own rule [I6, M7]; other runs leave it to the next message.
func cleared(ask Ask, stored Selection, why ClearWhy) Plan {
	p := unwritten(ask, stored)
	p.Clear = ask.Kind == Chat || ask.Kind == Heartbeat && why == ClearOrigin
	p.ClearWhy, p.Cleared = why, stored.Model
	return p
}

// unwritten is the configured plan for a row that is passed over; the
// automatic pin of the row's model goes with it, a user's stays.
func unwritten(ask Ask, stored Selection) Plan {
	p := configured(ask, stored)
	if p.Pin.Source == Auto {
		p.Pin = Pin{}
	}
	return p
}

// Engage is the row to write before a fallback candidate is asked [M2, 13.5].
// The first origin is kept however far the chain walks [T9]; an automatic pin
// follows only within its provider (9.9). A user's pin stays in the row: it
// concerns its own provider alone and ends with the session, not with an
// outage [D3].
func Engage(stored Selection, plan Plan, candidate Model, now time.Time) Selection {
	next := stored
	next.Model, next.Source, next.Since = candidate, Auto, now
	if !stored.IsAuto() {
		next.Origin = cmp.Or(plan.Selected, plan.Requested) // what it stands in for, also when that was inherited
	}
	switch pin := stored.Pin; {
	case pin.ByPerson():
		next.Pin.Source = ByUser
	case pin.Profile.serves(candidate.Provider):
		next.Pin = Pin{Profile: pin.Profile, Source: Auto, Compactions: -1}
	default:
		next.Pin = Pin{}
	}
	return next
}

// Choose is the row after a person chose m: with /model, the picker,
// session_status or sessions.patch [M8, 17.6]. The zero Model, or the model
// that config gives this session anyway, frees the session instead of pinning
// it, so that its fallbacks keep working [C6, C10]. Origin, told pair and the
// former pin end in the same write [C11]; profile is the new pin, "" for none.
// The live switch is asked for only if something really changed (17.1).
func Choose(cfg *Config, agent AgentID, channel Model, stored Selection, m Model, profile ProfileID, now time.Time) Selection {
	m = m.normal()
	next := Selection{Pending: stored.Pending, Since: stored.Since}
	if m.complete() && m != cfg.Primary(agent, channel) {
		next.Model, next.Source = m, ByUser
	}
	if profile != "" {
		next.Pin = Pin{Profile: profile, Source: ByUser, Compactions: -1}
	}
	if next.Model != stored.Model || next.Source != stored.Source {
		next.Pending, next.Since = true, now
	}
	pinned := ProfileID("") // an automatic pin that ends is no change of the user's
	if stored.Pin.ByPerson() {
		pinned = stored.Pin.Profile
	}
	if profile != pinned {
		next.Pending = true
	}
	return next
}
