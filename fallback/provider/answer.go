package provider

import "strings"

// answer gathers what a model says during one call, so that it is there also
// when the call ends badly.
type answer struct {
	call  *Call
	watch *watch

	text     strings.Builder
	calls    []ToolCall
	streamed bool // OnText got something
	finish   string
	tokens   Tokens
}

// say adds a piece of streamed text.
func (a *answer) say(piece string) {
	if piece == "" {
		return
	}
	a.watch.piece()
	a.text.WriteString(piece)
	a.streamed = true
	a.call.OnText(piece)
}

// think notes progress that is not text of the answer: reasoning, the input of
// a tool. A model that thinks aloud is not silent.
func (a *answer) think(piece string) {
	if piece != "" {
		a.watch.piece()
	}
}

// asks notes a tool that the model wants used.
func (a *answer) asks(id, name, input string) {
	if strings.TrimSpace(input) == "" {
		input = "{}" // a tool without input is called with nothing at all
	}
	a.calls = append(a.calls, ToolCall{ID: id, Name: name, Input: input})
}

func (a *answer) reply(t *tape) *Reply {
	if a.finish == "" && t != nil {
		a.finish = t.finish
	}
	return &Reply{Text: a.text.String(), Calls: a.calls, Finish: a.finish, Tokens: a.tokens}
}
