package fallback

import "standin/fallback/provider"

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
	Reason   Reason
	Label    Label
	Failover bool   // the chain goes on
	Rule     string // the rule that decided, such as "status 529" or "billing text: insufficient credits"
}
