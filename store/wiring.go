package store

import "context"

// Ping tells whether the store still takes writes: an empty one is made.
func (d *DB) Ping(ctx context.Context) error {
	return d.main.write(ctx, "look whether the store works", func(t *tx) error {
		_, err := t.row(`SELECT count(*) FROM sqlite_schema`, nil, new(int))
		return err
	})
}

// LastTaken gives for each conversation of a channel account the id of the
// message that was sent last among those that were taken, so that a platform can
// be asked for what came after it. Threads that are conversations count by
// themselves; what was not written as a message counts as well, its id is of the
// same kind (Discord). It steps from conversation to conversation along an index:
// its cost is that of the conversations, not of the messages.
func (d *DB) LastTaken(ctx context.Context, channel, account string) (map[string]string, error) {
	last := map[string]string{}
	err := d.main.each(ctx, lastTaken, []any{channel, account}, func(scan func(...any) error) error {
		var conversation, id string
		if err := scan(&conversation, &id); err != nil {
			return err
		}
		last[conversation] = id
		return nil
	})
	return last, err
}

const lastTaken = `WITH RECURSIVE place(conversation) AS (
		SELECT min(conversation) FROM inbox WHERE channel = ?1 AND account = ?2
		UNION ALL
		SELECT (SELECT min(conversation) FROM inbox WHERE channel = ?1 AND account = ?2 AND conversation > place.conversation)
		FROM place WHERE place.conversation IS NOT NULL
	)
	SELECT conversation, (SELECT message_id FROM inbox WHERE channel = ?1 AND account = ?2 AND inbox.conversation = place.conversation ORDER BY sent DESC LIMIT 1)
	FROM place WHERE conversation IS NOT NULL`
