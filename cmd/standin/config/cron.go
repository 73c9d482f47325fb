package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"standin/cronjobs"
)

// cronKeys is cron [G17].
type cronKeys struct {
	Enabled            bool           `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether jobs run by themselves. They can be listed and run by hand in any case."`
	MaxConcurrentRuns  int            `json:"maxConcurrentRuns,omitempty" jsonschema:"minimum=1,maximum=1000,default=8" jsonschema_description:"Jobs that run at the same time; one job never runs twice at once."`
	CatchUp            bool           `json:"catchUp,omitempty" jsonschema:"default=true" jsonschema_description:"Whether a job whose time passed while standin was not running runs once, late."`
	CatchUpMaxAge      Duration       `json:"catchUpMaxAge,omitempty" jsonschema:"default=24h" jsonschema_description:"How late that may be; 0s: any time."`
	Retry              cronRetryKeys  `json:"retry,omitempty" jsonschema_description:"Runs that fail for a reason that passes."`
	FailureAlert       cronAlertKeys  `json:"failureAlert,omitempty" jsonschema_description:"When people are told that a job fails. A job may say otherwise."`
	FailureDestination *cronPlaceKeys `json:"failureDestination,omitempty" jsonschema_description:"Where each failed run is told, in one line. Default: nowhere; alerts tell of failures in a row."`
	WebhookToken       secret         `json:"webhookToken,omitempty" jsonschema_description:"Sent with each webhook, as Authorization: Bearer."`
	WebhookAllowHosts  []string       `json:"webhookAllowHosts,omitempty" jsonschema_description:"Hosts on this machine or in a private network that webhooks may be sent to. All others must be public."`
	SessionRetention   retention      `json:"sessionRetention,omitempty" jsonschema_description:"How long what jobs said in their own sessions is kept; false: for ever. Default: 24h."`
	RunLog             cronLogKeys    `json:"runLog,omitempty" jsonschema_description:"The record of runs."`
}

type cronRetryKeys struct {
	MaxAttempts int       `json:"maxAttempts,omitempty" jsonschema:"minimum=0,maximum=10,default=3" jsonschema_description:"How often one run is tried again."`
	BackoffMs   []int     `json:"backoffMs,omitempty" jsonschema_description:"The waits before that, in milliseconds, 1 to 10 of them; the last one repeats. Default: [30000, 60000, 300000]."`
	RetryOn     *[]string `json:"retryOn,omitempty" jsonschema_description:"Which failures: rate_limit, overloaded, network, timeout, server_error. Default: all of these."`
}

type cronAlertKeys struct {
	Enabled        bool   `json:"enabled,omitempty" jsonschema:"default=true" jsonschema_description:"Whether anybody is told."`
	After          int    `json:"after,omitempty" jsonschema:"minimum=1,maximum=1000,default=2" jsonschema_description:"After so many failures in a row."`
	CooldownMs     int    `json:"cooldownMs,omitempty" jsonschema:"minimum=0,maximum=2592000000,default=3600000" jsonschema_description:"Least time between two alerts of one job, in milliseconds."`
	IncludeSkipped bool   `json:"includeSkipped,omitempty" jsonschema:"default=false" jsonschema_description:"Whether runs that were skipped count too."`
	Mode           string `json:"mode,omitempty" jsonschema:"enum=announce,enum=webhook" jsonschema_description:"How. Default: as the job's answers are."`
	Channel        string `json:"channel,omitempty" jsonschema_description:"Where. Default: where the job's answers go."`
	To             string `json:"to,omitempty" jsonschema_description:"The conversation there, or the URL of a webhook."`
	AccountID      string `json:"accountId,omitempty" jsonschema_description:"The channel's account. Default: default."`
}

type cronPlaceKeys struct {
	Mode      string `json:"mode,omitempty" jsonschema:"enum=announce,enum=webhook,default=announce" jsonschema_description:"announce: posted to a chat; webhook: sent to a URL."`
	Channel   string `json:"channel,omitempty" jsonschema:"default=last" jsonschema_description:"slack, discord, console, or last: where the agent was last spoken to."`
	To        string `json:"to,omitempty" jsonschema_description:"channel:<id>, user:<id>, or a URL."`
	ThreadID  string `json:"threadId,omitempty" jsonschema_description:"A thread there."`
	AccountID string `json:"accountId,omitempty" jsonschema_description:"The channel's account. Default: default."`
}

type cronLogKeys struct {
	KeepLines int `json:"keepLines,omitempty" jsonschema:"minimum=1,maximum=1000000,default=2000" jsonschema_description:"Runs that are kept of each job."`
}

// retention is a duration, or false for no end.
type retention struct {
	d    time.Duration
	ever bool
}

// UnmarshalJSON reads both forms.
func (r *retention) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		*r = retention{ever: true}
		return nil
	}
	r.ever = false
	return (*Duration)(&r.d).UnmarshalJSON(data)
}

// JSONSchema describes both forms.
func (retention) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		Duration(0).JSONSchema(), {Type: "boolean", Enum: []any{false}},
	}}
}

