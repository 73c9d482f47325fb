package bot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// place is where and for whom a turn runs. Background runs are the owner's, as
// their schedule is, but for those that a guest has asked for.
func (b *Bot) place(ctx context.Context, cfg *Config, turn string, t Turn) tools.Place {
	at := tools.Place{Turn: turn, Session: t.Session, Agent: t.Agent, Kind: t.Kind, To: t.To, Chat: t.Chat, Owner: !t.Guest,
		Workspace: cfg.Agents[t.Agent].Workspace, Tainted: t.tainted}
	if in := t.in; in != nil {
		at.To, at.Chat, at.From, at.Message = in.To, in.Chat, in.From, in.ID
		at.Owner, at.Authorized = b.owns(ctx, cfg, *in), in.Authorized
	}
	return at
}

// toolbox is what a turn's model may use, nil without tools.
func (b *Bot) toolbox(cfg *Config, at tools.Place, t Turn) *tools.Box {
	all := b.tools()
	if len(all) == 0 || !cfg.Tools.On {
		return nil
	}
	if len(t.Tools) > 0 { // a job's own list narrows the agent's [R29]
		all = only(all, t.Tools)
	}
	if t.Dry { // those that run alone are the ones that write
		all = slices.DeleteFunc(all, func(t tools.Tool) bool { return t.Acts || t.Alone })
	}
	box := &tools.Box{At: at, Policy: cfg.Agents[t.Agent].Tools, Tools: all, Limits: cfg.Tools.Limits, Log: b.Log, Acting: t.Acting}
	if len(t.rows) > 0 {
		box.Acting = func(ctx context.Context) error { return b.Store.Acting(ctx, t.rows) }
	}
	return box
}

// only keeps the tools of a list.
func only(all []tools.Tool, list []string) (kept []tools.Tool) {
	p := tools.Policy{Allow: list}
	for _, t := range all {
		if p.Refuse(t, tools.Place{Owner: true}) == "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// othersSpoke tells whether what a request adds to the transcript holds words of
// others than the owner: they wrote a part of it, or were heard in the room. In a
// direct chat what is heard beside the message is the person's own doing.
func (b *Bot) othersSpoke(ctx context.Context, cfg *Config, r *request, heard bool) bool {
	if heard && r.row.In.Chat != channels.Direct {
		return true
	}
	return slices.ContainsFunc(r.rows(), func(row Accepted) bool { return !b.owns(ctx, cfg, row.In) })
}

// ofOthers tells whether entries hold such words.
func ofOthers(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Others })
}

// owns tells whether a message is the owner's. Who cannot be looked up is not.
func (b *Bot) owns(ctx context.Context, cfg *Config, in channels.Inbound) bool {
	known, err := b.Store.Known(ctx, in.To, in.From.ID)
	if err != nil {
		b.Log.Error("owner not looked up", "user", in.From.ID, "err", err)
		return false
	}
	return cfg.Rules.Owns(in, known)
}

// tools are the bot's own and those of the wiring.
func (b *Bot) tools() []tools.Tool {
	all := []tools.Tool{b.statusTool(), b.sessionsTool(), b.historyTool(), b.messageTool()}
	if b.Options.Tools != nil {
		all = append(all, b.Options.Tools()...)
	}
	return all
}

// exchange is a turn's use of tools as the transcript keeps it.
func exchange(turn string, box fallback.Tools, said []provider.Message, m fallback.Model, e []Entry) []Entry {
	if past, ok := box.(*tools.Box); ok {
		said = past.Past(said)
	}
	for _, s := range said {
		entry := Entry{Turn: turn, Role: s.Role, Text: s.Text, At: e[0].At, Calls: s.Calls, Results: s.Results}
		if s.Role == provider.Assistant {
			entry.Model = m
		}
		e = append(e, entry)
	}
	return e
}

// done is what a failed turn's tools have done, for the transcript: the next turn
// has to know of it.
func (b *Bot) done(turn string, ask fallback.Ask, err error, e []Entry) []Entry {
	var failed *fallback.SummaryError
	if !errors.As(err, &failed) || !failed.Acted {
		return e
	}
	e = exchange(turn, ask.Tools, failed.Said, fallback.Model{}, e)
	return append(e, Entry{Turn: turn, Role: provider.Assistant, Text: hintCutOff, At: b.Now()})
}

// sentBy is what a turn's tools have posted.
func sentBy(box fallback.Tools) []tools.Sent {
	if b, ok := box.(*tools.Box); ok {
		return b.Sent
	}
	return nil
}

// said tells whether a tool has posted the text to the place already.
func said(sent []tools.Sent, to channels.Address, text string) bool {
	return slices.ContainsFunc(sent, func(s tools.Sent) bool {
		return s.To == to && strings.Join(strings.Fields(s.Text), " ") == strings.Join(strings.Fields(text), " ")
	})
}
