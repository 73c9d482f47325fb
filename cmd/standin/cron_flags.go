package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"standin/channels/console"
	"standin/cronjobs"
	"standin/fallback"
)

// jobFlags are what cron add and cron edit say of a job [R67, R68].
type jobFlags struct {
	set *pflag.FlagSet // tells which were given

	name, description, agent, sessionKey                      string
	at, every, expr, zone, stagger                            string
	session, wake, event, message, model, fallbacks, thinking string
	timeout, tools, maxCost, catchUpMaxAge                    string
	channel, to, thread, account, webhook                     string
	failureMode, failureChannel, failureTo, failureAccount    string
	alertAfter, alertCooldown, alertMode                      string
	alertChannel, alertTo, alertAccount, completion           string

	exact, light, noLight, announce, noDeliver, bestEffort, noBestEffort    bool
	deleteAfter, keepAfter, disabled, enable, disable                       bool
	paid, noPaid, catchUp, noCatchUp                                        bool
	alert, noAlert, includeSkipped, excludeSkipped                          bool
	guest                                                                   bool
	clearAgent, clearKey, clearTools, clearModel, clearFallbacks, clearDest bool
	clearCompletion                                                         bool
}

// bind declares the flags. editing adds those that take something away.
func (f *jobFlags) bind(v *verb, editing bool) {
	f.set = v.Flags()
	word := func(to *string, name, shown, help string) { f.set.Var(text{to, shown}, name, help) }
	yes := func(to *bool, name, help string) { f.set.BoolVar(to, name, false, help) }
	word(&f.name, "name", "NAME", "What you call it.")
	word(&f.description, "description", "TEXT", "What it is for.")
	word(&f.at, "at", "TIME", "Once: 2026-12-24T18:00 (UTC, or the zone of --tz), with a zone, or from now: 20m, 2h, 1d.")
	word(&f.every, "every", "DURATION", "Again and again, with so much between: 10m, 2h, 1d.")
	word(&f.expr, "cron", "EXPR", `By a cron expression: minute hour day month weekday, such as "0 9 * * 1-5".`)
	word(&f.zone, "tz", "ZONE", "The time zone of --cron or --at, such as Europe/Berlin. Default of --cron: this machine's.")
	word(&f.stagger, "stagger", "DURATION", "Spread --cron over so much time after its own. Default: 5m for jobs of the full hour.")
	yes(&f.exact, "exact", "Do not spread it.")
	word(&f.message, "message", "TEXT", "What the agent is asked to do.")
	word(&f.event, "system-event", "TEXT", "What the agent's main session is told, instead.")
	word(&f.session, "session", "WHICH", "Where it runs: isolated (default), main, current or session:<name>.")
	word(&f.sessionKey, "session-key", "KEY", "The chat that made it, for --session current.")
	word(&f.agent, "agent", "ID", "Which agent. Default: the default one.")
	word(&f.wake, "wake", "WHEN", "When --system-event is taken up: now (default) or next-heartbeat.")
	word(&f.model, "model", "MODEL", "Asked first: provider/model or an alias. Default: what the agent uses.")
	word(&f.fallbacks, "fallbacks", "MODELS", "Asked after it, in order, with commas between; none for no other model at all. Default: those of the config.")
	word(&f.thinking, "thinking", "LEVEL", "How much it thinks: off, minimal, low, medium, high, xhigh or max. Default: as the session or the config has it.")
	word(&f.timeout, "timeout-seconds", "SECONDS", "How long a run may take; 0 for no limit. Default: 3600.")
	yes(&f.light, "light-context", "Leave the workspace's files out.")
	word(&f.tools, "tools", "NAMES", "The tools it may use, with commas between. Default: all of the agent's.")
	yes(&f.paid, "allow-paid", "Models that cost money may be used.")
	yes(&f.noPaid, "no-paid", "Models that cost money are passed over.")
	word(&f.maxCost, "max-cost-per-day", "USD", "Paid models are passed over once it has cost so much in a day; 0 for no limit.")
	yes(&f.announce, "announce", "Post the answer (default), where --channel and --to say.")
	word(&f.channel, "channel", "NAME", "slack, discord, console, or last: where the agent was last spoken to (default).")
	word(&f.to, "to", "WHERE", "channel:<id>, user:<id> or a conversation's id.")
	word(&f.thread, "thread-id", "ID", "A thread there.")
	word(&f.account, "account", "NAME", "The channel's account.")
	word(&f.webhook, "webhook", "URL", "Send the answer to a URL, instead.")
	yes(&f.noDeliver, "no-deliver", "Keep the answer in the run log alone.")
	yes(&f.bestEffort, "best-effort-deliver", "An answer that cannot be delivered is no failure.")
	word(&f.completion, "completion-webhook", "URL", "Send the event of each end to a URL as well, wherever the answer goes.")
	word(&f.failureMode, "failure-mode", "MODE", "How each failure is told: announce or webhook.")
	word(&f.failureChannel, "failure-channel", "NAME", "Where each failure is told: a channel.")
	word(&f.failureTo, "failure-to", "WHERE", "The conversation there, or a URL.")
	word(&f.failureAccount, "failure-account", "NAME", "The channel's account.")
	yes(&f.deleteAfter, "delete-after-run", "Take it away once it has run well (default with --at).")
	yes(&f.keepAfter, "keep-after-run", "Keep it.")
	yes(&f.catchUp, "catch-up", "Run it late when its time passed while standin was not running.")
	yes(&f.noCatchUp, "no-catch-up", "Do not.")
	word(&f.catchUpMaxAge, "catch-up-max-age", "DURATION", "How late that may be.")
	f.bindAlerts(word, yes)
	if !editing {
		yes(&f.guest, "guest", "It was asked for by somebody who is not the owner.")
		_ = f.set.MarkHidden("guest") // /cron says it; it was declared just now
		yes(&f.disabled, "disabled", "Add it switched off.")
		return
	}
	yes(&f.enable, "enable", "Switch it on.")
	yes(&f.disable, "disable", "Switch it off.")
	yes(&f.noLight, "no-light-context", "Send the workspace's files along again.")
	yes(&f.noBestEffort, "no-best-effort-deliver", "An answer that cannot be delivered is a failure again.")
	yes(&f.clearAgent, "clear-agent", "The default agent again.")
	yes(&f.clearKey, "clear-session-key", "Forget the chat that made it.")
	yes(&f.clearTools, "clear-tools", "All tools of the agent again.")
	yes(&f.clearModel, "clear-model", "What the agent uses again.")
	yes(&f.clearFallbacks, "clear-fallbacks", "The fallbacks of the config again.")
	yes(&f.clearDest, "clear-failure-destination", "Do not tell each failure any more.")
	yes(&f.clearCompletion, "clear-completion-webhook", "Do not send it any more.")
}

