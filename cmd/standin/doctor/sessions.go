package doctor

import (
	"fmt"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

// Stale is a session whose stored model today's config does not lead to.
type Stale struct {
	Session fallback.SessionID
	Was     fallback.Selection
	Why     fallback.ClearWhy
}

// StaleOverrides finds automatic overrides that stand in for what is no longer
// configured, by the rules that a turn (14) and a heartbeat (16) go by.
func StaleOverrides(list []store.SessionState, c *bot.Config) (all []Stale) {
	for _, s := range list {
		sel := s.Selection
		if sel.Model.IsZero() || sel.Source != fallback.Auto && !sel.IsAuto() {
			continue
		}
		ask := fallback.Ask{Session: s.Key, Agent: s.Agent, Config: c.Fallback, Channel: c.Rules.Model(s.Route, "")}
		for _, kind := range []fallback.Kind{fallback.Heartbeat, fallback.Chat} {
			ask.Kind = kind
			if p := fallback.Resolve(ask, sel, false); p.ClearWhy != "" {
				all = append(all, Stale{s.Key, sel, p.ClearWhy})
				break
			}
		}
	}
	return all
}

// Freed is the selection without its model, as a turn that clears it leaves it:
// what the room was told stays, so that it hears once that the fallback is over
// [D11], and so does a person's pin.
func (s Stale) Freed(now time.Time) fallback.Selection {
	free := fallback.Selection{Told: s.Was.Told, Since: now}
	if s.Was.Pin.ByPerson() {
		free.Pin = s.Was.Pin
	}
	return free
}

// Finding tells of it.
func (s Stale) Finding() Finding {
	why := map[fallback.ClearWhy]string{
		fallback.ClearNoOrigin: "nobody knows any more for which model",
		fallback.ClearOffChain: "no list of models has it any more",
		fallback.ClearOrigin:   fmt.Sprintf("it stands in for %s, which is not the agent's model any more", s.Was.Origin),
	}[s.Why]
	return Finding{Area: Sessions, Level: Warning, Where: string(s.Session), Fixable: true,
		What: fmt.Sprintf("stays on the stand-in %s: %s", s.Was.Model, why),
		Mend: "standin doctor --fix gives it back its own model; so does the next message, or /model default"}
}

// Choices finds sessions whose people chose a model that cannot be asked.
func Choices(list []store.SessionState, c *bot.Config) (found []Finding) {
	for _, s := range list {
		sel := s.Selection
		if sel.Model.IsZero() || sel.Source == fallback.Auto || sel.IsAuto() {
			continue
		}
		p := fallback.Resolve(fallback.Ask{Session: s.Key, Agent: s.Agent, Kind: fallback.Chat, Config: c.Fallback, Channel: c.Rules.Model(s.Route, "")}, sel, false)
		f := Finding{Area: Sessions, Level: Warning, Where: string(s.Key), Mend: "write /model default there, or /model and another one"}
		switch {
		case p.Invalid != "":
			f.What = p.Invalid
		case p.ClearWhy == fallback.ClearNotPermitted:
			f.Level, f.What, f.Mend = Note, fmt.Sprintf("%s was chosen there and is not permitted any more", sel.Model), "its next message goes to the agent's own model and says so"
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// few keeps a long list readable: the first ones, and a line that counts the
// others.
func few(found []Finding, limit int) []Finding {
	if len(found) <= limit {
		return found
	}
	rest := found[limit]
	rest.Where = ""
	rest.What = fmt.Sprintf("and %d more like these", len(found)-limit)
	rest.Mend = strings.Split(rest.Mend, ";")[0]
	return append(found[:limit:limit], rest)
}
