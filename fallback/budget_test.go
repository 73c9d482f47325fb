package fallback

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"standin/fallback/provider"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Skip("no time zones here:", err)
	}
	return z
}

// A cap starts anew with its zone's day or month, also where that is not 24
// hours long or does not begin on the hour [IL-288].
func TestACapGoesByItsCalendar(t *testing.T) {
	berlin, calcutta := zone(t, "Europe/Berlin"), zone(t, "Asia/Kolkata")
	for name, c := range map[string]struct {
		cap        Cap
		now        string
		start, end string
	}{
		"a day":                          {Cap{Period: Day, Zone: time.UTC}, "2026-06-15T12:00:00Z", "2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z"},
		"a day elsewhere":                {Cap{Period: Day, Zone: berlin}, "2026-06-15T23:00:00Z", "2026-06-15T22:00:00Z", "2026-06-16T22:00:00Z"},
		"a day with 23 hours":            {Cap{Period: Day, Zone: berlin}, "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		"a day that begins at half past": {Cap{Period: Day, Zone: calcutta}, "2026-06-15T18:29:59Z", "2026-06-14T18:30:00Z", "2026-06-15T18:30:00Z"},
		"its first moment":               {Cap{Period: Day, Zone: time.UTC}, "2026-06-15T00:00:00Z", "2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z"},
		"a month":                        {Cap{Period: Month, Zone: time.UTC}, "2026-02-28T12:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		"December":                       {Cap{Period: Month, Zone: berlin}, "2026-12-31T23:30:00Z", "2026-12-31T23:00:00Z", "2027-01-31T23:00:00Z"},
	} {
		now, _ := time.Parse(time.RFC3339, c.now)
		start, end := c.cap.Bounds(now)
		if got := []string{start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)}; !slices.Equal(got, []string{c.start, c.end}) {
			t.Errorf("%s: %v, want %s to %s", name, got, c.start, c.end)
		}
	}
}

// What a cap counts, and what it stops.
func TestWhatACapCovers(t *testing.T) {
	chat, job := Spender{Agent: "main", Kind: Chat}, Spender{Agent: "ops", Kind: Cron, Job: "j1"}
	gpt, claude := Model{"openai", "gpt-5.5"}, Model{"anthropic", "claude-opus-4-6"}
	for name, c := range map[string]struct {
		cap        Cap
		chat, job  bool // covers chat on gpt, job on claude
		stopsChats bool
	}{
		"everything":      {Cap{}, true, true, true},
		"an agent":        {Cap{Agent: "main"}, true, false, true},
		"a purpose":       {Cap{Kinds: []Kind{Cron, Heartbeat}}, false, true, true},
		"a job":           {Cap{Job: "j1"}, false, true, true},
		"another job":     {Cap{Job: "j2"}, false, false, true},
		"a provider":      {Cap{Provider: "openai"}, true, false, true},
		"a model":         {Cap{Provider: "openai", Model: "gpt-5.5"}, true, false, true},
		"its namesake":    {Cap{Provider: "azure", Model: "gpt-5.5"}, false, false, true},
		"background only": {Cap{BackgroundOnly: true}, true, true, false},
	} {
		if c.cap.Covers(chat, gpt) != c.chat || c.cap.Covers(job, claude) != c.job || c.cap.Stops(Chat) != c.stopsChats || !c.cap.Stops(Cron) || !c.cap.Stops(Heartbeat) {
			t.Errorf("%s: covers chat %v, job %v; stops chats %v", name, c.cap.Covers(chat, gpt), c.cap.Covers(job, claude), c.cap.Stops(Chat))
		}
	}
}

// "A candidate may be skipped for budget" [D20]: a free model never is, one of
// unknown price only when there is nothing left, or when nothing may cost.
func TestWhatACapRefuses(t *testing.T) {
	free, dear, unknown := provider.Price{Priced: true}, provider.Price{Input: 5, Output: 25, Priced: true}, provider.Price{}
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	day := Cap{Name: "house", Period: Day, Zone: time.UTC, Limit: 1}
	for name, c := range map[string]struct {
		cap   Cap
		price provider.Price
		spent Spent
		want  string // part of the reason, "" for none
	}{
		"below the limit":                {day, dear, Spent{USD: 0.999999999}, ""},
		"at the limit":                   {day, dear, Spent{USD: 1}, "the budget house is spent (1.00 USD of 1.00 USD); it starts anew at 2026-06-16 00:00 UTC"},
		"above it":                       {day, dear, Spent{USD: 1.2}, "1.20 USD of 1.00 USD"},
		"above it, for nothing":          {day, free, Spent{USD: 1.2}, ""},
		"nobody knows, below":            {day, unknown, Spent{USD: 0.5}, ""},
		"nobody knows, above":            {day, unknown, Spent{USD: 1}, "is spent"},
		"something was given on top":     {day, dear, Spent{USD: 1.2, Raised: 2}, ""},
		"that is spent too":              {day, dear, Spent{USD: 3, Raised: 2}, "3.00 USD of 3.00 USD"},
		"a limit of nothing":             {Cap{Name: "none", Period: Day, Zone: time.UTC}, dear, Spent{}, "0.00 USD of 0.00 USD"},
		"a limit of nothing, free":       {Cap{Name: "none", Period: Day, Zone: time.UTC}, free, Spent{}, ""},
		"nothing may cost":               {Cap{Name: "beats", NoPaid: true}, dear, Spent{}, "it costs money, and beats allows none"},
		"nothing may cost, nobody knows": {Cap{Name: "beats", NoPaid: true}, unknown, Spent{}, "nobody knows what it costs"},
		"nothing may cost, free":         {Cap{Name: "beats", NoPaid: true}, free, Spent{}, ""},
	} {
		if got := c.cap.Refuses(c.price, c.spent, now); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The shares that an operator is told of, those of a raised limit too [IL-220].
func TestSharesOfALimit(t *testing.T) {
	c := Cap{Limit: 10}
	for usd, want := range map[float64][]int{0: nil, 4.99: nil, 5: {50}, 7.5: {50, 75}, 9: {50, 75, 90}, 9.99: {50, 75, 90}, 10: {50, 75, 90, 100}, 12: {50, 75, 90, 100}} {
		if got := c.Reached(Spent{USD: usd}); !slices.Equal(got, want) {
			t.Errorf("%g: %v, want %v", usd, got, want)
		}
	}
	if got := c.Reached(Spent{USD: 10, Raised: 10}); !slices.Equal(got, []int{50}) {
		t.Errorf("raised: %v", got)
	}
	if (Cap{}).Reached(Spent{}) != nil || (Cap{NoPaid: true, Limit: 1}).Reached(Spent{USD: 1}) != nil {
		t.Error("a cap of nothing fills up")
	}
}

// What one call comes to: a login's costs nothing more, and what the vendor did
// not count has no price.
func TestTheBillOfACall(t *testing.T) {
	dear := provider.Price{Input: 10, Output: 50, Priced: true}
	used := provider.Tokens{Input: 1000, Output: 100}
	for name, c := range map[string]struct {
		tokens provider.Tokens
		price  provider.Price
		login  bool
		cost   float64
		priced bool
	}{
		"by its price":         {used, dear, false, 0.015, true},
		"of a subscription":    {used, dear, true, 0, true},
		"nobody knows":         {used, provider.Price{}, false, 0, false},
		"a free one":           {used, provider.Price{Priced: true}, false, 0, true},
		"not counted":          {provider.Tokens{}, dear, false, 0, false},
		"not counted but free": {provider.Tokens{}, provider.Price{Priced: true}, false, 0, true},
	} {
		var a Attempt
		a.bill(c.tokens, c.price, c.login)
		if a.Cost != c.cost || a.Priced != c.priced || a.Tokens != c.tokens {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A server of this machine sends no bills, unless the config has its prices.
func TestAServerOfThisMachineIsFree(t *testing.T) {
	m := Model{"near", "tiny"}
	for url, want := range map[string]bool{"http://127.0.0.1:11434/v1": true, "http://localhost/v1": true, "http://[::1]:1/v1": true, "https://llm.example.com/v1": false, "": false} {
		c := &Config{Providers: map[string]provider.Endpoint{"near": {BaseURL: url}}}
		if got := c.FactsOf(m).Price.Free(); got != want {
			t.Errorf("%s: free %v", url, got)
		}
	}
	c := &Config{Providers: map[string]provider.Endpoint{"near": {BaseURL: "http://127.0.0.1/v1"}}, Facts: map[Model]provider.Facts{m: {Price: provider.Price{Input: 1, Priced: true}}}}
	if c.FactsOf(m).Price.Free() {
		t.Error("a proxy's prices are not believed")
	}
}

// Periods follow each other without a gap or an overlap, whatever the zone and
// the moment.
func TestPeriodsTile(t *testing.T) {
	names := []string{"UTC", "Europe/Berlin", "Asia/Kolkata", "America/Santiago", "Pacific/Apia", "Australia/Lord_Howe"}
	zones := map[string]*time.Location{}
	for _, n := range names {
		zones[n] = zone(t, n)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := Cap{Period: rapid.SampledFrom([]Period{Day, Month}).Draw(t, "period"), Zone: zones[rapid.SampledFrom(names).Draw(t, "zone")]}
		now := time.Unix(rapid.Int64Range(1_500_000_000, 2_000_000_000).Draw(t, "now"), 0)
		start, end := c.Bounds(now)
		if start.After(now) || !end.After(now) {
			t.Fatalf("%s is not within %s to %s", now, start, end)
		}
		if next, _ := c.Bounds(end); !next.Equal(end) {
			t.Fatalf("after %s the next begins at %s", end, next)
		}
		if same, _ := c.Bounds(start); !same.Equal(start) {
			t.Fatalf("%s belongs to the period of %s", start, same)
		}
	})
}
