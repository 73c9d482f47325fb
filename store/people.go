package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
)

const pairingColumns = `channel, account, user_id, user_name, code, asked, expires, approved, owner, conversation`

// Known tells whether a sender was approved for direct chats with the account,
// and whether they became the owner by it [P2].
func (d *DB) Known(ctx context.Context, to channels.Address, user string) (k policy.Known, err error) {
	var approved int64
	_, err = d.main.row(ctx, `SELECT approved, owner FROM pairings WHERE channel = ? AND account = ? AND user_id = ?`,
		[]any{to.Channel, to.Account, user}, &approved, &k.Owner)
	k.Paired = approved > 0
	if err != nil {
		return policy.Known{}, fmt.Errorf("look up %s on %s: %w", user, to.Channel, err)
	}
	return k, nil
}

// Message finds what a session has read under the platform's id, or posted. A
// message that was turned away belongs to none and is not found.
func (d *DB) Message(ctx context.Context, to channels.Address, id string) (m bot.KnownMessage, found bool, err error) {
	// A message that an answer moves into a thread of its own is kept under that
	// thread's id, which is the message's (Discord).
	for _, conversation := range []string{to.Conversation, id} {
		found, err = d.main.row(ctx, `SELECT session, user_id, user_name, thread FROM inbox
				WHERE channel = ? AND account = ? AND conversation = ? AND message_id = ? AND session <> ''`,
			[]any{to.Channel, to.Account, conversation, id}, &m.Session, &m.From.ID, &m.From.Name, &m.Thread)
		if found || err != nil {
			return m, found, err
		}
	}
	m.Own, err = d.main.row(ctx, `SELECT thread, kind, coalesce((SELECT session FROM inbox WHERE inbox.turn = outbox.turn AND turn <> '' LIMIT 1), '')
			FROM outbox WHERE message_id = ? AND message_id <> '' AND channel = ? AND account = ? AND conversation = ?`,
		[]any{id, to.Channel, to.Account, to.Conversation}, &m.Thread, &m.Kind, &m.Session)
	return m, m.Own, err
}

// Overheard gives the last lines of the place, or with whole of all threads of
// its conversation, that no turn has taken up, oldest first, at most limit, and
// the highest of their row ids.
func (d *DB) Overheard(ctx context.Context, to channels.Address, whole bool, limit int) (lines []policy.Line, upTo int64, err error) {
	if limit <= 0 {
		return nil, 0, nil
	}
	err = d.main.each(ctx, `SELECT id, user_id, user_name, text, sent FROM inbox
			WHERE channel = ?1 AND account = ?2 AND conversation = ?3 AND (?4 OR thread = ?5) AND overheard = 1 ORDER BY id DESC LIMIT ?6`,
		[]any{to.Channel, to.Account, to.Conversation, whole, to.Thread, limit}, func(scan func(...any) error) error {
			var id, sent int64
			var user, name string
			var l policy.Line
			err := scan(&id, &user, &name, &l.Text, &sent)
			if l.Who = name; name == "" {
				l.Who = user
			}
			l.At = moment(sent)
			lines, upTo = append(lines, l), max(upTo, id)
			return err
		})
	if err != nil {
		return nil, 0, fmt.Errorf("read what was said in %s: %w", to.Conversation, err)
	}
	slices.Reverse(lines)
	return lines, upTo, nil
}

// addPairing writes a person's request, unless they have one that can still be
// approved, were approved, or too many wait for the account [P1].
func (t *tx) addPairing(p bot.Pairing) (asked bool, err error) {
	now := millis(p.Asked)
	if _, err := t.exec(`DELETE FROM pairings WHERE channel = ? AND account = ? AND approved = 0 AND expires <= ?`, p.Channel, p.Account, now); err != nil {
		return false, err
	}
	var waiting int
	if _, err := t.row(`SELECT count(*) FROM pairings WHERE channel = ? AND account = ? AND approved = 0`, []any{p.Channel, p.Account}, &waiting); err != nil {
		return false, err
	}
	if waiting >= policy.PairingMost {
		return false, nil
	}
	n, err := t.exec(`INSERT INTO pairings (channel, account, user_id, user_name, code, asked, expires, conversation) VALUES (?,?,?,?,?,?,?,?)
			ON CONFLICT (channel, account, user_id) DO NOTHING`, p.Channel, p.Account, p.User, p.Name, p.Code, now, millis(p.Expires), p.Conversation)
	return n > 0, err
}

