package operator

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Without a token this machine alone comes in: not by another's name for it, not
// through a proxy, and not where others reach the port.
func TestWhoComesInWithoutAToken(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"this machine":                      {func(*http.Request) {}, 200},
		"by its address":                    {func(r *http.Request) { r.Host = "127.0.0.1:18790" }, 200},
		"by its other address":              {func(r *http.Request) { r.Host = "[::1]:18790" }, 200},
		"DNS rebinding":                     {func(r *http.Request) { r.Host = "evil.example" }, 403},
		"DNS rebinding with the port":       {func(r *http.Request) { r.Host = "evil.example:18790" }, 403},
		"a name that only begins like ours": {func(r *http.Request) { r.Host = "localhost.evil.example" }, 403},
		"no name":                           {func(r *http.Request) { r.Host = "" }, 403},
		"another machine":                   {coming("192.0.2.7:50000"), 403},
		"another machine with our name":     {func(r *http.Request) { r.RemoteAddr, r.Host = "192.0.2.7:1", "localhost" }, 403},
		"a tunnel of this machine":          {header("X-Forwarded-For", "192.0.2.7"), 403},
		"another tunnel":                    {header("Cf-Connecting-Ip", "192.0.2.7"), 403},
		"another site's page":               {header("Sec-Fetch-Site", "cross-site"), 403},
		"the page itself":                   {header("Sec-Fetch-Site", "same-origin"), 200},
	} {
		t.Run(name, func(t *testing.T) {
			if w := open(t).ask("GET", base+"/now", "", c.change); w.Code != c.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
	exposed := open(t, func(o *Options) { o.Settings.Exposed = true })
	if w := exposed.ask("GET", base+"/now", ""); w.Code != 403 || !strings.Contains(bodyOf(w), "gateway.auth.token") {
		t.Errorf("exposed: %d", w.Code)
	}
}

// With a token nobody comes in without it, this machine included.
func TestWhoComesInWithAToken(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"nothing":            {func(*http.Request) {}, 401},
		"the token":          {bearing(token), 200},
		"a wrong token":      {bearing(token + "x"), 401},
		"its beginning":      {bearing(token[:10]), 401},
		"an empty token":     {bearing(""), 401},
		"another scheme":     {header("Authorization", "Basic "+token), 401},
		"in the address":     {func(r *http.Request) { r.URL.RawQuery = "token=" + token }, 401},
		"another machine":    {func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1"; bearing(token)(r) }, 200},
		"a cookie of nobody": {func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: "x"}) }, 401},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, withToken)
			w := h.ask("GET", base+"/now", "", c.change)
			if w.Code != c.want {
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
			if strings.Contains(w.Body.String(), token) || strings.Contains(h.log.String(), token) {
				t.Error("the token is told")
			}
		})
	}
}

