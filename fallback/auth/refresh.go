package auth

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"standin/fallback/provider"
)

// Stored is a login as it lies in the store.
type Stored struct {
	Owner    string // the agent whose row it is; others read it through
	Profile  string // profile id
	Provider string // normalised
	Secret   provider.Key
}

// Claim is the right of one process to renew a login, and what is known of the
// last try. The zero Claim: nobody tries, and nobody failed.
type Claim struct {
	Holder string    // who renews; "": nobody
	Until  time.Time // end of the right; a dead holder's ends by itself
	Spent  string    // Fingerprint of the refresh token that is being sent, or was
	// After a try that failed: not to be tried again before After, and why. Code
	// is the vendor's when it refused, "" when it could not be reached.
	After time.Time
	Code  string
	Said  string
}

// Store keeps logins. Its owner is package store, one row per profile beside the
// credential, so that processes that share the file share the claims.
type Store interface {
	// Login gives the login that the agent uses under the profile; found is false
	// when there is none, or none that is an OAuth login.
	Login(ctx context.Context, agent, profile string) (s Stored, found bool, err error)
	// Claim writes want unless another claim on the same refresh token (Spent)
	// stands at now: one that has not ended, or one whose After is to come. It
	// gives the claim that holds then and whether that is want.
	Claim(ctx context.Context, s Stored, want Claim, now time.Time) (held Claim, ok bool, err error)
	// Unclaim replaces the holder's own claim by what is known after it, the zero
	// Claim for nothing; another holder's stays.
	Unclaim(ctx context.Context, s Stored, holder string, after Claim) error
	// Swap stores the login's new secret if the stored one is still was. It is on
	// the disk when it returns.
	Swap(ctx context.Context, s Stored, was, now provider.Key) (bool, error)
}

// Token is what a call needs of a login.
type Token struct {
	Access  provider.Key
	Expires time.Time // zero: unknown
	Account string    // the vendor's account id, "" when it gave none
}

// Refresher renews logins ahead of their end, once per login however many turns
// and processes ask at the same time. Its fields are set once; it is safe for
// use by many turns.
type Refresher struct {
	Store     Store
	Vendor    func(provider string) (Vendor, bool) // false: the provider's logins cannot be renewed
	Transport http.RoundTripper                    // nil: the usual one
	Log       *slog.Logger
	Now       func() time.Time
	// Lease is how long a claim holds; 0: 20 s. A request to the vendor gets three
	// quarters of it, so that its answer comes while the claim still stands.
	Lease time.Duration

	mu      sync.Mutex
	flights map[string]*flight
	unsaved map[string]unsaved
	running sync.WaitGroup
}

// flight is one renewal of this process, which several turns wait for.
type flight struct {
	done  chan struct{}
	token Token
	err   error
}

// unsaved is a renewed login that the store could not take: the only copy of its
// refresh token, offered again at each look.
type unsaved struct {
	was provider.Key // the stored form that it replaces
	now Credential
}

// The times of 10.8: a login is renewed five minutes before its access token
// ends; of a short-lived token, in its last fifth and at least five seconds
// ahead. A renewal that failed is tried again a minute later, sooner when
// nothing else is left.
const (
	margin      = 5 * time.Minute
	leastMargin = 5 * time.Second
	restValid   = time.Minute
	restOver    = 5 * time.Second
	jitter      = 20 * time.Second
)

// patience is how long a call waits for a renewal while it has a token that is
// still good.
const patience = 5 * time.Second

// poll is how often a process looks whether another one has finished.
const poll = 50 * time.Millisecond

// Token gives an access token of the login that is good for a call now, renewed
// first if it is about to end. refused is the access token that the vendor has
// just answered with 401, zero for none: it is not given again. The error is a
// *provider.Error (see Refused) or that of the store; a login that cannot be
// renewed is given as it is.
func (r *Refresher) Token(ctx context.Context, agent, profile string, refused provider.Key) (Token, error) {
	s, c, err := r.read(ctx, agent, profile)
	if err != nil {
		return Token{}, err
	}
	if r.good(c, refused) {
		return c.token(), nil
	}
	f := r.join(s, agent, refused)
	var enough <-chan time.Time
	if r.valid(c, refused) {
		t := time.NewTimer(patience)
		defer t.Stop()
		enough = t.C
	}
	select {
	case <-f.done:
		return f.token, f.err
	case <-enough:
		return c.token(), nil
	case <-ctx.Done():
		return Token{}, context.Cause(ctx)
	}
}

