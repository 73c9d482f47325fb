package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"standin/bot"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// seed writes the stored rows that the script begins with (R4, R5).
func (r *rehearsal) seed(ctx context.Context, db *store.DB) error {
	credentials := db.Credentials(nil)
	for _, p := range r.profiles {
		agent := fallback.AgentID(p.Agent)
		if agent == "" {
			agent = store.MainAgent
		}
		if err := credentials.PutCredential(ctx, agent, p.credential(r.start)); err != nil {
			return err
		}
		if state := p.state(r.start); state != nil {
			_, _, err := credentials.Update(ctx, agent, fallback.ProfileID(p.ID), func(fallback.Usage) fallback.Usage { return state.Usage() })
			if err != nil {
				return err
			}
		}
	}
	for _, row := range r.sessions {
		if err := db.PutSession(ctx, row.state(r.start)); err != nil {
			return err
		}
	}
	return nil
}

// credential is the stored form; no call ever leaves the process, so the secret
// is a word.
func (p profileSeed) credential(start time.Time) store.Credential {
	secret := map[string]any{}
	if p.Expires != nil {
		secret["expires"] = p.Expires.after(start).UnixMilli()
	}
	kind := fallback.CredentialType(p.Type)
	switch kind {
	case fallback.OAuth:
		secret["access"], secret["refresh"] = "rehearsal", "rehearsal"
	case fallback.Token:
		secret["token"] = "rehearsal"
	default:
		secret["key"] = "rehearsal"
	}
	text, _ := json.Marshal(secret) // words and numbers
	return store.Credential{ID: fallback.ProfileID(p.ID), Provider: p.Provider, Type: kind, Secret: provider.NewKey(string(text))}
}

// state is the routing state that the script gives, nil for none.
func (p profileSeed) state(start time.Time) *fallback.UsageStats {
	if p.Usage == nil && p.LastUsed == nil {
		return nil
	}
	u := p.Usage
	if u == nil {
		u = &usageSeed{}
	}
	ms := func(m *moment) int64 {
		if m == nil {
			return 0
		}
		return m.after(start).UnixMilli()
	}
	s := &fallback.UsageStats{
		LastUsed:      ms(p.LastUsed),
		CooldownUntil: ms(u.CooldownUntil), CooldownReason: u.CooldownReason, CooldownModel: u.CooldownModel,
		DisabledUntil: ms(u.DisabledUntil), DisabledReason: u.DisabledReason,
		BlockedUntil: ms(u.BlockedUntil), BlockedReason: u.BlockedReason, BlockedSource: u.BlockedSource, BlockedModel: u.BlockedModel,
		ErrorCount: u.ErrorCount, FailureCounts: u.FailureCounts, LastFailureAt: ms(u.LastFailureAt),
	}
	if s.LastUsed == 0 {
		s.LastUsed = ms(u.LastUsed)
	}
	for model, scope := range u.CooldownModels {
		if s.CooldownModels == nil {
			s.CooldownModels = map[string]fallback.ScopeStats{}
		}
		s.CooldownModels[model] = fallback.ScopeStats{Until: ms(scope.Until), Reason: scope.Reason}
	}
	return s
}

// ranks are the places of the profiles in their stored order.
func (r *rehearsal) ranks() map[fallback.ProfileID]int {
	ranks := map[fallback.ProfileID]int{}
	for _, p := range r.profiles {
		if p.Order > 0 {
			ranks[fallback.ProfileID(p.ID)] = p.Order
		}
	}
	return ranks
}

// state is the stored row. It has had a turn, so it is no new session.
func (row sessionSeed) state(start time.Time) store.SessionState {
	ref := func(text string) fallback.Model {
		m, _ := fallback.ParseRef(text)
		return m
	}
	s := store.SessionState{
		Session: bot.Session{Key: fallback.SessionID(row.Key), StartedAt: start, LastInteraction: start, Compactions: row.Compactions, Turns: 1},
		Selection: fallback.Selection{
			Model:  fallback.Model{Provider: row.Provider, Name: row.Model},
			Source: fallback.Source(row.Source),
			Origin: fallback.Model{Provider: row.OriginProvider, Name: row.OriginModel},
			Told:   fallback.Told{Selected: ref(row.ToldSelected), Active: ref(row.ToldActive), Reason: row.ToldReason},
			Since:  start,
		},
	}
	if rest, ok := strings.CutPrefix(row.Key, "agent:"); ok {
		agent, _, _ := strings.Cut(rest, ":")
		s.Agent = fallback.AgentID(agent)
	}
	if row.Pin != "" {
		s.Selection.Pin = fallback.Pin{Profile: fallback.ProfileID(row.Pin), Source: fallback.Source(row.PinSource), Compactions: -1}
		if row.PinCompactions != nil {
			s.Selection.Pin.Compactions = *row.PinCompactions
		}
	}
	return s
}

// end adds the last stored state (R16): what a script can assert on rows.
func (t *tale) end(ctx context.Context, p *process, r *rehearsal) error {
	sessions, err := p.DB.Sessions(ctx, 0)
	if err != nil {
		return err
	}
	slices.SortFunc(sessions, func(a, b store.SessionState) int { return strings.Compare(string(a.Key), string(b.Key)) })
	rows := []record{}
	for _, s := range sessions {
		rows = append(rows, sessionRow(s))
	}
	profiles, err := t.profileRows(ctx, p, r)
	if err != nil {
		return err
	}
	t.add(told{happening: happening{at: t.now().Sub(t.start), event: "end", facts: []fact{{"sessions", rows}, {"profiles", profiles}}}})
	return nil
}

