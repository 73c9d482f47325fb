package auth_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
	"standin/store"
)

const profile = "openai:ada@example.com"

// desk is a refresher over a real store and an authorization server.
type desk struct {
	*auth.Refresher
	credentials *store.Credentials
	server      *authtest.Server
	log         strings.Builder
}

// newDesk stores a login whose access token ends after left and was good for
// life; life 0: nobody knows when it came.
func newDesk(t *testing.T, left, life time.Duration) *desk {
	t.Helper()
	s := authtest.New()
	d := &desk{credentials: store.OpenCredentials(store.Options{Dir: t.TempDir()}), server: s}
	t.Cleanup(func() { _ = d.credentials.Close() })
	d.Refresher = refresher(d.credentials, s.Vendor("openai"), s, slog.New(slog.NewTextHandler(&d.log, nil)))
	d.put(t, left, life)
	return d
}

func refresher(c *store.Credentials, v auth.Vendor, transport http.RoundTripper, log *slog.Logger) *auth.Refresher {
	return &auth.Refresher{
		Store: c, Transport: transport, Log: log, Now: time.Now,
		Vendor: func(id string) (auth.Vendor, bool) { return v, id == "openai" },
	}
}

// put logs in anew.
func (d *desk) put(t *testing.T, left, life time.Duration) {
	t.Helper()
	put(t, d.credentials, d.server, left, life)
}

func put(t *testing.T, c *store.Credentials, s *authtest.Server, left, life time.Duration) {
	t.Helper()
	access, refresh := s.Issue()
	login := auth.Credential{Provider: "openai", Email: "ada@example.com", AccountID: "acct-7",
		Access: provider.NewKey(access), Refresh: provider.NewKey(refresh), Expires: time.Now().Add(left)}
	if life > 0 {
		login.Obtained = login.Expires.Add(-life)
	}
	one, err := store.FromLogin(login)
	if err == nil {
		err = c.PutCredential(t.Context(), "main", one)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stored is the login as it lies in the store.
func (d *desk) stored(t *testing.T) auth.Credential {
	t.Helper()
	s, found, err := d.credentials.Login(t.Context(), "main", profile)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	c, err := auth.Parse(s.Provider, s.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (d *desk) token(t *testing.T) (auth.Token, error) {
	t.Helper()
	return d.Token(t.Context(), "main", profile, provider.Key{})
}

// bubble runs a test on a fake clock, and lets servers that hang come to an end.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t); time.Sleep(2 * time.Hour) })
	})
}

// "OAuth tokens are refreshed 5 minutes before expiry, at least 5 s ahead"
// (10.8); a token that lives minutes is not renewed at each call.
func TestALoginIsRenewedAheadOfItsEnd(t *testing.T) {
	for _, tt := range []struct {
		name       string
		left, life time.Duration
		renewed    bool
	}{
		{"four minutes are left [IL-200]", 4 * time.Minute, 0, true},
		{"five minutes less a little", 5*time.Minute - time.Second, time.Hour, true},
		{"six minutes are left", 6 * time.Minute, time.Hour, false},
		{"it has ended", -time.Hour, 0, true},
		{"of ten minutes three are left", 3 * time.Minute, 10 * time.Minute, false},
		{"of ten minutes one is left", time.Minute, 10 * time.Minute, true},
		{"of ten seconds six are left", 6 * time.Second, 10 * time.Second, false},
		{"of ten seconds four are left", 4 * time.Second, 10 * time.Second, true},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			d := newDesk(t, tt.left, tt.life)
			before := d.stored(t)
			got, err := d.token(t)
			if err != nil || got.Account != "acct-7" {
				t.Fatal(got, err)
			}
			after := d.stored(t)
			if got.Access.Reveal() != after.Access.Reveal() {
				t.Error("the token that is used is not the one that is stored")
			}
			if renewed := d.server.Refreshes() == 1; renewed != tt.renewed || renewed != (after.Refresh.Reveal() != before.Refresh.Reveal()) {
				t.Errorf("renewed: %v", renewed)
			}
		})
	}
}

