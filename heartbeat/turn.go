package heartbeat

import (
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// TurnOf is an agent's beat as a turn, for a wiring that runs turns itself and
// has no schedule, such as a rehearsal. last is where the session base was last
// spoken to. The verdict is filled in when the turn has been answered; clear is
// the ask whose clearing rule is due before the turn, nil when the turn applies
// it itself [H21].
func (s *Settings) TurnOf(a fallback.AgentID, base fallback.SessionID, last channels.Address, now time.Time) (t bot.Turn, v *Verdict, clear *fallback.Ask) {
	b := &beat{s: s, c: s.For(a), agent: a, reason: Manual, base: base, start: now}
	known := func(channels.Address) bool { return true }
	place := b.c.place(last, func(channels.Address) channels.ChatType { return "" }, known)
	seen := s.Seen.At(place.To)
	v = &Verdict{}
	t = bot.Turn{
		Session: b.session(), Agent: a, Kind: fallback.Heartbeat, Recall: Mark,
		Model: b.c.Model, Fallbacks: b.c.Fallbacks, Listed: b.c.Listed,
		Fresh: b.session() != base, Light: b.c.Light, Timeout: b.c.timeout(), To: place.To,
		Judge: func(res bot.Result) bot.Verdict {
			*v = Judge(b.c, seen, Row{}, res.Text, now)
			if v.Why == WhyPosted && place.Why != "" {
				v.Why = place.Why
			}
			return bot.Verdict{Text: v.Text, Why: string(v.Why), Forget: v.Forget}
		},
	}
	t.Text, t.System = prompt(b.c, b.reason, false, nil, File{Missing: true}, now)
	if t.Fresh && b.c.Model.IsZero() {
		ask := b.ask(base)
		clear = &ask
	}
	return t, v, clear
}
