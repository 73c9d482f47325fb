package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"standin/bot"
	"standin/channels"
)

const outboxColumns = `id, channel, account, conversation, thread, kind, text, reply_to, turn, state, attempts, next, created, message_id, error, extras`

// owed are the states that a later delivery to the same address waits for. The
// text is that of the index outbox_owed, or SQLite does not use it.
const owed = `state IN ('pending', 'sending', 'unknown')`

// The heads of the addresses that may be sent now. A head that is being sent or
// not due holds its address back [I2].
const readDue = `SELECT ` + outboxColumns + ` FROM outbox
	WHERE seq IN (SELECT min(seq) FROM outbox WHERE ` + owed + ` GROUP BY channel, account, conversation, thread)
		AND state IS NOT 'sending' AND next <= ?
	ORDER BY seq`

// Due gives the delivery that each Address is owed next, in the order they were
// written. A later one to the same address comes up when the earlier one was
// sent or refused for good.
func (d *DB) Due(ctx context.Context, now time.Time) ([]bot.Delivery, error) {
	return d.deliveries(ctx, readDue, millis(now))
}

// Owed gives all deliveries that are neither sent nor refused, oldest first.
// The plus keeps SQLite from walking the whole table to save itself the sorting
// of these few.
func (d *DB) Owed(ctx context.Context) ([]bot.Delivery, error) {
	return d.deliveries(ctx, `SELECT `+outboxColumns+` FROM outbox WHERE `+owed+` ORDER BY +seq`)
}

// Claim moves a delivery from Pending or Unknown to Sending, before the call:
// of two that want it one gets true.
func (d *DB) Claim(ctx context.Context, id string) (claimed bool, err error) {
	err = d.main.write(ctx, "claim delivery "+id, func(t *tx) error {
		n, err := t.exec(`UPDATE outbox SET state = 'sending' WHERE id = ? AND state IN ('pending', 'unknown')`, id)
		claimed = n > 0
		return err
	})
	return claimed, err
}

// Mark stores state, attempts, next try, receipt and error of a claimed
// delivery, and lets go of the draft that it has become. One that is not claimed
// stays as it is, so that a mark may be repeated by a caller who was not told
// whether the first one was written.
func (d *DB) Mark(ctx context.Context, v bot.Delivery) error {
	return d.main.write(ctx, "mark delivery "+v.ID, func(t *tx) error {
		_, err := t.exec(`UPDATE outbox SET state = ?, attempts = ?, next = ?, message_id = ?, error = ? WHERE id = ? AND state = 'sending'`,
			v.State, v.Attempts, millis(v.Next), v.MessageID, v.Error, v.ID)
		if err != nil {
			return err
		}
		if v.State == bot.Sent || v.State == bot.Refused {
			if err := t.dropFiles(v.ID); err != nil {
				return err
			}
		}
		return t.adopted(v)
	})
}

// Interrupted turns Sending rows of a former process into Unknown, counts the
// try that was cut short, and notes that nobody will end the drafts it showed.
func (d *DB) Interrupted(ctx context.Context) (n int, err error) {
	err = d.main.write(ctx, "find interrupted deliveries", func(t *tx) error {
		changed, err := t.exec(`UPDATE outbox SET state = 'unknown', attempts = attempts + 1 WHERE ` + owed + ` AND state = 'sending'`)
		n = int(changed)
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE drafts SET abandoned = 1 WHERE id > ''`) // all of them
		return err
	})
	return n, err
}

// addDelivery writes an outbox row. One whose id was written before is the same
// message and is left out.
func (t *tx) addDelivery(out channels.Outbound, turn string, at time.Time) (v bot.Delivery, added bool, err error) {
	if out.ID == "" {
		out.ID = rand.Text()
	}
	v = bot.Delivery{Outbound: out, Turn: turn, State: bot.Pending, Created: moment(millis(at))}
	extras, err := extrasOf(out)
	if err != nil {
		return v, false, err
	}
	n, err := t.exec(`INSERT INTO outbox (id, channel, account, conversation, thread, kind, text, reply_to, turn, state, created, extras)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING`,
		out.ID, out.To.Channel, out.To.Account, out.To.Conversation, out.To.Thread, out.Kind, out.Text, out.ReplyTo, turn, v.State, millis(at), extras)
	if err != nil || n == 0 {
		return v, false, err
	}
	return v, true, t.addFiles(out)
}

func (d *DB) deliveries(ctx context.Context, query string, args ...any) ([]bot.Delivery, error) {
	var list []bot.Delivery
	err := d.main.each(ctx, query, args, func(scan func(...any) error) error {
		var v bot.Delivery
		var next, created int64
		var extras string
		err := scan(&v.ID, &v.To.Channel, &v.To.Account, &v.To.Conversation, &v.To.Thread, &v.Kind, &v.Text, &v.ReplyTo, &v.Turn,
			&v.State, &v.Attempts, &next, &created, &v.MessageID, &v.Error, &extras)
		v.Next, v.Created = moment(next), moment(created)
		if err == nil {
			err = readExtras(extras, &v.Outbound)
		}
		list = append(list, v)
		return err
	})
	for i := range list {
		if err == nil {
			err = d.openFiles(ctx, &list[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	return list, nil
}
