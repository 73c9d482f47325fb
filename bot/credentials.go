package bot

import (
	"context"
	"slices"
	"time"

	"standin/fallback"
)

// Keyring is the credentials as an operator works on them: /auth here and
// standin auth at a terminal. Each change is durable when it returns, together
// with the record of who made it; the very next turn goes by it.
type Keyring interface {
	fallback.Credentials
	// Providers gives the providers of which the agent has credentials.
	Providers(ctx context.Context, a fallback.AgentID) ([]string, error)
	// Order gives the order that is kept for the agent, its own or main's, and
	// whose it is (failover.md 8.1).
	Order(ctx context.Context, a fallback.AgentID, provider string) (ids []fallback.ProfileID, owner fallback.AgentID, found bool, err error)
	SetOrder(ctx context.Context, a fallback.AgentID, provider string, ids []fallback.ProfileID, d fallback.Deed) error
	Clear(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, d fallback.Deed) (was fallback.Usage, known bool, err error)
	Switch(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, off bool, d fallback.Deed) (changed, known bool, err error)
	// Note records what changed nothing by itself.
	Note(ctx context.Context, a fallback.AgentID, d fallback.Deed) error
	// Deeds gives the record about a profile, or all of it for "", newest first.
	Deeds(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, limit int) ([]fallback.Deed, error)
	// Pins gives the sessions that keep to each credential.
	Pins(ctx context.Context) (map[fallback.ProfileID][]fallback.Pinned, error)
}

// CredentialState is how a credential stands, in one word.
type CredentialState string

// The states.
const (
	CredentialUsable   CredentialState = "usable"
	CredentialPartly   CredentialState = "partly"   // rests for some models only
	CredentialResting  CredentialState = "resting"  // a cooldown over all models
	CredentialDisabled CredentialState = "disabled" // after billing or a final refusal
	CredentialBlocked  CredentialState = "blocked"  // until a subscription's reset
	CredentialOff      CredentialState = "off"      // switched off by hand
	CredentialUnlisted CredentialState = "unlisted" // an order is kept, and does not name it
	CredentialUseless  CredentialState = "useless"  // expired, or without its secret
)

// CredentialView is a credential as an operator sees it: all but its secret
// [IL-030]. The JSON names are stable.
type CredentialView struct {
	Profile  string                  `json:"profile"`
	Provider string                  `json:"provider"`
	Type     string                  `json:"type"`
	Account  string                  `json:"account,omitempty"`
	From     string                  `json:"from"` // "stored", "agent main", "config", or a variable
	State    CredentialState         `json:"state"`
	Reason   string                  `json:"reason,omitempty"`
	Until    time.Time               `json:"until,omitzero"` // when it can be used again; zero: now, or by hand alone
	Since    time.Time               `json:"since,omitzero"` // of off
	Windows  []CredentialWindow      `json:"windows,omitempty"`
	Place    int                     `json:"place,omitempty"` // in which it would be tried now; 0: not at all
	Next     bool                    `json:"next"`            // a new session begins with it
	Ordered  bool                    `json:"ordered"`         // the place is an order's, not a turn's
	LastUsed time.Time               `json:"lastUsed,omitzero"`
	Latest   bool                    `json:"latest,omitempty"`       // the last of its provider that answered
	Expires  time.Time               `json:"accessExpires,omitzero"` // of a token or a login's access token
	Renews   bool                    `json:"renews,omitempty"`
	Sessions []fallback.Pinned       `json:"sessions,omitempty"`
	Usage    fallback.UsageStats     `json:"usage"`
	counts   map[fallback.Reason]int // of failures
}

