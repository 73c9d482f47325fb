package daemon

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/bot/operator"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// deskConfig has two models, so that one can stand in for the other.
const deskConfig = `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}}}
models:
  providers:
    openai: {baseUrl: "http://127.0.0.1:1/v1", apiKey: key-of-openai}
    anthropic: {baseUrl: "http://127.0.0.1:1", apiKey: key-of-anthropic}
`

// newApp wires a daemon on a state folder; it is closed with the test.
func newApp(t testing.TB, dir string) *App {
	t.Helper()
	return deskApp(t, dir, &providertest.Vendor{})
}

func deskApp(t testing.TB, dir string, vendor *providertest.Vendor) *App {
	t.Helper()
	conf, faults := config.Parse("config.yaml", []byte(deskConfig), func(string) string { return "" }, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	log := slog.New(slog.DiscardHandler)
	a, err := New(context.Background(), Parts{
		State: dir, Config: conf, Channels: []channels.Channel{channeltest.NewRoom("room")},
		Vendors: provider.New(provider.Options{Transport: vendor, Log: log}), Log: log, Now: time.Now, Sleep: Sleep,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// running is a daemon that is asked over the socket in its state folder.
type running struct {
	*App
	t      *testing.T
	client *http.Client
}

func run(t *testing.T, vendor *providertest.Vendor) *running {
	t.Helper()
	dir := t.TempDir()
	a := deskApp(t, dir, vendor)
	if err := a.Listen(dir, ""); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &running{a, t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, SocketFile))
	}}}}
}

// ask sends a request and reads the answer into what is given; it gives the status.
func (r *running) ask(method, path, body string, into any) int {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://localhost/api/v1"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			r.t.Fatalf("%s %s: %s", method, path, text)
		}
	}
	return answer.StatusCode
}

