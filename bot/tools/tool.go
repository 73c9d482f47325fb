package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"standin/channels"
	"standin/fallback"
)

// Tool is one thing an agent can do.
type Tool struct {
	Name        string // [a-zA-Z0-9_-]{1,64}
	Description string // for the model: what it does and when to use it
	Schema      string // JSON Schema of the input
	// Acts says that a successful use did something outside that cannot be
	// undone: the turn is not repeated on another model after it [I8].
	Acts bool
	// Owner keeps it to those who may give the owner's commands [R71].
	Owner bool
	// RoomOwner does so in shared rooms alone, and otherwise is as Owner is: it acts
	// for people beyond this turn [R71].
	RoomOwner bool
	// Private keeps it out of shared rooms: what it shows is the owner's own.
	Private bool
	// Foreign says that what it gives back was written by strangers: a web page,
	// other people's messages. Tools that act for the owner are out of reach from
	// then on in this turn, and later turns are not shown the text again: words of
	// a page must not give the owner's orders.
	Foreign bool
	// Domain is a place outside that several tools belong to, a server for one.
	// What strangers say there does not keep its tools from reading on there.
	Domain string
	// Alone says that it may not run beside others of its round.
	Alone bool
	// Run does it. The text is for the model, and so is an error's; what the
	// model cannot mend is told as well, for it has to say so.
	Run func(ctx context.Context, at Place, input json.RawMessage) (Result, error)
}

// Result is what came of a use.
type Result struct {
	Text string
	// Idle takes Acts back: this use did nothing outside (a list, a dry run).
	Idle bool
	// Sent is what it posted, nil for nothing: an answer that says the same to
	// the same place is not posted again [G37, R50].
	Sent *Sent
}

// Say is a plain result.
func Say(format string, args ...any) (Result, error) {
	return Result{Text: fmt.Sprintf(format, args...)}, nil
}

// Place is where and for whom a turn runs. What a tool may reach follows from it.
type Place struct {
	Turn       string
	Session    fallback.SessionID
	Agent      fallback.AgentID
	Kind       fallback.Kind
	To         channels.Address // of the conversation; zero for a run without one
	Chat       channels.ChatType
	From       channels.User // who wrote; zero for a run that nobody wrote
	Message    string        // the platform's id of their message
	Authorized bool          // From may give commands [C1]
	// Owner says that From may give the owner's commands, or that nobody wrote
	// and the owner's own schedule started the run.
	Owner bool
	// Tainted says that the turn has taken in strangers' words already: a room's
	// lines, what happened in it.
	Tainted bool
	// Taint is the domain that all of those words came from, "" when there is no
	// single one.
	Taint string
	// Workspace is the agent's folder; "": it has none.
	Workspace string
}

// Shared tells whether others than the owner read along.
func (p Place) Shared() bool { return p.Chat == channels.Group || p.Chat == channels.Room }

// Read decodes a tool's input strictly, so that a model hears of a slip instead
// of having a part of its wish ignored.
func Read[T any](input json.RawMessage) (T, error) {
	var to T
	if len(bytes.TrimSpace(input)) == 0 {
		input = []byte("{}")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&to); err != nil {
		return to, fmt.Errorf("the input does not fit the schema: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return to, errors.New("the input is more than one JSON object")
	}
	return to, nil
}
