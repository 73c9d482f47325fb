package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
	pt "standin/fallback/provider/providertest"
	"standin/store"
)

var (
	gpt    = model("openai/gpt-5.5")
	claude = model("anthropic/claude-opus-4-6")
	free   = model("groq/b")
)

// till is a desk whose calls cost: gpt 0.40 USD each, claude 0.10, groq nothing.
func till(t *testing.T, caps ...fallback.Cap) (*desk, fallback.Ask) {
	d := newDesk(t, nil)
	d.Vendors, d.Journal, d.Ledger = counted{d}, d.db.Journal(), d.db
	a := ask()
	a.Config.Budgets = caps
	a.Config.Facts = map[fallback.Model]provider.Facts{
		gpt:    {Price: provider.Price{Input: 400, Output: 400, Priced: true}},
		claude: {Price: provider.Price{Input: 100, Output: 100, Priced: true}},
		free:   {Price: provider.Price{Priced: true}},
	}
	return d, a
}

// counted answers every call with a thousand tokens.
type counted struct{ desk *desk }

func (c counted) Call(_ context.Context, call provider.Call) (*provider.Reply, error) {
	c.desk.asked = append(c.desk.asked, call.Endpoint.Provider+"/"+call.Model)
	return &provider.Reply{Text: "ok", Finish: "stop", Tokens: provider.Tokens{Input: 900, Output: 100}}, nil
}

func daily(limit float64) fallback.Cap {
	return fallback.Cap{Name: "house", Period: fallback.Day, Zone: time.UTC, Limit: limit}
}

// "When the sum reaches 1.00; then the next candidate over budget is skipped with
// reason budget and the chain goes on to a free/cheaper one; at day roll-over (time
// zone) it resumes" [IL-288, D20].
func TestTheChainGoesOnToAFreeModel(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), store.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		d, a := &desk{db: db}, fallback.Ask{}
		_, a = tillOver(t, d, daily(1))
		for i := range 3 { // 0.40, 0.80, 1.20
			if out, err := d.Run(t.Context(), a); err != nil || out.Used != gpt || out.Bill.USD != 0.4 {
				t.Fatalf("turn %d: %+v, %v", i, out, err)
			}
		}
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Used != free || out.Bill != (fallback.Bill{}) {
			t.Fatalf("%+v, %v", out, err)
		}
		for i, at := range out.Attempts {
			if at.Skipped != fallback.SkipBudget || at.Reason != fallback.Budget || !strings.Contains(at.Detail, "the budget house is spent (1.20 USD of 1.00 USD)") {
				t.Errorf("attempt %d: %+v", i, at)
			}
		}
		if len(out.Attempts) != 2 || len(d.asked) != 4 {
			t.Errorf("%+v; asked %v", out.Attempts, d.asked)
		}
		_, end := daily(1).Bounds(time.Now())
		time.Sleep(time.Until(end))
		if out, err := d.Run(t.Context(), a); err != nil || out.Used != gpt {
			t.Errorf("the next day: %+v, %v", out, err)
		}
	})
}

// tillOver is till over a store that is open already.
func tillOver(t *testing.T, d *desk, caps ...fallback.Cap) (*desk, fallback.Ask) {
	made, a := till(t, caps...)
	*made.Runner = fallback.Runner{Selections: d.db, Credentials: made.Credentials, Vendors: counted{d}, Journal: d.db.Journal(), Ledger: d.db,
		Log: made.Log, Now: time.Now, Sleep: made.Sleep}
	d.Runner = made.Runner
	return d, a
}

// "With none left the user gets a clear text" [IL-288]: the cause is the budget.
func TestWithNoneLeftTheBudgetIsTheCause(t *testing.T) {
	d, a := till(t, daily(0))
	a.Config.Default.Fallbacks = []fallback.Model{claude}
	_, err := d.Run(t.Context(), a)
	if cause := fallback.CauseOf(err, time.Now()); cause.Kind != fallback.CauseBudget || len(d.asked) != 0 {
		t.Errorf("%+v, asked %v", cause, d.asked)
	}
}

