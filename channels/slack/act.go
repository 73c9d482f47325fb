package slack

import (
	"context"
	"fmt"

	"standin/channels"

	slackapi "github.com/slack-go/slack"
)

var _ channels.Actor = (*Channel)(nil)

// React implements channels.Actor.
func (c *Channel) React(ctx context.Context, to channels.Address, message, emoji string, on bool) error {
	name, ok := channels.EmojiName(emoji)
	if !ok {
		return &channels.SendError{Outcome: channels.Refused, Err: fmt.Errorf("%q is no emoji that Slack knows by name; give its name, such as thumbsup", emoji)}
	}
	ref := slackapi.NewRefToMessage(to.Conversation, message)
	err := c.writing(ctx, func(ctx context.Context) error {
		if on {
			return c.api.AddReactionContext(ctx, name, ref)
		}
		return c.api.RemoveReactionContext(ctx, name, ref)
	})
	switch codeOf(err) {
	case "already_reacted", "no_reaction":
		return nil
	}
	return err
}

// Edit implements channels.Actor. A text that needs more than one message is
// refused: the message stays one.
func (c *Channel) Edit(ctx context.Context, to channels.Address, message, text string) error {
	parts := c.texts(channels.Outbound{Kind: channels.Reply, To: to, Text: text})
	if len(parts) != 1 {
		return &channels.SendError{Outcome: channels.Refused, Err: fmt.Errorf("the new text needs %d messages; shorten it", len(parts))}
	}
	return c.writing(ctx, func(ctx context.Context) error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, to.Conversation, message,
			slackapi.MsgOptionText(summary(parts[0]), false), slackapi.MsgOptionBlocks(blocksFor(parts[0])...))
		return err
	})
}
