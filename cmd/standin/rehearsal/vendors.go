package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"standin/cmd/standin/config"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// rule is a line of the vendors (R6): whom it concerns and what they do.
type rule struct {
	vendorKeys
	model string // provider/model, provider/* or *; "" is *
	body  string // error's or streamError's own body, "" for the vendor's envelope
	raw   bool   // body was given, even if empty
	tool  *ruleTool
	left  int // calls that it still matches; -1: any number
}

// rule reads and checks a rule.
func (s *scriptReader) rule(k vendorKeys, n int, p config.Path) *rule {
	r := &rule{vendorKeys: k, model: k.Model, left: -1}
	if k.Times != nil {
		r.left = *k.Times
	}
	owner, name, ok := strings.Cut(k.Model, "/")
	switch {
	case k.Model == "" || k.Model == "*":
	case !ok || owner == "" || name == "" || strings.Contains(owner, "*") || strings.Contains(name, "*") && name != "*":
		s.report(p.Key("model"), fmt.Sprintf("%q matches no model", k.Model), `write provider/model, provider/* or "*"`)
	default:
		r.model = fallback.NormalProvider(owner) + "/" + strings.TrimSpace(name)
	}
	if k.From != nil && k.Until != nil && *k.Until <= *k.From {
		s.report(p.Key("until"), "is not behind from, so the rule never matches", "")
	}
	var effects []string
	for _, e := range []struct {
		name  string
		given bool
	}{{"error", k.Error != nil}, {"network", k.Network != ""}, {"hang", k.Hang}, {"breakAfter", k.BreakAfter != nil}, {"streamError", k.StreamError != nil},
		{"empty", k.Empty}, {"reply", k.Reply != nil}, {"tool", k.Tool != nil}} {
		if e.given {
			effects = append(effects, e.name)
		}
	}
	if len(effects) > 1 {
		s.reportKey(p.Key(effects[1]), "is a second effect beside "+effects[0], "make it a rule of its own")
	}
	if t := k.Tokens; t != nil && t.CacheRead+t.CacheWrite > t.Input {
		s.report(p.Key("tokens").Key("input"), "is less than the cached ones, which are among them", "")
	}
	if k.Tokens != nil && (k.Error != nil || k.StreamError != nil || k.Network != "" || k.Hang || k.BreakAfter != nil) {
		s.reportKey(p.Key("tokens"), "is not told by a vendor that fails", "leave it out, or use empty")
	}
	if k.Tool != nil {
		r.tool = s.readTool(k.Tool, n, p.Key("tool"))
	}
	for _, key := range []string{"error", "streamError"} {
		n, given := s.root.At(p.Key(key).Key("body"))
		if !given {
			continue
		}
		r.raw, r.body = true, n.Text
		if n.Kind != config.Text {
			text, _ := json.Marshal(n.Plain()) // a tree of plain values
			r.body = string(text)
		}
	}
	return r
}

// matches tells whether the rule concerns a call now, at from the start.
func (r *rule) matches(model, profile string, at time.Duration) bool {
	owner, _, _ := strings.Cut(model, "/")
	switch {
	case r.left == 0,
		r.model != "" && r.model != "*" && r.model != model && r.model != owner+"/*",
		r.Profile != "" && r.Profile != profile,
		r.From != nil && at < time.Duration(*r.From),
		r.Until != nil && at >= time.Duration(*r.Until):
		return false
	}
	return true
}

// stagedVendors answer from the script. They outlive the daemon's processes, as
// vendors do.
type stagedVendors struct {
	start time.Time

	mu    sync.Mutex
	rules []*rule
}

// pick gives the first rule that matches and uses it up by one; nil: a plain
// success.
func (v *stagedVendors) pick(model string, c *provider.Call, now time.Time) *rule {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range v.rules {
		if !r.matches(model, c.Profile, now.Sub(v.start)) || r.tool != nil && r.left < 0 && r.tool.asked(c) {
			continue
		}
		if r.left > 0 {
			r.left--
		}
		return r
	}
	return nil
}

// line is the connection of one life of the daemon to the vendors: a
// provider.Caller on virtual time.
type line struct {
	life
	vendors *stagedVendors
	// asides gives what is to happen in the middle of this call of the session.
	asides func(session string) []func()
}

// plainReply is what a vendor says when the script does not say.
const plainReply = "ok"

// Call implements provider.Caller. The limits of an attempt are those of
// package provider, counted on the virtual clock [D23].
func (l line) Call(ctx context.Context, c provider.Call) (*provider.Reply, error) {
	// Turns that run side by side come here one after the other, in the order
	// in which the clock lets them.
	if err := l.queue(ctx, c.Session); err != nil {
		return nil, aborted(&c, err)
	}
	model := c.Endpoint.Provider + "/" + c.Model
	r := l.vendors.pick(model, &c, l.clock.Now())
	if r == nil {
		r = &rule{}
	}
	if err := l.wait(ctx, r, &c); err != nil {
		return nil, err
	}
	return r.answer(&c, l.clock.Now())
}

