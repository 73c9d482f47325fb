package operator

import (
	"encoding/json"
	"time"

	"standin/bot"
)

// Credentials is what an agent has, in the order of trying, by provider.
type Credentials struct {
	Agent       string               `json:"agent"`
	Credentials []bot.CredentialView `json:"credentials"`
}

// ForAgent names the agent that a change concerns.
type ForAgent struct {
	Agent string `json:"agent,omitempty" doc:"Absent: the default agent."`
}

// CredentialChanged is how a credential stands after a change.
type CredentialChanged struct {
	Changed    bool               `json:"changed" doc:"false: it was so already."`
	Credential bot.CredentialView `json:"credential"`
	Says       string             `json:"says" doc:"What was done, in a sentence."`
}

// Order is the order in which a provider's credentials are tried.
type Order struct {
	Provider string   `json:"provider"`
	Profiles []string `json:"profiles" doc:"The kept order; empty when none is kept and they go round."`
	Owner    string   `json:"owner,omitempty" doc:"The agent whose order it is."`
	Now      []string `json:"now" doc:"The order in which they would be tried now."`
}

// Orders are the orders of an agent's providers.
type Orders struct {
	Agent  string  `json:"agent"`
	Orders []Order `json:"orders"`
}

// SetOrder asks for an order.
type SetOrder struct {
	Agent    string   `json:"agent,omitempty"`
	Profiles []string `json:"profiles"`
}

// Job is a job as lists show it.
type Job struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Agent       string      `json:"agent,omitempty"`
	Enabled     bool        `json:"enabled"`
	OffWhy      string      `json:"offWhy,omitempty" doc:"Why standin itself switched it off."`
	Schedule    string      `json:"schedule" doc:"In words."`
	Next        []time.Time `json:"next" doc:"The next fires; at most 5."`
	Running     time.Time   `json:"runningSince,omitzero"`
	LastRun     time.Time   `json:"lastRun,omitzero"`
	LastStatus  string      `json:"lastStatus,omitempty" enum:"ok,error,skipped"`
	LastError   string      `json:"lastError,omitempty"`
	Errors      int         `json:"errorsInARow"`
	Model       string      `json:"model,omitempty" doc:"The job's own; absent: the session's or the agent's."`
	Description string      `json:"description,omitempty"`
}

// Jobs are all jobs, in the order in which they were made.
type Jobs struct {
	Enabled bool  `json:"enabled" doc:"false: cron.enabled is off, and no job runs by itself."`
	Running int   `json:"running"`
	Waiting int   `json:"waiting"`
	Jobs    []Job `json:"jobs"`
}

// JobDetail is a job with what it would do next, and why.
type JobDetail struct {
	Job
	Spec      json.RawMessage `json:"spec" doc:"The job as it is written, imported and edited: name, description, agentId, schedule{kind: at|every|cron, at, everyMs, expr, tz, staggerMs}, sessionTarget, wakeMode, payload{kind: agentTurn|systemEvent, message, text, model, fallbacks, timeoutSeconds …}, delivery{mode, channel, to, threadId, accountId}, failureAlert, deleteAfterRun, enabled; state is read only."`
	Chain     []Reasoned      `json:"chain"`
	Why       string          `json:"why"`
	Refused   string          `json:"refused,omitempty" doc:"Why its model may not be asked."`
	Session   string          `json:"session"`
	Delivery  string          `json:"delivery" doc:"In words."`
	StaggerMs int64           `json:"staggerMs"`
}

// Reasoned is a model and why it stands where it does.
type Reasoned struct {
	Model string `json:"model"`
	Why   string `json:"why"`
}

// JobRun is a line of a job's log.
type JobRun struct {
	ID             string    `json:"id"`
	Job            string    `json:"job"`
	Name           string    `json:"name"`
	Agent          string    `json:"agent"`
	Session        string    `json:"session,omitempty"`
	Turn           string    `json:"turn,omitempty" doc:"See /runs/{id}."`
	Trigger        string    `json:"trigger" enum:"schedule,retry,catch-up,manual"`
	Slot           time.Time `json:"slot,omitzero"`
	Started        time.Time `json:"started"`
	Ended          time.Time `json:"ended,omitzero"`
	TookMs         int64     `json:"tookMs,omitempty"`
	Status         string    `json:"status,omitempty" enum:"ok,error,skipped" doc:"Absent: it runs."`
	Error          string    `json:"error,omitempty"`
	Reason         string    `json:"reason,omitempty"`
	Requested      string    `json:"requested,omitempty"`
	Used           string    `json:"used,omitempty"`
	Credential     string    `json:"credential,omitempty"`
	Tried          []Tried   `json:"tried,omitempty"`
	Summary        string    `json:"summary,omitempty"`
	InputTokens    int64     `json:"inputTokens,omitempty"`
	OutputTokens   int64     `json:"outputTokens,omitempty"`
	CostUSD        float64   `json:"costUsd,omitempty"`
	Delivery       string    `json:"delivery,omitempty" enum:"delivered,not-delivered,unknown,not-requested"`
	DeliveryTarget string    `json:"deliveryTarget,omitempty"`
	DeliveryError  string    `json:"deliveryError,omitempty"`
	Overlapped     int       `json:"overlapped,omitempty"`
}

