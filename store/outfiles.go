package store

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"standin/bot"
	"standin/channels"
)

// The files of deliveries are kept as bytes in the database, not beside it: they
// are written in the transaction of their ending, are as private as the file of
// the database, and go in the transaction that marks the delivery. What one
// delivery may have is channels.MaxFileBytes.

// addFiles stores the files of a delivery.
func (t *tx) addFiles(out channels.Outbound) error {
	for n, f := range out.Files {
		data, err := channels.ReadFile(t.ctx, f, channels.MaxFileBytes)
		if err != nil {
			return fmt.Errorf("file %s of delivery %s: %w", f.Name, out.ID, err)
		}
		if _, err := t.exec(`INSERT INTO outbox_files (delivery, n, data) VALUES (?,?,?)`, out.ID, n, data); err != nil {
			return err
		}
	}
	return nil
}

// dropFiles deletes the files of a delivery that is sent or refused.
func (t *tx) dropFiles(delivery string) error {
	_, err := t.exec(`DELETE FROM outbox_files WHERE delivery = ?`, delivery)
	return err
}

// openFiles gives a delivery's files their bytes, which are read when they are
// asked for, and their platform's names.
func (d *DB) openFiles(ctx context.Context, v *bot.Delivery) error {
	for n := range v.Files {
		f, id := &v.Files[n], v.ID
		if _, err := d.main.row(ctx, `SELECT ref FROM outbox_files WHERE delivery = ? AND n = ?`, []any{id, n}, &f.Ref); err != nil {
			return err
		}
		f.Open = func(ctx context.Context) (io.ReadCloser, error) { return d.openFile(ctx, id, n) }
		f.Keep = func(ctx context.Context, ref string) error {
			return d.main.write(ctx, "keep file of delivery "+id, func(t *tx) error {
				_, err := t.exec(`UPDATE outbox_files SET ref = ? WHERE delivery = ? AND n = ?`, ref, id, n)
				return err
			})
		}
	}
	return nil
}

func (d *DB) openFile(ctx context.Context, delivery string, n int) (io.ReadCloser, error) {
	var data []byte
	found, err := d.main.row(ctx, `SELECT data FROM outbox_files WHERE delivery = ? AND n = ?`, []any{delivery, n}, &data)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("file %d of delivery %s is not stored any more", n+1, delivery)
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}
