package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// Credential is a stored profile [M16]. Secret is the credential's own JSON
// object, kept as it is given, unknown fields included: key for an api_key;
// token and expires for a token; access, refresh, expires, email, accountId …
// for oauth. Expires is in Unix milliseconds (failover.md 21.C.3).
type Credential struct {
	ID       fallback.ProfileID
	Provider string // "": the part of the id before the colon
	Type     fallback.CredentialType
	Secret   provider.Key // unprintable, as the keys in it are [I12]
}

// NewAPIKey makes the credential of an API key.
func NewAPIKey(id fallback.ProfileID, key string) Credential {
	secret, _ := json.Marshal(map[string]string{"key": key}) // strings always have a form in JSON
	return Credential{ID: id, Provider: id.Provider(), Type: fallback.APIKey, Secret: provider.NewKey(string(secret))}
}

// Profile is the credential as rotation sees it.
func (c Credential) Profile() (fallback.Profile, error) {
	var secret struct {
		Key, Token, Access, Refresh, Email, AccountID, DisplayName string
		Expires                                                    json.Number
	}
	if err := json.Unmarshal([]byte(c.Secret.Reveal()), &secret); err != nil {
		// The decoder's own words may quote the secret.
		return fallback.Profile{}, fmt.Errorf("credential %s is not the JSON object that it should be: write it again with standin auth", c.ID)
	}
	p := fallback.Profile{ID: c.ID, Provider: fallback.NormalProvider(c.Provider), Type: c.Type}
	switch c.Type {
	case fallback.APIKey:
		p.Key = provider.NewKey(secret.Key)
	case fallback.Token:
		p.Key = provider.NewKey(secret.Token)
	case fallback.OAuth:
		p.Key, p.Refresh = provider.NewKey(secret.Access), secret.Refresh != ""
	}
	if ms, err := secret.Expires.Float64(); err == nil && ms > 0 && c.Type != fallback.APIKey {
		p.Expires = time.UnixMilli(int64(ms)).UTC()
	}
	p.Account = firstOf(secret.Email, secret.AccountID, secret.DisplayName)
	return p, nil
}

// Credentials is the credentials of all agents with their routing state.
type Credentials struct {
	agents *agents
	close  func() error
	extra  []fallback.Profile
}

// Credentials gives the agents' credentials. extra are profiles that config
// names without storing them (a key by reference, a keyless local server);
// every agent has them, unless a stored profile has the same id.
func (d *DB) Credentials(extra []fallback.Profile) *Credentials {
	return &Credentials{agents: d.agents, extra: extra}
}

// OpenCredentials opens the credentials alone, for a command that adds or shows
// one while the daemon may be running: each change is one transaction, so the
// two do not get in each other's way.
func OpenCredentials(o Options) *Credentials {
	a := newAgents(o.Dir, false).under(o.Sealing)
	return &Credentials{agents: a, close: a.close}
}

// With adds profiles that config names without storing them, as for a DB.
func (c *Credentials) With(extra []fallback.Profile) *Credentials {
	c.extra = extra
	return c
}

// ReadCredentials is OpenCredentials for a command that only looks: it makes no
// file and changes none. extra are profiles that config names, as for a DB.
func ReadCredentials(o Options, extra []fallback.Profile) *Credentials {
	a := newAgents(o.Dir, true).under(o.Sealing)
	return &Credentials{agents: a, close: a.close, extra: extra}
}

// Close ends what OpenCredentials began; those of a DB end with it.
func (c *Credentials) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// ofProviders picks the rows of a provider's credentials, which may be stored
// under two names [M19].
const ofProviders = `WHERE provider IN (?, ?)`

// Profiles gives the credentials of the provider that the agent can use: its
// own, the main agent's that it does not have itself, then the extra ones.
func (c *Credentials) Profiles(ctx context.Context, a fallback.AgentID, providerID string) ([]fallback.Profile, error) {
	serving := fallback.CredentialProviders(providerID)
	var list []fallback.Profile
	seen := map[fallback.ProfileID]bool{}
	for _, owner := range owners(a) {
		stored, err := c.stored(ctx, owner, ofProviders, serving[0], serving[len(serving)-1])
		if err != nil {
			return nil, err
		}
		for _, one := range stored {
			if seen[one.ID] {
				continue
			}
			p, err := one.Profile()
			if err != nil {
				return nil, err
			}
			if owner != a && a != "" {
				p.Origin = "agent " + string(owner)
			}
			seen[one.ID], list = true, append(list, p)
		}
	}
	for _, p := range c.extra {
		if !seen[p.ID] && slices.Contains(serving, fallback.NormalProvider(p.Provider)) {
			seen[p.ID], list = true, append(list, p)
		}
	}
	return list, c.rank(ctx, a, providerID, list)
}

