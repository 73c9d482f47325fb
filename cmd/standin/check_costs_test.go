package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"standin/cmd/standin/config"
	"standin/cronjobs"
	"standin/store"
)

// What is spent without anybody looking is told before it is: `check` says how
// often jobs run, what they cost of late, and what bounds it [IL-109, D20].
func TestCheckTellsWhatRunsUnasked(t *testing.T) {
	dir, now := spentState(t)
	db, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	conf, faults := config.Load(dir+"/config.yaml", func(string) string { return "" })
	if conf == nil {
		t.Fatal(faults)
	}
	for _, j := range []cronjobs.Job{
		{ID: "j1", Name: "mail", Enabled: true, Schedule: cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: 30 * 60_000, AnchorMs: cronjobs.At(now)}},
		{ID: "j2", Name: "off", Schedule: cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: 60_000, AnchorMs: cronjobs.At(now)}},
	} {
		if err := db.AddJob(context.Background(), j); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	told := func(dir string) string {
		var out bytes.Buffer
		printJobs(&out, conf, dir, now)
		return out.String()
	}
	if got := told(dir); got != "jobs: 1 of 2 jobs on, with 48 runs in the next 24 hours; in the last 7 days they cost 0.04 USD a day\n\n" {
		t.Errorf("%q", got)
	}
	if got := told(t.TempDir()) + told(""); got != "" {
		t.Errorf("without a state: %q", got)
	}
	conf.Cron.Enabled = false
	if got := told(dir); !strings.Contains(got, "2 jobs, none of which runs by itself") {
		t.Errorf("%q", got)
	}
	var out bytes.Buffer
	printBudgets(&out, conf)
	if got := out.String(); !strings.Contains(got, "day: 2.00 USD a day for everything; then paid models are passed over") ||
		!strings.Contains(got, "machines: 10.00 USD a month for cron, heartbeat; then") {
		t.Errorf("%q", got)
	}
}

// `check` names the servers of tools, and tells one whose program is not here.
func TestCheckNamesServersOfTools(t *testing.T) {
	conf, faults := config.Parse("config.yaml", []byte(`
agents: {defaults: {model: openai/gpt-5.5}}
mcp: {servers: {tickets: {command: tickets-mcp, args: [--token, hunter2], everyone: true}, gone: {command: gone}, wiki: {url: "https://wiki.example.com/mcp"}}}
`), func(string) string { return "" }, ".")
	if conf == nil {
		t.Fatal(faults)
	}
	find := func(program string) (string, error) {
		if program == "gone" {
			return "", errors.New("not found")
		}
		return "/bin/" + program, nil
	}
	var out bytes.Buffer
	printServers(&out, conf, find)
	want := `tool servers:
    gone, for the owner: the program gone is not found here; install it, or give its whole path
    tickets, for everybody who may talk to an agent: runs tickets-mcp
    wiki, for the owner: https://wiki.example.com/mcp

`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}
