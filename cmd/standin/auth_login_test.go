package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// person is somebody at a terminal with a browser, whose config names a
// vendor's authorization server on this machine.
type person struct {
	dir    string
	server *authtest.Server
	models *providertest.Vendor
}

func atATerminal(t *testing.T) *person {
	t.Helper()
	s, err := authtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &person{dir: t.TempDir(), server: s, models: providertest.New()}
	s.Account, s.Plan = "acct-7", "plus"
	web := httptest.NewServer(http.StripPrefix("/codex", p.models))
	t.Cleanup(web.Close)
	// The alias and the redirect of the builtin vendor give way to a port that is free.
	text := fmt.Sprintf("agents: {defaults: {model: openai/gpt-5.5}}\nauth: {oauth: {openai: {authorizeUrl: %q, tokenUrl: %q, deviceUrl: %q, clientId: %s, redirectPort: %d, baseUrl: %q}}}\n",
		s.URL+"/authorize", s.URL+"/token", s.URL+"/device", authtest.ClientID, freePort(t), web.URL+"/codex")
	if err := os.WriteFile(filepath.Join(p.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// freePort is a port that nobody listens on now.
func freePort(t *testing.T) (port int) {
	t.Helper()
	one := httptest.NewServer(nil)
	defer one.Close()
	if _, err := fmt.Sscanf(one.URL, "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	return port
}

var address = regexp.MustCompile(`https?://\S+`)

// types runs a verb of standin auth; sees gets what the terminal shows up to the
// first address, and gives what the person types then.
func (p *person) types(t *testing.T, sees func(url string) string, args ...string) (code int, out, shown string) {
	t.Helper()
	var o bytes.Buffer
	stdin, keyboard := io.Pipe()
	screen, stderr := io.Pipe()
	text := make(chan string, 1)
	go func() {
		var seen strings.Builder
		buf, asked := make([]byte, 4096), false
		for {
			n, err := screen.Read(buf)
			seen.Write(buf[:n])
			if url := address.FindString(seen.String()); url != "" && !asked && sees != nil {
				asked = true
				go func() { _, _ = keyboard.Write([]byte(sees(url) + "\n")) }()
			}
			if err != nil {
				text <- seen.String()
				return
			}
		}
	}()
	getenv := func(name string) string {
		switch name {
		case "STANDIN_STATE_DIR":
			return p.dir
		case "STANDIN_CONFIG":
			return filepath.Join(p.dir, "config.yaml")
		}
		return ""
	}
	code = run(world{ctx: t.Context(), getenv: getenv, stdin: stdin, stdout: &o, stderr: stderr}, append([]string{"auth"}, args...))
	_ = stderr.Close()
	return code, o.String(), <-text
}

// "Authorization code over a loopback redirect, the paste-the-URL way, device
// code": each ends with a stored login that is named after its account [M16].
func TestLogIn(t *testing.T) {
	follow := func(url string) string {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
		}
		return ""
	}
	paste := func(url string) string {
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Get(url)
		if err != nil {
			return err.Error()
		}
		resp.Body.Close()
		return resp.Header.Get("Location")
	}
	for _, tt := range []struct {
		name string
		sees func(string) string
		args []string
		id   string
	}{
		{"in the browser of this machine", follow, nil, "openai:ada@example.com"},
		{"with an address that is pasted", paste, []string{"--paste"}, "openai:ada@example.com"},
		{"on another device", nil, []string{"--device"}, "openai:ada@example.com"},
		{"under a name of one's own", paste, []string{"--paste", "--id", "work"}, "openai:work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := atATerminal(t)
			code, out, shown := p.types(t, tt.sees, append([]string{"login", "openai"}, tt.args...)...)
			if code != exitOK || !strings.Contains(out, "stored "+tt.id) || !strings.Contains(out, "Plan: plus") {
				t.Fatalf("exit %d\n%s%s", code, out, shown)
			}
			c := store.OpenCredentials(store.Options{Dir: p.dir})
			defer c.Close()
			s, found, err := c.Login(t.Context(), "main", tt.id)
			if err != nil || !found {
				t.Fatal(found, err)
			}
			login, err := auth.Parse(s.Provider, s.Secret)
			if err != nil || !p.server.Valid(login.Access.Reveal()) || login.Refresh.Empty() || login.AccountID != "acct-7" {
				t.Errorf("%+v, %v", login, err)
			}
			for _, secret := range []string{login.Access.Reveal(), login.Refresh.Reveal(), login.IDToken.Reveal()} {
				if strings.Contains(out+shown, secret) {
					t.Error("the terminal shows a token")
				}
			}
		})
	}
}

// A login that comes to nothing stores nothing and says why.
func TestALoginThatComesToNothing(t *testing.T) {
	p := atATerminal(t)
	for name, paste := range map[string]string{"another login's address": "http://localhost/auth/callback?code=x&state=y", "some words": "done"} {
		code, out, shown := p.types(t, func(string) string { return paste }, "login", "openai", "--paste")
		if code == exitOK || out != "" || !strings.Contains(shown, "the login came to nothing: ") {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, shown)
		}
	}
	p.server.Deny = true
	if code, out, shown := p.types(t, nil, "login", "openai", "--device"); code == exitOK || !strings.Contains(shown, "the login was declined") {
		t.Errorf("exit %d\n%s%s", code, out, shown)
	}
	c := store.ReadCredentials(store.Options{Dir: p.dir}, nil)
	defer c.Close()
	if list, err := c.List(t.Context(), store.MainAgent); err != nil || len(list) != 0 {
		t.Errorf("%d stored, %v", len(list), err)
	}
}

// A probe of a login whose token has ended renews it first, as a turn does.
func TestAProbeRenewsTheLogin(t *testing.T) {
	p := atATerminal(t)
	access, refresh := p.server.Issue()
	one, err := store.FromLogin(auth.Credential{Provider: "openai", Email: "ada@example.com", AccountID: "acct-7",
		Access: provider.NewKey(access), Refresh: provider.NewKey(refresh), Expires: time.Now().Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	c := store.OpenCredentials(store.Options{Dir: p.dir})
	defer c.Close()
	if err := c.PutCredential(t.Context(), fallback.AgentID("main"), one); err != nil {
		t.Fatal(err)
	}
	code, out, shown := p.types(t, nil, "probe", "openai:ada@example.com", "--yes")
	if asked := p.models.Requests(); code != exitOK || len(asked) != 1 || asked[0].Key == access || p.server.Refreshes() != 1 {
		t.Errorf("exit %d, %d calls, %d refreshes\n%s%s", code, len(asked), p.server.Refreshes(), out, shown)
	}
}
