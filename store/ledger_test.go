package store

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"standin/fallback"
	"standin/fallback/provider"
)

// paid is a call that ended at a moment and cost so much.
func paid(at time.Time, kind fallback.Kind, usd float64) fallback.Step {
	return fallback.Step{At: at, Run: "r1", Session: mainSession, Agent: "main", Kind: kind, What: fallback.StepAttempt, Requested: modelA,
		Attempt: &fallback.Attempt{Model: modelA, Profile: "openai:default", OK: true, Tokens: provider.Tokens{Input: 100, Output: 10}, Cost: usd, Priced: true}}
}

var house = fallback.Cap{Name: "house", Period: fallback.Day, Zone: time.UTC, Limit: 10}

func spent(t testing.TB, d *DB, c fallback.Cap, at time.Time) fallback.Spent {
	t.Helper()
	start, _ := c.Bounds(at)
	s, err := d.Spent(context.Background(), c, start)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func costs(t testing.TB, d *DB, of CostsOf) []Cost {
	t.Helper()
	list, err := d.Costs(context.Background(), of)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// "Given 10 silent heartbeats, 2 failed attempts with usage, 1 probe; then cost
// ledger and metrics have 13 rows and the day's sum matches the stub's sum" [IL-131].
func TestEveryCallIsInTheLedger(t *testing.T) {
	d := open(t, t.TempDir())
	j, stub := d.Journal(), 0.0
	record := func(s fallback.Step) { stub += s.Attempt.Cost; j.Record(t.Context(), s) }
	for range 10 {
		record(paid(noon, fallback.Heartbeat, 0.0000123))
	}
	for range 2 {
		s := paid(noon, fallback.Chat, 0.4)
		s.Attempt.OK, s.Attempt.Reason = false, fallback.EmptyResponse
		record(s)
	}
	record(paid(noon, fallback.ProbeRun, 0.001))
	j.Record(t.Context(), fallback.Step{At: noon, What: fallback.StepSkip, Attempt: &fallback.Attempt{Model: modelA, Skipped: fallback.SkipBudget}}) // no call
	all := costs(t, d, CostsOf{})
	if len(all) != 1 || all[0].Calls != 13 || all[0].Failed != 2 || math.Abs(all[0].USD-stub) > 1e-12 {
		t.Errorf("%+v, the stub's sum is %g", all, stub)
	}
	if s := spent(t, d, house, noon); s.Calls != 13 || math.Abs(s.USD-stub) > 1e-12 {
		t.Errorf("%+v", s)
	}
	beats := house
	beats.Kinds = []fallback.Kind{fallback.Heartbeat}
	if s := spent(t, d, beats, noon); s.Calls != 10 || math.Abs(s.USD-0.000123) > 1e-12 {
		t.Errorf("heartbeats: %+v", s)
	}
}

// A call counts from the moment it ended, not from when its row is on the disk.
func TestACallCountsBeforeItsRowIsThere(t *testing.T) {
	d := open(t, t.TempDir())
	d.journal.writing.Lock() // the disk is slow
	d.Journal().Record(t.Context(), paid(noon, fallback.Chat, 1))
	if s := spent(t, d, house, noon); s.USD != 1 || s.Calls != 1 {
		t.Errorf("while it waits: %+v", s)
	}
	d.journal.writing.Unlock()
	if err := d.journal.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := spent(t, d, house, noon); s.USD != 1 || s.Calls != 1 {
		t.Errorf("after it was written: %+v", s)
	}
	// Between its row's commit and the journal's own note of that it is in both.
	one := callOf(paid(noon, fallback.Chat, 1))
	one.id = d.journal.bills.last
	d.journal.bills.writing = []call{one}
	if s := spent(t, d, house, noon); s.USD != 1 || s.Calls != 1 {
		t.Errorf("while it is in both: %+v", s)
	}
	d.journal.bills.written()
}

// A restart goes on from the hours' totals, with ids behind those that are there.
func TestTheLedgerSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	for day := 1; day <= 3; day++ {
		d := open(t, dir)
		d.Journal().Record(t.Context(), paid(noon, fallback.Chat, 1))
		if s := spent(t, d, house, noon); s.USD != float64(day) {
			t.Errorf("start %d: %+v", day, s)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Where midnight is at half past, a day is reckoned from rows up to the full hour
// and from hours after it.
func TestADayThatBeginsAtHalfPast(t *testing.T) {
	calcutta, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := house
	c.Zone = calcutta
	start, end := c.Bounds(noon)
	d := open(t, dir)
	for _, at := range []time.Time{start.Add(-time.Millisecond), start, start.Add(29 * time.Minute), start.Add(31 * time.Minute), end.Add(-time.Hour)} {
		d.Journal().Record(t.Context(), paid(at, fallback.Chat, 1))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if s := spent(t, open(t, dir), c, noon); s.USD != 4 {
		t.Errorf("%+v", s)
	}
}

// Whatever is spent by whom, when, and written in between, a cap has counted
// exactly the calls that it covers.
func TestACapCountsWhatItCovers(t *testing.T) {
	root, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		d := open(t, dir)
		defer func() { _ = d.Close() }()
		caps := []fallback.Cap{
			house,
			{Name: "a", Period: fallback.Day, Zone: time.FixedZone("half", 5*3600+1800), Agent: "main"},
			{Name: "b", Period: fallback.Month, Zone: time.UTC, Kinds: []fallback.Kind{fallback.Cron, fallback.Heartbeat}},
			{Name: "c", Period: fallback.Month, Zone: time.UTC, Provider: modelB.Provider, Model: modelB.Name, Job: "j1"},
		}
		var all []fallback.Step
		rt.Repeat(map[string]func(*rapid.T){
			"spend": func(rt *rapid.T) {
				s := paid(noon.Add(time.Duration(rapid.IntRange(-40*60, 40*60).Draw(rt, "minutes"))*time.Minute),
					rapid.SampledFrom([]fallback.Kind{fallback.Chat, fallback.Cron, fallback.Heartbeat, fallback.Compaction}).Draw(rt, "kind"),
					float64(rapid.IntRange(0, 1000).Draw(rt, "mills"))/1000)
				s.Agent = rapid.SampledFrom([]fallback.AgentID{"main", "ops"}).Draw(rt, "agent")
				s.Job = rapid.SampledFrom([]string{"", "j1", "j2"}).Draw(rt, "job")
				s.Attempt.Model = rapid.SampledFrom([]fallback.Model{modelA, modelB}).Draw(rt, "model")
				s.Attempt.Priced = rapid.Bool().Draw(rt, "priced")
				if !s.Attempt.Priced {
					s.Attempt.Cost = 0
				}
				all = append(all, s)
				d.Journal().Record(context.Background(), s)
			},
			"write": func(rt *rapid.T) {
				if err := d.journal.flush(context.Background()); err != nil {
					rt.Fatal(err)
				}
			},
			"restart": func(rt *rapid.T) {
				_ = d.Close()
				d = open(t, dir)
			},
			"": func(rt *rapid.T) {
				for _, c := range caps {
					start, end := c.Bounds(noon)
					var want fallback.Spent
					for _, s := range all {
						if !s.At.Before(start) && c.Covers(fallback.Spender{Agent: s.Agent, Kind: s.Kind, Job: s.Job}, s.Attempt.Model) {
							want.USD, want.Calls = want.USD+s.Attempt.Cost, want.Calls+1
							if !s.Attempt.Priced {
								want.Unpriced++
							}
						}
					}
					_ = end // nothing ends after now
					got := spent(t, d, c, noon)
					if math.Abs(got.USD-want.USD) > 1e-9 || got.Calls != want.Calls || got.Unpriced != want.Unpriced {
						rt.Fatalf("%s: %+v, want %+v", c.Name, got, want)
					}
				}
			},
		})
	})
}

// "Rows sum to the ledger; unknown prices are shown as tokens with 'price
// unknown', not zero" [IL-260].
func TestCostsSumToTheLedger(t *testing.T) {
	d := open(t, t.TempDir())
	for i := range 24 {
		s := paid(noon.Add(time.Duration(i)*time.Hour), []fallback.Kind{fallback.Chat, fallback.Cron, fallback.Heartbeat}[i%3], float64(i)/100)
		s.Agent, s.Attempt.Model = []fallback.AgentID{"main", "ops"}[i%2], []fallback.Model{modelA, modelB}[i%2]
		if i%3 == 1 {
			s.Job = fmt.Sprintf("j%d", i%4)
		}
		if i%5 == 0 {
			s.Attempt.Cost, s.Attempt.Priced = 0, false
		}
		d.Journal().Record(t.Context(), s)
	}
	total := costs(t, d, CostsOf{})[0]
	if total.Unpriced != 5 || total.UnpricedTokens != 5*110 || total.Calls != 24 {
		t.Errorf("%+v", total)
	}
	for _, by := range [][]CostBy{{ByModel}, {ByPurpose}, {ByAgent}, {ByJob, ByModel}, {ByDay}, {ByDay, ByPurpose}, {ByRequested}, {ByProfile}, {BySession}, {ByProvider}} {
		var sum Cost
		seen := map[string]bool{}
		for _, c := range costs(t, d, CostsOf{By: by, Zone: time.UTC}) {
			if len(c.By) != len(by) || seen[fmt.Sprint(c.By)] {
				t.Errorf("%v: %v", by, c.By)
			}
			seen[fmt.Sprint(c.By)] = true
			sum.add(c)
		}
		if sum.USD != total.USD || sum.Calls != total.Calls || sum.Unpriced != total.Unpriced || sum.Input != total.Input || sum.UnpricedTokens != total.UnpricedTokens {
			t.Errorf("%v: %+v, want %+v", by, sum, total)
		}
	}
	days := costs(t, d, CostsOf{By: []CostBy{ByDay}, Zone: time.UTC})
	if len(days) != 2 || days[0].By[0] != "2026-01-05" || days[0].Calls != 12 || days[1].By[0] != "2026-01-06" {
		t.Errorf("days %+v", days)
	}
	late := costs(t, d, CostsOf{Since: noon.Add(time.Hour), Until: noon.Add(3 * time.Hour)})
	if late[0].Calls != 2 {
		t.Errorf("between: %+v", late)
	}
	if _, err := d.Costs(t.Context(), CostsOf{By: []CostBy{"weather"}}); err == nil {
		t.Error("told apart by the weather")
	}
}

// What is given on top counts for its period alone, and once for each message
// [IL-215].
func TestARaiseCountsOnce(t *testing.T) {
	d := open(t, t.TempDir())
	start, _ := house.Bounds(noon)
	raise := fallback.Raise{Cap: "house", Start: start, USD: 2, Who: "slack:U1 alice", Key: "m1", At: noon}
	for range 2 { // heard again after a crash
		if err := d.Raise(t.Context(), raise); err != nil {
			t.Fatal(err)
		}
	}
	if s := spent(t, d, house, noon); s.Raised != 2 || house.Allowed(s) != 12 {
		t.Errorf("%+v", s)
	}
	if s := spent(t, d, house, noon.Add(24*time.Hour)); s.Raised != 0 {
		t.Errorf("the day after: %+v", s)
	}
	list, err := d.Raises(t.Context(), "house", start)
	if err != nil || len(list) != 1 || list[0].Who != raise.Who || list[0].USD != 2 || !list[0].At.Equal(noon) {
		t.Errorf("%+v, %v", list, err)
	}
}

// A share is news once, whoever asks at the same time; that everything is spent
// is news again after something was given on top.
func TestNewsOfABudgetAreToldOnce(t *testing.T) {
	d := open(t, t.TempDir())
	start, _ := house.Bounds(noon)
	var mu sync.Mutex
	var told []int
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			fresh, err := d.Tell(t.Context(), "house", start, []int{50, 75, 100}, noon)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			told = append(told, fresh...)
			mu.Unlock()
		})
	}
	all.Wait()
	if slices.Sort(told); !slices.Equal(told, []int{50, 75, 100}) {
		t.Errorf("told %v", told)
	}
	if err := d.Raise(t.Context(), fallback.Raise{Cap: "house", Start: start, USD: 1, Key: "m1", At: noon}); err != nil {
		t.Fatal(err)
	}
	if fresh, _ := d.Tell(t.Context(), "house", start, []int{50, 75, 100}, noon); !slices.Equal(fresh, []int{100}) {
		t.Errorf("after a raise: %v", fresh)
	}
}

