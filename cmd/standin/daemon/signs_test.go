package daemon

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot/incidents"
	"standin/channels"
	"standin/cmd/standin/config"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider/providertest"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A credential is told of when only a person can mend it, until it answers again;
// that its rest ends says nothing. What is switched off by hand is known of.
func TestWhatIsToldOfACredential(t *testing.T) {
	failed := func(r fallback.Reason) fallback.Usage { return fallback.Usage{Failures: map[fallback.Reason]int{r: 1}} }
	key := fallback.Profile{ID: "openai:work", Provider: "openai", Type: fallback.APIKey}
	login := fallback.Profile{ID: "openai:me", Provider: "openai", Type: fallback.OAuth, Refresh: true, Expires: noon.Add(-time.Hour)}
	token := func(left time.Duration) fallback.Profile {
		return fallback.Profile{ID: "anthropic:t", Provider: "anthropic", Type: fallback.Token, Expires: noon.Add(left)}
	}
	off := failed(fallback.Billing)
	off.SwitchedOff = noon
	resting := failed(fallback.Billing)
	resting.Disabled = fallback.Window{Until: noon.Add(5 * time.Hour), Reason: fallback.Billing}
	for _, c := range []struct {
		what  string
		p     fallback.Profile
		u     fallback.Usage
		kind  incidents.Kind
		stage int
		says  string // title, meanwhile and mend have this
	}{
		{"a fresh key", key, fallback.Usage{}, "", 0, ""},
		{"a rate limit", key, failed(fallback.RateLimit), "", 0, ""},
		{"a refused key", key, failed(fallback.AuthFailed), incidents.Auth, 0, "credential openai:work is refused It is passed over; other credentials and models are asked in its place. standin auth add openai takes a new key"},
		{"one refused for good", key, failed(fallback.AuthPermanent), incidents.Auth, 0, "refused for good"},
		{"no money", key, resting, incidents.Billing, 0, "It is passed over until 17:00 UTC"},
		{"no money, its rest over", key, failed(fallback.Billing), incidents.Billing, 0, "then standin auth clear openai:work has it used at once."},
		{"no money, switched off", key, off, "", 0, ""},
		{"a login that renews itself", login, fallback.Usage{}, "", 0, ""},
		{"a login that is refused", login, failed(fallback.AuthFailed), incidents.Login, 0, "login openai:me is refused It is passed over; other credentials and models are asked in its place. standin auth login openai makes the login anew."},
		{"a token with a month left", token(30 * 24 * time.Hour), fallback.Usage{}, "", 0, ""},
		{"with two days left", token(48 * time.Hour), fallback.Usage{}, incidents.Login, 1, "expires at 2 Dec 12:00 UTC It works until then."},
		{"with none", token(0), fallback.Usage{}, incidents.Login, 2, "expired at 12:00 UTC"},
	} {
		s, bad := credentialSign(c.p, c.u, noon)
		text := s.Title + " " + s.Meanwhile + " " + s.Mend
		if bad != (c.kind != "") || bad && (s.Kind != c.kind || s.Stage != c.stage || !strings.Contains(text, c.says)) {
			t.Errorf("%s: %v %s %d %q", c.what, bad, s.Kind, s.Stage, text)
		}
	}
}

// A job is told of when people are told of its failures [R47], when it was switched
// off over them, and when its answer did not arrive [IL-154].
func TestWhatIsToldOfAJob(t *testing.T) {
	since := cronjobs.At(noon.Add(-2 * time.Hour))
	for _, c := range []struct {
		what    string
		enabled bool
		state   cronjobs.State
		says    string // title and detail; "": nothing
	}{
		{"well", true, cronjobs.State{LastStatus: cronjobs.OK, LastDelivery: cronjobs.Delivered}, ""},
		{"one failure", true, cronjobs.State{Errors: 1, LastStatus: cronjobs.Failed, FailingSince: since}, ""},
		{"alerted", true, cronjobs.State{Errors: 3, LastStatus: cronjobs.Failed, FailingSince: since, LastAlert: since, LastError: "no model"}, `job "nightly" fails: 3 times in a row, the last time with: no model`},
		{"given up", false, cronjobs.State{Errors: 1, LastStatus: cronjobs.Failed, OffWhy: "its one time did not go well", LastReason: "auth_permanent"}, `job "nightly" fails: its one time did not go well; auth permanent`},
		{"switched off by hand", false, cronjobs.State{Errors: 3, LastStatus: cronjobs.Failed, LastAlert: since}, ""},
		{"not delivered", true, cronjobs.State{LastStatus: cronjobs.OK, LastDelivery: cronjobs.NotDelivered, DeliveryError: "channel_not_found"}, `the answer of job "nightly" did not arrive: channel_not_found`},
	} {
		s, bad := jobSign(cronjobs.Job{ID: "j1", Name: "nightly", Enabled: c.enabled, State: c.state}, noon)
		if text := s.Title + ": " + s.Detail; bad != (c.says != "") || bad && text != c.says {
			t.Errorf("%s: %v %q", c.what, bad, text)
		}
		if bad && s.Subject != "j1" {
			t.Errorf("%s: it is about %q", c.what, s.Subject)
		}
	}
}

// A channel that cannot go on is told of with the adapter's own mend, and marked as
// the one place that cannot be told.
func TestWhatIsToldOfAChannel(t *testing.T) {
	at := config.Place{Channel: "slack", Account: "work"}
	a := &App{fleet: newFleet(slog.New(slog.DiscardHandler), func() time.Time { return noon }, nil, []config.Account{{Place: at}},
		func(config.Account) (channels.Channel, error) { return nil, errors.New("invalid_auth") })}
	list, err := a.channelSigns(t.Context(), noon)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	s := list[0]
	if s.Kind != incidents.Channel || s.Channel != "slack" || s.Account != "work" || s.Hold != time.Minute || s.Detail != "invalid_auth" ||
		!strings.Contains(s.Meanwhile, "does not come back by itself") || !strings.Contains(s.Mend, "standin slack check") {
		t.Errorf("%+v", s)
	}
}

// IL-220 as operators read it: each share of a budget once, that it is spent, and
// that it is no longer with the next day.
func TestABudgetAsOperatorsReadIt(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, dir: dir, config: `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/free]}, userTimezone: UTC}}
models:
  providers:
    openai: {apiKey: k1, models: [{id: gpt-5.5, cost: {input: 400, output: 400}}]}
    anthropic: {apiKey: k2, models: [{id: free, cost: {input: 0, output: 0}}]}
budgets: [{limit: 2}]
operators: {notify: [{to: slack:C0OPS, events: [budget]}]}
`}
		w.vendor = &providertest.Vendor{}
		w.start()
		for person := range 8 { // 0.40 each
			w.say(person)
		}
		time.Sleep(25 * time.Hour)
		w.want(
			"notice: ⚠️ Budget day has reached 50 %: 1.20 USD of 2.00 USD are spent, until 2 Jan 00:00 UTC. ",
			"notice: ⚠️ Budget day has reached 75 %: 1.60 USD of 2.00 USD",
			"notice: ⚠️ Budget day is spent: 2.00 USD of 2.00 USD are spent, until 2 Jan 00:00 UTC. Models that cost money are passed over. ",
			"notice: ✅ Over after 23 h 59 min: budget day was spent (")
		w.end()
	})
}
