package cronjobs_test

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

	"standin/bot"
	"standin/channels"
	"standin/channels/channeltest"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider"
)

// vendors answer unless they are down, and write down who was asked.
type vendors struct {
	mu    sync.Mutex
	down  map[string]*provider.Error // by model
	asked []string
	text  string // "": done
}

func (v *vendors) Call(_ context.Context, c provider.Call) (*provider.Reply, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := c.Endpoint.Provider + "/" + c.Model
	v.asked = append(v.asked, m)
	if e := v.down[m]; e != nil {
		e.Provider, e.Model = c.Endpoint.Provider, c.Model
		return nil, e
	}
	text := v.text
	if text == "" {
		text = "done"
	}
	return &provider.Reply{Text: text, Finish: "stop", Tokens: provider.Tokens{Input: 10, Output: 3}}, nil
}

// ends are what a vendor that is down says: a failure that passes.
func overloaded() *provider.Error {
	return &provider.Error{Status: 503, Type: "overloaded_error", Message: "overloaded"}
}

// engined is a house with the real bot and the real rule book; only vendors and
// the room are played.
type engined struct {
	*house
	vendors *vendors
	room    *channeltest.Room
	bot     *bot.Bot
}

func newEngined(t *testing.T, change func(*fallback.Config)) *engined {
	h := newHouse(t)
	e := &engined{house: h, vendors: &vendors{down: map[string]*provider.Error{}}, room: channeltest.NewRoom("console")}
	c := h.models
	for id, p := range c.Providers {
		p.Provider = id
		if p.API == "" {
			p.API = provider.OpenAIResponses
		}
		c.Providers[id] = p
		c.Named = append(c.Named, fallback.Profile{ID: fallback.ProfileID(id + ":default"), Provider: id, Type: fallback.APIKey, Key: provider.NewKey("k")})
	}
	c.Cooldowns = fallback.DefaultCooldowns()
	if change != nil {
		change(c)
	}
	e.wire()
	return e
}

func (e *engined) wire() {
	settings := bot.Defaults()
	settings.Fallback, settings.Agents = e.models, map[fallback.AgentID]bot.AgentConfig{"main": {}, "worker": {}}
	log := slog.New(slog.NewTextHandler(e.t.Output(), nil))
	o := e.options(e.db)
	runner := &fallback.Runner{Selections: e.db, Credentials: e.db.Credentials(e.models.Named), Vendors: e.vendors, Journal: e.db.Journal(), Ledger: e.db, Log: log, Now: time.Now, Sleep: o.Sleep}
	e.bot = bot.New(bot.Options{Config: func() *bot.Config { return &settings }, Engine: runner, Store: e.db,
		Channels: map[string]channels.Channel{"console": e.room}, Log: log, Now: time.Now, Sleep: o.Sleep, Journal: e.db.Journal()})
	o.Turns, o.Log = e.bot, log
	e.s = cronjobs.New(o)
	if err := e.bot.Start(context.Background()); err != nil {
		e.t.Fatal(err)
	}
	e.start()
}

func (e *engined) close() {
	e.t.Helper()
	if err := e.s.Stop(context.Background()); err != nil {
		e.t.Error(err)
	}
	if err := e.bot.Stop(context.Background()); err != nil {
		e.t.Error(err)
	}
	if err := e.db.Close(); err != nil {
		e.t.Error(err)
	}
}

// once adds the job, runs it by hand, and gives its line of the log.
func (e *engined) once(j cronjobs.Job) cronjobs.Run {
	e.t.Helper()
	if j.ID == "" {
		j = e.add(j)
	}
	asked, id, err := e.s.RunNow(context.Background(), j.ID, false)
	if err != nil || asked != cronjobs.Ran {
		e.t.Fatalf("run by hand: %s %v", asked, err)
	}
	for range 200 {
		time.Sleep(time.Second)
		runs, err := e.db.Runs(context.Background(), cronjobs.RunsOf{Run: id})
		if err != nil {
			e.t.Fatal(err)
		}
		if len(runs) == 1 && runs[0].Ended != 0 && runs[0].Delivery.Status != cronjobs.Unclear {
			return runs[0]
		}
	}
	e.t.Fatal("the run does not end")
	return cronjobs.Run{}
}

// yearly is a schedule that does not come by itself during a test.
var yearly = cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: 365 * 24 * 3600 * 1000}

func refs(ms ...fallback.Model) *[]string {
	list := []string{}
	for _, m := range ms {
		list = append(list, m.String())
	}
	return &list
}

