package slack

import (
	"context"

	slackapi "github.com/slack-go/slack"

	"standin/channels"
)

// acknowledges tells whether a message gets the ack reaction [SL22].
func (c *Channel) acknowledges(f fact) bool {
	if c.cfg.AckReaction == "" {
		return false
	}
	switch c.cfg.AckReactionScope {
	case "all":
		return true
	case "direct":
		return f.chat == channels.Direct
	case "group-all":
		return f.chat != channels.Direct
	case "group-mentions":
		return f.chat != channels.Direct && f.mentioned
	}
	return false
}

// react adds or removes a reaction. That it is there, or gone, already is no
// error [SL22]; nothing waits for it.
func (c *Channel) react(ctx context.Context, conversation, message, emoji string, on bool) {
	ref := slackapi.NewRefToMessage(conversation, message)
	err := c.writing(ctx, func(ctx context.Context) error {
		if on {
			return c.api.AddReactionContext(ctx, emoji, ref)
		}
		return c.api.RemoveReactionContext(ctx, emoji, ref)
	})
	switch codeOf(err) {
	case "already_reacted", "no_reaction", "message_not_found":
		return
	}
	if err != nil {
		c.log.Debug("reaction not set", "emoji", emoji, "err", err)
	}
}

// marked remembers which messages carry the ack reaction at a place.
func (c *Channel) marked(conversation, thread, message string) {
	if c.cfg.RemoveAckAfterReply {
		c.acks.Put(factKey(conversation, thread), message, c.now())
	}
}

// answered does what follows an answer: the ack reaction goes, if it is to.
func (c *Channel) answered(ctx context.Context, out channels.Outbound, thread string) {
	if !c.cfg.RemoveAckAfterReply || out.Kind == channels.Notice {
		return
	}
	key := factKey(out.To.Conversation, thread)
	if message, ok := c.acks.Get(key, c.now()); ok {
		c.acks.Drop(key)
		go c.react(context.WithoutCancel(ctx), out.To.Conversation, message, c.cfg.AckReaction, false)
	}
}

// status shows or ends that the turn runs: Slack's status line in a thread, the
// typing reaction elsewhere [SL21]. It reports whether something has to be
// ended: Slack ends the status line itself when a message comes.
func (d *draft) status(on bool) (typing bool) {
	if d.thread == "" {
		emoji := d.c.cfg.TypingReaction
		if emoji == "" || d.message == "" {
			return false
		}
		d.c.react(d.ctx, d.to.Conversation, d.message, emoji, on)
		return on
	}
	text := ""
	if on {
		text = "is typing…"
	}
	err := d.c.writing(d.ctx, func(ctx context.Context) error {
		return d.c.api.SetAssistantThreadsStatusContext(ctx, slackapi.AssistantThreadsSetStatusParameters{
			ChannelID: d.to.Conversation, ThreadTS: d.thread, Status: text,
		})
	})
	if err != nil {
		d.c.log.Debug("status line not set", "err", err)
	}
	return false
}
