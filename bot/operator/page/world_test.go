package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"standin/bot"
	"standin/bot/operator"
	"standin/channels"
)

// What the fake daemon tells: an outage in which a stand-in answers, a channel
// that is down, a job that fails.

const (
	claude = "anthropic/claude-sonnet-4-6"
	gpt    = "openai/gpt-5.2"
	gemini = "google/gemini-3-pro"
	alice  = "agent:main:slack:direct:u0alice"
)

func (d *fake) in(t time.Duration) time.Time { return d.at.Add(t) }

func (d *fake) credential(profile, provider string, windows ...bot.CredentialWindow) bot.CredentialView {
	v := bot.CredentialView{Profile: profile, Provider: provider, Type: "api_key", From: "stored", State: bot.CredentialUsable, Place: 1}
	if len(windows) > 0 && !d.cleared[profile] {
		v.State, v.Windows, v.Reason, v.Until = bot.CredentialPartly, windows, windows[0].Reason, windows[0].Until
	}
	if d.off[profile] {
		v.State, v.Since = bot.CredentialOff, d.at
	}
	return v
}

func (d *fake) changeCredential(r *http.Request) any {
	id, what := r.PathValue("id"), r.PathValue("what")
	d.cleared[id] = d.cleared[id] || what == "clear"
	d.off[id] = what == "disable"
	d.act("credential."+what, id, "")
	return operator.CredentialChanged{Changed: true, Credential: d.credential(id, "anthropic"), Says: fmt.Sprintf("The credential %s was changed: %s.", id, what)}
}

func (d *fake) now() operator.Now {
	rests := []bot.CredentialWindow{{Kind: "cooldown", Model: claude, Reason: "rate_limit", Until: d.in(4*time.Minute + 20*time.Second)}}
	main := operator.Agent{ID: "main", Name: "Ada" + d.evil, Default: true, Standing: channels.Degraded, Why: "is passed over: its credentials rest after a rate limit, until 10:42", Answers: gpt, StandIns: 2, Chain: []operator.Candidate{
		{Position: 1, Model: claude + d.evil, Do: "skip", Why: "cooldown", Reason: "rate_limit", Until: rests[0].Until, Says: "is passed over: its credentials rest after a rate limit, until 10:42", Credentials: []bot.CredentialView{d.credential("anthropic:work", "anthropic", rests...), d.credential("anthropic:backup", "anthropic", rests...)}},
		{Position: 2, Model: gpt, Do: "try", Says: "would be asked", Credentials: []bot.CredentialView{d.credential("openai:default", "openai")}},
		{Position: 3, Model: gemini, Do: "skip", Why: "no_profile", Says: "is passed over: there is no credential for google: log in with standin models auth login google", Credentials: []bot.CredentialView{}},
	}}
	if d.cleared["anthropic:work"] {
		main.Standing, main.Why, main.Answers = channels.Healthy, "", claude
		main.Chain[0] = operator.Candidate{Position: 1, Model: claude, Do: "try", Says: "would be asked", Credentials: []bot.CredentialView{d.credential("anthropic:work", "anthropic"), d.credential("anthropic:backup", "anthropic", rests...)}}
	}
	n := operator.Now{At: d.at, Version: "1.0.0", StartedAt: d.in(-50 * time.Hour), Readiness: operator.Ready,
		Agents: []operator.Agent{main, {ID: "ops", Standing: channels.Healthy, Answers: gpt, Strict: true, Chain: []operator.Candidate{{Position: 1, Model: gpt, Do: "try", Says: "would be asked", Credentials: []bot.CredentialView{d.credential("openai:default", "openai")}}}}},
		StandIns: []operator.StandIn{
			{Session: alice + d.evil, Agent: "main", Room: operator.Room{Channel: "slack", Conversation: "D024BE91L"}, Selected: claude, Active: gpt, Reason: "rate_limit", Since: d.in(-11 * time.Minute), NextProbe: d.in(3 * time.Minute)},
			{Session: "agent:main:discord:channel:1199", Agent: "main", Room: operator.Room{Channel: "discord", Conversation: "#general"}, Selected: claude, Active: gpt, Reason: "rate_limit", Since: d.in(-7 * time.Minute)},
		}, StandInsTotal: 2,
		Channels: []operator.Channel{
			{Channel: "slack", Account: "default", State: "ready", Since: d.in(-50 * time.Hour), LastEvent: d.in(-time.Minute)},
			{Channel: "discord", Account: "community", State: "down", Since: d.in(-3 * time.Minute), Attempt: 4, Reason: "The gateway refused the token." + d.evil, Mend: "Put a new token at channels.discord.accounts.community.token."}},
		Servers:  []operator.ToolServer{{Name: "calendar", State: "ready", Since: d.in(-50 * time.Hour), Tools: 6}},
		Work:     operator.Work{Running: 1, Waiting: 2, Unsent: 3, OldestSend: d.in(-2 * time.Minute)},
		Failures: []operator.Decision{d.decision(1, "attempt", claude, "failed")}, Cost: &operator.CostToday{USD: 3.4217, Calls: 118, Unpriced: 2}}
	if d.noCost {
		n.Cost = nil
	}
	return n
}