func sessionRow(s store.SessionState) record {
	v := s.Selection
	ref := func(m fallback.Model) string {
		if m.IsZero() {
			return ""
		}
		return m.String()
	}
	row := facts(fact{"key", string(s.Key)}, fact{"providerOverride", v.Model.Provider}, fact{"modelOverride", v.Model.Name},
		fact{"modelOverrideSource", string(v.Source)}, fact{"modelOverrideFallbackOriginProvider", v.Origin.Provider},
		fact{"modelOverrideFallbackOriginModel", v.Origin.Name}, fact{"authProfileOverride", string(v.Pin.Profile)},
		fact{"authProfileOverrideSource", string(v.Pin.Source)})
	if v.Pin.Profile != "" && v.Pin.Compactions >= 0 {
		row = append(row, fact{"authProfileOverrideCompactionCount", v.Pin.Compactions})
	}
	return append(row, facts(fact{"compactionCount", s.Compactions}, fact{"fallbackNoticeSelectedModel", ref(v.Told.Selected)},
		fact{"fallbackNoticeActiveModel", ref(v.Told.Active)}, fact{"fallbackNoticeReason", v.Told.Reason})...)
}

// profileRows are the credentials of all agents, by id: the stored ones, and
// the lent ones of the providers that the script or its config names.
func (t *tale) profileRows(ctx context.Context, p *process, r *rehearsal) ([]record, error) {
	credentials := p.DB.Credentials(nil)
	agents, err := credentials.Agents()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(agents, store.MainAgent) {
		agents = append(agents, store.MainAgent)
	}
	slices.Sort(agents)
	rows := []record{}
	for _, agent := range agents {
		stored, err := credentials.List(ctx, agent)
		if err != nil {
			return nil, err
		}
		states, err := credentials.States(ctx, agent)
		if err != nil {
			return nil, err
		}
		all := map[fallback.ProfileID]store.Credential{}
		for _, c := range stored {
			all[c.ID] = c
		}
		if agent == store.MainAgent {
			for _, lent := range p.Config().Profiles {
				if _, ok := all[lent.ID]; !ok && slices.Contains(r.named, lent.Provider) {
					all[lent.ID] = store.Credential{ID: lent.ID, Provider: lent.Provider, Type: lent.Type}
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(all)) {
			rows = append(rows, t.profileRow(agent, all[id], states[id]))
		}
	}
	return rows, nil
}

func (t *tale) profileRow(agent fallback.AgentID, c store.Credential, u fallback.Usage) record {
	owner := ""
	if agent != store.MainAgent {
		owner = string(agent)
	}
	s := u.Stats(t.now())
	row := facts(fact{"id", string(c.ID)}, fact{"agent", owner}, fact{"type", string(c.Type)}, fact{"provider", c.Provider})
	time := func(name string, ms int64) {
		if ms != 0 {
			row = append(row, fact{name, t.since(ms)})
		}
	}
	word := func(name, v string) { row = append(row, facts(fact{name, v})...) }
	time("lastUsed", s.LastUsed)
	time("cooldownUntil", s.CooldownUntil)
	word("cooldownReason", s.CooldownReason)
	word("cooldownModel", s.CooldownModel)
	if len(s.CooldownModels) > 0 {
		var scopes record
		for _, model := range slices.Sorted(maps.Keys(s.CooldownModels)) {
			scope := s.CooldownModels[model]
			scopes = append(scopes, fact{model, record(append([]fact{{"until", t.since(scope.Until)}}, facts(fact{"reason", scope.Reason})...))})
		}
		row = append(row, fact{"cooldownModels", scopes})
	}
	time("disabledUntil", s.DisabledUntil)
	word("disabledReason", s.DisabledReason)
	time("blockedUntil", s.BlockedUntil)
	word("blockedReason", s.BlockedReason)
	word("blockedSource", s.BlockedSource)
	word("blockedModel", s.BlockedModel)
	row = append(row, facts(fact{"errorCount", s.ErrorCount})...)
	if len(s.FailureCounts) > 0 {
		var counts record
		for _, reason := range slices.Sorted(maps.Keys(s.FailureCounts)) {
			counts = append(counts, fact{reason, s.FailureCounts[reason]})
		}
		row = append(row, fact{"failureCounts", counts})
	}
	time("lastFailureAt", s.LastFailureAt)
	return row
}

// since is a stored time as a duration from the start.
func (t *tale) since(ms int64) time.Duration { return time.UnixMilli(ms).Sub(t.start) }

// line is the event in one line, for messages.
func (h happening) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{at: %s, event: %s", short(h.at), h.event)
	if h.session != "" {
		fmt.Fprintf(&b, ", session: %s", h.session)
	}
	for _, f := range h.facts {
		switch v := f.value.(type) {
		case []record, []any:
			text, _ := json.Marshal(v)
			fmt.Fprintf(&b, ", %s: %s", f.name, text)
		case string:
			fmt.Fprintf(&b, ", %s: %s", f.name, quoted(v))
		default:
			fmt.Fprintf(&b, ", %s: %s", f.name, shownValue(v))
		}
	}
	return b.String() + "}"
}

// quoted puts a text in quotes unless it is a plain word or a model.
func quoted(s string) string {
	if config.PlainWord(strings.NewReplacer("/", "", ":", "", ".", "").Replace(s)) {
		return s
	}
	return fmt.Sprintf("%q", s)
}
