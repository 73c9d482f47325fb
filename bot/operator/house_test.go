package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// noon is the moment at which these tests happen.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

var (
	modelA = fallback.Model{Provider: "anthropic", Name: "claude-x"}
	modelB = fallback.Model{Provider: "openai", Name: "gpt-x"}
)

const room fallback.SessionID = "agent:main:slack:channel:c1"

// house is a server with everything around it played.
type house struct {
	*Server
	bot  *fakeBot
	rows *fakeRows
	keys *fakeKeys
	log  *bytes.Buffer
	now  time.Time
}

// open makes a house. change may alter the options before the server is made.
func open(t testing.TB, change ...func(*Options)) *house {
	t.Helper()
	h := &house{bot: &fakeBot{}, rows: newRows(), keys: newKeys(), log: &bytes.Buffer{}, now: noon}
	cfg := bot.Defaults()
	cfg.Version = "test"
	cfg.Fallback = &fallback.Config{Default: fallback.ModelChoice{Primary: modelA, Fallbacks: []fallback.Model{modelB}}, DefaultAgent: "main",
		Providers: map[string]provider.Endpoint{"anthropic": {Provider: "anthropic", BaseURL: "https://a.example"}, "openai": {Provider: "openai", BaseURL: "https://o.example"}}}
	cfg.Agents = map[fallback.AgentID]bot.AgentConfig{"main": {Name: "main"}}
	o := Options{
		Settings: Settings{Metrics: true}, Config: func() *bot.Config { return &cfg }, Bot: h.bot, Rows: h.rows, Keyring: h.keys, Prober: never{}, Daemon: calm{},
		Schedule: oneJob{}, Beats: oneBeat{}, Costs: cheap{}, Oracle: plays{},
		Log: slog.New(slog.NewTextHandler(h.log, nil)), Now: func() time.Time { return h.now },
	}
	for _, f := range change {
		f(&o)
	}
	h.Server = New(o)
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// withToken asks for one.
func withToken(o *Options) { o.Settings.Token = provider.NewKey(token) }

const token = "a-long-and-secret-token"

// ask sends a request as this machine does, unless change says otherwise.
func (h *house) ask(method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func coming(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }

func bearing(s string) func(*http.Request) { return header("Authorization", "Bearer "+s) }

// fakeBot notes what it is told.
type fakeBot struct {
	mu   sync.Mutex
	said []channels.Inbound
	done []string
	busy bool
	err  error
}

func (b *fakeBot) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, s)
}

func (b *fakeBot) ReceiveFor(_ context.Context, in channels.Inbound, _ fallback.SessionID, _ fallback.AgentID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, in)
	return b.err
}
func (b *fakeBot) PatchBy(_ context.Context, who string, s fallback.SessionID, ref string) error {
	b.note(fmt.Sprintf("patch %s %s by %s", s, ref, who))
	return b.err
}
func (b *fakeBot) ResetBy(_ context.Context, who string, s fallback.SessionID) error {
	b.note(fmt.Sprintf("reset %s by %s", s, who))
	return b.err
}
func (b *fakeBot) Busy(fallback.SessionID) bool { return b.busy }
func (b *fakeBot) Load() (int, int)             { return 1, 2 }
func (b *fakeBot) Depths() map[fallback.SessionID]bot.Depth {
	return map[fallback.SessionID]bot.Depth{room: {Running: true, Waiting: 2}}
}

// fakeRows holds a session on a stand-in, and one run.
type fakeRows struct {
	mu    sync.Mutex
	steps []KeptStep
	acts  []KeptAct
	chat  []ChatLine
	fails error
}