func (d *fake) decision(id int64, what, model, outcome string) operator.Decision {
	v := operator.Decision{ID: id, At: d.in(time.Duration(id-12*60) * time.Second), Run: "01RUN", Session: alice, Agent: "main", Kind: "chat", What: what, Model: model, Credential: "anthropic:work", Outcome: outcome, TookMs: 240, Position: 1, Total: 3, Text: model + " answered."}
	if outcome == "failed" {
		v.Reason, v.Status, v.Detail, v.Request, v.Text = "rate_limit", 429, "number of request tokens has exceeded your per-minute rate limit"+d.evil, "req_011CSHoEeqs5C35K2UUqR7Fy", model+" refused: too many requests."
	}
	return v
}

func (d *fake) runs(r *http.Request) operator.Runs {
	if r.URL.Query().Get("outcome") == "open" {
		return operator.Runs{Runs: []operator.Run{}}
	}
	list := []operator.Run{d.run("01RUN").Run,
		{ID: "02RUN", Session: alice, Agent: "main", Kind: "cron", Began: d.in(-time.Hour), Ended: d.in(-time.Hour), TookMs: 1830, Outcome: "failed", Requested: claude, Reason: "billing", Attempts: 2, Skips: 1}}
	if r.URL.Query().Get("cursor") == "older" {
		return operator.Runs{Runs: []operator.Run{{ID: "03RUN", Session: alice, Agent: "main", Kind: "chat", Began: d.in(-20 * time.Hour), Ended: d.in(-20 * time.Hour), TookMs: 900, Outcome: "answered", Requested: claude, Answered: claude, Attempts: 1}}}
	}
	return operator.Runs{Runs: list, Next: "older"}
}

func (d *fake) run(id string) operator.RunDetail {
	steps := []operator.Decision{d.decision(1, "attempt", claude, "failed"), d.decision(2, "cooldown", claude, ""), d.decision(3, "override", gpt, ""), d.decision(4, "attempt", gpt, "ok")}
	steps[1].Text, steps[1].Reason, steps[1].Until = "anthropic:work rests for "+claude+".", "rate_limit", d.in(4*time.Minute)
	steps[2].Text, steps[2].Act = gpt+" stands in.", "set"
	return operator.RunDetail{Run: operator.Run{ID: id, Session: alice, Agent: "main", Kind: "chat", Began: steps[0].At, Ended: steps[3].At, TookMs: 3120, Outcome: "answered", Requested: claude, Answered: gpt, Reason: "rate_limit", Attempts: 2}, Steps: steps}
}

