package cronjobs_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"standin/bot"
	"standin/bot/tools"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// house is a scheduler on real rows; its turns are played.
type house struct {
	t      *testing.T
	db     *store.DB
	dir    string
	cfg    cronjobs.Config
	models *fallback.Config
	turns  *played
	waker  cronjobs.Waker
	hooks  []cronjobs.WebhookCall
	hook   func(cronjobs.WebhookCall) error
	probe  func(string) error
	again  bool // the store is opened more than once, so it must be one that lasts
	s      *cronjobs.Scheduler
	book   *cronjobs.Book
}

// The models of the house.
var (
	primary = fallback.Model{Provider: "anthropic", Name: "claude-x"}
	second  = fallback.Model{Provider: "openai", Name: "gpt-x"}
	third   = fallback.Model{Provider: "google", Name: "gem-x"}
)

func newHouse(t *testing.T) *house { return furnished(t, false) }

// furnished is a house; again says that it will be left and entered again.
func furnished(t *testing.T, again bool) *house {
	t.Helper()
	h := &house{again: again, t: t, dir: t.TempDir(), cfg: cronjobs.Defaults()}
	h.cfg.Home = time.UTC
	h.models = &fallback.Config{
		Default: fallback.ModelChoice{Primary: primary, Fallbacks: []fallback.Model{second}, Listed: true}, DefaultAgent: "main",
		Agents: map[fallback.AgentID]fallback.ModelChoice{},
		Providers: map[string]provider.Endpoint{"anthropic": {Provider: "anthropic"}, "openai": {Provider: "openai"}, "google": {Provider: "google"},
			"ollama": {Provider: "ollama", API: provider.OpenAICompletions, BaseURL: "http://127.0.0.1:11434/v1"}},
		Aliases: map[string]fallback.Model{"gem": third},
	}
	h.turns = &played{h: h}
	h.open()
	return h
}

func (h *house) open() {
	h.t.Helper()
	db, err := store.Open(h.t.Context(), store.Options{Dir: h.dir, Throwaway: !h.again})
	if err != nil {
		h.t.Fatal(err)
	}
	h.db = db
	h.s = cronjobs.New(h.options(db))
	h.book = &cronjobs.Book{Store: db, Config: &h.cfg, Rules: cronjobs.Rules{Fallback: h.models, Home: h.cfg.Home}, Now: time.Now}
}

func (h *house) options(rows cronjobs.Store) cronjobs.Options {
	return cronjobs.Options{
		Config: func() *cronjobs.Config { return &h.cfg }, Models: func() *fallback.Config { return h.models },
		Store: rows, Turns: h.turns, Waker: h.waker, Log: slog.New(slog.NewTextHandler(h.t.Output(), nil)), Now: time.Now,
		Post: func(_ context.Context, c cronjobs.WebhookCall) error {
			h.turns.mu.Lock()
			h.hooks = append(h.hooks, c)
			hook := h.hook
			h.turns.mu.Unlock()
			if hook != nil {
				return hook(c)
			}
			return nil
		},
		Probe: func(_ context.Context, url string) error {
			if h.probe != nil {
				return h.probe(url)
			}
			return nil
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-timer.C:
				return nil
			}
		},
	}
}

