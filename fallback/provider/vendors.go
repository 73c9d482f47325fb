package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Options are what Vendors needs of its surroundings.
type Options struct {
	// Transport carries the requests; nil means NewTransport(). A test gives
	// its double here.
	Transport http.RoundTripper
	// Log gets one debug line per call, without texts; nil means none.
	Log *slog.Logger
}

// Vendors calls models over the wire protocols of this package. It is safe
// for use by many turns at the same time; one value shares its connections.
type Vendors struct {
	transport http.RoundTripper
	log       *slog.Logger
}

var _ Caller = (*Vendors)(nil)

// New gives the caller of all vendors.
func New(o Options) *Vendors {
	v := &Vendors{transport: o.Transport, log: o.Log}
	if v.transport == nil {
		v.transport = NewTransport()
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	return v
}

// Close closes the connections that wait for another call.
func (v *Vendors) Close() {
	if t, ok := v.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Call makes one request and gives the answer, or what was seen instead. See
// Caller for its errors.
func (v *Vendors) Call(ctx context.Context, c Call) (*Reply, error) {
	start := time.Now()
	reply, err := v.call(ctx, c)
	attrs := []slog.Attr{
		slog.String("provider", c.Endpoint.Provider), slog.String("model", c.Model), slog.String("profile", c.Profile),
		slog.Bool("streamed", c.OnText != nil), slog.Duration("took", time.Since(start)), slog.Bool("ok", err == nil),
	}
	var e *Error
	if errors.As(err, &e) {
		attrs = append(attrs, slog.Int("status", e.Status), slog.String("code", e.Code), slog.String("transport", string(e.Transport)))
	}
	v.log.LogAttrs(ctx, slog.LevelDebug, "vendor call", attrs...)
	return reply, err
}

func (v *Vendors) call(ctx context.Context, c Call) (*Reply, error) {
	if ctx.Err() != nil {
		return nil, aborted(ctx, &c)
	}
	if e := c.prepare(); e != nil {
		return nil, e
	}
	w := newWatch(ctx, c.Limits)
	defer w.stop()
	s := &seam{call: c, base: v.transport, watch: w}
	defer s.close()

	a := &answer{call: &c, watch: w}
	err := speak(w.traced(), s.client(), a)
	if err == nil || s.spoken(a) {
		if e := s.disguised(a); e != nil {
			return nil, e
		}
		return a.reply(s.tape), nil
	}
	return nil, s.failure(ctx, a, err)
}

// prepare fills in what a known vendor need not say, and refuses what cannot
// be sent.
func (c *Call) prepare() *Error {
	c.subscribe()
	known, _, _ := Known(c.Endpoint.Provider)
	if c.Endpoint.API == "" {
		c.Endpoint.API = known.API
	}
	if c.Endpoint.API == "" {
		c.Endpoint.API = OpenAICompletions
	}
	if c.Endpoint.BaseURL == "" {
		c.Endpoint.BaseURL = known.BaseURL
	}
	refuse := func(code, message string) *Error {
		return &Error{Provider: c.Endpoint.Provider, Model: c.Model, Code: code, Message: message}
	}
	if c.Endpoint.BaseURL == "" {
		return refuse("no_base_url", "provider "+c.Endpoint.Provider+" is unknown and has no baseUrl")
	}
	if err := CheckBaseURL(c.Endpoint.BaseURL); err != nil {
		return refuse("bad_base_url", err.Error())
	}
	switch c.Endpoint.API {
	case OpenAICompletions, OpenAIResponses, AnthropicMessages:
	default:
		return refuse("unknown_api", fmt.Sprintf("no wire protocol is called %q", c.Endpoint.API))
	}
	if c.Key.Empty() && !c.Endpoint.NoKey {
		return refuse("no_api_key", "no API key found for provider "+c.Endpoint.Provider)
	}
	return nil
}

// speak asks in the endpoint's protocol. What it gathers is in a, also when it
// fails half-way.
func speak(ctx context.Context, client *http.Client, a *answer) error {
	switch a.call.Endpoint.API {
	case AnthropicMessages:
		return speakMessages(ctx, client, a)
	default:
		return speakOpenAI(ctx, client, a)
	}
}

// spoken tells whether a streamed answer was complete although the SDK
// complains: the connection broke or stayed open after the last word.
func (s *seam) spoken(a *answer) bool {
	return s.call.OnText != nil && s.tape != nil && s.tape.complete()
}

// disguised finds the failures that look like answers: an error envelope in a
// plain 200, and a finish reason that names a failure (failover.md 5.G.4).
func (s *seam) disguised(a *answer) *Error {
	if s.tape != nil && len(s.tape.failed) > 0 {
		return s.evidence(a, s.tape.failed)
	}
	if s.tape != nil && a.text.Len() == 0 && isFailure(s.tape.head) {
		return s.evidence(a, s.tape.head)
	}
	finish := a.finish
	if finish == "" && s.tape != nil {
		finish = s.tape.finish
	}
	switch finish {
	case "error", "abort", "malformed_response", "network_error":
		e := s.broken(a, NoTransport, ErrInAnswer)
		e.Message = "finish_reason: " + finish
		return e
	}
	return nil
}

// failure decides what a failed call is judged by. The order is from what ends
// the run, over what the vendor said, to what only the SDK thinks.
func (s *seam) failure(ctx context.Context, a *answer, err error) error {
	if ctx.Err() != nil {
		return aborted(ctx, a.call)
	}
	if s.status != 0 && s.tape == nil {
		return errorFrom(s.call.Endpoint.Provider, s.call.Model, s.status, s.header, s.body, s.call.secrets())
	}
	if s.tape != nil && len(s.tape.failed) > 0 {
		return s.evidence(a, s.tape.failed)
	}
	if limit, ok := s.watch.reached(); ok {
		return s.broken(a, limit, limitReached(limit))
	}
	if s.err != nil {
		return s.broken(a, transportOf(s.err), inner(s.err))
	}
	if s.tape == nil { // the SDK refused to send
		return s.odd(a, nil, err)
	}
	if s.tape.err != nil {
		return s.broken(a, transportOf(s.tape.err), s.tape.err)
	}
	if isFailure(s.tape.head) {
		return s.evidence(a, s.tape.head)
	}
	if cutShort(s.tape) {
		return s.broken(a, EOF, io.ErrUnexpectedEOF)
	}
	return s.odd(a, s.tape.head, err)
}

// cutShort tells whether a 200 ended before its end: nothing at all, a stream
// without its last event, the beginning of JSON.
func cutShort(t *tape) bool {
	if len(t.head) == 0 || t.fields {
		return true
	}
	if head := bytes.TrimSpace(t.head); len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	return !json.Valid(t.head)
}

// evidence is a failure that the vendor reported inside a 200.
func (s *seam) evidence(a *answer, body []byte) *Error {
	e := errorFrom(s.call.Endpoint.Provider, s.call.Model, 0, s.header, body, s.call.secrets())
	e.Streamed = a.streamed
	return e
}

// broken is a failure below the vendor's words.
func (s *seam) broken(a *answer, t Transport, cause error) *Error {
	return &Error{
		Provider: s.call.Endpoint.Provider, Model: s.call.Model,
		Transport: t, Message: cut(scrub(causeText(cause), s.call.secrets()), maxMessage),
		Header: keepHeader(s.header, s.call.secrets()), Streamed: a.streamed, Err: cause,
	}
}

// odd is a 200 that is no answer: a page with another content type, text, or
// JSON of another kind. The SDK's error is not kept: it holds the request.
func (s *seam) odd(a *answer, body []byte, err error) *Error {
	e := errorFrom(s.call.Endpoint.Provider, s.call.Model, s.status, s.header, body, s.call.secrets())
	e.Status, e.Streamed = s.status, a.streamed
	if e.Message == "" || json.Valid(body) {
		e.Message = cut(scrub("not an answer of this protocol: "+err.Error(), s.call.secrets()), maxMessage)
	}
	return e
}

// causeText words a cause for Error.Message.
func causeText(cause error) string {
	var limit limitReached
	if errors.As(cause, &limit) {
		return ""
	}
	return cause.Error()
}

// aborted is the error of a call that the caller's own context ended.
func aborted(ctx context.Context, c *Call) error {
	return fmt.Errorf("call %s/%s: %w", c.Endpoint.Provider, c.Model, context.Cause(ctx))
}
