package bot

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/bot/tools"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Turn is a run that no message started: a job, a heartbeat. It waits in its
// session's lane like any other [I9] and never touches what the room was told
// [D11, N22, N24].
type Turn struct {
	// ID is the turn's id and, with a suffix, that of its post: a caller that
	// runs the same thing again after a crash gives the same one, and nothing is
	// posted twice [R52]. "": a new one.
	ID        string
	Session   fallback.SessionID
	Agent     fallback.AgentID
	Kind      fallback.Kind
	Text      string
	System    string         // added to the agent's instructions
	Model     fallback.Model // the run's own model, zero: the session's
	Fallbacks []fallback.Model
	Listed    bool // Fallbacks was given, even if empty
	// Channel is channels.modelByChannel for the place that the run is about,
	// zero for none [H19].
	Channel fallback.Model
	// Recall is what the transcript keeps of Text, so that a long question asked
	// every half hour does not fill it; "": all of it [H16].
	Recall string
	// Fresh shows the model nothing of the session's past [R27, H15].
	Fresh bool
	// Light leaves the agent's workspace files out of the instructions [R29, H15].
	Light bool
	// Timeout bounds the run; 0: agents.defaults.timeoutSeconds, negative: no
	// bound [R25, H15].
	Timeout time.Duration
	// Refuse may pass over a candidate of the run: fallback.Ask.Refuse.
	Refuse func(fallback.Model) *fallback.Verdict
	// Job and Caps are fallback.Ask's [D20].
	Job  string
	Caps []fallback.Cap
	// Acting is told before the run first does something outside that cannot be
	// undone; an error keeps it from being done. A caller who runs the same thing
	// again after a crash writes down here that it must not [I8]. nil: nobody does.
	Acting func(ctx context.Context) error
	// To is where the answer is posted; the zero Address: nowhere.
	To channels.Address
	// Typing shows there that the run is at work, where the surface can [H24].
	Typing bool
	// Judge decides what becomes of an answer; nil: it is kept and posted as it
	// is. It is called before the ending is written and must only decide.
	Judge func(Result) Verdict

	// Think is how much the run's models think; "": as the session has it [R29].
	Think provider.Effort
	// Tools narrows the agent's tools to those that match; empty: all [R29].
	Tools []string
	// Dry takes away the tools that change something: it is a trial [IL-196].
	Dry bool
	// Guest says that somebody who is not the owner has asked for the run: it has no
	// more rights than they. Chat is where they did; what a room asks for is shown
	// nothing private, even the owner's [R71].
	Guest bool
	Chat  channels.ChatType

	in      *channels.Inbound // the message of a chat turn, nil otherwise
	rows    []int64           // the inbox rows that it answers
	tainted bool              // Text holds strangers' words beside the sender's
	before  []Entry           // stands in front of the session's own history
	images  []provider.Image  // shown with Text
	own     own               // what the message asks for itself
}

// Verdict is what becomes of a background run's answer.
type Verdict struct {
	Text   string // posted to To; "": nothing is
	Why    string // of posting nothing, for the record
	Forget bool   // the exchange leaves no trace in the transcript [H16]
}

