package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// budgetConfig has a model that costs 0.40 USD each time and a free one.
const budgetConfig = `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/free]}, userTimezone: UTC, maxConcurrent: 8}}
models:
  providers:
    openai: {apiKey: k1, models: [{id: gpt-5.5, cost: {input: 400, output: 400}}]}
    anthropic: {apiKey: k2, models: [{id: free, cost: {input: 0, output: 0}}]}
budgets: %s
`

// thousand makes every answer a thousand tokens long.
type thousand struct{ provider.Caller }

func (p thousand) Call(ctx context.Context, c provider.Call) (*provider.Reply, error) {
	r, err := p.Caller.Call(ctx, c)
	if r != nil {
		r.Tokens = provider.Tokens{Input: 900, Output: 100}
	}
	return r, err
}

// spending is a daemon whose people say things in rooms of their own.
type spending struct {
	*App
	t    *testing.T
	room *channeltest.Room
	news *news
	end  func()
	said int
}

type news struct {
	mu   sync.Mutex
	told []string
}

func (n *news) add(b BudgetNews) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, fmt.Sprintf("%s %d", b.Cap.Name, b.Share))
}

func (n *news) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.told)
}

// spend opens the daemon over dir. It is called in a bubble.
func spend(t *testing.T, dir, budgets string, told *news) *spending {
	t.Helper()
	conf, faults := config.Parse("config.yaml", fmt.Appendf(nil, budgetConfig, budgets), noEnv, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	vendor := &providertest.Vendor{}
	vendor.Always(providertest.When{}, providertest.Answer("ok").After(time.Second))
	log := slog.New(slog.DiscardHandler)
	s := &spending{t: t, room: channeltest.NewRoom("room"), news: told}
	a, err := New(t.Context(), Parts{
		State: dir, Config: conf, Channels: []channels.Channel{s.room}, Notify: told.add,
		Vendors: thousand{provider.New(provider.Options{Transport: vendor, Log: log})},
		Log:     log, Now: time.Now, Sleep: Sleep,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.App = a
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	s.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
	return s
}

// say has n people say something at once and waits for the answers.
func (s *spending) say(n int) {
	s.t.Helper()
	for range n {
		s.said++
		if err := s.room.Say(s.t.Context(), channels.Inbound{ID: fmt.Sprint(s.said), Text: "hello", Chat: channels.Room, Mentioned: true,
			To: channels.Address{Channel: "room", Conversation: fmt.Sprint(s.said % 8)}, From: channels.User{ID: "alice"}}); err != nil {
			s.t.Fatal(err)
		}
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}

// "Given day cap 10.00, alerts 50/75/90; when spend crosses 5.00, 7.50, 9.00 by
// concurrent turns; then three alerts, one each" [IL-220]; at the limit one more,
// and none is told again after a restart.
func TestSharesOfABudgetAreToldOnce(t *testing.T) {
	dir, told := t.TempDir(), &news{}
	synctest.Test(t, func(t *testing.T) {
		s := spend(t, dir, "[{limit: 10}]", told)
		for _, step := range []struct {
			turns int
			want  []string
		}{
			{12, nil},                                   // 4.80
			{2, []string{"day 50"}},                     // 5.60
			{5, []string{"day 50", "day 75"}},           // 7.60
			{4, []string{"day 50", "day 75", "day 90"}}, // 9.20
		} {
			s.say(step.turns)
			if got := told.all(); !slices.Equal(got, step.want) {
				t.Errorf("after %d more: %v, want %v", step.turns, got, step.want)
			}
		}
		s.end()
		s = spend(t, dir, "[{limit: 10}]", told) // another process
		s.said = 100
		if got := told.all(); len(got) != 3 {
			t.Errorf("told again: %v", got)
		}
		s.say(3)
		if got := told.all(); !slices.Equal(got[3:], []string{"day 100"}) {
			t.Errorf("at the limit: %v", got)
		}
		s.end()
	})
}

// "When the sum reaches 1.00; then the next candidate over budget is skipped with
// reason budget and the chain goes on to a free/cheaper one; with none left the
// user gets a clear text; at day roll-over (time zone) it resumes" [IL-288], over
// the whole daemon, with a reload in between.
func TestABudgetOverTheWholeDaemon(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := spend(t, dir, "[{limit: 1, name: house}]", &news{})
		used := func() string {
			steps, err := s.DB.Steps(t.Context(), store.StepFilter{What: fallback.StepAttempt})
			if err != nil || len(steps) == 0 {
				t.Fatal(steps, err)
			}
			return steps[0].Attempt.Model.String()
		}
		for i, want := range []string{"openai/gpt-5.5", "openai/gpt-5.5", "openai/gpt-5.5", "anthropic/free"} {
			if s.say(1); used() != want {
				t.Errorf("turn %d: %s", i, used())
			}
		}
		// Without the free one nobody may be asked.
		conf, faults := config.Parse("config.yaml", []byte(strings.Replace(fmt.Sprintf(budgetConfig, "[{limit: 1, name: house}]"), ", fallbacks: [anthropic/free]", "", 1)), noEnv, dir)
		if conf == nil {
			t.Fatal(faults)
		}
		s.change(conf)
		s.said = 8 // a session that has not moved to the stand-in
		s.say(1)
		failures := s.room.Texts(channels.Failure)
		if len(failures) != 1 || !strings.Contains(failures[0], "The spending limit set for this bot is used up") {
			t.Errorf("told %q", failures)
		}
		_, end := fallback.Cap{Period: fallback.Day, Zone: time.UTC}.Bounds(time.Now())
		time.Sleep(time.Until(end))
		if s.say(1); used() != "openai/gpt-5.5" {
			t.Errorf("the next day: %s", used())
		}
		s.end()
	})
}
