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
	historyStart = `SELECT seq FROM transcript WHERE session = ? AND epoch = ? AND seq >= ? AND role = 'user' AND exchange = '' ORDER BY seq DESC LIMIT 1 OFFSET ?`

	historySince = `SELECT seq, turn, role, text, provider, model, at, exchange, others FROM transcript
		WHERE session = ? AND epoch = ? AND seq >= ? AND role <> 'summary' ORDER BY seq`

	lastSummary = `SELECT turn, text, at, exchange, others FROM transcript WHERE session = ? AND epoch = ? AND role = 'summary' ORDER BY seq DESC LIMIT 1`
)

// History gives the last entries of the session's epoch, oldest first, from the
// turns-th last user entry on; the whole epoch when it has fewer, none for 0. A
// summary stands in front of the entries that it has not taken in [S19].
func (d *DB) History(ctx context.Context, s fallback.SessionID, epoch string, turns int) ([]bot.Entry, error) {
	if turns <= 0 {
		return nil, nil
	}
	list, since, err := d.summary(ctx, s, epoch)
	if err != nil {
		return nil, err
	}
	start := since
	if _, err := d.main.row(ctx, historyStart, []any{s, epoch, since, turns - 1}, &start); err != nil {
		return nil, fmt.Errorf("history of %s: %w", s, err)
	}
	err = d.main.each(ctx, historySince, []any{s, epoch, start}, func(scan func(...any) error) error {
		var e bot.Entry
		var at int64
		var said string
		if err := scan(&e.Seq, &e.Turn, &e.Role, &e.Text, &e.Model.Provider, &e.Model.Name, &at, &said, &e.Others); err != nil {
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

// summary gives the latest summary as an entry, none when there is none, and the
// first row that it has not taken in.
func (d *DB) summary(ctx context.Context, s fallback.SessionID, epoch string) (list []bot.Entry, since int64, err error) {
	e := bot.Entry{Role: provider.User, Summary: true}
	var at int64
	var said string
	found, err := d.main.row(ctx, lastSummary, []any{s, epoch}, &e.Turn, &e.Text, &at, &said, &e.Others)
	if err != nil || !found {
		return nil, 0, err
	}
	var x exchange
	if err := json.Unmarshal([]byte(said), &x); err != nil {
		return nil, 0, fmt.Errorf("summary of %s: %w", s, err)
	}
	e.At = moment(at)
	return []bot.Entry{e}, x.Since, nil
}

// Summarise puts a summary in the place of all entries before since [S19]; what
// it takes in stays in the store. It counts as a compaction, and an automatic pin
// of an older count is then given up [M18]. A session that has moved on meanwhile
// is left alone, and done is false.
func (d *DB) Summarise(ctx context.Context, s fallback.SessionID, epoch string, c bot.Summary) (done bool, err error) {
	err = d.main.write(ctx, "summarise "+string(s), func(t *tx) error {
		n, err := t.exec(`UPDATE sessions SET compactions = compactions + 1 WHERE key = ? AND epoch = ?`, s, epoch)
		if done = n > 0; err != nil || !done {
			return err
		}
		said, err := json.Marshal(exchange{Since: c.Since})
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO transcript (session, epoch, turn, role, text, provider, model, at, exchange, others) VALUES (?,?,?,'summary',?,?,?,?,?,?)`,
			s, epoch, c.Turn, c.Text, c.Model.Provider, c.Model.Name, millis(c.At), string(said), c.Others)
		return err
	})
	return done && err == nil, err
}

// exchange is what a transcript row has beside its text.
type exchange struct {
	Since   int64                 `json:"since,omitempty"` // of a summary: the first row that it has not taken in
	Calls   []provider.ToolCall   `json:"calls,omitempty"`
	Results []provider.ToolResult `json:"results,omitempty"`
}

func (t *tx) addEntries(s fallback.SessionID, epoch string, entries []bot.Entry) error {
	for _, e := range entries {
		said := ""
		if len(e.Calls)+len(e.Results) > 0 {
			b, err := json.Marshal(exchange{Calls: e.Calls, Results: e.Results})
			if err != nil {
				return fmt.Errorf("tools of turn %s: %w", e.Turn, err)
			}
			said = string(b)
		}
		_, err := t.exec(`INSERT INTO transcript (session, epoch, turn, role, text, provider, model, at, exchange, others) VALUES (?,?,?,?,?,?,?,?,?,?)`,
			s, epoch, e.Turn, e.Role, e.Text, e.Model.Provider, e.Model.Name, millis(e.At), said, e.Others)
		if err != nil {
			return err
		}
	}
	return nil
}
