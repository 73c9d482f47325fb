package tools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"standin/bot/tools"
)

func fetched(t *testing.T, hosts []string, address string) (string, error) {
	t.Helper()
	input, _ := json.Marshal(map[string]string{"url": address})
	r, err := tools.WebFetch(hosts).Run(t.Context(), tools.Place{}, input)
	return r.Text, err
}

// Neither a name, nor a redirect, nor another scheme leads a page's reader into
// the house.
func TestAPageIsNotFetchedFromTheHouse(t *testing.T) {
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the secret") }))
	defer secret.Close()
	hop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(secret.URL, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
	}))
	defer hop.Close()
	at, err := url.Parse(hop.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		secret.URL, strings.Replace(secret.URL, "127.0.0.1", "localhost", 1), "http://[::1]:1/", "http://169.254.169.254/latest/meta-data",
		"http://0.0.0.0:80/", "http://2130706433/", "http://0x7f.1/", "file:///etc/passwd", "gopher://x", "http://user:pw@example.org/", hop.URL,
	} {
		text, err := fetched(t, []string{at.Host}, address)
		if err == nil || strings.Contains(text, "secret") {
			t.Errorf("%s gave %q", address, text)
		}
	}
}

func TestAPageIsReadAsText(t *testing.T) {
	pages := map[string][2]string{
		"/html": {"text/html; charset=utf-8", `<html><head><title>Heron &amp; Co</title><style>p{color:red}</style></head><body><nav>menu</nav>
			<h1>Prices</h1><p>One <b>two</b>
			three</p><ul><li>a</li><li><a href="https://example.org/x">link</a></li></ul><script>alert("no")</script></body></html>`},
		"/latin": {"text/html; charset=iso-8859-1", "<p>caf\xe9</p>"},
		"/json":  {"application/json", `{"a":1}`},
		"/image": {"image/png", "PNG"},
		"/empty": {"text/html", ""},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := pages[r.URL.Path]
		w.Header().Set("Content-Type", p[0])
		fmt.Fprint(w, p[1])
	}))
	defer s.Close()
	for path, want := range map[string]string{
		"/html":  "\n\nHeron & Co\nPrices\nOne two three\n- a\n- link (https://example.org/x)",
		"/latin": "\n\ncafé", "/json": "\n\n{\"a\":1}", "/empty": "the page is empty",
		"/image": "image/png, which cannot be read",
	} {
		text, err := fetched(t, []string{"127.0.0.1"}, s.URL+path)
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) || path == "/html" && !strings.HasSuffix(text, want) {
			t.Errorf("%s: %q, want %q", path, text, want)
		}
	}
}
