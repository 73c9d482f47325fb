package store

import (
	"context"
	"fmt"
	"time"

	"standin/bot/operator/rows"
	"standin/fallback"
)

// Stretches gives those that ended last first.
func (d *DB) Stretches(ctx context.Context, of rows.StretchesOf) (list []rows.Stretch, err error) {
	d.settleJournal(ctx)
	w := where{}
	w.is("session", string(of.Session))
	w.is("agent", string(of.Agent))
	w.add("ended >= ?", millis(of.From))
	w.add("began < ?", millis(of.To))
	err = d.main.each(ctx, `SELECT session, agent, model, reason, began, ended, turns FROM stretches`+w.sql()+` ORDER BY ended DESC LIMIT ?`, append(w.args, of.Limit), func(scan func(...any) error) error {
		var s rows.Stretch
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

// AgentStretches gives, for each agent and model, the times in which it answered
// some session. Breaks shorter than a piece are none. Stretches that begin in one
// piece and end in one are taken together where they lie: there are many of them.
func (d *DB) AgentStretches(ctx context.Context, of rows.StretchesOf, piece time.Duration) (list []rows.AgentStretch, err error) {
	d.settleJournal(ctx)
	from, to := millis(of.From), millis(of.To)
	width := max(piece.Milliseconds(), (to-from)/maxPieces+1)
	w := where{}
	w.is("agent", string(of.Agent))
	w.is("session", string(of.Session))
	w.add("ended >= ?", from)
	w.add("began < ?", to)
	lanes := map[lane][]pieceOfTime{}
	err = d.main.each(ctx, `SELECT agent, model, min(began), max(ended), sum(turns) FROM stretches`+w.sql()+`
		GROUP BY agent, model, (max(began, ?) - ?) / ?, (min(ended, ?) - ?) / ?`, append(w.args, from, from, width, to, from, width), func(scan func(...any) error) error {
		var at lane
		var began, ended int64
		var turns int
		if err := scan(&at.agent, &at.model, &began, &ended, &turns); err != nil {
			return err
		}
		if lanes[at] == nil {
			lanes[at] = make([]pieceOfTime, (to-from)/width+1)
		}
		began, ended = max(began, from), min(ended, to)
		first, last := (began-from)/width, (ended-from)/width
		for i := first; i <= last; i++ {
			lanes[at][i].cover(max(began, from+i*width), min(ended, from+(i+1)*width))
		}
		lanes[at][last].turns += turns
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read stretches of agents: %w", err)
	}
	for at, pieces := range lanes {
		list = append(list, at.join(pieces)...)
	}
	return list, nil
}

// maxPieces bounds what a time is cut into.
const maxPieces = 5000

// lane is one model of an agent.
type lane struct {
	agent fallback.AgentID
	model string
}

// pieceOfTime is what is covered of a piece; zero: nothing.
type pieceOfTime struct {
	began, ended int64
	turns        int
}

func (p *pieceOfTime) cover(began, ended int64) {
	if p.began == 0 || began < p.began {
		p.began = began
	}
	p.ended = max(p.ended, ended)
}

// join makes stretches of pieces that follow each other.
func (at lane) join(pieces []pieceOfTime) (list []rows.AgentStretch) {
	open := false
	for _, p := range pieces {
		switch {
		case p.began == 0:
			open = false
			continue
		case !open:
			list = append(list, rows.AgentStretch{Agent: at.agent, Model: at.model, Began: moment(p.began)})
			open = true
		}
		last := &list[len(list)-1]
		last.Ended, last.Turns = moment(p.ended), last.Turns+p.turns
	}
	return list
}
