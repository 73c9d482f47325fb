package auth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
)

func server(t *testing.T) *authtest.Server {
	t.Helper()
	s, err := authtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// browser opens an address and follows it, as a person's browser does. It gives
// the page that it ended on.
func browser(t *testing.T, address string) (page string) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// redirect opens an address and gives where it leads, without going there.
func redirect(t *testing.T, address string) string {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

// soon is a context that does not let a test hang.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// "Authorization code with PKCE S256 over a loopback redirect": the server of
// these tests checks the verifier, so a login that ends has sent it.
func TestALoginWithABrowser(t *testing.T) {
	s := server(t)
	s.Account, s.Plan = "acct-7", "plus"
	l, err := auth.NewLogin(s.Vendor("openai"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Listen(); err != nil {
		t.Fatal(err)
	}
	opened := make(chan string, 1)
	go func() { opened <- browser(t, l.URL()) }()
	before := time.Now()
	c, err := l.Wait(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if page := <-opened; !strings.Contains(page, "Logged in") {
		t.Errorf("the browser shows %q", page)
	}
	if c.ID() != "openai:ada@example.com" || c.AccountID != "acct-7" || c.Plan != "plus" || c.Refresh.Empty() || !s.Valid(c.Access.Reveal()) {
		t.Errorf("%+v", c)
	}
	if left := c.Expires.Sub(before); left < 59*time.Minute || left > 61*time.Minute {
		t.Errorf("expires in %s", left)
	}
	again, err := auth.Parse("openai", c.Secret())
	if err != nil || again.Secret().Reveal() != c.Secret().Reveal() || again.ID() != c.ID() {
		t.Errorf("stored and read again: %+v, %v", again, err)
	}
	if resp, err := http.Get(mustQuery(t, l.URL(), "redirect_uri")); err == nil {
		resp.Body.Close()
		t.Error("the listener outlives its login")
	}
}

func mustQuery(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// "`provider:default` without e-mail" [M16].
func TestALoginWithoutAnEmailIsTheDefault(t *testing.T) {
	s := server(t)
	s.Email = ""
	l, _ := auth.NewLogin(s.Vendor("xai"))
	c, err := l.Paste(soon(t), redirect(t, l.URL()))
	if err != nil || c.ID() != "xai:default" {
		t.Errorf("%s, %v", c.ID(), err)
	}
}

// A redirect with another state is another page's guess: it is told so and ends
// nothing; the real one still counts, once.
func TestARedirectMustHaveTheLoginsState(t *testing.T) {
	s := server(t)
	l, _ := auth.NewLogin(s.Vendor("openai"))
	if err := l.Listen(); err != nil {
		t.Fatal(err)
	}
	back := redirect(t, l.URL())
	stray := strings.Replace(back, "state=", "state=x", 1)
	if page := browser(t, stray); !strings.Contains(page, "another login") {
		t.Errorf("the page says %q", page)
	}
	if resp, err := http.Get(strings.Split(back, "?")[0] + "/elsewhere"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %v, %v", resp, err)
	}
	if page := browser(t, back); !strings.Contains(page, "Logged in") {
		t.Errorf("the page says %q", page)
	}
	if page := browser(t, back); !strings.Contains(page, "has had its answer") {
		t.Errorf("a second time: %q", page)
	}
	if c, err := l.Wait(soon(t)); err != nil || c.Access.Empty() {
		t.Errorf("%v, %v", c, err)
	}
}

// The ways in which a person ends a login by pasting, and in which it fails.
func TestALoginIsPasted(t *testing.T) {
	for _, tt := range []struct {
		name string
		cut  func(address string) string // what is pasted of the address that the browser ended on
		want error
	}{
		{"the whole address", func(a string) string { return "  " + a + "\n" }, nil},
		{"its query", func(a string) string { return a[strings.Index(a, "?"):] }, nil},
		{"the code alone", func(a string) string { return queryOf(a).Get("code") }, nil},
		{"code and state as some vendors show them", func(a string) string { return queryOf(a).Get("code") + "#" + queryOf(a).Get("state") }, nil},
		{"another login's state", func(a string) string { return strings.Replace(a, "state=", "state=x", 1) }, auth.ErrState},
		{"another login's state behind the code", func(a string) string { return queryOf(a).Get("code") + "#other" }, auth.ErrState},
		{"an address without a code", func(a string) string { return "http://127.0.0.1/callback?state=" + queryOf(a).Get("state") }, auth.ErrNoCode},
		{"some words", func(string) string { return "I have logged in" }, auth.ErrNoCode},
		{"nothing", func(string) string { return " " }, auth.ErrNoCode},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := server(t)
			l, _ := auth.NewLogin(s.Vendor("openai"))
			c, err := l.Paste(soon(t), tt.cut(redirect(t, l.URL())))
			if !errors.Is(err, tt.want) || tt.want == nil && c.Access.Empty() {
				t.Errorf("%v, %v", c, err)
			}
		})
	}
}

func queryOf(address string) url.Values {
	u, _ := url.Parse(address)
	return u.Query()
}

// A person who declines is told so, with the vendor's words, and no terminal is
// driven by them.
func TestADeclinedLogin(t *testing.T) {
	s := server(t)
	s.Deny = true
	l, _ := auth.NewLogin(s.Vendor("openai"))
	if err := l.Listen(); err != nil {
		t.Fatal(err)
	}
	go browser(t, l.URL())
	if _, err := l.Wait(soon(t)); !errors.Is(err, auth.ErrDenied) || !strings.Contains(err.Error(), "The person said no.") {
		t.Errorf("%v", err)
	}
	l, _ = auth.NewLogin(s.Vendor("openai"))
	back := redirect(t, l.URL())
	_, err := l.Paste(soon(t), strings.Replace(back, "The", "%1b%5b2J", 1))
	if !errors.Is(err, auth.ErrDenied) || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("%q", err)
	}
}

// A login that nobody ends lets go of its port when its time is over.
func TestALoginThatNobodyEnds(t *testing.T) {
	s := server(t)
	l, _ := auth.NewLogin(s.Vendor("openai"))
	if err := l.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := l.Wait(ctx); !errors.Is(err, auth.ErrExpired) {
		t.Errorf("%v", err)
	}
}

// A port that is taken is a sentence with the way out in it.
func TestATakenPortIsSaid(t *testing.T) {
	s := server(t)
	var port int
	fmt.Sscanf(s.URL, "http://127.0.0.1:%d", &port)
	v := s.Vendor("openai")
	v.RedirectPort = port
	l, _ := auth.NewLogin(v)
	if err := l.Listen(); err == nil || !strings.Contains(err.Error(), "--paste") {
		t.Errorf("%v", err)
	}
}

// "Device code (RFC 8628, slow_down, expired, denied)", and OpenAI's own kind.
func TestALoginOnAnotherDevice(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*authtest.Server)
		own  bool
		want error
		took time.Duration
	}{
		{name: "the person agrees at the third look", set: func(s *authtest.Server) { s.Pending = 2 }, took: 3 * time.Second},
		{name: "slow_down adds five seconds to each wait", set: func(s *authtest.Server) { s.Slow, s.Pending = 1, 1 }, took: 13 * time.Second},
		{name: "the person declines", set: func(s *authtest.Server) { s.Deny = true }, want: auth.ErrDenied, took: time.Second},
		{name: "the code expires", set: func(s *authtest.Server) { s.Gone = true }, want: auth.ErrExpired, took: time.Second},
		{name: "nobody comes", set: func(s *authtest.Server) { s.Pending = 1e6 }, want: auth.ErrExpired, took: 10 * time.Minute},
		{name: "OpenAI's own", set: func(s *authtest.Server) { s.Pending = 2 }, own: true, took: 3 * time.Second},
		{name: "OpenAI's own, declined", set: func(s *authtest.Server) { s.Deny = true }, own: true, want: auth.ErrDenied, took: time.Second},
		{name: "OpenAI's own, nobody comes", set: func(s *authtest.Server) { s.Pending = 1e6 }, own: true, want: auth.ErrExpired, took: 15 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := authtest.New()
				tt.set(s)
				v := s.Vendor("openai")
				if tt.own {
					v = s.OwnDevice("openai")
				}
				d, err := auth.Device(t.Context(), v, s, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d.Code == "" || !strings.HasPrefix(d.Page, "http") || d.Expires.Before(time.Now().Add(10*time.Minute-time.Second)) {
					t.Errorf("%+v", d)
				}
				began := time.Now()
				c, err := d.Wait(t.Context())
				if !errors.Is(err, tt.want) || tt.want == nil && c.ID() != "openai:ada@example.com" {
					t.Errorf("%v, %v", c, err)
				}
				if took := time.Since(began); took.Round(time.Second) != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// A poll that is lost on the way is not the end of a device login.
func TestADeviceLoginOutlivesABadLine(t *testing.T) {
	for _, own := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := authtest.New()
			v := s.Vendor("openai")
			if own {
				v = s.OwnDevice("openai")
			}
			d, err := auth.Device(t.Context(), v, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Down = io.ErrUnexpectedEOF
			time.AfterFunc(5500*time.Millisecond, func() { s.Change(func(s *authtest.Server) { s.Down = nil }) })
			if c, err := d.Wait(t.Context()); err != nil || c.Access.Empty() {
				t.Errorf("own %v: %v", own, err)
			}
		})
	}
}

// A vendor that cannot be used says what is missing, all of it.
func TestAVendorIsChecked(t *testing.T) {
	err := auth.Vendor{TokenURL: "http://auth.example.com/token", RedirectPath: "back"}.Validate()
	for _, part := range []string{"clientId is missing", "authorizeUrl is missing", "tokenUrl", "loopback", "redirectPath"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	if err := auth.OpenAI().Validate(); err != nil {
		t.Errorf("the builtin vendor: %v", err)
	}
	if _, err := auth.NewLogin(auth.Vendor{}); !errors.Is(err, auth.ErrNoBrowserLogin) {
		t.Errorf("%v", err)
	}
	if _, err := auth.Device(t.Context(), auth.Vendor{}, nil, nil); !errors.Is(err, auth.ErrNoDeviceLogin) {
		t.Errorf("%v", err)
	}
}

// What OpenAI's client registered is what its authorization server takes.
func TestTheAddressOfAChatGPTLogin(t *testing.T) {
	l, err := auth.NewLogin(auth.OpenAI())
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"client_id": "app_EMoamEEZ73f0CkXaXp7hrann", "redirect_uri": "http://localhost:1455/auth/callback", "response_type": "code",
		"scope": "openid profile email offline_access", "code_challenge_method": "S256", "codex_cli_simplified_flow": "true",
		"id_token_add_organizations": "true", "originator": "standin",
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if u.Host != "auth.openai.com" || len(q.Get("state")) < 16 || len(q.Get("code_challenge")) != 43 {
		t.Errorf("%s", u)
	}
}

// Two logins share no secret.
func TestEachLoginHasItsOwnSecrets(t *testing.T) {
	a, _ := auth.NewLogin(auth.OpenAI())
	b, _ := auth.NewLogin(auth.OpenAI())
	for _, name := range []string{"state", "code_challenge"} {
		if mustQuery(t, a.URL(), name) == mustQuery(t, b.URL(), name) {
			t.Errorf("%s repeats", name)
		}
	}
}
