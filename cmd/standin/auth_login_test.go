package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"standin/fallback/auth"
	"standin/fallback/auth/authtest"
	"standin/store"
)

// loginClinic has a config whose openai logins are the test server's.
func loginClinic(t *testing.T) (*clinic, *authtest.Server) {
	t.Helper()
	s, err := authtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := newClinic(t, onlyOne)
	text, err := os.ReadFile(c.path())
	if err != nil {
		t.Fatal(err)
	}
	c.write(string(text) + strings.ReplaceAll("auth: {oauth: {groq: {authorizeUrl: \"URL/authorize\", tokenUrl: \"URL/token\", deviceUrl: \"URL/device\", clientId: "+authtest.ClientID+"}}}\n", "URL", s.URL))
	return c, s
}

// addressIn finds the address that a person is to open.
func addressIn(text string) string {
	return regexp.MustCompile(`http://\S+/authorize\?\S+`).FindString(text)
}

// A login in a browser on this machine, and by pasting where the browser ended:
// the credential is named after the account, recorded, and no token is printed.
func TestLoginByBrowserAndByPaste(t *testing.T) {
	for _, way := range []string{"browser", "paste"} {
		t.Run(way, func(t *testing.T) {
			c, s := loginClinic(t)
			var out bytes.Buffer
			said, tell := io.Pipe()
			stdin, typist := io.Pipe()
			args := []string{"auth", "login", "groq"}
			if way == "paste" {
				args = append(args, "--paste")
			}
			done := make(chan int, 1)
			go func() {
				done <- run(world{ctx: t.Context(), getenv: c.getenv, stdin: stdin, stdout: &out, stderr: tell}, args)
				_ = tell.Close()
			}()
			told := bufio.NewReader(said)
			var errs strings.Builder
			for addressIn(errs.String()) == "" {
				line, err := told.ReadString('\n')
				if errs.WriteString(line); err != nil {
					t.Fatalf("no address was shown: %s", errs.String())
				}
			}
			rest := make(chan string, 1)
			go func() { text, _ := io.ReadAll(told); rest <- string(text) }()
			browser := http.Client{}
			if way == "paste" {
				browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			}
			page, err := browser.Get(addressIn(errs.String()))
			if err != nil {
				t.Fatal(err)
			}
			_ = page.Body.Close()
			if way == "paste" {
				if _, err := io.WriteString(typist, page.Header.Get("Location")+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			code := <-done
			errs.WriteString(<-rest)
			if code != exitOK {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			c.want("login", out.String(), "Logged in: stored groq:"+s.Email+".")
			c.want("show", c.must("", "show", "groq:"+s.Email), "groq:ada@example.com: login of ada@example.com, stored", "it renews itself", "logged in (command line)")
			creds := store.OpenCredentials(store.Options{Dir: c.dir})
			defer creds.Close()
			one, _, found, err := creds.Get(t.Context(), "main", "groq:ada@example.com")
			if err != nil || !found {
				t.Fatal(found, err)
			}
			login, err := auth.Parse("groq", one.Secret)
			if err != nil || login.Access.Empty() || login.Refresh.Empty() {
				t.Fatalf("stored: %v, %v", login, err)
			}
			for _, token := range []string{login.Access.Reveal(), login.Refresh.Reveal()} {
				if strings.Contains(out.String()+errs.String(), token) {
					t.Errorf("a token is printed: %s%s", out.String(), errs.String())
				}
			}
		})
	}
}
