package store

import (
	"context"
	"fmt"
	"time"
)

// OperatorAct is a change that an operator made over the API.
type OperatorAct struct {
	ID                            int64
	At                            time.Time
	Who, Via, What, About, Detail string
}

// NoteAct writes one down.
func (d *DB) NoteAct(ctx context.Context, a OperatorAct) error {
	return d.main.write(ctx, "note what an operator did", func(t *tx) error {
		_, err := t.exec(`INSERT INTO operator_acts (at, who, via, what, about, detail) VALUES (?,?,?,?,?,?)`, millis(a.At), a.Who, a.Via, a.What, a.About, a.Detail)
		return err
	})
}

// ActsBack gives a page of them, the latest first.
func (d *DB) ActsBack(ctx context.Context, before int64, limit int) (list []OperatorAct, err error) {
	w := where{}
	w.before("id", before)
	err = d.main.each(ctx, `SELECT id, at, who, via, what, about, detail FROM operator_acts`+w.sql()+` ORDER BY id DESC LIMIT ?`, append(w.args, limit), func(scan func(...any) error) error {
		var a OperatorAct
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