// Pairings lists the requests that can be approved at now and the people who
// were approved, by channel, account and time of asking.
func (d *DB) Pairings(ctx context.Context, now time.Time) (list []bot.Pairing, err error) {
	err = d.main.each(ctx, `SELECT `+pairingColumns+` FROM pairings WHERE approved > 0 OR expires > ? ORDER BY channel, account, asked, user_id`,
		[]any{millis(now)}, func(scan func(...any) error) error {
			var row pairingRow
			err := scan(row.dest()...)
			list = append(list, row.pairing())
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("list pairings: %w", err)
	}
	return list, nil
}

// Approve lets the person in who was given the code on the channel. With
// firstOwns the first who is ever approved becomes the owner [P2]: give it when
// config names none (commands.ownerAllowFrom). The person is owed a word of it,
// which the daemon posts once it looks (Bot.Nudge). A code that nobody waits with
// gives bot.ErrNoPairing.
func (d *DB) Approve(ctx context.Context, channel, code string, now time.Time, firstOwns bool) (p bot.Pairing, err error) {
	err = d.main.write(ctx, "approve pairing", func(t *tx) error {
		var row pairingRow
		if row, err = t.waiting(channel, code, now); err != nil {
			return err
		}
		owns := false
		if firstOwns {
			found, err := t.row(`SELECT 1 FROM pairings WHERE owner = 1`, nil, new(int))
			if err != nil {
				return err
			}
			owns = !found
		}
		p = row.pairing()
		p.Approved, p.Owner = moment(millis(now)), owns
		if out, ok := bot.Welcome(p); ok {
			if _, _, err := t.addDelivery(out, "", now); err != nil {
				return err
			}
		}
		_, err := t.exec(`UPDATE pairings SET approved = ?, owner = ? WHERE channel = ? AND account = ? AND user_id = ?`,
			max(millis(now), 1), owns, p.Channel, p.Account, p.User)
		return err
	})
	return p, err
}

// Deny takes the request with the code away; the person may ask again. A code
// that nobody waits with gives bot.ErrNoPairing.
func (d *DB) Deny(ctx context.Context, channel, code string, now time.Time) (p bot.Pairing, err error) {
	err = d.main.write(ctx, "deny pairing", func(t *tx) error {
		row, err := t.waiting(channel, code, now)
		if err != nil {
			return err
		}
		p = row.pairing()
		return t.dropPairing(p.Channel, p.Account, p.User)
	})
	return p, err
}

// Unpair takes an approval back. Somebody who has none gives bot.ErrNoPairing.
func (d *DB) Unpair(ctx context.Context, channel, account, user string) error {
	return d.main.write(ctx, "take back pairing", func(t *tx) error {
		found, err := t.row(`SELECT 1 FROM pairings WHERE channel = ? AND account = ? AND user_id = ?`, []any{channel, account, user}, new(int))
		if err == nil && !found {
			err = bot.ErrNoPairing
		}
		if err != nil {
			return err
		}
		return t.dropPairing(channel, account, user)
	})
}

func (t *tx) dropPairing(channel, account, user string) error {
	_, err := t.exec(`DELETE FROM pairings WHERE channel = ? AND account = ? AND user_id = ?`, channel, account, user)
	return err
}

// waiting finds the request that a code stands for.
func (t *tx) waiting(channel, code string, now time.Time) (row pairingRow, err error) {
	found, err := t.row(`SELECT `+pairingColumns+` FROM pairings WHERE channel = ? AND code = ? AND approved = 0 AND expires > ?`,
		[]any{channel, policy.NormalCode(code), millis(now)}, row.dest()...)
	if err == nil && !found {
		err = bot.ErrNoPairing
	}
	return row, err
}

// pairingRow is a row on its way into a bot.Pairing.
type pairingRow struct {
	bot.Pairing
	asked, expires, approved int64
}

func (r *pairingRow) dest() []any {
	return []any{&r.Channel, &r.Account, &r.User, &r.Name, &r.Code, &r.asked, &r.expires, &r.approved, &r.Owner, &r.Conversation}
}

func (r *pairingRow) pairing() bot.Pairing {
	r.Asked, r.Expires, r.Approved = moment(r.asked), moment(r.expires), moment(r.approved)
	return r.Pairing
}