// Tried is a candidate of a job's run that did not answer.
type Tried struct {
	Model      string `json:"model"`
	Credential string `json:"credential,omitempty"`
	Reason     string `json:"reason"`
	Detail     string `json:"detail,omitempty"`
	Skipped    string `json:"skipped,omitempty"`
}

// JobRuns is a page of a job's log, the latest first.
type JobRuns struct {
	Runs []JobRun `json:"runs"`
	Next string   `json:"next,omitempty"`
}

// Calendar is when jobs and heartbeats fire, soonest first.
type Calendar struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Fires []Fire    `json:"fires"`
	More  bool      `json:"more"`
}

// Fire is one of them.
type Fire struct {
	At    time.Time `json:"at"`
	Kind  string    `json:"kind" enum:"job,heartbeat"`
	ID    string    `json:"id" doc:"Of the job, or the agent."`
	Name  string    `json:"name"`
	Model string    `json:"model,omitempty"`
}

// JobAsked is what came of asking for a run.
type JobAsked struct {
	Result string `json:"result" enum:"ran,queued,already-running,not-due,invalid-spec"`
	Run    string `json:"run,omitempty"`
	Says   string `json:"says"`
}

// RunJob asks for a run.
type RunJob struct {
	Due bool `json:"due,omitempty" doc:"Only if it is due."`
}

// Heartbeat is how an agent's heartbeat is.
type Heartbeat struct {
	Agent    string    `json:"agent"`
	Every    string    `json:"every,omitempty" doc:"Absent: it has no interval and is off."`
	Off      bool      `json:"off" doc:"Switched off by hand."`
	Due      time.Time `json:"due,omitzero"`
	Running  time.Time `json:"runningSince,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	Status   string    `json:"status,omitempty" enum:"ran,skipped,failed"`
	Why      string    `json:"why,omitempty"`
	Says     string    `json:"says,omitempty" doc:"What became of the last one, in words."`
	Model    string    `json:"model,omitempty" doc:"Who answered the last one."`
	Failures int       `json:"failuresInARow"`
	Goes     string    `json:"goes" doc:"Where its answers go, in words."`
	PerDay   int       `json:"perDay"`
}

// Heartbeats are those of all agents that have one.
type Heartbeats struct {
	Heartbeats []Heartbeat `json:"heartbeats"`
}

// Beat asks for one.
type Beat struct {
	Trial bool `json:"trial,omitempty" doc:"Only show what it would say: nothing is posted or kept."`
}

// Beaten is what came of it.
type Beaten struct {
	Status string `json:"status" enum:"ran,skipped,failed"`
	Why    string `json:"why"`
	Says   string `json:"says"`
	Model  string `json:"model,omitempty"`
	Text   string `json:"text,omitempty"`
	Posted bool   `json:"posted"`
	TookMs int64  `json:"tookMs,omitempty"`
}

// Cost is what calls have cost, added up.
type Cost struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	By    string    `json:"by" enum:"model,purpose,agent,day,job"`
	Rows  []CostRow `json:"rows" doc:"The most expensive first; days in their order."`
	Total CostRow   `json:"total"`
}

// CostRow is one line of it.
type CostRow struct {
	Key      string  `json:"key"`
	Calls    int64   `json:"calls"`
	Failed   int64   `json:"failed"`
	Input    int64   `json:"inputTokens"`
	Output   int64   `json:"outputTokens"`
	Cached   int64   `json:"cachedTokens"`
	USD      float64 `json:"usd"`
	Unpriced int64   `json:"unpriced" doc:"Calls whose price nobody knows; they are not in usd."`
}

// Budgets are the operator's limits and how far they are used.
type Budgets struct {
	Budgets []Budget `json:"budgets"`
}

// Budget is one of them.
type Budget struct {
	Name   string    `json:"name"`
	About  string    `json:"about" doc:"What it counts, in words."`
	Period string    `json:"period" enum:"day,month"`
	Limit  float64   `json:"limitUsd"`
	Spent  float64   `json:"spentUsd"`
	Resets time.Time `json:"resets"`
	Over   bool      `json:"over" doc:"Models that cost money are passed over."`
}