func (d *fake) timeline(r *http.Request) operator.Timeline {
	from, _ := time.Parse(time.RFC3339, r.URL.Query().Get("from"))
	to, _ := time.Parse(time.RFC3339, r.URL.Query().Get("to"))
	part := func(p float64) time.Time { return from.Add(time.Duration(p * float64(to.Sub(from)))) }
	span := func(model, reason string, a, b float64) operator.Interval {
		return operator.Interval{Model: model, From: part(a), To: part(b), Turns: int(100 * (b - a)), Reason: reason}
	}
	all := []operator.Interval{span(claude, "", 0, .42), span(gpt, "rate_limit", .42, .5), span(claude, "", .5, .8), span("", "timeout", .8, .83), span(gpt, "overloaded", .83, 1)}
	return operator.Timeline{From: from, To: to, Agents: []operator.AgentTimeline{{Agent: "main", Intervals: bare(all)}},
		Sessions: []operator.SessionTimeline{{Session: alice + d.evil, Agent: "main", Intervals: all}, {Session: "agent:main:discord:channel:1199", Agent: "main", Intervals: all[:3]}},
		Switches: []operator.Switch{
			{At: part(.83), Session: alice, Agent: "main", Kind: "fallback", From: claude, To: gpt, Reason: "overloaded", Run: "01RUN"},
			{At: part(.5), Session: alice, Agent: "main", Kind: "recovered", From: gpt, To: claude, Run: "02RUN"},
			{At: part(.45), Session: "agent:main:discord:channel:1199", Agent: "main", Kind: "chosen", From: claude, To: gemini, By: "Bob" + d.evil, Run: "03RUN"}}}
}

// bare are stretches as the API gives them for agents: without reasons.
func bare(all []operator.Interval) (list []operator.Interval) {
	for _, i := range all {
		i.Reason = ""
		list = append(list, i)
	}
	return list
}

func (d *fake) sessions(r *http.Request) operator.Sessions {
	list := []operator.Session{d.session(alice + d.evil).Session, d.session("agent:main:discord:channel:1199").Session, d.session("agent:ops:console:main").Session}
	list[2].Active, list[2].Reason = list[2].Selected, ""
	if r.URL.Query().Get("state") == "running" {
		list = list[:0]
	}
	return operator.Sessions{Sessions: list}
}

func (d *fake) session(key string) operator.SessionDetail {
	s := operator.SessionDetail{Session: operator.Session{Key: key, Agent: "main", Room: operator.Room{Channel: "slack", Conversation: "D024BE91L"}, StartedAt: d.in(-30 * time.Hour), LastSpoken: d.in(-2 * time.Minute), Turns: 42, Selected: claude, Active: gpt, Source: "auto", Reason: "rate_limit", Since: d.in(-11 * time.Minute), Credential: "anthropic:work"},
		Models: []string{claude, gpt, gemini}, Chain: []string{claude, gpt, gemini},
		Story: bot.Story{Session: key, Selected: claude, Active: gpt, Cause: "auto", Next: d.in(3 * time.Minute), Change: &bot.StoryChange{Kind: bot.ChangedFallback, At: d.in(-11 * time.Minute), Run: "01RUN", To: gpt, Reason: "rate_limit", Notice: "↪️ Model Fallback: openai/gpt-5.2 (selected anthropic/claude-sonnet-4-6; rate_limit)", Told: bot.NoticeTold,
			Events: []bot.StoryEvent{{At: d.in(-11 * time.Minute), What: bot.EventFailed, Model: claude, Profile: "anthropic:work", Reason: "rate_limit", Status: 429, Detail: "too many tokens" + d.evil}, {At: d.in(-11 * time.Minute), What: bot.EventAnswered, Model: gpt, Profile: "openai:default"}}}}}
	if m := d.model[key]; m != "" {
		s.Selected, s.Active, s.Source, s.Reason = m, m, "user", ""
	}
	return s
}

func (d *fake) transcript(r *http.Request) operator.Transcript {
	if r.URL.Query().Get("cursor") != "" {
		return operator.Transcript{Session: alice, Entries: []operator.Entry{{Seq: 1, At: d.in(-29 * time.Hour), Turn: "00RUN", Role: "user", Text: "The very first question."}}}
	}
	return operator.Transcript{Session: alice, Next: "2", Entries: []operator.Entry{
		{Seq: 4, At: d.in(-2 * time.Minute), Turn: "01RUN", Role: "assistant", Text: "Two of three replicas are up.\nThe third is catching up." + d.evil, Model: gpt, Tools: []string{"read"}},
		{Seq: 3, At: d.in(-3 * time.Minute), Turn: "01RUN", Role: "user", Text: "How is the database?" + d.evil},
		{Seq: 2, At: d.in(-20 * time.Hour), Turn: "", Role: "summary", Text: "They talked about the move of the database to the new machine."}}}
}

