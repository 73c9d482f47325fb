package store

import (
	"context"
	"encoding/json"
	"fmt"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// Story tells what was said in a session, oldest first: in its conversation of
// now, or with all in the former ones too, as long as they are kept. Each entry
// comes with its conversation; summaries are told where they were made.
func (d *DB) Story(ctx context.Context, s fallback.SessionID, all bool, tell func(epoch string, e bot.Entry) error) error {
	query := `SELECT epoch, seq, turn, role, text, provider, model, at, exchange FROM transcript WHERE session = ?1
		AND (?2 OR epoch = (SELECT epoch FROM sessions WHERE key = ?1)) ORDER BY seq`
	err := d.main.each(ctx, query, []any{s, all}, func(scan func(...any) error) error {
		var e bot.Entry
		var at int64
		var epoch, said string
		if err := scan(&epoch, &e.Seq, &e.Turn, &e.Role, &e.Text, &e.Model.Provider, &e.Model.Name, &at, &said); err != nil {
			return err
		}
		if said != "" {
			var x exchange
			if err := json.Unmarshal([]byte(said), &x); err != nil {
				return fmt.Errorf("tools of turn %s: %w", e.Turn, err)
			}
			e.Calls, e.Results = x.Calls, x.Results
		}
		if e.At = moment(at); e.Role == "summary" {
			e.Role, e.Summary = provider.User, true
		}
		return tell(epoch, e)
	})
	if err != nil {
		return fmt.Errorf("story of %s: %w", s, err)
	}
	return nil
}
