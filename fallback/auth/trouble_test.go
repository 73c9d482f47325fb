package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
)

// What a renewal that fails means for the call that waits for it.

// "An access token still valid is used while a refresh is in trouble", and the
// server is left alone for a minute (10.8).
func TestAValidTokenOutlivesTrouble(t *testing.T) {
	for name, trouble := range map[string]func(*authtest.Server){
		"the server answers 503":   func(s *authtest.Server) { s.Fail = 503 },
		"the server answers 429":   func(s *authtest.Server) { s.Fail = 429 },
		"the server cannot be met": func(s *authtest.Server) { s.Down = syscall.ECONNREFUSED },
		"the server hangs":         func(s *authtest.Server) { s.Arrived = func() { time.Sleep(time.Hour) } },
		"the server refuses":       func(s *authtest.Server) { s.Refuse = "invalid_grant" },
	} {
		bubble(t, name, func(t *testing.T) {
			d := newDesk(t, 4*time.Minute, 0)
			trouble(d.server)
			before := d.stored(t)
			began := time.Now()
			for range 10 {
				got, err := d.token(t)
				if err != nil || got.Access.Reveal() != before.Access.Reveal() {
					t.Fatalf("%v", err)
				}
			}
			// Only the first has to wait for a server that hangs, and not for long.
			if took := time.Since(began); took > 50*time.Second {
				t.Errorf("ten calls waited %s", took)
			}
			d.Close()
			if n := len(d.server.Requests()); n > 1 {
				t.Errorf("the server was asked %d times", n)
			}
			if !strings.Contains(d.log.String(), "its token is still good") {
				t.Errorf("nobody is told: %s", &d.log)
			}
			d.server.Change(func(s *authtest.Server) { s.Fail, s.Down, s.Arrived, s.Refuse = 0, nil, nil, "" })
			time.Sleep(time.Minute)
			if _, err := d.token(t); err != nil || d.server.Refreshes() != 1 {
				t.Errorf("a minute later: %d refreshes, %v", d.server.Refreshes(), err)
			}
		})
	}
}