func (d *fake) jobs() []operator.Job {
	return []operator.Job{
		{ID: "j1", Name: "Morning report" + d.evil, Agent: "main", Enabled: !d.jobOff["j1"], Schedule: "at 07:30 on weekdays (Europe/Berlin)", Next: []time.Time{d.in(9 * time.Hour), d.in(33 * time.Hour)}, LastRun: d.in(-15 * time.Hour), LastStatus: "ok", Model: claude, Description: "What happened over night."},
		{ID: "j2", Name: "Check of certificates", Agent: "ops", Enabled: true, Schedule: "every hour", Next: []time.Time{d.in(20 * time.Minute)}, LastRun: d.in(-40 * time.Minute), LastStatus: "error", LastError: "All models failed (2): anthropic/claude-sonnet-4-6: rate_limit | openai/gpt-5.2: billing", Errors: 3},
		{ID: "j3", Name: "Old backup", Agent: "main", OffWhy: "Its model is not allowed any more: google/gemini-1.5.", Schedule: "at 03:00 every day", Next: []time.Time{}}}
}

func (d *fake) job(id string) operator.JobDetail {
	j := operator.JobDetail{Job: d.jobs()[0], Spec: json.RawMessage(`{"name":"Morning report","schedule":{"kind":"cron","expr":"30 7 * * 1-5"}}`), Chain: []operator.Reasoned{{Model: claude, Why: "the job's own"}, {Model: gpt, Why: "a fallback of the agent"}}, Why: "The job names a model; the agent's fallbacks stand behind it.", Session: "cron:j1", Delivery: "to slack channel C024BE91L", StaggerMs: 120000}
	for _, known := range d.jobs() {
		if known.ID == id {
			j.Job = known
		}
	}
	return j
}

func (d *fake) jobRuns(id string) operator.JobRuns {
	return operator.JobRuns{Runs: []operator.JobRun{
		{ID: "r2", Job: id, Name: "Morning report", Agent: "main", Turn: "01RUN", Trigger: "schedule", Started: d.in(-15 * time.Hour), Ended: d.in(-15 * time.Hour), TookMs: 8200, Status: "ok", Requested: claude, Used: gpt, Tried: []operator.Tried{{Model: claude, Credential: "anthropic:work", Reason: "rate_limit", Detail: "429" + d.evil}}, Summary: "All is well." + d.evil, InputTokens: 2400, OutputTokens: 310, CostUSD: 0.0213, Delivery: "delivered"},
		{ID: "r1", Job: id, Name: "Morning report", Agent: "main", Trigger: "manual", Started: d.in(-39 * time.Hour), Status: "error", Error: "All models failed.", Requested: claude, Delivery: "not-delivered", DeliveryError: "The channel is archived."}}}
}

func (d *fake) calendar() operator.Calendar {
	c := operator.Calendar{From: d.at, To: d.in(7 * 24 * time.Hour)}
	for day := range 3 {
		c.Fires = append(c.Fires, operator.Fire{At: d.in(time.Duration(9+24*day) * time.Hour), Kind: "job", ID: "j1", Name: "Morning report" + d.evil, Model: claude})
		for hour := range 8 {
			c.Fires = append(c.Fires, operator.Fire{At: d.in(time.Duration(24*day+hour) * time.Hour), Kind: "heartbeat", ID: "main", Name: "main"})
		}
	}
	return c
}

func (d *fake) heartbeats() operator.Heartbeats {
	return operator.Heartbeats{Heartbeats: []operator.Heartbeat{{Agent: "main", Every: "30m", Due: d.in(12 * time.Minute), Last: d.in(-18 * time.Minute), Status: "skipped", Says: "HEARTBEAT.md is empty, so no model was asked.", Goes: "what it says goes to the direct chat with Alice", PerDay: 34}}}
}