// Result is what came of a Turn.
type Result struct {
	Turn    string       // turn id
	Text    string       // the visible answer
	Why     string       // the reason of a silence
	Failure string       // what a person may be told of a failure
	Sent    []tools.Sent // what its tools have posted
	Posted  string       // delivery id of the answer in the outbox, "" when nothing was posted
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
	if res.Turn = t.ID; res.Turn == "" {
		res.Turn = b.ID()
	}
	told, upTo, strange := b.withEvents(ctx, t.Session, t.Text)
	t.tainted = t.tainted || strange
	text := t.Text
	t.Text = told
	ask, sess, err := b.ask(ctx, cfg, res.Turn, t)
	ask.Channel, ask.Refuse, ask.Job, ask.Caps = t.Channel, t.Refuse, t.Job, t.Caps
	if err == nil {
		res.Outcome, err = func() (*fallback.Outcome, error) {
			defer b.typing(ctx, t, res.Turn)()
			return b.think(ctx, cfg, t, sess, &ask)
		}()
	}
	res.Sent = sentBy(ask.Tools)
	if err != nil {
		res.Failure = whyFailed(err, b.Now()).line
		b.remember(ctx, t, res.Turn, sess, ask, err, Entry{Turn: res.Turn, Role: provider.User, Text: cmp.Or(t.Recall, text), At: asked, Others: t.Guest})
		return res, err
	}
	e := Ending{Session: t.Session, Epoch: sess.Epoch, Turn: res.Turn, How: Answered, Background: true, Events: upTo, Entries: []Entry{
		{Turn: res.Turn, Role: provider.User, Text: cmp.Or(t.Recall, text), At: asked, Others: t.Guest}}}
	e.Entries = exchange(res.Turn, ask.Tools, res.Outcome.Said, res.Outcome.Used, e.Entries)
	answer, _ := policy.Untag(res.Outcome.Reply.Text) // there is no message to refer to
	res.Text, _ = visible(answer)
	v := Verdict{Text: res.Text}
	if res.Text == "" {
		v.Why = "no_reply"
	}
	if t.Judge != nil {
		v = t.Judge(res)
	}
	if res.Text != "" {
		e.Entries = append(e.Entries, Entry{Turn: res.Turn, Role: provider.Assistant, Text: res.Text, Model: res.Outcome.Used, At: b.Now()})
	}
	if v.Forget {
		e.Entries = nil
	}
	switch {
	case v.Text == "":
		e.How, e.Why, res.Why = Silent, v.Why, v.Why
	case t.To != (channels.Address{}) && !b.maySend(ctx, t.Session, t.To):
		e.How, e.Why, res.Why = Silent, whySendOff, whySendOff
	case t.To != (channels.Address{}):
		out := post(res.Turn, channels.Reply, channels.Inbound{To: t.To}, v.Text)
		e.Posts, res.Posted = []channels.Outbound{out}, out.ID
	}
	return res, b.endAlone(ctx, e)
}

// typing shows at a run's place that it is at work, until quiet is called. It
// shows nothing of an answer: whether there will be one is not known yet.
func (b *Bot) typing(ctx context.Context, t Turn, turn string) (quiet func()) {
	surface, can := b.Channels[t.To.Channel].(channels.Drafter)
	if !t.Typing || !can || !b.maySend(ctx, t.Session, t.To) {
		return func() {}
	}
	draft := surface.Draft(ctx, t.To, "", book{b, turn})
	if draft == nil {
		return func() {}
	}
	draft.Working()
	return func() { draft.Discard(); draft.Close() }
}

// remember keeps what a run's tools have done although it failed, so that the
// session's next turn knows of it [I8].
func (b *Bot) remember(ctx context.Context, t Turn, turn string, sess Session, ask fallback.Ask, err error, question Entry) {
	entries := b.done(turn, ask, err, []Entry{question})
	if len(entries) == 1 {
		return
	}
	e := Ending{Session: t.Session, Epoch: sess.Epoch, Turn: turn, How: Failed, Background: true, Entries: entries}
	if err := b.endAlone(ctx, e); err != nil {
		b.Log.Error("what a failed run has done is not in its session", "session", t.Session, "turn", turn, "err", err)
	}
}

// Post has something said that no turn says: an alert, a greeting. The same
// delivery id is the same message, however often it is given [I2].
func (b *Bot) Post(ctx context.Context, posts ...channels.Outbound) error {
	return b.endAlone(ctx, Ending{Background: true, Posts: posts})
}

// limited gives the settings of a run that has its own bound.
func (t *Turn) limited(cfg *fallback.Config) *fallback.Config {
	if t.Timeout == 0 {
		return cfg
	}
	own := *cfg
	own.RunTimeout = max(t.Timeout, 0)
	return &own
}

// instructions joins what the agent, the room and the run have to say.
func instructions(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n\n")
}
