package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// cookieName is the cookie of a person who has logged in.
const cookieName = "standin_session"

const (
	loginKept = 7 * 24 * time.Hour // of a login that is not used
	mostKept  = 64                 // logins at a time; of more the oldest goes
)

// visitor is who asks.
type visitor struct {
	name string // as they called themselves when they logged in, "" unnamed
	via  string // "page from 127.0.0.1", "API from …"
	in   bool   // came in by token or cookie, or needs neither
}

// door decides who comes in. Without a token that is this machine alone: its
// address, asked for under a name that only means this machine, by no proxy.
type door struct {
	token   [sha256.Size]byte
	wanted  bool // a token is needed
	exposed bool
	tries   *tries

	mu     sync.Mutex
	logins map[[sha256.Size]byte]*login
	now    func() time.Time
}

type login struct {
	name string
	used time.Time
}

func newDoor(s Settings, now func() time.Time) *door {
	token := s.Token.Reveal()
	return &door{token: sha256.Sum256([]byte(token)), wanted: token != "", exposed: s.Exposed,
		tries: newTries(), logins: map[[sha256.Size]byte]*login{}, now: now}
}

// admit tells who asks, or why they are turned away.
func (d *door) admit(r *http.Request, now time.Time) (visitor, *refusal) {
	from := remote(r)
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return visitor{}, forbidden("the request comes from another site's page")
	}
	if !d.wanted {
		if refused := d.local(r, from); refused != nil {
			return visitor{}, refused
		}
		v := visitor{via: "page from " + from.String(), in: true}
		if one, ok := d.cookie(r, now); ok {
			v.name = one.name
		}
		return v, nil
	}
	if one, ok := d.cookie(r, now); ok {
		return visitor{name: one.name, via: "page from " + from.String(), in: true}, nil
	}
	given, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bears {
		return visitor{}, &refusal{status: http.StatusUnauthorized, code: "unauthorized", says: "a token is needed: send Authorization: Bearer with gateway.auth.token, or log in on the page"}
	}
	if refused := d.check(given, from, now); refused != nil {
		return visitor{}, refused
	}
	return visitor{name: clean(r.Header.Get("X-Standin-Operator")), via: "API from " + from.String(), in: true}, nil
}

// local lets this machine in without a token. A page of somebody else's that has
// its own name point to this machine is stopped by that name, and what a proxy
// passes on by what a proxy says.
func (d *door) local(r *http.Request, from netip.Addr) *refusal {
	const mend = "set gateway.auth.token in the config to let others in"
	switch {
	case d.exposed:
		return forbidden("others can reach this port, so the API wants a token: " + mend)
	case !from.IsLoopback():
		return forbidden("only this machine may ask without a token: " + mend)
	case !localName(r.Host):
		return forbidden("without a token the API answers to localhost and 127.0.0.1 only, not to other names: " + mend)
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via", "Cf-Connecting-Ip"} {
		if r.Header.Get(h) != "" {
			return forbidden("the request comes through a proxy: " + mend)
		}
	}
	return nil
}

func forbidden(says string) *refusal {
	return &refusal{status: http.StatusForbidden, code: "forbidden", says: says}
}

// localName tells whether a Host header names this machine by a name that no
// name server can point elsewhere.
func localName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.IsLoopback()
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// check compares a token, in a time that does not tell how much of it is right.
// An address that guesses is made to wait.
func (d *door) check(given string, from netip.Addr, now time.Time) *refusal {
	if wait := d.tries.wait(from, now); wait > 0 {
		return &refusal{status: http.StatusTooManyRequests, code: "too_many", retryAfter: wait,
			says: "there were too many wrong tokens from this address; try again in " + wait.Round(time.Second).String()}
	}
	sum := sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(sum[:], d.token[:]) != 1 {
		d.tries.failed(from, now)
		return &refusal{status: http.StatusUnauthorized, code: "unauthorized", says: "the token is wrong; it is gateway.auth.token of the config"}
	}
	d.tries.passed(from)
	return nil
}

// cookie finds the login of a request.
func (d *door) cookie(r *http.Request, now time.Time) (login, bool) {
	c, err := r.Cookie(cookieName)
	if err != nil || c.Value == "" {
		return login{}, false
	}
	key := sha256.Sum256([]byte(c.Value))
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.logins[key]
	if one == nil {
		return login{}, false
	}
	if now.Sub(one.used) > loginKept {
		delete(d.logins, key)
		return login{}, false
	}
	one.used = now
	return *one, true
}

// enter makes a login and gives its cookie.
func (d *door) enter(name string, secure bool, now time.Time) *http.Cookie {
	value := rand.Text() + rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.logins) >= mostKept {
		var oldest [sha256.Size]byte
		var at time.Time
		for k, one := range d.logins {
			if at.IsZero() || one.used.Before(at) {
				oldest, at = k, one.used
			}
		}
		delete(d.logins, oldest)
	}
	d.logins[sha256.Sum256([]byte(value))] = &login{name: clean(name), used: now}
	return sessionCookie(value, int(loginKept/time.Second), secure)
}

// leave forgets a login.
func (d *door) leave(r *http.Request) {
	if c, err := r.Cookie(cookieName); err == nil {
		d.mu.Lock()
		delete(d.logins, sha256.Sum256([]byte(c.Value)))
		d.mu.Unlock()
	}
}

func sessionCookie(value string, age int, secure bool) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
}

// remote is the address at the other end of the connection.
func remote(r *http.Request) netip.Addr {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return at.Addr().Unmap()
	}
	return netip.Addr{}
}

// clean makes a name that somebody gave themselves fit for a line of the record.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > 64 {
		name = string(r[:64])
	}
	return name
}