func (h *house) start() {
	h.t.Helper()
	if err := h.s.Start(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// stop ends the house's day; the rows stay.
func (h *house) stop() {
	h.t.Helper()
	if err := h.s.Stop(context.Background()); err != nil {
		h.t.Error(err)
	}
	if err := h.db.Close(); err != nil {
		h.t.Error(err)
	}
}

// task is a job of an agent's turn that announces to a fixed place.
func task(name string, s cronjobs.Schedule) cronjobs.Job {
	return cronjobs.Job{Name: name, Enabled: true, Schedule: s, Target: cronjobs.Isolated,
		Payload:  cronjobs.Payload{Kind: cronjobs.AgentTurn, Message: "do " + name},
		Delivery: &cronjobs.Delivery{Place: cronjobs.Place{Mode: cronjobs.Announce, Channel: "console", To: "room"}}}
}

func (h *house) add(j cronjobs.Job) cronjobs.Job {
	h.t.Helper()
	j, err := h.book.Add(h.t.Context(), j, "")
	if err != nil {
		h.t.Fatalf("add %s: %v", j.Name, err)
	}
	h.s.Nudge()
	return j
}

func (h *house) job(id cronjobs.JobID) cronjobs.Job {
	h.t.Helper()
	j, err := h.db.Job(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return j
}

// runs gives a job's log, oldest first.
func (h *house) runs(id cronjobs.JobID) []cronjobs.Run {
	h.t.Helper()
	all, err := h.db.Runs(context.Background(), cronjobs.RunsOf{Job: id})
	if err != nil {
		h.t.Fatal(err)
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// played answers turns as the test says, and does to the rows what the bot would.
type played struct {
	h      *house
	mu     sync.Mutex
	answer func(bot.Turn) (string, error) // nil: "done"
	took   func(bot.Turn) time.Duration
	asked  []bot.Turn
	notes  []bot.SystemEvent
	posts  []channels.Outbound
	refuse string       // what the platform says to every post
	sent   []tools.Sent // by the tools of every turn
	busy   int          // turns that run now, and the most that ever did
	most   int
}

func (p *played) Turn(ctx context.Context, t bot.Turn) (bot.Result, error) {
	p.mu.Lock()
	p.asked = append(p.asked, t)
	p.busy++
	p.most = max(p.most, p.busy)
	answer, took := p.answer, p.took
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.busy--
		p.mu.Unlock()
	}()
	if took != nil {
		select {
		case <-time.After(took(t)):
		case <-ctx.Done():
			return bot.Result{Turn: t.ID}, context.Cause(ctx)
		}
	}
	text := "done"
	if answer != nil {
		var err error
		if text, err = answer(t); err != nil {
			return bot.Result{Turn: t.ID, Failure: err.Error()}, err
		}
	}
	p.mu.Lock()
	sent := p.sent
	p.mu.Unlock()
	res := bot.Result{Turn: t.ID, Text: text, Sent: sent, Outcome: &fallback.Outcome{Used: primary, Reply: provider.Reply{Text: text}}}
	if t.Model != (fallback.Model{}) {
		res.Outcome.Used = t.Model
	}
	v := bot.Verdict{Text: text}
	if t.Judge != nil {
		v = t.Judge(res)
	}
	e := bot.Ending{Session: t.Session, Turn: t.ID, How: bot.Answered, Background: true, At: time.Now()}
	if v.Text != "" && t.To != (channels.Address{}) {
		e.Posts = []channels.Outbound{{ID: t.ID + "-r", To: t.To, Kind: channels.Reply, Text: v.Text}}
		res.Posted = t.ID + "-r"
	}
	res.Why = v.Why
	posted, err := p.h.db.End(context.WithoutCancel(ctx), e)
	if err != nil {
		return res, err
	}
	p.send(posted)
	return res, nil
}

// set changes what the test says while turns may run.
func (p *played) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// send is the outbox on a good day.
func (p *played) send(posted []bot.Delivery) {
	for _, d := range posted {
		p.mu.Lock()
		p.posts = append(p.posts, d.Outbound)
		p.mu.Unlock()
		if ok, _ := p.h.db.Claim(context.Background(), d.ID); ok {
			d.State, d.MessageID = bot.Sent, "m-"+d.ID
			p.mu.Lock()
			if p.refuse != "" {
				d.State, d.MessageID, d.Error = bot.Refused, "", p.refuse
			}
			p.mu.Unlock()
			_ = p.h.db.Mark(context.Background(), d)
		}
	}
}

func (p *played) Note(_ context.Context, e bot.SystemEvent) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, e)
	return nil
}

func (p *played) Post(_ context.Context, posts ...channels.Outbound) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posts = append(p.posts, posts...)
	return nil
}

// said gives the texts that were posted.
func (p *played) said() (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.posts {
		texts = append(texts, o.Text)
	}
	return texts
}
