package heartbeat

import (
	"context"
	"time"

	"standin/bot"
	"standin/fallback"
)

// Preview is what an agent's next beat would do, found out without asking a
// model, writing anything or moving the schedule [IL-196].
type Preview struct {
	Config   Config
	Row      Row
	Session  fallback.SessionID // that it would run in
	Base     bot.Session        // the one that it is about
	Decision Decision           // of a beat whose time has come
	Due      time.Time          // its next time, zero: none is planned
	Place    Place
	Seen     Visibility
	File     File
	Text     string // the question
	System   string // what stands with the agent's instructions
	Chain    fallback.Explanation
	Rests    time.Time // until when the whole chain rests, zero: it does not
}

// Preview looks, as a beat does first. A Runner for it needs no Bot: nothing is
// busy then.
func (r *Runner) Preview(ctx context.Context, a fallback.AgentID) (Preview, error) {
	s := r.Settings()
	seed, err := r.Rows.HeartbeatSeed(ctx)
	if err != nil {
		return Preview{}, err
	}
	b := &beat{Runner: r, s: s, c: s.For(a), agent: a, reason: Interval, start: r.Now()}
	d, err := b.look(ctx)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Config: b.c, Row: b.row, Session: b.session(), Base: b.sess, Decision: d, Place: b.place, Seen: b.seen, File: b.file}
	p.Text, p.System = prompt(b.c, b.reason, b.tells(), d.Tasks, b.file, b.start)
	if p.Due, _ = Next(b.start, b.c.Every, Phase(seed, a, b.c.Every), b.c.Hours); b.row.Why == WhyCooling && b.row.Due.After(b.start) {
		p.Due = b.row.Due
	}
	p.Chain, p.Rests, err = r.Engine.Foresee(ctx, b.ask(b.session()))
	return p, err
}