func newRows() *fakeRows {
	attempt := func(id int64, a fallback.Attempt) KeptStep {
		return KeptStep{ID: id, Step: fallback.Step{At: noon, Run: "r1", Session: room, Agent: "main", Kind: fallback.Chat, What: fallback.StepAttempt, Attempt: &a}}
	}
	override := KeptStep{ID: 2, Step: fallback.Step{At: noon, Run: "r1", Session: room, Agent: "main", Kind: fallback.Chat, What: fallback.StepOverride,
		Write: &fallback.Write{Act: fallback.ActSet, Now: fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA}}}}
	return &fakeRows{
		steps: []KeptStep{
			attempt(3, fallback.Attempt{Model: modelB, Profile: "openai:default", OK: true, Position: 2, Total: 2, At: noon, Took: time.Second}),
			override,
			attempt(1, fallback.Attempt{Model: modelA, Profile: "anthropic:default", Reason: fallback.RateLimit, Status: 429, Detail: "slow down", Position: 1, Total: 2, At: noon}),
		},
		chat: []ChatLine{
			{ChatPlace: ChatPlace{At: noon, N: 1}, ID: "m1", Text: "hello", Who: "ada", How: bot.Answered},
			{ChatPlace: ChatPlace{At: noon, Out: true, N: 1}, ID: "t-n", Kind: channels.Notice, Text: "↪️ Model Fallback", Turn: "t"},
		},
	}
}

func (r *fakeRows) state() bot.SessionState {
	return bot.SessionState{Session: bot.Session{Key: room, Agent: "main", Epoch: "e", StartedAt: noon, LastInteraction: noon, Route: channels.Address{Channel: "slack", Conversation: "C1"}},
		Selection: fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA, Since: noon, Told: fallback.Told{Selected: modelA, Active: modelB, Reason: "rate limit"}}}
}

func (r *fakeRows) Session(_ context.Context, s fallback.SessionID) (bot.Session, error) {
	if s != room {
		return bot.Session{Key: s}, r.fails
	}
	return r.state().Session, r.fails
}
func (r *fakeRows) Selection(_ context.Context, s fallback.SessionID) (fallback.Selection, error) {
	if s != room {
		return fallback.Selection{}, r.fails
	}
	return r.state().Selection, r.fails
}
func (r *fakeRows) Sessions(_ context.Context, of SessionsOf) ([]bot.SessionState, error) {
	return []bot.SessionState{r.state()}[:min(1, of.Limit)], r.fails
}
func (r *fakeRows) StandIns(context.Context, int) ([]bot.SessionState, map[fallback.AgentID]int, error) {
	return []bot.SessionState{r.state()}, map[fallback.AgentID]int{"main": 1}, r.fails
}
func (r *fakeRows) Forget(context.Context, fallback.SessionID, time.Time) (bool, error) {
	return true, r.fails
}
func (r *fakeRows) Transcript(context.Context, fallback.SessionID, int64, int) ([]bot.Entry, error) {
	return []bot.Entry{{Seq: 2, Turn: "t", Role: provider.Assistant, Text: "hi", Model: modelB, At: noon}, {Seq: 1, Turn: "t", Role: provider.User, Text: "hello", At: noon}}, r.fails
}
func (r *fakeRows) Steps(_ context.Context, of StepsOf) (list []KeptStep, err error) {
	for _, s := range r.steps {
		if (of.What == "" || s.What == of.What) && (of.Run == "" || s.Run == of.Run) && len(list) < of.Limit {
			list = append(list, s)
		}
	}
	return list, r.fails
}
func (r *fakeRows) Runs(_ context.Context, of RunsOf) ([]LoggedRun, error) {
	if of.Run != "" && of.Run != "r1" {
		return nil, r.fails
	}
	return []LoggedRun{{Seq: 1, Run: "r1", Session: room, Agent: "main", Kind: fallback.Chat, Began: noon, Ended: noon, Outcome: "answered", Requested: modelA.String(), Answered: modelB.String(), Reason: "rate_limit", Attempts: 2}}, r.fails
}
func (r *fakeRows) Stretches(context.Context, StretchesOf) ([]Stretch, error) {
	return []Stretch{{Session: room, Agent: "main", Model: modelB.String(), Reason: "rate_limit", Began: noon, Ended: noon, Turns: 1}}, r.fails
}
func (r *fakeRows) AgentStretches(context.Context, StretchesOf, time.Duration) ([]AgentStretch, error) {
	return []AgentStretch{{Agent: "main", Model: modelB.String(), Began: noon, Ended: noon, Turns: 1}}, r.fails
}
func (r *fakeRows) NoteAct(_ context.Context, a KeptAct) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails == nil {
		a.ID = int64(len(r.acts) + 1)
		r.acts = append([]KeptAct{a}, r.acts...)
	}
	return r.fails
}
func (r *fakeRows) Acts(context.Context, int64, int) ([]KeptAct, error) { return r.acts, r.fails }
func (r *fakeRows) Chat(context.Context, string, ChatPlace, int) ([]ChatLine, error) {
	return r.chat, r.fails
}
func (r *fakeRows) Unsent(context.Context) (int, time.Time, error) { return 1, noon, r.fails }

