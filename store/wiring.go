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
// same kind (Discord).
func (d *DB) LastTaken(ctx context.Context, channel, account string) (map[string]string, error) {
	last := map[string]string{}
	err := d.main.each(ctx, `SELECT conversation, message_id, max(sent) FROM inbox WHERE channel = ? AND account = ? GROUP BY conversation`,
		[]any{channel, account}, func(scan func(...any) error) error {
			var conversation, id string
			var sent int64
			if err := scan(&conversation, &id, &sent); err != nil {
				return err
			}
			last[conversation] = id
			return nil
		})
	return last, err
}