// Close waits for the renewals that run: their answers are to be stored. New
// ones must not begin.
func (r *Refresher) Close() { r.running.Wait() }

// read gives the login as stored.
func (r *Refresher) read(ctx context.Context, agent, profile string) (Stored, Credential, error) {
	s, found, err := r.Store.Login(ctx, agent, profile)
	if err != nil {
		return s, Credential{}, fmt.Errorf("read login %s: %w", profile, err)
	}
	if !found {
		return s, Credential{}, &provider.Error{Status: http.StatusUnauthorized, Message: "no credentials found for " + profile}
	}
	c, err := Parse(s.Provider, s.Secret)
	if err != nil {
		return s, c, &provider.Error{Provider: s.Provider, Status: http.StatusUnauthorized, Message: "invalid credentials: " + err.Error()}
	}
	return s, r.rescued(ctx, s, c), nil
}

// rescued gives the renewed login that the store could not take, while the
// stored one is still that which it replaces, and offers it to the store again.
func (r *Refresher) rescued(ctx context.Context, s Stored, c Credential) Credential {
	key := s.Owner + "\x00" + s.Profile
	r.mu.Lock()
	mine, ok := r.unsaved[key]
	r.mu.Unlock()
	if !ok {
		return c
	}
	known := mine.was.Reveal() == s.Secret.Reveal()
	if known {
		c = mine.now
		if _, err := r.Store.Swap(ctx, s, mine.was, mine.now.Secret()); err != nil {
			return c
		}
	}
	r.mu.Lock()
	delete(r.unsaved, key)
	r.mu.Unlock()
	return c
}

func (c Credential) token() Token { return Token{c.Access, c.Expires, c.AccountID} }

// valid tells whether the access token can be used now.
func (r *Refresher) valid(c Credential, refused provider.Key) bool {
	return !c.Access.Empty() && c.Access.Reveal() != refused.Reveal() && (c.Expires.IsZero() || r.Now().Before(c.Expires))
}

// good tells whether a login needs no renewal: its token is valid for a while,
// or there is nothing to renew it with.
func (r *Refresher) good(c Credential, refused provider.Key) bool {
	if c.Refresh.Empty() {
		return true
	}
	if _, ok := r.Vendor(c.Provider); !ok {
		return true
	}
	return r.valid(c, refused) && (c.Expires.IsZero() || r.Now().Before(c.Expires.Add(-ahead(c))))
}

// ahead is how long before its end a token is renewed. Logins differ by up to
// twenty seconds, so that those made together are not renewed together [IL-200].
func ahead(c Credential) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.ID()))
	d := margin + time.Duration(h.Sum32())%jitter
	if life := c.Expires.Sub(c.Obtained); !c.Obtained.IsZero() && life > 0 {
		d = min(d, life/5)
	}
	return max(d, leastMargin)
}

// join gives the running renewal of a login, or starts one. It runs on its own:
// a turn that is stopped must not cut off the request, whose answer is the only
// copy of the next refresh token.
func (r *Refresher) join(s Stored, agent string, refused provider.Key) *flight {
	key := s.Owner + "\x00" + s.Profile + "\x00" + Fingerprint(refused)
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.flights[key]; ok {
		return f
	}
	if r.flights == nil {
		r.flights = map[string]*flight{}
	}
	f := &flight{done: make(chan struct{})}
	r.flights[key] = f
	r.running.Go(func() {
		f.token, f.err = r.renew(agent, s.Profile, refused)
		r.mu.Lock()
		delete(r.flights, key)
		r.mu.Unlock()
		close(f.done)
	})
	return f
}
