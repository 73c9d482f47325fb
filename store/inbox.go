package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

const inboxColumns = `id, channel, account, conversation, thread, message_id, chat, user_id, user_name, text, mentioned, authorized, sent, session, agent, accepted, facts, acted`

const (
	addMessage = `INSERT INTO inbox (channel, account, conversation, thread, message_id, chat, user_id, user_name, text, mentioned, authorized, sent, session, agent, accepted, facts)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (channel, account, conversation, message_id) DO NOTHING RETURNING id`

	readMessage = `SELECT ` + inboxColumns + ` FROM inbox WHERE channel = ? AND account = ? AND conversation = ? AND message_id = ?`

	readUnended = `SELECT ` + inboxColumns + ` FROM inbox WHERE ended = 0 ORDER BY id`
)

// Accept stores a message under its channel, account, conversation and id; the
// thread is not part of the key, since a platform may tell of one message
// twice, once without it. Without a session (the message was turned away) no
// session row is touched. fresh is false when it was stored before: then row is
// the stored one [I1, I2]. The session row is made when it is missing.
func (d *DB) Accept(ctx context.Context, in channels.Inbound, s fallback.SessionID, a fallback.AgentID, at time.Time) (row bot.Accepted, fresh bool, err error) {
	if in.ID == "" {
		return row, false, errors.New("accept message: it has no id, so a second delivery could not be told from it")
	}
	err = d.main.write(ctx, "accept message "+in.ID, func(t *tx) error {
		row = bot.Accepted{In: in, Session: s, Agent: a, At: moment(millis(at))}
		row.In.At = moment(millis(in.At))
		facts, err := factsOf(in)
		if err != nil {
			return err
		}
		fresh, err = t.row(addMessage, []any{in.To.Channel, in.To.Account, in.To.Conversation, in.To.Thread, in.ID, in.Chat, in.From.ID, in.From.Name,
			in.Text, in.Mentioned, in.Authorized, millis(in.At), s, a, millis(at), facts}, &row.ID)
		if err != nil {
			return err
		}
		if fresh && s == "" {
			return nil // turned away: it belongs to no session
		}
		if fresh {
			return t.ensureSession(s, a, "", at, true, in.To)
		}
		var stored inboxRow
		_, err = t.row(readMessage, []any{in.To.Channel, in.To.Account, in.To.Conversation, in.ID}, stored.dest()...)
		if err == nil {
			row, err = stored.accepted()
		}
		return err
	})
	return row, fresh && err == nil, err
}

// Unended gives the accepted messages without an ending, oldest first.
func (d *DB) Unended(ctx context.Context) ([]bot.Accepted, error) {
	var list []bot.Accepted
	err := d.main.each(ctx, readUnended, nil, func(scan func(...any) error) error {
		var row inboxRow
		if err := scan(row.dest()...); err != nil {
			return err
		}
		accepted, err := row.accepted()
		list = append(list, accepted)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list unended messages: %w", err)
	}
	return list, nil
}

// Acting writes down that something outside is about to be done for messages: a
// process that dies in the middle must not do it a second time [I8].
func (d *DB) Acting(ctx context.Context, messages []int64) error {
	return d.main.write(ctx, "note an act", func(t *tx) error {
		for _, id := range messages {
			if _, err := t.exec(`UPDATE inbox SET acted = 1 WHERE id = ? AND acted = 0`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// endMessage gives the inbox row its one ending and tells where it came from.
func (t *tx) endMessage(e bot.Ending) (from channels.Address, err error) {
	found, err := t.row(`UPDATE inbox SET ended = ?, how = ?, why = ?, turn = ? WHERE id = ? AND ended = 0 RETURNING channel, account, conversation, thread`,
		[]any{max(millis(e.At), 1), e.How, e.Why, e.Turn, e.Accepted}, &from.Channel, &from.Account, &from.Conversation, &from.Thread)
	if err == nil && !found {
		err = bot.ErrEnded
	}
	return from, err
}

// inboxRow is a row on its way into a bot.Accepted.
type inboxRow struct {
	bot.Accepted
	sent, at int64
	facts    string
}

func (r *inboxRow) dest() []any {
	in := &r.In
	return []any{&r.ID, &in.To.Channel, &in.To.Account, &in.To.Conversation, &in.To.Thread, &in.ID, &in.Chat, &in.From.ID, &in.From.Name,
		&in.Text, &in.Mentioned, &in.Authorized, &r.sent, &r.Session, &r.Agent, &r.at, &r.facts, &r.Acted}
}

func (r *inboxRow) accepted() (bot.Accepted, error) {
	r.In.At, r.At = moment(r.sent), moment(r.at)
	return r.Accepted, readFacts(r.facts, &r.In)
}
