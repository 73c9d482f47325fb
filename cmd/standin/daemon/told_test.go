package daemon

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot/operator"
	"standin/fallback/provider/providertest"
)

const toldConfig = `
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude, box/small]}
    userTimezone: UTC
    heartbeat: {every: 24h, target: none, model: box/small}
models:
  providers:
    openai: {apiKey: k1}
    anthropic: {apiKey: k2}
    box: {baseUrl: "https://box.example/v1", apiKey: k3, models: [small]}
session: {dmScope: per-peer, reset: {mode: idle, idleMinutes: 100000}}
`

// What automation and operators read of who answers, in place of guessing: per
// session what is meant, what answers and why [IL-066, IL-261]; of a run every
// attempt in order, also a day later [IL-086, IL-278].
func TestWhoAnswersAndWhyIsTold(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := &nightOut{watched: &watched{t: t, dir: dir, config: toldConfig, vendor: &providertest.Vendor{}}, known: map[string]bool{}}
		n.start()
		began := time.Now()
		n.vendor.Always(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, `{"error":{"code":"rate_limit_exceeded","type":"requests","message":"slow down"}}`))
		n.say(1)
		n.say(2)
		n.ask("PATCH", "/api/v1/sessions/agent:main:direct:ud1", `{"model":"anthropic/claude"}`, nil)
		var beat operator.Beaten
		n.ask("POST", "/api/v1/heartbeats/main/run", "{}", &beat)

		var pinned, stands operator.SessionDetail
		n.ask("GET", "/api/v1/sessions/agent:main:direct:ud1", "", &pinned)
		if pinned.Source != "user" || pinned.Selected != "anthropic/claude" || pinned.Active != "anthropic/claude" {
			t.Errorf("who was given a model: %+v", pinned)
		}
		n.ask("GET", "/api/v1/sessions/agent:main:direct:ud2", "", &stands)
		if stands.Source != "auto" || stands.Selected != "openai/gpt-5.5" || stands.Active != "anthropic/claude" || stands.Reason == "" || stands.Since.Sub(began) != 5*time.Second || !stands.Story.Next.After(began) {
			t.Errorf("who is on a stand-in: %+v", stands)
		}

		n.vendor.Always(providertest.When{Model: "claude"}, down.After(2*time.Second))
		var job operator.JobDetail
		n.ask("POST", "/api/v1/cron", `{"name":"look","schedule":{"kind":"every","everyMs":864000000},"payload":{"kind":"agentTurn","message":"look"},"delivery":{"mode":"none"}}`, &job)
		n.ask("POST", "/api/v1/cron/"+job.ID+"/run", "{}", nil)
		time.Sleep(24 * time.Hour)

		var record operator.JobRuns
		n.ask("GET", "/api/v1/cron/"+job.ID+"/runs", "", &record)
		if len(record.Runs) != 1 || len(record.Runs[0].Tried) != 2 {
			t.Fatalf("the job: %+v", record)
		}
		of := record.Runs[0]
		if a, b := of.Tried[0], of.Tried[1]; a.Model != "openai/gpt-5.5" || a.Skipped != "probe_throttled" || a.Reason != "rate_limit" || b.Model != "anthropic/claude" || b.Skipped != "" || b.Reason != "overloaded" || of.Used != "box/small" || of.OutputTokens == 0 {
			t.Errorf("the job tried %+v and used %s", of.Tried, of.Used)
		}
		var run operator.RunDetail
		n.ask("GET", "/api/v1/runs/"+of.Turn, "", &run)
		var told []string
		for _, s := range run.Steps {
			if s.What == "attempt" || s.What == "skip" {
				told = append(told, fmt.Sprint(s.Model, " ", s.Outcome, " ", s.Reason, " ", s.Status, " ", s.Detail, " ", s.TookMs))
			}
		}
		n.same("the run, a day later", []string{
			"openai/gpt-5.5 skipped rate_limit 0 " + of.Tried[0].Detail + " 0",
			"anthropic/claude failed overloaded 503 the service is overloaded 2000",
			"box/small ok  0  0",
		}, told)

		var runs operator.Runs
		n.ask("GET", "/api/v1/runs?from="+began.UTC().Format(time.RFC3339), "", &runs)
		causes := map[string]string{}
		for _, r := range runs.Runs {
			causes[r.Kind] = r.Requested + " " + r.Answered
		}
		n.same("who was to answer and who did, by cause", map[string]string{
			"chat": "openai/gpt-5.5 anthropic/claude", "cron": "openai/gpt-5.5 box/small", "heartbeat": "box/small box/small",
		}, causes)
		n.end()
	})
}