func (f *jobFlags) bindAlerts(word func(*string, string, string, string), yes func(*bool, string, string)) {
	yes(&f.alert, "failure-alert", "Tell of failures in a row, as the config says (default).")
	yes(&f.noAlert, "no-failure-alert", "Do not.")
	word(&f.alertAfter, "failure-alert-after", "N", "After so many.")
	word(&f.alertCooldown, "failure-alert-cooldown", "DURATION", "Least time between two alerts.")
	word(&f.alertMode, "failure-alert-mode", "MODE", "announce or webhook.")
	word(&f.alertChannel, "failure-alert-channel", "NAME", "On another channel than the answers.")
	word(&f.alertTo, "failure-alert-to", "WHERE", "The conversation there, or a URL.")
	word(&f.alertAccount, "failure-alert-account-id", "NAME", "The channel's account.")
	yes(&f.includeSkipped, "failure-alert-include-skipped", "Count skipped runs too.")
	yes(&f.excludeSkipped, "failure-alert-exclude-skipped", "Do not count them.")
}

func (f *jobFlags) given(name string) bool { return f.set.Changed(name) }

// oneOf refuses flags that say different things of one matter.
func (f *jobFlags) oneOf(names ...string) error {
	var found []string
	for _, n := range names {
		if f.given(n) {
			found = append(found, "--"+n)
		}
	}
	if len(found) > 1 {
		return misuse{strings.Join(found, " and ") + " say different things; give one of them"}
	}
	return nil
}

// check refuses what cannot go together.
func (f *jobFlags) check() error {
	for _, group := range [][]string{
		{"at", "every", "cron"}, {"message", "system-event"}, {"stagger", "exact"}, {"announce", "webhook", "no-deliver"}, {"delete-after-run", "keep-after-run"},
		{"enable", "disable"}, {"allow-paid", "no-paid"}, {"catch-up", "no-catch-up"}, {"failure-alert", "no-failure-alert"},
		{"failure-alert-include-skipped", "failure-alert-exclude-skipped"}, {"model", "clear-model"}, {"fallbacks", "clear-fallbacks"}, {"agent", "clear-agent"},
		{"tools", "clear-tools"}, {"light-context", "no-light-context"}, {"best-effort-deliver", "no-best-effort-deliver"},
	} {
		if err := f.oneOf(group...); err != nil {
			return err
		}
	}
	return nil
}

