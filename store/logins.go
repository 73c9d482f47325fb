package store

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
)

var _ auth.Store = (*Credentials)(nil)

// Login gives the OAuth login that the agent uses under the profile.
func (c *Credentials) Login(ctx context.Context, agent, profile string) (s auth.Stored, found bool, err error) {
	one, owner, found, err := c.Get(ctx, fallback.AgentID(agent), fallback.ProfileID(profile))
	if err != nil || !found || one.Type != fallback.OAuth {
		return auth.Stored{}, false, err
	}
	return auth.Stored{Owner: string(owner), Profile: profile, Provider: one.Provider, Secret: one.Secret}, true, nil
}

// Claim takes the right to renew a login. The row is read and written in one
// transaction, so of two that ask at once one has it. It is durable: what a
// process was about when it died is in it.
func (c *Credentials) Claim(ctx context.Context, s auth.Stored, want auth.Claim, now time.Time) (held auth.Claim, ok bool, err error) {
	f, err := c.agents.owned(ctx, fallback.AgentID(s.Owner))
	if err != nil {
		return held, false, err
	}
	err = f.writeDurably(ctx, "claim login "+s.Profile, func(t *tx) error {
		var until, after int64
		found, err := t.row(`SELECT holder, until, spent, after, code, said FROM renewals WHERE profile = ?`, []any{s.Profile},
			&held.Holder, &until, &held.Spent, &after, &held.Code, &held.Said)
		if err != nil {
			return err
		}
		held.Until, held.After = moment(until), moment(after)
		if found && held.Spent == want.Spent && (held.Until.After(now) || held.After.After(now)) {
			return nil
		}
		held, ok = want, true
		return t.putClaim(s.Profile, want)
	})
	return held, ok && err == nil, err
}

// Unclaim gives the holder's right back.
func (c *Credentials) Unclaim(ctx context.Context, s auth.Stored, holder string, after auth.Claim) error {
	f, err := c.agents.owned(ctx, fallback.AgentID(s.Owner))
	if err != nil {
		return err
	}
	return f.write(ctx, "give back login "+s.Profile, func(t *tx) error {
		n, err := t.exec(`DELETE FROM renewals WHERE profile = ? AND holder = ?`, s.Profile, holder)
		if err != nil || n == 0 || after == (auth.Claim{}) {
			return err
		}
		return t.putClaim(s.Profile, after)
	})
}

func (t *tx) putClaim(profile string, c auth.Claim) error {
	_, err := t.exec(`INSERT INTO renewals (profile, holder, until, spent, after, code, said) VALUES (?1,?2,?3,?4,?5,?6,?7)
		ON CONFLICT (profile) DO UPDATE SET holder=?2, until=?3, spent=?4, after=?5, code=?6, said=?7`,
		profile, c.Holder, millis(c.Until), c.Spent, millis(c.After), c.Code, c.Said)
	return err
}

// Swap stores the login's new secret if the stored one is still was. What the
// former token was refused for is over with it, in the same transaction.
func (c *Credentials) Swap(ctx context.Context, s auth.Stored, was, now provider.Key) (bool, error) {
	one := Credential{ID: fallback.ProfileID(s.Profile), Provider: s.Provider, Type: fallback.OAuth, Secret: now}
	return c.replace(ctx, fallback.AgentID(s.Owner), one, &was, func(t *tx, _, _ bool) error {
		u, err := readState(t, one.ID)
		if err != nil || reflect.DeepEqual(u, u.Renewed()) {
			return err
		}
		return writeState(t, one.ID, one.Provider, u.Renewed())
	})
}

// FromLogin is the stored form of a login that was just made.
func FromLogin(login auth.Credential) (Credential, error) {
	login.Provider = fallback.NormalProvider(login.Provider)
	id := fallback.ProfileID(login.ID())
	if login.Provider == "" || login.Access.Empty() {
		return Credential{}, fmt.Errorf("login %s has no provider or no access token", id)
	}
	return Credential{ID: id, Provider: login.Provider, Type: fallback.OAuth, Secret: login.Secret()}, nil
}
