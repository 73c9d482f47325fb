package fallback

import (
	"time"

	"standin/fallback/provider"
)

// Attempt is one candidate that failed or was passed over, or one profile of
// it; the last one of a good run is the success.
type Attempt struct {
	Model   Model
	Profile ProfileID
	Auth    CredentialType // of the profile, "" when unknown
	Reason  Reason
	Label   Label
	Status  int
	Code    string
	Type    string // the vendor's error type
	Request string // the vendor's id of the request, for its support
	// Transport is what broke below HTTP, "" when the vendor answered.
	Transport provider.Transport
	Detail    string // readable, redacted, at most 400 characters
	Position  int    // 1-based place of the candidate in the chain
	Total     int
	OK        bool
	Asks      bool    `json:",omitzero"` // what came back asks for tools: it is not the run's answer
	Skipped   SkipWhy // "" when it was tried
	Probe     ProbeKind
	Profiles  int // how many credentials stood at the gate, 0 when unknown (20.3)
	At        time.Time
	Took      time.Duration
	Tokens    provider.Tokens
	Cost      float64 // US dollars
	Priced    bool    // Cost is known; it may be nothing
}

// AttemptFrom is one failed call: where it went, with what, and what came back.
// Position, times and probe are the caller's to add.
func AttemptFrom(m Model, p Profile, class Class, err error) Attempt {
	a := Attempt{Model: m, Profile: p.ID, Auth: p.Type}
	a.fail(class, err)
	return a
}

// SkipWhy says why a candidate was passed over without a call (rehearsal.md R10).
type SkipWhy string

// The causes of a skip.
const (
	SkipCooldown       SkipWhy = "cooldown"
	SkipPersistentAuth SkipWhy = "persistent_auth"
	SkipBilling        SkipWhy = "billing"
	SkipProbeUsed      SkipWhy = "probe_used"
	SkipProbeThrottled SkipWhy = "probe_throttled"
	SkipAuthCache      SkipWhy = "auth_skip_cache"
	SkipBudget         SkipWhy = "budget"
	SkipNoProfile      SkipWhy = "no_profile"
	SkipJumped         SkipWhy = "jumped"
)

// ProbeKind says in what sense an attempt is a probe.
type ProbeKind string

// The probes.
const (
	NoProbe       ProbeKind = ""
	PrimaryProbe  ProbeKind = "primary"  // the five-minute check [M11]
	CooldownProbe ProbeKind = "cooldown" // permitted although all profiles cool [M29]
)

// Step is one line of a run's story: what was tried, skipped, written or found.
// The journal of a run gets each step once, in order [I10].
type Step struct {
	At      time.Time
	Run     string // turn id
	Session SessionID
	Agent   AgentID
	Kind    Kind
	Job     string `json:",omitzero"` // whose run it is
	// Requested is the model that was to answer, of an attempt.
	Requested Model `json:",omitzero"`
	What      StepKind
	Attempt   *Attempt     // attempt, skip
	Write     *Write       // override
	Window    *WindowEvent // cooldown, disabled, blocked
	Record    *Decision    // decision
	Tool      *ToolUse     // tool
}

// StepKind names the kinds of steps, as rehearsal.md R9–R15 name the events.
type StepKind string

// The kinds of steps.
const (
	StepAttempt  StepKind = "attempt"
	StepSkip     StepKind = "skip"
	StepOverride StepKind = "override"
	StepCooldown StepKind = "cooldown"
	StepDisabled StepKind = "disabled"
	StepBlocked  StepKind = "blocked"
	StepDecision StepKind = "decision"
	StepTool     StepKind = "tool"
)

// Write is a change of the stored selection.
type Write struct {
	Act      Act
	Was, Now Selection
	Rule     ClearWhy // of a clear that a rule asked for, before any model was
	By       *Person  // who did it by hand; nil: the run itself
}

// Person is who changed a selection by hand, and with what.
type Person struct {
	Name    string // for people: a name, else the platform's id, "" when nobody is named
	Command string // "/model", "/new", "sessions.patch"
}

// Act names what a write did.
type Act string

// The acts.
const (
	ActSet      Act = "set"
	ActRollback Act = "rollback"
	ActClear    Act = "clear"
)

// WindowEvent is a window as it stands after a failure.
type WindowEvent struct {
	Profile ProfileID
	Window  Window
	Model   string // scope, "" for the whole profile
	Errors  int    // errorCount of the profile
}

// Decision is the model_fallback_decision record [M32, failover.md 20]. The
// JSON names are part of the contract.
type Decision struct {
	Event               string `json:"event"`    // always model_fallback_decision
	Decision            string `json:"decision"` // skip_candidate, probe_cooldown_candidate, candidate_failed, candidate_succeeded
	RunID               string `json:"runId"`
	SessionID           string `json:"sessionId,omitempty"`
	RequestedProvider   string `json:"requestedProvider"`
	RequestedModel      string `json:"requestedModel"`
	CandidateProvider   string `json:"candidateProvider"`
	CandidateModel      string `json:"candidateModel"`
	Attempt             int    `json:"attempt"`
	Total               int    `json:"total"`
	Reason              string `json:"reason,omitempty"`
	Status              int    `json:"status,omitempty"`
	Code                string `json:"code,omitempty"`
	ErrorPreview        string `json:"errorPreview,omitempty"`
	ErrorHash           string `json:"errorHash,omitempty"`        // of ErrorPreview
	ErrorFingerprint    string `json:"errorFingerprint,omitempty"` // the same, blind to numbers: one kind of error, one print
	HTTPCode            string `json:"httpCode,omitempty"`
	ProviderErrorType   string `json:"providerErrorType,omitempty"`
	ProviderMessage     string `json:"providerErrorMessagePreview,omitempty"` // at most 200 characters
	RequestIDHash       string `json:"requestIdHash,omitempty"`
	NextProvider        string `json:"nextCandidateProvider,omitempty"`
	NextModel           string `json:"nextCandidateModel,omitempty"`
	IsPrimary           bool   `json:"isPrimary"`
	RequestedMatched    bool   `json:"requestedModelMatched"`
	FallbackConfigured  bool   `json:"fallbackConfigured"`
	AllowTransientProbe bool   `json:"allowTransientCooldownProbe,omitempty"`
	ProfileCount        int    `json:"profileCount,omitempty"`
	Suppressed          int    `json:"suppressedDuplicateCount,omitempty"`
	Why                 string `json:"why,omitempty"` // cause of a skip

	StepType          string `json:"fallbackStepType,omitempty"`
	StepFromModel     string `json:"fallbackStepFromModel,omitempty"`
	StepToModel       string `json:"fallbackStepToModel,omitempty"`
	StepFailureReason string `json:"fallbackStepFromFailureReason,omitempty"`
	StepFailureDetail string `json:"fallbackStepFromFailureDetail,omitempty"`
	StepPosition      int    `json:"fallbackStepChainPosition,omitempty"`
	StepOutcome       string `json:"fallbackStepFinalOutcome,omitempty"` // next_fallback, chain_exhausted, succeeded

	PreviousAttempts []DecisionAttempt `json:"previousAttempts,omitempty"`
}

// Exhausted tells whether this is the record with which a chain ended without
// an answer.
func (d Decision) Exhausted() bool { return d.StepOutcome == outcomeExhausted }

// DecisionAttempt is an earlier attempt inside a success record.
type DecisionAttempt struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Reason   string `json:"reason,omitempty"`
	Status   int    `json:"status,omitempty"`
	Code     string `json:"code,omitempty"`
	Error    string `json:"error,omitempty"`
}
