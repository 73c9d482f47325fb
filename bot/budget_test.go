package bot_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// spend has the session's model come to so much.
func (h *house) spend(usd float64, priced bool) {
	h.db.Journal().Record(context.Background(), fallback.Step{At: time.Now(), Session: mainSession, Agent: "main", Kind: fallback.Chat, What: fallback.StepAttempt,
		Attempt: &fallback.Attempt{Model: modelA, OK: true, Cost: usd, Priced: priced, Tokens: provider.Tokens{Input: 10}}})
}

// by sends a command of somebody.
func (h *house) by(who, text string) {
	h.t.Helper()
	h.post(channels.Inbound{Text: text, From: channels.User{ID: who, Name: who}, Authorized: true})
	synctest.Wait()
}

// "Given operator list [U1]; when U1 posts /budget add 2 today; then the cap is
// raised for today only, audited; U2 is refused" [IL-215].
func TestABudgetIsRaisedFromAChat(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Spending = h.db
		h.cfg.Rules.Commands = policy.Commands{Owners: []string{"U1"}}
		h.cfg.Rules.Surfaces = map[string]map[string]policy.Surface{"room": {"": {DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}}}}
		day := fallback.Cap{Name: "day", Period: fallback.Day, Zone: time.UTC, Limit: 1}
		month := fallback.Cap{Name: "house", Period: fallback.Month, Zone: time.UTC, Limit: 100}
		h.cfg.Fallback.Budgets = []fallback.Cap{day, month, {Name: "heartbeats of main", NoPaid: true}}
		h.spend(1.2, true)
		h.spend(0, false)
		h.by("U1", "/budget")
		h.wantTold("day: 1.20 USD of 1.00 USD spent, nothing left until", "paid models are passed over", "not counted: 1 call of unknown price", "(everything)",
			"house: 1.20 USD of 100.00 USD spent, 98.80 USD left until", "heartbeats of main: models that cost money are not used")
		h.by("U2", "/budget add 2 today")
		h.wantTold("Only whoever runs this bot can raise a budget")
		h.by("U1", "/budget add 2 today")
		h.wantTold("Budget day has 2.00 USD more until", "1.20 USD of 3.00 USD are spent")
		start, end := day.Bounds(time.Now())
		raises, err := h.db.Raises(context.Background(), "day", start)
		if err != nil || len(raises) != 1 || raises[0].Who != "room:U1 U1" || raises[0].USD != 2 {
			t.Errorf("%+v, %v", raises, err)
		}
		if s, _ := h.db.Spent(context.Background(), day, end); s.Raised != 0 {
			t.Errorf("tomorrow: %+v", s)
		}
		for text, want := range map[string]string{
			"/budget add 0.5 USD house":        "Budget house has 0.50 USD more",
			"/budget add $1 month":             "Budget house has 1.00 USD more",
			"/budget add 1":                    "Which budget is meant? Put its name at the end. There are: day, house.",
			"/budget add 1 garden":             `There is no budget "garden". There are: day, house.`,
			"/budget add lots day":             `"lots" is no amount that I can add: write US dollars, such as 2 or 0.50, at most 10000.`,
			"/budget add -1 day":               "no amount",
			"/budget add 1e9 day":              "no amount",
			"/budget add 1 heartbeats of main": "There is no budget",
			"/budget drop":                     "Use /budget to see",
			"/budget add":                      "Use /budget to see",
		} {
			h.by("U1", text)
			h.wantTold(want)
		}
	})
}

// /status tells what a session has cost and which budgets are half spent.
func TestStatusTellsCosts(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.bot.Spending = h.db
		h.cfg.Fallback.Budgets = []fallback.Cap{{Name: "day", Period: fallback.Day, Zone: time.UTC, Limit: 1}, {Name: "month", Period: fallback.Month, Zone: time.UTC, Limit: 100}}
		h.spend(0.6, true)
		h.spend(0, false)
		h.say("/status")
		h.wantTold("Cost today: 0.60 USD, and 1 call of unknown price", "Budget day: 0.60 USD of 1.00 USD spent, 0.40 USD left until")
		if text := h.told(); strings.Contains(text, "Budget month") {
			t.Errorf("a budget that is hardly begun is told:\n%s", text)
		}
	})
	inHouse(t, func(t *testing.T, h *house) {
		h.say("/budget")
		h.wantTold("I keep no record of costs here")
		h.bot.Spending = h.db
		h.say("/budget")
		h.wantTold("No budget is set")
	})
}

// What an operator is told as a budget fills up.
func TestNewsOfABudget(t *testing.T) {
	now := time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)
	c := fallback.Cap{Name: "day", Period: fallback.Day, Zone: time.UTC, Limit: 10}
	quiet := c
	quiet.BackgroundOnly = true
	for _, k := range []struct {
		c     fallback.Cap
		usd   float64
		share int
		want  string
	}{
		{c, 5.2, 50, "Budget day: 5.20 USD of 10.00 USD are spent (50 %), until 11 Jun 00:00 UTC."},
		{c, 10, 100, "Budget day: 10.00 USD of 10.00 USD are spent (100 %), until 11 Jun 00:00 UTC. Models that cost money are passed over now. /budget add gives it more."},
		{quiet, 10, 100, "Budget day: 10.00 USD of 10.00 USD are spent (100 %), until 11 Jun 00:00 UTC. Jobs and heartbeats now pass over models that cost money; answers go on. /budget add gives it more."},
	} {
		if got := bot.SayBudgetNews(k.c, fallback.Spent{USD: k.usd}, k.share, now); got != k.want {
			t.Errorf("%s", got)
		}
	}
}
