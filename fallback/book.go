package fallback

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"standin/fallback/provider"
)

// Book writes the decision records of one run [M32, failover.md 20]. It holds
// what all of them have in common; what it gives is a value that nobody has
// logged yet.
type Book struct {
	Run       string
	Session   SessionID
	Agent     AgentID
	Requested Model
	Total     int // length of the chain
}

// The values of Decision.Decision (20.2).
const (
	DecidedSkip      = "skip_candidate"
	DecidedProbe     = "probe_cooldown_candidate"
	DecidedFailed    = "candidate_failed"
	DecidedSucceeded = "candidate_succeeded"
)

// The values of Decision.StepOutcome.
const (
	outcomeNext      = "next_fallback"
	outcomeExhausted = "chain_exhausted"
	outcomeSucceeded = "succeeded"
)

// Skip records a candidate that is passed over; next is the one after it, zero
// at the end of the chain.
func (b Book) Skip(a Attempt, next Model) Decision {
	return b.left(DecidedSkip, a, next)
}

// Failed records a candidate that was asked and failed.
func (b Book) Failed(a Attempt, next Model) Decision {
	return b.left(DecidedFailed, a, next)
}

// Probing records that a candidate is asked although its credentials cool. It
// is no step of the chain (20.4).
func (b Book) Probing(a Attempt) Decision {
	d := b.record(DecidedProbe, a)
	d.AllowTransientProbe = true
	return d
}

// Succeeded records the answer. ok is false when there is nothing to tell: the
// first candidate answered at once and was not probed through a window (20.2).
func (b Book) Succeeded(a Attempt, previous []Attempt) (d Decision, ok bool) {
	if a.Position <= 1 && len(previous) == 0 && a.Probe != CooldownProbe {
		return Decision{}, false
	}
	d = b.record(DecidedSucceeded, a)
	if len(previous) == 0 {
		return d, true
	}
	previous = perCandidate(previous)
	for _, p := range previous {
		d.PreviousAttempts = append(d.PreviousAttempts, DecisionAttempt{
			Provider: p.Model.Provider, Model: p.Model.Name,
			Reason: p.word(), Status: p.Status, Code: p.Code, Error: observed(p),
		})
	}
	b.step(&d, previous[len(previous)-1], a.Model, outcomeSucceeded)
	d.StepPosition = a.Position
	return d, true
}

// left is the record of a candidate that the chain leaves behind.
func (b Book) left(decision string, a Attempt, next Model) Decision {
	d := b.record(decision, a)
	d.NextProvider, d.NextModel = next.Provider, next.Name
	outcome := outcomeNext
	if next.IsZero() {
		outcome = outcomeExhausted
	}
	b.step(&d, a, next, outcome)
	return d
}

// record fills in what is known of a candidate.
func (b Book) record(decision string, a Attempt) Decision {
	d := Decision{
		Event: "model_fallback_decision", Decision: decision,
		RunID: b.Run, SessionID: string(b.Session),
		RequestedProvider: b.Requested.Provider, RequestedModel: b.Requested.Name,
		CandidateProvider: a.Model.Provider, CandidateModel: a.Model.Name,
		Attempt: a.Position, Total: b.Total,
		Reason: a.word(), Status: a.Status, Code: a.Code, ErrorPreview: observed(a),
		IsPrimary: a.Position == 1, RequestedMatched: a.Model == b.Requested,
		FallbackConfigured:  b.Total > 1,
		AllowTransientProbe: a.Probe == CooldownProbe,
		ProfileCount:        a.Profiles, Why: string(a.Skipped),
	}
	d.ProviderErrorType, d.ProviderMessage = a.Type, clip(d.ErrorPreview, 200)
	if a.Status != 0 {
		d.HTTPCode = strconv.Itoa(a.Status)
	}
	d.ErrorHash, d.RequestIDHash = short(d.ErrorPreview), short(a.Request)
	d.ErrorFingerprint = short(digits.ReplaceAllString(strings.ToLower(d.ErrorPreview), "#"))
	return d
}

// digits are what differs between two texts of one kind of error.
var digits = regexp.MustCompile(`[0-9]+`)

// short is the beginning of a text's hash, "" for no text.
func short(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// step adds the flat fields from which the way through the chain can be read
// back, line by line, even when its last candidate fails too [M32].
func (b Book) step(d *Decision, from Attempt, to Model, outcome string) {
	d.StepType = "fallback_step"
	d.StepFromModel, d.StepToModel = from.Model.String(), to.String()
	d.StepFailureReason, d.StepFailureDetail = from.word(), observed(from)
	d.StepPosition, d.StepOutcome = from.Position, outcome
}

// observed is a failure's text as a record may keep it (20.3) [I12].
func observed(a Attempt) string { return clip(oneLine(provider.Redact(a.Detail)), 400) }

// Coalescer keeps one broken credential from filling the log: a refusal that
// was logged within the last half minute is only counted (20.5). The zero
// value is ready, and safe for many turns at once.
type Coalescer struct {
	mu   sync.Mutex
	seen map[repeated]*tally
}

// repeated is what makes two refusals the same piece of news.
type repeated struct {
	decision, provider, model, reason, code, hash string
	status                                        int
}

// tally is when a refusal was logged last and how often it came since.
type tally struct {
	logged     time.Time
	suppressed int
}

// The limits of coalescing (20.5).
const (
	coalesceFor  = 30 * time.Second
	coalesceKeep = 60 * time.Second // an older count says nothing about now
	coalesceKeys = 100
)

// Pass tells whether a record is to be logged now, and how many like it were
// held back since the last one.
func (c *Coalescer) Pass(d Decision, now time.Time) (suppressed int, log bool) {
	if d.Decision != DecidedFailed && d.Decision != DecidedSkip {
		return 0, true
	}
	if r := Reason(d.Reason); r != AuthFailed && r != AuthPermanent {
		return 0, true
	}
	key := repeated{d.Decision, d.CandidateProvider, d.CandidateModel, d.Reason, d.Code, d.ErrorHash, d.Status}
	c.mu.Lock()
	defer c.mu.Unlock()
	t, known := c.seen[key]
	if !known {
		c.makeRoomLocked()
		c.seen[key] = &tally{logged: now}
		return 0, true
	}
	age := now.Sub(t.logged)
	if age < coalesceFor {
		t.suppressed++
		return 0, false
	}
	if age <= coalesceKeep {
		suppressed = t.suppressed
	}
	*t = tally{logged: now}
	return suppressed, true
}

// makeRoomLocked drops the oldest entry of a full table.
func (c *Coalescer) makeRoomLocked() {
	if c.seen == nil {
		c.seen = map[repeated]*tally{}
	}
	if len(c.seen) < coalesceKeys {
		return
	}
	var oldest repeated
	var at time.Time
	for key, t := range c.seen {
		if at.IsZero() || t.logged.Before(at) {
			oldest, at = key, t.logged
		}
	}
	delete(c.seen, oldest)
}
