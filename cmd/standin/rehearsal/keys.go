package rehearsal

import (
	"encoding/json"
	"time"

	"github.com/invopop/jsonschema"

	"standin/cmd/standin/config"
)

// scriptKeys is a rehearsal script as people write it (rehearsal.md R1–R8). As
// with the config file, these structs are what a script is judged by.
type scriptKeys struct {
	Title       string          `json:"title,omitempty"`
	Start       string          `json:"start,omitempty"` // RFC 3339
	Config      anything        `json:"config,omitempty"`
	Env         map[string]word `json:"env,omitempty"`
	Profiles    *[]profileSeed  `json:"profiles,omitempty"` // nil: every provider has one key
	Sessions    []sessionSeed   `json:"sessions,omitempty"`
	Vendors     []vendorKeys    `json:"vendors,omitempty"`
	Script      []stepKeys      `json:"script,omitempty"`
	Expect      anything        `json:"expect,omitempty"`
	Never       anything        `json:"never,omitempty"`
	ExpectError string          `json:"expectError,omitempty"`
}

// profileSeed is a stored credential (R4). Times are relative to the start.
type profileSeed struct {
	ID       string     `json:"id" jsonschema:"required,minLength=1"`
	Type     string     `json:"type" jsonschema:"required,enum=api_key,enum=oauth,enum=token"`
	Agent    string     `json:"agent,omitempty"`
	Provider string     `json:"provider,omitempty"`
	Expires  *moment    `json:"expires,omitempty"`
	LastUsed *moment    `json:"lastUsed,omitempty"`
	Order    int        `json:"order,omitempty" jsonschema:"minimum=1"` // place in the stored order
	Usage    *usageSeed `json:"usage,omitempty"`
}

// usageSeed is the routing state of a profile, in the names of usageStats.
type usageSeed struct {
	LastUsed       *moment              `json:"lastUsed,omitempty"`
	CooldownUntil  *moment              `json:"cooldownUntil,omitempty"`
	CooldownReason string               `json:"cooldownReason,omitempty"`
	CooldownModel  string               `json:"cooldownModel,omitempty"`
	CooldownModels map[string]scopeSeed `json:"cooldownModels,omitempty"`
	DisabledUntil  *moment              `json:"disabledUntil,omitempty"`
	DisabledReason string               `json:"disabledReason,omitempty"`
	BlockedUntil   *moment              `json:"blockedUntil,omitempty"`
	BlockedReason  string               `json:"blockedReason,omitempty"`
	BlockedSource  string               `json:"blockedSource,omitempty"`
	BlockedModel   string               `json:"blockedModel,omitempty"`
	ErrorCount     int                  `json:"errorCount,omitempty" jsonschema:"minimum=0"`
	FailureCounts  map[string]int       `json:"failureCounts,omitempty"`
	LastFailureAt  *moment              `json:"lastFailureAt,omitempty"`
}

type scopeSeed struct {
	Until  *moment `json:"until,omitempty"`
	Reason string  `json:"reason,omitempty"`
}

// sessionSeed is a stored session row (R5); what is left out is absent, so that
// rows of older versions can be written.
type sessionSeed struct {
	Key            string `json:"key" jsonschema:"required,minLength=1"`
	Provider       string `json:"providerOverride,omitempty"`
	Model          string `json:"modelOverride,omitempty"`
	Source         string `json:"modelOverrideSource,omitempty" jsonschema:"enum=auto,enum=user"`
	OriginProvider string `json:"modelOverrideFallbackOriginProvider,omitempty"`
	OriginModel    string `json:"modelOverrideFallbackOriginModel,omitempty"`
	Pin            string `json:"authProfileOverride,omitempty"`
	PinSource      string `json:"authProfileOverrideSource,omitempty" jsonschema:"enum=auto,enum=user"`
	PinCompactions *int   `json:"authProfileOverrideCompactionCount,omitempty" jsonschema:"minimum=0"`
	Compactions    int    `json:"compactionCount,omitempty" jsonschema:"minimum=0"`
	ToldSelected   string `json:"fallbackNoticeSelectedModel,omitempty"`
	ToldActive     string `json:"fallbackNoticeActiveModel,omitempty"`
	ToldReason     string `json:"fallbackNoticeReason,omitempty"`
	Parent         string `json:"parent,omitempty"`
}

// vendorKeys is a rule of the vendors (R6): matchers, then at most one effect.
type vendorKeys struct {
	Model   string           `json:"model,omitempty"`
	Profile string           `json:"profile,omitempty"`
	From    *config.Duration `json:"from,omitempty"`
	Until   *config.Duration `json:"until,omitempty"`
	Times   *int             `json:"times,omitempty" jsonschema:"minimum=0"`

	Error       *errorKeys      `json:"error,omitempty"`
	Network     string          `json:"network,omitempty" jsonschema:"enum=reset,enum=refused,enum=dns,enum=eof"`
	Hang        bool            `json:"hang,omitempty"`
	BreakAfter  *string         `json:"breakAfter,omitempty"`
	StreamError *errorKeys      `json:"streamError,omitempty"`
	Empty       bool            `json:"empty,omitempty"`
	Reply       *string         `json:"reply,omitempty"`
	Tool        *toolKeys       `json:"tool,omitempty"`
	Latency     config.Duration `json:"latency,omitempty"`
	Tokens      *tokenKeys      `json:"tokens,omitempty"` // of an answer; default: one of each
}

