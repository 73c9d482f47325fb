package store

import (
	"context"
	"fmt"

	"standin/fallback"
)

// Incoming is what an agent's older files hold (failover.md 21.C.3).
type Incoming struct {
	Credentials []Credential
	Usage       map[fallback.ProfileID]fallback.Usage // routing state of these credentials
}

// TakeIn stores the credentials that the agent has not, in one transaction, and
// gives their ids. Stored ones win, whatever they hold (21.C.4). Each row is read
// back before the transaction ends: a caller who is told of no error may put the
// source away [IL-042]. Routing state comes along where none is stored and the
// credential is the one that it was written for.
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
	if len(in.Credentials) == 0 {
		return nil, nil // no file is made for nothing
	}
	f, err := c.agents.owned(ctx, a)
	if err != nil {
		return nil, err
	}
	err = f.writeDurably(ctx, "take in credentials of "+string(a), func(t *tx) error {
		taken = nil // a transaction may run again
		for _, one := range in.Credentials {
			added, err := t.takeIn(one)
			if err != nil {
				return err
			}
			if added {
				taken = append(taken, one.ID)
			}
			u, given := in.Usage[one.ID]
			if !given {
				continue
			}
			if err := t.takeInUsage(one, u); err != nil {
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
func (t *tx) takeIn(one Credential) (added bool, err error) {
	n, err := t.exec(`INSERT INTO credentials (profile, provider, type, secret) VALUES (?,?,?,?) ON CONFLICT (profile) DO NOTHING`,
		one.ID, one.Provider, one.Type, one.Secret.Reveal())
	if err != nil || n == 0 {
		return false, err
	}
	var is Credential
	var secret string
	found, err := t.row(`SELECT provider, type, secret FROM credentials WHERE profile = ?`, []any{one.ID}, &is.Provider, &is.Type, &secret)
	switch {
	case err != nil:
		return false, err
	case !found || is.Provider != one.Provider || is.Type != one.Type || secret != one.Secret.Reveal():
		return false, fmt.Errorf("credential %s reads otherwise than it was written: nothing was kept", one.ID)
	}
	return true, nil
}

// takeInUsage adds the state of a credential that the row holds, unless it has
// one: windows that another secret earned are not put on this one [IL-023].
func (t *tx) takeInUsage(one Credential, u fallback.Usage) error {
	var secret string
	found, err := t.row(`SELECT secret FROM credentials WHERE profile = ?`, []any{one.ID}, &secret)
	if err != nil || !found || secret != one.Secret.Reveal() {
		return err
	}
	text, err := encodeUsage(u)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO usage (profile, provider, state) VALUES (?,?,?) ON CONFLICT (profile) DO NOTHING`, one.ID, one.Provider, text)
	return err
}
