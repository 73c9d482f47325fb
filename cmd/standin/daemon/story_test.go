package daemon

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot"
	"standin/bot/operator"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

const storyConfig = `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude]}, userTimezone: UTC, heartbeat: {every: 10m, target: none}}}
models:
  providers:
    openai: {apiKey: k1, models: [{id: gpt-5.5, cost: {input: 400, output: 400}}]}
    anthropic: {apiKey: k2, models: [{id: claude, cost: {input: 100, output: 100}}]}
session: {dmScope: per-peer, reset: {mode: idle, idleMinutes: 100000}}
`

// nightOut is a night with outages, and what was seen of it while it went on.
type nightOut struct {
	*watched
	changes []string // of the people's sessions as /sessions/{id} told them, each once
	known   map[string]bool
}

// ask reads an answer of the API.
func (n *nightOut) ask(method, path, body string, into any) string {
	n.t.Helper()
	rec := httptest.NewRecorder()
	n.desk.Local().ServeHTTP(rec, httptest.NewRequestWithContext(n.t.Context(), method, path, strings.NewReader(body)))
	if rec.Code/100 != 2 {
		n.t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
	}
	if into != nil {
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
			n.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return rec.Body.String()
}

// storyOf is what `standin why` says of a person's session, which the API says too.
func (n *nightOut) storyOf(person int) bot.Story {
	n.t.Helper()
	var d operator.SessionDetail
	n.ask("GET", "/api/v1/sessions/agent:main:direct:u"+fmt.Sprint("d", person), "", &d)
	return d.Story
}

// hear has both people write, and notes the change that each one's story tells.
func (n *nightOut) hear() {
	n.t.Helper()
	for person := 1; person <= 2; person++ {
		n.say(person)
		s := n.storyOf(person)
		if c := s.Change; c != nil && !n.known[c.Run] {
			n.known[c.Run] = true
			from, to, reason := c.From, c.To, ""
			if c.Kind == bot.ChangedFallback {
				reason = c.Events[0].Reason // Reason is in the words of the notice
			}
			if from == "" {
				from = s.Selected
			}
			if to == "" {
				to = s.Selected
			}
			n.changes = append(n.changes, fmt.Sprintf("%s %s %s %s→%s %s", c.At.UTC().Format("15:04:05.000"), s.Session, c.Kind, from, to, reason))
		}
	}
}

var sample = regexp.MustCompile(`(?m)^(standin_\w+)\{(.*)\} (\S+)$`)

// counted reads one counter of /metrics, added up by the labels that are named.
func (n *nightOut) counted(name string, by ...string) map[string]int {
	n.t.Helper()
	return n.countedIn(1, name, by...)
}

// countedIn does so in parts of a unit: 100 for cents.
func (n *nightOut) countedIn(parts float64, name string, by ...string) map[string]int {
	n.t.Helper()
	sums := map[string]int{}
	for _, m := range sample.FindAllStringSubmatch(n.ask("GET", "/metrics", "", nil), -1) {
		if m[1] != name {
			continue
		}
		labels := map[string]string{}
		for _, l := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = l[2]
		}
		var key []string
		for _, label := range by {
			key = append(key, labels[label])
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			n.t.Fatal(err)
		}
		sums[strings.Join(key, " ")] += int(math.Round(v * parts))
	}
	return sums
}

// same compares what two sources say of one thing.
func (n *nightOut) same(what string, one, other any) {
	n.t.Helper()
	if diff := cmp.Diff(one, other); diff != "" {
		n.t.Errorf("%s\n%s", what, diff)
	}
}

// A night of outages over a whole daemon, with two people, a job and heartbeats.
// Whoever asks afterwards is told one story, wherever they ask: by the API's runs
// and timeline, by /metrics, by the ledger, by why, and by what stands in the rooms.
// What the vendors saw is the measure.
func TestANightOfOutagesIsOneStory(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := &nightOut{watched: &watched{t: t, dir: dir, config: storyConfig, vendor: &providertest.Vendor{}}, known: map[string]bool{}}
		n.start()
		var job operator.JobDetail
		n.ask("POST", "/api/v1/cron", `{"name":"watch","schedule":{"kind":"every","everyMs":2460000},"payload":{"kind":"agentTurn","message":"look"},"delivery":{"mode":"none"}}`, &job)
		began := time.Now()
		until := func(d time.Duration) { time.Sleep(time.Until(began.Add(d))); synctest.Wait() }

		const primary, standIn = "gpt-5.5", "claude"
		limited := providertest.Status(429, `{"error":{"code":"rate_limit_exceeded","type":"requests","message":"slow down"}}`)
		refused := providertest.Status(401, `{"error":{"code":"invalid_api_key","message":"no such key"}}`)
		unpaid := providertest.Status(402, `{"error":{"code":"insufficient_quota","message":"no money left"}}`)
		n.hear()
		for hour, outage := range []struct {
			on  string
			act providertest.Act
		}{{primary, limited}, {primary, down}, {primary, refused}, {primary, unpaid}, {primary, providertest.Hang()}, {"", down}} {
			at := time.Duration(hour+1)*time.Hour + 3*time.Minute // beats come at ten past, the job somewhere
			until(at)
			n.vendor.Always(providertest.When{Model: outage.on}, outage.act)
			n.hear()
			until(at + 12*time.Minute)
			n.hear()
			n.vendor.Heal()
			n.ask("POST", "/api/v1/credentials/openai:default/clear", "{}", nil)
			n.ask("POST", "/api/v1/credentials/anthropic:default/clear", "{}", nil)
			until(at + 30*time.Minute)
			n.hear()
		}
		until(7 * time.Hour)
		// One message of the first person is half done: a tool has posted, and then its model fails.
		n.vendor.On(providertest.When{Model: primary}, providertest.Calls("", provider.ToolCall{Name: "message", Input: `{"text":"half way"}`}), down.After(time.Second))
		n.say(1)
		n.say(2)
		n.vendor.Heal()
		until(8 * time.Hour)
		n.hear()

		var page operator.Runs
		n.ask("GET", "/api/v1/runs?limit=200", "", &page)
		if page.Next != "" || len(page.Runs) < 40 {
			t.Fatalf("%d runs, next %q", len(page.Runs), page.Next)
		}
		n.compare(page.Runs)
		n.compareJob(job.ID, page.Runs)
		n.end()
	})
}

