package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"standin/fallback/provider"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is one server of the config (mcp.servers.<name>): a Command or a URL.
type Server struct {
	Name    string
	Command []string // program and arguments
	Env     []string // NAME=value; nothing else of our own environment goes along but PATH and HOME
	Dir     string   // working directory, "" ours
	URL     string
	Headers map[string]provider.Key
	// Secrets are what Env and Headers hold that is shown nowhere, whatever the
	// server repeats [I12].
	Secrets []provider.Key
	// Allow and Deny pick among its tools, by the server's own names, with *.
	Allow, Deny []string
	// Everyone lets all people use its tools who may talk to the agent; else the
	// owner alone.
	Everyone bool
	// Trusted says that what its tools give back was not written by strangers.
	Trusted bool
	Start   time.Duration // how long it may take to come up; 0: 30 s
	Call    time.Duration // how long a call may take; 0: the tools' own limit
}

const defaultStart = 30 * time.Second

var serverName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

// Check tells what is wrong with a server's settings.
func (s Server) Check() error {
	switch {
	case !serverName.MatchString(s.Name):
		return fmt.Errorf("%q cannot name a server: small letters, digits and -, at most 31", s.Name)
	case len(s.Command) == 0 && s.URL == "":
		return errors.New("it needs a command to run, or a url")
	case len(s.Command) > 0 && s.URL != "":
		return errors.New("it has both a command and a url; one of them is meant")
	case s.URL == "":
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" {
		return errors.New("url is not an absolute URL")
	}
	if u.User != nil {
		return errors.New("url holds a password; put it into headers")
	}
	return provider.CheckBaseURL(s.URL) // https, or http on loopback [D24]
}

// equal tells whether nothing changes with other, so that a reload leaves the
// server alone.
func (s Server) equal(o Server) bool {
	return slices.Equal(s.Command, o.Command) && slices.Equal(s.Env, o.Env) && s.Dir == o.Dir && s.URL == o.URL &&
		slices.Equal(s.Allow, o.Allow) && slices.Equal(s.Deny, o.Deny) && s.Everyone == o.Everyone && s.Trusted == o.Trusted &&
		s.Start == o.Start && s.Call == o.Call && sameHeaders(s.Headers, o.Headers)
}

// hide is a text of the server's without what is secret in it.
func (s Server) hide(text string) string { return provider.RedactThese(text, s.Secrets) }

func sameHeaders(a, b map[string]provider.Key) bool {
	if len(a) != len(b) {
		return false
	}
	for name, key := range a {
		if other, ok := b[name]; !ok || other.Reveal() != key.Reveal() {
			return false
		}
	}
	return true
}

// transport gives the way to the server.
func (s Server) transport(environ []string, errors *tail) sdk.Transport {
	if s.URL != "" {
		return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: headers{s.Headers}}}
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir = s.Dir
	cmd.Env = append(only(environ, "PATH", "HOME", "LANG", "TMPDIR"), s.Env...)
	cmd.Stderr = errors
	return &sdk.CommandTransport{Command: cmd, TerminateDuration: 3 * time.Second}
}

// only picks variables: a server of somebody else's is not shown our keys [I12].
func only(environ []string, names ...string) (kept []string) {
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(names, name) {
			kept = append(kept, v)
		}
	}
	return kept
}

// headers adds the operator's headers, and follows no redirect with them.
type headers struct{ all map[string]provider.Key }

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	for name, value := range h.all {
		out.Header.Set(name, value.Reveal())
	}
	resp, err := http.DefaultTransport.RoundTrip(out)
	if err == nil && resp.StatusCode/100 == 3 {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the server answers %s, and redirects are not followed; name the final URL", resp.Status)
	}
	return resp, err
}