// apply changes the job as the flags say.
func (f *jobFlags) apply(j *cronjobs.Job, now time.Time) error {
	for flag, set := range map[string]func(){
		"name": func() { j.Name = f.name }, "description": func() { j.Description = f.description },
		"agent": func() { j.Agent = fallback.AgentID(f.agent) }, "clear-agent": func() { j.Agent = "" },
		"session-key": func() { j.SessionKey = f.sessionKey }, "clear-session-key": func() { j.SessionKey = "" },
		"enable": func() { j.Enabled = true }, "disable": func() { j.Enabled = false }, "disabled": func() { j.Enabled = false }, "guest": func() { j.Guest = true },
		"delete-after-run": func() { j.DeleteAfterRun = &f.deleteAfter }, "keep-after-run": func() { j.DeleteAfterRun = new(bool) },
		"catch-up": func() { j.CatchUp = &f.catchUp }, "no-catch-up": func() { j.CatchUp = new(bool) },
		"session": func() { j.Target = cronjobs.Target(f.session) }, "wake": func() { j.Wake = cronjobs.WakeMode(f.wake) },
	} {
		if f.given(flag) {
			set()
		}
	}
	var errs []error
	if f.given("wake") && j.Wake != cronjobs.WakeNow && j.Wake != cronjobs.WakeNext {
		errs = append(errs, misuse{fmt.Sprintf("--wake is %q; use now or next-heartbeat", f.wake)})
	}
	if f.given("catch-up-max-age") {
		d, err := span("catch-up-max-age", f.catchUpMaxAge)
		ms := d.Milliseconds()
		j.CatchUpMaxAgeMs = &ms
		errs = append(errs, err)
	}
	errs = append(errs, f.schedule(&j.Schedule, now), f.payload(j), f.deliver(j), f.alerts(j))
	return errors.Join(errs...)
}

func (f *jobFlags) schedule(s *cronjobs.Schedule, now time.Time) error {
	zone, stagger := s.Zone, s.StaggerMs
	if f.given("tz") {
		zone = f.zone
	}
	switch {
	case f.given("at"):
		at := f.at
		if d, err := span("at", strings.TrimPrefix(at, "+")); err == nil {
			at = now.Add(d).UTC().Format(time.RFC3339)
		} else {
			t, err := cronjobs.ParseMoment(at, f.zone)
			if err != nil {
				return err
			}
			at = t.Format(time.RFC3339)
		}
		*s = cronjobs.Schedule{Kind: cronjobs.KindAt, At: at, Zone: f.zone}
	case f.given("every"):
		d, err := span("every", f.every)
		if err != nil {
			return err
		}
		*s = cronjobs.Schedule{Kind: cronjobs.KindEvery, EveryMs: d.Milliseconds()}
	case f.given("cron"):
		*s = cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: f.expr, Zone: zone, StaggerMs: stagger}
	case f.given("tz"):
		if s.Kind != cronjobs.KindCron {
			return misuse{"--tz belongs to --cron or --at; give the new time as well"}
		}
		s.Zone = f.zone
	}
	if f.given("stagger") || f.given("exact") {
		var d time.Duration
		if f.given("stagger") {
			var err error
			if d, err = span("stagger", f.stagger); err != nil {
				return err
			}
		}
		ms := d.Milliseconds()
		s.StaggerMs = &ms
	}
	return nil
}

func (f *jobFlags) payload(j *cronjobs.Job) error {
	p := &j.Payload
	switch {
	case f.given("message"):
		p.Kind, p.Message, p.Text = cronjobs.AgentTurn, f.message, ""
	case f.given("system-event"):
		*p = cronjobs.Payload{Kind: cronjobs.SystemEvent, Text: f.event}
	}
	if f.given("model") {
		p.Model = f.model
	}
	if f.given("fallbacks") {
		list := names(f.fallbacks)
		p.Fallbacks = &list
	}
	for flag, set := range map[string]func(){
		"clear-model": func() { p.Model = "" }, "clear-fallbacks": func() { p.Fallbacks = nil }, "clear-tools": func() { p.ToolsAllow = nil },
		"tools": func() { p.ToolsAllow = names(f.tools) }, "thinking": func() { p.Thinking = f.thinking },
		"light-context": func() { p.LightContext = true }, "no-light-context": func() { p.LightContext = false },
		"allow-paid": func() { p.AllowPaid = &f.paid }, "no-paid": func() { p.AllowPaid = new(bool) },
	} {
		if f.given(flag) {
			set()
		}
	}
	if f.given("timeout-seconds") {
		n, err := strconv.Atoi(f.timeout)
		if err != nil {
			return misuse{fmt.Sprintf("--timeout-seconds: %q is no number of seconds", f.timeout)}
		}
		p.TimeoutSeconds = &n
	}
	if f.given("max-cost-per-day") {
		usd, err := strconv.ParseFloat(strings.TrimPrefix(f.maxCost, "$"), 64)
		if err != nil || usd < 0 {
			return misuse{fmt.Sprintf("--max-cost-per-day: %q is no amount in US dollars", f.maxCost)}
		}
		p.MaxCostPerDay = usd
	}
	return nil
}