// A turn that uses tools is many calls: each is looked at before it is made, and
// what has been done is not done again by another model [I8].
func TestEachCallOfATurnIsLookedAt(t *testing.T) {
	for tool, want := range map[string]string{"look": "another model goes on", "send": "the turn ends"} {
		t.Run(want, func(t *testing.T) {
			d, a := till(t, daily(0.5))
			v, b := pt.New(), &bench{}
			v.On(primary, calls(tool), calls(tool), calls(tool), pt.Answer("done"))
			v.On(pt.When{Model: "b"}, pt.Answer("done for nothing"))
			d.Vendors = priced{provider.New(provider.Options{Transport: v})}
			a.Messages, a.Tools = []provider.Message{{Role: provider.User, Text: "go"}}, b
			out, err := d.Run(t.Context(), a)
			if len(b.used) != 2 { // 0.40, 0.80: the third call is not made
				t.Errorf("used %v", b.used)
			}
			if tool == "look" {
				if err != nil || out.Used != free {
					t.Errorf("%+v, %v", out, err)
				}
				return
			}
			var failed *fallback.SummaryError
			if !errors.As(err, &failed) || !failed.Acted || fallback.CauseOf(err, time.Now()).Kind != fallback.CauseBudget {
				t.Errorf("%v, %+v", err, fallback.CauseOf(err, time.Now()))
			}
		})
	}
}

// priced makes every answer a thousand tokens long.
type priced struct{ provider.Caller }

func (p priced) Call(ctx context.Context, c provider.Call) (*provider.Reply, error) {
	r, err := p.Caller.Call(ctx, c)
	if r != nil {
		r.Tokens = provider.Tokens{Input: 900, Output: 100}
	}
	return r, err
}