// usualCron are the keys of an empty block.
func usualCron() cronKeys {
	d := cronjobs.Defaults()
	return cronKeys{
		Enabled: d.Enabled, MaxConcurrentRuns: d.MaxConcurrent, CatchUp: d.CatchUp, CatchUpMaxAge: Duration(d.CatchUpMaxAge),
		Retry:            cronRetryKeys{MaxAttempts: d.Retry.MaxAttempts},
		FailureAlert:     cronAlertKeys{Enabled: d.Alert.Enabled, After: d.Alert.After, CooldownMs: int(d.Alert.Cooldown / time.Millisecond)},
		SessionRetention: retention{d: d.SessionRetention},
		RunLog:           cronLogKeys{KeepLines: d.KeepLines},
	}
}

// readCron reads cron.
func (c *compiler) readCron() *cronjobs.Config {
	k, at, out := c.doc.Cron, Path{"cron"}, cronjobs.Defaults()
	out.Enabled, out.MaxConcurrent = k.Enabled, k.MaxConcurrentRuns
	if skips(c.Getenv) {
		out.Enabled = false // [R61]
	}
	out.CatchUp, out.CatchUpMaxAge = k.CatchUp, time.Duration(k.CatchUpMaxAge)
	out.Retry.MaxAttempts = k.Retry.MaxAttempts
	if k.Retry.BackoffMs != nil {
		out.Retry.Backoff = c.backoff(k.Retry.BackoffMs, at.Key("retry").Key("backoffMs"))
	}
	if k.Retry.RetryOn != nil {
		out.Retry.On = c.retryOn(*k.Retry.RetryOn, at.Key("retry").Key("retryOn"))
	}
	a := k.FailureAlert
	out.Alert = cronjobs.Alert{Enabled: a.Enabled, After: a.After, Cooldown: time.Duration(a.CooldownMs) * time.Millisecond, IncludeSkipped: a.IncludeSkipped,
		Place: cronjobs.Place{Mode: cronjobs.Mode(a.Mode), Channel: a.Channel, To: a.To, Account: a.AccountID}}
	c.cronPlace(out.Alert.Place, at.Key("failureAlert"))
	if d := k.FailureDestination; d != nil {
		p := cronjobs.Place{Mode: cronjobs.Mode(d.Mode), Channel: d.Channel, To: d.To, Thread: d.ThreadID, Account: d.AccountID}
		if p.Mode == "" {
			p.Mode = cronjobs.Announce
		}
		c.cronPlace(p, at.Key("failureDestination"))
		out.FailureDestination = &p
	}
	if k.WebhookToken.given() {
		out.WebhookToken, _ = c.resolve(k.WebhookToken, at.Key("webhookToken"), "CRON_WEBHOOK_TOKEN")
	}
	for _, host := range k.WebhookAllowHosts {
		out.WebhookHosts = append(out.WebhookHosts, strings.ToLower(strings.TrimSpace(host)))
	}
	if out.SessionRetention = k.SessionRetention.d; k.SessionRetention.ever {
		out.SessionRetention = 0
	}
	out.KeepLines = k.RunLog.KeepLines
	return &out
}

// skips tells whether the environment switches jobs off.
func skips(getenv func(string) string) bool {
	if getenv == nil {
		return false
	}
	for _, name := range []string{"STANDIN_SKIP_CRON", "OPENCLAW_SKIP_CRON"} {
		if v := getenv(name); v == "1" || strings.EqualFold(v, "true") {
			return true
		}
	}
	return false
}

func (c *compiler) backoff(ms []int, at Path) (waits []time.Duration) {
	if len(ms) < 1 || len(ms) > 10 {
		c.report(at, fmt.Sprintf("has %d waits", len(ms)), "write 1 to 10 of them, in milliseconds")
		return nil
	}
	for i, one := range ms {
		if one < 0 {
			c.report(at.Item(i), "is below zero", "write milliseconds")
		}
		waits = append(waits, time.Duration(one)*time.Millisecond)
	}
	return waits
}

func (c *compiler) retryOn(classes []string, at Path) []string {
	for i, one := range classes {
		known := false
		for _, t := range cronjobs.Transients() {
			known = known || t == one
		}
		if !known {
			c.report(at.Item(i), fmt.Sprintf("%q is no failure that passes", one), "use "+strings.Join(cronjobs.Transients(), ", "))
		}
	}
	if len(classes) == 0 {
		c.report(at, "is empty", "name failures, leave it out for all, or set maxAttempts: 0 for no retries")
	}
	return classes
}

// cronPlace judges a place where failures are told.
func (c *compiler) cronPlace(p cronjobs.Place, at Path) {
	named := p.Channel != "" && p.Channel != cronjobs.Last
	switch u, err := url.Parse(p.To); {
	case p.Mode == cronjobs.Webhook:
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			c.report(at.Key("to"), "is no http(s) URL", "a webhook needs one, such as https://example.org/hook")
		}
	case named && p.Channel != "slack" && p.Channel != "discord" && p.Channel != "console":
		c.report(at.Key("channel"), fmt.Sprintf("%q is no channel", p.Channel), "use slack, discord, console or last")
	case named && p.To == "" && p.Channel != "console":
		c.report(at.Key("channel"), "names no conversation", "say where in to: channel:<id> or user:<id>")
	case !named && p.To != "":
		c.report(at.Key("to"), "is on no channel", "name it in channel")
	}
}

// MarshalJSON is the text form, for the test that holds defaults and schema
// together.
func (r retention) MarshalJSON() ([]byte, error) {
	if r.ever {
		return []byte("false"), nil
	}
	return json.Marshal(r.d.String())
}
