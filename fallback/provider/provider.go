// Package provider speaks to model vendors: it turns one Call into one HTTP
// request of the vendor's wire protocol and gives back a Reply or an *Error.
//
// It keeps evidence, never policy: an Error says what was seen (status, code,
// headers, whether text had been streamed) and package fallback decides what
// that means. All vendors' SDKs live here and nowhere else, their own retries
// are off [D13e], and a key is revealed in one place, where the header is set.
package provider

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// API names the wire protocol that an endpoint speaks (config key
// models.providers.<id>.api).
type API string

// The wire protocols.
const (
	OpenAICompletions API = "openai-completions" // POST {baseUrl}/chat/completions
	OpenAIResponses   API = "openai-responses"   // POST {baseUrl}/responses
	AnthropicMessages API = "anthropic-messages" // POST {baseUrl}/v1/messages
)

// Endpoint is where and how a provider is reached.
type Endpoint struct {
	Provider string            // normalised provider id, such as "openai"
	API      API               // wire protocol
	BaseURL  string            // for the OpenAI protocols it includes "/v1", for Anthropic it does not
	Headers  map[string]string // extra request headers of the operator
	NoKey    bool              // the server wants no credential (a local one)
	// LoginURL takes BaseURL's place for OAuth logins. "": where the vendor serves
	// subscriptions, for one that does so apart from its API, else BaseURL.
	LoginURL string
}

// Key is a secret that cannot be printed: fmt shows an address at worst, JSON
// shows {}. Reveal is for the one place that sets the request header [I12].
type Key struct{ p *string }

// NewKey wraps a secret.
func NewKey(secret string) Key { return Key{p: &secret} }

// Reveal gives the secret itself, "" for the zero Key.
func (k Key) Reveal() string {
	if k.p == nil {
		return ""
	}
	return *k.p
}

// Empty tells whether there is nothing to reveal.
func (k Key) Empty() bool { return k.Reveal() == "" }

// Format prints a mark instead of the secret, whatever the verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("[secret]")) }

// LogValue keeps the secret out of slog.
func (k Key) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText keeps the secret out of JSON and YAML.
func (k Key) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// Auth says how the key travels.
type Auth string

// The ways of a key. The zero value is APIKey.
const (
	APIKey Auth = "api_key" // the vendor's own key header
	Bearer Auth = "bearer"  // Authorization: Bearer
	Login  Auth = "login"   // the same, with the access token of an OAuth login
)

// Role says who wrote a message.
type Role string

// The roles of a conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one entry of the conversation given to a model.
type Message struct {
	Role Role
	Text string
	// Calls stand behind the text of an assistant's message. The next message is
	// then the user's, and its Results answer each of them.
	Calls   []ToolCall
	Results []ToolResult
	Images  []Image // of a user's message
}

// Call is one request to one model with one credential.
type Call struct {
	Endpoint  Endpoint
	Model     string // the vendor's id, such as "gpt-5.5"
	Profile   string // profile id, for the record only
	Session   string // whose turn it is, for the record only
	Key       Key
	Auth      Auth
	Account   string // the vendor's id of a login's account, "" when unknown
	System    string
	Messages  []Message
	Tools     []Tool // what the model may ask for
	MaxTokens int    // 0: the vendor's own limit (Anthropic: 8192)
	Think     Effort // how much it thinks first; "" as the vendor has it
	Limits    Limits
	codex     bool // it goes to a ChatGPT subscription; prepare decides

	// OnText is called with each piece of streamed answer text, in order, from
	// the goroutine that runs Call. When it is nil the request is not streamed.
	OnText func(piece string)
}

// Limits are the times one attempt may take [D23]. Zero means no limit.
type Limits struct {
	Connect    time.Duration // until the connection stands (dial and TLS)
	FirstToken time.Duration // until the first piece of the answer
	Idle       time.Duration // between two pieces
	Total      time.Duration // whole attempt: what the run's deadline leaves for this candidate
}

// Tokens counts what a call used, as the vendor reports it.
type Tokens struct {
	Input      int64 // prompt tokens, cached ones included
	Output     int64
	CacheRead  int64
	CacheWrite int64
}

// Plus adds what two calls used.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.Output + u.Output, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite}
}

// Reply is a completed answer. Text may be empty: the caller judges that [M26].
type Reply struct {
	Text   string
	Calls  []ToolCall // what the model wants done before it goes on
	Finish string     // the vendor's own stop reason
	Tokens Tokens
}

// Transport says what broke below HTTP, or which limit of ours ran out. The
// causes are separate because they are judged differently [I13, D23].
type Transport string

// The transport failures.
const (
	NoTransport       Transport = ""
	DNSFailed         Transport = "dns"
	Refused           Transport = "refused"
	Reset             Transport = "reset"
	EOF               Transport = "eof" // closed before or in the middle of an answer
	TLSFailed         Transport = "tls"
	ConnectTimeout    Transport = "connect_timeout"
	FirstTokenTimeout Transport = "first_token_timeout"
	IdleTimeout       Transport = "idle_timeout"
	AttemptTimeout    Transport = "attempt_timeout" // Limits.Total
	OtherTransport    Transport = "transport"
)

// Error is the evidence of a failed call. It holds no key and no request.
type Error struct {
	Provider, Model string
	Status          int    // HTTP status, 0 when there was no answer
	Code            string // the vendor's error code, such as "insufficient_quota"
	Type            string // the vendor's error type, such as "rate_limit_error"
	Message         string // the vendor's sentence
	Body            string // raw body, at most MaxBody bytes
	Header          http.Header
	RetryAfter      time.Duration // hint of Retry-After or retry-after-ms, 0 when none
	Windows         []UsageWindow // of a subscription, when the answer reports them
	Transport       Transport
	Streamed        bool  // answer text had been given to OnText before it failed
	Err             error // the cause, for errors.Is
}

// MaxBody bounds Error.Body in bytes.
const MaxBody = 8 << 10

// Error tells what was seen, in one line without secrets.
func (e *Error) Error() string {
	s := e.Provider + "/" + e.Model
	if e.Status != 0 {
		s += fmt.Sprintf(": HTTP %d", e.Status)
	}
	if e.Transport != NoTransport {
		s += ": " + string(e.Transport)
	}
	if e.Code != "" {
		s += ": " + e.Code
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// RequestID is the vendor's own id of the request, "" when it gave none.
func (e *Error) RequestID() string {
	return cmp.Or(e.Header.Get("X-Request-Id"), e.Header.Get("Request-Id"), e.Header.Get("X-Amzn-Requestid"))
}

// Unwrap gives the cause, so that errors.Is sees context.Canceled.
func (e *Error) Unwrap() error { return e.Err }

// Caller is what package fallback needs of this package: one call, one answer.
// An error is an *Error, or wraps context.Cause(ctx) when the caller's own ctx
// ended the call. Call never retries and never waits for a hint [I11].
type Caller interface {
	Call(ctx context.Context, c Call) (*Reply, error)
}
