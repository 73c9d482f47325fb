package bot

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"standin/bot/policy"
	"standin/channels"
)

// Receive takes one message. It returns nil once the message is durable and
// owed an ending, or was taken before [I1, I2]; a command has been answered by
// then. It implements channels.Receiver.
//
// Who may speak is decided before the message is kept: what an unknown person
// wrote is in no row, so that no later turn can come across it.
func (b *Bot) Receive(ctx context.Context, in channels.Inbound) error {
	if b.isStopping() {
		return ErrShutdown
	}
	cfg := b.Config()
	if in.Happening != nil {
		return b.happened(ctx, cfg, in)
	}
	v, err := b.admit(ctx, cfg, in)
	if err != nil {
		return fmt.Errorf("decide about message %s: %w", in.ID, err)
	}
	if v.What != policy.Admit {
		return b.turnAway(ctx, cfg, in, v)
	}
	in.Authorized = v.Authorized
	agent := cfg.Rules.Agent(in, cfg.DefaultAgent)
	addressed, why := cfg.Rules.Addressed(in, agent, cfg.Agents[agent].Name)
	addressed, why = b.activated(ctx, cfg, in, agent, addressed, why)
	in.Mentioned, in.Unasked = addressed, why == policy.Unasked
	_, _, command := slashed(cfg, in)
	if in.Command && !command {
		return b.ReceiveFor(ctx, in, cfg.Rules.Slash(agent, in), agent)
	}
	// A command at the top of a room is about the room, not about the thread that
	// its answer opens: the room's threads inherit what it chooses [T4, SL18].
	return b.ReceiveFor(ctx, in, cfg.Rules.Session(agent, in, in.Mentioned && !command), agent)
}

// admit asks the door.
func (b *Bot) admit(ctx context.Context, cfg *Config, in channels.Inbound) (v policy.Verdict, err error) {
	s, known := cfg.Rules.Surface(in.To)
	if !known {
		return cfg.Rules.Admit(in, policy.Known{}), nil
	}
	var k policy.Known
	if !in.Bot {
		err = b.retry(ctx, readTries, func() (err error) {
			k, err = b.Store.Known(ctx, in.To, in.From.ID)
			return err
		})
		return cfg.Rules.Admit(in, k), err
	}
	// A bot that would not get in beside an owner needs no look at the room.
	if v = cfg.Rules.Admit(in, policy.Known{OwnerHere: true}); v.What == policy.Admit && s.OwnerWithBot {
		v = cfg.Rules.Admit(in, policy.Known{OwnerHere: b.ownerHere(ctx, cfg, in.To)})
	}
	if v.What != policy.Admit {
		return v, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.crowd.Hears(in, b.Now()) {
		b.Log.Warn("a bot is not listened to for a while: it wrote too often", "channel", in.To.Channel, "conversation", in.To.Conversation, "bot", in.From.ID)
		v = policy.Verdict{What: policy.Drop, Why: "a bot that does not stop"}
	}
	return v, nil
}

// ownerHere tells whether an owner is a member of the room. What cannot be
// looked up counts as no [SL15].
func (b *Bot) ownerHere(ctx context.Context, cfg *Config, to channels.Address) bool {
	roster, can := b.Channels[to.Channel].(Roster)
	return can && slices.ContainsFunc(cfg.Rules.OwnersOf(to), func(user string) bool {
		member, err := roster.Member(ctx, to, user)
		if err != nil {
			b.Log.Warn("members of a room not read", "conversation", to.Conversation, "err", err)
		}
		return err == nil && member
	})
}

// turnAway keeps that a message came, without a word of it, and ends it.
func (b *Bot) turnAway(ctx context.Context, cfg *Config, in channels.Inbound, v policy.Verdict) error {
	in.Text, in.Files, in.Authorized, in.Mentioned = "", nil, false, false
	row, ours, err := b.accept(ctx, in, "", "")
	if err != nil {
		return fmt.Errorf("accept message %s: %w", in.ID, err)
	}
	if ours {
		b.ledger.open(keyOf(in))
		b.reject(ctx, cfg, row, v)
	}
	return nil
}

// reject ends a message that was turned away: in silence, with the one line of
// pairing, or with a refusal that its sender alone reads [C2, P1].
func (b *Bot) reject(ctx context.Context, cfg *Config, row Accepted, v policy.Verdict) {
	e := Ending{Turn: b.ID(), How: Silent, Why: v.Why, Background: true}
	switch v.What {
	case policy.Refuse:
		e.How, e.Posts = Commanded, []channels.Outbound{post(e.Turn, channels.Command, row.In, sayNotForYou())}
	case policy.Pair:
		code, err := policy.Code(rand.Reader)
		if err != nil {
			b.Log.Error("no pairing code", "err", err)
			break
		}
		now := b.Now()
		e.Pair = &Pairing{Channel: row.In.To.Channel, Account: row.In.To.Account, User: row.In.From.ID, Name: row.In.From.Name,
			Code: code, Asked: now, Expires: now.Add(policy.PairingTTL), Conversation: row.In.To.Conversation}
		e.Posts = []channels.Outbound{post(e.Turn, channels.Command, row.In, sayPairing(*e.Pair))}
	}
	for i := range e.Posts {
		if row.In.Chat != channels.Direct || row.In.Command {
			e.Posts[i].Only = row.In.From.ID
		}
	}
	e.Posts = b.refer(cfg, row.In, false, policy.Tag{}, e.Posts)
	b.end(ctx, row, e)
	b.Log.Info("message turned away", "channel", row.In.To.Channel, "conversation", row.In.To.Conversation, "user", row.In.From.ID, "why", v.Why)
}

// refer gives the posts of a turn their references [N25–N29]. A channel without
// rules of its own has each post refer to the message, as it always did.
func (b *Bot) refer(cfg *Config, in channels.Inbound, batch bool, tag policy.Tag, posts []channels.Outbound) []channels.Outbound {
	s, known := cfg.Rules.Surface(in.To)
	if !known {
		return posts
	}
	return s.References(in, batch, tag, posts)
}

// referAll is refer for an Ending, its notice included.
func (b *Bot) referAll(cfg *Config, in channels.Inbound, batch bool, tag policy.Tag, e *Ending) {
	all := e.Posts
	if e.Notice != nil {
		all = append([]channels.Outbound{*e.Notice}, all...)
	}
	all = b.refer(cfg, in, batch, tag, all)
	if e.Notice != nil {
		e.Notice, all = &all[0], all[1:]
	}
	e.Posts = all
}
