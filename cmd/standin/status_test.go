package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/bot/operator"
	"standin/channels"
)

// statusNoon is the moment at which somebody asks.
var statusNoon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// calmNow is a daemon of which nothing is to be said.
func calmNow() operator.Now {
	return operator.Now{At: statusNoon, Version: "1", StartedAt: statusNoon.Add(-time.Hour), Readiness: operator.Ready,
		Agents:   []operator.Agent{{ID: "main", Standing: channels.Healthy, Answers: "a/x", Chain: []operator.Candidate{{Position: 1, Model: "a/x", Says: "answers"}}}},
		Channels: []operator.Channel{{Channel: "slack", Account: "default", State: "ready", Since: statusNoon}}}
}

// A monitor learns by the exit code whether somebody should look, or nobody is
// answered.
func TestTheStatusIsAnExitCode(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*operator.Now)
		want   int
	}{
		"all is well":               {func(*operator.Now) {}, 0},
		"another model stands in":   {func(n *operator.Now) { n.Agents[0].Standing = channels.Degraded }, 1},
		"a session is on one":       {func(n *operator.Now) { n.StandInsTotal = 1 }, 1},
		"it is starting":            {func(n *operator.Now) { n.Readiness = operator.Starting }, 1},
		"older files wait":          {func(n *operator.Now) { n.Degraded = "x" }, 1},
		"an incident is open":       {func(n *operator.Now) { n.Incidents = []operator.Incident{{Kind: "job"}} }, 1},
		"half a budget is spent":    {func(n *operator.Now) { n.Incidents = []operator.Incident{{Kind: "budget"}} }, 0},
		"no model can answer":       {func(n *operator.Now) { n.Agents[0].Standing = channels.Exhausted }, 2},
		"one agent of two cannot":   {func(n *operator.Now) { n.Agents = append(n.Agents, operator.Agent{Standing: channels.Exhausted}) }, 1},
		"the only channel is down":  {func(n *operator.Now) { n.Channels[0].State = "down" }, 2},
		"one channel of two is":     {func(n *operator.Now) { n.Channels = append(n.Channels, operator.Channel{State: "down"}) }, 1},
		"it has no channels at all": {func(n *operator.Now) { n.Channels = nil }, 0},
	} {
		n := calmNow()
		c.change(&n)
		if got := verdictOf(n); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// What a person who was woken up reads: who answers and why, since when, what
// comes back when, what waits and what failed.
func TestTheStatusOnOneScreen(t *testing.T) {
	n := calmNow()
	until := statusNoon.Add(4 * time.Hour)
	n.Agents[0] = operator.Agent{ID: "main", Standing: channels.Degraded, Answers: "b/y", Why: "is passed over: its account is out of credit, until 16:00", Chain: []operator.Candidate{
		{Position: 1, Model: "a/x", Says: "is passed over: its account is out of credit, until 16:00", Credentials: []bot.CredentialView{{Profile: "a:default", State: bot.CredentialDisabled, Reason: "billing", Until: until}}},
		{Position: 2, Model: "b/y", Says: "would be asked"}}}
	n.StandInsTotal, n.StandIns = 12, []operator.StandIn{{Session: "agent:main:main", Selected: "a/x", Active: "b/y", Reason: "billing", Since: statusNoon.Add(-10 * time.Minute), NextProbe: statusNoon.Add(3 * time.Minute)}}
	n.Channels[0] = operator.Channel{Channel: "slack", Account: "default", State: "reconnecting", Since: statusNoon, Reason: "the socket broke", Mend: "look at\x1b[2J the network"}
	n.Work = operator.Work{Running: 1, Waiting: 2, Unsent: 3, OldestSend: statusNoon.Add(-6 * time.Minute)}
	n.Failures = []operator.Decision{{At: statusNoon.Add(-time.Minute), Text: "a/x failed: no\nmoney"}}
	n.Cost = &operator.CostToday{USD: 1.5, Calls: 7, Unpriced: 1}
	var out bytes.Buffer
	printNow(&out, n, "/state")
	for _, want := range []string{
		"standin 1 on /state: ready, up since 11:00 (1 h 0 min ago)",
		"main: b/y answers in place of a/x, which is passed over: its account is out of credit, until 16:00",
		"a:default  disabled (out of credit), back 16:00 (in 4 h)",
		"On a stand-in: 12 sessions",
		"agent:main:main: b/y in place of a/x since 11:50 (10 min ago), billing; that is asked again 12:03:00 (in 3 min)",
		"slack  default  reconnecting  since 12:00:00  the socket broke",
		"… and 11 more",
		"1 turn runs, 2 messages wait, 3 posts unsent, the oldest since 11:54 (6 min ago)",
		"11:59:00  a/x failed: no money",
		"Today: $1.50 for 7 calls, and 1 call of unknown price",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a text of others moves the cursor")
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
	if lines := strings.Count(out.String(), "\n"); lines > 30 {
		t.Errorf("%d lines are more than a screen", lines)
	}
}

// What is wrong and not over comes before all else, one line each, in the words in
// which the operators were told; a day with many leaves room for the rest.
func TestTheStatusBeginsWithWhatIsWrong(t *testing.T) {
	n := calmNow()
	for i := range shownIncidents + 2 {
		n.Incidents = append(n.Incidents, operator.Incident{Kind: "job", Subject: fmt.Sprint(i), Text: fmt.Sprintf("⚠️ Job %d fails, since 11:00 UTC:\n3 times\x1b[2J in a row.", i)})
	}
	var out bytes.Buffer
	printNow(&out, n, "/state")
	lines := strings.Split(out.String(), "\n")
	if !strings.HasPrefix(lines[0], "standin 1 on /state") || lines[1] != "  OPEN  ⚠️ Job 0 fails, since 11:00 UTC: 3 times [2J in a row." ||
		lines[shownIncidents+1] != "  … and 2 more: standin incidents --open lists them" || lines[shownIncidents+3] != "main: a/x answers" {
		t.Errorf("it reads\n%s", out.String())
	}
	out.Reset()
	printNow(&out, calmNow(), "/state")
	if strings.Contains(out.String(), "OPEN") {
		t.Errorf("nothing is wrong, and it reads\n%s", out.String())
	}
}

// Without a daemon nobody is answered, and that is what it says.
func TestTheStatusWithoutADaemon(t *testing.T) {
	w, out, errs := lent(t.Context(), strings.NewReader(""))
	if code := run(w, []string{"status", "--state", t.TempDir()}); code != exitUsage || !strings.Contains(errs.String()+out.String(), "standin serve starts it") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// Which models have what they are reached with, for monitors: 1 for what is missing
// or has expired, 2 for what will soon.
func TestAuthOfModels(t *testing.T) {
	usable := bot.CredentialView{State: bot.CredentialUsable}
	expiring := bot.CredentialView{State: bot.CredentialUsable, Expires: statusNoon.Add(time.Hour)}
	renewing := bot.CredentialView{State: bot.CredentialUsable, Expires: statusNoon.Add(time.Hour), Renews: true}
	expired := bot.CredentialView{State: bot.CredentialUseless, Reason: "expired"}
	off := bot.CredentialView{State: bot.CredentialOff}
	resting := bot.CredentialView{State: bot.CredentialResting}
	for name, c := range map[string]struct {
		all     []bot.CredentialView
		keyless bool
		want    string
	}{
		"none":                                {nil, false, "missing"},
		"none is wanted":                      {nil, true, "ok"},
		"a good one":                          {[]bot.CredentialView{usable}, false, "ok"},
		"one that rests: that passes":         {[]bot.CredentialView{resting}, false, "ok"},
		"one that ends soon":                  {[]bot.CredentialView{expiring}, false, "expiring"},
		"one that renews itself":              {[]bot.CredentialView{renewing}, false, "ok"},
		"one that has ended":                  {[]bot.CredentialView{expired}, false, "expired"},
		"one that is switched off":            {[]bot.CredentialView{off}, false, "missing"},
		"a good one beside one that has":      {[]bot.CredentialView{expired, usable}, false, "ok"},
		"one that will beside one that has":   {[]bot.CredentialView{expired, expiring}, false, "expiring"},
		"one that is off beside one that has": {[]bot.CredentialView{off, expired}, false, "expired"},
	} {
		if got := authOf(c.all, c.keyless, statusNoon); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
