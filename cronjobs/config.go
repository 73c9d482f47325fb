package cronjobs

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"standin/fallback/provider"
)

// Config is cron: in the config file [G17]. It is immutable; a reload makes a
// new one.
type Config struct {
	Enabled       bool // false: jobs are listed and none runs by itself [R61]
	MaxConcurrent int  // runs side by side [R23]
	CatchUp       bool // jobs that were missed run once [D17, R60]
	CatchUpMaxAge time.Duration
	Retry         Retry
	Alert         Alert
	// FailureDestination is where failures are told of jobs that name none; nil:
	// alerts alone tell of them [R48].
	FailureDestination *Place
	WebhookToken       provider.Key // sent as a bearer token with every webhook
	// WebhookHosts may be on this machine or in a private network; all others
	// must be public [R55].
	WebhookHosts     []string
	SessionRetention time.Duration  // what runs said is kept so long; 0: for ever [R64]
	KeepLines        int            // of the run log, per job
	Home             *time.Location // of expressions without a zone; nil: this machine's [R15]
}

// Retry is cron.retry [R43].
type Retry struct {
	MaxAttempts int             // retries of one slot
	Backoff     []time.Duration // before each; the last one repeats
	On          []string        // classes of failures; empty: all that pass
}

// Alert is cron.failureAlert [R47, D18].
type Alert struct {
	Enabled        bool
	After          int // failures in a row
	Cooldown       time.Duration
	IncludeSkipped bool
	Place
}

// Transients are the classes of failures that pass, as cron.retry.retryOn names
// them [R43].
func Transients() []string {
	return []string{"rate_limit", "overloaded", "network", "timeout", "server_error"}
}

// Defaults are the settings of an empty cron:.
func Defaults() Config {
	return Config{
		Enabled:          true,
		MaxConcurrent:    8,
		CatchUp:          true,
		CatchUpMaxAge:    24 * time.Hour,
		Retry:            Retry{MaxAttempts: 3, Backoff: []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute}},
		Alert:            Alert{Enabled: true, After: 2, Cooldown: time.Hour},
		SessionRetention: 24 * time.Hour,
		KeepLines:        2000,
	}
}

// passes tells whether a failure of that class is worth another try.
func (r Retry) passes(reason string) bool {
	if reason == whyInterrupted {
		return true // nothing says that it would fail
	}
	if len(r.On) > 0 {
		return slices.Contains(r.On, reason)
	}
	return slices.Contains(Transients(), reason)
}

// wait is what lies before retry n, counted from 0.
func (r Retry) wait(n int) time.Duration {
	if len(r.Backoff) == 0 {
		return 30 * time.Second
	}
	return r.Backoff[min(n, len(r.Backoff)-1)]
}

// errorWaits are what a recurring job's next run is put off by, by failures in a
// row; the last one repeats [R44].
var errorWaits = [...]time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}

func errorWait(failures int) time.Duration {
	return errorWaits[min(max(failures, 1), len(errorWaits))-1]
}

// alerts is the job's effective setting.
func (j *Job) alerts(c Alert) Alert {
	a := j.FailureAlert
	if a == nil {
		return c
	}
	c.Enabled = !a.Off
	if a.After != nil {
		c.After = *a.After
	}
	if a.CooldownMs != nil {
		c.Cooldown = time.Duration(*a.CooldownMs) * time.Millisecond
	}
	if a.IncludeSkipped != nil {
		c.IncludeSkipped = *a.IncludeSkipped
	}
	if a.Mode != "" || a.Channel != "" || a.To != "" {
		c.Place = a.Place
	}
	return c
}

// MarshalJSON writes false for an alert that is switched off.
func (a FailureAlert) MarshalJSON() ([]byte, error) {
	if a.Off {
		return []byte("false"), nil
	}
	type plain FailureAlert
	return json.Marshal(plain(a))
}

// UnmarshalJSON reads false or an object.
func (a *FailureAlert) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "false":
		*a = FailureAlert{Off: true}
		return nil
	case "true":
		return fmt.Errorf("failureAlert is true; write false for no alerts, or an object such as {\"after\": 3}")
	}
	type plain FailureAlert
	return strict(data, (*plain)(a))
}