// fakeKeys holds one credential of each provider; anthropic's rests.
type fakeKeys struct {
	mu    sync.Mutex
	usage map[fallback.ProfileID]fallback.Usage
	order map[string][]fallback.ProfileID
	deeds []fallback.Deed
}

func newKeys() *fakeKeys {
	return &fakeKeys{order: map[string][]fallback.ProfileID{}, usage: map[fallback.ProfileID]fallback.Usage{
		"anthropic:default": {Disabled: fallback.Window{Until: noon.Add(5 * time.Hour), Reason: fallback.Billing}},
	}}
}

func (k *fakeKeys) Providers(context.Context, fallback.AgentID) ([]string, error) {
	return []string{"anthropic", "openai"}, nil
}
func (k *fakeKeys) Profiles(_ context.Context, _ fallback.AgentID, p string) ([]fallback.Profile, error) {
	return []fallback.Profile{{ID: fallback.ProfileID(p + ":default"), Provider: p, Type: fallback.APIKey, Key: provider.NewKey(secret)}}, nil
}

// secret is in no answer.
const secret = "sk-live-0123456789abcdefghijklmnop"

func (k *fakeKeys) Usage(_ context.Context, _ fallback.AgentID, p string) (map[fallback.ProfileID]fallback.Usage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := fallback.ProfileID(p + ":default")
	return map[fallback.ProfileID]fallback.Usage{id: k.usage[id]}, nil
}
func (k *fakeKeys) Update(context.Context, fallback.AgentID, fallback.ProfileID, func(fallback.Usage) fallback.Usage) (was, now fallback.Usage, err error) {
	panic("the API writes no routing state by itself")
}
func (k *fakeKeys) Order(_ context.Context, _ fallback.AgentID, p string) ([]fallback.ProfileID, fallback.AgentID, bool, error) {
	ids, kept := k.order[p]
	return ids, "main", kept, nil
}
func (k *fakeKeys) SetOrder(_ context.Context, _ fallback.AgentID, p string, ids []fallback.ProfileID, d fallback.Deed) error {
	k.deeds = append(k.deeds, d)
	if ids == nil {
		delete(k.order, p)
		return nil
	}
	k.order[p] = ids
	return nil
}
func (k *fakeKeys) Clear(_ context.Context, _ fallback.AgentID, p fallback.ProfileID, d fallback.Deed) (fallback.Usage, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.usage[p]
	k.usage[p], k.deeds = was.Clear(d.At), append(k.deeds, d)
	return was, true, nil
}
func (k *fakeKeys) Switch(_ context.Context, _ fallback.AgentID, p fallback.ProfileID, off bool, d fallback.Deed) (bool, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.usage[p]
	k.usage[p], k.deeds = was.Switched(off, d.At), append(k.deeds, d)
	return was.SwitchedOff.IsZero() == off, true, nil
}
func (k *fakeKeys) Note(context.Context, fallback.AgentID, fallback.Deed) error { return nil }
func (k *fakeKeys) Deeds(context.Context, fallback.AgentID, fallback.ProfileID, int) ([]fallback.Deed, error) {
	return k.deeds, nil
}
func (k *fakeKeys) Pins(context.Context) (map[fallback.ProfileID][]fallback.Pinned, error) {
	return nil, nil
}

type never struct{}

func (never) NextProbe(fallback.SessionID, fallback.Model) time.Time {
	return noon.Add(5 * time.Minute)
}

type calm struct{}

func (calm) Readiness() Readiness { return Ready }
func (calm) Degraded() string     { return "" }
func (calm) Channels() []Channel {
	return []Channel{{Channel: "slack", Account: "default", State: "ready", Since: noon}}
}
func (calm) Servers() []ToolServer { return []ToolServer{{Name: "wiki", State: "ready", Tools: 3}} }

