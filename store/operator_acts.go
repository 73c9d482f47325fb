package store

import (
	"context"
	"fmt"

	"standin/bot/operator/rows"
)

// NoteAct writes one down.
func (d *DB) NoteAct(ctx context.Context, a rows.KeptAct) error {
	return d.main.write(ctx, "note what an operator did", func(t *tx) error {
		_, err := t.exec(`INSERT INTO operator_acts (at, who, via, what, about, detail) VALUES (?,?,?,?,?,?)`, millis(a.At), a.Who, a.Via, a.What, a.About, a.Detail)
		return err
	})
}

// ActsBack gives a page of them, the latest first.
func (d *DB) ActsBack(ctx context.Context, before int64, limit int) (list []rows.KeptAct, err error) {
	w := where{}
	w.before("id", before)
	err = d.main.each(ctx, `SELECT id, at, who, via, what, about, detail FROM operator_acts`+w.sql()+` ORDER BY id DESC LIMIT ?`, append(w.args, limit), func(scan func(...any) error) error {
		var a rows.KeptAct
		var at int64
		err := scan(&a.ID, &at, &a.Who, &a.Via, &a.What, &a.About, &a.Detail)
		a.At = moment(at)
		list = append(list, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what operators did: %w", err)
	}
	return list, nil
}
