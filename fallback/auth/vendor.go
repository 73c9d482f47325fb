package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"standin/fallback/provider"
)

// Vendor is an OAuth provider: where its logins are made and renewed (config
// auth.oauth.<provider>). The zero value of a field is explained with it.
type Vendor struct {
	Provider     string       // normalised id, such as "openai"
	AuthorizeURL string       // the page where a person agrees; "": no browser login
	TokenURL     string       // where codes and refresh tokens are exchanged
	DeviceURL    string       // where a device code is asked for; "": no device login
	ClientID     string       // public id of the client
	ClientSecret provider.Key // zero: a public client, which PKCE protects
	Scopes       []string
	// Params are added to the address that a person opens.
	Params map[string]string
	// The redirect goes to http://<RedirectHost>:<RedirectPort><RedirectPath> on
	// this machine. Host "": 127.0.0.1; port 0: any free one; path "": /callback.
	RedirectHost string
	RedirectPort int
	RedirectPath string
	// Headers are added to each request to TokenURL and DeviceURL.
	Headers map[string]string
	// OwnDevice is set where a vendor has a device login of its own making
	// instead of RFC 8628.
	OwnDevice *OwnDevice
}

// OwnDevice describes OpenAI's device login: a JSON request for a code, a poll
// that ends with an authorization code and its verifier, and the usual exchange.
type OwnDevice struct {
	PollURL  string
	Page     string // where a person types the code
	Redirect string // redirect_uri of the exchange; nothing is ever sent there
}

// OpenAI is the ChatGPT login that Codex subscriptions use. Its client id and
// its redirect are registered with the vendor: another port or path is refused
// there. The facts are those of OpenAI's open-source Codex client.
func OpenAI() Vendor {
	const issuer = "https://auth.openai.com"
	return Vendor{
		Provider:     "openai",
		AuthorizeURL: issuer + "/oauth/authorize",
		TokenURL:     issuer + "/oauth/token",
		DeviceURL:    issuer + "/api/accounts/deviceauth/usercode",
		ClientID:     "app_EMoamEEZ73f0CkXaXp7hrann",
		Scopes:       []string{"openid", "profile", "email", "offline_access"},
		Params: map[string]string{
			"id_token_add_organizations": "true",
			"codex_cli_simplified_flow":  "true",
			"originator":                 provider.Originator,
		},
		RedirectHost: "localhost",
		RedirectPort: 1455,
		RedirectPath: "/auth/callback",
		OwnDevice: &OwnDevice{
			PollURL:  issuer + "/api/accounts/deviceauth/token",
			Page:     issuer + "/codex/device",
			Redirect: issuer + "/deviceauth/callback",
		},
	}
}

// Builtin are the vendors that need no config, by provider.
func Builtin() map[string]Vendor {
	return map[string]Vendor{"openai": OpenAI()}
}

// Over gives v with the fields that are set in own, config's way of changing a
// builtin vendor. Another DeviceURL ends the builtin device login: it is then
// RFC 8628.
func (v Vendor) Over(own Vendor) Vendor {
	text := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	text(&v.Provider, own.Provider)
	text(&v.AuthorizeURL, own.AuthorizeURL)
	text(&v.TokenURL, own.TokenURL)
	text(&v.ClientID, own.ClientID)
	text(&v.RedirectHost, own.RedirectHost)
	text(&v.RedirectPath, own.RedirectPath)
	if own.DeviceURL != "" {
		v.DeviceURL, v.OwnDevice = own.DeviceURL, own.OwnDevice
	}
	if !own.ClientSecret.Empty() {
		v.ClientSecret = own.ClientSecret
	}
	if own.Scopes != nil {
		v.Scopes = own.Scopes
	}
	if own.RedirectPort != 0 {
		v.RedirectPort = own.RedirectPort
	}
	v.Params, v.Headers = merged(v.Params, own.Params), merged(v.Headers, own.Headers)
	return v
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return all
}

// Validate tells what keeps the vendor from being used, all of it at once.
// Plain http is accepted on loopback only [D24].
func (v Vendor) Validate() error {
	var errs []error
	if v.ClientID == "" {
		errs = append(errs, errors.New("clientId is missing"))
	}
	if v.TokenURL == "" {
		errs = append(errs, errors.New("tokenUrl is missing"))
	}
	if v.AuthorizeURL == "" && v.DeviceURL == "" {
		errs = append(errs, errors.New("authorizeUrl is missing, and deviceUrl too: one of them is needed"))
	}
	urls := map[string]string{"authorizeUrl": v.AuthorizeURL, "tokenUrl": v.TokenURL, "deviceUrl": v.DeviceURL}
	if v.OwnDevice != nil {
		urls["deviceUrl (poll)"] = v.OwnDevice.PollURL
	}
	for _, key := range slices.Sorted(maps.Keys(urls)) {
		if urls[key] == "" {
			continue
		}
		if err := provider.CheckBaseURL(urls[key]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	if v.RedirectPort < 0 || v.RedirectPort > 65535 {
		errs = append(errs, fmt.Errorf("redirectPort: %d is no port", v.RedirectPort))
	}
	if v.RedirectPath != "" && !strings.HasPrefix(v.RedirectPath, "/") {
		errs = append(errs, fmt.Errorf("redirectPath: %q does not begin with a slash", v.RedirectPath))
	}
	return errors.Join(errs...)
}

// config is the vendor in the library's words.
func (v Vendor) config(redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: v.ClientID, ClientSecret: v.ClientSecret.Reveal(), Scopes: v.Scopes, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{
			AuthURL: v.AuthorizeURL, TokenURL: v.TokenURL, DeviceAuthURL: v.DeviceURL,
			AuthStyle: oauth2.AuthStyleInParams, // never to probe: a probe sends a refresh token twice
		},
	}
}

// requestTimeout bounds one request to a vendor's authorization server, maxAnswer
// its answer in bytes.
const (
	requestTimeout = 15 * time.Second
	maxAnswer      = 1 << 20
)

// errNoAnswer says that an authorization server took too long.
var errNoAnswer = errors.New("the authorization server did not answer in time")

// client speaks to the vendor's authorization server. It follows no redirect:
// the body that it would repeat elsewhere is a secret.
func (v Vendor) client(base http.RoundTripper) *http.Client {
	if base == nil {
		base = http.DefaultTransport
	}
	return &http.Client{
		Transport:     line{base, v.Headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// line makes one request with the vendor's headers, within its time, and reads
// the whole answer: the library does not close each body that it was given.
type line struct {
	base    http.RoundTripper
	headers map[string]string
}

// RoundTrip makes the request.
func (l line) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), requestTimeout, errNoAnswer)
	defer cancel()
	out := req.Clone(ctx)
	out.Header.Set("User-Agent", provider.Originator)
	out.Header.Set("Accept", "application/json")
	for name, value := range l.headers {
		out.Header.Set(name, value)
	}
	resp, err := l.base.RoundTrip(out)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		var body []byte
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return resp, nil
}
