package daemon

import (
	"context"
	"errors"
	"fmt"

	"standin/bot"
	"standin/channels"
	"standin/cmd/standin/config"
)

// port is what the bot sees of a platform: one channel, whichever accounts it
// has just now. The address of a message says which of them is meant.
type port struct {
	name  string
	fleet *fleet
	sent  func(channels.Outbound, error) // hears what became of each post; nil: nobody does
}

var (
	_ channels.Channel   = port{}
	_ channels.Finder    = port{}
	_ channels.Drafter   = port{}
	_ channels.Retractor = port{}
	_ channels.Historian = port{}
	_ channels.Actor     = port{}
	_ bot.Roster         = port{}
)

// Name implements channels.Channel.
func (p port) Name() string { return p.name }

// Run is not for the bot to call: the fleet runs the accounts.
func (p port) Run(context.Context, channels.Receiver) error {
	return errors.New(p.name + ": its accounts are run one by one")
}

func (p port) account(to channels.Address) (channels.Channel, error) {
	ch, known, err := p.fleet.at(config.Place{Channel: to.Channel, Account: to.Account})
	switch {
	case !known:
		return nil, &channels.SendError{Outcome: channels.Refused, Err: fmt.Errorf("the config has no account %s", config.Place{Channel: to.Channel, Account: to.Account})}
	case err != nil:
		return nil, &channels.SendError{Outcome: channels.NotSent, Err: err}
	}
	return ch, nil
}

// Send implements channels.Channel. What is owed to an account that the config
// no longer has is refused; one that cannot be used now is tried again later.
func (p port) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	ch, err := p.account(out.To)
	var r channels.Receipt
	if err == nil {
		r, err = ch.Send(ctx, out)
	}
	if p.sent != nil {
		p.sent(out, err)
	}
	return r, err
}

// Find implements channels.Finder.
func (p port) Find(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	ch, err := p.account(out.To)
	if err != nil {
		return channels.Receipt{}, false, err
	}
	if finder, can := ch.(channels.Finder); can {
		return finder.Find(ctx, out)
	}
	return channels.Receipt{}, false, errors.ErrUnsupported
}

// Draft implements channels.Drafter; nil where there is none to be had.
func (p port) Draft(ctx context.Context, to channels.Address, replyTo string, book channels.DraftBook) channels.Draft {
	if ch, err := p.account(to); err == nil {
		if d, can := ch.(channels.Drafter); can {
			return d.Draft(ctx, to, replyTo, book)
		}
	}
	return nil
}

// Retract implements channels.Retractor. A draft of an account that the config
// no longer has stays where it is.
func (p port) Retract(ctx context.Context, m channels.DraftMark) error {
	ch, err := p.account(m.To)
	if err != nil {
		return err
	}
	if r, can := ch.(channels.Retractor); can {
		return r.Retract(ctx, m)
	}
	return &channels.SendError{Outcome: channels.Refused, Err: errors.ErrUnsupported}
}

// Past implements channels.Historian.
func (p port) Past(ctx context.Context, at channels.Address, before string, limit int) ([]channels.Said, error) {
	ch, err := p.account(at)
	if err != nil {
		return nil, err
	}
	if historian, can := ch.(channels.Historian); can {
		return historian.Past(ctx, at, before, limit)
	}
	return nil, fmt.Errorf("%s does not tell what was said before", p.name)
}

// React implements channels.Actor.
func (p port) React(ctx context.Context, to channels.Address, message, emoji string, on bool) error {
	return p.act(to, func(a channels.Actor) error { return a.React(ctx, to, message, emoji, on) })
}

// Edit implements channels.Actor.
func (p port) Edit(ctx context.Context, to channels.Address, message, text string) error {
	return p.act(to, func(a channels.Actor) error { return a.Edit(ctx, to, message, text) })
}

func (p port) act(to channels.Address, do func(channels.Actor) error) error {
	ch, err := p.account(to)
	if err != nil {
		return err
	}
	if a, can := ch.(channels.Actor); can {
		return do(a)
	}
	return &channels.SendError{Outcome: channels.Refused, Err: errors.ErrUnsupported}
}

// Member implements bot.Roster.
func (p port) Member(ctx context.Context, to channels.Address, user string) (bool, error) {
	ch, err := p.account(to)
	if err != nil {
		return false, err
	}
	if roster, can := ch.(bot.Roster); can {
		return roster.Member(ctx, to, user)
	}
	return false, fmt.Errorf("%s does not tell who is in a room", p.name)
}
