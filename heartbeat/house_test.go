package heartbeat_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/heartbeat"
	"standin/store"
)

var (
	primary = fallback.Model{Provider: "anthropic", Name: "claude-opus-4-6"}
	first   = fallback.Model{Provider: "openai", Name: "gpt-5.4"}
	second  = fallback.Model{Provider: "google", Name: "gemini-3-pro"}
	cheap   = fallback.Model{Provider: "openai", Name: "nano"}
	newer   = fallback.Model{Provider: "groq", Name: "next"}
)

const mainSession = fallback.SessionID("agent:main:main")

// house is a heartbeat over the real store, bot and rule book; only the vendors
// and the room are doubles, and time is a bubble's.
type house struct {
	t       *testing.T
	dir     string
	cfg     *bot.Config
	s       *heartbeat.Settings
	room    *channeltest.Room
	vendors *vendors
	files   *files
	db      *store.DB
	bot     *bot.Bot
	engine  *fallback.Runner
	beats   *heartbeat.Runner
	rows    *rows // between beats and db
	close   func()
	said    int
	skew    atomic.Int64 // how much the heartbeat's clock is ahead
}

// inHouse runs f in a bubble of its own time.
func inHouse(t *testing.T, f func(h *house)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, dir: dir, room: channeltest.NewRoom("room"), vendors: &vendors{answers: map[string][]answer{}}, files: &files{}}
		h.configure()
		f(h)
		if h.close != nil {
			h.close()
		}
	})
}

// configure gives one agent with a heartbeat each half hour.
func (h *house) configure() {
	cfg := bot.Defaults()
	cfg.Fallback = &fallback.Config{
		Default:      fallback.ModelChoice{Primary: primary, Fallbacks: []fallback.Model{first, second}, Listed: true},
		Agents:       map[fallback.AgentID]fallback.ModelChoice{},
		DefaultAgent: "main", Cooldowns: fallback.DefaultCooldowns(),
		Providers: map[string]provider.Endpoint{},
		// The limits of a config that says nothing [D23].
		RunTimeout: 10 * time.Minute,
	}
	for _, m := range []fallback.Model{primary, first, second, newer} {
		cfg.Fallback.Providers[m.Provider] = provider.Endpoint{Provider: m.Provider}
	}
	cfg.Agents = map[fallback.AgentID]bot.AgentConfig{"main": {Name: "Standin", System: "Be brief."}}
	h.cfg = &cfg
	c := heartbeat.Defaults()
	c.Every, c.Target, c.File = 30*time.Minute, heartbeat.TargetLast, "HEARTBEAT.md"
	h.s = &heartbeat.Settings{
		Fallback: cfg.Fallback, Agents: []fallback.AgentID{"main"}, Of: map[fallback.AgentID]heartbeat.Config{"main": c}, Base: c,
		Files: map[fallback.AgentID]string{}, Seen: heartbeat.Visibilities{Default: heartbeat.Visible()},
	}
}

// set changes the agent's heartbeat, as a reload does.
func (h *house) set(change func(c *heartbeat.Config)) {
	s := *h.s
	s.Of = map[fallback.AgentID]heartbeat.Config{}
	for a, c := range h.s.Of {
		change(&c)
		s.Of[a] = c
	}
	h.s = &s
	if h.beats != nil {
		h.beats.Reload()
	}
}

// repoint makes another model the configured primary.
func (h *house) repoint(m fallback.Model) {
	cfg, f := *h.cfg, *h.cfg.Fallback
	f.Default.Primary = m
	cfg.Fallback = &f
	h.cfg = &cfg
	s := *h.s
	s.Fallback = &f
	h.s = &s
}