func (f *jobFlags) deliver(j *cronjobs.Job) error {
	touched := false
	for _, name := range []string{"announce", "channel", "to", "thread-id", "account", "webhook", "no-deliver", "best-effort-deliver", "no-best-effort-deliver",
		"failure-mode", "failure-channel", "failure-to", "failure-account", "clear-failure-destination", "completion-webhook", "clear-completion-webhook"} {
		touched = touched || f.given(name)
	}
	if !touched {
		return nil
	}
	d := cronjobs.Delivery{}
	if j.Delivery != nil {
		d = *j.Delivery
	} else if j.Payload.Kind == cronjobs.AgentTurn {
		d.Mode, d.Channel = cronjobs.Announce, cronjobs.Last
	} else {
		d.Mode = cronjobs.None
	}
	switch {
	case f.given("webhook"):
		d.Place = cronjobs.Place{Mode: cronjobs.Webhook, To: f.webhook}
	case f.given("no-deliver"):
		d.Place = cronjobs.Place{Mode: cronjobs.None}
	case f.given("announce") || f.given("channel") || f.given("to") || f.given("thread-id") || f.given("account"):
		if d.Mode != cronjobs.Announce {
			d.Place = cronjobs.Place{Mode: cronjobs.Announce, Channel: cronjobs.Last}
		}
		if f.given("channel") {
			d.Place = cronjobs.Place{Mode: cronjobs.Announce, Channel: f.channel}
			if f.channel == console.Name {
				d.To = console.Conversation
			}
		}
		if f.given("to") {
			d.To = f.to
		}
		if f.given("thread-id") {
			d.Thread = f.thread
		}
		if f.given("account") {
			d.Account = f.account
		}
	}
	if f.given("best-effort-deliver") || f.given("no-best-effort-deliver") {
		d.BestEffort = f.bestEffort
	}
	switch {
	case f.given("completion-webhook"):
		d.Completion = &cronjobs.Place{Mode: cronjobs.Webhook, To: f.completion}
	case f.given("clear-completion-webhook"):
		d.Completion = nil
	}
	switch {
	case f.given("clear-failure-destination"):
		d.Destination = nil
	case f.given("failure-mode") || f.given("failure-channel") || f.given("failure-to") || f.given("failure-account"):
		d.Destination = &cronjobs.Place{Mode: cronjobs.Mode(cmp.Or(f.failureMode, string(cronjobs.Announce))), Channel: f.failureChannel, To: f.failureTo, Account: f.failureAccount}
	}
	j.Delivery = &d
	return nil
}

func (f *jobFlags) alerts(j *cronjobs.Job) error {
	if f.given("no-failure-alert") {
		j.FailureAlert = &cronjobs.FailureAlert{Off: true}
		return nil
	}
	a := cronjobs.FailureAlert{}
	if j.FailureAlert != nil && !j.FailureAlert.Off {
		a = *j.FailureAlert
	}
	touched := f.given("failure-alert")
	if f.given("failure-alert-after") {
		n, err := strconv.Atoi(f.alertAfter)
		if err != nil {
			return misuse{fmt.Sprintf("--failure-alert-after: %q is no number", f.alertAfter)}
		}
		a.After, touched = &n, true
	}
	if f.given("failure-alert-cooldown") {
		d, err := span("failure-alert-cooldown", f.alertCooldown)
		if err != nil {
			return err
		}
		ms := d.Milliseconds()
		a.CooldownMs, touched = &ms, true
	}
	if f.given("failure-alert-include-skipped") || f.given("failure-alert-exclude-skipped") {
		a.IncludeSkipped, touched = &f.includeSkipped, true
	}
	for flag, to := range map[string]*string{"failure-alert-channel": &a.Channel, "failure-alert-to": &a.To, "failure-alert-account-id": &a.Account} {
		if f.given(flag) {
			*to, touched = f.set.Lookup(flag).Value.String(), true
		}
	}
	if f.given("failure-alert-mode") {
		a.Mode, touched = cronjobs.Mode(f.alertMode), true
	}
	if touched {
		j.FailureAlert = &a
	}
	return nil
}

// names splits a list; none and nothing are an empty one.
func names(list string) []string {
	all := []string{}
	for _, one := range strings.Split(list, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	if len(all) == 1 && (all[0] == "none" || all[0] == "[]") {
		return []string{}
	}
	return all
}

// span reads a duration, with days and weeks.
func span(flag, s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, ok := strings.CutSuffix(s, unit); ok {
			if days, err := strconv.ParseFloat(n, 64); err == nil && days >= 0 && days < 4000 {
				return time.Duration(days * float64(d)), nil
			}
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, misuse{fmt.Sprintf("--%s: %q is no duration; write it like 30s, 20m, 2h or 1d", flag, s)}
	}
	return d, nil
}