type oneJob struct{}

func (oneJob) job() Job {
	return Job{ID: "j1", Name: "daily", Enabled: true, Schedule: "every day", Next: []time.Time{noon}}
}
func (j oneJob) detail() JobDetail {
	return JobDetail{Job: j.job(), Spec: json.RawMessage(`{"name":"daily"}`), Chain: []Reasoned{{modelA.String(), "default"}}, Why: "config", Session: "s", Delivery: "nowhere"}
}
func (j oneJob) All(context.Context) (Jobs, error) {
	return Jobs{Enabled: true, Jobs: []Job{j.job()}}, nil
}
func (j oneJob) Job(_ context.Context, id string) (JobDetail, error) {
	if id != "j1" {
		return JobDetail{}, notFound("there is no job %s", id)
	}
	return j.detail(), nil
}
func (j oneJob) Add(context.Context, json.RawMessage) (JobDetail, error) { return j.detail(), nil }
func (j oneJob) Edit(ctx context.Context, id string, _ json.RawMessage) (JobDetail, error) {
	return j.Job(ctx, id)
}
func (j oneJob) Switch(ctx context.Context, id string, _ bool) (JobDetail, error) {
	return j.Job(ctx, id)
}
func (j oneJob) Remove(context.Context, string) (string, error) { return "daily", nil }
func (j oneJob) Run(context.Context, string, bool) (JobAsked, error) {
	return JobAsked{Result: "ran", Run: "run", Says: "it runs"}, nil
}
func (j oneJob) Runs(context.Context, string, string, int) (JobRuns, error) {
	return JobRuns{Runs: []JobRun{{ID: "run", Job: "j1", Name: "daily", Agent: "main", Trigger: "manual", Started: noon, Status: "ok", Tried: []Tried{{Model: "m", Reason: "auth"}}}}}, nil
}
func (j oneJob) Fires(context.Context, time.Time, time.Time, int) ([]Fire, error) {
	return []Fire{{At: noon, Kind: "job", ID: "j1", Name: "daily"}}, nil
}

type oneBeat struct{}

func (oneBeat) one() Heartbeat {
	return Heartbeat{Agent: "main", Every: "30m", Goes: "nowhere", Status: "ran"}
}
func (b oneBeat) Heartbeats(context.Context) ([]Heartbeat, error) { return []Heartbeat{b.one()}, nil }
func (b oneBeat) Beat(context.Context, fallback.AgentID, bool) (Beaten, error) {
	return Beaten{Status: "ran", Why: "ok", Says: "nothing needed attention"}, nil
}
func (b oneBeat) Switch(context.Context, fallback.AgentID, bool) (Heartbeat, error) {
	return b.one(), nil
}
func (b oneBeat) Fires(context.Context, time.Time, time.Time, int) ([]Fire, error) { return nil, nil }

type cheap struct{}

func (cheap) Cost(context.Context, string, time.Time, time.Time) ([]CostRow, error) {
	return []CostRow{{Key: "k", Calls: 2, USD: .5}, {Key: "l", Calls: 1, USD: .25, Unpriced: 1}}, nil
}
func (cheap) Budgets(context.Context, time.Time) ([]Budget, error) {
	return []Budget{{Name: "b", About: "all calls", Period: "day", Limit: 1, Resets: noon}}, nil
}

type plays struct{}

func (plays) Outages() []Outage { return []Outage{{"o", "Outage", "It is out."}} }
func (plays) Rehearse(_ context.Context, outage string, a fallback.AgentID) (Rehearsed, error) {
	return Rehearsed{Outage: outage, Agent: string(a), Chain: []string{}, Steps: []RehearsalStep{{Event: "say", Text: "hi", Facts: json.RawMessage(`{}`)}}}, nil
}
func (plays) Explain(context.Context, Question) (json.RawMessage, error) {
	return json.RawMessage(`{"session":"s"}`), nil
}

func bodyOf(w *httptest.ResponseRecorder) string {
	text, _ := io.ReadAll(w.Result().Body)
	return string(text)
}