// R32–R37 [M10, IL-024, IL-277], every combination: what a job names, what its
// agent is, and whether the first model answers. The chain is worked out here in
// the words of the rules; it is read off from the requests that the vendors get,
// one failure after the other. The primary is not appended behind a job's own
// model (failover.md 2.14, 3.6): nobody is asked whom nobody named.
func TestWhichModelsAJobAsks(t *testing.T) {
	other := fallback.Model{Provider: "openai", Name: "other"}
	agents := []struct {
		says   string
		choice *fallback.ModelChoice
	}{
		{"an agent without a model", nil},
		{"an agent with a model as a text", &fallback.ModelChoice{Primary: other}},
		{"an agent with a model and a list", &fallback.ModelChoice{Primary: other, Fallbacks: []fallback.Model{third}, Listed: true}},
		{"an agent with a model and an empty list", &fallback.ModelChoice{Primary: other, Listed: true}},
		{"an agent with a list alone", &fallback.ModelChoice{Fallbacks: []fallback.Model{third}, Listed: true}},
	}
	for _, agent := range agents {
		for _, payloadModel := range []string{"", "openai/job", "gem"} {
			for _, fallbacks := range []*[]string{nil, refs(), refs(second), {"gem", "openai/far"}} {
				for _, up := range []bool{true, false} {
					given := "none"
					if fallbacks != nil {
						given = fmt.Sprint(*fallbacks)
					}
					t.Run(fmt.Sprintf("%s, model %q, fallbacks %s, up %v", agent.says, payloadModel, given, up), func(t *testing.T) {
						want := chainByTheRules(agent.choice, payloadModel, fallbacks)
						synctest.Test(t, func(t *testing.T) {
							e := newEngined(t, func(c *fallback.Config) {
								if agent.choice != nil {
									c.Agents["worker"] = *agent.choice
								}
							})
							defer e.close()
							if agent.choice == nil {
								e.models.Agents["worker"] = fallback.ModelChoice{}
							}
							j := task("job", yearly)
							j.Agent, j.Payload.Model, j.Payload.Fallbacks = "worker", payloadModel, fallbacks
							j = e.add(j)
							if !up {
								for _, m := range want {
									e.vendors.down[m] = overloaded()
								}
							}
							r := e.once(j)
							asked := want[:1]
							if !up {
								asked = want
							}
							if got := slices.Compact(slices.Clone(e.vendors.asked)); !slices.Equal(got, asked) {
								t.Errorf("asked %v, want %v", got, asked)
							}
							if r.Requested != want[0] {
								t.Errorf("the record says that %s was asked for, want %s", r.Requested, want[0])
							}
							switch {
							case up && (r.Status != cronjobs.OK || r.Used != want[0]):
								t.Errorf("the run is %s by %s", r.Status, r.Used)
							case !up && (r.Status != cronjobs.Failed || r.Used != "" || len(r.Attempts) != len(want) || r.Reason != "overloaded"):
								t.Errorf("the run is %s by %q, %d attempts, reason %s", r.Status, r.Used, len(r.Attempts), r.Reason)
							}
							session := fallback.SessionID("agent:worker:cron:" + string(j.ID))
							if sel, err := e.db.Selection(context.Background(), session); err != nil || sel != (fallback.Selection{}) {
								t.Errorf("a run left the selection %+v (%v): it is for this run alone [R33, R37]", sel, err)
							}
							for _, o := range e.room.Posted() {
								if o.Kind == channels.Notice {
									t.Errorf("the room was told of a change: %q [N24]", o.Text)
								}
							}
							// explain says the same before the run.
							if o, err := e.book.Look(context.Background(), j, 1); err != nil || len(o.Chain) != len(want) || o.Chain[0].Model != want[0] || o.Chain[len(want)-1].Model != want[len(want)-1] {
								t.Errorf("explain says %+v (%v), want %v", o.Chain, err, want)
							}
						})
					})
				}
			}
		}
	}
}

// chainByTheRules is R32 and R35 in order.
func chainByTheRules(agent *fallback.ModelChoice, payload string, fallbacks *[]string) (chain []string) {
	alias := func(ref string) string {
		if ref == "gem" {
			return third.String()
		}
		return ref
	}
	first := primary.String() // the default
	if agent != nil && !agent.Primary.IsZero() {
		first = agent.Primary.String()
	}
	if payload != "" { // the job's own primary goes before all others
		first = alias(payload)
	}
	var list []string
	switch {
	case fallbacks != nil: // exactly that list, [] strict
		for _, f := range *fallbacks {
			list = append(list, alias(f))
		}
	case agent != nil && agent.Listed: // the agent's list, even an empty one
		for _, f := range agent.Fallbacks {
			list = append(list, f.String())
		}
	case agent != nil && !agent.Primary.IsZero(): // a text is strict [M5]
	default:
		list = []string{second.String()}
	}
	chain = []string{first}
	for _, f := range list {
		if !slices.Contains(chain, f) {
			chain = append(chain, f)
		}
	}
	return chain
}