// List gives the agent's own credentials by id, without reading through.
func (c *Credentials) List(ctx context.Context, a fallback.AgentID) ([]Credential, error) {
	return c.stored(ctx, a, ``)
}

// Providers gives the providers of which the agent has stored credentials, its
// own and main's, by name.
func (c *Credentials) Providers(ctx context.Context, a fallback.AgentID) (names []string, err error) {
	for _, owner := range owners(a) {
		f, err := c.agents.existing(ctx, owner)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		err = f.each(ctx, `SELECT DISTINCT provider FROM credentials`, nil, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read credentials of %s: %w", owner, err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// IDs gives the profiles of the provider that are stored for the agent, its own
// and main's, without opening a secret: what a config needs to know before it
// can say which key opens them.
func (c *Credentials) IDs(ctx context.Context, a fallback.AgentID, providerID string) (ids []fallback.ProfileID, err error) {
	serving := fallback.CredentialProviders(providerID)
	for _, owner := range owners(a) {
		f, err := c.agents.existing(ctx, owner)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		err = f.each(ctx, `SELECT profile FROM credentials `+ofProviders+` ORDER BY profile`, []any{serving[0], serving[len(serving)-1]}, func(scan func(...any) error) error {
			var id fallback.ProfileID
			err := scan(&id)
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read credentials of %s: %w", owner, err)
		}
	}
	return ids, nil
}

// Check reads every secret of every agent, and the key that seals new ones: what
// cannot be opened fails each turn that needs it, so who starts wants to know it
// first.
func (c *Credentials) Check(ctx context.Context) error {
	ids, err := c.agents.named()
	if v := c.agents.vault; err == nil && v.On() {
		_, _, err = v.sealing()
	}
	if err != nil {
		return err
	}
	for _, a := range ids {
		_, readErr := c.List(ctx, a)
		err = errors.Join(err, readErr)
	}
	return err
}

// Get gives the credential that the agent uses under the id, and the agent that
// owns it; found is false when neither it nor the main agent has one.
func (c *Credentials) Get(ctx context.Context, a fallback.AgentID, p fallback.ProfileID) (one Credential, owner fallback.AgentID, found bool, err error) {
	for _, owner := range owners(a) {
		list, err := c.stored(ctx, owner, `WHERE profile = ?`, string(p))
		if err != nil || len(list) > 0 {
			if err != nil {
				return Credential{}, "", false, err
			}
			return list[0], owner, true, nil
		}
	}
	return Credential{}, "", false, nil
}

// PutCredential stores a credential of the agent, in place of one with the same
// id. It is on the disk when it returns. Another secret than before starts
// without windows and counts: what the former one was refused for is not its
// fault, and who has mended a key wants it used at once [IL-023].
func (c *Credentials) PutCredential(ctx context.Context, a fallback.AgentID, one Credential) error {
	_, err := c.replace(ctx, a, one, nil, nil)
	return err
}

// SwapCredential replaces the agent's credential if its secret is still was, and
// tells whether it did: of two that refresh the same token one wins, and the
// other reads what the winner stored.
func (c *Credentials) SwapCredential(ctx context.Context, a fallback.AgentID, was provider.Key, now Credential) (bool, error) {
	return c.replace(ctx, a, now, &was, nil)
}

// replace writes one; when was is given, only over that secret. with goes into
// the same transaction; it hears whether there was one, and with this secret.
func (c *Credentials) replace(ctx context.Context, a fallback.AgentID, one Credential, was *provider.Key, with func(t *tx, found, same bool) error) (replaced bool, err error) {
	if one.Provider == "" {
		one.Provider = one.ID.Provider()
	}
	one.Provider = fallback.NormalProvider(one.Provider)
	if one.ID == "" || one.Provider == "" {
		return false, errors.New("store credential: it needs an id such as openai:default")
	}
	if _, err := one.Profile(); err != nil {
		return false, fmt.Errorf("store credential: %w", err)
	}
	kept, err := c.agents.vault.seal(one.ID, one.Secret)
	if err != nil {
		return false, fmt.Errorf("store credential: %w", err)
	}
	f, err := c.agents.owned(ctx, a)
	if err != nil {
		return false, err
	}
	err = f.writeDurably(ctx, "store credential "+string(one.ID), func(t *tx) error {
		var secret string
		found, err := t.row(`SELECT secret FROM credentials WHERE profile = ?`, []any{one.ID}, &secret)
		if err != nil {
			return err
		}
		former, err := c.agents.vault.open(one.ID, secret)
		if err != nil && was != nil { // a row that does not open may be replaced, not renewed
			return err
		}
		same := found && err == nil && former.Reveal() == one.Secret.Reveal()
		switch {
		case was != nil && (!found || former.Reveal() != was.Reveal()):
			return nil
		case was == nil && !same:
			if err := startAfresh(t, one); err != nil {
				return err
			}
		}
		if with != nil {
			if err := with(t, found, same); err != nil {
				return err
			}
		}
		replaced = true
		_, err = t.exec(`INSERT INTO credentials (profile, provider, type, secret) VALUES (?1,?2,?3,?4)
			ON CONFLICT (profile) DO UPDATE SET provider=?2, type=?3, secret=?4`, one.ID, one.Provider, one.Type, kept)
		return err
	})
	return replaced && err == nil, err
}

// startAfresh forgets what a profile's former secret was refused for; that its
// operator has switched it off stays true.
func startAfresh(t *tx, one Credential) error {
	u, err := readState(t, one.ID)
	if err != nil {
		return err
	}
	if u.SwitchedOff.IsZero() {
		_, err = t.exec(`DELETE FROM usage WHERE profile = ?`, one.ID)
		return err
	}
	return writeState(t, one.ID, one.Provider, fallback.Usage{SwitchedOff: u.SwitchedOff})
}

// DeleteCredential removes the agent's own credential and its routing state;
// found is false when there was none.
func (c *Credentials) DeleteCredential(ctx context.Context, a fallback.AgentID, p fallback.ProfileID) (found bool, err error) {
	return c.remove(ctx, a, p, nil)
}

// remove deletes one; with goes into the same transaction when there was one.
func (c *Credentials) remove(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, with func(*tx) error) (found bool, err error) {
	f, err := c.agents.existing(ctx, a)
	if f == nil || err != nil {
		return false, err
	}
	err = f.writeDurably(ctx, "delete credential "+string(p), func(t *tx) error {
		n, err := t.exec(`DELETE FROM credentials WHERE profile = ?`, p)
		if err != nil {
			return err
		}
		if found = n > 0; found && with != nil {
			if err := with(t); err != nil {
				return err
			}
		}
		_, err = t.exec(`DELETE FROM usage WHERE profile = ?`, p)
		return err
	})
	return found, err
}

// Agents gives the agents that have a file of their own, by name.
func (c *Credentials) Agents() ([]fallback.AgentID, error) { return c.agents.named() }

// stored reads the agent's own credentials.
func (c *Credentials) stored(ctx context.Context, a fallback.AgentID, where string, args ...any) ([]Credential, error) {
	f, err := c.agents.existing(ctx, a)
	if f == nil || err != nil {
		return nil, err
	}
	var list []Credential
	err = f.each(ctx, `SELECT profile, provider, type, secret FROM credentials `+where+` ORDER BY profile`, args, func(scan func(...any) error) error {
		var one Credential
		var secret string
		if err := scan(&one.ID, &one.Provider, &one.Type, &secret); err != nil {
			return err
		}
		var err error
		one.Secret, err = c.agents.vault.open(one.ID, secret)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read credentials of %s: %w", a, err)
	}
	return list, nil
}

// owners are the agents whose credentials a may use, nearest first.
func owners(a fallback.AgentID) []fallback.AgentID {
	if a == MainAgent || a == "" {
		return []fallback.AgentID{MainAgent}
	}
	return []fallback.AgentID{a, MainAgent}
}

func firstOf(values ...string) string {
	i := slices.IndexFunc(values, func(v string) bool { return v != "" })
	if i < 0 {
		return ""
	}
	return values[i]
}
