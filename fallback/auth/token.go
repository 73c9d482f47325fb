package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/oauth2"

	"standin/fallback/provider"
)

// exchange runs one request of the library against the vendor's token endpoint
// and tells its failure as evidence, without secrets.
func (v Vendor) exchange(ctx context.Context, base http.RoundTripper, what string, do func(context.Context) (*oauth2.Token, error)) (*oauth2.Token, error) {
	client := v.client(base)
	token, err := do(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err == nil {
		return token, nil
	}
	if cause := context.Cause(ctx); ctx.Err() != nil && !errors.Is(cause, errNoAnswer) {
		return nil, cause
	}
	return nil, v.evidence(what, err)
}

// granted adds what the endpoint answered to a login. What it left out stays:
// not every vendor rotates refresh tokens or repeats the id token.
func (c Credential) granted(t *oauth2.Token, now time.Time) Credential {
	c.Access, c.Obtained, c.Expires = provider.NewKey(t.AccessToken), now, time.Time{}
	switch in := lifetime(t); {
	case in > 0: // by our own clock: the library uses the machine's
		c.Expires = now.Add(in)
	default:
		if exp := read(c.Access).Expires; exp > 0 {
			c.Expires = time.Unix(exp, 0).UTC()
		}
	}
	if t.RefreshToken != "" {
		c.Refresh = provider.NewKey(t.RefreshToken)
	}
	if id, ok := t.Extra("id_token").(string); ok && id != "" {
		c.IDToken = provider.NewKey(id)
	}
	for _, token := range []provider.Key{c.Access, c.IDToken} {
		email, account, plan := accountOf(token)
		for _, f := range []struct {
			to   *string
			from string
		}{{&c.Email, email}, {&c.AccountID, account}, {&c.Plan, plan}} {
			if f.from != "" {
				*f.to = f.from
			}
		}
	}
	return c
}

// lifetime reads expires_in, which some vendors write as text.
func lifetime(t *oauth2.Token) time.Duration {
	var n float64
	switch v := t.Extra("expires_in").(type) {
	case float64:
		n = v
	case int64:
		n = float64(v)
	case string:
		n, _ = strconv.ParseFloat(v, 64)
	}
	const most = 366 * 24 * time.Hour
	return time.Duration(min(n, most.Seconds()) * float64(time.Second))
}

// refusals are the codes of an answer that says: this login is over. All but the
// first are OpenAI's own words.
var refusals = []string{
	"invalid_grant", "refresh_token_reused", "refresh_token_expired", "refresh_token_invalidated", "refresh_token_revoked",
	"access_denied", "expired_token",
}

// evidence tells a failed request as package fallback reads it: a refusal has a
// status and its code, trouble has a transport cause and no status, so that it
// never counts against the credential [D13a].
func (v Vendor) evidence(what string, err error) *provider.Error {
	var said *oauth2.RetrieveError
	if !errors.As(err, &said) {
		e := provider.TransportError(v.Provider, err)
		e.Message = what + ": no usable answer from the authorization server: " + e.Message
		return e
	}
	status := said.Response.StatusCode
	seen := provider.ErrorFrom(v.Provider, "", status, said.Response.Header, said.Body)
	code, detail := seen.Code, seen.Message
	if code == "" {
		code = provider.Redact(said.ErrorCode)
	}
	if code != "" && code != detail {
		detail = code + ": " + detail
	}
	// Neither headers nor body go on: a body may repeat tokens.
	e := &provider.Error{Provider: v.Provider, Err: errAuthorization}
	if status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500 || status/100 == 3 {
		e.Message = fmt.Sprintf("%s: the authorization server answered HTTP %d: %s", what, status, detail)
		e.Transport = provider.OtherTransport
		return e
	}
	e.Message, e.Code, e.Status = what+": "+detail, code, status
	if e.Status != http.StatusForbidden {
		e.Status = http.StatusUnauthorized // what a 400 here means; a format error it is not
	}
	return e
}

// errAuthorization is the cause of each failure that an authorization server
// told.
var errAuthorization = errors.New("the authorization server refused")

// Refused tells whether an error of this package says that the vendor refused
// the login itself, so that only a new login helps.
func Refused(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Transport == provider.NoTransport && slices.Contains(refusals, e.Code)
}
