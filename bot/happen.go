package bot

import (
	"context"
	"fmt"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

// KnownMessage is what the store knows of a message that a happening is about.
type KnownMessage struct {
	Session fallback.SessionID
	From    channels.User // who wrote it; the zero User when the agent did
	Thread  string
	Own     bool          // the agent posted it
	Kind    channels.Kind // of an own one
}

// happened keeps an edit, a reaction or the like for the agent's next turn in
// the session of the message that it is about, else in that of its place
// [SL16]. Nothing is answered, and nothing is kept of people who are not let in.
func (b *Bot) happened(ctx context.Context, cfg *Config, in channels.Inbound) error {
	h := *in.Happening
	in.Happening = &h
	var known KnownMessage
	var found bool
	if h.Message != "" {
		err := b.retry(ctx, readTries, func() (err error) {
			known, found, err = b.Store.Message(ctx, in.To, h.Message)
			return err
		})
		if err != nil {
			return fmt.Errorf("look up message %s: %w", h.Message, err)
		}
	}
	if found {
		h.Own = h.Own || known.Own
		if in.To.Thread == "" {
			in.To.Thread = known.Thread
		}
		if in.From.ID == "" && h.Kind == channels.Deleted {
			in.From = known.From
		}
	} else if h.Kind == channels.Deleted && in.From.ID == "" {
		return nil // nobody's message, which no session has read
	}
	*in.Happening = h
	v, err := b.admit(ctx, cfg, in)
	if err != nil {
		return fmt.Errorf("decide about happening %s: %w", in.ID, err)
	}
	if v.What != policy.Admit || !cfg.Rules.Tells(in) {
		b.Log.Debug("happening not told", "what", h.Kind, "conversation", in.To.Conversation, "why", v.Why)
		return nil
	}
	session := known.Session
	if session == "" {
		session = cfg.Rules.Session(cfg.Rules.Agent(in, cfg.DefaultAgent), in, false)
	}
	return b.Note(ctx, SystemEvent{Session: session, Key: policy.HappeningKey(in), Text: policy.Happened(in)})
}
