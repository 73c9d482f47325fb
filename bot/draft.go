package bot

import (
	"context"
	"strings"

	"standin/bot/policy"
	"standin/channels"
)

// growing is the draft of a turn: the answer so far, on surfaces that can show it.
type growing struct {
	draft channels.Draft // nil: the surface cannot
	so    strings.Builder
}

// draft opens a draft where the surface has one and shows that the turn runs.
// It stands where the answer will; an answer that is not for all to see has none.
func (b *Bot) draft(ctx context.Context, cfg *Config, turn string, in channels.Inbound, batch bool, aloud speech) *growing {
	g := &growing{}
	if !aloud.drafts() {
		return g
	}
	where := b.refer(cfg, in, batch, policy.Tag{}, []channels.Outbound{{Kind: channels.Reply, ReplyTo: in.ID}})[0].ReplyTo
	if d, ok := b.Channels[in.To.Channel].(channels.Drafter); ok {
		if g.draft = d.Draft(ctx, in.To, where, book{b, turn}); g.draft != nil {
			g.draft.Working()
		}
	}
	return g
}

// text takes the next piece. What may still become NO_REPLY is not shown.
func (g *growing) text(piece string) {
	g.so.WriteString(piece)
	clean, _ := policy.Untag(policy.Settled(strings.ReplaceAll(g.so.String(), voiceTag, "")))
	if text := strings.TrimSpace(clean); g.draft != nil && !mayBeSilence(text) {
		g.draft.Show(text)
	}
}

func mayBeSilence(text string) bool {
	return len(text) <= len(noReply) && strings.EqualFold(text, noReply[:len(text)])
}

// round starts the text anew: tools have been used, and what was said before is
// not the answer. What is shown stays until there is more to show.
func (g *growing) round() { g.so.Reset() }

// discard takes back what was shown: its candidate failed, or its ending is not
// the one that counts [I8].
func (g *growing) discard() {
	if g == nil {
		return
	}
	g.so.Reset()
	if g.draft != nil {
		g.draft.Discard()
	}
}

// end closes the draft. A turn that has an answer leaves its text for the post
// that adopts it; any other takes it back.
func (g *growing) end(answered bool) {
	if g.draft == nil {
		return
	}
	if _, silent := visible(g.so.String()); !answered || silent {
		g.draft.Discard()
	}
	g.draft.Close()
}
