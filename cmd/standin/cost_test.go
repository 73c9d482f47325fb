package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// spentState is a state folder whose daemon made four calls on 10 June.
func spentState(t *testing.T) (dir string, now time.Time) {
	t.Helper()
	dir, now = t.TempDir(), time.Date(2026, 6, 10, 18, 0, 0, 0, time.UTC)
	conf := `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [shop/own]}, userTimezone: UTC}}
models: {providers: {shop: {baseUrl: https://shop.example.com/v1, models: [own]}}}
budgets: [{limit: 2}, {name: machines, purpose: background, limit: 10, period: month}, {name: none, purpose: heartbeat, limit: 0}]
`
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	gpt, own := fallback.Model{Provider: "openai", Name: "gpt-5.5"}, fallback.Model{Provider: "shop", Name: "own"}
	call := func(at time.Time, kind fallback.Kind, job string, m fallback.Model, usd float64, ok bool) {
		a := &fallback.Attempt{Model: m, OK: ok, Tokens: provider.Tokens{Input: 1000, Output: 200, CacheRead: 300}, Cost: usd, Priced: m == gpt}
		db.Journal().Record(t.Context(), fallback.Step{At: at, Agent: "main", Kind: kind, Job: job, Session: "agent:main:main", What: fallback.StepAttempt, Requested: gpt, Attempt: a})
	}
	call(now.Add(-time.Hour), fallback.Chat, "", gpt, 1.5, true)
	call(now.Add(-2*time.Hour), fallback.Cron, "j1", gpt, 0.25, false)
	call(now.Add(-2*time.Hour), fallback.Cron, "j1", own, 0, true)
	call(now.Add(-48*time.Hour), fallback.Heartbeat, "", gpt, 0.0005, true)
	start, _ := fallback.Cap{Period: fallback.Day, Zone: time.UTC}.Bounds(now)
	if err := db.Raise(t.Context(), fallback.Raise{Cap: "day", Start: start, USD: 1, Who: "slack:U1 alice", Key: "m", At: now}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, now
}

func costText(t *testing.T, c costCmd, dir string, now time.Time) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	w := world{ctx: context.Background(), getenv: func(string) string { return "" }, stdout: &out, stderr: &errs}
	c.Config, c.State = filepath.Join(dir, "config.yaml"), dir
	err := c.run(w, now)
	return strings.Join(strings.Fields(out.String()), " "), err
}

// "Given mixed traffic; when usage --since 24h --by job,model runs; then rows sum
// to the ledger; unknown prices are shown as tokens with 'price unknown', not
// zero" [IL-260].
func TestWhatWasSpent(t *testing.T) {
	dir, now := spentState(t)
	for name, c := range map[string]struct {
		cmd    costCmd
		want   []string
		absent string
	}{
		"by job and model, of a day": {costCmd{By: "job,model", Since: "24h"}, []string{
			"JOB MODEL REQUESTS FAILED TOKENS IN OUT CACHED COST", "- openai/gpt-5.5 1 0 1000 200 300 1.50 USD", "j1 openai/gpt-5.5 1 1 1000 200 300 0.25 USD",
			"j1 shop/own 1 0 1000 200 300 price unknown (1200 tokens)", "total 3 1 3000 600 900 1.75 USD and 1 request of unknown price (1200 tokens)"}, "0.0005"},
		"by purpose, of the month": {costCmd{By: "purpose"}, []string{"heartbeat 1 0 1000 200 300 0.0005 USD", "total 4 1 4000 800 1200 1.75 USD"}, ""},
		"by day":                   {costCmd{By: "day", Since: "7d"}, []string{"2026-06-08 1", "2026-06-10 3"}, ""},
		"how budgets stand": {costCmd{By: "agent"}, []string{
			"day: 1.75 USD of 3.00 USD until 2026-06-11 00:00 UTC (everything)", "1.00 USD given on top by slack:U1 alice", "not counted: 1 request of unknown price",
			"machines: 0.25 USD of 10.00 USD until 2026-07-01 00:00 UTC (cron, heartbeat)"}, ""},
		"of a time without any": {costCmd{By: "model", Since: "5m"}, []string{"No request to a model since"}, "MODEL"},
	} {
		text, err := costText(t, c.cmd, dir, now)
		for _, w := range c.want {
			if err != nil || !strings.Contains(text, w) {
				t.Errorf("%s: %q is not in\n%s\n%v", name, w, text, err)
			}
		}
		if c.absent != "" && strings.Contains(text, c.absent) {
			t.Errorf("%s: %q is in\n%s", name, c.absent, text)
		}
	}
	text, err := costText(t, costCmd{By: "model", questionFlags: questionFlags{JSON: true}}, dir, now)
	var r costReport
	if jerr := json.Unmarshal([]byte(text), &r); err != nil || jerr != nil || len(r.Rows) != 2 || r.Total.Calls != 4 || r.Total.UnpricedTokens != 1200 || len(r.Budgets) != 3 || r.Budgets[0].Raised != 1 {
		t.Errorf("%+v, %v, %v", r, err, jerr)
	}
}

// What cannot be asked is refused with what can.
func TestWhatCostsCannotBeAsked(t *testing.T) {
	dir, now := spentState(t)
	for _, c := range []struct {
		cmd  costCmd
		want string
	}{
		{costCmd{By: "wether"}, `--by: costs cannot be told apart by "wether"; use agent, day, job`},
		{costCmd{By: "model", Since: "yesterdy"}, `--since: "yesterdy" is no time; use today, month, 24h, 7d, or a date`},
		{costCmd{By: "model", Since: "-3h"}, "is no time"},
	} {
		if _, err := costText(t, c.cmd, dir, now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.cmd, err)
		}
	}
	empty := t.TempDir()
	if err := os.Rename(filepath.Join(dir, "config.yaml"), filepath.Join(empty, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := costText(t, costCmd{By: "model"}, empty, now); err == nil || !strings.Contains(err.Error(), "nothing has been spent yet") {
		t.Errorf("without a state: %v", err)
	}
}