// tokenKeys are what the vendor says an answer used. With a model's cost in the
// config it is what budgets count.
type tokenKeys struct {
	Input      int64 `json:"input,omitempty" jsonschema:"minimum=0"`
	Output     int64 `json:"output,omitempty" jsonschema:"minimum=0"`
	CacheRead  int64 `json:"cacheRead,omitempty" jsonschema:"minimum=0"`
	CacheWrite int64 `json:"cacheWrite,omitempty" jsonschema:"minimum=0"`
}

// errorKeys is the failure of an HTTP vendor.
type errorKeys struct {
	Status  int             `json:"status,omitempty" jsonschema:"minimum=100,maximum=599"`
	Code    word            `json:"code,omitempty"`
	Type    string          `json:"type,omitempty"`
	Message string          `json:"message,omitempty"`
	Body    anything        `json:"body,omitempty"` // instead of the vendor's envelope
	Headers map[string]word `json:"headers,omitempty"`
}

type toolKeys struct {
	Name string   `json:"name" jsonschema:"required,minLength=1"`
	Args anything `json:"args,omitempty"`
}

// stepKeys is a step of the script (R7).
type stepKeys struct {
	At config.Duration `json:"at" jsonschema:"required"`
	actKeys
	During *duringKeys `json:"during,omitempty"`
}

// duringKeys is an act in the middle of the next turn's n-th attempt.
type duringKeys struct {
	Attempt int     `json:"attempt" jsonschema:"required,minimum=1"`
	Do      actKeys `json:"do" jsonschema:"required"`
}

func (k stepKeys) duringDo() actKeys {
	if k.During == nil {
		return actKeys{}
	}
	return k.During.Do
}

// actKeys is one act with what belongs to it.
type actKeys struct {
	Say         *string    `json:"say,omitempty"`
	Session     string     `json:"session,omitempty"`
	From        string     `json:"from,omitempty"`
	Room        *roomKeys  `json:"room,omitempty"`
	Thread      word       `json:"thread,omitempty"`
	ReplyToMode string     `json:"replyToMode,omitempty" jsonschema:"enum=off,enum=first,enum=all,enum=batched"`
	Heartbeat   string     `json:"heartbeat,omitempty"`
	Cron        *cronKeys  `json:"cron,omitempty"`
	Reset       string     `json:"reset,omitempty"`
	Patch       *patchKeys `json:"patch,omitempty"`
	Compact     string     `json:"compact,omitempty"`
	Restart     bool       `json:"restart,omitempty"`
	Reload      anything   `json:"reload,omitempty"`
	Abort       string     `json:"abort,omitempty" jsonschema:"enum=deadline,enum=shutdown"`
}

type cronKeys struct {
	Name      string    `json:"name,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Message   string    `json:"message" jsonschema:"required"`
	Model     string    `json:"model,omitempty"`
	Fallbacks *[]string `json:"fallbacks,omitempty"`
}

// patchKeys is sessions.patch; a model of null takes the choice back.
type patchKeys struct {
	Session string   `json:"session" jsonschema:"required"`
	Model   anything `json:"model" jsonschema:"required"`
}

// model is the model that is chosen, "" for none.
func (p *patchKeys) model() string {
	var s string
	_ = json.Unmarshal(p.Model.RawMessage, &s) // null leaves it empty; checkAct has seen to the rest
	return s
}

// roomKeys is, beside say, the kind of room, and as an act what befalls the
// next posts.
type roomKeys struct {
	Kind   string // direct or channel, "" for the act
	Refuse string // definite or ambiguous
	Times  int
}

// UnmarshalJSON reads both forms.
func (r *roomKeys) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &r.Kind)
	}
	o := struct {
		Refuse string `json:"refuse"`
		Times  int    `json:"times"`
	}{Times: 1}
	err := json.Unmarshal(data, &o)
	r.Refuse, r.Times = o.Refuse, o.Times
	return err
}

// JSONSchema describes both forms.
func (roomKeys) JSONSchema() *jsonschema.Schema {
	o := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, Required: []string{"refuse"}}
	o.Properties.Set("refuse", &jsonschema.Schema{Type: "string", Enum: []any{"definite", "ambiguous"}})
	o.Properties.Set("times", &jsonschema.Schema{Type: "integer", Minimum: "1"})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Enum: []any{"direct", "channel"}}, o}}
}

// anything is a value that is judged elsewhere, by its place in the tree.
type anything struct{ json.RawMessage }

// UnmarshalJSON keeps the value.
func (a *anything) UnmarshalJSON(data []byte) error { return a.RawMessage.UnmarshalJSON(data) }

// JSONSchema asks for nothing.
func (anything) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Comments: config.AnyForm} }

func (a anything) given() bool { return len(a.RawMessage) > 0 }

// word is a text that people often write without quotes although it looks like
// a number: a header, a variable, a vendor's code.
type word string

// UnmarshalJSON takes numbers and truth values as they are written.
func (w *word) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(w))
	}
	*w = word(data)
	return nil
}

// JSONSchema describes the forms.
func (word) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
}

// moment is a time as a duration from the start of the script; it may lie
// before it.
type moment time.Duration

// UnmarshalJSON reads the text form.
func (m *moment) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*m = moment(v)
	return err
}

// JSONSchema describes the text form.
func (moment) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: config.SignedDuration}
}

// after gives the time that the moment means, zero for nil.
func (m *moment) after(start time.Time) time.Time {
	if m == nil {
		return time.Time{}
	}
	return start.Add(time.Duration(*m))
}
