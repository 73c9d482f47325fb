package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback/provider"
)

type sessionsExportCmd struct {
	stateFlag
	Session string
	Format  string
	Output  string
	All     bool
}

func (w world) sessionsExportVerb() *verb {
	c := sessionsExportCmd{Format: "jsonl"}
	v := w.verb(&c, "export", "Write out what was said in a session, without what looks like a secret.", sessionArgument(&c.Session))
	c.bind(v)
	v.Flags().Var(text{&c.Format, "FORMAT"}, "format", "jsonl (a line for each entry) or markdown.")
	v.Flags().VarP(text{&c.Output, "FILE"}, "output", "o", "A new file, for this user only (default: standard output).")
	v.Flags().BoolVar(&c.All, "all", false, "Its former conversations, too, as long as they are kept.")
	return v
}

// Run writes it.
func (c sessionsExportCmd) Run(w world) (err error) {
	var write func(io.Writer, sessionJSON) teller
	switch strings.ToLower(c.Format) {
	case "jsonl":
		write = jsonLines
	case "markdown", "md":
		write = markdownOf
	default:
		return misuse{fmt.Sprintf("--format is jsonl or markdown, not %q", c.Format)}
	}
	db, err := c.lookAt(w)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := stateOf(w, db, sessionKey(c.Session))
	if err != nil {
		return err
	}
	to := w.stdout
	if c.Output != "" {
		f, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return exit{exitUsage, fmt.Sprintf("--output: %v; a file that exists is not written over", err)}
		}
		to = f
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	out := bufio.NewWriter(to)
	if err := db.Story(w.ctx, s.Key, c.All, write(out, sessionOf(s))); err != nil {
		return err
	}
	return out.Flush()
}

// teller writes one entry of a conversation.
type teller = func(epoch string, e bot.Entry) error

// exported is an entry as a line [S16]: its parent is the one before it in the
// same conversation.
type exported struct {
	Type      string                `json:"type"` // message or compaction
	ID        string                `json:"id"`
	Parent    string                `json:"parentId,omitempty"`
	Session   string                `json:"sessionId"`
	Timestamp time.Time             `json:"timestamp"`
	Turn      string                `json:"turn,omitempty"`
	Role      string                `json:"role,omitempty"`
	Text      string                `json:"text,omitempty"`
	Provider  string                `json:"provider,omitempty"`
	Model     string                `json:"model,omitempty"`
	Calls     []provider.ToolCall   `json:"toolCalls,omitempty"`
	Results   []provider.ToolResult `json:"toolResults,omitempty"`
}

// jsonLines writes a line for the session and one for each entry.
func jsonLines(out io.Writer, s sessionJSON) teller {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	head := enc.Encode(struct {
		Type string `json:"type"`
		sessionJSON
	}{"session", s})
	last := map[string]string{}
	return func(epoch string, e bot.Entry) error {
		if head != nil {
			return head
		}
		e = withoutSecrets(e)
		x := exported{Type: "message", ID: strconv.FormatInt(e.Seq, 10), Parent: last[epoch], Session: epoch, Timestamp: e.At, Turn: e.Turn,
			Role: string(e.Role), Text: e.Text, Provider: e.Model.Provider, Model: e.Model.Name, Calls: e.Calls, Results: e.Results}
		if e.Summary {
			x.Type, x.Role = "compaction", ""
		}
		last[epoch] = x.ID
		return enc.Encode(x)
	}
}

// markdownOf writes a page for people.
func markdownOf(out io.Writer, s sessionJSON) teller {
	_, head := fmt.Fprintf(out, "# %s\n\nAgent %s, model: %s.\n", cmp.Or(s.Label, s.Key), s.Agent, s.model())
	former := ""
	return func(epoch string, e bot.Entry) error {
		if head != nil {
			return head
		}
		e = withoutSecrets(e)
		if former != "" && former != epoch {
			fmt.Fprint(out, "\n---\n")
		}
		former = epoch
		who := "Person"
		switch {
		case e.Summary:
			who = "Summary of what was before"
		case e.Role == provider.Assistant:
			who = cmp.Or(e.Model.String(), "Assistant")
		case len(e.Results) > 0:
			who = "Tools"
		}
		fmt.Fprintf(out, "\n## %s, %s\n", who, e.At.Format("2006-01-02 15:04 MST"))
		if e.Text != "" {
			fmt.Fprintf(out, "\n%s\n", e.Text)
		}
		for _, c := range e.Calls {
			fmt.Fprintf(out, "\n`%s`\n\n%s\n", c.Name, fenced(c.Input))
		}
		for _, r := range e.Results {
			fmt.Fprintf(out, "\n`%s` gave:\n\n%s\n", r.Name, fenced(r.Text))
		}
		return nil
	}
}

// fenced is a text between fences that it does not have itself.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// withoutSecrets takes out of an entry what looks like a secret [I12].
func withoutSecrets(e bot.Entry) bot.Entry {
	e.Text = provider.Redact(e.Text)
	calls := make([]provider.ToolCall, len(e.Calls))
	for i, c := range e.Calls {
		c.Input = provider.Redact(c.Input)
		calls[i] = c
	}
	results := make([]provider.ToolResult, len(e.Results))
	for i, r := range e.Results {
		r.Text = provider.Redact(r.Text)
		results[i] = r
	}
	e.Calls, e.Results = calls, results
	return e
}
