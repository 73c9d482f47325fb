package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// Box is the tools of one turn. It is a fallback.Tools; its fields are set
// before the turn and the turn alone uses it.
type Box struct {
	At     Place
	Policy Policy
	Tools  []Tool
	Limits Limits
	Log    *slog.Logger
	// Acting is told before the first use of a tool that acts; an error keeps the
	// tool from being used. nil: nobody needs to know.
	Acting func(ctx context.Context) error
	// Sent is what the turn's tools have posted so far.
	Sent []Sent

	told bool // Acting has been
}

// Sent is something that a tool posted.
type Sent struct {
	To   channels.Address
	Text string
}

var _ fallback.Tools = (*Box)(nil)

// Limits bound one use.
type Limits struct {
	Time  time.Duration // of one call
	Chars int           // of one result
	Side  int           // calls of a round that run side by side
}

// DefaultLimits are what a tool gets unless the settings say otherwise.
var DefaultLimits = Limits{Time: 60 * time.Second, Chars: 20_000, Side: 4}

// Offer gives the tools that may be used here. What a model is not offered it is
// not given either, should it ask for it by name.
func (b *Box) Offer() []provider.Tool {
	var offered []provider.Tool
	for _, t := range b.Tools {
		if b.Policy.Refuse(t, b.At) == "" {
			offered = append(offered, provider.Tool{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.Schema)})
		}
	}
	return offered
}

// Use runs the calls of one round, several side by side, and gives their results
// in the order of the calls. A tool that fails, panics or is refused answers for
// itself alone.
func (b *Box) Use(ctx context.Context, calls []provider.ToolCall) (results []provider.ToolResult, acted bool) {
	results = make([]provider.ToolResult, len(calls))
	did, ran := make([]bool, len(calls)), make([]bool, len(calls))
	slots := make(chan struct{}, max(b.Limits.Side, 1))
	var running sync.WaitGroup
	for i, call := range calls {
		tool, err := b.find(call.Name)
		if err != nil {
			results[i] = failed(call, err)
			continue
		}
		ran[i] = true
		if tool.Alone || tool.Acts || tool.Owner {
			running.Wait() // acts happen in the order in which they were asked for
			results[i], did[i] = b.use(ctx, tool, call)
			continue
		}
		running.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; running.Done() }()
			results[i], did[i] = b.use(ctx, tool, call)
		}()
	}
	running.Wait()
	for i, d := range did {
		acted = acted || d
		if ran[i] {
			b.taint(results[i])
		}
	}
	return results, acted
}

// taint notes what a result brings in of strangers' words. A failure is told in
// their words as well.
func (b *Box) taint(r provider.ToolResult) {
	i := slices.IndexFunc(b.Tools, func(t Tool) bool { return t.Name == r.Name && t.Foreign })
	if i < 0 {
		return
	}
	if domain := b.Tools[i].Domain; !b.At.Tainted {
		b.At.Taint = domain
	} else if b.At.Taint != domain {
		b.At.Taint = ""
	}
	b.At.Tainted = true
}

// foreign tells whether a tool's results are strangers' words.
func (b *Box) foreign(name string) bool {
	return slices.ContainsFunc(b.Tools, func(t Tool) bool { return t.Name == name && t.Foreign })
}

// notShown takes the place of strangers' words in the history.
const notShown = "[what this gave back is not shown again; use the tool anew if it matters]"

// Past is an exchange as later turns are shown it: without strangers' words.
func (b *Box) Past(said []provider.Message) []provider.Message {
	past := slices.Clone(said)
	for i, m := range past {
		past[i].Results = slices.Clone(m.Results)
		for k, r := range m.Results {
			if b.foreign(r.Name) {
				past[i].Results[k].Text = notShown
			}
		}
	}
	return past
}

func (b *Box) find(name string) (Tool, error) {
	for _, t := range b.Tools {
		if t.Name != name {
			continue
		}
		if why := b.Policy.Refuse(t, b.At); why != "" {
			return Tool{}, fmt.Errorf("%s cannot be used here: %s", name, why)
		}
		return t, nil
	}
	return Tool{}, fmt.Errorf("there is no tool %q", clip(name, 80))
}

// use runs one call within its limits. An act that ran out of time may have
// happened: it counts.
func (b *Box) use(ctx context.Context, t Tool, call provider.ToolCall) (res provider.ToolResult, acted bool) {
	limit := b.Limits.Time
	if limit <= 0 {
		limit = DefaultLimits.Time
	}
	own, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s took longer than %s and was stopped", t.Name, limit))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			b.Log.Error("tool panicked", "tool", t.Name, "turn", b.At.Turn, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			res, acted = failed(call, fmt.Errorf("%s is broken; the operator finds the reason in the log", t.Name)), t.Acts
		}
	}()
	if !json.Valid([]byte(call.Input)) {
		return failed(call, fmt.Errorf("the input is not JSON")), false
	}
	if t.Acts && !b.told && b.Acting != nil {
		if err := b.Acting(own); err != nil {
			b.Log.Error("an act could not be written down and was not done", "tool", t.Name, "turn", b.At.Turn, "err", err)
			return failed(call, fmt.Errorf("%s cannot be used now: the store does not take what it does", t.Name)), false
		}
		b.told = true
	}
	out, err := t.Run(own, b.At, json.RawMessage(call.Input))
	if err == nil && own.Err() != nil {
		err = context.Cause(own)
	}
	if err != nil {
		if cause := context.Cause(own); cause != nil && own.Err() != nil {
			err = cause
		}
		b.Log.Info("tool failed", "tool", t.Name, "turn", b.At.Turn, "err", err)
		return failed(call, err), t.Acts && own.Err() != nil
	}
	if out.Sent != nil { // acts run one at a time
		b.Sent = append(b.Sent, *out.Sent)
	}
	return provider.ToolResult{ID: call.ID, Name: call.Name, Text: b.bound(out.Text)}, t.Acts && !out.Idle
}

func failed(call provider.ToolCall, err error) provider.ToolResult {
	return provider.ToolResult{ID: call.ID, Name: call.Name, Failed: true, Text: clip(provider.Redact(err.Error()), 2000)}
}

// bound keeps a result within its size, and says what is missing; what looks
// like a secret does not reach the model or the transcript [I12].
func (b *Box) bound(text string) string {
	limit := b.Limits.Chars
	if limit <= 0 {
		limit = DefaultLimits.Chars
	}
	text = provider.Redact(strings.ToValidUTF8(text, "\uFFFD"))
	if n := utf8.RuneCountInString(text); n > limit {
		return clip(text, limit) + fmt.Sprintf("\n[cut here: %d of %d characters]", limit, n)
	}
	return text
}

// clip cuts after n characters.
func clip(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}