// wait is the time that the call takes, with what happens in the middle of it.
func (l line) wait(ctx context.Context, r *rule, c *provider.Call) error {
	limit, which := firstLimit(c.Limits)
	takes, timesOut := time.Duration(r.Latency), false
	if r.Hang || limit > 0 && takes >= limit {
		takes, timesOut = limit, true
	}
	asides := l.asides(c.Session)
	before := time.Duration(0)
	if len(asides) > 0 {
		before = takes / 2
		if err := l.sleepIf(ctx, before); err != nil {
			return aborted(c, err)
		}
		for _, do := range asides {
			if err := l.await(ctx, do); err != nil {
				return aborted(c, err)
			}
		}
	}
	var err error
	if r.Hang && limit == 0 {
		err = l.hang(ctx)
	} else {
		err = l.sleepIf(ctx, takes-before)
	}
	switch {
	case err != nil:
		return aborted(c, err)
	case timesOut:
		return cut(c, which, errors.New(string(which)), "")
	}
	return nil
}

func (l line) sleepIf(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return l.sleep(ctx, d)
}

// firstLimit is the limit that ends a call without an answer, 0 for none.
func firstLimit(l provider.Limits) (time.Duration, provider.Transport) {
	if l.Total > 0 && (l.FirstToken <= 0 || l.Total < l.FirstToken) {
		return l.Total, provider.AttemptTimeout
	}
	return l.FirstToken, provider.FirstTokenTimeout
}

// aborted is what package provider gives for a call that its caller ended.
func aborted(c *provider.Call, cause error) error {
	return fmt.Errorf("call %s/%s: %w", c.Endpoint.Provider, c.Model, cause)
}

// answer is the effect of the rule.
func (r *rule) answer(c *provider.Call, now time.Time) (*provider.Reply, error) {
	switch {
	case r.Error != nil:
		return nil, r.failure(c, r.Error, r.Error.Status, now)
	case r.StreamError != nil:
		return nil, r.failure(c, r.StreamError, http.StatusOK, now)
	case r.Network != "":
		t, cause := networkFailure(r.Network)
		return nil, cut(c, t, cause, cause.Error())
	case r.BreakAfter != nil:
		e := cut(c, provider.EOF, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF.Error())
		if c.OnText != nil && *r.BreakAfter != "" {
			c.OnText(*r.BreakAfter)
			e.Streamed = true
		}
		return nil, e
	case r.Empty:
		return &provider.Reply{Finish: "stop", Tokens: r.tokens()}, nil
	case r.tool != nil:
		return &provider.Reply{Calls: r.tool.calls(c), Finish: "tool_calls", Tokens: r.tokens()}, nil
	}
	text := plainReply
	if r.Reply != nil {
		text = *r.Reply
	}
	if c.OnText != nil && text != "" {
		c.OnText(text)
	}
	return &provider.Reply{Text: text, Finish: "stop", Tokens: r.tokens()}, nil
}

// tokens is what the vendor counts.
func (r *rule) tokens() provider.Tokens {
	switch k := r.Tokens; {
	case k != nil:
		return provider.Tokens{Input: k.Input, Output: k.Output, CacheRead: k.CacheRead, CacheWrite: k.CacheWrite}
	case r.Empty:
		return provider.Tokens{}
	}
	return provider.Tokens{Input: 1, Output: 1}
}

// failure is the evidence of an HTTP vendor's answer, read by package provider
// from the very bytes that the vendor would send.
func (r *rule) failure(c *provider.Call, k *errorKeys, status int, now time.Time) error {
	header := http.Header{"Content-Type": {"application/json"}, "Date": {now.UTC().Format(http.TimeFormat)}}
	for name, value := range k.Headers {
		header.Set(name, string(value))
	}
	body := r.body
	if !r.raw {
		body = providertest.Envelope(c.Endpoint, k.Status, k.Type, string(k.Code), k.Message)
	}
	e := provider.ErrorFrom(c.Endpoint.Provider, c.Model, status, header, []byte(body))
	if e.Status == 0 && r.StreamError != nil {
		e.Status = k.Status
	}
	return e
}

// cut is a failure below the vendor's words.
func cut(c *provider.Call, t provider.Transport, cause error, message string) *provider.Error {
	return &provider.Error{Provider: c.Endpoint.Provider, Model: c.Model, Transport: t, Message: message, Err: cause}
}

// networkFailure is what the network would report.
func networkFailure(kind string) (provider.Transport, error) {
	switch kind {
	case "refused":
		return provider.Refused, syscall.ECONNREFUSED
	case "dns":
		return provider.DNSFailed, errors.New("lookup: no such host")
	case "eof":
		return provider.EOF, io.EOF
	}
	return provider.Reset, syscall.ECONNRESET
}