// compare holds the runs with all that was done in them against the other sources.
func (n *nightOut) compare(runs []operator.Run) {
	attempts, failed, skips, moves := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	outcomes, closed := map[string]int{}, map[string]int{}
	type place struct{ session, model string }
	turns := map[place]int{}
	for _, r := range runs {
		var d operator.RunDetail
		n.ask("GET", "/api/v1/runs/"+r.ID, "", &d)
		var asked, passed int
		answered, last := "", ""
		var ends []string // more than one where a job is tried again: that is the same run [R52]
		end := func(model string) {
			if answered = model; len(ends) == 0 || ends[len(ends)-1] != model {
				ends = append(ends, model)
			}
		}
		for _, s := range d.Steps {
			switch s.What {
			case "attempt":
				asked++
				attempts[s.Model]++
				last = s.Text
				if s.Outcome == "ok" && !strings.Contains(s.Text, "asked for tools") {
					end(s.Model)
				}
				if s.Outcome != "ok" {
					failed[s.Model]++
				}
			case "skip":
				passed++
				skips[s.Model+" "+s.Why]++
			case "decision":
				if strings.HasSuffix(s.Text, ", then chain_exhausted") {
					end("")
				}
				if from, to, ok := strings.Cut(s.Text, ", then next_fallback "); ok {
					_, from, _ = strings.Cut(from, " ")
					moves[from+" "+to+" "+s.Reason]++
				}
			}
		}
		if r.Attempts != asked || r.Skips != passed || r.Answered != answered || (r.Outcome == "answered") != (answered != "") || (r.Outcome != "answered") != (r.Outcome == "failed") {
			n.t.Errorf("run %s says %s, %d attempts, %d skips, answered by %q; its steps %d, %d, %q: %s", r.ID, r.Outcome, r.Attempts, r.Skips, r.Answered, asked, passed, answered, last)
		}
		outcomes[r.Kind+" "+r.Outcome]++
		for _, model := range ends {
			turns[place{r.Session, model}]++
		}
		if r.Kind == "chat" {
			closed[r.Outcome]++
		}
	}

	seen := map[string]int{}
	for _, q := range n.vendor.Requests() {
		seen[map[string]string{"gpt-5.5": "openai/gpt-5.5", "claude": "anthropic/claude"}[q.Model]]++
	}
	n.same("requests, as the vendors and the runs tell them", seen, attempts)
	n.same("requests, as the vendors and /metrics tell them", seen, slashed(n.counted("standin_model_attempts_total", "provider", "model")))
	var cost operator.Cost
	n.ask("GET", "/api/v1/cost?by=model", "", &cost)
	calls, lost, tokens, cents := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, row := range cost.Rows {
		calls[row.Key], tokens[row.Key], cents[row.Key] = int(row.Calls), int(row.Input+row.Output), int(math.Round(100*row.USD))
		if row.Failed > 0 {
			lost[row.Key] = int(row.Failed)
		}
		if want := 1000 * int(row.Calls-row.Failed); tokens[row.Key] != want {
			n.t.Errorf("%s: %d tokens for %d answers", row.Key, tokens[row.Key], row.Calls-row.Failed)
		}
	}
	n.same("requests, as the vendors and the ledger tell them", seen, calls)
	n.same("failures, as the runs and the ledger tell them", failed, lost)
	n.same("tokens, as the ledger and /metrics tell them", tokens, slashed(n.counted("standin_tokens_total", "provider", "model")))
	n.same("cents, as the ledger and /metrics tell them", cents, slashed(n.countedIn(100, "standin_cost_usd_total", "provider", "model")))
	n.same("skips, as the runs and /metrics tell them", skips, slashed(n.counted("standin_model_skips_total", "provider", "model", "why")))
	n.same("moves along the chain, as the runs and /metrics tell them", moves, moved(n.counted("standin_model_failovers_total", "from_provider", "from_model", "to_provider", "to_model", "reason")))
	n.same("endings, as the runs and /metrics tell them", closed, n.counted("standin_messages_total", "outcome"))

	var timeline operator.Timeline
	n.ask("GET", "/api/v1/timeline", "", &timeline)
	spans := map[place]int{}
	for _, s := range timeline.Sessions {
		for _, i := range s.Intervals {
			spans[place{s.Session, i.Model}] += i.Turns
		}
	}
	n.same("who answered how often, as the runs and the timeline tell it", asText(turns), asText(spans))
	lanes, ofAgent := map[string]int{}, map[string]int{}
	for at, k := range turns {
		lanes[at.model] += k
	}
	for _, i := range timeline.Agents[0].Intervals {
		ofAgent[i.Model] += i.Turns
	}
	n.same("who answered how often, as the runs and the agent's timeline tell it", lanes, ofAgent)
	var switches []string
	for i := len(timeline.Switches) - 1; i >= 0; i-- {
		s := timeline.Switches[i]
		switches = append(switches, fmt.Sprintf("%s %s %s %s→%s %s", s.At.UTC().Format("15:04:05.000"), s.Session, s.Kind, s.From, s.To, s.Reason))
	}
	n.same("switches, as why told them that night and the timeline tells them", n.changes, switches)

	notices := map[string]int{}
	for _, p := range n.room.Posted() {
		switch {
		case strings.Contains(p.Text, "Model Fallback cleared"):
			notices["cleared written"]++
		case strings.Contains(p.Text, "Model Fallback:"):
			notices["fallback written"]++
		}
	}
	n.same("notices, as the room and /metrics tell them", notices, n.counted("standin_fallback_notices_total", "kind", "result"))

	if f := n.storyOf(1).Unanswered; f == nil || !f.Answered {
		n.t.Errorf("why does not tell of the message that was half done: %+v", f)
	}
	// What all of them tell is what was done to the vendors.
	if beats := outcomes["heartbeat answered"]; beats < 40 {
		n.t.Errorf("%d heartbeats", beats)
	}
	delete(outcomes, "heartbeat answered") // when they come is each installation's own [H3]
	delete(outcomes, "heartbeat failed")
	n.same("the night", map[string]int{"chat answered": 37, "chat failed": 5, "cron answered": 11}, outcomes)
	var first []string
	for _, s := range switches {
		if f := strings.Fields(s); f[1] == "agent:main:direct:ud1" {
			first = append(first, strings.Join(append([]string{f[0]}, append(f[2:3], f[4:]...)...), " "))
		}
	}
	n.same("the first person's night", []string{
		"01:03:00.000 fallback rate_limit", "01:33:00.000 recovered", "02:03:00.000 fallback overloaded", "02:33:00.000 recovered",
		"03:03:00.000 fallback auth", "03:33:00.000 recovered", "04:03:00.000 fallback billing", "04:33:00.000 recovered",
		"05:05:00.000 fallback timeout", "05:33:00.000 recovered",
	}, first)
}

