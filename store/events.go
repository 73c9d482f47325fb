package store

import (
	"context"

	"standin/bot"
	"standin/bot/policy"
	"standin/fallback"
)

// Note keeps a system event for the session's next turn. One that waits under
// the same key gives way, and so do the oldest of too many [R26].
func (d *DB) Note(ctx context.Context, e bot.SystemEvent) error {
	return d.main.write(ctx, "note an event of "+string(e.Session), func(t *tx) error {
		if e.Key != "" {
			if _, err := t.exec(`DELETE FROM events WHERE session = ? AND key = ?`, e.Session, e.Key); err != nil {
				return err
			}
		}
		if _, err := t.exec(`INSERT INTO events (session, key, text, at) VALUES (?,?,?,?)`, e.Session, e.Key, e.Text, millis(e.At)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM events WHERE session = ?1 AND id NOT IN (SELECT id FROM events WHERE session = ?1 ORDER BY id DESC LIMIT ?2)`,
			e.Session, policy.EventsMost)
		return err
	})
}

// Noted gives the session's waiting system events, oldest first.
func (d *DB) Noted(ctx context.Context, s fallback.SessionID) (waiting []bot.SystemEvent, err error) {
	err = d.main.each(ctx, `SELECT id, session, key, text, at FROM events WHERE session = ? ORDER BY id`, []any{s}, func(scan func(...any) error) error {
		var e bot.SystemEvent
		var at int64
		err := scan(&e.ID, &e.Session, &e.Key, &e.Text, &at)
		e.At = moment(at)
		waiting = append(waiting, e)
		return err
	})
	return waiting, err
}

// takeEvents forgets what a turn has told its model.
func (t *tx) takeEvents(s fallback.SessionID, upTo int64) error {
	if upTo == 0 {
		return nil
	}
	_, err := t.exec(`DELETE FROM events WHERE session = ? AND id <= ?`, s, upTo)
	return err
}
