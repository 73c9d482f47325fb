package store

import (
	"context"
	"fmt"
	"time"

	"standin/fallback"
)

// Stretch is a time in which one model answered a session without a break.
type Stretch struct {
	Session      fallback.SessionID
	Agent        fallback.AgentID
	Model        string // "": none answered
	Reason       string // why it was not the one that was to answer
	Began, Ended time.Time
	Turns        int
}

// StretchesOf says which are wanted.
type StretchesOf struct {
	Session  fallback.SessionID // "": of all
	Agent    fallback.AgentID   // "": of all
	From, To time.Time          // those that reach into this time
	Limit    int
}

// Stretches gives those that ended last first.
func (d *DB) Stretches(ctx context.Context, of StretchesOf) (list []Stretch, err error) {
	d.settleJournal(ctx)
	w := where{}
	w.is("session", string(of.Session))
	w.is("agent", string(of.Agent))
	w.add("ended >= ?", millis(of.From))
	w.add("began < ?", millis(of.To))
	err = d.main.each(ctx, `SELECT session, agent, model, reason, began, ended, turns FROM stretches`+w.sql()+` ORDER BY ended DESC LIMIT ?`, append(w.args, of.Limit), func(scan func(...any) error) error {
		var s Stretch
		var began, ended int64
		err := scan(&s.Session, &s.Agent, &s.Model, &s.Reason, &began, &ended, &s.Turns)
		s.Began, s.Ended = moment(began), moment(ended)
		list = append(list, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read stretches: %w", err)
	}
	return list, nil
}

// AgentStretch is one model's part in an agent's time.
type AgentStretch struct {
	Agent        fallback.AgentID
	Model        string
	Began, Ended time.Time
	Turns        int
}

// AgentStretches gives the time from from to to in pieces of the given length:
// for each agent and model the pieces in which it answered something. Pieces that
// touch are one.
func (d *DB) AgentStretches(ctx context.Context, of StretchesOf, piece time.Duration) (list []AgentStretch, err error) {
	d.settleJournal(ctx)
	width := max(millisOf(piece), 1)
	w := where{}
	w.is("agent", string(of.Agent))
	w.is("session", string(of.Session))
	w.add("ended >= ?", millis(of.From))
	w.add("began < ?", millis(of.To))
	// Per piece that a stretch begins or ends in; what lies between is one stretch.
	type lane struct {
		agent fallback.AgentID
		model string
	}
	open := map[lane]*AgentStretch{}
	err = d.main.each(ctx, `SELECT agent, model, max(min(began), ?1) AS b, max(ended), sum(turns) FROM stretches`+w.sql()+`
		GROUP BY agent, model, began / `+fmt.Sprint(width)+`, ended / `+fmt.Sprint(width)+` ORDER BY b`,
		append([]any{millis(of.From)}, w.args...), func(scan func(...any) error) error {
			var a AgentStretch
			var began, ended int64
			if err := scan(&a.Agent, &a.Model, &began, &ended, &a.Turns); err != nil {
				return err
			}
			a.Began, a.Ended = moment(began), moment(ended)
			at := lane{a.Agent, a.Model}
			if last := open[at]; last != nil && began <= millis(last.Ended)+width {
				if a.Ended.After(last.Ended) {
					last.Ended = a.Ended
				}
				last.Turns += a.Turns
				return nil
			} else if last != nil {
				list = append(list, *last)
			}
			open[at] = &a
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("read stretches of agents: %w", err)
	}
	for _, a := range open {
		list = append(list, *a)
	}
	return list, nil
}

func millisOf(d time.Duration) int64 { return int64(d / time.Millisecond) }
