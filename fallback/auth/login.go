package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Login is one attempt to log in with a browser: an address that a person
// opens, and the redirect that brings a code. It is used once. The redirect
// comes to a listener on this machine (Listen, Wait) or is pasted by the person
// (Paste), whose browser may run elsewhere.
type Login struct {
	Vendor    Vendor
	Transport http.RoundTripper // nil: the usual one
	Now       func() time.Time  // nil: time.Now

	state    string
	verifier string
	redirect string
	loopback *loopback
}

// Errors of a login that a command words for its user.
var (
	// ErrNoBrowserLogin says that the vendor has no address to open.
	ErrNoBrowserLogin = errors.New("this provider has no browser login: auth.oauth needs an authorizeUrl for it")
	// ErrNoDeviceLogin says that the vendor has no device login.
	ErrNoDeviceLogin = errors.New("this provider has no device login: auth.oauth needs a deviceUrl for it")
	// ErrState says that a redirect belongs to another login.
	ErrState = errors.New("the address belongs to another login: its state is not the one that this login began with; start again and use the newest address")
	// ErrNoCode says that a pasted text has no code in it.
	ErrNoCode = errors.New("there is no code in this text: paste the whole address that the browser ended on, it begins with http and has code= in it")
	// ErrDenied says that the person or the vendor declined.
	ErrDenied = errors.New("the login was declined")
	// ErrExpired says that a login took longer than its code lives.
	ErrExpired = errors.New("the login took too long and its code has expired: start again")
)

// NewLogin begins a login with fresh secrets (state, PKCE verifier).
func NewLogin(v Vendor) (*Login, error) {
	if v.AuthorizeURL == "" {
		return nil, ErrNoBrowserLogin
	}
	if err := v.Validate(); err != nil {
		return nil, err
	}
	l := &Login{Vendor: v, state: rand.Text(), verifier: oauth2.GenerateVerifier()}
	l.redirect = l.address(v.RedirectPort)
	return l, nil
}

// address is the redirect on a port of this machine.
func (l *Login) address(port int) string {
	host, path := l.Vendor.RedirectHost, l.Vendor.RedirectPath
	if host == "" {
		host = "127.0.0.1"
	}
	if path == "" {
		path = "/callback"
	}
	if port != 0 {
		host = fmt.Sprintf("%s:%d", host, port)
	}
	return "http://" + host + path
}

// URL is the address that a person opens. Call Listen before it where the
// redirect port is any free one.
func (l *Login) URL() string {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.verifier)}
	for name, value := range l.Vendor.Params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return l.Vendor.config(l.redirect).AuthCodeURL(l.state, options...)
}

// Paste ends the login with what the person pasted: the address that the
// browser ended on, its query, or the bare code. A state that comes along must
// be this login's; a bare code has none, and PKCE alone ties it to this login.
func (l *Login) Paste(ctx context.Context, text string) (Credential, error) {
	code, err := l.codeIn(strings.TrimSpace(text))
	if err != nil {
		return Credential{}, err
	}
	return l.exchange(ctx, code)
}

// codeIn finds the code in a pasted text.
func (l *Login) codeIn(text string) (string, error) {
	switch {
	case strings.Contains(text, "://"):
		u, err := url.Parse(text)
		if err != nil {
			return "", ErrNoCode
		}
		return l.codeOf(u.Query())
	case strings.Contains(text, "code=") || strings.Contains(text, "error="):
		q, err := url.ParseQuery(strings.TrimPrefix(text, "?"))
		if err != nil {
			return "", ErrNoCode
		}
		return l.codeOf(q)
	}
	code, state, stated := strings.Cut(text, "#") // the form in which some vendors show it
	if code == "" || strings.ContainsAny(code, " \t\r\n/?&") {
		return "", ErrNoCode
	}
	if stated && !l.mine(state) {
		return "", ErrState
	}
	return code, nil
}

// codeOf reads a redirect's query.
func (l *Login) codeOf(q url.Values) (string, error) {
	if !l.mine(q.Get("state")) {
		return "", ErrState
	}
	if said := q.Get("error"); said != "" {
		return "", declined(said, q.Get("error_description"))
	}
	if q.Get("code") == "" {
		return "", ErrNoCode
	}
	return q.Get("code"), nil
}

// declined words a redirect that brings an error instead of a code.
func declined(code, description string) error {
	if description == "" {
		description = code
	}
	return fmt.Errorf("%w: %s", ErrDenied, printable(description))
}

// printable keeps a vendor's words from driving the terminal they end up on.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 300 {
		s = string(runes[:300]) + "…"
	}
	return s
}

// mine compares in constant time: the state is a secret of this login.
func (l *Login) mine(state string) bool {
	return subtle.ConstantTimeCompare([]byte(state), []byte(l.state)) == 1
}

// exchange trades the code for a login.
func (l *Login) exchange(ctx context.Context, code string) (Credential, error) {
	token, err := l.Vendor.exchange(ctx, l.Transport, "the code could not be exchanged", func(ctx context.Context) (*oauth2.Token, error) {
		return l.Vendor.config(l.redirect).Exchange(ctx, code, oauth2.VerifierOption(l.verifier))
	})
	if err != nil {
		return Credential{}, err
	}
	return Credential{Provider: l.Vendor.Provider}.granted(token, clock(l.Now)()), nil
}

// clock is now, or the machine's where nobody gave one.
func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}
