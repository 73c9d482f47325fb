package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// chat is one turn of a conversation, from the snapshot of the settings to its
// ending. It runs in the session's lane.
func (b *Bot) chat(ctx context.Context, r *request) {
	b.gather(ctx, r)
	cfg, turn, in := b.Config(), b.ID(), r.row.In
	log := b.Log.With("session", r.row.Session, "turn", turn)
	e, done := b.converse(ctx, cfg, turn, r)
	if !done {
		log.Info("turn left without an ending", "cause", context.Cause(ctx))
		return
	}
	e.Turn, e.with = turn, r.with
	e.Parent, e.KeepRoute = parentToKeep(r.row), cfg.Rules.KeepsRoute(in)
	if b.end(b.life, r.row, e) {
		log.Info("turn ended", "how", e.How, "why", e.Why, "message", in.ID)
	}
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
	prompt := r.prompt()
	text, heard := b.withOverheard(ctx, cfg, r, prompt)
	ask, sess, err := b.ask(ctx, cfg, turn, Turn{Session: r.row.Session, Agent: r.row.Agent, Kind: fallback.Chat, Text: text, in: &in})
	ask.NoProbe = r.noProbe
	e = Ending{Session: r.row.Session, Epoch: sess.Epoch, Entries: []Entry{{Turn: turn, Role: provider.User, Text: prompt, At: asked}}}
	var out *fallback.Outcome
	if err == nil {
		d := b.draft(ctx, cfg, in, r.batch)
		defer func() { d.end(out != nil) }()
		ask.OnText, ask.OnDiscard = d.text, d.discard
		out, err = b.Engine.Run(ctx, ask)
		if errors.Is(context.Cause(ctx), errStopped) {
			out, err = nil, errStopped // an answer that crosses the /stop is too late
		}
	}
	if err != nil {
		e, done = b.failed(ctx, turn, in, e, err)
		b.referAll(cfg, in, r.batch, policy.Tag{}, &e)
		return e, done
	}
	// What was overheard is taken up only now: a turn that never reached a model
	// leaves it for the next one [S18, session-14].
	e.Entries[0].Text, e.Heard = text, heard
	e, tag := b.answered(cfg, turn, r.row, e, out, sess.LastInteraction)
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
		return nil
	})
	system = strings.TrimSpace(cfg.Agents[t.Agent].System + "\n\n" + system)
	if sess.Aborted && t.Kind == fallback.Chat {
		system = strings.TrimSpace(system + "\n\n" + hintAborted) // [S34]
	}
	return fallback.Ask{
		Run: turn, Session: t.Session, Agent: t.Agent, Kind: t.Kind, Config: cfg.Fallback,
		Model: t.Model, Fallbacks: t.Fallbacks, Listed: t.Listed, Parent: parent, Channel: channel,
		Compactions: sess.Compactions, NewSession: sess.Turns == 0,
		System: system, Messages: conversation(history, t.Text),
	}, sess, err
}

const readTries = 3

// conversation is the history with the new text behind it. Entries of one role
// that follow each other (a turn failed or was stopped in between) become one:
// not every vendor takes two.
func conversation(history []Entry, text string) []provider.Message {
	all := make([]provider.Message, 0, len(history)+1)
	add := func(m provider.Message) {
		if n := len(all); n > 0 && all[n-1].Role == m.Role {
			all[n-1].Text += "\n\n" + m.Text
			return
		}
		all = append(all, m)
	}
	for _, h := range history {
		if len(all) == 0 && h.Role == provider.Assistant {
			continue // the cut fell between a question and its answer
		}
		add(provider.Message{Role: h.Role, Text: h.Text})
	}
	add(provider.Message{Role: provider.User, Text: text})
	return all
}

