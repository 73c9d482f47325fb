package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"standin/fallback"
)

// What people do to credentials by hand. Each change is one transaction with
// the record of who made it, in the file of the agent whose credential it is: a
// change without its record, or the other way round, does not exist. A running
// daemon reads states and orders for each call, so the very next turn goes by
// the change; its own writes start from the row as it then is, so they do not
// take it back.

// Switch switches a profile off, so that nobody uses it, or on again. changed is
// false when it was so already; then nothing is recorded. known is false for a
// profile that neither the store nor the config has.
func (c *Credentials) Switch(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, off bool, d fallback.Deed) (changed, known bool, err error) {
	d.What = fallback.DeedEnable
	if off {
		d.What = fallback.DeedDisable
	}
	known, err = c.alter(ctx, a, p, d, func(u fallback.Usage) (fallback.Usage, bool) {
		changed = u.SwitchedOff.IsZero() == off
		return u.Switched(off, d.At), changed
	})
	return changed, known, err
}

// Clear ends the profile's windows and forgets its counts [IL-094]. was is the
// state before.
func (c *Credentials) Clear(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, d fallback.Deed) (was fallback.Usage, known bool, err error) {
	d.What = fallback.DeedClear
	known, err = c.alter(ctx, a, p, d, func(u fallback.Usage) (fallback.Usage, bool) {
		was = u
		return u.Clear(d.At), true
	})
	return was, known, err
}

// alter changes a profile's state and records it, in one transaction.
func (c *Credentials) alter(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, d fallback.Deed, change func(fallback.Usage) (fallback.Usage, bool)) (known bool, err error) {
	at, err := c.whose(ctx, a, p)
	if err != nil || !at.known {
		return false, err
	}
	f, err := c.agents.owned(ctx, at.owner)
	if err != nil {
		return true, err
	}
	d.Profile, d.Provider = p, at.provider
	return true, f.writeDurably(ctx, string(d.What)+" "+string(p), func(t *tx) error {
		was, err := readState(t, p)
		if err != nil {
			return err
		}
		now, changed := change(was)
		if !changed {
			return nil
		}
		if err := writeState(t, p, at.provider, now); err != nil {
			return err
		}
		return record(t, d)
	})
}

// AddCredential is PutCredential by a person's hand: it tells whether there was
// one with another secret before, and leaves its record.
func (c *Credentials) AddCredential(ctx context.Context, a fallback.AgentID, one Credential, d fallback.Deed) (replaced bool, err error) {
	d.Profile, d.Provider = one.ID, fallback.NormalProvider(firstOf(one.Provider, one.ID.Provider()))
	if d.What == "" {
		d.What = fallback.DeedAdd
	}
	_, err = c.replace(ctx, a, one, nil, func(t *tx, found, same bool) error {
		replaced = found
		if found && d.What == fallback.DeedAdd {
			d.What = fallback.DeedReplace
		}
		if found && !same { // calls with the former secret that are still under way say nothing of this one
			u, err := readState(t, one.ID)
			if err != nil {
				return err
			}
			if err := writeState(t, one.ID, d.Provider, u.Clear(d.At)); err != nil {
				return err
			}
		}
		return record(t, d)
	})
	return replaced, err
}

// RemoveCredential is DeleteCredential by a person's hand, with its record.
func (c *Credentials) RemoveCredential(ctx context.Context, a fallback.AgentID, p fallback.ProfileID, d fallback.Deed) (found bool, err error) {
	d.Profile, d.Provider, d.What = p, p.Provider(), fallback.DeedRemove
	return c.remove(ctx, a, p, func(t *tx) error { return record(t, d) })
}

// SetOrder keeps the agent's order of a provider's profiles (failover.md 8.1);
// nil forgets it. The provider's aliases share one order [8.8].
func (c *Credentials) SetOrder(ctx context.Context, a fallback.AgentID, providerID string, ids []fallback.ProfileID, d fallback.Deed) error {
	d.Provider = orderKey(providerID)
	d.What = fallback.DeedOrder
	if ids == nil {
		d.What = fallback.DeedClearOrder
	}
	f, err := c.agents.owned(ctx, owners(a)[0])
	if err != nil {
		return err
	}
	return f.writeDurably(ctx, "order of "+d.Provider, func(t *tx) error {
		n, err := t.exec(`DELETE FROM orders WHERE provider = ?`, d.Provider)
		if err != nil || ids == nil && n == 0 {
			return err
		}
		if ids != nil {
			text, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			if _, err := t.exec(`INSERT INTO orders (provider, profiles) VALUES (?,?)`, d.Provider, string(text)); err != nil {
				return err
			}
		}
		return record(t, d)
	})
}

