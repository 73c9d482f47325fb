package store

import (
	"context"
	"fmt"

	"standin/fallback"
)

const selectionColumns = `provider, model, source, origin_provider, origin_model, pin, pin_source, pin_compactions,
	told_selected_provider, told_selected_model, told_active_provider, told_active_model, told_reason, pending, since`

// Selection gives the stored override; a session without a row is free.
func (d *DB) Selection(ctx context.Context, s fallback.SessionID) (fallback.Selection, error) {
	var row selectionRow
	found, err := d.main.row(ctx, readSelection, []any{s}, row.dest()...)
	if err != nil {
		return fallback.Selection{}, fmt.Errorf("selection of %s: %w", s, err)
	}
	if !found {
		return fallback.Selection{}, nil
	}
	return row.selection(), nil
}

// Swap writes now if the row's provider, model and source are still those of
// was, and tells whether it did. Engage, narrow rollback and clear are all this
// statement [M2, I5; failover.md 14.3, D7]: a newer choice of somebody else
// does not match, so it stays. What was holds beside these three fields is not
// compared: a compaction count that moved must not pin a dead model.
func (d *DB) Swap(ctx context.Context, s fallback.SessionID, was, now fallback.Selection) (swapped bool, err error) {
	err = d.main.write(ctx, "swap selection of "+string(s), func(t *tx) error {
		if err := t.ensureFree(s, was.Model, was.Source); err != nil {
			return err
		}
		n, err := t.exec(swapSelection, append(selectionArgs(s, now), was.Model.Provider, was.Model.Name, was.Source)...)
		swapped = n > 0
		return err
	})
	return swapped, err
}

// Keep writes the pin alone, if the row's selection still matches was [M18].
func (d *DB) Keep(ctx context.Context, s fallback.SessionID, was fallback.Selection, pin fallback.Pin) (kept bool, err error) {
	err = d.main.write(ctx, "keep profile of "+string(s), func(t *tx) error {
		if err := t.ensureFree(s, was.Model, was.Source); err != nil {
			return err
		}
		n, err := t.exec(keepPin, s, pin.Profile, pin.Source, pin.Compactions, was.Model.Provider, was.Model.Name, was.Source)
		kept = n > 0
		return err
	})
	return kept, err
}

// Consume clears the live-switch flag [M30].
func (d *DB) Consume(ctx context.Context, s fallback.SessionID) error {
	return d.main.write(ctx, "consume live switch of "+string(s), func(t *tx) error {
		_, err := t.exec(`UPDATE selection SET pending = 0 WHERE session = ?`, s)
		return err
	})
}

const (
	readSelection = `SELECT ` + selectionColumns + ` FROM selection WHERE session = ?`

	// IS rather than =: the comparison must stay true for absent values,
	// however they are kept.
	swapSelection = `UPDATE selection SET provider=?2, model=?3, source=?4, origin_provider=?5, origin_model=?6,
			pin=?7, pin_source=?8, pin_compactions=?9, told_selected_provider=?10, told_selected_model=?11,
			told_active_provider=?12, told_active_model=?13, told_reason=?14, pending=?15, since=?16
		WHERE session=?1 AND provider IS ?17 AND model IS ?18 AND source IS ?19`

	keepPin = `UPDATE selection SET pin=?2, pin_source=?3, pin_compactions=?4
		WHERE session=?1 AND provider IS ?5 AND model IS ?6 AND source IS ?7`

	// The told pair is compared whole, so that saying the same thing again
	// changes no row and therefore writes no notice [M11, M13, I3].
	settleSelection = `UPDATE selection SET told_selected_provider=?2, told_selected_model=?3,
			told_active_provider=?4, told_active_model=?5, told_reason=?6
		WHERE session=?1 AND (told_selected_provider IS NOT ?2 OR told_selected_model IS NOT ?3
				OR told_active_provider IS NOT ?4 OR told_active_model IS NOT ?5 OR told_reason IS NOT ?6)
			AND provider IS ?7 AND model IS ?8 AND source IS ?9`

	putSelection = `INSERT INTO selection (session, ` + selectionColumns + `) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)
		ON CONFLICT (session) DO UPDATE SET provider=?2, model=?3, source=?4, origin_provider=?5, origin_model=?6,
			pin=?7, pin_source=?8, pin_compactions=?9, told_selected_provider=?10, told_selected_model=?11,
			told_active_provider=?12, told_active_model=?13, told_reason=?14, pending=?15, since=?16`
)

