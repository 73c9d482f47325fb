package fallback

import (
	"slices"
	"strings"

	"standin/fallback/provider"
)

// Reason is what a failure means (failover.md 4.1). "" means no class.
type Reason string

// The reasons.
const (
	NoReason        Reason = ""
	AuthFailed      Reason = "auth"
	AuthPermanent   Reason = "auth_permanent"
	Format          Reason = "format"
	RateLimit       Reason = "rate_limit"
	Overloaded      Reason = "overloaded"
	Billing         Reason = "billing"
	ServerError     Reason = "server_error"
	Timeout         Reason = "timeout"
	ContextOverflow Reason = "context_overflow"
	ModelNotFound   Reason = "model_not_found"
	SessionExpired  Reason = "session_expired"
	EmptyResponse   Reason = "empty_response"
	NoErrorDetails  Reason = "no_error_details"
	Unclassified    Reason = "unclassified"
	Unknown         Reason = "unknown"
	Budget          Reason = "budget" // a spending cap of ours [D20]
)

// Label names a failure without a class exactly [M26].
type Label string

// The labels.
const (
	NoLabel           Label = ""
	LabelEmpty        Label = "empty_response"
	LabelNoDetails    Label = "no_error_details"
	LabelUnclassified Label = "unclassified"
)

// Signal is the evidence that classification reads, whatever field a vendor
// chose to put it in. All fields are optional.
type Signal struct {
	Provider  string
	Model     string
	Status    int
	Code      string
	Type      string
	Message   string
	Body      string // raw body: JSON text or anything else
	Transport provider.Transport
}

// Class is what a Signal means.
type Class struct {
	Reason Reason
	Label  Label
	// Failover tells that the failure is of a kind that another candidate may
	// survive. An unclassified failure has it false and advances the chain all
	// the same while candidates are left [M28, D5]; see Refusal and
	// ContextOverflow for what stops it.
	Failover bool
	Rule     string // the rule that decided, such as "status 529" or "billing text: insufficient credits"
	// Refusal tells that the model or its vendor's filter declined to answer:
	// the chain stops [M28].
	Refusal bool
	// Transport is what broke below HTTP, as seen or as the words say.
	Transport provider.Transport
}

// step is one place to look for a meaning.
type step struct {
	name   string
	source string
	look   func(e *facts) verdict
}

// precedence is the order in which evidence speaks [D13, failover.md 5.B]: what
// is typed before what is written, and of typed evidence the precise before the
// general. The first step that knows decides.
var precedence = []step{
	{"transport", "I13, D23", (*facts).transport},
	{"refusal", "M28, 5.G.5", (*facts).refusal},
	{"overflow", "D13, D10, 5.B.2", (*facts).overflowing},
	{"outage page", "5.B.1, V2", (*facts).outagePage},
	{"precise code", "5.B.3, 5.B.4, IL-140", (*facts).precise},
	{"status", "5.B.5, 5.C", (*facts).byStatus},
	{"code", "5.B.6, 5.E, V6", (*facts).byCode},
	{"text", "5.B.7, 5.D, V5", (*facts).bySaying},
}

// Classify tells what a failure means. It is pure and total: any signal, even
// an empty one, has an answer, and the answer does not depend on letter case or
// blanks around the fields.
func Classify(s Signal) Class {
	e := newFacts(s)
	for i := range precedence {
		if v := precedence[i].look(e); v.known() {
			return e.class(v)
		}
	}
	return e.class(verdict{})
}

// facts are a signal made ready.
type facts struct {
	transportSeen provider.Transport
	provider      string
	status        int  // of the answer, or the one the message begins with
	answered      bool // the signal had a status of its own
	bare          bool // the status is only a number at the start of the message
	html          bool
	refusing      bool
	code, kind    string // the signal's code and type, lower-case
	message       *text
	details       *text
	typed         *text // code and type as a text (V5)
	said          verdict
}

func newFacts(s Signal) *facts {
	if strings.TrimSpace(s.Message) == "" {
		s.Message, s.Body = s.Body, ""
	}
	e := &facts{
		transportSeen: s.Transport,
		provider:      NormalProvider(s.Provider),
		answered:      s.Status != 0,
		code:          NormalProvider(s.Code),
		kind:          NormalProvider(s.Type),
		html:          htmlPage(s.Message) || htmlPage(s.Body),
		message:       read(s.Message),
		details:       read(s.Body),
	}
	e.typed = readTyped(e.code, e.kind)
	e.status = e.statusOf(s.Status)
	e.said = e.saying()
	return e
}

