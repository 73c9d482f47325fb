package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"standin/bot/incidents"
	"standin/fallback"
)

const incidentColumns = `id, kind, subject, title, was, text, stage, quiet, times, lines, opened, since, told, seen, well, closed, channel, account`

// Incidents gives those that are not closed, and those that were closed since.
func (d *DB) Incidents(ctx context.Context, since time.Time) ([]incidents.Incident, error) {
	return d.incidents(ctx, `SELECT `+incidentColumns+` FROM incidents WHERE closed = 0 OR closed >= ? ORDER BY id`, millis(since))
}

// IncidentsBack gives those that were told of, the latest first; with open those
// that are not over.
func (d *DB) IncidentsBack(ctx context.Context, open bool, limit int) ([]incidents.Incident, error) {
	which := `told > 0`
	if open {
		which = `closed = 0 AND told > 0`
	}
	return d.incidents(ctx, `SELECT `+incidentColumns+` FROM incidents WHERE `+which+` ORDER BY id DESC LIMIT ?`, limit)
}

func (d *DB) incidents(ctx context.Context, query string, args ...any) (list []incidents.Incident, err error) {
	err = d.main.each(ctx, query, args, func(scan func(...any) error) error {
		var i incidents.Incident
		var opened, since, told, seen, well, closed int64
		err := scan(&i.ID, &i.Kind, &i.Subject, &i.Title, &i.Was, &i.Text, &i.Stage, &i.Quiet, &i.Times, &i.Lines,
			&opened, &since, &told, &seen, &well, &closed, &i.Channel, &i.Account)
		i.Opened, i.Since, i.Told, i.Seen, i.Well, i.Closed = moment(opened), moment(since), moment(told), moment(seen), moment(well), moment(closed)
		list = append(list, i)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list incidents: %w", err)
	}
	return list, nil
}

// ChangeIncidents writes what a look came to, and the posts that tell of it, in
// one transaction: a crash tells of all of it later, or finds it again.
func (d *DB) ChangeIncidents(ctx context.Context, changes []incidents.Change, posts func(incidents.Change) []incidents.Post) error {
	if len(changes) == 0 {
		return nil
	}
	return d.main.write(ctx, "write incidents", func(t *tx) error {
		for _, c := range changes {
			if err := t.changeIncident(c, posts); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) changeIncident(c incidents.Change, posts func(incidents.Change) []incidents.Post) error {
	i := c.Incident
	if c.Drop {
		_, err := t.exec(`DELETE FROM incidents WHERE id = ?`, i.ID)
		return err
	}
	values := []any{i.Kind, i.Subject, i.Title, i.Was, i.Text, i.Stage, i.Quiet, i.Times, i.Lines,
		millis(i.Opened), millis(i.Since), millis(i.Told), millis(i.Seen), millis(i.Well), millis(i.Closed), i.Channel, i.Account}
	id := any(nil) // SQLite gives one
	if i.ID != 0 {
		id = i.ID
	}
	_, err := t.row(`INSERT INTO incidents (`+incidentColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
		ON CONFLICT (id) DO UPDATE SET kind=?2, subject=?3, title=?4, was=?5, text=?6, stage=?7, quiet=?8, times=?9, lines=?10,
			opened=?11, since=?12, told=?13, seen=?14, well=?15, closed=?16, channel=?17, account=?18
		RETURNING id`, append([]any{id}, values...), &i.ID)
	if err != nil {
		return err
	}
	for _, p := range posts(c) {
		p = p.For(i)
		event, err := json.Marshal(p.Event)
		if err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO incident_posts (id, incident, target, event, at, tries, next) VALUES (?,?,?,?,?,0,?) ON CONFLICT (id) DO NOTHING`,
			p.ID, p.Incident, p.Target, string(event), millis(p.Event.At), millis(p.Next)); err != nil {
			return err
		}
	}
	return nil
}

// IncidentPosts gives the posts that are due, in the order in which they
// were written; those of one target that come after one that is not due wait for it.
func (d *DB) IncidentPosts(ctx context.Context, now time.Time) (due []incidents.Post, err error) {
	held := map[string]bool{}
	err = d.main.each(ctx, `SELECT id, incident, target, event, tries, next FROM incident_posts ORDER BY at, incident, id`, nil, func(scan func(...any) error) error {
		var p incidents.Post
		var event string
		var next int64
		if err := scan(&p.ID, &p.Incident, &p.Target, &event, &p.Tries, &next); err != nil {
			return err
		}
		if p.Next = moment(next); p.Next.After(now) {
			held[p.Target] = true
		}
		if held[p.Target] {
			return nil
		}
		due = append(due, p)
		return json.Unmarshal([]byte(event), &due[len(due)-1].Event)
	})
	if err != nil {
		return nil, fmt.Errorf("list posts on incidents: %w", err)
	}
	return due, nil
}

// PutIncidentPost writes when a post is tried again.
func (d *DB) PutIncidentPost(ctx context.Context, p incidents.Post) error {
	return d.main.write(ctx, "put off post "+p.ID, func(t *tx) error {
		_, err := t.exec(`UPDATE incident_posts SET tries = ?, next = ? WHERE id = ?`, p.Tries, millis(p.Next), p.ID)
		return err
	})
}

// DropIncidentPost forgets a post that was handed over or given up.
func (d *DB) DropIncidentPost(ctx context.Context, id string) error {
	return d.main.write(ctx, "end post "+id, func(t *tx) error {
		_, err := t.exec(`DELETE FROM incident_posts WHERE id = ?`, id)
		return err
	})
}

// PruneIncidents forgets those that were closed before.
func (d *DB) PruneIncidents(ctx context.Context, before time.Time) error {
	_, err := d.sweep(ctx, `DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE closed > 0 AND closed < ? LIMIT ?)`, millis(before))
	return err
}

// LastAnswer is when a model answered last, as far as the run log goes back; zero:
// never. model is provider/model.
func (d *DB) LastAnswer(ctx context.Context, model string) (time.Time, error) {
	var at int64
	_, err := d.main.row(ctx, `SELECT ended FROM run_log WHERE answered = ? ORDER BY seq DESC LIMIT 1`, []any{model}, &at)
	if err != nil {
		return time.Time{}, fmt.Errorf("look when %s answered: %w", model, err)
	}
	return moment(at), nil
}

// StandIn is a session on a stand-in.
type StandIn struct {
	Agent         fallback.AgentID
	Origin, Model fallback.Model // that was to answer, and that does
	Reason        string         // that its room was told, may be empty
	Since         time.Time
	Last          time.Time // when a person last spoke there
}

// StandInsSince gives the sessions on a stand-in, the one that has been longest
// first.
func (d *DB) StandInsSince(ctx context.Context) (list []StandIn, err error) {
	err = d.main.each(ctx, `SELECT k.agent, s.origin_provider, s.origin_model, s.provider, s.model, s.told_reason, s.since, k.last_interaction
		FROM selection s JOIN sessions k ON k.key = s.session WHERE `+standsIn+` AND s.since > 0 ORDER BY s.since, s.session`, nil, func(scan func(...any) error) error {
		var one StandIn
		var since, last int64
		err := scan(&one.Agent, &one.Origin.Provider, &one.Origin.Name, &one.Model.Provider, &one.Model.Name, &one.Reason, &since, &last)
		one.Since, one.Last = moment(since), moment(last)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list stand-ins: %w", err)
	}
	return list, nil
}
