package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"standin/channels"
	"standin/fallback"
	"standin/heartbeat"
)

const heartbeatColumns = `agent, off, turn, reason, began, running, last, status, why, detail, model, at, due, text, text_at, failed, failed_at, failures, tasks`

// HeartbeatSeed gives the installation's random text, which is made when it is
// first asked for and stays the same [H3].
func (d *DB) HeartbeatSeed(ctx context.Context) (seed string, err error) {
	found, err := d.main.row(ctx, `SELECT value FROM instance WHERE name = 'seed'`, nil, &seed)
	if err != nil || found {
		return seed, err
	}
	err = d.main.write(ctx, "make the seed of schedules", func(t *tx) error {
		_, err := t.row(`INSERT INTO instance (name, value) VALUES ('seed', ?) ON CONFLICT (name) DO UPDATE SET value = value RETURNING value`,
			[]any{rand.Text()}, &seed)
		return err
	})
	return seed, err
}

// Heartbeat gives an agent's row; one that never was has only its Agent.
func (d *DB) Heartbeat(ctx context.Context, a fallback.AgentID) (heartbeat.Row, error) {
	row := heartbeatRow{Row: heartbeat.Row{Agent: a}}
	found, err := d.main.row(ctx, `SELECT `+heartbeatColumns+` FROM heartbeats WHERE agent = ?`, []any{a}, row.dest()...)
	if err != nil {
		return heartbeat.Row{}, fmt.Errorf("read the heartbeat of %s: %w", a, err)
	}
	if !found {
		return heartbeat.Row{Agent: a}, nil
	}
	return row.value()
}

// PutHeartbeat writes a row. Off stays as it is: a person at a terminal may be
// changing it beside the daemon.
func (d *DB) PutHeartbeat(ctx context.Context, r heartbeat.Row) error {
	running, err := jsonOf(r.Running, len(r.Running))
	if err != nil {
		return err
	}
	tasks := map[string]int64{}
	for name, at := range r.Tasks {
		tasks[name] = millis(at)
	}
	stamps, err := jsonOf(tasks, len(tasks))
	if err != nil {
		return err
	}
	return d.main.write(ctx, "write the heartbeat of "+string(r.Agent), func(t *tx) error {
		_, err := t.exec(`INSERT INTO heartbeats (`+heartbeatColumns+`) VALUES (?1,0,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)
			ON CONFLICT (agent) DO UPDATE SET turn=?2, reason=?3, began=?4, running=?5, last=?6, status=?7, why=?8, detail=?9, model=?10,
				at=?11, due=?12, text=?13, text_at=?14, failed=?15, failed_at=?16, failures=?17, tasks=?18`,
			r.Agent, r.Turn, r.Reason, millis(r.Began), running, millis(r.Last), r.Status, r.Why, r.Detail, r.Model,
			millis(r.At), millis(r.Due), r.Text, millis(r.TextAt), r.Failed, millis(r.FailedAt), r.Failures, stamps)
		return err
	})
}

// SwitchHeartbeat switches an agent's heartbeat off or on again.
func (d *DB) SwitchHeartbeat(ctx context.Context, a fallback.AgentID, off bool) error {
	return d.main.write(ctx, "switch the heartbeat of "+string(a), func(t *tx) error {
		_, err := t.exec(`INSERT INTO heartbeats (agent, off) VALUES (?1, ?2) ON CONFLICT (agent) DO UPDATE SET off = ?2`, a, off)
		return err
	})
}

// TakeEvents forgets the session's system events up to an id, for a turn of
// another session that told them.
func (d *DB) TakeEvents(ctx context.Context, s fallback.SessionID, upTo int64) error {
	return d.main.write(ctx, "take the events of "+string(s), func(t *tx) error { return t.takeEvents(s, upTo) })
}

// Delivered finds the post with the delivery id, whether it was sent or waits.
func (d *DB) Delivered(ctx context.Context, id string) (text string, at time.Time, found bool, err error) {
	var created int64
	found, err = d.main.row(ctx, `SELECT text, created FROM outbox WHERE id = ?`, []any{id}, &text, &created)
	return text, moment(created), found, err
}

// OwedTo tells whether a post that was made after since waits to be sent to the
// address.
func (d *DB) OwedTo(ctx context.Context, to channels.Address, since time.Time) (owes bool, err error) {
	return d.main.row(ctx, `SELECT 1 FROM outbox WHERE channel = ? AND account = ? AND conversation = ? AND thread = ? AND `+owed+` AND created > ? LIMIT 1`,
		[]any{to.Channel, to.Account, to.Conversation, to.Thread, millis(since)}, new(int))
}

// ChatOf gives the kind of chat of an address, as the last message from there
// said; "" when none was kept.
func (d *DB) ChatOf(ctx context.Context, to channels.Address) (chat channels.ChatType, err error) {
	_, err = d.main.row(ctx, `SELECT chat FROM inbox WHERE channel = ? AND account = ? AND conversation = ? ORDER BY id DESC LIMIT 1`,
		[]any{to.Channel, to.Account, to.Conversation}, &chat)
	return chat, err
}

var _ heartbeat.Rows = (*DB)(nil)

// heartbeatRow is a row on its way into a heartbeat.Row.
type heartbeatRow struct {
	heartbeat.Row
	began, last, at, due, textAt, failedAt int64
	running, tasks                         string
}

func (r *heartbeatRow) dest() []any {
	return []any{&r.Agent, &r.Off, &r.Turn, &r.Reason, &r.began, &r.running, &r.last, &r.Status, &r.Why, &r.Detail, &r.Model,
		&r.at, &r.due, &r.Text, &r.textAt, &r.Failed, &r.failedAt, &r.Failures, &r.tasks}
}

func (r *heartbeatRow) value() (heartbeat.Row, error) {
	r.Began, r.Last, r.At, r.Due = moment(r.began), moment(r.last), moment(r.at), moment(r.due)
	r.TextAt, r.FailedAt = moment(r.textAt), moment(r.failedAt)
	if r.running != "" {
		if err := json.Unmarshal([]byte(r.running), &r.Running); err != nil {
			return heartbeat.Row{}, fmt.Errorf("heartbeats.running of %s: %w", r.Agent, err)
		}
	}
	if r.tasks != "" {
		var stamps map[string]int64
		if err := json.Unmarshal([]byte(r.tasks), &stamps); err != nil {
			return heartbeat.Row{}, fmt.Errorf("heartbeats.tasks of %s: %w", r.Agent, err)
		}
		r.Tasks = map[string]time.Time{}
		for name, at := range stamps {
			r.Tasks[name] = moment(at)
		}
	}
	return r.Row, nil
}

// jsonOf is v as JSON, "" when it holds nothing.
func jsonOf(v any, n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}
