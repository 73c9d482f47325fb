package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// chat is one turn of a conversation, from the snapshot of the settings to its
// ending. It runs in the session's lane.
func (b *Bot) chat(ctx context.Context, r *request) {
	if r.compact == nil {
		b.gather(ctx, r)
	}
	cfg, turn, in := b.Config(), b.ID(), r.row.In
	log := b.Log.With("session", r.row.Session, "turn", turn)
	answer := b.converse
	if r.compact != nil {
		answer = b.compactNow
	}
	e, done := answer(ctx, cfg, turn, r)
	if !done {
		log.Info("turn left without an ending", "cause", context.Cause(ctx))
		return
	}
	aloud := spoken(cfg.Voice, in, e.Posts)
	e.Turn, e.with = turn, r.with
	e.Parent, e.KeepRoute = parentToKeep(r.row), cfg.Rules.KeepsRoute(in)
	if b.end(b.life, r.row, e) {
		log.Info("turn ended", "how", e.How, "why", e.Why, "message", in.ID)
		b.speak(cfg, aloud)
		b.promise(cfg, turn, r.row, e)
		return
	}
	// Another ending was quicker, or none was written: nothing of this one shows.
	r.draft.discard()
	b.unsay(in, e)
}

// converse asks the engine and reads the answer as an Ending. done is false
// when the daemon is leaving: the message then keeps its row [I1]. It is false
// as well when a /stop is writing the ending.
func (b *Bot) converse(ctx context.Context, cfg *Config, turn string, r *request) (e Ending, done bool) {
	in := r.row.In
	defer func() {
		if p := recover(); p != nil {
			b.Log.Error("turn panicked", "session", r.row.Session, "turn", turn, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			e.How, e.Why, done = Failed, "panic", true
			e.Posts = []channels.Outbound{post(turn, channels.Failure, in, sayBroken())}
		}
	}()
	asked := b.Now()
	files := b.attachments(ctx, r)
	prompt := files.with(r.prompt(), turn)
	around := b.surround(ctx, cfg, r, prompt)
	t := Turn{Session: r.row.Session, Agent: r.row.Agent, Kind: fallback.Chat, Text: around.text,
		in: &in, rows: r.ids(), tainted: around.others || files.foreign() || b.joined(ctx, cfg, r), before: around.before, images: files.images,
		own: r.own, Model: r.own.model}
	ask, sess, err := b.ask(ctx, cfg, turn, t)
	ask.NoProbe, ask.Wordless, ask.Profile = r.noProbe, files.wordless, r.own.profile
	e = Ending{Session: r.row.Session, Epoch: sess.Epoch, Entries: []Entry{{Turn: turn, Role: provider.User, Text: prompt, At: asked}}}
	aloud := b.speech(cfg, r, sess, ask.Tools)
	ask.System = instructions(ask.System, aloud.hint())
	e.Entries[0].Others = b.othersSpoke(ctx, cfg, r, around.others)
	var out *fallback.Outcome
	if err == nil {
		d := b.draft(ctx, cfg, turn, in, r.batch, aloud)
		r.draft = d
		defer func() { d.end(out != nil) }()
		ask.OnText, ask.OnDiscard, ask.OnRound = d.text, d.discard, d.round
		ask.Steer = func() string { return b.steer(ctx, cfg, r, ask.Tools) }
		out, err = b.think(ctx, cfg, t, sess, &ask)
		e.Entries[0].Others = e.Entries[0].Others || b.joined(ctx, cfg, r) // it may have taken in more
		if errors.Is(context.Cause(ctx), errStopped) {
			out, err = nil, errStopped // an answer that crosses the /stop is too late
		}
	}
	if err != nil {
		e.Entries = b.done(turn, ask, err, e.Entries)
		e, done = b.failed(ctx, turn, in, e, err)
		aloud.apply(&e)
		b.referAll(cfg, in, r.batch, policy.Tag{}, &e)
		return e, done
	}
	e.Entries = exchange(turn, ask.Tools, out.Said, out.Used, e.Entries)
	e, tag := b.answered(cfg, turn, r.row, e, out, sentBy(ask.Tools), sess.LastInteraction)
	b.remarks(cfg, sess, r.own, turn, in, out, &e)
	around.told(&e)
	aloud.apply(&e)
	b.referAll(cfg, in, r.batch, tag, &e)
	return e, true
}

// ask gathers what a run needs to know: the session's row, its history, the
// agent's instructions. It also gives the session as it was before the turn.
func (b *Bot) ask(ctx context.Context, cfg *Config, turn string, t Turn) (_ fallback.Ask, sess Session, _ error) {
	var history []Entry
	var turns int
	var parent fallback.SessionID
	var channel fallback.Model
	var system string
	err := b.retry(ctx, readTries, func() (err error) {
		if sess, err = b.Store.Session(ctx, t.Session); err != nil {
			return fmt.Errorf("read session %s: %w", t.Session, err)
		}
		if t.in != nil {
			if sess, err = b.freshen(ctx, cfg, *t.in, sess); err != nil {
				return fmt.Errorf("renew session %s: %w", t.Session, err)
			}
		}
		if channel, parent, system, turns = t.rules(cfg, sess); turns <= 0 {
			return nil
		}
		if history, err = b.Store.History(ctx, t.Session, sess.Epoch, turns); err != nil {
			return fmt.Errorf("read history of %s: %w", t.Session, err)
		}
		history = append(slices.Clip(t.before), history...)
		return nil
	})
	hint := ""
	if sess.Aborted && t.Kind == fallback.Chat {
		hint = hintAborted // [S34]
	}
	t.tainted = t.tainted || showsDocument(history) || ofOthers(history)
	at := b.place(ctx, cfg, turn, t)
	box := b.toolbox(cfg, at, t)
	offered := fallback.Tools(nil)
	if box != nil && len(box.Offer()) > 0 {
		offered = box
	}
	return fallback.Ask{
		Tools: offered,
		Run:   turn, Session: t.Session, Agent: t.Agent, Kind: t.Kind, Config: t.limited(cfg.Fallback),
		Model: t.Model, Fallbacks: t.Fallbacks, Listed: t.Listed, Parent: parent, Channel: channel,
		Think:       cmp.Or(t.Think, provider.Effort(t.own.of(sess, SetThink)), cfg.Think),
		Compactions: sess.Compactions, NewSession: sess.Turns == 0, Window: cfg.ContextTokens,
		System:   instructions(cfg.Agents[t.Agent].System, b.workspace(ctx, at, t.Light), system, b.today(t.Agent), t.System, hint),
		Messages: shown(conversation(history, t.Text, offered != nil), t.images),
	}, sess, err
}

const readTries = 3

// conversation is the history with the new text behind it. Entries of one role
// that follow each other (a turn failed or was stopped in between) become one:
// not every vendor takes two. Without tools the exchanges with them are left out:
// vendors refuse to hear of tools that they are not told of.
func conversation(history []Entry, text string, tools bool) []provider.Message {
	all := make([]provider.Message, 0, len(history)+1)
	add := func(m provider.Message) {
		n := len(all)
		if n == 0 || all[n-1].Role != m.Role || len(all[n-1].Calls)+len(m.Calls)+len(m.Results) > 0 {
			all = append(all, m)
			return
		}
		all[n-1].Text = strings.TrimSpace(all[n-1].Text + "\n\n" + m.Text)
	}
	for _, h := range history {
		if len(all) == 0 && (h.Role == provider.Assistant || len(h.Results) > 0) {
			continue // the cut fell between a question and its answer
		}
		if !tools {
			h.Calls, h.Results = nil, nil
			if h.Text == "" {
				continue
			}
		}
		if h.Summary {
			h.Text = summaryHead + h.Text
		}
		add(provider.Message{Role: h.Role, Text: h.Text, Calls: h.Calls, Results: h.Results})
	}
	add(provider.Message{Role: provider.User, Text: text})
	return all
}

// answered reads an outcome as an Ending. What the room was told of changes
// only with something that the room sees: on a silent turn the next visible one
// announces [I3, N17, D11]. before is when a person last spoke in the session.
func (b *Bot) answered(cfg *Config, turn string, row Accepted, e Ending, out *fallback.Outcome, sent []tools.Sent, before time.Time) (Ending, policy.Tag) {
	in := row.In
	text, tag := policy.Untag(out.Reply.Text)
	text, silent := visible(text)
	if silent {
		e.How, e.Why = Silent, "no_reply"
		return b.acted(cfg, turn, in, e, out), tag
	}
	if rest, stray := policy.StripOK(text); stray {
		if text = rest; text == "" { // a word that belongs to heartbeats and says nothing here [H7]
			e.How, e.Why = Silent, "heartbeat_ok"
			return e, tag
		}
	}
	if text == "" && out.Acted {
		e.How, e.Why = Silent, "acted" // the work was the answer
		return b.acted(cfg, turn, in, e, out), tag
	}
	if text == "" {
		// Nothing visible although silence was not asked for [N17, 18.5].
		e.How, e.Why = Failed, "empty answer"
		e.Posts = []channels.Outbound{post(turn, channels.Failure, in, sayEmpty(out))}
		return e, tag
	}
	e.How = Answered
	e.Entries = append(e.Entries, Entry{Turn: turn, Role: provider.Assistant, Text: text, Model: out.Used, At: b.Now()})
	e = b.announced(cfg, turn, in, e, out)
	if said(sent, in.To, text) { // by a tool, in so many words [G37]
		return e, tag
	}
	if e.Notice == nil && shows(cfg.Notices, in.Chat) && remind(cfg.Reminder, out.Since, before, b.Now()) {
		reminder := post(turn, channels.Notice, in, sayReminder(out, b.Now()))
		reminder.ID = turn + "-m" // not that of the reply of the same turn
		e.Posts = append(e.Posts, reminder)
	}
	if line := sayDropped(out.Plan); line != "" {
		dropped := post(turn, channels.Notice, in, line)
		dropped.ID = turn + "-d" // beside a fallback notice of the same turn
		e.Posts = append(e.Posts, dropped)
	}
	s, _ := cfg.Rules.Surface(in.To)
	text = policy.Prefixed(cfg.Rules.PrefixOf(s), text, policy.Answerer{Model: out.Used, Name: cfg.Agents[row.Agent].Name})
	e.Posts = append(e.Posts, post(turn, channels.Reply, in, text))
	return e, tag
}

// announced adds what the room is told of a change of model.
func (b *Bot) announced(cfg *Config, turn string, in channels.Inbound, e Ending, out *fallback.Outcome) Ending {
	e.Settle = out.Settle
	if out.Settle != nil && out.Notice != "" && !out.Settle.Quiet && shows(cfg.Notices, in.Chat) {
		notice := post(turn, channels.Notice, in, out.Notice)
		e.Notice = &notice
	}
	return e
}

// acted is the end of a turn without a visible answer. What its tools did in the
// room is seen there, so a change of model is told with it [N16]; a turn that did
// nothing leaves that to the next visible one [N17].
func (b *Bot) acted(cfg *Config, turn string, in channels.Inbound, e Ending, out *fallback.Outcome) Ending {
	if !out.Acted {
		return e
	}
	return b.announced(cfg, turn, in, e, out)
}

// remind tells whether a turn is the first one after another stretch of every
// has passed since the session moved to its stand-in (messages.fallbackReminder)
// [D12]. It needs no memory: the turn before was at before.
func remind(every time.Duration, since, before, now time.Time) bool {
	if every <= 0 || since.IsZero() {
		return false
	}
	stretches := func(t time.Time) time.Duration { return max(0, t.Sub(since)) / every }
	return stretches(now) > stretches(before)
}

// shows tells whether notices appear in such a chat [D12, N21].
func shows(n Notices, chat channels.ChatType) bool {
	switch n {
	case NoticesOff:
		return false
	case NoticesDirect:
		return chat == channels.Direct
	}
	return true
}

// failed reads an error of the engine as an Ending. done is false when the
// daemon is leaving.
func (b *Bot) failed(ctx context.Context, turn string, in channels.Inbound, e Ending, err error) (_ Ending, done bool) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrShutdown), errors.Is(cause, errStopped):
		return e, false
	case errors.Is(cause, ErrAborted): // the /stop answers, this message does not
		e.How, e.Why, e.Aborted = Silent, "aborted", true
		if errors.Is(cause, errOvertaken) {
			e.Why = whyOvertaken
		}
		return e, true
	}
	why := whyFailed(err, b.Now())
	b.Log.Warn("turn failed", "session", e.Session, "turn", turn, "cause", why.name, "err", provider.Redact(err.Error()))
	e.How, e.Why = Failed, why.name
	if in.Chat != channels.Direct && why.generic {
		// Rooms are spared lines that tell nobody anything [T20, 18.4].
		e.How, e.Why = Silent, "failed: "+why.name
		return e, true
	}
	if !why.always && !b.echo(in, why.line) {
		e.How, e.Why = Silent, "failed: "+why.name+", as the room has just read"
		return e, true
	}
	e.Posts = []channels.Outbound{post(turn, channels.Failure, in, why.line)}
	return e, true
}

// echo tells whether a room is to read a failure line, and notes it if so.
func (b *Bot) echo(in channels.Inbound, line string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.echoes.Says(in.To, in.Chat, line, b.Now())
}

// unsay takes back what echo noted for an ending that was not written.
func (b *Bot) unsay(in channels.Inbound, e Ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range e.Posts {
		if p.Kind == channels.Failure {
			b.echoes.Unsaid(in.To, p.Text)
		}
	}
}

// noReply is the word by which a model says that nothing should be posted [S37].
const noReply = "NO_REPLY"

// visible gives the part of an answer that people see. silent says that the
// model asked for silence.
func visible(text string) (shown string, silent bool) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, noReply) {
		return "", true
	}
	if n := len(noReply); len(text) > n {
		if strings.EqualFold(text[:n], noReply) && !isNameByte(text[n]) {
			text = strings.TrimSpace(text[n:])
		} else if m := len(text) - n; strings.EqualFold(text[m:], noReply) && !isNameByte(text[m-1]) {
			text = strings.TrimSpace(text[:m])
		}
	}
	return text, false
}
