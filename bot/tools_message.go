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

// messageInput is what the message tool is asked.
type messageInput struct {
	Action  string
	Text    string
	To      string
	Thread  string
	Message string
	Emoji   string
	Remove  bool
}

// messageTool is message [G36]: the agent says something beside its answer, puts
// a reaction on a message or changes one of its own. What it sends goes through
// the outbox like any post: once, in order [I2].
func (b *Bot) messageTool() tools.Tool {
	return tools.Tool{
		Name: "message", Acts: true,
		Description: "Does something in a chat beside your answer: sends a message of its own, here, in a thread or in another conversation; puts a reaction on a message; changes the text of one of yours. Do not use it for the answer itself.",
		Schema: `{"type":"object","properties":{
			"action":{"type":"string","enum":["send","react","edit"],"description":"Default send."},
			"text":{"type":"string","description":"send, edit: what it says, in Markdown."},
			"to":{"type":"string","description":"The key of another conversation, as sessions_list gives it. Default: here."},
			"thread":{"type":"string","description":"send: the id of a message, to answer in its thread."},
			"message":{"type":"string","description":"react, edit: the id of the message. react: by default the one you answer."},
			"emoji":{"type":"string","description":"react: the character or its name, such as :thumbsup:."},
			"remove":{"type":"boolean","description":"react: take the reaction away."}},
			"additionalProperties":false}`,
		Run: func(ctx context.Context, at tools.Place, input json.RawMessage) (tools.Result, error) {
			in, err := tools.Read[messageInput](input)
			if err != nil {
				return tools.Result{}, err
			}
			to, err := b.target(ctx, at, in.To)
			if err != nil {
				return tools.Result{}, err
			}
			if !b.maySend(ctx, at.Session, to) {
				return tools.Result{}, errors.New("posting is switched off for this conversation (/send, session.sendPolicy)")
			}
			switch in.Action {
			case "", "send":
				return b.sendAside(ctx, to, in)
			case "react":
				return b.react(ctx, at, to, in)
			case "edit":
				return b.edit(ctx, to, in)
			}
			return tools.Result{}, fmt.Errorf("there is no action %q: send, react or edit", in.Action)
		},
	}
}

// sendAside posts a message of its own.
func (b *Bot) sendAside(ctx context.Context, to channels.Address, in messageInput) (tools.Result, error) {
	text := strings.TrimSpace(in.Text)
	if text == "" {
		return tools.Result{}, errors.New("there is nothing to say: text is empty")
	}
	out := channels.Outbound{ID: b.ID() + "-x", To: to, Kind: channels.Reply, Text: text}
	if in.Thread != "" {
		out.To.Thread = in.Thread
	}
	if err := b.Post(ctx, out); err != nil {
		return tools.Result{}, fmt.Errorf("not sent: %w", err)
	}
	return tools.Result{Text: "sent to " + placeOf(out.To), Sent: &tools.Sent{To: out.To, Text: text}}, nil
}

func (b *Bot) react(ctx context.Context, at tools.Place, to channels.Address, in messageInput) (tools.Result, error) {
	if in.Message == "" && to == at.To {
		in.Message = at.Message
	}
	if in.Message == "" || in.Emoji == "" {
		return tools.Result{}, errors.New("a reaction needs a message's id and an emoji")
	}
	actor, err := b.actor(to)
	if err != nil {
		return tools.Result{}, err
	}
	if err := actor.React(ctx, to, in.Message, in.Emoji, !in.Remove); err != nil {
		return tools.Result{}, err
	}
	return tools.Say("done")
}

func (b *Bot) edit(ctx context.Context, to channels.Address, in messageInput) (tools.Result, error) {
	text := strings.TrimSpace(in.Text)
	if in.Message == "" || text == "" {
		return tools.Result{}, errors.New("an edit needs the id of a message of yours and its new text")
	}
	actor, err := b.actor(to)
	if err != nil {
		return tools.Result{}, err
	}
	if err := actor.Edit(ctx, to, in.Message, text); err != nil {
		return tools.Result{}, err
	}
	return tools.Say("edited")
}

// actor is the channel of an address, if it can do more than post.
func (b *Bot) actor(to channels.Address) (channels.Actor, error) {
	actor, can := b.Channels[to.Channel].(channels.Actor)
	if !can {
		return nil, fmt.Errorf("%s has neither reactions nor edits", to.Channel)
	}
	return actor, nil
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
