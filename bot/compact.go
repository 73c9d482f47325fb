package bot

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Compaction puts a summary in the place of a conversation's beginning: before
// the window of its model is full, and after a vendor has said that it is [D10,
// S19]. It never changes the model and never rolls over into another one.

// maxCompactions bounds how often one turn is shortened after an overflow (10.10).
const maxCompactions = 3

// compactionTime bounds one compaction [S19].
const compactionTime = 15 * time.Minute

// errNothingToCompact says that a conversation has nothing before its last
// question, or nothing worth a summary.
var errNothingToCompact = errors.New("there is nothing to compact: the conversation is as short as it can be")

// think asks the engine within the window of the model that is asked first. A
// conversation that would not fit is summarised first; one that a vendor finds
// too long is summarised more tightly and put to the same candidates again.
func (b *Bot) think(ctx context.Context, cfg *Config, t Turn, sess Session, ask *fallback.Ask) (*fallback.Outcome, error) {
	fit := b.fit(ctx, cfg, *ask)
	if fit.Limit > 0 && size(*ask) > fit.Limit && !cfg.Compaction.Off {
		b.shorten(ctx, cfg, t, &sess, ask, fit, fit.Keep)
	}
	for try := 1; ; try++ {
		out, err := b.Engine.Run(ctx, *ask)
		var failed *fallback.SummaryError
		if try > maxCompactions || !errors.As(err, &failed) || failed.Acted || !overflowed(failed) {
			return out, err
		}
		// The vendor knows better than the estimate: half of what it refused.
		if !b.shorten(ctx, cfg, t, &sess, ask, fit, min(fit.Keep, size(*ask)/2)) {
			return out, err
		}
		b.Log.Info("conversation shortened after an overflow", "session", t.Session, "turn", ask.Run, "try", try, "tokens", size(*ask))
	}
}

// overflowed tells whether it was the length of the conversation that ended a walk.
func overflowed(e *fallback.SummaryError) bool {
	n := len(e.Attempts)
	return n > 0 && e.Attempts[n-1].Reason == fallback.ContextOverflow
}

// fit is how much goes into a call to the model that would be asked first. A
// smaller window of a stand-in is met when it says so.
func (b *Bot) fit(ctx context.Context, cfg *Config, ask fallback.Ask) policy.Fit {
	sel, err := b.Store.Selection(ctx, ask.Session)
	if err != nil {
		b.Log.Error("selection not read, its window is not known", "session", ask.Session, "err", err)
	}
	m := fallback.Resolve(ask, sel, false).Requested
	window := cfg.Fallback.FactsOf(m).Window
	if most := cfg.ContextTokens; most > 0 && (window == 0 || most < window) {
		window = most
	}
	return cfg.Compaction.Fits(window)
}

// size estimates an ask in tokens.
func size(ask fallback.Ask) int64 {
	n := policy.Tokens(len(ask.System))
	if ask.Tools != nil {
		for _, t := range ask.Tools.Offer() {
			n += policy.Tokens(len(t.Description) + len(t.Schema))
		}
	}
	for _, m := range ask.Messages {
		n += sizeOf(m)
	}
	return n
}

func sizeOf(m provider.Message) int64 {
	n := policy.Tokens(len(m.Text)) + int64(len(m.Images))*policy.ImageTokens
	for _, c := range m.Calls {
		n += policy.Tokens(len(c.Name) + len(c.Input))
	}
	for _, r := range m.Results {
		n += policy.Tokens(len(r.Text))
	}
	return n
}

// shorten makes the ask shorter: by a summary where there is something to
// summarise, else for this turn alone. It tells whether the ask has become shorter.
func (b *Bot) shorten(ctx context.Context, cfg *Config, t Turn, sess *Session, ask *fallback.Ask, fit policy.Fit, keep int64) bool {
	before := size(*ask)
	err := b.compact(ctx, cfg, t, *sess, *ask, fit, keep, "")
	if err == nil {
		b.sayShortened(ctx, cfg, t, ask.Run)
		var again fallback.Ask
		if again, *sess, err = b.ask(ctx, cfg, ask.Run, t); err == nil {
			ask.Messages, ask.Compactions = again.Messages, again.Compactions
		}
	}
	if err != nil && !errors.Is(err, errNothingToCompact) {
		b.Log.Error("conversation not summarised, its beginning is left out of this turn", "session", t.Session, "err", provider.Redact(err.Error()))
	}
	if limit := fit.Limit; limit > 0 && size(*ask) > limit || size(*ask) >= before {
		ask.Messages = trimmed(ask.Messages, keep)
	}
	return size(*ask) < before
}

// sayShortened tells the room that its conversation was summed up, where the
// settings want that (notifyUser) [S21].
func (b *Bot) sayShortened(ctx context.Context, cfg *Config, t Turn, turn string) {
	if !cfg.Compaction.Notify || t.in == nil {
		return
	}
	out := post(turn, channels.Notice, *t.in, sayShortened)
	out.ID = turn + "-k" // beside a fallback notice of the same turn
	if err := b.Post(ctx, out); err != nil {
		b.Log.Warn("a compaction was not told", "session", t.Session, "err", err)
	}
}

