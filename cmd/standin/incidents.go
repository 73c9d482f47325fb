package main

import (
	"fmt"
	"io"
	"time"

	"standin/bot/incidents"
)

// incidentsCmd is `standin incidents`: what went wrong, and what still does.
type incidentsCmd struct {
	stateFlag
	Open  bool
	JSON  bool
	Limit int
}

func (w world) incidentsVerb() *verb {
	c := incidentsCmd{Limit: 50}
	v := w.verb(&c, "incidents", "List what went wrong, the latest first, and what still does: what operators.notify tells of.")
	c.bind(v)
	f := v.Flags()
	f.BoolVar(&c.Open, "open", false, "Only what is not over.")
	f.BoolVar(&c.JSON, "json", false, "As JSON.")
	f.IntVar(&c.Limit, "limit", c.Limit, "How many at most; 0: all.")
	return v
}

// incidentJSON is what scripts read of an incident.
type incidentJSON struct {
	ID      int64          `json:"id"`
	Kind    incidents.Kind `json:"kind"`
	Subject string         `json:"subject"`
	Title   string         `json:"title"`
	Text    string         `json:"text"` // as it was told last
	Since   time.Time      `json:"since"`
	Told    time.Time      `json:"toldAt"`
	Seen    time.Time      `json:"lastSeenAt"`
	Closed  *time.Time     `json:"closedAt,omitempty"` // absent: it is open
	Times   int            `json:"times"`              // how often it came
}

// Run reads the rows, beside a running daemon or without one.
func (c incidentsCmd) Run(w world) error {
	if c.Limit < 0 {
		return misuse{"--limit wants a number from 0 on"}
	}
	db, err := c.lookAt(w)
	if err != nil {
		return err
	}
	defer db.Close()
	limit := c.Limit
	if limit == 0 {
		limit = -1 // SQLite's word for all
	}
	list, err := db.IncidentsBack(w.ctx, c.Open, limit)
	if err != nil {
		return exit{exitUsage, "state: " + err.Error()}
	}
	if c.JSON {
		out := []incidentJSON{}
		for _, i := range list {
			one := incidentJSON{ID: i.ID, Kind: i.Kind, Subject: i.Subject, Title: i.Title, Text: i.Text, Since: i.Since, Told: i.Told, Seen: i.Seen, Times: i.Times}
			if !i.Closed.IsZero() {
				one.Closed = &i.Closed
			}
			out = append(out, one)
		}
		return printJSON(w, out)
	}
	printIncidents(w.stdout, list, c.Open, time.Now())
	return nil
}

func printIncidents(out io.Writer, list []incidents.Incident, open bool, now time.Time) {
	switch {
	case len(list) == 0 && open:
		fmt.Fprintln(out, "Nothing is wrong that is known of.")
	case len(list) == 0:
		fmt.Fprintln(out, "Nothing has gone wrong that is known of.")
	}
	for _, i := range list {
		if i.Open() {
			fmt.Fprintf(out, "OPEN  %s\n", line(i.Text))
		} else {
			fmt.Fprintf(out, "over  %s\n", line(incidents.SayOver(i, now)))
		}
	}
}