// open makes the parts of a process; begin lets it run.
func (h *house) open() {
	h.t.Helper()
	db, err := store.Open(context.Background(), store.Options{Dir: h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	var keys []fallback.Profile
	for p := range h.cfg.Fallback.Providers {
		keys = append(keys, fallback.Profile{ID: fallback.ProfileID(p + ":default"), Provider: p, Type: fallback.APIKey, Key: provider.NewKey("k")})
	}
	slices.SortFunc(keys, func(a, b fallback.Profile) int { return strings.Compare(string(a.ID), string(b.ID)) })
	log := slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	h.db = db
	h.engine = &fallback.Runner{Selections: db, Credentials: db.Credentials(keys), Vendors: h.vendors, Journal: db.Journal(),
		Log: log, Now: time.Now, Sleep: sleep}
	h.bot = bot.New(bot.Options{Config: func() *bot.Config { return h.cfg }, Engine: h.engine, Store: db,
		Channels: map[string]channels.Channel{"room": h.room}, Log: log, Now: time.Now, Sleep: sleep, Journal: db.Journal()})
	h.rows = &rows{DB: db}
	h.beats = &heartbeat.Runner{Settings: func() *heartbeat.Settings { return h.s }, Bot: h.bot, Engine: h.engine, Rows: h.rows,
		ReadFile: h.files.read, Log: log, Now: func() time.Time { return time.Now().Add(time.Duration(h.skew.Load())) }, Sleep: sleep,
		Model: func(to channels.Address) fallback.Model { return h.cfg.Rules.Model(to, "") }}
}

// begin opens a process and lets it run. scheduled says whether the heartbeat's
// own clock runs; without it beats come from h.beat alone.
func (h *house) begin(scheduled bool) {
	h.t.Helper()
	h.open()
	if err := h.bot.Start(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var listening, beating sync.WaitGroup
	listening.Go(func() { _ = h.room.Run(ctx, h.bot.Receive) })
	if scheduled {
		beating.Go(func() {
			if err := h.beats.Run(ctx); err != nil {
				h.t.Error("heartbeat:", err)
			}
		})
	}
	h.close = func() {
		h.close = nil
		cancel()
		if err := h.bot.Stop(context.Background()); err != nil {
			h.t.Error("stop:", err)
		}
		beating.Wait()
		listening.Wait()
		if err := h.db.Close(); err != nil {
			h.t.Error(err)
		}
	}
	synctest.Wait()
}

// say has alice write in the direct chat and waits until all is quiet.
func (h *house) say(text string) {
	h.t.Helper()
	h.said++
	err := h.bot.ReceiveFor(context.Background(), channels.Inbound{
		ID: fmt.Sprintf("m%d", h.said), To: channels.Address{Channel: "room", Conversation: "dm"}, Chat: channels.Direct,
		From: channels.User{ID: "alice", Name: "alice"}, Text: text, Mentioned: true, Authorized: true, At: time.Now(),
	}, mainSession, "main")
	if err != nil {
		h.t.Fatal(err)
	}
	h.settle()
}

func (h *house) settle() {
	h.t.Helper()
	if err := h.bot.Idle(context.Background()); err != nil {
		h.t.Fatal(err)
	}
	synctest.Wait()
}

// beat runs one now, as the schedule does.
func (h *house) beat() heartbeat.Report { return h.beatFor(heartbeat.Interval) }

func (h *house) beatFor(why heartbeat.Reason) heartbeat.Report {
	h.t.Helper()
	rep := h.beats.Beat(context.Background(), "main", why)
	h.settle()
	return rep
}

// pass lets time go by.
func (h *house) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// posted gives what stands in the room, and forgets it.
func (h *house) posted() (texts []string) {
	for _, out := range h.room.Posted() {
		texts = append(texts, string(out.Kind)+": "+out.Text)
	}
	texts = texts[h.vendors.seen:]
	h.vendors.seen += len(texts)
	if len(texts) == 0 {
		return nil
	}
	return texts
}

func (h *house) row() heartbeat.Row {
	h.t.Helper()
	r, err := h.db.Heartbeat(context.Background(), "main")
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) selection() fallback.Selection {
	h.t.Helper()
	s, err := h.db.Selection(context.Background(), mainSession)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// store writes a session's selection, as an earlier day left it.
func (h *house) store(sel fallback.Selection) {
	h.t.Helper()
	h.storeFor(mainSession, sel)
}

func (h *house) storeFor(id fallback.SessionID, sel fallback.Selection) {
	h.t.Helper()
	err := h.db.PutSession(context.Background(), store.SessionState{Selection: sel, Session: bot.Session{
		Key: id, Agent: "main", StartedAt: time.Now(), LastInteraction: time.Now(),
		Route: channels.Address{Channel: "room", Conversation: "dm"}}})
	if err != nil {
		h.t.Fatal(err)
	}
}

// vendors answers by model: the answers that wait, then plainly.
type vendors struct {
	mu      sync.Mutex
	answers map[string][]answer
	always  map[string]answer
	calls   []provider.Call
	times   []time.Time
	seen    int
}

// answer is what a vendor gives: a text, an error, or both after a while.
type answer struct {
	text  string
	calls []provider.ToolCall
	err   error
	took  time.Duration
}

func limited() answer {
	return answer{err: &provider.Error{Status: 429, Type: "rate_limit_error", Message: "rate limited"}}
}
func refused() answer {
	return answer{err: &provider.Error{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}}
}

func (v *vendors) then(m fallback.Model, answers ...answer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answers[m.String()] = append(v.answers[m.String()], answers...)
}

func (v *vendors) from(m fallback.Model, a answer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.always == nil {
		v.always = map[string]answer{}
	}
	v.always[m.String()] = a
}

// Call implements provider.Caller.
func (v *vendors) Call(ctx context.Context, c provider.Call) (*provider.Reply, error) {
	v.mu.Lock()
	name := c.Endpoint.Provider + "/" + c.Model
	v.calls, v.times = append(v.calls, c), append(v.times, time.Now())
	a, ok := v.always[name]
	if list := v.answers[name]; len(list) > 0 {
		a, ok, v.answers[name] = list[0], true, list[1:]
	}
	v.mu.Unlock()
	if !ok {
		a = answer{text: "HEARTBEAT_OK"}
		if text := c.Messages[len(c.Messages)-1].Text; !strings.Contains(text, "HEARTBEAT_OK") && !strings.Contains(text, "tasks are due") {
			a.text = "hello from " + name
		}
	}
	if a.took > 0 && sleep(ctx, a.took) != nil {
		return nil, context.Cause(ctx)
	}
	if a.err != nil {
		return nil, a.err
	}
	return &provider.Reply{Text: a.text, Calls: a.calls, Finish: "stop"}, nil
}

// asked gives the models that were called since the last look.
func (v *vendors) asked() (list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.calls {
		list = append(list, c.Endpoint.Provider+"/"+c.Model)
	}
	v.calls, v.times = nil, nil
	return list
}

func (v *vendors) last() provider.Call {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls[len(v.calls)-1]
}

func names(models ...fallback.Model) (list []string) {
	for _, m := range models {
		list = append(list, m.String())
	}
	return list
}

// files has HEARTBEAT.md.
type files struct {
	text   string
	there  bool
	broken error
}

func (f *files) read(string) ([]byte, error) {
	switch {
	case f.broken != nil:
		return nil, f.broken
	case !f.there:
		return nil, fs.ErrNotExist
	}
	return []byte(f.text), nil
}

func (f *files) write(text string) { f.text, f.there = text, true }

// rows fails where it is told to.
type rows struct {
	*store.DB
	dead bool // nothing is written any more: the process has died
}

// PutHeartbeat implements heartbeat.Rows.
func (r *rows) PutHeartbeat(ctx context.Context, row heartbeat.Row) error {
	if r.dead {
		return context.Canceled
	}
	return r.DB.PutHeartbeat(ctx, row)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
