package bot

import (
	"context"

	"standin/channels"
	"standin/fallback"
)

// Given is a command as it was given: its words, by whom, and where.
type Given struct {
	Args    string
	Session fallback.SessionID
	Agent   fallback.AgentID
	To      channels.Address
	Chat    channels.ChatType
	From    channels.User
	// Operates says that the sender may change what is everybody's: an owner, or
	// somebody whom commands.allowFrom names [C1, R71].
	Operates bool
	Owner    bool // an owner
}

// at answers a command of the wiring that asks who gives it.
func (b *Bot) at(ctx context.Context, cfg *Config, row Accepted, c call) (reply, error) {
	o := &order{Bot: b, cfg: cfg, row: row, name: c.cmd.Name, args: c.args, now: b.Now()}
	text, err := c.cmd.At(ctx, Given{Args: c.args, Session: row.Session, Agent: row.Agent, To: row.In.To, Chat: row.In.Chat, From: row.In.From,
		Operates: o.operates(ctx), Owner: b.owns(ctx, cfg, row.In)})
	if err != nil {
		text = err.Error()
	}
	return say(text)
}
