package operator

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// scrape gives the samples of our own, without comments.
func (h *house) scrape(t *testing.T) string {
	t.Helper()
	w := h.ask("GET", "/metrics", "")
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var own []string
	for _, line := range strings.Split(bodyOf(w), "\n") {
		if strings.HasPrefix(line, "standin_") {
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}

// What happens is counted under the names that dashboards and alerts use [G30, G31].
func TestWhatHappensIsCounted(t *testing.T) {
	h := open(t)
	ctx := context.Background()
	step := func(s fallback.Step) {
		s.At, s.Run, s.Session, s.Agent, s.Kind = noon, "r", room, "main", fallback.Chat
		h.Record(ctx, s)
	}
	step(fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: modelA, Reason: fallback.RateLimit, Position: 1, Probe: fallback.PrimaryProbe, Took: time.Second}})
	step(fallback.Step{What: fallback.StepDecision, Record: &fallback.Decision{Decision: "candidate_failed", CandidateProvider: modelA.Provider, CandidateModel: modelA.Name,
		NextProvider: modelB.Provider, NextModel: modelB.Name, Reason: "rate_limit", StepOutcome: "next_fallback"}})
	step(fallback.Step{What: fallback.StepAttempt, Attempt: &fallback.Attempt{Model: modelB, OK: true, Position: 2, Took: 2 * time.Second, Tokens: provider.Tokens{Input: 10, Output: 5}, Cost: .25, Priced: true}})
	step(fallback.Step{What: fallback.StepSkip, Attempt: &fallback.Attempt{Model: modelA, Skipped: fallback.SkipCooldown, Reason: fallback.RateLimit, Position: 1}})
	to := channels.Address{Channel: "slack", Conversation: "C1"}
	h.Sent(channels.Outbound{To: to, Kind: channels.Reply}, nil)
	h.Sent(channels.Outbound{To: to, Kind: channels.Notice}, &channels.SendError{Outcome: channels.Refused, Err: io.EOF})
	notice := &channels.Outbound{ID: "t-n"}
	ending := bot.Ending{Accepted: 1, How: bot.Answered, At: noon.Add(3 * time.Second), Notice: notice, Settle: &fallback.Settle{Told: fallback.Told{Selected: modelA, Active: modelB}}}
	h.Ended(ending, noon, []bot.Delivery{{Outbound: *notice}})
	h.Ended(ending, noon, nil) // the room had been told
	ending.Settle = &fallback.Settle{}
	h.Ended(ending, noon, []bot.Delivery{{Outbound: *notice}})
	have := h.scrape(t)
	for _, want := range []string{
		`standin_model_failovers_total{from_model="claude-x",from_provider="anthropic",reason="rate_limit",to_model="gpt-x",to_provider="openai"} 1`,
		`standin_model_attempts_total{kind="chat",model="claude-x",outcome="failed",provider="anthropic",reason="rate_limit"} 1`,
		`standin_model_attempts_total{kind="chat",model="gpt-x",outcome="ok",provider="openai",reason="none"} 1`,
		`standin_model_skips_total{model="claude-x",provider="anthropic",why="cooldown"} 1`,
		`standin_model_probes_total{kind="primary",result="failed"} 1`,
		`standin_tokens_total{direction="input",model="gpt-x",provider="openai",purpose="chat"} 10`,
		`standin_cost_usd_total{model="gpt-x",provider="openai",purpose="chat"} 0.25`,
		`standin_sends_total{channel="slack",kind="reply",outcome="sent"} 1`,
		`standin_sends_total{channel="slack",kind="notice",outcome="refused"} 1`,
		`standin_fallback_notices_total{kind="fallback",result="written"} 1`,
		`standin_fallback_notices_total{kind="fallback",result="repeated"} 1`,
		`standin_fallback_notices_total{kind="cleared",result="written"} 1`,
		`standin_turn_duration_seconds_count{outcome="answered"} 3`,
		`standin_vendor_call_seconds_sum{outcome="ok",provider="openai"} 2`,
		`standin_turns_running 1`,
		`standin_turns_waiting 2`,
		`standin_outbox_unsent 1`,
		`standin_channel_up{account="default",channel="slack"} 1`,
		`standin_sessions_on_standin{agent="main"} 1`,
		`standin_credentials_resting{agent="main",kind="disabled",provider="anthropic",reason="billing"} 1`,
		`standin_credential_window_seconds{agent="main",kind="disabled",provider="anthropic",reason="billing"} 18000`,
		`standin_credentials_usable{agent="main",provider="openai"} 1`,
		`standin_chain_answers{agent="main"} 2`,
	} {
		if !strings.Contains(have, want+"\n") && !strings.HasSuffix(have, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if t.Failed() {
		t.Log(have)
	}
}

// No id, no text and no name that somebody made up becomes a label: a million
// sessions and models are as many series as one [G31].
func TestLabelsAreBounded(t *testing.T) {
	h := open(t)
	for i := range 500 {
		s := stepOf("run")
		s.Session = fallback.SessionID("agent:main:" + strings.Repeat("x", i))
		s.Attempt = &fallback.Attempt{Model: fallback.Model{Provider: "p", Name: strings.Repeat("m", i)}, Reason: fallback.RateLimit, Detail: strings.Repeat("d", i)}
		h.Record(t.Context(), s)
	}
	have := h.scrape(t)
	if n := strings.Count(have, "standin_model_attempts_total{"); n != 1 || !strings.Contains(have, `model="other"`) {
		t.Errorf("%d series of attempts\n%s", n, have)
	}
	for _, word := range []string{"agent:main:", "slow down", "xxx", "mmm"} {
		if strings.Contains(have, word) {
			t.Errorf("%q stands in a label", word)
		}
	}
}

// What a run takes beside its vendors is known without theirs.
func TestOwnTime(t *testing.T) {
	h := open(t)
	h.metrics.began("r")
	s := stepOf("r")
	s.Attempt.Took = 2 * time.Second
	h.Record(t.Context(), s)
	h.metrics.ended("r", 2*time.Second+3*time.Millisecond)
	if have := h.scrape(t); !strings.Contains(have, `standin_run_own_seconds_bucket{le="0.003"} 1`) || !strings.Contains(have, `standin_run_own_seconds_bucket{le="0.002"} 0`) {
		t.Error(have)
	}
	for i := range 2 * mostSpent {
		h.metrics.began(strings.Repeat("r", i%4000) + "x")
	}
	if n := len(h.metrics.spent); n > mostSpent {
		t.Errorf("%d runs are remembered", n)
	}
}

// An account that is ready since another moment was connected anew in between.
func TestReconnectsAreCounted(t *testing.T) {
	h := open(t)
	for _, since := range []time.Time{noon.Add(-time.Hour), noon.Add(-time.Hour), noon} {
		h.metrics.connected(Channel{Channel: "slack", Account: "default", State: "ready", Since: since})
	}
	h.metrics.connected(Channel{Channel: "slack", Account: "default", State: "reconnecting", Since: noon})
	if have := h.scrape(t); !strings.Contains(have, `standin_channel_reconnects_total{channel="slack"} 1`) {
		t.Error(have)
	}
}

// Metrics are off when config says so.
func TestMetricsCanBeOff(t *testing.T) {
	h := open(t, func(o *Options) { o.Settings.Metrics = false })
	if w := h.ask("GET", "/metrics", ""); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

// A run is told to an OTLP receiver as one span with one more for each request,
// and with not a word of what was said.
func TestTracesOfRuns(t *testing.T) {
	got := make(chan map[string]any, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var doc map[string]any
		if err := json.NewDecoder(r.Body).Decode(&doc); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "k" {
			t.Errorf("%s %v %v", r.URL.Path, r.Header, err)
		}
		got <- doc
	}))
	defer receiver.Close()
	h := open(t, func(o *Options) {
		o.Settings.Traces = TraceSettings{Endpoint: receiver.URL, Headers: map[string]provider.Key{"X-Key": provider.NewKey("k")}}
	})
	h.Record(t.Context(), stepOf("r"))
	h.traces.ended(fallback.Ask{Run: "r", Agent: "main", Kind: fallback.Chat, Session: room, System: "be kind", Messages: []provider.Message{{Role: provider.User, Text: "a secret question"}}},
		noon, noon.Add(time.Second), &fallback.Outcome{Used: modelB, Reply: provider.Reply{Text: "a secret answer"}}, nil)
	text, err := json.Marshal(<-got)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"standin.run"`, `"name":"chat claude-x"`, `"rate_limit"`, `"openai/gpt-x"`, `"startTimeUnixNano":"1767614400000000000"`, `"intValue":"429"`, `"parentSpanId":"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("missing %s\n%s", want, text)
		}
	}
	for _, never := range []string{"secret", "be kind", string(room)} {
		if strings.Contains(string(text), never) {
			t.Errorf("%q is told\n%s", never, text)
		}
	}
	if n := len(h.traces.open); n != 0 {
		t.Errorf("%d runs are kept", n)
	}
}