// A subscription's calls cost nothing more, so its models are asked whatever is
// spent.
func TestASubscriptionIsNeverTooDear(t *testing.T) {
	d, a := till(t, daily(0))
	d.Credentials = d.db.Credentials([]fallback.Profile{{ID: "openai:plan", Provider: "openai", Type: fallback.OAuth, Key: provider.NewKey("k"), Expires: time.Now().Add(time.Hour)}})
	if out, err := d.Run(t.Context(), a); err != nil || out.Used != gpt || out.Bill.USD != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// With a subscription and a key in one order a spent budget takes the key away and
// leaves the subscription; while that rests the model is passed over.
func TestASpentBudgetLeavesTheSubscription(t *testing.T) {
	login := fallback.Profile{ID: "openai:plan", Provider: "openai", Type: fallback.OAuth, Key: provider.NewKey("k"), Expires: time.Now().Add(time.Hour)}
	key := fallback.Profile{ID: "openai:key", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("k")}
	d, a := till(t, daily(0))
	a.Config.Order = map[string][]fallback.ProfileID{"openai": {key.ID, login.ID}}
	d.Credentials = d.db.Credentials([]fallback.Profile{login, key, {ID: "groq:default", Provider: "groq", Type: fallback.APIKey, Key: provider.NewKey("k")}})
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != gpt || out.Profile != login.ID {
		t.Fatalf("%+v, %v", out, err)
	}
	_, _, err = d.Credentials.Update(t.Context(), "main", login.ID, func(u fallback.Usage) fallback.Usage {
		u.Blocked = fallback.Window{Until: time.Now().Add(time.Hour), Reason: fallback.SubscriptionLimit}
		return u
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Session = "agent:main:other"
	if out, err := d.Run(t.Context(), a); err != nil || out.Used != free || out.Attempts[0].Skipped != fallback.SkipBudget {
		t.Errorf("%+v, %v", out, err)
	}
}

// "At 10.00 background work stops first, chat by policy" [IL-220].
func TestBackgroundWorkStopsFirst(t *testing.T) {
	house := daily(0.3)
	house.BackgroundOnly = true
	d, a := till(t, house)
	a.Config.Default.Fallbacks = nil
	if _, err := d.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for kind, stops := range map[fallback.Kind]bool{fallback.Chat: false, fallback.Cron: true, fallback.Heartbeat: true, fallback.Compaction: false} {
		b := a
		b.Kind, b.Session = kind, fallback.SessionID("agent:main:"+kind)
		_, err := d.Run(t.Context(), b)
		if stopped := fallback.CauseOf(err, time.Now()).Kind == fallback.CauseBudget; err != nil && !stopped || stopped != stops {
			t.Errorf("%s: stopped %v, %v", kind, stopped, err)
		}
	}
}

// A job's own bound counts the job alone [D20].
func TestAnAskBringsCapsOfItsOwn(t *testing.T) {
	d, a := till(t)
	a.Config.Default.Fallbacks = nil
	a.Kind, a.Job = fallback.Cron, "j1"
	a.Caps = []fallback.Cap{{Name: "job j1", Job: "j1", Period: fallback.Day, Zone: time.UTC, Limit: 0.4}}
	if _, err := d.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(t.Context(), a); fallback.CauseOf(err, time.Now()).Kind != fallback.CauseBudget {
		t.Errorf("the second run: %v", err)
	}
	a.Job, a.Caps = "j2", []fallback.Cap{{Name: "job j2", Job: "j2", Period: fallback.Day, Zone: time.UTC, Limit: 0.4}}
	if _, err := d.Run(t.Context(), a); err != nil {
		t.Errorf("another job: %v", err)
	}
}

// unread is a ledger that cannot be read.
type unread struct{}

func (unread) Spent(context.Context, fallback.Cap, time.Time) (fallback.Spent, error) {
	return fallback.Spent{}, errors.New("disk")
}

// What was spent cannot be read: a person is answered, nothing is spent unasked.
func TestALedgerThatCannotBeRead(t *testing.T) {
	d, a := till(t, daily(1))
	d.Ledger = unread{}
	if out, err := d.Run(t.Context(), a); err != nil || out.Used != gpt {
		t.Errorf("chat: %+v, %v", out, err)
	}
	a.Kind = fallback.Heartbeat
	if out, err := d.Run(t.Context(), a); err != nil || out.Used != free {
		t.Errorf("heartbeat: %+v, %v", out, err)
	}
	if !strings.Contains(d.log.String(), "what was spent cannot be read") {
		t.Error("the operator is not told")
	}
}

// A cap is overshot by no more than the calls that were under way when it was
// reached: with n turns side by side that is n-1 calls more, and never another
// one after them.
func TestACapIsOvershotByTheCallsUnderWay(t *testing.T) {
	const side, price, limit = 8, 0.4, 4.0
	d, a := till(t, daily(limit))
	a.Config.Default.Fallbacks = nil
	d.Vendors = lone{}
	var all sync.WaitGroup
	for i := range side {
		all.Go(func() {
			for n := range 20 {
				b := a
				b.Run, b.Session = fmt.Sprintf("r%d-%d", i, n), fallback.SessionID(fmt.Sprintf("agent:main:s%d", i))
				if _, err := d.Run(t.Context(), b); err != nil {
					if fallback.CauseOf(err, time.Now()).Kind != fallback.CauseBudget {
						t.Error(err)
					}
					return
				}
			}
			t.Error("never refused")
		})
	}
	all.Wait()
	start, _ := daily(limit).Bounds(time.Now())
	spent, err := d.db.Spent(t.Context(), daily(limit), start)
	if err != nil || spent.USD < limit || spent.USD > limit+(side-1)*price+1e-9 {
		t.Errorf("spent %+v of %g, %v", spent, limit, err)
	}
}

// lone answers side by side.
type lone struct{}

func (lone) Call(context.Context, provider.Call) (*provider.Reply, error) {
	return &provider.Reply{Text: "ok", Finish: "stop", Tokens: provider.Tokens{Input: 900, Output: 100}}, nil
}