// What a renewal that failed means, once the token has ended: the class, whether
// it counts against the login, and what is told.
func TestWhatAFailedRenewalMeans(t *testing.T) {
	for _, tt := range []struct {
		name    string
		set     func(*authtest.Server)
		reason  fallback.Reason
		counts  bool
		refused bool
	}{
		{"invalid_grant", func(s *authtest.Server) { s.Refuse = "invalid_grant" }, fallback.AuthPermanent, true, true},
		{"refresh_token_reused", func(s *authtest.Server) { s.Refuse = "refresh_token_reused" }, fallback.AuthPermanent, true, true},
		{"refresh_token_expired", func(s *authtest.Server) { s.Refuse = "refresh_token_expired" }, fallback.AuthPermanent, true, true},
		{"refresh_token_invalidated", func(s *authtest.Server) { s.Refuse = "refresh_token_invalidated" }, fallback.AuthPermanent, true, true},
		{"refresh_token_revoked", func(s *authtest.Server) { s.Refuse = "refresh_token_revoked" }, fallback.AuthPermanent, true, true},
		{"refresh_token_reused, as OpenAI words it", func(s *authtest.Server) { s.Refuse, s.Nested = "refresh_token_reused", true }, fallback.AuthPermanent, true, true},
		{"refresh_token_invalidated, as OpenAI words it", func(s *authtest.Server) { s.Refuse, s.Nested = "refresh_token_invalidated", true }, fallback.AuthPermanent, true, true},
		{"a portal's page in place of an answer", func(s *authtest.Server) { s.Fail = 200 }, fallback.Timeout, false, false},
		{"a redirect, which nobody follows", func(s *authtest.Server) { s.Fail = 302 }, fallback.Timeout, false, false},
		{"invalid_client, which config mends", func(s *authtest.Server) { s.Refuse = "invalid_client" }, fallback.AuthFailed, true, false},
		{"HTTP 500", func(s *authtest.Server) { s.Fail = 500 }, fallback.Timeout, false, false},
		{"HTTP 503", func(s *authtest.Server) { s.Fail = 503 }, fallback.Timeout, false, false},
		{"HTTP 429", func(s *authtest.Server) { s.Fail = 429 }, fallback.Timeout, false, false},
		{"connection refused", func(s *authtest.Server) { s.Down = syscall.ECONNREFUSED }, fallback.Timeout, false, false},
		{"connection cut", func(s *authtest.Server) { s.Down = io.ErrUnexpectedEOF }, fallback.Timeout, false, false},
		{"no answer", func(s *authtest.Server) { s.Arrived = func() { time.Sleep(time.Hour) } }, fallback.Timeout, false, false},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			d := newDesk(t, -time.Minute, 0)
			tt.set(d.server)
			for range 2 { // the second is told what the first met, without another request
				_, err := d.token(t)
				var e *provider.Error
				if !errors.As(err, &e) {
					t.Fatalf("%v is no evidence", err)
				}
				class := fallback.Classify(fallback.SignalOf(err))
				f := fallback.Failed{Reason: class.Reason, Status: e.Status, Transport: e.Transport}
				if class.Reason != tt.reason || f.Penalises() != tt.counts || auth.Refused(err) != tt.refused {
					t.Errorf("%s, counts %v, refused %v: %v", class.Reason, f.Penalises(), auth.Refused(err), err)
				}
				if strings.Contains(err.Error(), "refresh-") || strings.Contains(err.Error(), "access-") {
					t.Errorf("a secret is told: %v", err)
				}
			}
			d.Close()
			if n := len(d.server.Requests()); n > 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// "A 401 with an OAuth profile: one forced refresh" – and none at all when the
// store holds a newer token already [IL-176].
func TestARefusedAccessToken(t *testing.T) {
	bubble(t, "is renewed although its time is not over", func(t *testing.T) {
		d := newDesk(t, time.Hour, 0)
		first, _ := d.token(t)
		second, err := d.Token(t.Context(), "main", profile, first.Access)
		if err != nil || second.Access.Reveal() == first.Access.Reveal() || d.server.Refreshes() != 1 {
			t.Errorf("%d refreshes, %v", d.server.Refreshes(), err)
		}
		third, err := d.Token(t.Context(), "main", profile, first.Access)
		if err != nil || third.Access.Reveal() != second.Access.Reveal() || d.server.Refreshes() != 1 {
			t.Errorf("of an older token: %d refreshes, %v", d.server.Refreshes(), err)
		}
	})
	bubble(t, "is not given again when the renewal is in trouble", func(t *testing.T) {
		d := newDesk(t, time.Hour, 0)
		first, _ := d.token(t)
		d.server.Fail = 503
		if got, err := d.Token(t.Context(), "main", profile, first.Access); err == nil {
			t.Errorf("gave %v", got.Access.Reveal() == first.Access.Reveal())
		}
	})
}

// "Re-read before declaring failure": the other process's answer arrived while
// ours was refused [IL-176].
func TestARefusalIsCheckedAgainstTheStore(t *testing.T) {
	bubble(t, "a newer login is there", func(t *testing.T) {
		d := newDesk(t, -time.Minute, 0)
		d.server.Refuse = "refresh_token_reused"
		d.server.Acted = func() { d.put(t, time.Hour, 0) }
		got, err := d.token(t)
		if err != nil || !d.server.Valid(got.Access.Reveal()) {
			t.Errorf("%v", err)
		}
	})
}

// No login prints what is in it, however it is printed.
func TestALoginDoesNotPrint(t *testing.T) {
	c, err := auth.Parse("openai", provider.NewKey(`{"access":"a-canary","refresh":"r-canary","idToken":"i-canary","extra":"x-canary"}`))
	if err != nil {
		t.Fatal(err)
	}
	inside := struct{ c auth.Credential }{c}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{c, &c, inside, auth.Token{Access: c.Access}, auth.Stored{Secret: c.Secret()}} {
			if text := fmt.Sprintf(format, v); strings.Contains(text, "canary") || strings.Contains(text, "99 97 110") || strings.Contains(text, "0x63, 0x61, 0x6e") || strings.Contains(text, "63616e617279") {
				t.Errorf("%s of %T: %s", format, v, text)
			}
		}
	}
	if text, err := json.Marshal(c); err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("JSON: %s, %v", text, err)
	}
}
