package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

const sessionColumns = `key, agent, epoch, started, last_interaction, compactions, turns, aborted, channel, account, conversation, thread, parent, queue, seeded, send, settings`

// Session gives a session's row; one that does not exist has an empty Epoch.
func (d *DB) Session(ctx context.Context, s fallback.SessionID) (bot.Session, error) {
	var row sessionRow
	found, err := d.main.row(ctx, `SELECT `+sessionColumns+` FROM sessions WHERE key = ?`, []any{s}, row.dest()...)
	if err != nil {
		return bot.Session{}, fmt.Errorf("session %s: %w", s, err)
	}
	if !found {
		return bot.Session{Key: s}, nil
	}
	return row.session(), nil
}

// Compacted counts a completed compaction of the session's epoch; an automatic
// pin of an older count is then given up [M18].
func (d *DB) Compacted(ctx context.Context, s fallback.SessionID, epoch string) error {
	return d.main.write(ctx, "count compaction of "+string(s), func(t *tx) error {
		_, err := t.exec(`UPDATE sessions SET compactions = compactions + 1 WHERE key = ? AND epoch = ?`, s, epoch)
		return err
	})
}

// SessionState is a session with its stored selection.
type SessionState = bot.SessionState

// Sessions gives the sessions that people spoke to last, latest first; limit 0
// gives all. It walks the whole table: for people, not for turns.
func (d *DB) Sessions(ctx context.Context, limit int) ([]SessionState, error) {
	if limit <= 0 {
		limit = -1
	}
	var list []SessionState
	query := `SELECT ` + sessionColumns + ` FROM sessions ORDER BY last_interaction DESC, key LIMIT ?`
	err := d.main.each(ctx, query, []any{limit}, func(scan func(...any) error) error {
		var row sessionRow
		if err := scan(row.dest()...); err != nil {
			return err
		}
		list = append(list, SessionState{Session: row.session()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	for i := range list {
		if list[i].Selection, err = d.Selection(ctx, list[i].Key); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// PutSession writes a session and its selection whole, whatever is there: for
// imports and rehearsals, not for turns.
func (d *DB) PutSession(ctx context.Context, s SessionState) error {
	return d.main.write(ctx, "put session "+string(s.Key), func(t *tx) error {
		if s.Epoch == "" {
			s.Epoch = rand.Text()
		}
		told, err := settingsText(s.Settings)
		if err != nil {
			return err
		}
		_, err = t.exec(`INSERT INTO sessions (`+sessionColumns+`) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)
			ON CONFLICT (key) DO UPDATE SET agent=?2, epoch=?3, started=?4, last_interaction=?5, compactions=?6, turns=?7, aborted=?8,
				channel=?9, account=?10, conversation=?11, thread=?12, parent=?13, queue=?14, seeded=?15, send=?16, settings=?17`,
			s.Key, s.Agent, s.Epoch, millis(s.StartedAt), millis(s.LastInteraction), s.Compactions, s.Turns, s.Aborted,
			s.Route.Channel, s.Route.Account, s.Route.Conversation, s.Route.Thread, s.Parent, s.Queue, s.Seeded, s.Send, told)
		if err != nil {
			return err
		}
		return t.putSelection(s.Key, s.Selection)
	})
}

// ensureSession makes the row when it is missing, in a new epoch unless one is
// named. A person who is heard for the first time counts as an interaction.
func (t *tx) ensureSession(s fallback.SessionID, a fallback.AgentID, epoch string, at time.Time, spoken bool, route channels.Address) error {
	found, err := t.row(`SELECT 1 FROM sessions WHERE key = ?`, []any{s}, new(int))
	if err != nil || found {
		return err
	}
	if epoch == "" {
		epoch = rand.Text()
	}
	var last time.Time
	if spoken {
		last = at
	}
	_, err = t.exec(`INSERT INTO sessions (key, agent, epoch, started, last_interaction, channel, account, conversation, thread) VALUES (?,?,?,?,?,?,?,?,?)`,
		s, a, epoch, millis(at), millis(last), route.Channel, route.Account, route.Conversation, route.Thread)
	return err
}

// sessionRow is a row on its way into a bot.Session.
type sessionRow struct {
	bot.Session
	started, last int64
	told          string
}

func (r *sessionRow) dest() []any {
	return []any{&r.Key, &r.Agent, &r.Epoch, &r.started, &r.last, &r.Compactions, &r.Turns, &r.Aborted,
		&r.Route.Channel, &r.Route.Account, &r.Route.Conversation, &r.Route.Thread, &r.Parent, &r.Queue, &r.Seeded, &r.Send, &r.told}
}

func (r *sessionRow) session() bot.Session {
	r.StartedAt, r.LastInteraction, r.Settings = moment(r.started), moment(r.last), readSettings(r.told)
	return r.Session
}
