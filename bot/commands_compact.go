package bot

import (
	"context"
	"errors"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// obeyCompact is /compact [what to look at]: it stops the running answer and has
// the conversation summed up in its lane [C14, S19].
func obeyCompact(ctx context.Context, o *order) (reply, error) {
	if o.sess.Turns == 0 {
		return say(sayNothingToCompact)
	}
	if running := o.lanes.Cut(o.row.Session, errStopped); running != nil {
		o.endStopped(ctx, running)
	}
	return reply{then: &request{text: "/compact " + o.args, compact: &o.args}}, nil
}

// compactNow is the turn that a /compact becomes.
func (b *Bot) compactNow(ctx context.Context, cfg *Config, turn string, r *request) (e Ending, done bool) {
	e = Ending{Session: r.row.Session, How: Commanded, Why: "compact"}
	in := r.row.In
	t := Turn{Session: r.row.Session, Agent: r.row.Agent, Kind: fallback.Compaction}
	ask, sess, err := b.ask(ctx, cfg, turn, t)
	before, after := size(ask), int64(0)
	if err == nil {
		fit := b.fit(ctx, cfg, ask)
		// Who asks for it wants it short, whether or not there is room still.
		err = b.compact(ctx, cfg, t, sess, ask, fit, min(fit.Keep, before/4), *r.compact)
	}
	if err == nil {
		ask, _, err = b.ask(ctx, cfg, turn, t)
		after = size(ask)
	}
	text := sayCompacted(before, after)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrShutdown), errors.Is(cause, errStopped):
		return e, false
	case errors.Is(cause, ErrAborted):
		e.How, e.Why, e.Aborted = Silent, "aborted", true
		return e, true
	case errors.Is(err, errNothingToCompact):
		text = sayNothingToCompact
	case err != nil:
		b.Log.Warn("compaction failed", "session", r.row.Session, "turn", turn, "err", err)
		text = sayNotCompacted(whyFailed(err, b.Now()).line)
	}
	e.Posts = b.refer(cfg, in, false, policy.Tag{}, []channels.Outbound{post(turn, channels.Command, in, text)})
	return e, true
}
