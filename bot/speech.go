package bot

import (
	"context"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// speech is what may be said of a turn [S35, S36, G15].
type speech struct {
	// why says that nothing is posted at all; "": something is.
	why string
	// private says that the final text stays with the agent, who has a tool to
	// speak with. A failure and a notice are told all the same [N15].
	private bool
	// alone is the only person who may see it; "": everybody.
	alone string
}

// The reasons of a silence that the rules ask for.
const (
	whyRoomEvent = "a room's event"
	whySendOff   = "posting is switched off"
	whyByTool    = "the agent speaks by its tool alone"
)

// speech decides it for a turn of the session, before it runs. tools are what
// its model may use.
func (b *Bot) speech(cfg *Config, r *request, sess Session, tools fallback.Tools) (s speech) {
	in := r.row.In
	switch {
	case !cfg.Rules.Speech.Send.Allows(sess.Send, in.To.Channel, r.row.Session):
		s.why = whySendOff
	case r.ambient:
		s.why = whyRoomEvent
	}
	s.private = cfg.Rules.Speech.ByToolOnly(in, offers(tools, "message"))
	if in.Command && !in.Public && r.row.Session == cfg.Rules.Slash(r.row.Agent, in) {
		s.alone = in.From.ID
	}
	return s
}

// hint tells the model how it is heard, "" when as usual.
func (s speech) hint() string {
	switch {
	case s.why == whyRoomEvent:
		return hintRoomEvent
	case s.why == "" && s.private:
		return hintByTool
	}
	return ""
}

// drafts tells whether an answer is shown while it grows.
func (s speech) drafts() bool { return s.why == "" && !s.private && s.alone == "" }

// apply takes out of an Ending what must not be said. A change of model that was
// not told is told by the next turn that says something [I3].
func (s speech) apply(e *Ending) {
	if s.private && s.why == "" {
		posts := e.Posts[:0:0]
		for _, p := range e.Posts {
			if p.Kind != channels.Reply {
				posts = append(posts, p)
			}
		}
		if len(posts) < len(e.Posts) && e.How == Answered {
			e.How, e.Why = Silent, whyByTool
		}
		e.Posts = posts
	}
	if s.why != "" {
		e.Posts, e.Notice, e.Settle = nil, nil, nil
		if e.How != Silent {
			e.How, e.Why = Silent, strings.TrimSuffix(s.why+": "+e.Why, ": ")
		}
	}
	if s.alone != "" {
		for i := range e.Posts {
			e.Posts[i].Only = s.alone
		}
		if e.Notice != nil {
			e.Notice.Only = s.alone
		}
	}
}

// offers tells whether a tool of the name is among those that a model may use.
func offers(tools fallback.Tools, name string) bool {
	if tools == nil {
		return false
	}
	for _, t := range tools.Offer() {
		if t.Name == name {
			return true
		}
	}
	return false
}

// maySend tells whether a session's runs may post. One that cannot be looked up
// may: a lost answer is worse than a spoken one.
func (b *Bot) maySend(ctx context.Context, s fallback.SessionID, to channels.Address) bool {
	sess, err := b.Store.Session(ctx, s)
	if err != nil {
		b.Log.Error("it is not known whether a session may post", "session", s, "err", err)
	}
	return b.Config().Rules.Speech.Send.Allows(sess.Send, to.Channel, s)
}

// obeySend shows or changes whether the session's turns may post [C14].
func obeySend(ctx context.Context, o *order) (reply, error) {
	if !o.owns(ctx, o.cfg, o.row.In) {
		return say(sayOwnersOnly("send"))
	}
	own := strings.ToLower(o.args)
	switch own {
	case "":
		return say(saySend(o.sess.Send, o.allowed(o.sess.Send)))
	case "inherit", wordDefault, "reset":
		own = ""
	case "on", "off":
	default:
		return say(saySendRefused(o.args))
	}
	return reply{send: &own, text: saySend(own, o.allowed(own))}, nil
}

func (o *order) allowed(own string) bool {
	return o.cfg.Rules.Speech.Send.Allows(own, o.row.In.To.Channel, o.row.Session)
}