// A login that cannot be renewed, or whose vendor is unknown here, is used as it
// is: the vendor judges it.
func TestALoginThatCannotBeRenewedIsUsedAsItIs(t *testing.T) {
	bubble(t, "no refresh token", func(t *testing.T) {
		d := newDesk(t, time.Minute, 0)
		one := store.Credential{ID: profile, Type: fallback.OAuth, Secret: provider.NewKey(`{"access":"a","expires":1}`)}
		if err := d.credentials.PutCredential(t.Context(), "main", one); err != nil {
			t.Fatal(err)
		}
		if got, err := d.token(t); err != nil || got.Access.Reveal() != "a" || len(d.server.Requests()) != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
	bubble(t, "no vendor", func(t *testing.T) {
		d := newDesk(t, -time.Minute, 0)
		d.Vendor = func(string) (auth.Vendor, bool) { return auth.Vendor{}, false }
		if _, err := d.token(t); err != nil || len(d.server.Requests()) != 0 {
			t.Errorf("%v", err)
		}
	})
}

// "Single flight per profile": eight sessions in three agents share the login,
// and the server refuses a refresh token that comes twice [IL-234].
func TestManyTurnsRenewOnce(t *testing.T) {
	bubble(t, "200 turns of three agents", func(t *testing.T) {
		d := newDesk(t, -time.Second, 0)
		d.server.Acted = func() { time.Sleep(300 * time.Millisecond) }
		var turns sync.WaitGroup
		for i := range 200 {
			turns.Go(func() {
				agent := []string{"main", "second", "third"}[i%3]
				if got, err := d.Token(t.Context(), agent, profile, provider.Key{}); err != nil || !d.server.Valid(got.Access.Reveal()) {
					t.Errorf("%v", err)
				}
			})
		}
		turns.Wait()
		if n := len(d.server.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// A turn that is stopped does not cut off the renewal, whose answer is the only
// copy of the next refresh token.
func TestAStoppedTurnDoesNotLoseTheAnswer(t *testing.T) {
	bubble(t, "stopped in the middle", func(t *testing.T) {
		d := newDesk(t, -time.Second, 0)
		d.server.Acted = func() { time.Sleep(3 * time.Second) }
		gone := errors.New("/stop")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(gone) })
		if _, err := d.Token(ctx, "main", profile, provider.Key{}); !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
		d.Close()
		if got := d.stored(t); !got.Expires.After(time.Now()) || !d.server.Valid(got.Access.Reveal()) {
			t.Error("the answer was not stored")
		}
	})
}

// Who logs in anew while the old login is renewed keeps the new one.
func TestANewLoginIsNotOverwritten(t *testing.T) {
	bubble(t, "a login during a renewal", func(t *testing.T) {
		d := newDesk(t, -time.Minute, 0)
		var theirs auth.Credential
		d.server.Acted = func() { d.put(t, time.Hour, 0); theirs = d.stored(t) }
		got, err := d.token(t)
		if err != nil || got.Access.Reveal() != theirs.Access.Reveal() || d.stored(t).Refresh.Reveal() != theirs.Refresh.Reveal() {
			t.Errorf("%v", err)
		}
	})
}

// What older programs stored beside a login, and we do not know, is kept.
func TestUnknownFieldsOutliveARenewal(t *testing.T) {
	bubble(t, "projectId", func(t *testing.T) {
		d := newDesk(t, time.Hour, 0)
		_, refresh := d.server.Issue()
		one := store.Credential{ID: profile, Type: fallback.OAuth, Secret: provider.NewKey(
			`{"access":"old","refresh":"` + refresh + `","expires":1,"projectId":"p1","enterpriseUrl":"https://e.test","managed":{"by":["x"]}}`)}
		if err := d.credentials.PutCredential(t.Context(), "main", one); err != nil {
			t.Fatal(err)
		}
		if _, err := d.token(t); err != nil {
			t.Fatal(err)
		}
		s, _, _ := d.credentials.Login(t.Context(), "main", profile)
		for _, kept := range []string{`"projectId":"p1"`, `"enterpriseUrl":"https://e.test"`, `"managed":{"by":["x"]}`} {
			if !strings.Contains(s.Secret.Reveal(), kept) {
				t.Errorf("%s is gone", kept)
			}
		}
	})
}

// full is a store that cannot take a renewed login.
type full struct {
	auth.Store
	fails *int
}

func (f full) Swap(ctx context.Context, s auth.Stored, was, now provider.Key) (bool, error) {
	if *f.fails > 0 {
		*f.fails--
		return false, syscall.ENOSPC
	}
	return f.Store.Swap(ctx, s, was, now)
}

// "Rotated refresh token stored before use": a disk that is full for a while
// costs no login while the process lives.
func TestARenewedLoginThatCannotBeStoredIsKept(t *testing.T) {
	for name, fails := range map[string]int{"for two tries": 2, "for longer": 6} {
		bubble(t, name, func(t *testing.T) {
			d := newDesk(t, -time.Minute, 0)
			d.Store = full{d.credentials, &fails}
			for range 4 {
				got, err := d.token(t)
				if err != nil || !d.server.Valid(got.Access.Reveal()) {
					t.Fatalf("%v", err)
				}
			}
			if n := len(d.server.Requests()); n != 1 || !d.server.Valid(d.stored(t).Access.Reveal()) || !d.stored(t).Expires.After(time.Now()) {
				t.Errorf("%d requests; the store holds a token until %s", n, d.stored(t).Expires)
			}
		})
	}
}

// A dead process's claim ends by itself; until then a token that is still good
// is used, and one that has ended is waited for.
func TestADeadHoldersClaimEnds(t *testing.T) {
	for name, left := range map[string]time.Duration{"the token is good": time.Minute, "the token has ended": -time.Minute} {
		bubble(t, name, func(t *testing.T) {
			d := newDesk(t, left, 0)
			s, _, _ := d.credentials.Login(t.Context(), "main", profile)
			dead := auth.Claim{Holder: "dead", Until: time.Now().Add(20 * time.Second), Spent: auth.Fingerprint(d.stored(t).Refresh)}
			if _, ok, err := d.credentials.Claim(t.Context(), s, dead, time.Now()); !ok || err != nil {
				t.Fatal(ok, err)
			}
			began := time.Now()
			if _, err := d.token(t); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if left > 0 && (took != 0 || d.server.Refreshes() != 0) || left < 0 && (took < 20*time.Second || took > 21*time.Second || d.server.Refreshes() != 1) {
				t.Errorf("waited %s, %d refreshes", took, d.server.Refreshes())
			}
		})
	}
}

// A claim on an older login says nothing of a newer one: who logs in again has
// not to wait for what befell the last.
func TestAClaimIsAboutOneRefreshToken(t *testing.T) {
	bubble(t, "logged in anew", func(t *testing.T) {
		d := newDesk(t, -time.Minute, 0)
		d.server.Refuse = "invalid_grant"
		if _, err := d.token(t); !auth.Refused(err) {
			t.Fatalf("%v", err)
		}
		d.server.Refuse = ""
		d.put(t, -time.Second, 0)
		if _, err := d.token(t); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// late is a store in which another process finishes between our look and our
// claim.
type late struct {
	auth.Store
	finish func()
}

func (l *late) Claim(ctx context.Context, s auth.Stored, want auth.Claim, now time.Time) (auth.Claim, bool, error) {
	if l.finish != nil {
		l.finish()
		l.finish = nil
	}
	return l.Store.Claim(ctx, s, want, now)
}

// A claim that is ours says nothing of what was read before it: a refresh token
// that another process has used meanwhile is not sent again.
func TestALoginIsReadAgainUnderTheClaim(t *testing.T) {
	bubble(t, "another process was quicker", func(t *testing.T) {
		d := newDesk(t, -time.Minute, 0)
		d.Store = &late{d.credentials, func() { d.put(t, time.Hour, 0) }}
		got, err := d.token(t)
		if err != nil || !d.server.Valid(got.Access.Reveal()) || len(d.server.Requests()) != 0 {
			t.Errorf("%v, %v", d.server.Requests(), err)
		}
	})
}