// answered reads an outcome as an Ending. What the room was told of changes
// only with something that the room sees: on a silent turn the next visible one
// announces [I3, N17, D11]. before is when a person last spoke in the session.
func (b *Bot) answered(cfg *Config, turn string, row Accepted, e Ending, out *fallback.Outcome, before time.Time) (Ending, policy.Tag) {
	in := row.In
	text, tag := policy.Untag(out.Reply.Text)
	text, silent := visible(text)
	if silent {
		e.How, e.Why = Silent, "no_reply"
		return e, tag
	}
	if text == "" {
		// Nothing visible although silence was not asked for [N17, 18.5].
		e.How, e.Why = Failed, "empty answer"
		e.Posts = []channels.Outbound{post(turn, channels.Failure, in, sayEmpty(out))}
		return e, tag
	}
	e.How = Answered
	e.Entries = append(e.Entries, Entry{Turn: turn, Role: provider.Assistant, Text: text, Model: out.Used, At: b.Now()})
	e.Settle = out.Settle
	if out.Settle != nil && out.Notice != "" && !out.Settle.Quiet && shows(cfg.Notices, in.Chat) {
		notice := post(turn, channels.Notice, in, out.Notice)
		e.Notice = &notice
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
	b.mu.Lock()
	says := b.echoes.Says(in.To, in.Chat, why.line, b.Now())
	b.mu.Unlock()
	if !says {
		e.How, e.Why = Silent, "failed: "+why.name+", as the room has just read"
		return e, true
	}
	e.Posts = []channels.Outbound{post(turn, channels.Failure, in, why.line)}
	return e, true
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

// Turn is a run that no message started: a job, a heartbeat. It waits in its
// session's lane like any other [I9] and never touches what the room was told
// [D11, N22, N24].
type Turn struct {
	Session   fallback.SessionID
	Agent     fallback.AgentID
	Kind      fallback.Kind
	Text      string
	Model     fallback.Model // the run's own model, zero: the session's
	Fallbacks []fallback.Model
	Listed    bool // Fallbacks was given, even if empty
	// To is where the answer is posted; the zero Address: nowhere.
	To channels.Address

	in *channels.Inbound // the message of a chat turn, nil otherwise
}

// Result is what came of a Turn.
type Result struct {
	Turn    string // turn id
	Text    string // the visible answer
	Why     string // the reason of a silence
	Failure string // what a person may be told of a failure
	Outcome *fallback.Outcome
}

// Turn runs t and returns when it has ended. The error is the engine's: nobody
// has been told of it; a Turn that a /stop or the end of the daemon cut short
// gives ErrAborted or ErrShutdown.
func (b *Bot) Turn(ctx context.Context, t Turn) (Result, error) {
	if b.isStopping() {
		return Result{}, ErrShutdown
	}
	var res Result
	var err error
	done := make(chan struct{})
	b.lanes.Do(t.Session, job{
		run: func(lane context.Context) {
			defer close(done)
			res, err = b.background(lane, ctx, t)
		},
		dropped: func(cause error) { err = cause; close(done) },
	})
	select {
	case <-done:
		return res, err
	case <-b.life.Done():
		return Result{}, ErrShutdown
	}
}

// background is one Turn in its lane; it ends with the lane or with its caller.
func (b *Bot) background(lane, caller context.Context, t Turn) (res Result, err error) {
	ctx, cancel := context.WithCancelCause(lane)
	defer cancel(nil)
	defer context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })()
	defer func() {
		if p := recover(); p != nil {
			b.Log.Error("background turn panicked", "session", t.Session, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("turn panicked: %v", p)
			res.Failure = sayBroken()
		}
	}()
	cfg, asked := b.Config(), b.Now()
	res.Turn = b.ID()
	ask, sess, err := b.ask(ctx, cfg, res.Turn, t)
	if err == nil {
		res.Outcome, err = b.Engine.Run(ctx, ask)
	}
	if err != nil {
		res.Failure = whyFailed(err, b.Now()).line
		return res, err
	}
	e := Ending{Session: t.Session, Epoch: sess.Epoch, Turn: res.Turn, How: Answered, Background: true, Entries: []Entry{
		{Turn: res.Turn, Role: provider.User, Text: t.Text, At: asked}}}
	text, _ := policy.Untag(res.Outcome.Reply.Text) // there is no message to refer to
	var silent bool
	if res.Text, silent = visible(text); silent || res.Text == "" {
		e.How, res.Why = Silent, "no_reply"
		e.Why = res.Why
		return res, b.endAlone(ctx, e)
	}
	e.Entries = append(e.Entries, Entry{Turn: res.Turn, Role: provider.Assistant, Text: res.Text, Model: res.Outcome.Used, At: b.Now()})
	if t.To != (channels.Address{}) {
		e.Posts = []channels.Outbound{post(res.Turn, channels.Reply, channels.Inbound{To: t.To}, res.Text)}
	}
	return res, b.endAlone(ctx, e)
}
