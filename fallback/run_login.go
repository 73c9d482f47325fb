package fallback

import (
	"context"
	"errors"
	"net/http"
	"time"

	"standin/fallback/auth"
	"standin/fallback/provider"
)

// Logins keeps OAuth logins usable [10.8].
type Logins interface {
	// Token gives an access token of the agent's login that is good for a call
	// now. refused is the access token that the vendor has just answered with 401,
	// zero for none: it is not given again. An error is a *provider.Error where it
	// says something of the login or of the vendor's authorization server.
	Token(ctx context.Context, agent, profile string, refused provider.Key) (auth.Token, error)
}

// send makes the request. A login's token is renewed before it if it is about to
// end, and once more if the vendor does not accept it: only what it then says
// counts against the login [10.8, IL-176].
func (w *walk) send(ctx context.Context, c candidate, v Verdict, p Profile, call provider.Call) (*provider.Reply, error) {
	if p.Type != OAuth {
		return w.Vendors.Call(ctx, call)
	}
	call.Auth = provider.Login
	if w.Logins == nil {
		return w.Vendors.Call(ctx, call)
	}
	if err := w.freshen(ctx, c, p, &call, provider.Key{}); err != nil {
		return nil, err
	}
	started := w.Now()
	reply, err := w.Vendors.Call(ctx, call)
	if !p.Refresh || !unauthorized(err) || ctx.Err() != nil {
		return reply, err
	}
	first := w.attempt(c, v, p)
	first.At, first.Took = started, w.Now().Sub(started)
	first.fail(meaning(err), err)
	first.Priced = true
	w.step(ctx, Step{What: StepAttempt, Attempt: &first})
	if err := w.freshen(ctx, c, p, &call, call.Key); err != nil {
		return nil, err
	}
	return w.Vendors.Call(ctx, call)
}

// freshen gives the call a token that is good now, within the attempt's time.
func (w *walk) freshen(ctx context.Context, c candidate, p Profile, call *provider.Call, refused provider.Key) error {
	asking := ctx
	if t := call.Limits.Total; t > 0 {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeoutCause(ctx, t, errSlowLogin)
		defer cancel()
	}
	token, err := w.Logins.Token(asking, string(w.ask.Agent), call.Profile, refused)
	call.Limits = w.limits(c, w.Now())
	var told *provider.Error
	switch {
	case err == nil:
		call.Key, call.Account = token.Access, token.Account
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &told):
		told.Model = c.model.Name
		return err
	case errors.Is(err, errSlowLogin):
		return &provider.Error{Provider: c.model.Provider, Model: c.model.Name, Transport: provider.AttemptTimeout, Message: err.Error(), Err: err}
	case refused.Empty() && w.Now().Before(p.Expires):
		// Trouble of our own store does not cost a token that is still good.
		w.Log.Error("login not looked at; its token is still good", "profile", p.ID, "err", err)
		return nil
	}
	return &provider.Error{Provider: c.model.Provider, Model: c.model.Name, Transport: provider.OtherTransport, Message: err.Error(), Err: err}
}

// errSlowLogin says that a login's renewal took all of the attempt's time.
var errSlowLogin = errors.New("the login could not be renewed in time")

// authOf is the type of the credential that keeps a candidate from being asked:
// what mends a login is not what mends a key (4.4).
func (c candidate) authOf(id ProfileID, now time.Time) CredentialType {
	for _, p := range c.order {
		u := c.usage[p.ID]
		window, blocked := u.Blocking(c.model.Name, now)
		if p.ID == id || id == "" && blocked && (window.Reason == AuthFailed || window.Reason == AuthPermanent) {
			return p.Type
		}
	}
	return ""
}

// unauthorized tells whether the vendor did not accept the token itself, before
// any answer.
func unauthorized(err error) bool {
	var e *provider.Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized && !e.Streamed
}
