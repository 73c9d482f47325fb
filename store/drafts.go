package store

import (
	"context"

	"standin/bot"
)

// KeepDraft writes down a draft that is about to be posted, or the platform's id
// of one that was. What it showed first stays as it is.
func (d *DB) KeepDraft(ctx context.Context, v bot.Drafted) error {
	return d.main.write(ctx, "keep draft "+v.ID, func(t *tx) error {
		_, err := t.exec(`INSERT INTO drafts (id, turn, channel, account, conversation, thread, message_id, text, at) VALUES (?,?,?,?,?,?,?,?,?)
			ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id`,
			v.ID, v.Turn, v.To.Channel, v.To.Account, v.To.Conversation, v.To.Thread, v.MessageID, v.Text, millis(v.At))
		return err
	})
}

// DropDraft forgets a draft of which nothing stands any more.
func (d *DB) DropDraft(ctx context.Context, id string) error {
	return d.main.write(ctx, "drop draft "+id, func(t *tx) error {
		_, err := t.exec(`DELETE FROM drafts WHERE id = ?`, id)
		return err
	})
}

// AbandonDraft notes that whoever posted a draft could not take it back.
func (d *DB) AbandonDraft(ctx context.Context, id string) error {
	return d.main.write(ctx, "abandon draft "+id, func(t *tx) error {
		_, err := t.exec(`UPDATE drafts SET abandoned = 1 WHERE id = ?`, id)
		return err
	})
}

// Abandoned gives the drafts that nobody will end, oldest first. Owed says that
// a delivery of the same turn is not finished: it decides first what the draft
// has become.
func (d *DB) Abandoned(ctx context.Context) (list []bot.Drafted, err error) {
	err = d.main.each(ctx, `SELECT id, turn, channel, account, conversation, thread, message_id, text, at,
			EXISTS (SELECT 1 FROM outbox WHERE `+owed+` AND outbox.turn = drafts.turn)
		FROM drafts WHERE abandoned = 1 ORDER BY at, id`, nil, func(scan func(...any) error) error {
		var v bot.Drafted
		var at int64
		err := scan(&v.ID, &v.Turn, &v.To.Channel, &v.To.Account, &v.To.Conversation, &v.To.Thread, &v.MessageID, &v.Text, &at, &v.Owed)
		v.At = moment(at)
		list = append(list, v)
		return err
	})
	return list, err
}

// adopted forgets the draft whose message a sent delivery has become. It may be
// that of another turn: a late answer takes over what stands at its place.
func (t *tx) adopted(v bot.Delivery) error {
	if v.State != bot.Sent || v.MessageID == "" {
		return nil
	}
	_, err := t.exec(`DELETE FROM drafts WHERE message_id = ? AND channel = ? AND account = ? AND conversation = ?`,
		v.MessageID, v.To.Channel, v.To.Account, v.To.Conversation)
	return err
}