// An outage as its operator sees it: the chat has the notice apart from the answer,
// the first screen says who stands in and why, the record has every attempt, and
// what the operator does about it has its effect on the next message.
func TestAnOutageAsItsOperatorSeesIt(t *testing.T) {
	vendor := &providertest.Vendor{}
	vendor.Always(providertest.When{Model: "gpt-5.5"}, providertest.Status(429, `{"error":{"code":"rate_limit_exceeded","type":"requests","message":"slow down"}}`))
	vendor.Always(providertest.When{}, providertest.Answer("here I am"))
	r := run(t, vendor)

	var taken operator.ChatTaken
	if code := r.ask("POST", "/chat", `{"id":"one","text":"hello"}`, &taken); code != http.StatusAccepted {
		t.Fatal(code)
	}
	if err := r.Bot.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	var chat operator.Chat
	r.ask("GET", "/chat", "", &chat)
	var kinds []string
	for _, m := range chat.Messages {
		kinds = append(kinds, m.Kind)
	}
	if got := strings.Join(kinds, " "); got != "said notice reply" || !strings.Contains(chat.Messages[1].Text, "Model Fallback") || chat.Messages[2].Text != "here I am" {
		t.Fatalf("chat: %+v", chat.Messages)
	}
	var now operator.Now
	r.ask("GET", "/now", "", &now)
	if a := now.Agents[0]; a.Standing != channels.Degraded || a.Answers != "anthropic/claude-sonnet-5" || len(now.StandIns) != 1 || now.StandIns[0].Session != taken.Session || now.StandIns[0].NextProbe.IsZero() || len(now.Failures) != 1 || now.Cost == nil || now.Cost.Calls != 2 {
		t.Errorf("now: %+v", now)
	}
	var runs operator.Runs
	r.ask("GET", "/runs?session="+taken.Session, "", &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Outcome != "answered" || runs.Runs[0].Reason != "rate_limit" || runs.Runs[0].Requested != "openai/gpt-5.5" || runs.Runs[0].Answered != "anthropic/claude-sonnet-5" {
		t.Fatalf("runs: %+v", runs)
	}
	var detail operator.RunDetail
	r.ask("GET", "/runs/"+runs.Runs[0].ID, "", &detail)
	if len(detail.Steps) < 4 || detail.Steps[0].What != "attempt" || detail.Steps[0].Outcome != "failed" {
		t.Errorf("run: %+v", detail)
	}
	var timeline operator.Timeline
	r.ask("GET", "/timeline", "", &timeline)
	if len(timeline.Switches) != 1 || timeline.Switches[0].Kind != "fallback" || timeline.Switches[0].Reason != "rate_limit" || len(timeline.Sessions) != 1 {
		t.Errorf("timeline: %+v", timeline)
	}
	var changed operator.CredentialChanged
	if code := r.ask("POST", "/credentials/openai:default/clear", `{}`, &changed); code != 200 || !changed.Changed {
		t.Errorf("clear: %d %+v", code, changed)
	}
	var session operator.Session
	if code := r.ask("PATCH", "/sessions/"+taken.Session, `{"model":"anthropic/claude-sonnet-5"}`, &session); code != 200 || session.Source != "user" {
		t.Errorf("choose: %d %+v", code, session)
	}
	var story operator.SessionDetail
	r.ask("GET", "/sessions/"+taken.Session, "", &story)
	if c := story.Story.Change; c == nil || c.By != "operator" {
		t.Errorf("story: %+v", story.Story)
	}
	var acts operator.Acts
	r.ask("GET", "/acts", "", &acts)
	if len(acts.Acts) != 2 || acts.Acts[0].What != "session.model" || acts.Acts[1].What != "credential.clear" || acts.Acts[0].Via != "command line" {
		t.Errorf("acts: %+v", acts)
	}
	if code := r.ask("POST", "/chat", `{"id":"one","text":"hello"}`, nil); code != http.StatusAccepted {
		t.Error(code)
	}
	_ = r.Bot.Idle(t.Context())
	r.ask("GET", "/chat", "", &chat)
	if len(chat.Messages) != 3 {
		t.Errorf("the same message ran twice: %d messages", len(chat.Messages))
	}
}

// Jobs are added, changed, run and taken away as standin cron does it, and what is
// wrong with one is said by field.
func TestJobsOverTheAPI(t *testing.T) {
	r := run(t, &providertest.Vendor{})
	var job operator.JobDetail
	if code := r.ask("POST", "/cron", `{"name":"daily","schedule":{"kind":"cron","expr":"0 9 * * *","tz":"Europe/Berlin"},"payload":{"kind":"agentTurn","message":"hi"},"delivery":{"mode":"none"}}`, &job); code != http.StatusCreated || len(job.Next) != 5 || len(job.Chain) != 2 {
		t.Fatalf("add: %d %+v", code, job)
	}
	if code := r.ask("PATCH", "/cron/"+job.ID, `{"payload":{"model":"anthropic/claude-sonnet-5"}}`, &job); code != 200 || job.Model != "anthropic/claude-sonnet-5" || !strings.Contains(string(job.Spec), `"message":"hi"`) {
		t.Errorf("edit: %d %+v", code, job)
	}
	var failure operator.Failure
	if code := r.ask("PATCH", "/cron/"+job.ID, `{"payload":{"model":"nobody/x"}}`, &failure); code != 400 || !strings.Contains(failure.Error.Message, "nobody") {
		t.Errorf("a wrong model: %d %+v", code, failure)
	}
	if code := r.ask("POST", "/cron/"+job.ID+"/disable", "", &job); code != 200 || job.Enabled || len(job.Next) != 0 {
		t.Errorf("disable: %d %+v", code, job)
	}
	var calendar operator.Calendar
	if r.ask("POST", "/cron/"+job.ID+"/enable", "", &job); r.ask("GET", "/calendar", "", &calendar) != 200 || len(calendar.Fires) < 6 || calendar.Fires[0].ID != job.ID {
		t.Errorf("calendar: %+v", calendar)
	}
	var asked operator.JobAsked
	if code := r.ask("POST", "/cron/"+job.ID+"/run", "{}", &asked); code != 200 || asked.Result != "ran" {
		t.Errorf("run: %d %+v", code, asked)
	}
	if code := r.ask("DELETE", "/cron/"+job.ID, "", nil); code != 200 {
		t.Errorf("remove: %d", code)
	}
	if code := r.ask("GET", "/cron/"+job.ID, "", &failure); code != 404 {
		t.Errorf("one that is gone: %d", code)
	}
}

// standin status asks over the socket, whatever the port wants of others.
func TestStatusOverTheSocket(t *testing.T) {
	r := run(t, &providertest.Vendor{})
	now, err := AskNow(t.Context(), r.parts.State)
	if err != nil || len(now.Agents) != 1 || now.Agents[0].Standing != channels.Healthy {
		t.Errorf("%v %+v", err, now)
	}
	if _, err := AskNow(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without a daemon answers")
	}
}