func TestModelsOfJobs(t *testing.T) {
	in := func(id string, change func(*fallback.Config), f func(t *testing.T, e *engined)) {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngined(t, change)
				defer e.close()
				f(t, e)
			})
		})
	}
	in("cron-02, IL-123: an empty list is strict, and the error names the model", nil, func(t *testing.T, e *engined) {
		j := task("strict", yearly)
		j.Payload.Model, j.Payload.Fallbacks = second.String(), refs()
		e.vendors.down[second.String()] = &provider.Error{Status: 500, Message: "boom"}
		r := e.once(j)
		if r.Status != cronjobs.Failed || !strings.Contains(r.Error, second.String()) || !slices.Equal(slices.Compact(e.vendors.asked), []string{second.String()}) {
			t.Errorf("%s %q after %v", r.Status, r.Error, e.vendors.asked)
		}
	})
	in("cron-04, IL-172: isolation does not change the chain, and the record has all attempts", nil, func(t *testing.T, e *engined) {
		e.vendors.down[primary.String()] = overloaded()
		r := e.once(task("plain", yearly))
		if r.Used != second.String() || len(r.Attempts) != 1 || r.Attempts[0].Model != primary.String() || r.Attempts[0].Reason != "overloaded" {
			t.Errorf("%+v", r)
		}
	})
	in("cron-05: a model that may not be chosen is an error that names it and the list; nothing is asked", func(c *fallback.Config) {
		c.Allowed = []fallback.Model{primary}
	}, func(t *testing.T, e *engined) {
		e.models.Allowed = nil // when the job was made it might be chosen
		j := task("late", yearly)
		j.Payload.Model = "openai/gpt-5.4"
		j = e.add(j)
		e.models.Allowed = []fallback.Model{primary}
		r := e.once(j)
		if r.Status != cronjobs.Failed || !strings.Contains(r.Error, "openai/gpt-5.4") || !strings.Contains(r.Error, primary.String()) || len(e.vendors.asked) != 0 {
			t.Errorf("%s %q after %v", r.Status, r.Error, e.vendors.asked)
		}
		j.ID, j.Name = "", "new"
		if _, err := e.book.Add(t.Context(), j, ""); err == nil || !strings.Contains(err.Error(), "openai/gpt-5.4") {
			t.Errorf("it can be added: %v", err)
		}
	})
	in("cron-06: fallbacks are not filtered by the allowlist", func(c *fallback.Config) {
		c.Allowed = []fallback.Model{primary}
	}, func(t *testing.T, e *engined) {
		j := task("outside", yearly)
		j.Payload.Fallbacks = refs(third)
		e.vendors.down[primary.String()] = overloaded()
		if r := e.once(j); r.Used != third.String() {
			t.Errorf("%+v", r)
		}
	})
	in("cron-07: an automatic choice never carries over", nil, func(t *testing.T, e *engined) {
		j := e.add(task("again", yearly))
		session := fallback.SessionID("agent:main:cron:" + string(j.ID))
		if _, err := e.db.Swap(t.Context(), session, fallback.Selection{}, fallback.Selection{Model: third, Source: fallback.Auto, Origin: primary}); err != nil {
			t.Fatal(err)
		}
		if r := e.once(j); r.Used != primary.String() {
			t.Errorf("it began with %v", e.vendors.asked)
		}
	})
	in("R27: a person's choice for the job's session carries, and is exact", nil, func(t *testing.T, e *engined) {
		j := e.add(task("chosen", yearly))
		session := fallback.SessionID("agent:main:cron:" + string(j.ID))
		if err := e.bot.Patch(t.Context(), session, third.String()); err != nil {
			t.Fatal(err)
		}
		if r := e.once(j); r.Used != third.String() || r.Requested != third.String() {
			t.Errorf("%+v", r)
		}
	})
	in("cron-31: a server of the house that is down is a skip and no error", nil, func(t *testing.T, e *engined) {
		e.probe = func(string) error { return fmt.Errorf("connection refused") }
		j := task("local", yearly)
		j.Payload.Model, j.Payload.Fallbacks = "ollama/llama", refs()
		j = e.add(j)
		r := e.once(j)
		st := e.job(j.ID).State
		if r.Status != cronjobs.Skipped || r.Reason != "local_server" || len(e.vendors.asked) != 0 || st.Skips != 1 || st.Errors != 0 {
			t.Errorf("%s %s %q, asked %v, %+v", r.Status, r.Reason, r.Error, e.vendors.asked, st)
		}
	})
	in("R40: with a fallback elsewhere the walk goes on", nil, func(t *testing.T, e *engined) {
		looks := 0
		e.probe = func(string) error { looks++; return fmt.Errorf("connection refused") }
		j := task("local", yearly)
		j.Payload.Model = "ollama/llama"
		j = e.add(j)
		for range 2 { // the second finds the first one's look fresh
			if r := e.once(j); r.Status != cronjobs.OK || r.Used != second.String() || r.Attempts[0].Skipped != "local_server" {
				t.Errorf("%+v", r)
			}
		}
		if looks != 1 {
			t.Errorf("the server was looked at %d times in five minutes", looks)
		}
	})
	in("IL-285: a job without a model follows today's default", nil, func(t *testing.T, e *engined) {
		j := e.add(task("default", yearly))
		e.models.Default.Primary = third
		if r := e.once(j); r.Requested != third.String() {
			t.Errorf("%+v", r)
		}
		o, err := e.book.Look(t.Context(), j, 1)
		if err != nil || !strings.Contains(cronjobs.SayAdded(o, time.UTC), "model: default ("+third.String()) {
			t.Errorf("show says %s", cronjobs.SayAdded(o, time.UTC))
		}
	})
	in("IL-306: a provider without a credential is named as such", func(c *fallback.Config) {
		c.Named = slices.DeleteFunc(c.Named, func(p fallback.Profile) bool { return p.Provider == "google" })
	}, func(t *testing.T, e *engined) {
		j := task("keyless", yearly)
		j.Payload.Model = third.String()
		r := e.once(j)
		if r.Used != second.String() || len(r.Attempts) != 1 || r.Attempts[0].Reason != "auth" || !strings.Contains(r.Attempts[0].Detail, "no usable credential") {
			t.Errorf("%+v", r)
		}
	})
	in("IL-153: an answer that is no answer is a failed attempt like any other", nil, func(t *testing.T, e *engined) {
		e.vendors.down[primary.String()] = &provider.Error{Status: 200, Code: "server_error", Message: "upstream failed"}
		if r := e.once(task("odd", yearly)); r.Used != second.String() || r.Status != cronjobs.OK {
			t.Errorf("%+v", r)
		}
	})
	in("IL-214, D20: what costs too much is passed over as budget", func(c *fallback.Config) {
		c.Facts = map[fallback.Model]provider.Facts{
			primary: {Price: provider.Price{Input: 1e6, Output: 1e6, Priced: true}}, // a dollar for each token
			second:  {Price: provider.Price{Priced: true}},
		}
	}, func(t *testing.T, e *engined) {
		free := false
		j := task("free", yearly)
		j.Payload.AllowPaid = &free
		if r := e.once(j); r.Used != second.String() || r.Attempts[0].Skipped != "budget" || r.Cost != 0 {
			t.Errorf("%+v", r)
		}
		j.Name, j.Payload.Fallbacks = "none", &[]string{}
		if r := e.once(j); r.Status != cronjobs.Failed || r.Reason != "budget" {
			t.Errorf("%+v", r)
		}
		j = task("cheap", yearly)
		j.Payload.MaxCostPerDay = 0.01
		if r := e.once(j); r.Used != primary.String() || r.Cost < 1 {
			t.Errorf("the first run of the day: %+v", r)
		}
	})
	in("IL-070: one post with the answer, and no notice", nil, func(t *testing.T, e *engined) {
		e.vendors.down[primary.String()] = overloaded()
		e.once(task("one", yearly))
		if sent := e.room.Posted(); len(sent) != 1 || sent[0].Text != "done" || sent[0].Kind != channels.Reply {
			t.Errorf("sent %+v", sent)
		}
	})
	in("cron-28: NO_REPLY posts nothing and is ok", nil, func(t *testing.T, e *engined) {
		e.vendors.text = "NO_REPLY"
		if r := e.once(task("quiet", yearly)); r.Status != cronjobs.OK || r.Delivery.Status != cronjobs.NotDelivered || len(e.room.Posted()) != 0 {
			t.Errorf("%+v, sent %v", r, e.room.Posted())
		}
	})
	in("R53: a promise is asked for its result once", nil, func(t *testing.T, e *engined) {
		e.vendors.text = "On it!"
		r := e.once(task("eager", yearly))
		if len(e.vendors.asked) != 2 || r.Status != cronjobs.OK || len(e.room.Posted()) != 1 {
			t.Errorf("asked %v, sent %v", e.vendors.asked, e.room.Posted())
		}
	})
}
