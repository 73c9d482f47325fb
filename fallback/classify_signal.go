package fallback

import (
	"errors"

	"standin/fallback/provider"
)

// SignalOf takes the evidence out of a failed call: a *provider.Error anywhere
// in the chain of err gives its fields, a deadline that it or err carries is a
// limit of ours that ran out, and any other error gives its text. The zero
// Signal for nil. A caller's own abort is for the caller to tell apart [I13].
func SignalOf(err error) Signal {
	if err == nil {
		return Signal{}
	}
	var e *provider.Error
	if !errors.As(err, &e) {
		return Signal{Message: err.Error(), Transport: expired(err)}
	}
	s := Signal{
		Provider: e.Provider, Model: e.Model, Status: e.Status, Code: e.Code, Type: e.Type,
		Message: e.Message, Body: e.Body, Transport: e.Transport,
	}
	if e.Err == nil || s.Status != 0 {
		return s
	}
	if s.Transport == provider.NoTransport {
		s.Transport = expired(e.Err)
	}
	if s.Message == "" && s.Body == "" {
		s.Message = e.Err.Error()
	}
	return s
}

// expired is AttemptTimeout for an error that says it is a timeout, as
// context.DeadlineExceeded and those of package net do.
func expired(err error) provider.Transport {
	var t interface{ Timeout() bool }
	if errors.As(err, &t) && t.Timeout() {
		return provider.AttemptTimeout
	}
	return provider.NoTransport
}
