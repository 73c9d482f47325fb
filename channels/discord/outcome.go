package discord

import (
	"errors"
	"net/http"
	"time"

	"standin/channels"
)

// Discord's error codes that something is done about.
const (
	codeUnknownChannel = 10003
	codeUnknownMessage = 10008
	codeUnknownAction  = 10062 // the interaction is gone
	codeUnknownHook    = 10015
	codeAcknowledged   = 40060
	codeTooLarge       = 40005
	codeNoPermission   = 50013
	codeNotText        = 50008 // cannot say anything in a forum itself
	codeNoHistory      = 160002
	codeThreadExists   = 160004
	codeArchived       = 50083
	codeInvalidForm    = 50035
)

// refused makes a SendError for what will never be accepted.
func refused(why string) error {
	return &channels.SendError{Outcome: channels.Refused, Err: errors.New(why)}
}

// sendError says how sure we are of a failed call [I2]. A request that met a
// limit, or never left, was not carried out. A server's error or a broken line
// says nothing about the post. What else Discord answers, it will answer again;
// but a page instead of JSON is from its edge, and a refused token is a person's
// to mend: neither is about the message.
func sendError(err error) error {
	var ce *callError
	if !errors.As(err, &ce) {
		return &channels.SendError{Outcome: channels.NotSent, Err: err}
	}
	o, after := channels.NotSent, ce.RetryAfter
	switch {
	case ce.Status == http.StatusTooManyRequests:
	case ce.Status == 0 && !ce.Reached:
	case ce.Status == 0, ce.Status/100 == 2, ce.Status/100 == 5, ce.Status == http.StatusRequestTimeout:
		o = channels.Unknown
	case ce.Status == http.StatusUnauthorized, ce.Code == 0:
		after = time.Minute
	default:
		o = channels.Refused
	}
	return &channels.SendError{Outcome: o, RetryAfter: after, Err: ce}
}
