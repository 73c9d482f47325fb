package discord

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// limits keeps to Discord's rate limits as its answers tell them: buckets that
// several routes may share, and one for everything. It never sleeps: it says how
// long a call has to wait, and the caller knows whether it can [D14].
type limits struct {
	now func() time.Time

	mu      sync.Mutex
	shared  map[string]string // bucket by route, once an answer has told it
	buckets map[string]*bucket
	paused  time.Time // nothing may be sent before: the global limit
}

// bucket is the state of one limit.
type bucket struct {
	left  int       // calls that may still be made before reset
	reset time.Time // when it is full again
}

func newLimits(now func() time.Time) *limits {
	return &limits{now: now, shared: map[string]string{}, buckets: map[string]*bucket{}}
}

// route is the method with the path's form, and the id that has limits of its own.
type route struct{ form, major string }

// routeOf reads a path: ids in it say nothing about the limit, but for the first
// one of channels, guilds and webhooks.
func routeOf(method, path string) route {
	parts := strings.Split(path, "/")
	r := route{}
	if len(parts) > 1 && (parts[0] == "channels" || parts[0] == "guilds" || parts[0] == "webhooks" || parts[0] == "interactions") {
		r.major = parts[1]
		if (parts[0] == "webhooks" || parts[0] == "interactions") && len(parts) > 2 {
			r.major += "/" + parts[2]
			parts[2] = ":token" // each is another one: a form that held it would be kept for ever
		}
	}
	for i, p := range parts {
		switch {
		case isSnowflake(p):
			parts[i] = ":id"
		case i > 0 && parts[i-1] == "reactions":
			parts[i] = ":emoji"
		}
	}
	r.form = method + " " + strings.Join(parts, "/")
	return r
}

// bucketLocked names the bucket of a route.
func (l *limits) bucketLocked(r route) string {
	if hash, known := l.shared[r.form]; known {
		return hash + "|" + r.major
	}
	return r.form + "|" + r.major
}

// take asks for one call on the route: 0 means go, else how long to wait before
// going without asking again.
func (l *limits) take(r route) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	wait := max(l.paused.Sub(now), 0)
	if b := l.buckets[l.bucketLocked(r)]; b != nil {
		if b.left <= 0 && b.reset.After(now) {
			wait = max(wait, b.reset.Sub(now))
		} else {
			b.left--
		}
	}
	return wait
}

// learn reads the limits out of an answer.
func (l *limits) learn(r route, status int, h http.Header, body []byte) {
	if status == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if hash := h.Get("X-RateLimit-Bucket"); hash != "" {
		l.shared[r.form] = hash
	}
	if status == http.StatusTooManyRequests {
		until := now.Add(retryAfter(h, body))
		if isGlobal(h, body) {
			l.paused = until
			return
		}
		l.buckets[l.bucketLocked(r)] = &bucket{reset: until}
		return
	}
	left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after, err2 := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if err != nil || err2 != nil {
		return
	}
	l.buckets[l.bucketLocked(r)] = &bucket{left: left, reset: now.Add(seconds(after))}
	if len(l.buckets) > 4096 {
		for name, b := range l.buckets {
			if b.reset.Before(now) {
				delete(l.buckets, name)
			}
		}
	}
}

// isGlobal tells whether a 429 is about everything: Discord's global limit, or
// its edge, which answers with a page instead of JSON.
func isGlobal(h http.Header, body []byte) bool {
	var said struct {
		Global bool `json:"global"`
	}
	if json.Unmarshal(body, &said) != nil {
		return true
	}
	return said.Global || h.Get("X-RateLimit-Global") == "true" || h.Get("X-RateLimit-Scope") == "global"
}

// retryAfter is how long a 429 lasts: the body's seconds are finer than the
// header's. An answer that says nothing gets a minute.
func retryAfter(h http.Header, body []byte) time.Duration {
	var said struct {
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &said) == nil && said.RetryAfter > 0 {
		return seconds(said.RetryAfter)
	}
	for _, name := range []string{"X-RateLimit-Reset-After", "Retry-After"} {
		if s, err := strconv.ParseFloat(h.Get(name), 64); err == nil && s > 0 {
			return seconds(s)
		}
	}
	return time.Minute
}

// seconds turns the API's float seconds into a duration, rounded up.
func seconds(s float64) time.Duration {
	s = min(max(s, 0), 24*3600)
	return time.Duration(s*1e9) + time.Millisecond
}