func (d *fake) cost(by string) operator.Cost {
	if by == "" {
		by = "model"
	}
	rows := []operator.CostRow{{Key: claude + d.evil, Calls: 81, Failed: 4, Input: 412000, Output: 38000, Cached: 120000, USD: 2.91}, {Key: gpt, Calls: 35, Input: 90000, Output: 11000, USD: 0.5117}, {Key: "local/qwen", Calls: 2, Input: 800, Output: 60, Unpriced: 2}}
	return operator.Cost{From: d.in(-30 * 24 * time.Hour), To: d.at, By: by, Rows: rows, Total: operator.CostRow{Key: "", Calls: 118, Failed: 4, Input: 502800, Output: 49060, Cached: 120000, USD: 3.4217, Unpriced: 2}}
}

func (d *fake) budgets() operator.Budgets {
	return operator.Budgets{Budgets: []operator.Budget{{Name: "Everything", About: "All calls of all agents.", Period: "day", Limit: 5, Spent: 3.42, Resets: d.in(9 * time.Hour)}, {Name: "Jobs", About: "Calls of jobs.", Period: "month", Limit: 10, Spent: 10.4, Resets: d.in(200 * time.Hour), Over: true}}}
}

func (d *fake) outages() operator.Outages {
	return operator.Outages{Outages: []operator.Outage{{ID: "primary-rate-limit", Title: "The primary is rate-limited for half an hour, and then for another" + d.evil, Story: "The vendor of the first model answers 429 for twenty minutes."}, {ID: "all-down", Title: "Everything is down", Story: "No vendor answers for an hour."}}}
}

func (d *fake) rehearsed(outage string) operator.Rehearsed {
	step := func(at time.Duration, event, model, reason, text string) operator.RehearsalStep {
		return operator.RehearsalStep{AtMs: at.Milliseconds(), Event: event, Model: model, Reason: reason, Text: text, Facts: json.RawMessage(`{}`)}
	}
	return operator.Rehearsed{Outage: outage, Agent: "main", Chain: []string{claude, gpt, gemini}, TookMs: 38, Steps: []operator.RehearsalStep{
		step(0, "say", "", "", "hello"), step(40*time.Millisecond, "attempt", claude, "rate_limit", claude+" refuses: 429."+d.evil), step(40*time.Millisecond, "cooldown", claude, "rate_limit", "anthropic:work rests for a minute."),
		step(80*time.Millisecond, "attempt", gpt, "", gpt+" answers."), step(80*time.Millisecond, "notice", "", "", "↪️ Model Fallback: openai/gpt-5.2 (selected anthropic/claude-sonnet-4-6; rate_limit)"), step(80*time.Millisecond, "reply", gpt, "", "Hello!"),
		step(25*time.Minute, "say", "", "", "and now?"), step(25*time.Minute, "reply", claude, "", "Here I am again.")}}
}

func explained() operator.Explained {
	return operator.Explained{Explanation: json.RawMessage(`{"selected":"` + claude + `","chosen":"the config's default","policy":"Others may answer when it fails.","candidates":[{"position":1,"model":"` + claude + `","do":"skip","why":"cooldown","reason":"rate_limit","credentials":[]},{"position":2,"model":"` + gpt + `","do":"try","credentials":[]}],"simulation":{"steps":[{"text":"anthropic is passed over."}],"answeredBy":"` + gpt + `"}}`)}
}

func (d *fake) talk() []operator.ChatMessage {
	return []operator.ChatMessage{
		{ID: "1", At: d.in(-20 * time.Minute), From: "operator", Kind: "said", Text: "Is the backup through?", Who: "Olga", State: "answered"},
		{ID: "2", At: d.in(-19 * time.Minute), From: "agent", Kind: "reply", Text: "Yes, it ended at 03:12 without an error.", Turn: "00RUN"},
		{ID: "3", At: d.in(-3 * time.Minute), From: "operator", Kind: "said", Text: "/status", Who: "Olga", State: "command"},
		{ID: "4", At: d.in(-3 * time.Minute), From: "agent", Kind: "command", Text: "Model: anthropic/claude-sonnet-4-6 (default)\nContext: 12 messages"},
		{ID: "5", At: d.in(-2 * time.Minute), From: "operator", Kind: "said", Text: "And now?", Who: "Olga", State: "failed"},
		{ID: "6", At: d.in(-2 * time.Minute), From: "agent", Kind: "failure", Text: "⚠️ No model can answer right now. The first may be asked again at 10:42."}}
}
