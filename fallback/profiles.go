package fallback

import (
	"cmp"
	"slices"
	"time"

	"standin/fallback/provider"
)

// CredentialType is the kind of a stored credential [M16].
type CredentialType string

// The credential types, in the order in which rotation prefers them.
const (
	OAuth  CredentialType = "oauth"
	Token  CredentialType = "token"
	APIKey CredentialType = "api_key"
)

// Profile is a credential as rotation sees it.
type Profile struct {
	ID       ProfileID
	Provider string // normalised
	Type     CredentialType
	Key      provider.Key // api key or access token
	Expires  time.Time    // of a token or access token; zero: never
	Refresh  bool         // an OAuth credential that can renew itself
	Account  string       // e-mail or account id, for people
	// Origin is where it comes from, for people: "" for a stored one, "config", or
	// a variable such as "$OPENAI_API_KEY".
	Origin string
	// Keyless marks the stand-in profile of a local server that wants no key.
	Keyless bool
	// Rank is the 1-based place in an explicit order, 0 for round robin. A
	// store sets it from the order it keeps per agent (8.1); Order sets it from
	// auth.order, so that a session's pin yields to a better place [M19].
	Rank int
}

// Ineligible is a profile that an order names and that cannot be used.
type Ineligible struct {
	ID  ProfileID
	Why string // one of the causes below
}

// The causes of ineligibility (failover.md 8.6).
const (
	ProfileMissing    = "profile_missing"
	ProviderMismatch  = "provider_mismatch"
	ModeMismatch      = "mode_mismatch"
	MissingCredential = "missing_credential"
	InvalidExpires    = "invalid_expires"
	Expired           = "expired"
	// SwitchedOff is ours: the operator does not want it used.
	SwitchedOff = string(Operator)
)

// Order gives the profiles of a provider in the order in which they are tried,
// and those that were named but are no use. The list is the first of: the order
// stored for the agent, auth.order, auth.profiles, all stored profiles [M17].
// The first two are used as written, the others go round: by type, then the
// longest unused first. Either way profiles that cannot be used now stand at
// the end, by soonest expiry (failover.md 8). profiles is not changed.
func Order(cfg *Config, providerID string, profiles []Profile, usage map[ProfileID]Usage, now time.Time) (order []Profile, dropped []Ineligible) {
	id := authProvider(providerID)
	list, explicit := listed(cfg, id, profiles)
	entries := make([]entry, 0, len(list))
	for _, p := range list {
		why := ineligible(cfg, id, p, now)
		if why == "" && !usage[p.ID].SwitchedOff.IsZero() {
			why = SwitchedOff
		}
		if why != "" {
			dropped = append(dropped, Ineligible{p.ID, why})
			continue
		}
		e := place(p, usage, now)
		e.at = len(entries) + 1
		if explicit {
			e.rank = e.at
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, entry.compare)
	order = make([]Profile, len(entries))
	for i, e := range entries {
		order[i] = *e.profile
		order[i].Rank = e.rank
	}
	return order, dropped
}

// entry is a profile with what its place depends on. Times are numbers, which
// compare faster than times do.
type entry struct {
	profile *Profile
	until   int64 // the end of its windows, whatever their scope (8.5); 0: usable
	rank    int   // under an explicit order
	tier    int
	used    int64 // 0: never
	at      int   // place in the list
}

func place(p *Profile, usage map[ProfileID]Usage, now time.Time) entry {
	e := entry{profile: p, tier: tier(p.Type)}
	u, ok := usage[p.ID]
	if !ok {
		return e
	}
	if !u.LastUsed.IsZero() {
		e.used = u.LastUsed.UnixNano()
	}
	if w, blocked := u.blocking("", now); blocked && !Bypasses(p.Provider) {
		e.until = w.Until.UnixNano()
	}
	return e
}

// compare orders entries by 8.2 and 8.3: usable ones by rank or else by type and
// last use, the others after them by soonest end, equal ones as listed.
func (e entry) compare(f entry) int {
	if c := cmp.Compare(e.until, f.until); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(e.rank, f.rank), cmp.Compare(e.tier, f.tier), cmp.Compare(e.used, f.used), cmp.Compare(e.at, f.at))
}

// tier is the place of a type: OAuth, token, API key, others [M17, 8.3].
func tier(t CredentialType) int {
	switch t {
	case OAuth:
		return 0
	case Token:
		return 1
	case APIKey:
		return 2
	}
	return 3
}

