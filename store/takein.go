package store

import (
	"context"
	"encoding/json"
	"fmt"

	"standin/fallback"
)

// Incoming is what an agent's older files hold (failover.md 21.C.3).
type Incoming struct {
	Credentials []Credential
	Usage       map[fallback.ProfileID]fallback.Usage // routing state of these credentials
	Order       map[string][]fallback.ProfileID       // profiles by provider
	Deed        fallback.Deed                         // who takes them in, when and from where
}

// TakeIn stores the credentials that the agent has not, in one transaction, and
// gives their ids. Stored ones win, whatever they hold (21.C.4). Each row is read
// back before the transaction ends: a caller who is told of no error may put the
// source away [IL-042]. Routing state comes along where none is stored and the
// credential is the one that it was written for, an order where none is kept.
// Each credential that came in has its record.
func (c *Credentials) TakeIn(ctx context.Context, a fallback.AgentID, in Incoming) (taken []fallback.ProfileID, err error) {
	for i, one := range in.Credentials {
		if one.Provider == "" {
			one.Provider = one.ID.Provider()
		}
		one.Provider = fallback.NormalProvider(one.Provider)
		if one.ID == "" || one.Provider == "" {
			return nil, fmt.Errorf("take in credentials of %s: one has no id such as openai:default", a)
		}
		if _, err := one.Profile(); err != nil {
			return nil, fmt.Errorf("take in credentials of %s: %w", a, err)
		}
		in.Credentials[i] = one
	}
	if len(in.Credentials) == 0 && len(in.Order) == 0 {
		return nil, nil // no file is made for nothing
	}
	f, err := c.agents.owned(ctx, a)
	if err != nil {
		return nil, err
	}
	err = f.writeDurably(ctx, "take in credentials of "+string(a), func(t *tx) error {
		taken = nil // a transaction may run again
		for _, one := range in.Credentials {
			added, err := t.takeIn(c.agents.vault, one)
			if err != nil {
				return err
			}
			if added {
				taken = append(taken, one.ID)
				d := in.Deed
				d.Profile, d.Provider, d.What = one.ID, one.Provider, fallback.DeedImport
				if err := record(t, d); err != nil {
					return err
				}
			}
			u, given := in.Usage[one.ID]
			if !given {
				continue
			}
			if err := t.takeInUsage(c.agents.vault, one, u); err != nil {
				return err
			}
		}
		for name, ids := range in.Order {
			if err := t.takeInOrder(name, ids); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// takeIn adds the credential unless one of its id is there, and reads it back.
func (t *tx) takeIn(v *vault, one Credential) (added bool, err error) {
	kept, err := v.seal(one.ID, one.Secret)
	if err != nil {
		return false, err
	}
	n, err := t.exec(`INSERT INTO credentials (profile, provider, type, secret) VALUES (?,?,?,?) ON CONFLICT (profile) DO NOTHING`,
		one.ID, one.Provider, one.Type, kept)
	if err != nil || n == 0 {
		return false, err
	}
	var is Credential
	found, err := t.row(`SELECT provider, type, secret FROM credentials WHERE profile = ?`, []any{one.ID}, &is.Provider, &is.Type, &kept)
	if err == nil && found {
		is.Secret, err = v.open(one.ID, kept)
	}
	switch {
	case err != nil:
		return false, err
	case !found || is.Provider != one.Provider || is.Type != one.Type || is.Secret.Reveal() != one.Secret.Reveal():
		return false, fmt.Errorf("credential %s reads otherwise than it was written: nothing was kept", one.ID)
	}
	return true, nil
}

// takeInUsage adds the state of a credential that the row holds, unless it has
// one: windows that another secret earned are not put on this one [IL-023].
func (t *tx) takeInUsage(v *vault, one Credential, u fallback.Usage) error {
	var kept string
	found, err := t.row(`SELECT secret FROM credentials WHERE profile = ?`, []any{one.ID}, &kept)
	if err != nil || !found {
		return err
	}
	if secret, err := v.open(one.ID, kept); err != nil || secret.Reveal() != one.Secret.Reveal() {
		return err
	}
	text, err := encodeUsage(u)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO usage (profile, provider, state) VALUES (?,?,?) ON CONFLICT (profile) DO NOTHING`, one.ID, one.Provider, text)
	return err
}

// takeInOrder adds an order (failover.md 8.1) unless the provider has one.
func (t *tx) takeInOrder(providerID string, ids []fallback.ProfileID) error {
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO orders (provider, profiles) VALUES (?,?) ON CONFLICT (provider) DO NOTHING`, orderKey(providerID), string(text))
	return err
}

// File is where the agent's credentials are, or would be.
func (c *Credentials) File(a fallback.AgentID) (path string, err error) { return c.agents.path(a) }