// compareJob holds what the job's own record says against the runs.
func (n *nightOut) compareJob(job string, runs []operator.Run) {
	byID := map[string]operator.Run{}
	for _, r := range runs {
		byID[r.ID] = r
	}
	var record operator.JobRuns
	n.ask("GET", "/api/v1/cron/"+job+"/runs?limit=200", "", &record)
	ended, known := map[string]int{}, map[string]bool{}
	for _, j := range record.Runs {
		r := byID[j.Turn]
		if known[j.Turn] { // it was tried again after this, which is the same run
			r.Outcome, r.Answered = "failed", ""
		}
		known[j.Turn] = true
		if r.Kind != "cron" || r.Requested != j.Requested || r.Answered != j.Used || (j.Status == "ok") != (r.Outcome == "answered") || (j.Used != "") != (j.InputTokens+j.OutputTokens == 1000) {
			n.t.Errorf("the job's record says %+v, the run %+v", j, r)
		}
		ended[j.Status+" "+j.Used]++
	}
	n.same("the job's night", map[string]int{"ok openai/gpt-5.5": 10, "ok anthropic/claude": 1, "error ": 3}, ended)
}

// slashed makes "provider model …" into "provider/model …".
func slashed(sums map[string]int) map[string]int {
	out := map[string]int{}
	for key, v := range sums {
		out[strings.Replace(key, " ", "/", 1)] = v
	}
	return out
}

// moved does so for both models of a move.
func moved(sums map[string]int) map[string]int {
	out := map[string]int{}
	for key, v := range sums {
		f := strings.Fields(key)
		out[fmt.Sprintf("%s/%s %s/%s %s", f[0], f[1], f[2], f[3], f[4])] = v
	}
	return out
}

func asText[K comparable](sums map[K]int) map[string]int {
	out := map[string]int{}
	for key, v := range sums {
		out[fmt.Sprint(key)] = v
	}
	return out
}