// ensureFree makes the row of a free session when the caller expects a free one:
// a session without a row and one with an empty row are the same thing.
func (t *tx) ensureFree(s fallback.SessionID, m fallback.Model, src fallback.Source) error {
	if !m.IsZero() || src != fallback.NoSource {
		return nil
	}
	_, err := t.exec(`INSERT INTO selection (session) VALUES (?) ON CONFLICT (session) DO NOTHING`, s)
	return err
}

// settle moves the told pair, if the row still holds the selection that
// answered and says something else; changed decides whether there is a notice.
func (t *tx) settle(c fallback.Settle) (changed bool, err error) {
	if c.Told != (fallback.Told{}) {
		if err := t.ensureFree(c.Session, c.Model, c.Source); err != nil {
			return false, err
		}
	}
	n, err := t.exec(settleSelection, c.Session, c.Told.Selected.Provider, c.Told.Selected.Name,
		c.Told.Active.Provider, c.Told.Active.Name, c.Told.Reason, c.Model.Provider, c.Model.Name, c.Source)
	return n > 0, err
}

// putSelection writes the row whatever it holds: a user's choice wins [M8].
func (t *tx) putSelection(s fallback.SessionID, now fallback.Selection) error {
	_, err := t.exec(putSelection, selectionArgs(s, now)...)
	return err
}

// renewSelection ends what belongs to one epoch: automatic overrides, all pins,
// the told pair and the live-switch flag. A user's or legacy model stays unless
// drop is set [D3, D4, M9].
func (t *tx) renewSelection(s fallback.SessionID, drop bool) error {
	var row selectionRow
	found, err := t.row(readSelection, []any{s}, row.dest()...)
	if err != nil || !found {
		return err
	}
	now := row.selection()
	if drop || now.Model.IsZero() || now.Source == fallback.Auto || now.IsAuto() {
		_, err = t.exec(`DELETE FROM selection WHERE session = ?`, s)
		return err
	}
	return t.putSelection(s, fallback.Selection{Model: now.Model, Source: now.Source, Since: now.Since})
}

func selectionArgs(s fallback.SessionID, v fallback.Selection) []any {
	return []any{s, v.Model.Provider, v.Model.Name, v.Source, v.Origin.Provider, v.Origin.Name,
		v.Pin.Profile, v.Pin.Source, v.Pin.Compactions, v.Told.Selected.Provider, v.Told.Selected.Name,
		v.Told.Active.Provider, v.Told.Active.Name, v.Told.Reason, v.Pending, millis(v.Since)}
}

// selectionRow is a row on its way into a fallback.Selection.
type selectionRow struct {
	fallback.Selection
	since int64
}

func (r *selectionRow) dest() []any {
	return []any{&r.Model.Provider, &r.Model.Name, &r.Source, &r.Origin.Provider, &r.Origin.Name,
		&r.Pin.Profile, &r.Pin.Source, &r.Pin.Compactions, &r.Told.Selected.Provider, &r.Told.Selected.Name,
		&r.Told.Active.Provider, &r.Told.Active.Name, &r.Told.Reason, &r.Pending, &r.since}
}

func (r *selectionRow) selection() fallback.Selection {
	v := r.Selection
	v.Since = moment(r.since)
	if v.Pin.Profile == "" {
		v.Pin = fallback.Pin{} // the zero value is a free session
	}
	return v
}
