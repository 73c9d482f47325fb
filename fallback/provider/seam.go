package provider

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// seam is the RoundTripper between an SDK and the network, made for one call.
// It decides what leaves (headers, credential, where plain http may go) and
// keeps what came back, whatever the SDK makes of it.
type seam struct {
	call  Call
	base  http.RoundTripper
	watch *watch

	status int         // of the answer, 0 when there was none
	header http.Header // of the answer, the SDK cannot write to it
	body   []byte      // of an answer that is a failure by itself
	tape   *tape       // body of any other answer
	err    error       // what broke below HTTP
}

// Errors that the seam raises itself.
var (
	errFailedAnswer = errors.New("the answer is a failure")
	errInsecure     = errors.New("plain http is accepted on loopback only") // [D24]
)

// client gives the http.Client for an SDK. It never follows a redirect, since
// RoundTrip raises one as a failure: the credential is set for each request,
// and another host must not get it.
func (s *seam) client() *http.Client { return &http.Client{Transport: s} }

// passed are the request headers of an SDK that go out. Everything else it
// adds stays here: what the environment put in (OPENAI_ORG_ID, custom headers,
// keys), retry counters, the description of this machine.
var passed = []string{"Accept", "Content-Type", "Anthropic-Version"}

// userAgent is what vendors see of us.
const userAgent = "standin"

// oauthBeta is what Anthropic asks for beside an OAuth bearer token
// (platform.claude.com, "oauth-2025-04-20", also a constant of its SDK).
const oauthBeta = "oauth-2025-04-20"

// RoundTrip sends a copy of the request with our headers. An answer that is
// not a plain success is kept and raised as errFailedAnswer: the SDKs' own
// error types lose the status of some envelopes.
func (s *seam) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && !(req.URL.Scheme == "http" && loopback(req.URL)) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		s.err = errInsecure
		return nil, s.err
	}
	out := *req
	out.Header = s.headers(req.Header)
	if host := out.Header.Get("Host"); host != "" {
		out.Host = host
		out.Header.Del("Host")
	}
	resp, err := s.base.RoundTrip(&out)
	if err != nil {
		s.err = err
		return nil, err
	}
	// The SDKs keep the request of an answer in their errors: give them the one
	// without the credential.
	resp.Request = req
	s.status, s.header = resp.StatusCode, resp.Header.Clone()
	if resp.StatusCode/100 != 2 {
		defer func() { _ = resp.Body.Close() }()
		// Part of a body is still evidence, so a break is not looked at.
		s.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxRead))
		return nil, errFailedAnswer
	}
	s.tape = &tape{rc: resp.Body, api: s.call.Endpoint.API, onDone: s.watch.finished}
	// Some gateways name their streams text/plain, or not at all.
	s.tape.sse = s.call.OnText != nil && mediaType(resp.Header) != "application/json"
	resp.Body = s.tape
	return resp, nil
}

// headers builds what goes out: a little of the SDK's, the operator's, the
// credential. This is the one place that reveals a key [I12].
func (s *seam) headers(from http.Header) http.Header {
	to := make(http.Header, 8)
	for _, name := range passed {
		if v := from.Values(name); len(v) > 0 {
			to[name] = v
		}
	}
	to.Set("User-Agent", userAgent)
	for name, value := range s.call.Endpoint.Headers {
		to.Set(name, value)
	}
	if s.call.Endpoint.NoKey || s.call.Key.Empty() {
		return to
	}
	if s.call.Endpoint.API == AnthropicMessages && s.call.Auth != Bearer && s.call.Auth != Login {
		to.Set("X-Api-Key", s.call.Key.Reveal())
		return to
	}
	to.Set("Authorization", "Bearer "+s.call.Key.Reveal())
	if s.call.codex {
		s.call.codexHeaders(to)
	}
	if s.call.Endpoint.API == AnthropicMessages {
		beta := oauthBeta
		if others := to.Get("Anthropic-Beta"); others != "" {
			beta = others + "," + oauthBeta
		}
		to.Set("Anthropic-Beta", beta)
	}
	return to
}

// close lets go of the body: fantasy never closes a stream.
func (s *seam) close() {
	if s.tape != nil {
		_ = s.tape.Close()
	}
}

// loopback tells whether a URL stays on this machine.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// CheckBaseURL tells what is wrong with a base URL, before it is used: it must
// be absolute, and plain http goes to loopback only [D24]. The error shows no
// user information of the URL.
func CheckBaseURL(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return fmt.Errorf("base URL %q is not an absolute URL", Redact(base))
	}
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("base URL %q: scheme must be https", Redact(base))
	case !loopback(u):
		return fmt.Errorf("base URL %q: %w", Redact(base), errInsecure)
	}
	return nil
}

func mediaType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		t, _, _ = strings.Cut(strings.ToLower(h.Get("Content-Type")), ";")
	}
	return strings.TrimSpace(t)
}