// Order gives the order that is kept for the agent, its own or main's, and whose
// it is; none: found is false.
func (c *Credentials) Order(ctx context.Context, a fallback.AgentID, providerID string) (ids []fallback.ProfileID, owner fallback.AgentID, found bool, err error) {
	for _, owner := range owners(a) {
		f, err := c.agents.existing(ctx, owner)
		if err != nil {
			return nil, "", false, err
		}
		if f == nil {
			continue
		}
		var text string
		found, err := f.row(ctx, `SELECT profiles FROM orders WHERE provider = ?`, []any{orderKey(providerID)}, &text)
		if err == nil && found {
			err = json.Unmarshal([]byte(text), &ids)
		}
		if err != nil || found {
			return ids, owner, found, err
		}
	}
	return nil, "", false, nil
}

// orderKey is the one name under which a provider's order is kept.
func orderKey(providerID string) string { return fallback.CredentialProviders(providerID)[0] }

// rank gives the profiles their places in the order that is kept.
func (c *Credentials) rank(ctx context.Context, a fallback.AgentID, providerID string, list []fallback.Profile) error {
	ids, _, found, err := c.Order(ctx, a, providerID)
	if err != nil || !found {
		return err
	}
	for i := range list {
		list[i].Rank = slices.Index(ids, list[i].ID) + 1
	}
	return nil
}

// Note records what changed nothing here, such as a probe.
func (c *Credentials) Note(ctx context.Context, a fallback.AgentID, d fallback.Deed) error {
	at, err := c.whose(ctx, a, d.Profile)
	if err != nil {
		return err
	}
	f, err := c.agents.owned(ctx, at.owner)
	if err != nil {
		return err
	}
	if d.Provider == "" {
		d.Provider = at.provider
	}
	return f.write(ctx, "record "+string(d.What), func(t *tx) error { return record(t, d) })
}

// DeedFilter picks deeds; zero fields pick all.
type DeedFilter struct {
	Profile  fallback.ProfileID
	Provider string // and its aliases; with Profile, what concerns the whole provider is picked too
	Limit    int    // at most so many; 0: 20
}

// Deeds gives what was done by hand to the credentials that the agent uses, its
// own and main's, newest first.
func (c *Credentials) Deeds(ctx context.Context, a fallback.AgentID, want DeedFilter) (list []fallback.Deed, err error) {
	query, args := `SELECT at, profile, provider, what, who, via, detail FROM acts WHERE TRUE`, []any{}
	switch names := fallback.CredentialProviders(want.Provider); {
	case want.Profile != "" && want.Provider != "":
		query, args = query+` AND (profile = ? OR profile = '' AND provider IN ('', ?))`, append(args, string(want.Profile), names[0])
	case want.Profile != "":
		query, args = query+` AND profile = ?`, append(args, string(want.Profile))
	case want.Provider != "":
		query, args = query+` AND provider IN (?, ?)`, append(args, names[0], names[len(names)-1])
	}
	if want.Limit <= 0 {
		want.Limit = 20
	}
	for _, owner := range owners(a) {
		f, err := c.agents.existing(ctx, owner)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		err = f.each(ctx, query+` ORDER BY id DESC LIMIT ?`, append(slices.Clone(args), want.Limit), func(scan func(...any) error) error {
			var d fallback.Deed
			var at int64
			err := scan(&at, &d.Profile, &d.Provider, &d.What, &d.Who, &d.Via, &d.Detail)
			d.At = moment(at)
			list = append(list, d)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read what was done to credentials of %s: %w", owner, err)
		}
	}
	slices.SortStableFunc(list, func(x, y fallback.Deed) int { return y.At.Compare(x.At) })
	return list[:min(len(list), want.Limit)], nil
}

// actsKept bounds the record of one agent: years of a busy operator.
const actsKept = 10_000

func record(t *tx, d fallback.Deed) error {
	if _, err := t.exec(`INSERT INTO acts (at, profile, provider, what, who, via, detail) VALUES (?,?,?,?,?,?,?)`,
		millis(d.At), d.Profile, d.Provider, d.What, d.Who, d.Via, d.Detail); err != nil {
		return err
	}
	_, err := t.exec(`DELETE FROM acts WHERE id <= (SELECT max(id) FROM acts) - ?`, actsKept)
	return err
}

// belongs says whose a profile is: the agent in whose file its state is kept.
type belongs struct {
	owner    fallback.AgentID
	provider string
	known    bool
}

// whose finds the profile that the agent uses under the id. Profiles that config
// names alone, and such as nobody has, count as the main agent's.
func (c *Credentials) whose(ctx context.Context, a fallback.AgentID, p fallback.ProfileID) (belongs, error) {
	at := belongs{owner: MainAgent, provider: p.Provider()}
	for _, owner := range owners(a) {
		f, err := c.agents.existing(ctx, owner)
		if err != nil {
			return at, err
		}
		if f == nil {
			continue
		}
		found, err := f.row(ctx, `SELECT provider FROM credentials WHERE profile = ?`, []any{string(p)}, &at.provider)
		if err != nil || found {
			at.owner, at.known = owner, found
			return at, err
		}
	}
	if extra := c.named(p); extra != nil {
		at.provider, at.known = fallback.NormalProvider(extra.Provider), true
	}
	return at, nil
}