// The ledger is kept as long as it is to be, and what is deleted does not change
// what a running period has counted.
func TestTheLedgerIsPruned(t *testing.T) {
	d := open(t, t.TempDir())
	old := noon.Add(-500 * 24 * time.Hour)
	d.Journal().Record(t.Context(), paid(old, fallback.Chat, 1))
	d.Journal().Record(t.Context(), paid(noon, fallback.Chat, 2))
	if err := d.journal.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	start, _ := house.Bounds(old)
	if err := d.Raise(t.Context(), fallback.Raise{Cap: "house", Start: start, USD: 1, Key: "m1", At: old}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Tell(t.Context(), "house", start, []int{50}, old); err != nil {
		t.Fatal(err)
	}
	n, err := d.Prune(t.Context(), noon, Retention{Ledger: 400 * 24 * time.Hour})
	if err != nil || n != 4 {
		t.Errorf("deleted %d, %v", n, err)
	}
	if all := costs(t, d, CostsOf{}); len(all) != 1 || all[0].USD != 2 {
		t.Errorf("%+v", all)
	}
	if s := spent(t, d, house, noon); s.USD != 2 {
		t.Errorf("%+v", s)
	}
}

// BenchmarkSpent is a look at a month's cap between two calls, late in a month
// with a hundred thousand of them.
func BenchmarkSpent(b *testing.B) {
	d := open(b, b.TempDir())
	for i := range 100_000 {
		d.Journal().Record(b.Context(), paid(noon.Add(time.Duration(i)*20*time.Second), fallback.Chat, 0.001))
		if i%2000 == 0 {
			_ = d.journal.flush(b.Context())
		}
	}
	_ = d.journal.flush(b.Context())
	month := fallback.Cap{Name: "m", Period: fallback.Month, Zone: time.UTC}
	start, _ := month.Bounds(noon)
	for b.Loop() {
		if _, err := d.Spent(b.Context(), month, start); err != nil {
			b.Fatal(err)
		}
	}
}
