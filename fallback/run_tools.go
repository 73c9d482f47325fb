package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"

	"standin/fallback/provider"
)

// Tools are what a run's model may use. Use must honour ctx; it runs calls side
// by side where that is safe, gives one result per call in their order, and
// says whether something was done outside that cannot be undone [I8].
type Tools interface {
	Offer() []provider.Tool
	Use(ctx context.Context, calls []provider.ToolCall) (results []provider.ToolResult, acted bool)
}

// ToolUse is one use of a tool, for the record. What went in and what came out
// is the transcript's.
type ToolUse struct {
	Name   string
	Model  Model // that asked for it
	Failed bool
	Acted  bool          // something in its round was done that cannot be undone
	Took   time.Duration // of its round
}

// maxRounds bounds how often a model may ask for tools within one turn, unless
// the settings say otherwise.
const maxRounds = 24

// errRounds ends a turn whose model does nothing but ask for tools.
var errRounds = errors.New("the model kept asking for tools and gave no answer")

// deed is what a turn has come to beside its answer so far: the exchange with
// tools behind the conversation. Another candidate starts without it, for ids and
// forms are one vendor's own; after an act there is no other candidate [I8].
type deed struct {
	said   []provider.Message
	short  int   // of those, how many the model is shown cut short
	room   int64 // tokens that they may take up, where a vendor has found them too long; 0: see room
	shrunk int   // how often that was
	rounds int
	acted  bool
	text   string          // what was last said beside a request for tools
	spent  provider.Tokens // of the rounds before the last
}

// messages is the conversation with what has been said and done in this turn, as
// the candidate can take it.
func (w *walk) messages(c candidate) []provider.Message {
	if w.ask.Tools != nil && !w.takesTools(c) {
		return withoutTools(w.ask.Messages)
	}
	if len(w.deed.said) == 0 {
		return w.ask.Messages
	}
	shown := w.deed.said
	if room := w.room(c); room > 0 {
		shown, w.deed.short = within(shown, w.deed.short, room)
	}
	return append(append([]provider.Message(nil), w.ask.Messages...), shown...)
}

// room is how many tokens the exchange with tools may take up beside all else
// that is sent, 0 when nobody knows the window.
func (w *walk) room(c candidate) int64 {
	if w.deed.room > 0 {
		return w.deed.room
	}
	window := w.ask.Config.FactsOf(c.model).Window
	if most := w.ask.Window; most > 0 && (window == 0 || most < window) {
		window = most
	}
	if window == 0 {
		return 0
	}
	taken := int64(len(w.ask.System))/4 + tokensOfAll(w.ask.Messages)
	for _, t := range w.offer(c) {
		taken += int64(len(t.Description)+len(t.Schema)) / 4
	}
	return max(promptRoom(window)-taken, 1)
}

// maxShrinks bounds how often one candidate's exchange with tools is cut after its
// vendor has found it too long.
const maxShrinks = 3

// mend changes a request that the model could not take into one that it may, and
// says whether to put it to the same model again: without tools where it takes
// none, with less of what they gave back where it has become too long [D10]. That
// attempt stands in the record; it is no reason of a fallback.
func (w *walk) mend(c candidate, class Class, err error) bool {
	switch {
	case len(w.deed.said) == 0 && len(w.offer(c)) > 0 && refusesTools(err):
		w.toolless.Mark(c.model, w.Now())
		w.Log.Warn("the model takes no tools; it is asked without them for a while", "model", c.model, "session", w.ask.Session)
	case len(w.deed.said) > 0 && class.Reason == ContextOverflow && w.deed.shrunk < maxShrinks:
		shown, _ := within(w.deed.said, w.deed.short, max(w.room(c), tokensOfAll(w.deed.said)))
		w.deed.shrunk++
		w.deed.room = max(tokensOfAll(shown)/2, 1)
	default:
		return false
	}
	if n := len(w.attempts); n > 0 {
		w.attempts = w.attempts[:n-1]
	}
	return true
}

// takesTools tells whether the candidate may be offered tools at all.
func (w *walk) takesTools(c candidate) bool {
	return !w.ask.Config.FactsOf(c.model).NoTools && !w.toolless.Is(c.model, w.Now())
}

// offer is what the model may ask for.
func (w *walk) offer(c candidate) []provider.Tool {
	if w.ask.Tools == nil || !w.takesTools(c) {
		return nil
	}
	return w.ask.Tools.Offer()
}

// asks tells whether an answer is a request for tools and not the last word.
func (w *walk) asks(a *answer) bool { return w.ask.Tools != nil && len(a.reply.Calls) > 0 }

// useTools does what the model asks for and notes it behind the conversation,
// for the same candidate to go on from. What people wrote meanwhile goes along
// with the results [S24].
func (w *walk) useTools(ctx context.Context, c candidate, a *answer) error {
	limit := w.ask.Config.MaxToolRounds
	if limit <= 0 {
		limit = maxRounds
	}
	reply := a.reply
	results, acted := make([]provider.ToolResult, len(reply.Calls)), false
	if w.deed.rounds++; w.deed.rounds > limit+1 {
		return errRounds
	} else if w.deed.rounds > limit {
		for i, call := range reply.Calls {
			results[i] = provider.ToolResult{ID: call.ID, Name: call.Name, Failed: true,
				Text: fmt.Sprintf("not done: this turn has used its %d rounds of tools; answer with what you know", limit)}
		}
	} else {
		started := w.Now()
		results, acted = w.ask.Tools.Use(ctx, reply.Calls)
		w.deed.acted = w.deed.acted || acted
		took := w.Now().Sub(started)
		for _, r := range results {
			w.step(ctx, Step{What: StepTool, Tool: &ToolUse{Name: r.Name, Model: c.model, Failed: r.Failed, Acted: acted, Took: took}})
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answerTo := provider.Message{Role: provider.User, Results: results}
	if w.ask.Steer != nil {
		answerTo.Text = w.ask.Steer()
	}
	w.deed.said = append(w.deed.said, provider.Message{Role: provider.Assistant, Text: reply.Text, Calls: reply.Calls}, answerTo)
	w.deed.spent = w.deed.spent.Plus(reply.Tokens)
	if reply.Text != "" {
		w.deed.text = reply.Text
	}
	if w.ask.OnRound != nil {
		w.ask.OnRound()
	}
	return nil
}

// judge tells an answer from nothing at all. After a tool has acted silence is
// an answer: the work is done and the room may have seen it [N16].
func (w *walk) judge(r *provider.Reply) error {
	err := judge(r)
	switch {
	case err == nil, w.ask.Tools != nil && len(r.Calls) > 0:
		return nil
	case errors.Is(err, errEmpty) && w.deed.text != "":
		r.Text = w.deed.text // it said what it had to say before the last tool
		return nil
	case errors.Is(err, errEmpty) && w.deed.acted:
		return nil
	}
	return err
}