// listed is the list of 8.1, without duplicates (8.5). What is named but not
// stored has an ID and nothing else.
func listed(cfg *Config, id string, profiles []Profile) (list []*Profile, explicit bool) {
	own, ranked := make([]*Profile, 0, len(profiles)), false
	for i := range profiles {
		if p := &profiles[i]; authProvider(p.Provider) == id {
			own = append(own, p)
			ranked = ranked || p.Rank > 0
		}
	}
	if ranked { // the order stored for the agent
		own = slices.DeleteFunc(own, func(p *Profile) bool { return p.Rank <= 0 })
		slices.SortStableFunc(own, func(a, b *Profile) int { return cmp.Compare(a.Rank, b.Rank) })
		return own, true
	}
	if ids, ok := cfg.order(id, own); ok {
		return find(profiles, ids), true // an empty one means no profiles at all (8.2)
	}
	named := cfg.named(id)
	for _, p := range own { // in the stored order: a map has none
		if _, ok := slices.BinarySearch(named, p.ID); ok {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return own, false // nothing configured, or all of it missing (8.7)
	}
	for _, p := range find(profiles, named) {
		if !slices.Contains(list, p) {
			list = append(list, p) // missing, or another provider's
		}
	}
	return list, false
}

// find gives the profiles of the ids, each once, in their order.
func find(profiles []Profile, ids []ProfileID) []*Profile {
	stored := make(map[ProfileID]*Profile, len(profiles))
	for i := range profiles {
		stored[profiles[i].ID] = &profiles[i]
	}
	found := make([]*Profile, 0, len(ids))
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		p := stored[id]
		if p == nil {
			p = &Profile{ID: id}
		}
		found = append(found, p)
	}
	return found
}

// order is auth.order of a provider. Keys are compared normalised; the order of
// the alias openai-codex comes after openai's own, and stands before the native
// profiles when openai has none (8.1, 8.8).
func (c *Config) order(id string, own []*Profile) (ids []ProfileID, ok bool) {
	native, alias := false, false
	var behind []ProfileID
	for key, list := range c.Order {
		switch {
		case NormalProvider(key) == id:
			ids, native = append(ids, list...), true
		case authProvider(key) == id:
			behind, alias = append(behind, list...), true
		}
	}
	if alias && !native {
		for _, p := range own {
			behind = append(behind, p.ID)
		}
	}
	return append(ids, behind...), native || alias
}

// named are the ids of auth.profiles that belong to a provider, sorted.
func (c *Config) named(id string) []ProfileID {
	var ids []ProfileID
	for pid, meta := range c.Profiles {
		if metaProvider(pid, meta) == id {
			ids = append(ids, pid)
		}
	}
	slices.Sort(ids)
	return ids
}

func metaProvider(pid ProfileID, meta ProfileMeta) string {
	if meta.Provider == "" {
		return authProvider(pid.Provider())
	}
	return authProvider(meta.Provider)
}

// authProvider is the provider whose credentials an id uses: a Codex
// subscription and an API key of OpenAI stand in one order [M19, 8.8].
func authProvider(id string) string {
	id = NormalProvider(id)
	if id == "openai-codex" {
		return "openai"
	}
	return id
}

// CredentialProviders are the providers whose stored credentials serve a
// provider: its own, and for OpenAI and its Codex subscription each other's
// [M19, 8.8].
func CredentialProviders(id string) []string {
	if id = NormalProvider(id); authProvider(id) == "openai" {
		return []string{"openai", "openai-codex"}
	}
	return []string{id}
}

// serves tells whether a profile with this id is a credential for the provider
// (9.7, 9.9).
func (p ProfileID) serves(providerID string) bool {
	return authProvider(p.Provider()) == authProvider(providerID)
}

// ineligible says why a profile cannot be used at all, "" when it can (8.6).
func ineligible(cfg *Config, id string, p *Profile, now time.Time) string {
	meta, named := cfg.Profiles[p.ID]
	switch renews := p.Type == OAuth && p.Refresh; {
	case p.Provider == "" && p.Type == "":
		return ProfileMissing
	case authProvider(p.Provider) != id, named && metaProvider(p.ID, meta) != id:
		return ProviderMismatch
	case p.Keyless:
		return ""
	case named && meta.Mode != "" && meta.Mode != p.Type && (meta.Mode != OAuth || p.Type != Token):
		return ModeMismatch // configured oauth accepts a stored token
	case renews:
		return ""
	case p.Key.Empty():
		return MissingCredential
	case p.Expires.IsZero():
		return ""
	case p.Expires.UnixMilli() <= 0:
		return InvalidExpires
	case !now.Before(p.Expires):
		return Expired
	}
	return ""
}