// CredentialWindow is one open window.
type CredentialWindow struct {
	Kind   string    `json:"kind"` // cooldown, disabled, blocked
	Model  string    `json:"model,omitempty"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
}

// ViewCredentials shows the credentials of one provider in the order in which
// they would be tried now; those that would not be stand behind.
func ViewCredentials(cfg *fallback.Config, provider string, profiles []fallback.Profile, usage map[fallback.ProfileID]fallback.Usage, pins map[fallback.ProfileID][]fallback.Pinned, now time.Time) []CredentialView {
	order, dropped := fallback.Order(cfg, provider, profiles, usage, now)
	place := map[fallback.ProfileID]int{}
	for i, p := range order {
		place[p.ID] = i + 1
	}
	useless := map[fallback.ProfileID]string{}
	for _, d := range dropped {
		useless[d.ID] = d.Why
	}
	var list []CredentialView
	var latest time.Time
	for _, p := range profiles {
		if p.Keyless {
			continue
		}
		u := usage[p.ID]
		if fallback.Bypasses(p.Provider) { // windows are neither made nor honoured (7.11)
			u = fallback.Usage{LastUsed: u.LastUsed, SwitchedOff: u.SwitchedOff}
		}
		v := viewCredential(p, u, now)
		v.Place, v.Sessions = place[p.ID], pins[p.ID]
		if at := v.Place - 1; at >= 0 {
			v.Ordered = order[at].Rank > 0
		}
		switch why := useless[p.ID]; {
		case v.State == CredentialOff:
		case why != "":
			v.State, v.Reason, v.Until = CredentialUseless, why, time.Time{}
		case v.Place == 0:
			v.State, v.Reason, v.Until = CredentialUnlisted, "", time.Time{}
		}
		if v.LastUsed.After(latest) {
			latest = v.LastUsed
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b CredentialView) int { return rankOf(a) - rankOf(b) })
	for i := range list {
		list[i].Latest = !latest.IsZero() && list[i].LastUsed.Equal(latest)
		list[i].Next = list[i].Place == 1 && (list[i].State == CredentialUsable || list[i].State == CredentialPartly)
	}
	return list
}

func rankOf(v CredentialView) int {
	if v.Place == 0 {
		return 1 << 20
	}
	return v.Place
}

// viewCredential shows one, its place apart.
func viewCredential(p fallback.Profile, u fallback.Usage, now time.Time) CredentialView {
	v := CredentialView{
		Profile: string(p.ID), Provider: p.Provider, Type: string(p.Type), Account: p.Account, From: p.Origin,
		State: CredentialUsable, LastUsed: u.LastUsed, Expires: p.Expires, Renews: p.Refresh, Usage: u.Stats(now), counts: u.Failures,
	}
	if v.From == "" {
		v.From = "stored"
	}
	add := func(kind, model string, w fallback.Window, state CredentialState) {
		if !w.Active(now) {
			return
		}
		v.Windows = append(v.Windows, CredentialWindow{kind, model, string(w.Reason), w.Until})
		if v.State == CredentialUsable || v.State == state && v.State != CredentialPartly {
			v.State, v.Reason = state, string(w.Reason)
		}
		if v.State != CredentialPartly && model == "" && w.Until.After(v.Until) {
			v.Until = w.Until
		}
	}
	add("disabled", "", u.Disabled, CredentialDisabled)
	add("blocked", "", u.Blocked, CredentialBlocked)
	add("cooldown", "", u.Whole.Window, CredentialResting)
	for _, model := range sortedScopes(u) {
		add("cooldown", model, u.Scopes[model].Window, CredentialPartly)
	}
	if v.State == CredentialPartly { // when the first of its models is free again
		for _, w := range v.Windows {
			if v.Until.IsZero() || w.Until.Before(v.Until) {
				v.Until = w.Until
			}
		}
	}
	if !u.SwitchedOff.IsZero() {
		v.State, v.Reason, v.Since, v.Until = CredentialOff, string(fallback.Operator), u.SwitchedOff, time.Time{}
	}
	return v
}

func sortedScopes(u fallback.Usage) (models []string) {
	for m := range u.Scopes {
		models = append(models, m)
	}
	slices.Sort(models)
	return models
}

// CredentialStory is one credential with what was done to it.
type CredentialStory struct {
	CredentialView
	// Order is the order that is kept for the agent, and OrderOf whose it is; ""
	// when none is kept.
	Order   []fallback.ProfileID `json:"order,omitempty"`
	OrderOf fallback.AgentID     `json:"orderOf,omitempty"`
	Deeds   []fallback.Deed      `json:"deeds,omitempty"` // newest first
}

// Credentials gives the view of all credentials that an agent has, by provider.
func Credentials(ctx context.Context, keys Keyring, cfg *fallback.Config, a fallback.AgentID, now time.Time) (list []CredentialView, err error) {
	providers, err := keys.Providers(ctx, a)
	if err != nil {
		return nil, err
	}
	for i, p := range providers { // aliases share one order [8.8]
		providers[i] = fallback.CredentialProviders(p)[0]
	}
	slices.Sort(providers)
	pins, err := keys.Pins(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Compact(providers) {
		profiles, err := keys.Profiles(ctx, a, p)
		if err != nil {
			return nil, err
		}
		usage, err := keys.Usage(ctx, a, p)
		if err != nil {
			return nil, err
		}
		list = append(list, ViewCredentials(cfg, p, profiles, usage, pins, now)...)
	}
	return list, nil
}

// OneCredential gives the story of one; found is false when the agent has none
// of that id. deeds is how many of them are told.
func OneCredential(ctx context.Context, keys Keyring, cfg *fallback.Config, a fallback.AgentID, p fallback.ProfileID, deeds int, now time.Time) (s CredentialStory, found bool, err error) {
	all, err := Credentials(ctx, keys, cfg, a, now)
	if err != nil {
		return s, false, err
	}
	at := slices.IndexFunc(all, func(v CredentialView) bool { return v.Profile == string(p) })
	if at < 0 {
		return s, false, nil
	}
	s.CredentialView = all[at]
	if s.Order, s.OrderOf, _, err = keys.Order(ctx, a, s.Provider); err != nil {
		return s, true, err
	}
	s.Deeds, err = keys.Deeds(ctx, a, p, deeds)
	return s, true, err
}
