package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Command is something a person can tell the bot with "/name". Commands are
// answered at once and never wait behind a running turn [S30].
type Command struct {
	Name    string   // without the slash, in lower case
	Aliases []string // other names
	Args    string   // for /help, such as "[provider] [page]"; "" for none
	Help    string   // one line for /help
	// Run answers a command of the wiring. An error is shown to the person.
	Run func(ctx context.Context, args string) (answer string, err error)
	// At is Run for a command that must know who gives it, and where.
	At func(ctx context.Context, g Given) (answer string, err error)

	obey func(ctx context.Context, o *order) (reply, error)
}

// order is a command that was given.
type order struct {
	*Bot
	cfg  *Config
	row  Accepted
	name string
	args string
	now  time.Time
	sess Session
	sel  fallback.Selection
	goes fallback.Selection // what a turn would go by: sel, or the parent's choice [T4]
	from fallback.SessionID // whose choice that is, when it is not this session's
}

// reply is what a command gives back: an answer, and the change that is written
// in the same transaction [IL-079].
type reply struct {
	text   string
	choose *fallback.Selection
	renew  *Renewal
	queue  *string        // a change of Session.Queue
	send   *string        // a change of Session.Send
	set    []Setting      // changes of Session.Settings
	change *fallback.Step // what choose or renew comes to, for the journal
	// choices are offered below the answer to the person who asked [D17].
	choices []channels.Choice
	// then is the turn that the rest of the message becomes; text is not shown.
	then *request
	// drops are waiting messages that end with the change, and not without it.
	drops []request
}

// say is a reply that changes nothing.
func say(text string) (reply, error) { return reply{text: text}, nil }

// builtin lists the bot's own commands, in the order of /help.
func builtin() []Command {
	return []Command{
		{Name: "model", Args: "[name | number | list | status | default]", Help: "show or choose the model of this session", obey: obeyModel},
		{Name: "models", Args: "[provider] [page]", Help: "list the models to choose from", obey: obeyModels},
		{Name: "status", Help: "what is going on in this session", obey: obeyStatus},
		{Name: "why", Help: "why this model answers: the last change, told step by step", obey: obeyWhy},
		{Name: "new", Args: "[model] [text]", Help: "start a new session; the text becomes its first message", obey: obeyNew},
		{Name: "reset", Args: "[model] [text]", Help: "the same as /new", obey: obeyNew},
		{Name: "stop", Help: "stop the running answer and drop waiting messages", obey: obeyStop},
		{Name: "auth", Args: "[list | show | order | clear | disable | enable | probe]", Help: "the credentials: how they stand, and what to do with them", obey: obeyAuth},
		{Name: "budget", Args: "[add <USD> [today | month] [name]]", Help: "what was spent, of how much; add gives more, for owners", obey: obeyBudget},
		{Name: "compact", Args: "[what matters]", Help: "sum up the conversation so far, to make room", obey: obeyCompact},
		{Name: "think", Aliases: []string{"thinking"}, Args: "[off | minimal | low | medium | high | xhigh | max | default]", Help: "how much models think before they answer", obey: obeyThink},
		{Name: "verbose", Args: "[off | on | full | default]", Help: "whether I tell which tools I have used", obey: obeyVerbose},
		{Name: "usage", Args: "[off | tokens | full | cost]", Help: "whether answers tell what they took; alone, the next of these", obey: obeyUsage},
		{Name: "activation", Args: "[mention | always | default]", Help: "what I answer in this room", obey: obeyActivation},
		{Name: "queue", Args: "[mode] [cap:n] [debounce:time] [drop:how] | default", Help: "what becomes of messages that wait", obey: obeyQueue},
		{Name: "send", Args: "on | off | inherit", Help: "whether I may post here at all; for owners", obey: obeySend},
		{Name: "whoami", Aliases: []string{"id"}, Help: "how I know you", obey: obeyWhoami},
		{Name: "help", Help: "this list", obey: obeyHelp},
		{Name: "commands", Args: "[page]", Help: "this list, in pages", obey: obeyHelp},
	}
}

