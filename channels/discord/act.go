package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"standin/channels"
)

var _ channels.Actor = (*Channel)(nil)

// React implements channels.Actor. An emoji of the server's own is written
// name:id, as Discord writes it.
func (c *Channel) React(ctx context.Context, to channels.Address, message, emoji string, on bool) error {
	sign, ok := channels.EmojiSign(emoji)
	if !ok && customEmoji(emoji) {
		sign, ok = emoji, true
	}
	if !ok {
		return &channels.SendError{Outcome: channels.Refused, Err: fmt.Errorf("%q is no emoji that Discord knows; give the character itself, such as 👍", emoji)}
	}
	method := http.MethodPut
	if !on {
		method = http.MethodDelete
	}
	path := "channels/" + to.Conversation + "/messages/" + message + "/reactions/" + url.PathEscape(sign) + "/@me"
	if err := c.api.do(ctx, call{method: method, path: path}, nil); err != nil {
		return sendError(err)
	}
	return nil
}

// customEmoji tells an emoji of a server's own: name:id.
func customEmoji(s string) bool {
	name, id, ok := strings.Cut(s, ":")
	return ok && name != "" && isSnowflake(id)
}

// Edit implements channels.Actor. A text that needs more than one message is
// refused: the message stays one.
func (c *Channel) Edit(ctx context.Context, to channels.Address, message, text string) error {
	parts := c.split(text)
	if len(parts) != 1 {
		return &channels.SendError{Outcome: channels.Refused, Err: fmt.Errorf("the new text needs %d messages; shorten it", len(parts))}
	}
	body := map[string]any{"content": parts[0], "allowed_mentions": mentionsOf(channels.Reply)}
	if err := c.api.do(ctx, call{method: http.MethodPatch, path: "channels/" + to.Conversation + "/messages/" + message, body: body}, nil); err != nil {
		return sendError(err)
	}
	return nil
}
