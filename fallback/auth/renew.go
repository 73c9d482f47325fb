package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"standin/fallback/provider"
)

// renew brings the login to a token that is good, by its own request or by
// another process's.
func (r *Refresher) renew(agent, profile string, refused provider.Key) (Token, error) {
	lease := r.lease()
	// A dead holder's claim has to end first, then there is one more to be had.
	ctx, cancel := context.WithTimeoutCause(context.Background(), 3*lease, errTooLong)
	defer cancel()
	for {
		s, c, err := r.read(ctx, agent, profile)
		if err != nil {
			return Token{}, err
		}
		if r.good(c, refused) {
			return c.token(), nil
		}
		now := r.Now()
		want := Claim{Holder: rand.Text(), Until: now.Add(lease), Spent: Fingerprint(c.Refresh)}
		held, ok, err := r.Store.Claim(ctx, s, want, now)
		switch {
		case err != nil && r.valid(c, refused):
			r.Log.Error("login not renewed: the claim could not be written; its token is still good", "profile", profile, "err", err)
			return c.token(), nil
		case err != nil:
			return Token{}, fmt.Errorf("claim login %s: %w", profile, err)
		case ok:
			token, again, err := r.request(ctx, s, c, want, agent, refused)
			if !again {
				return token, err
			}
		case r.valid(c, refused):
			return c.token(), nil // somebody is at it, or it failed a moment ago
		case held.After.After(now):
			return Token{}, held.failure(c.Provider)
		default:
			if err := wait(ctx, poll); err != nil {
				return Token{}, provider.TransportError(c.Provider, err)
			}
		}
	}
}

// errTooLong says that other processes held a login's claim for too long.
var errTooLong = errors.New("another process has been renewing this login for too long")

// request sends the refresh token under our claim and stores the answer. again
// says that the stored login has changed meanwhile: look at it anew.
func (r *Refresher) request(ctx context.Context, s Stored, c Credential, mine Claim, agent string, refused provider.Key) (t Token, again bool, err error) {
	// What we read may be older than our claim: its last holder may have finished
	// in between, and a refresh token is sent once.
	if r.changed(ctx, s, agent) {
		return Token{}, true, r.Store.Unclaim(ctx, s, mine.Holder, Claim{})
	}
	vendor, _ := r.Vendor(c.Provider)
	asking, cancel := context.WithTimeoutCause(ctx, r.lease()*3/4, errNoAnswer)
	defer cancel()
	got, err := vendor.exchange(asking, r.Transport, "OAuth token refresh failed", func(ctx context.Context) (*oauth2.Token, error) {
		return vendor.config("").TokenSource(ctx, &oauth2.Token{RefreshToken: c.Refresh.Reveal()}).Token()
	})
	if err == nil {
		return r.keep(ctx, s, c.granted(got, r.Now()), mine, agent)
	}
	// Before a failure counts, the store is asked again: a claim that outlived its
	// lease may have brought what we were refused for [IL-176]. One that brings it
	// later still ends the window that we cause (fallback.Usage.Renewed).
	if r.changed(ctx, s, agent) {
		return Token{}, true, r.Store.Unclaim(ctx, s, mine.Holder, Claim{})
	}
	valid, now := r.valid(c, refused), r.Now()
	after := Claim{Spent: mine.Spent, After: now.Add(restOver)}
	if valid && c.Expires.IsZero() {
		after.After = now.Add(restValid)
	} else if valid {
		after.After = earlier(now.Add(restValid), c.Expires)
	}
	var e *provider.Error
	if errors.As(err, &e) {
		after.Code, after.Said = e.Code, e.Message
		if e.Transport == provider.NoTransport && e.Code == "" {
			after.Code = "refused"
		}
	}
	if err := r.Store.Unclaim(ctx, s, mine.Holder, after); err != nil {
		r.Log.Error("claim of a login not given back; it ends by itself", "profile", s.Profile, "err", err)
	}
	if valid {
		r.Log.Warn("login not renewed; its token is still good", "profile", s.Profile, "until", c.Expires, "lost", Refused(err), "err", err)
		return c.token(), false, nil
	}
	return Token{}, false, err
}

// keep stores a renewed login before anybody uses it.
func (r *Refresher) keep(ctx context.Context, s Stored, c Credential, mine Claim, agent string) (Token, bool, error) {
	for try := 1; ; try++ {
		done, err := r.Store.Swap(ctx, s, s.Secret, c.Secret())
		switch {
		case err == nil && !done:
			// Somebody logged in anew: theirs is the login now.
			r.Log.Info("a renewed login was not stored, since a newer one is there", "profile", s.Profile)
			_ = r.Store.Unclaim(ctx, s, mine.Holder, Claim{})
			return Token{}, true, nil
		case err == nil:
			if err := r.Store.Unclaim(ctx, s, mine.Holder, Claim{}); err != nil {
				r.Log.Error("claim of a login not given back; it ends by itself", "profile", s.Profile, "err", err)
			}
			r.Log.Info("login renewed", "profile", s.Profile, "until", c.Expires)
			return c.token(), false, nil
		case try == storeTries || wait(ctx, time.Duration(try)*500*time.Millisecond) != nil:
			// The vendor has taken the old refresh token back, and the new one is here
			// alone: it is kept, offered to the store again, and said loudly.
			r.mu.Lock()
			if r.unsaved == nil {
				r.unsaved = map[string]unsaved{}
			}
			r.unsaved[s.Owner+"\x00"+s.Profile] = unsaved{s.Secret, c}
			r.mu.Unlock()
			r.Log.Error("a renewed login could not be stored and is kept in memory: mend the store before this process ends, or log in again",
				"profile", s.Profile, "until", c.Expires, "err", err)
			return c.token(), false, nil
		}
	}
}

// storeTries is how often a renewed login is offered to the store.
const storeTries = 4

// changed tells whether the stored login is another than the one that was read.
func (r *Refresher) changed(ctx context.Context, s Stored, agent string) bool {
	now, found, err := r.Store.Login(ctx, agent, s.Profile)
	return err == nil && (!found || now.Owner != s.Owner || now.Secret.Reveal() != s.Secret.Reveal())
}

// failure is what the last try of another turn or process met, told again.
func (c Claim) failure(providerID string) error {
	e := &provider.Error{Provider: providerID, Message: c.Said, Code: c.Code, Err: errAuthorization}
	if c.Code == "" {
		e.Transport = provider.OtherTransport
	} else {
		e.Status = http.StatusUnauthorized
	}
	return e
}

// lease is how long a claim holds.
func (r *Refresher) lease() time.Duration {
	if r.Lease > 0 {
		return r.Lease
	}
	return 20 * time.Second
}

// Fingerprint names a token in a claim without giving it away: 64 bits of its
// hash. "" for none.
func Fingerprint(token provider.Key) string {
	if token.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte(token.Reveal()))
	return hex.EncodeToString(sum[:8])
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// wait lets time pass, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
