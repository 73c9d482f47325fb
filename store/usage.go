package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"standin/fallback"
)

// Usage gives the routing state of the provider's profiles. The state of a
// profile lives beside its credential: an agent that reads a credential through
// to the main agent shares its windows, since it is one key at the vendor.
// Profiles that config names alone count as the main agent's.
func (c *Credentials) Usage(ctx context.Context, a fallback.AgentID, providerID string) (map[fallback.ProfileID]fallback.Usage, error) {
	serving := fallback.CredentialProviders(providerID)
	rows := []any{serving[0], serving[len(serving)-1]}
	all, own := map[fallback.ProfileID]fallback.Usage{}, map[fallback.ProfileID]bool{}
	near := owners(a)[0]
	if near != MainAgent {
		mine, err := c.stored(ctx, near, ofProviders, rows...)
		if err != nil {
			return nil, err
		}
		for _, one := range mine {
			own[one.ID] = true
		}
	}
	for _, owner := range owners(a) {
		states, err := c.states(ctx, owner, ofProviders, rows...)
		if err != nil {
			return nil, err
		}
		for p, u := range states {
			if (owner == near && near != MainAgent) == own[p] {
				all[p] = u
			}
		}
	}
	return all, nil
}

// States gives the routing state of all profiles that the agent's own file
// holds, for status and export.
func (c *Credentials) States(ctx context.Context, a fallback.AgentID) (map[fallback.ProfileID]fallback.Usage, error) {
	return c.states(ctx, a, ``)
}

// Update replaces one profile's state by change(state) in one transaction and
// gives the state before and after. change may run again and must not block.
func (c *Credentials) Update(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, change func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	at, err := c.whose(ctx, a, p)
	if err != nil {
		return was, now, err
	}
	f, err := c.agents.owned(ctx, at.owner)
	if err != nil {
		return was, now, err
	}
	err = f.write(ctx, "update state of "+string(p), func(t *tx) error {
		if was, err = readState(t, p); err != nil {
			return err
		}
		now = change(was)
		return writeState(t, p, at.provider, now)
	})
	return was, now, err
}

// readState reads a profile's state inside a transaction; one without a row is
// fresh.
func readState(t *tx, p fallback.ProfileID) (u fallback.Usage, err error) {
	var text string
	var cleared int64
	found, err := t.row(`SELECT state, cleared FROM usage WHERE profile = ?`, []any{p}, &text, &cleared)
	if err != nil || !found {
		return u, err
	}
	u, err = decodeUsage(text)
	u.Cleared = moment(cleared)
	return u, err
}

// writeState replaces a profile's state.
func writeState(t *tx, p fallback.ProfileID, providerID string, u fallback.Usage) error {
	text, err := encodeUsage(u)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO usage (profile, provider, state, cleared) VALUES (?1,?2,?3,?4)
		ON CONFLICT (profile) DO UPDATE SET provider=?2, state=?3, cleared=?4`, p, providerID, text, millis(u.Cleared))
	return err
}

func (c *Credentials) named(p fallback.ProfileID) *fallback.Profile {
	for i := range c.extra {
		if c.extra[i].ID == p {
			return &c.extra[i]
		}
	}
	return nil
}

func (c *Credentials) states(ctx context.Context, a fallback.AgentID, where string, args ...any) (map[fallback.ProfileID]fallback.Usage, error) {
	all := map[fallback.ProfileID]fallback.Usage{}
	f, err := c.agents.existing(ctx, a)
	if f == nil || err != nil {
		return all, err
	}
	err = f.each(ctx, `SELECT profile, state FROM usage `+where, args, func(scan func(...any) error) error {
		var p fallback.ProfileID
		var text string
		if err := scan(&p, &text); err != nil {
			return err
		}
		u, err := decodeUsage(text)
		all[p] = u
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read routing state of %s: %w", a, err)
	}
	return all, nil
}

// encodeUsage keeps a state under the rule book's own names, the one encoding
// of it; the zero time keeps windows that have passed too.
func encodeUsage(u fallback.Usage) (string, error) {
	text, err := json.Marshal(u.Stats(time.Time{}))
	return string(text), err
}

func decodeUsage(text string) (fallback.Usage, error) {
	var s fallback.UsageStats
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return fallback.Usage{}, fmt.Errorf("routing state: %w", err)
	}
	return s.Usage(), nil
}