// Commands lists the bot's own commands in the order of /help, for platforms
// that want to be told of them.
func Commands() []Command { return builtin() }

// commands are all there are, the wiring's behind the bot's own.
func (b *Bot) commands() []Command { return append(builtin(), b.Local...) }

// command finds a command by name or alias, nil when there is none.
func (b *Bot) command(name string) *Command {
	all := b.commands()
	i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// obey runs a command and ends its message with the answer. The change and the
// answer are one transaction, and both are committed when obey returns: the
// session's next message reads the new row [IL-079].
func (b *Bot) obey(ctx context.Context, cfg *Config, row Accepted, c call) {
	turn := b.ID()
	r, err := b.run(ctx, cfg, row, c)
	if err != nil {
		b.Log.Error("command failed", "command", c.name, "session", row.Session, "err", err)
		r = reply{text: sayCommandFailed(c.name)}
	}
	e := Ending{Turn: turn, How: Commanded, Why: c.name, Renew: r.renew, Queue: r.queue, Send: r.send, Set: r.set, change: r.change,
		Parent: parentToKeep(row), KeepRoute: cfg.Rules.KeepsRoute(row.In)}
	if r.choose != nil {
		e.Choose = &Choice{Session: row.Session, Now: *r.choose}
	}
	e.drop(r.drops)
	if r.then != nil {
		if b.changeFirst(ctx, row, e) {
			r.then.row, r.then.text = row, policy.WithFiles(r.then.text, row.In.Files)
			b.answer(cfg, *r.then)
			return
		}
		b.restore(cfg, r.drops)
		e.Renew, e.Choose, e.change, e.Drops, e.drops, r.text = nil, nil, nil, nil, nil, sayCommandFailed(c.name)
		r.drops = nil
	}
	answer := post(turn, channels.Command, row.In, r.text)
	if answer.Choices = r.choices; len(r.choices) > 0 {
		answer.For = row.In.From.ID
	}
	if row.In.Command && !row.In.Public {
		answer.Only = row.In.From.ID // the platform's own command is answered to its giver [SL28, D16]
	}
	e.Posts = b.refer(cfg, row.In, false, policy.Tag{}, []channels.Outbound{answer})
	if !b.end(ctx, row, e) {
		b.restore(cfg, r.drops)
	}
}

// changeFirst writes a command's change ahead of the turn that its text
// becomes; the message itself ends with that turn. Written twice (after a
// restart in between) it does the same.
func (b *Bot) changeFirst(ctx context.Context, row Accepted, e Ending) bool {
	alone := Ending{Session: row.Session, How: Commanded, Why: e.Why, Renew: e.Renew, Choose: e.Choose, change: e.change, Drops: e.Drops, drops: e.drops}
	err := b.retry(ctx, changeTries, func() error { return b.endAlone(ctx, alone) })
	if err != nil {
		b.Log.Error("command not written", "command", e.Why, "session", row.Session, "err", err)
	}
	return err == nil
}

const changeTries = 5

// run finds out what to answer.
func (b *Bot) run(ctx context.Context, cfg *Config, row Accepted, c call) (reply, error) {
	switch {
	case c.cmd == nil:
		return say(sayUnknownCommand(c.name, b.commands()))
	case c.cmd.Run != nil:
		text, err := c.cmd.Run(ctx, c.args)
		if err != nil {
			text = err.Error()
		}
		return say(text)
	case c.cmd.At != nil:
		return b.at(ctx, cfg, row, c)
	}
	o := &order{Bot: b, cfg: cfg, row: row, name: c.cmd.Name, args: c.args, now: b.Now()}
	err := b.retry(ctx, readTries, func() (err error) {
		if o.sess, err = b.Store.Session(ctx, row.Session); err != nil {
			return err
		}
		if o.sess.Parent == "" {
			o.sess.Parent = policy.Parent(row.Agent, row.In, row.Session)
		}
		if running, _ := b.lanes.Depth(row.Session); !running { // a running turn belongs to the old session
			if o.sess, err = b.freshen(ctx, cfg, row.In, o.sess); err != nil {
				return err
			}
		}
		if o.sel, err = b.Store.Selection(ctx, row.Session); err != nil {
			return err
		}
		return o.inherit(ctx)
	})
	if err != nil {
		return reply{}, err
	}
	r, err := c.cmd.obey(ctx, o)
	r.change = o.change(r)
	return r, err
}

// inherit finds what a turn of the session would go by (3.8).
func (o *order) inherit(ctx context.Context) error {
	o.goes = o.sel
	parent := o.sess.ParentOf()
	if parent == "" || !o.sel.Model.IsZero() {
		return nil
	}
	sel, err := o.Store.Selection(ctx, parent)
	if err != nil || sel.Model.IsZero() {
		return err
	}
	o.goes.Model, o.goes.Source, o.goes.Origin, o.from = sel.Model, sel.Source, sel.Origin, parent
	return nil
}

// plan is what a chat turn of the session would do now, under the stored
// selection sel.
func (o *order) plan(sel fallback.Selection) fallback.Plan {
	ask := fallback.Ask{Session: o.row.Session, Agent: o.row.Agent, Kind: fallback.Chat, Config: o.cfg.Fallback, Channel: o.channel()}
	return fallback.Resolve(ask, sel, false)
}

// primary is the model that config gives this session.
func (o *order) primary() fallback.Model {
	return o.cfg.Fallback.Primary(o.row.Agent, o.channel())
}

// channel is the model that config gives the conversation, zero for none [T4].
func (o *order) channel() fallback.Model {
	to := o.row.In.To
	if to == (channels.Address{}) {
		to = o.sess.Route // a change from outside the chat
	}
	return o.cfg.Rules.Model(to, o.row.In.Parent)
}

// choose is the selection after a person has chosen m.
func (o *order) choose(m fallback.Model, p fallback.ProfileID) fallback.Selection {
	return fallback.Choose(o.cfg.Fallback, o.row.Agent, o.channel(), o.sel, m, p, o.now)
}

// obeyHelp lists the commands, ten to a page for /commands.
func obeyHelp(_ context.Context, o *order) (reply, error) {
	all := o.commands()
	if o.name == "help" {
		return say(sayHelp(all, ""))
	}
	shown, foot := page(all, o.args, "commands")
	if foot != "" && len(shown) == 0 {
		return say(foot)
	}
	return say(sayHelp(shown, foot))
}

// obeyWhoami tells a person how the bot knows them.
func obeyWhoami(_ context.Context, o *order) (reply, error) {
	return say(sayWhoami(o.row))
}

// obeyStop ends the session's running turn and empties its queue. It writes the
// endings of the messages itself, the running one's too, and before its own: a
// crash in between cannot bring a stopped message back [S33].
func obeyStop(ctx context.Context, o *order) (reply, error) {
	held := o.bundles.drop(o.row.Session) // first: what is released now is in the lane below
	stopped, running, queued := o.lanes.Stop(o.row.Session, errStopped)
	queued = append(queued, held...)
	if running != nil {
		stopped = o.endStopped(ctx, running)
	}
	dropped := 0
	for _, r := range queued {
		dropped += o.endAll(ctx, r, Ending{How: Silent, Why: "aborted"})
	}
	return say(sayStopped(stopped, dropped))
}

// endStopped ends the message whose turn was stopped. The question stays in the
// history, with the hint that its answer was stopped [S34]. An answer that was
// faster counts: then it is false.
func (o *order) endStopped(ctx context.Context, running *request) bool {
	question := Entry{Turn: o.ID(), Role: provider.User, Text: running.prompt(), At: running.row.At}
	return o.end(ctx, running.row, Ending{Epoch: o.sess.Epoch, Turn: question.Turn,
		How: Silent, Why: "aborted", Aborted: true, Entries: []Entry{question}, with: running.with})
}

// obeyNew starts a new session [D4, S10, S11]. What follows the command may
// begin with a model; the rest is the first message.
func obeyNew(ctx context.Context, o *order) (reply, error) {
	m, text, refused := o.leadingModel(o.args)
	if refused != "" {
		return say(refused)
	}
	// Queued follow-ups belong to the old session [S11]: they end with it, in the
	// transaction that renews it.
	r := reply{renew: &Renewal{Session: o.row.Session, Epoch: o.ID(), Drop: !o.cfg.ResetKeepsModel && m.IsZero()}}
	r.drops = o.dropWaiting(o.row.Session, ErrAborted)
	after := renewed(o.sel, !o.cfg.ResetKeepsModel)
	if !m.IsZero() {
		after = o.choose(m, "")
		r.choose = &after
	}
	if text != "" || len(o.row.In.Files) > 0 {
		r.then = &request{text: text, noProbe: !m.IsZero()}
		return r, nil
	}
	r.text = sayNew(o.plan(after), !after.Model.IsZero() && m.IsZero(), len(rowsOf(r.drops)))
	return r, nil
}

// renewed is what a new session keeps of a selection [D4]; the store does the
// same in its own transaction.
func renewed(s fallback.Selection, drop bool) fallback.Selection {
	if drop || s.IsAuto() || s.Source == fallback.Auto {
		return fallback.Selection{}
	}
	return fallback.Selection{Model: s.Model, Source: s.Source, Since: s.Since}
}

// Reset is sessions.reset: /new without a chat [D4].
func (b *Bot) Reset(ctx context.Context, s fallback.SessionID) error {
	return b.ResetBy(ctx, "", s)
}

// ResetBy is Reset with the name of who did it, for the record.
func (b *Bot) ResetBy(ctx context.Context, who string, s fallback.SessionID) error {
	sel, err := b.Store.Selection(ctx, s)
	if err != nil {
		return err
	}
	cfg := b.Config()
	o := &order{Bot: b, row: Accepted{Session: s, In: channels.Inbound{From: channels.User{Name: who}}}, name: "sessions.reset", sel: sel}
	drops := b.dropWaiting(s, ErrAborted)
	err = o.apply(ctx, reply{renew: &Renewal{Session: s, Epoch: b.ID(), Drop: !cfg.ResetKeepsModel}, drops: drops})
	if err != nil {
		b.restore(cfg, drops)
	}
	return err
}

// apply writes a change that came from outside the chat.
func (o *order) apply(ctx context.Context, r reply) error {
	e := Ending{Session: o.row.Session, How: Commanded, Why: o.name, Background: true, Renew: r.renew, change: o.change(r)}
	e.drop(r.drops)
	if r.choose != nil {
		e.Choose = &Choice{Session: o.row.Session, Now: *r.choose}
	}
	return o.endAlone(ctx, e)
}

// Patch is sessions.patch {model}: it chooses ref for the session, as /model
// does [C10, C16]; "" or "default" frees the session. An error that is not the
// store's says in words for people why the choice was refused.
func (b *Bot) Patch(ctx context.Context, s fallback.SessionID, ref string) error {
	return b.PatchBy(ctx, "", s, ref)
}

// PatchBy is Patch with the name of who did it, for the record.
func (b *Bot) PatchBy(ctx context.Context, who string, s fallback.SessionID, ref string) error {
	cfg := b.Config()
	sess, err := b.Store.Session(ctx, s)
	if err != nil {
		return err
	}
	if sess.Agent == "" {
		sess.Agent = cfg.DefaultAgent
	}
	sel, err := b.Store.Selection(ctx, s)
	if err != nil {
		return err
	}
	o := &order{Bot: b, cfg: cfg, row: Accepted{Session: s, Agent: sess.Agent, In: channels.Inbound{From: channels.User{Name: who}}},
		name: "sessions.patch", now: b.Now(), sess: sess, sel: sel}
	if strings.TrimSpace(ref) == "" {
		ref = wordDefault
	}
	m, profile, err := o.pick(ctx, ref)
	if err != nil {
		return err
	}
	now := o.choose(m, profile)
	return o.apply(ctx, reply{choose: &now})
}
