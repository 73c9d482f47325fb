// Package page is the operator's page [C7, G26]: what answers now and why, what
// switched when, sessions, jobs, costs, rehearsals, and a chat with the agents.
//
// It is one static page of plain modules, without a build step and without a
// template: everything it shows comes from the API of package operator, which it
// may use as anyone may. It writes what it was told as text, never as markup, and
// its policy forbids the browser to do otherwise.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// Prefix is where the files stand which the page asks for; the page itself
// stands at "/".
const Prefix = "/page/"

// policy is what a browser may do here: load our own files and talk to our own
// API. No script or style may stand in the markup, none may be made of text
// (trusted types), and no other page may frame this one.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is one file, ready to be sent.
type file struct {
	kind, tag    string
	plain, small []byte // small: as gzip
}

// kinds are the types of the files by their ending; a browser is not to guess.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Handler serves the page at "/", its files under Prefix, and a favicon.
func Handler() http.Handler {
	files := read()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.Error(w, "There is no such page. The operator's page is at /.", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The page can only be read.", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

// read takes up all files under the paths at which they are served. It panics
// when one cannot be: they are part of the program.
func read() map[string]file {
	files := map[string]file{}
	entries, err := static.ReadDir("static")
	if err != nil {
		panic(fmt.Sprintf("the files of the page cannot be read: %v", err))
	}
	for _, e := range entries {
		b, err := static.ReadFile("static/" + e.Name())
		kind := kinds[path.Ext(e.Name())]
		if err != nil || kind == "" {
			panic(fmt.Sprintf("the page's file %s cannot be served: type %q, %v", e.Name(), kind, err))
		}
		sum := sha256.Sum256(b)
		files[Prefix+e.Name()] = file{kind: kind, tag: hex.EncodeToString(sum[:8]), plain: b, small: squeeze(b)}
	}
	files["/"] = files[Prefix+"index.html"]
	files["/favicon.ico"] = files[Prefix+"icon.svg"]
	return files
}

// squeeze compresses once, at the start, what tunnels to far machines carry.
func squeeze(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// serve sends the file, or says that the browser has it. Browsers ask each time:
// a daemon that was brought up to date never meets the page of its former self.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	body, tag := f.plain, f.tag
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		body, tag = f.small, f.tag+"-gz"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reads an Accept-Encoding; a weight of nothing is a refusal.
func takesGzip(accepts string) bool {
	for part := range strings.SplitSeq(accepts, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