// statusOf is the status to go by: the answer's own; without one, or in a
// stream that had begun well, the number that the code is or that the message
// begins with (5.A.2, 5.B.8).
func (e *facts) statusOf(status int) int {
	if status >= 400 {
		return status
	}
	if n, _, rest := e.typed.leadingCode(); rest {
		return n
	}
	n, marked, _ := e.message.leading()
	e.bare = n != 0 && !marked
	return n
}

// saying merges what message, body and typed fields say (5.B.2, V5): the
// message stays unless it says nothing or only that the request is wrong; the
// typed fields speak when the texts say nothing.
func (e *facts) saying() verdict {
	said := e.judge(e.message)
	if !said.known() || said.reason == Format {
		if v := e.judge(e.details); v.known() {
			said = v
		}
	}
	if !said.known() {
		said = e.judge(e.typed)
	}
	switch said.reason {
	case NoReason, RateLimit, AuthFailed, Format: // billing before rate limit [D13]; "access denied" beside Arrearage
		if w := e.structuredMoney(); w != "" {
			return verdict{reason: Billing, rule: "code " + w}
		}
	}
	return said
}

// codes are the machine words of the signal, lower-case.
func (e *facts) codes() []string {
	return slices.Concat(e.typed.codes, e.message.codes, e.details.codes)
}

// isFrom tells whether the provider's id contains one of the names.
func (e *facts) isFrom(names []string) bool {
	for _, n := range names {
		if strings.Contains(e.provider, n) {
			return true
		}
	}
	return false
}

// transport: a line that broke, or a limit of ours that ran out, before HTTP
// had an error to tell. A fault of TLS has no reason (V4).
func (e *facts) transport() verdict {
	switch {
	case e.transportSeen == provider.NoTransport || e.status >= 400:
		return verdict{}
	case e.transportSeen == provider.TLSFailed:
		return verdict{rule: "transport tls"}
	}
	return verdict{reason: Timeout, rule: "transport " + string(e.transportSeen)}
}

func (e *facts) refusal() verdict {
	for _, t := range []*text{e.message, e.details, e.typed} {
		if t.empty() {
			continue
		}
		if w := refused(e, t); w != "" {
			e.refusing = true
			if e.status == 400 || e.status == 422 {
				return verdict{reason: Format, rule: "refusal: " + w}
			}
			return verdict{rule: "refusal: " + w}
		}
	}
	return verdict{}
}

func (e *facts) overflowing() verdict {
	if e.said.reason == ContextOverflow {
		return e.said
	}
	for _, t := range []*text{e.message, e.details, e.typed} {
		if !t.empty() {
			if w := overflow(e, t); w != "" {
				return verdict{reason: ContextOverflow, rule: "overflow: " + w}
			}
		}
	}
	return verdict{}
}

func (e *facts) precise() verdict {
	for i := range preciseRules {
		r := &preciseRules[i]
		for _, t := range []*text{e.typed, e.message, e.details} {
			if t.empty() {
				continue
			}
			if w := r.when(e, t); w != "" {
				return verdict{reason: r.reason, rule: w}
			}
		}
	}
	return verdict{}
}

func (e *facts) byStatus() verdict {
	for i := range statusRules {
		if slices.Contains(statusRules[i].statuses, e.status) {
			return statusRules[i].decide(e)
		}
	}
	return verdict{}
}

func (e *facts) byCode() verdict {
	if r, ok := codeReasons[e.code]; ok {
		return verdict{reason: r, rule: "code " + e.code}
	}
	if _, ok := lineCodes[e.code]; ok || strings.HasPrefix(e.code, "und_err_") {
		return verdict{reason: Timeout, rule: "code " + e.code}
	}
	return verdict{}
}

func (e *facts) bySaying() verdict { return e.said }

// class gives the verdict its label and what follows from its reason.
func (e *facts) class(v verdict) Class {
	c := Class{Reason: v.reason, Rule: v.rule, Refusal: e.refusing, Transport: e.transportOf(v)}
	c.Failover = v.reason != NoReason && v.reason != ContextOverflow && !c.Refusal
	switch {
	case v.reason == NoErrorDetails:
		c.Label = LabelNoDetails // V16
	case v.reason != NoReason || v.quiet:
	case e.answered || e.message.given || e.transportSeen != provider.NoTransport:
		c.Label = LabelUnclassified
	case e.typed.empty():
		c.Label = LabelEmpty
	}
	return c
}
