package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/store"
)

// whyCmd is `standin why`: the last change of model of a session, after the
// fact and beside a running daemon.
type whyCmd struct {
	questionFlags
	Session string
	List    bool
}

func (w world) whyVerb() *verb {
	var c whyCmd
	v := w.verb(&c, "why", "Tell the last change of model of a session: what failed, what stood in, who was told.",
		argument{name: "session", help: "Session, as /status shows it (default: the default agent's direct chats).", to: &c.Session, optional: true})
	c.bind(v)
	v.Flags().BoolVar(&c.List, "list", false, "List the sessions whose model changed last.")
	return v
}

// Run tells the story.
func (c whyCmd) Run(w world) error { return c.run(w, time.Now()) }

func (c whyCmd) run(w world, now time.Time) error {
	q, err := c.open(w, now)
	if err != nil {
		return err
	}
	defer q.close()
	if q.db == nil {
		return exit{exitFault, fmt.Sprintf("nothing has happened yet: no daemon has kept its state in %s", c.dir(w))}
	}
	if c.List {
		return c.list(w, q)
	}
	about, err := explainCmd{Session: c.Session}.question(w.ctx, q)
	if err != nil {
		return err
	}
	if !about.known && len(about.steps) == 0 {
		return exit{exitFault, fmt.Sprintf("there is no session %s; standin why --list shows those whose model changed", about.ask.Session)}
	}
	story := about.story(fallback.Resolve(about.ask, about.row, false))
	if c.JSON {
		return printJSON(w, story)
	}
	fmt.Fprintf(w.stdout, "%s, %s\n\n%s\n", about.ask.Session, now.Format("Monday 2 January 2006 15:04 MST"), bot.SayWhy(story, now))
	return nil
}

// listed is a session in `standin why --list`.
type listed struct {
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	From    string    `json:"from,omitempty"`
	To      string    `json:"to,omitempty"`
	Source  string    `json:"source"` // of To: auto, user, none
	By      string    `json:"by,omitempty"`
	Command string    `json:"command,omitempty"`
}

// listSteps is how many writes --list looks back over.
const listSteps = 1000

// list prints the sessions with a change on record, latest first. What a run
// wrote and took back is no change.
func (c whyCmd) list(w world, q *inquiry) error {
	steps, err := q.db.Steps(w.ctx, store.StepFilter{What: fallback.StepOverride, Limit: listSteps})
	if err != nil {
		return err
	}
	rows := changes(steps)
	if c.JSON {
		return printJSON(w, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(w.stdout, "No session has changed its model, as far as the record goes back.")
		return nil
	}
	table := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "SESSION\tWHEN\tBEFORE\tNOW\tBY")
	for _, r := range rows {
		by := "a fallback"
		switch {
		case r.Command != "":
			by = r.Command
			if r.By != "" {
				by += " of " + r.By
			}
		case r.To == "":
			by = "standin: the fallback is over"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Session, bot.Moment(r.At, q.now), orDefault(r.From), orDefault(r.To), by)
	}
	return table.Flush()
}

func orDefault(model string) string {
	if model == "" {
		return "the default"
	}
	return model
}

// changes reads the last net change of each session off its writes, which are
// given newest first.
func changes(steps []fallback.Step) []listed {
	type key struct {
		session fallback.SessionID
		run     string
	}
	first, last := map[key]fallback.Step{}, map[key]fallback.Step{}
	var order []key
	for _, s := range steps {
		k := key{s.Session, s.Run}
		if _, known := last[k]; !known {
			last[k], order = s, append(order, k)
		}
		first[k] = s
	}
	rows, done := []listed{}, map[fallback.SessionID]bool{}
	for _, k := range order {
		was, now := first[k].Write.Was, last[k].Write.Now
		if done[k.session] || was.Model == now.Model && was.Source == now.Source {
			continue
		}
		done[k.session] = true
		r := listed{Session: string(k.session), At: last[k].At, From: was.Model.String(), To: now.Model.String(), Source: "none"}
		if r.To != "" {
			r.Source = string(now.Source)
		}
		if by := last[k].Write.By; by != nil {
			r.By, r.Command = by.Name, by.Command
		}
		rows = append(rows, r)
	}
	return rows
}
