package store

import (
	"encoding/json"
	"fmt"
	"reflect"

	"standin/bot"
	"standin/channels"
)

// facts are what only platforms with many people say of a message. They are
// read back whole and never asked for one by one, so they share a column.
type facts struct {
	Bot            bool       `json:"bot,omitempty"`
	Implicit       bool       `json:"implicit,omitempty"`
	MentionsOthers bool       `json:"mentionsOthers,omitempty"`
	Guild          string     `json:"guild,omitempty"`
	Parent         string     `json:"parent,omitempty"`
	Roles          []string   `json:"roles,omitempty"`
	Command        bool       `json:"command,omitempty"`
	ThreadRoot     string     `json:"threadRoot,omitempty"`
	Public         bool       `json:"public,omitempty"`
	Unasked        bool       `json:"unasked,omitempty"`
	Files          []fileFact `json:"files,omitempty"`
}

// fileFact is a file without its way to be opened, which does not outlive the
// process that received it.
type fileFact struct {
	Name string `json:"name,omitempty"`
	Type string `json:"type,omitempty"`
	Size int64  `json:"size,omitempty"`
}

// factsOf gives the column's text, "" when there is nothing to say.
func factsOf(in channels.Inbound) (string, error) {
	f := facts{Bot: in.Bot, Implicit: in.Implicit, MentionsOthers: in.MentionsOthers, Guild: in.Guild, Parent: in.Parent,
		Roles: in.Roles, Command: in.Command, ThreadRoot: in.ThreadRoot, Public: in.Public, Unasked: in.Unasked}
	for _, file := range in.Files {
		f.Files = append(f.Files, fileFact{file.Name, file.Type, file.Size})
	}
	return compact(f)
}

func readFacts(text string, in *channels.Inbound) error {
	if text == "" {
		return nil
	}
	var f facts
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return fmt.Errorf("facts of message %s: %w", in.ID, err)
	}
	in.Bot, in.Implicit, in.MentionsOthers, in.Guild, in.Parent = f.Bot, f.Implicit, f.MentionsOthers, f.Guild, f.Parent
	in.Roles, in.Command, in.ThreadRoot, in.Public, in.Unasked = f.Roles, f.Command, f.ThreadRoot, f.Public, f.Unasked
	for _, file := range f.Files {
		in.Files = append(in.Files, channels.File{Name: file.Name, Type: file.Type, Size: file.Size})
	}
	return nil
}

// extras are what few posts have.
type extras struct {
	Only    string     `json:"only,omitempty"`
	For     string     `json:"for,omitempty"`
	Choices []choice   `json:"choices,omitempty"`
	Files   []fileFact `json:"files,omitempty"` // their bytes are in outbox_files
}

type choice struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// extrasOf gives the column's text, "" when there is nothing to say.
func extrasOf(out channels.Outbound) (string, error) {
	x := extras{Only: out.Only, For: out.For}
	for _, c := range out.Choices {
		x.Choices = append(x.Choices, choice(c))
	}
	for _, f := range out.Files {
		x.Files = append(x.Files, fileFact{f.Name, f.Type, f.Size})
	}
	return compact(x)
}

func readExtras(text string, out *channels.Outbound) error {
	if text == "" {
		return nil
	}
	var x extras
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return fmt.Errorf("extras of delivery %s: %w", out.ID, err)
	}
	out.Only, out.For = x.Only, x.For
	for _, c := range x.Choices {
		out.Choices = append(out.Choices, channels.Choice(c))
	}
	for _, f := range x.Files {
		out.Files = append(out.Files, channels.File{Name: f.Name, Type: f.Type, Size: f.Size})
	}
	return nil
}

// compact is JSON, or "" for the zero value: most rows have nothing to say.
func compact(v any) (string, error) {
	if reflect.ValueOf(v).IsZero() {
		return "", nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// endOthers ends the messages that were answered together with e's own, and
// takes what was overheard up to e.Heard off the room's list [S18].
func (t *tx) endOthers(e bot.Ending, from channels.Address) error {
	for _, id := range e.With {
		_, err := t.exec(`UPDATE inbox SET ended = ?, how = ?, why = ?, turn = ? WHERE id = ? AND ended = 0`,
			max(millis(e.At), 1), e.How, e.Why, e.Turn, id)
		if err != nil {
			return err
		}
	}
	if e.Overheard {
		if _, err := t.exec(`UPDATE inbox SET overheard = 1 WHERE id = ?`, e.Accepted); err != nil {
			return err
		}
	}
	if e.Heard > 0 {
		_, err := t.exec(`UPDATE inbox SET overheard = 0 WHERE channel = ? AND account = ? AND conversation = ? AND (? OR thread = ?) AND overheard = 1 AND id <= ?`,
			from.Channel, from.Account, from.Conversation, e.HeardAll, from.Thread, e.Heard)
		return err
	}
	return nil
}

// dropMessages ends the messages that a renewal leaves behind [S11].
func (t *tx) dropMessages(e bot.Ending) error {
	for _, id := range e.Drops {
		_, err := t.exec(`UPDATE inbox SET ended = ?, how = ?, why = 'reset', turn = ? WHERE id = ? AND ended = 0`,
			max(millis(e.At), 1), bot.Silent, e.Turn, id)
		if err != nil {
			return err
		}
	}
	return nil
}
