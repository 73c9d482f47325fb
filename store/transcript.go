package store

import (
	"context"
	"encoding/json"
	"fmt"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

const (
	// The oldest of the last user entries: where a cut history starts.
	historyStart = `SELECT seq FROM transcript WHERE session = ? AND epoch = ? AND role = 'user' AND exchange = '' ORDER BY seq DESC LIMIT 1 OFFSET ?`

	historySince = `SELECT turn, role, text, provider, model, at, exchange FROM transcript WHERE session = ? AND epoch = ? AND seq >= ? ORDER BY seq`
)

// History gives the last entries of the session's epoch, oldest first, from the
// turns-th last user entry on; the whole epoch when it has fewer, none for 0.
func (d *DB) History(ctx context.Context, s fallback.SessionID, epoch string, turns int) ([]bot.Entry, error) {
	if turns <= 0 {
		return nil, nil
	}
	var start int64
	if _, err := d.main.row(ctx, historyStart, []any{s, epoch, turns - 1}, &start); err != nil {
		return nil, fmt.Errorf("history of %s: %w", s, err)
	}
	var list []bot.Entry
	err := d.main.each(ctx, historySince, []any{s, epoch, start}, func(scan func(...any) error) error {
		var e bot.Entry
		var at int64
		var said string
		if err := scan(&e.Turn, &e.Role, &e.Text, &e.Model.Provider, &e.Model.Name, &at, &said); err != nil {
			return err
		}
		if said != "" {
			var x exchange
			if err := json.Unmarshal([]byte(said), &x); err != nil {
				return fmt.Errorf("tools of turn %s: %w", e.Turn, err)
			}
			e.Calls, e.Results = x.Calls, x.Results
		}
		e.At = moment(at)
		list = append(list, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", s, err)
	}
	return list, nil
}

// exchange is a transcript row's use of tools.
type exchange struct {
	Calls   []provider.ToolCall   `json:"calls,omitempty"`
	Results []provider.ToolResult `json:"results,omitempty"`
}

func (t *tx) addEntries(s fallback.SessionID, epoch string, entries []bot.Entry) error {
	for _, e := range entries {
		said := ""
		if len(e.Calls)+len(e.Results) > 0 {
			b, err := json.Marshal(exchange{e.Calls, e.Results})
			if err != nil {
				return fmt.Errorf("tools of turn %s: %w", e.Turn, err)
			}
			said = string(b)
		}
		_, err := t.exec(`INSERT INTO transcript (session, epoch, turn, role, text, provider, model, at, exchange) VALUES (?,?,?,?,?,?,?,?,?)`,
			s, epoch, e.Turn, e.Role, e.Text, e.Model.Provider, e.Model.Name, millis(e.At), said)
		if err != nil {
			return err
		}
	}
	return nil
}
