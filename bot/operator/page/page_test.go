package page_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"standin/bot/operator/page"
)

func ask(t *testing.T, method, path string, headers map[string]string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	page.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// asked are the files that a browser asks for when it opens the page.
func asked(t *testing.T) []string {
	t.Helper()
	html := body(t, ask(t, "GET", "/", nil).Body)
	files := []string{"/"}
	for _, m := range regexp.MustCompile(`(?:href|src)="(/[^"]+)"`).FindAllStringSubmatch(html, -1) {
		files = append(files, m[1])
	}
	return files
}

func TestEveryFileThatThePageNamesIsServed(t *testing.T) {
	for _, path := range append(asked(t), "/favicon.ico") {
		r := ask(t, "GET", path, nil)
		if r.StatusCode != http.StatusOK || body(t, r.Body) == "" {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
}

func TestModulesThatAreImportedAreLoadedAhead(t *testing.T) {
	html := body(t, ask(t, "GET", "/", nil).Body)
	for _, path := range asked(t) {
		if !strings.HasSuffix(path, ".js") {
			continue
		}
		for _, m := range regexp.MustCompile(`from "\./([^"]+)"`).FindAllStringSubmatch(body(t, ask(t, "GET", path, nil).Body), -1) {
			if !strings.Contains(html, `<link rel="modulepreload" href="/page/`+m[1]+`">`) {
				t.Errorf("%s imports %s, which the page does not load ahead: it would come one round trip later", path, m[1])
			}
		}
	}
}

// A page that a browser asks for over a slow tunnel stays light.
func TestThePageWeighsLessThan150kB(t *testing.T) {
	plain, small := 0, 0
	seen := map[string]bool{}
	for _, path := range asked(t) {
		if seen[path] || !strings.Contains(path, ".") && path != "/" {
			continue
		}
		seen[path] = true
		plain += len(body(t, ask(t, "GET", path, nil).Body))
		small += len(body(t, ask(t, "GET", path, map[string]string{"Accept-Encoding": "gzip"}).Body))
	}
	t.Logf("%d files, %d bytes, %d compressed", len(seen), plain, small)
	if plain > 150_000 {
		t.Errorf("the page weighs %d bytes", plain)
	}
}

func TestNothingMayRunThatIsNotAFileOfThePage(t *testing.T) {
	for _, path := range asked(t) {
		h := ask(t, "GET", path, nil).Header
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s: %s", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http:") || strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is too wide: %s", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

// Text becomes text nodes. None of the ways from text to markup is taken.
func TestNoFileMakesMarkupOfText(t *testing.T) {
	for _, path := range asked(t) {
		src := body(t, ask(t, "GET", path, nil).Body)
		for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment", "setHTMLUnsafe", "eval(", "new Function", " style=\"", " onclick=\"", "javascript:", "http://localhost", "https://"} {
			if strings.Contains(src, way) {
				t.Errorf("%s uses %s", path, way)
			}
		}
	}
}

func TestABrowserThatHasTheFileIsToldSo(t *testing.T) {
	for _, accepts := range []string{"", "gzip, br"} {
		first := ask(t, "GET", "/page/app.js", map[string]string{"Accept-Encoding": accepts})
		tag := first.Header.Get("ETag")
		again := ask(t, "GET", "/page/app.js", map[string]string{"Accept-Encoding": accepts, "If-None-Match": tag})
		if tag == "" || again.StatusCode != http.StatusNotModified || body(t, again.Body) != "" {
			t.Errorf("accepting %q: tag %q, then status %d", accepts, tag, again.StatusCode)
		}
		if other := ask(t, "GET", "/page/app.js", map[string]string{"Accept-Encoding": accepts, "If-None-Match": `"older"`}); other.StatusCode != http.StatusOK {
			t.Errorf("accepting %q: an older file got status %d", accepts, other.StatusCode)
		}
	}
}

func TestFilesAreCompressedForThoseWhoTakeIt(t *testing.T) {
	plain := body(t, ask(t, "GET", "/page/app.js", nil).Body)
	for accepts, want := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "identity": false, "": false} {
		r := ask(t, "GET", "/page/app.js", map[string]string{"Accept-Encoding": accepts})
		got := r.Header.Get("Content-Encoding") == "gzip"
		if got != want {
			t.Errorf("accepting %q: compressed %v", accepts, got)
			continue
		}
		var src io.Reader = r.Body
		if got {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			src = z
		}
		if body(t, src) != plain {
			t.Errorf("accepting %q: another file arrived", accepts)
		}
	}
}

func TestWhatIsNoFileOfThePageIsNotServed(t *testing.T) {
	for _, path := range []string{"/page/", "/page/../page.go", "/page/page.go", "/page/static/app.js", "/index.html", "/x", "//", "/page/%2e%2e/page.go"} {
		if r := ask(t, "GET", path, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", path, r.StatusCode)
		}
	}
	if r := ask(t, "POST", "/", nil); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d", r.StatusCode)
	}
}
