package bot

import (
	"context"

	"standin/channels"
	"standin/fallback"
)

// freshen begins a new session when the stored one is over by time [S6–S9]. It
// is looked at when the next message comes, by nothing else. Everything is
// dropped, a user's model too [S12]; /status and /why tell. It gives the
// session to go on with.
func (b *Bot) freshen(ctx context.Context, cfg *Config, in channels.Inbound, sess Session) (Session, error) {
	why := cfg.Rules.Resets.Over(in, sess.Key, sess.StartedAt, sess.LastInteraction, b.Now())
	if why == "" || sess.Epoch == "" {
		return sess, nil
	}
	sel, err := b.Store.Selection(ctx, sess.Key)
	if err != nil {
		return sess, err
	}
	e := Ending{Session: sess.Key, How: Commanded, Why: why, Background: true,
		Renew: &Renewal{Session: sess.Key, Epoch: b.ID(), Drop: true, ByTime: true}}
	if differ(sel, fallback.Selection{}) {
		e.change = &fallback.Step{Run: b.ID(), Session: sess.Key, Agent: sess.Agent, Kind: fallback.Chat, What: fallback.StepOverride,
			Write: &fallback.Write{Act: fallback.ActClear, Was: sel, By: &fallback.Person{Name: "The " + why, Command: "sessions.reset"}}}
	}
	if err := b.endAlone(ctx, e); err != nil {
		return sess, err
	}
	b.Log.Info("session is over", "session", sess.Key, "why", why)
	return b.Store.Session(ctx, sess.Key)
}