// Everything but the way in is behind the token: a new route is, too.
func TestNothingIsForgottenOutsideTheDoor(t *testing.T) {
	h := open(t, withToken, func(o *Options) { o.Settings.Pprof = true })
	free := map[string]bool{"me": true, "login": true, "logout": true, "contract": true, "alive": true, "readiness": true}
	for _, r := range routes() {
		if r.do == nil && r.serve == nil {
			continue
		}
		path := r.fullPath()
		for _, v := range pathValue.FindAllString(path, -1) {
			path = strings.Replace(path, v, "x", 1)
		}
		if w := h.ask(r.method, path, "{}"); free[r.id] == (w.Code == 401) && r.id != "login" {
			t.Errorf("%s %s: %d", r.method, path, w.Code)
		}
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap", base + "/../v1/now", base + "//now", "/api/v1/%6eow"} {
		if w := h.ask("GET", path, ""); w.Code == 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A login gives a cookie that scripts do not see and other sites do not send, and
// that ends with logout, with time, and with the process.
func TestLogin(t *testing.T) {
	h := open(t, withToken)
	if w := h.ask("POST", base+"/login", `{"token":"wrong"}`); w.Code != 401 || len(w.Result().Cookies()) != 0 {
		t.Fatalf("wrong token: %d %v", w.Code, w.Result().Cookies())
	}
	w := h.ask("POST", base+"/login", `{"token":"`+token+`","name":"Ada"}`)
	if w.Code != 200 || len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || len(c.Value) < 40 {
		t.Errorf("cookie: %+v", c)
	}
	with := func(r *http.Request) { r.AddCookie(c) }
	if w := h.ask("GET", base+"/me", "", with); !strings.Contains(bodyOf(w), `"loggedIn":true`) || !strings.Contains(w.Body.String()+bodyOf(h.ask("GET", base+"/me", "", with)), "Ada") {
		t.Errorf("me: %s", w.Body)
	}
	if w := h.ask("GET", base+"/now", "", with); w.Code != 200 {
		t.Errorf("with the cookie: %d", w.Code)
	}
	h.now = h.now.Add(loginKept + time.Hour)
	if w := h.ask("GET", base+"/now", "", with); w.Code != 401 {
		t.Errorf("a week later: %d", w.Code)
	}
	again := h.ask("POST", base+"/login", `{"token":"`+token+`"}`).Result().Cookies()[0]
	h.ask("POST", base+"/logout", "", func(r *http.Request) { r.AddCookie(again) })
	if w := h.ask("GET", base+"/now", "", func(r *http.Request) { r.AddCookie(again) }); w.Code != 401 {
		t.Errorf("after logout: %d", w.Code)
	}
}

// The page's form works without a script.
func TestLoginByForm(t *testing.T) {
	h := open(t, withToken)
	form := header("Content-Type", "application/x-www-form-urlencoded")
	w := h.ask("POST", base+"/login", "token="+token+"&name=Ada", form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || len(w.Result().Cookies()) != 1 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = h.ask("POST", base+"/login", "token=wrong", form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/?login=unauthorized" || len(w.Result().Cookies()) != 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// Guessing gets slower, by address; the right token does not help an address that
// has to wait, and others do not wait for it.
func TestGuessingIsSlowedDown(t *testing.T) {
	h := open(t, withToken)
	guess := func(addr, given string) *httptest.ResponseRecorder {
		return h.ask("GET", base+"/now", "", coming(addr), bearing(given))
	}
	for range freeTries {
		if w := guess("192.0.2.7:1", "wrong"); w.Code != 401 {
			t.Fatalf("%d", w.Code)
		}
	}
	w := guess("192.0.2.7:2", token)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	if w := guess("192.0.2.8:1", token); w.Code != 200 {
		t.Errorf("another address: %d", w.Code)
	}
	h.now = h.now.Add(time.Second)
	if w := guess("192.0.2.7:2", "wrong"); w.Code != 401 {
		t.Errorf("after the wait: %d", w.Code)
	}
	if w := guess("192.0.2.7:2", "wrong"); w.Header().Get("Retry-After") != "2" {
		t.Errorf("the wait does not grow: %v", w.Header())
	}
	h.now = h.now.Add(2 * time.Second)
	if w := guess("192.0.2.7:2", token); w.Code != 200 {
		t.Errorf("the right token after the wait: %d", w.Code)
	}
	for i := range freeTries {
		guess(fmt.Sprintf("[2001:db8::%d]:1", i), "wrong")
	}
	if w := guess("[2001:db8::ffff]:1", token); w.Code != http.StatusTooManyRequests {
		t.Errorf("a neighbour in the same network: %d", w.Code)
	}
	for i := range mostTries + 10 {
		h.door.tries.failed(remote(&http.Request{RemoteAddr: fmt.Sprintf("10.%d.%d.1:1", i/250, i%250)}), h.now)
	}
	if n := len(h.door.tries.seen); n > mostTries {
		t.Errorf("%d addresses are remembered", n)
	}
}

// A page of another site changes nothing, whatever it sends along.
func TestOtherSitesChangeNothing(t *testing.T) {
	h := open(t)
	for name, change := range map[string]func(*http.Request){
		"its origin":     header("Origin", "https://evil.example"),
		"no origin":      header("Origin", "null"),
		"what it fetchs": header("Sec-Fetch-Site", "cross-site"),
		"a sibling":      header("Sec-Fetch-Site", "same-site"),
	} {
		for _, path := range []string{"/chat", "/cron/j1/run", "/credentials/openai:default/disable", "/login", "/logout"} {
			if w := h.ask("POST", base+path, `{"text":"x"}`, change); w.Code != 403 {
				t.Errorf("%s, %s: %d %s", name, path, w.Code, w.Body)
			}
		}
	}
	if len(h.bot.said)+len(h.rows.acts) != 0 {
		t.Errorf("it was done: %v %v", h.bot.said, h.rows.acts)
	}
	if w := h.ask("POST", base+"/chat", `{"text":"x"}`, header("Origin", "http://localhost"), header("Sec-Fetch-Site", "same-origin")); w.Code != http.StatusAccepted {
		t.Errorf("the page itself: %d %s", w.Code, w.Body)
	}
}

// A body that has no end is not read to its end.
func TestHugeBodies(t *testing.T) {
	h := open(t)
	w := h.ask("POST", base+"/chat", `{"text":"`+strings.Repeat("x", maxBody)+`"}`)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := h.ask("POST", base+"/chat", `{"text":"`+strings.Repeat("x", maxSaid+1)+`"}`); w.Code != 400 || !strings.Contains(bodyOf(w), "in parts") {
		t.Errorf("%d", w.Code)
	}
	if w := h.ask("POST", base+"/chat", strings.Repeat(`{"text":`, 10000)); w.Code != 400 {
		t.Errorf("nested: %d", w.Code)
	}
	if w := h.ask("POST", base+"/chat", `{"text":"a"}{"text":"b"}`); w.Code != 400 {
		t.Errorf("two values: %d", w.Code)
	}
}

// A client that sends its body drop by drop is let go: its connection has a
// deadline for reading, and one for writing.
func TestSlowClients(t *testing.T) {
	h := open(t)
	seen := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "http://localhost"+base+"/chat", strings.NewReader(`{"text":"x"}`))
	r.RemoteAddr = "127.0.0.1:1"
	h.Handler().ServeHTTP(seen, r)
	if left := time.Until(seen.read); left <= 0 || left > readTime {
		t.Errorf("reading ends in %v", left)
	}
	if !seen.lifted {
		t.Error("an answer that takes long would be cut off by it")
	}
	if left := time.Until(seen.write); left <= 0 || left > writeTime {
		t.Errorf("writing ends in %v", left)
	}
}

type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Time
	lifted      bool
}

// SetReadDeadline keeps the deadline of the body; once that is read there is none.
func (d *deadlines) SetReadDeadline(t time.Time) error {
	if t.IsZero() {
		d.lifted = true
	} else {
		d.read = t
	}
	return nil
}
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// A name of the host is this machine's only if no name server can say otherwise.
func FuzzLocalName(f *testing.F) {
	for _, s := range []string{"localhost", "localhost:1", "127.0.0.1", "[::1]:2", "a.localhost", "evil.example", "127.0.0.1.evil.example", "[::1", "0x7f.1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !localName(host) {
			return
		}
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
		if ip := net.ParseIP(strings.SplitN(name, "%", 2)[0]); ip == nil && name != "localhost" && !strings.HasSuffix(name, ".localhost") || ip != nil && !ip.IsLoopback() {
			t.Errorf("%q counts as this machine", host)
		}
	})
}
