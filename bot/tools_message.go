package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"standin/bot/tools"
	"standin/channels"
)

// messageTool is message [G36]: the agent says something beside its answer. What
// it sends goes through the outbox like any post: once, in order [I2].
func (b *Bot) messageTool() tools.Tool {
	return tools.Tool{
		Name: "message", Acts: true,
		Description: "Sends a message of its own, beside your answer: here, or with to somewhere else. Do not use it for the answer itself.",
		Schema: `{"type":"object","properties":{
			"action":{"type":"string","enum":["send"],"description":"Default send."},
			"text":{"type":"string","description":"What to say, in Markdown."},
			"to":{"type":"string","description":"Where: the key of a conversation, as sessions_list gives it. Default: here."}},
			"required":["text"],"additionalProperties":false}`,
		Run: func(ctx context.Context, at tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[struct{ Action, Text, To string }](input)
			if err != nil {
				return tools.Result{}, err
			}
			in.Text = strings.TrimSpace(in.Text)
			if in.Text == "" {
				return tools.Result{}, errors.New("there is nothing to say: text is empty")
			}
			to, err := b.target(ctx, at, in.To)
			if err != nil {
				return tools.Result{}, err
			}
			if !b.maySend(ctx, at.Session, to) {
				return tools.Result{}, errors.New("posting is switched off for this conversation (/send, session.sendPolicy)")
			}
			out := channels.Outbound{ID: b.ID() + "-x", To: to, Kind: channels.Reply, Text: in.Text}
			if err := b.Post(ctx, out); err != nil {
				return tools.Result{}, fmt.Errorf("not sent: %w", err)
			}
			return tools.Result{Text: "sent to " + placeOf(to), Sent: &tools.Sent{To: to, Text: in.Text}}, nil
		},
	}
}

// target is where a tool may post: here, and for the owner where a conversation
// was last spoken to.
func (b *Bot) target(ctx context.Context, at tools.Place, key string) (channels.Address, error) {
	s, err := reach(at, key)
	if err != nil {
		return channels.Address{}, err
	}
	if s == at.Session && at.To != (channels.Address{}) {
		return at.To, nil
	}
	sess, err := b.Store.Session(ctx, s)
	if err != nil {
		return channels.Address{}, err
	}
	if sess.Route == (channels.Address{}) {
		return channels.Address{}, fmt.Errorf("nobody has spoken to conversation %s yet, so there is nowhere to send to", s)
	}
	return sess.Route, nil
}
