package bot

import (
	"context"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// rules are what one message's room adds to an ask: a model of the channel's, a
// parent's choice, instructions, and how much of the past is seen.
func (t *Turn) rules(cfg *Config, sess Session) (channel fallback.Model, parent fallback.SessionID, system string, turns int) {
	parent, turns = sess.ParentOf(), cfg.HistoryTurns
	if t.Fresh {
		turns = 0
	}
	if t.in == nil {
		return channel, parent, "", turns
	}
	if parent == "" {
		parent = policy.Parent(t.Agent, *t.in, t.Session)
	}
	s, _ := cfg.Rules.Surface(t.in.To)
	if t.in.Chat == channels.Direct && s.DMTurns != nil {
		turns = *s.DMTurns
	}
	return cfg.Rules.Model(t.in.To, t.in.Parent), parent, s.System(*t.in), turns
}

// withOverheard puts what the room said since the last answer in front of a
// mention, and gives the last inbox row that this takes in [S17, S18].
func (b *Bot) withOverheard(ctx context.Context, cfg *Config, r *request, text string) (string, int64) {
	s, known := cfg.Rules.Surface(r.row.In.To)
	if !known || r.row.In.Chat == channels.Direct || s.Overheard <= 0 {
		return text, 0
	}
	lines, upTo, err := b.Store.Overheard(ctx, r.row.In.To, s.RoomWide, min(s.Overheard, policy.OverheardMost))
	if err != nil {
		b.Log.Error("what a room said was not read", "session", r.row.Session, "err", err)
		return text, 0
	}
	if n := len(lines); n > 0 && lines[n-1].Text == r.row.In.Text {
		lines = lines[:n-1] // this message itself, told a second time as a mention [SL13]
	}
	return policy.WithOverheard(lines, text), upTo
}

// parentToKeep is the parent of a conversation that its key does not show [D7].
func parentToKeep(row Accepted) fallback.SessionID {
	if row.In.Parent == "" {
		return ""
	}
	return policy.Parent(row.Agent, row.In, row.Session)
}
