package cronjobs

import (
	"time"

	"standin/fallback"
)

// JobID names a job.
type JobID string

// Millis is a moment as jobs are written and kept: Unix milliseconds, 0: none.
type Millis int64

// At gives the moment of t.
func At(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time gives the moment as a time, zero for none.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// Job is one job [R1]. Its JSON is what people write, import and read.
type Job struct {
	ID         JobID            `json:"id"`
	Agent      fallback.AgentID `json:"agentId,omitempty"` // "": the default agent
	SessionKey string           `json:"sessionKey,omitempty"`
	// Guest says that it was made in a chat for somebody who is not the owner: its
	// runs have no more rights than they [R71].
	Guest       bool   `json:"guest,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Enabled     bool   `json:"enabled"`
	// DeleteAfterRun takes a one-shot job away once it has run well; nil: yes for
	// kind at, no otherwise.
	DeleteAfterRun *bool         `json:"deleteAfterRun,omitempty"`
	CreatedAt      Millis        `json:"createdAtMs"`
	UpdatedAt      Millis        `json:"updatedAtMs"`
	Schedule       Schedule      `json:"schedule"`
	Target         Target        `json:"sessionTarget"`
	Wake           WakeMode      `json:"wakeMode,omitempty"`
	Payload        Payload       `json:"payload"`
	Delivery       *Delivery     `json:"delivery,omitempty"`
	FailureAlert   *FailureAlert `json:"failureAlert,omitempty"`
	// CatchUp overrides cron.catchUp and CatchUpMaxAgeMs its bound [D17].
	CatchUp         *bool  `json:"catchUp,omitempty"`
	CatchUpMaxAgeMs *int64 `json:"catchUpMaxAgeMs,omitempty"`

	State    State `json:"state"`
	Revision int64 `json:"-"` // of the row; the store's
}

// removes tells whether the job goes away once it has run well.
func (j *Job) removes() bool {
	if j.DeleteAfterRun != nil {
		return *j.DeleteAfterRun
	}
	return j.Schedule.Kind == KindAt
}

// Target is the session that a job's turn runs in [R3].
type Target string

// The targets. Any other is "session:" with a session's name or key.
const (
	Main     Target = "main"     // a system event for the agent's main session
	Isolated Target = "isolated" // a session of the job's own, fresh each run
	Current  Target = "current"  // the chat that made the job; fixed when it is made
)

// WakeMode says when a main job's text is taken up [R6].
type WakeMode string

// The modes.
const (
	WakeNow  WakeMode = "now"
	WakeNext WakeMode = "next-heartbeat"
)

// PayloadKind is what a job does.
type PayloadKind string

// The kinds of payloads.
const (
	SystemEvent PayloadKind = "systemEvent"
	AgentTurn   PayloadKind = "agentTurn"
)

// Payload is what a job does [R4].
type Payload struct {
	Kind PayloadKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a system event

	Message string `json:"message,omitempty"` // of an agent's turn
	// Model is the run's primary: provider/model or an alias; "": the session's
	// or the agent's [R32]. It is never a choice of the session's [R33].
	Model string `json:"model,omitempty"`
	// Fallbacks is exactly what follows the primary, [] nothing; nil: what config
	// says [M10, R35].
	Fallbacks *[]string `json:"fallbacks,omitempty"`
	Thinking  string    `json:"thinking,omitempty"`
	// TimeoutSeconds bounds the run; nil: an hour, 0 and below: no limit [R25].
	TimeoutSeconds *int     `json:"timeoutSeconds,omitempty"`
	LightContext   bool     `json:"lightContext,omitempty"`
	ToolsAllow     []string `json:"toolsAllow,omitempty"`
	// AllowPaid false leaves out every model that costs money; nil: it does not
	// matter. MaxCostPerDay leaves paid models out once the job has cost so much
	// that day, in US dollars; 0: no bound.
	AllowPaid     *bool   `json:"allowPaid,omitempty"`
	MaxCostPerDay float64 `json:"maxCostPerDay,omitempty"`
}

// said is the text of either kind.
func (p Payload) said() string {
	if p.Kind == SystemEvent {
		return p.Text
	}
	return p.Message
}

// Mode is how a result leaves.
type Mode string

// The modes of a delivery.
const (
	Announce Mode = "announce" // posted to a chat
	Webhook  Mode = "webhook"  // posted to a URL
	None     Mode = "none"     // kept in the run log alone
)

// Last is the channel that means: where the agent was last spoken to.
const Last = "last"

// Place is where something is said.
type Place struct {
	Mode    Mode   `json:"mode,omitempty"`
	Channel string `json:"channel,omitempty"` // "": last
	To      string `json:"to,omitempty"`      // a conversation, channel:<id>, user:<id>, or a webhook's URL
	Thread  string `json:"threadId,omitempty"`
	Account string `json:"accountId,omitempty"`
}

// Delivery is where a job's result goes [R5].
type Delivery struct {
	Place
	// BestEffort: a result that cannot be delivered is no fault of the run.
	BestEffort  bool   `json:"bestEffort,omitempty"`
	Destination *Place `json:"failureDestination,omitempty"` // where failures are told [R48]
	// Completion is a webhook that is sent the event of each end as well, so that
	// an answer can be posted to people and reach a program too.
	Completion *Place `json:"completionDestination,omitempty"`
}

// FailureAlert is the job's own word on alerts; what is nil is cron.failureAlert's.
// In JSON it is false or such an object [R1, R47].
type FailureAlert struct {
	Off            bool   `json:"-"`
	After          *int   `json:"after,omitempty"`
	CooldownMs     *int64 `json:"cooldownMs,omitempty"`
	IncludeSkipped *bool  `json:"includeSkipped,omitempty"`
	Place
}

// Status is how a run ended.
type Status string

// The statuses. A run that has not ended has none.
const (
	OK      Status = "ok"
	Failed  Status = "error"
	Skipped Status = "skipped"
)

// DeliveryStatus is what is known of a result's way [R7].
type DeliveryStatus string

// What is known. Delivered is said only with a receipt [IL-154].
const (
	Delivered    DeliveryStatus = "delivered"
	NotDelivered DeliveryStatus = "not-delivered"
	Unclear      DeliveryStatus = "unknown" // on its way, or nobody could tell
	NotRequested DeliveryStatus = "not-requested"
)

// State is what the scheduler knows of a job [R7].
type State struct {
	Next Millis `json:"nextRunAtMs,omitempty"`
	// Slot is the scheduled time that Next stands for: without stagger, delay and
	// retries. A slot runs to its delivery once.
	Slot Millis `json:"nextSlotAtMs,omitempty"`
	// Attempt counts the retries of Slot so far.
	Attempt int     `json:"attempt,omitempty"`
	Trigger Trigger `json:"trigger,omitempty"` // of the next run, "" for schedule

	Running Millis `json:"runningAtMs,omitempty"`
	Run     RunID  `json:"runId,omitempty"` // the running one

	LastRun        Millis         `json:"lastRunAtMs,omitempty"`
	LastSlot       Millis         `json:"lastSlotAtMs,omitempty"`
	LastStatus     Status         `json:"lastRunStatus,omitempty"`
	LastError      string         `json:"lastError,omitempty"`
	LastReason     string         `json:"lastErrorReason,omitempty"`
	LastDurationMs int64          `json:"lastDurationMs,omitempty"`
	LastDelivery   DeliveryStatus `json:"lastDeliveryStatus,omitempty"`
	DeliveryError  string         `json:"lastDeliveryError,omitempty"`

	Errors         int    `json:"consecutiveErrors,omitempty"`
	Skips          int    `json:"consecutiveSkipped,omitempty"`
	FailingSince   Millis `json:"failingSinceMs,omitempty"`
	ScheduleErrors int    `json:"scheduleErrorCount,omitempty"`
	// Era counts how often the clock was found to have been wrong: a slot that
	// comes again is another one.
	Era       int    `json:"era,omitempty"`
	LastAlert Millis `json:"lastFailureAlertAtMs,omitempty"`
	// Leaving is the one run that it has had: it goes once that one's webhooks have
	// been called, for only it knows their URLs.
	Leaving RunID `json:"leavingAfter,omitempty"`
	// OffWhy says why standin itself switched the job off; "" when a person did.
	OffWhy string `json:"disabledWhy,omitempty"`
}

// RunID names a run.
type RunID string

// Trigger is what started a run.
type Trigger string

// The triggers.
const (
	OnSchedule Trigger = "schedule"
	OnRetry    Trigger = "retry"
	OnCatchUp  Trigger = "catch-up" // the slot had passed while standin was not running [D17]
	ByHand     Trigger = "manual"
)

// Run is a line of the run log [R63].
type Run struct {
	ID      RunID            `json:"runId"`
	Job     JobID            `json:"jobId"`
	Name    string           `json:"jobName"` // the job's, when it ran
	Agent   fallback.AgentID `json:"agentId"`
	Session string           `json:"sessionKey,omitempty"`
	Turn    string           `json:"turnId,omitempty"` // the outbox knows its post by it
	Trigger Trigger          `json:"trigger"`
	Slot    Millis           `json:"slotAtMs,omitempty"` // 0: by hand
	Attempt int              `json:"attempt,omitempty"`
	Started Millis           `json:"runAtMs"`
	Ended   Millis           `json:"endedAtMs,omitempty"`
	Took    int64            `json:"durationMs,omitempty"`
	Status  Status           `json:"status,omitempty"`
	Error   string           `json:"error,omitempty"`
	Reason  string           `json:"errorReason,omitempty"` // the class of the failure, or why it was skipped
	Summary string           `json:"summary,omitempty"`     // the answer, cut

	Requested string   `json:"requestedModel,omitempty"`
	Used      string   `json:"model,omitempty"`
	Profile   string   `json:"profile,omitempty"`
	Attempts  []Tried  `json:"attempts,omitempty"`
	Tokens    *Tokens  `json:"usage,omitempty"`
	Cost      float64  `json:"costUsd,omitempty"`
	Delivery  Delivers `json:"delivery"`
	// Overlapped counts the slots that passed while the run lasted: they do not
	// run [R22].
	Overlapped int    `json:"overlapped,omitempty"`
	Next       Millis `json:"nextRunAtMs,omitempty"` // of the job, when the run had ended
	// Owed are the webhooks that have not been told of the failure yet.
	Owed []OwedCall `json:"owedCalls,omitempty"`
}

// OwedCall is what a webhook is still to be told of a failed run. Its URL is not
// here, for it may hold a secret: the job and the config have it.
type OwedCall struct {
	Of   Telling `json:"of"`
	Text string  `json:"text"`
}

// Telling is one of the things that people hear of a run. It ends the id of the
// post or the call.
type Telling string

// What people hear.
const (
	ofFailure Telling = "f" // each failure [R48]
	ofAlert   Telling = "a" // failures in a row [R47]
	ofLoss    Telling = "d" // an answer that could not be delivered
)

// Delivering tells whether something of an ended run is still on its way.
func (r *Run) Delivering() bool {
	return r.Ended != 0 && (r.Delivery.Status == Unclear || r.owesCall())
}

// owesCall tells whether a webhook is still to be called.
func (r *Run) owesCall() bool {
	return r.Delivery.Mode == Webhook && r.Delivery.Status == Unclear || r.Delivery.Completion == Unclear || len(r.Owed) > 0
}

// Tried is one candidate of a run that did not answer.
type Tried struct {
	Model   string `json:"model"`
	Profile string `json:"profile,omitempty"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail,omitempty"`
	Skipped string `json:"skipped,omitempty"` // why it was not even asked
}

// Tokens is what the answer used, as its vendor counts.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// Delivers is what became of a run's result.
type Delivers struct {
	Status    DeliveryStatus `json:"status"`
	Mode      Mode           `json:"mode,omitempty"`
	Target    string         `json:"target,omitempty"`     // for people
	Post      string         `json:"deliveryId,omitempty"` // in the outbox
	MessageID string         `json:"messageId,omitempty"`  // the platform's receipt
	Error     string         `json:"error,omitempty"`
	Why       string         `json:"why,omitempty"` // of delivering nothing
	// Completion is what is known of the event's way to completionDestination, ""
	// for none.
	Completion DeliveryStatus `json:"completionStatus,omitempty"`
}