// trimmed leaves the oldest messages out, down to keep tokens but never the last,
// and cuts what tools have given back. It is for one turn: nothing is forgotten.
func trimmed(all []provider.Message, keep int64) []provider.Message {
	from := lastKept(all, keep, func(m provider.Message) bool { return m.Role == provider.User && len(m.Results) == 0 }, sizeOf)
	kept := append([]provider.Message(nil), all[from:]...)
	for i, m := range kept {
		kept[i].Results = append([]provider.ToolResult(nil), m.Results...)
		for k, r := range kept[i].Results {
			kept[i].Results[k].Text = policy.Short(r.Text, resultChars)
		}
	}
	return kept
}

// resultChars is what is left of a tool's result when room is short.
const resultChars = 500

// lastKept is where the part begins that stays: at a question, so that no call of
// a tool is parted from its result, and within keep tokens where that leaves at
// least the last question.
func lastKept[T any](all []T, keep int64, question func(T) bool, size func(T) int64) int {
	from, sum := len(all), int64(0)
	for i := len(all) - 1; i >= 0; i-- {
		sum += size(all[i])
		if sum > keep && from < len(all) {
			break
		}
		if question(all[i]) {
			from = i
		}
	}
	if from == len(all) {
		return 0
	}
	return from
}

// compact summarises the conversation but for the last keep tokens. wish is what
// a person wants the summary to look at, "" for nothing.
func (b *Bot) compact(ctx context.Context, cfg *Config, t Turn, sess Session, ask fallback.Ask, fit policy.Fit, keep int64, wish string) error {
	all, err := b.Store.History(ctx, t.Session, sess.Epoch, math.MaxInt)
	if err != nil {
		return err
	}
	from := lastKept(all, keep, func(e Entry) bool { return e.Role == provider.User && len(e.Results) == 0 && !e.Summary }, func(e Entry) int64 {
		return sizeOf(provider.Message{Text: e.Text, Calls: e.Calls, Results: e.Results})
	})
	if t.in != nil && len(all) > 0 && size(ask)-sizeEntries(all) > fit.Keep {
		from = len(all) // the new question alone is long: it needs all the room
	}
	if from == 0 || from == 1 && all[0].Summary {
		return errNothingToCompact
	}
	text, m, err := b.summarise(ctx, cfg, ask, all[:from], fit.Piece, wish)
	if err != nil {
		return fmt.Errorf("summarise: %w", err)
	}
	since := int64(math.MaxInt64)
	if from < len(all) {
		since = all[from].Seq
	} else {
		since = all[from-1].Seq + 1
	}
	done, err := b.Store.Summarise(ctx, t.Session, sess.Epoch, Summary{Turn: ask.Run, Text: text, Model: m, Since: since, At: b.Now(), Others: ofOthers(all[:from])})
	if err == nil && !done {
		err = errNothingToCompact // somebody has begun a new session meanwhile
	}
	if err == nil {
		b.Log.Info("conversation summarised", "session", t.Session, "turn", ask.Run, "entries", from, "model", m)
	}
	return err
}

func sizeEntries(all []Entry) (n int64) {
	for _, e := range all {
		n += sizeOf(provider.Message{Text: e.Text, Calls: e.Calls, Results: e.Results})
	}
	return n
}

// summarise has a model sum up entries, piece by piece where they are many: each
// piece comes with the summary so far.
func (b *Bot) summarise(ctx context.Context, cfg *Config, ask fallback.Ask, all []Entry, piece int64, wish string) (text string, by fallback.Model, err error) {
	system := summaryOrders
	if wish != "" {
		system += "\nThe person asks you to look at this above all: " + wish
	}
	for n := 0; len(all) > 0; n++ {
		var part strings.Builder
		for len(all) > 0 && (part.Len() == 0 || policy.Tokens(part.Len()) < piece) {
			part.WriteString(retold(all[0], int(piece)*2))
			all = all[1:]
		}
		question := "The conversation:\n\n" + part.String()
		if text != "" {
			question = "The summary so far:\n\n" + text + "\n\nThe conversation went on:\n\n" + part.String()
		}
		run := fallback.Ask{
			Run: fmt.Sprintf("%s-c%d", ask.Run, n), Session: ask.Session, Agent: ask.Agent, Kind: fallback.Compaction,
			Config: (&Turn{Timeout: compactionTime}).limited(cfg.Fallback), Parent: ask.Parent, Channel: ask.Channel,
			Compactions: ask.Compactions, System: system, Job: ask.Job, Caps: ask.Caps,
			Messages: []provider.Message{{Role: provider.User, Text: question}},
		}
		if m := cfg.CompactionModel; !m.IsZero() {
			run.Model, run.OneOff = m, true // exact: no other stands in [S20]
		}
		out, err := b.Engine.Run(ctx, run)
		if err != nil {
			return "", by, err
		}
		text, by = strings.TrimSpace(out.Reply.Text), out.Used
	}
	return text, by, nil
}

// retold is an entry in words, at most chars long.
func retold(e Entry, chars int) string {
	var b strings.Builder
	switch {
	case e.Summary:
		b.WriteString("Summary of what was before: ")
	case e.Role == provider.Assistant:
		b.WriteString("Assistant: ")
	case len(e.Results) == 0:
		b.WriteString("Person: ")
	}
	b.WriteString(policy.Short(e.Text, max(chars, 200)))
	for _, c := range e.Calls {
		fmt.Fprintf(&b, "\n[used %s %s]", c.Name, policy.Short(c.Input, resultChars))
	}
	for _, r := range e.Results {
		fmt.Fprintf(&b, "\n[%s gave: %s]", r.Name, policy.Short(r.Text, resultChars))
	}
	return b.String() + "\n\n"
}
