package provider

import "strings"

// answer gathers what a model says during one call, so that it is there also
// when the call ends badly.
type answer struct {
	call  *Call
	watch *watch

	text     strings.Builder
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

func (a *answer) reply(t *tape) *Reply {
	if a.finish == "" && t != nil {
		a.finish = t.finish
	}
	return &Reply{Text: a.text.String(), Finish: a.finish, Tokens: a.tokens}
}
