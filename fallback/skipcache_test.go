package fallback

import (
	"testing"
	"time"
)

// "Leading integer of the text … positive → clamped to 1 000…600 000 ms" (12.1).
func TestParseSkipTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "   ": 0, "off": 0, "0": 0, "-5": 0, "0.5": 0, "+": 0, "+-5": 0,
		"60s": time.Second, "1e3": time.Second, "999": time.Second,
		"60000": time.Minute, " 60000 ": time.Minute, "+60000": time.Minute, "1500.9": 1500 * time.Millisecond,
		"600001": 10 * time.Minute, "99999999999999999999999": 10 * time.Minute,
	} {
		if got := ParseSkipTTL(text); got != want {
			t.Errorf("ParseSkipTTL(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestSkipCache(t *testing.T) {
	const ttl = time.Minute
	f1 := Model{"anthropic", "f1"}
	c := new(SkipCache)
	hit := func(s SessionID, m Model, d time.Duration) bool {
		_, ok := c.Lookup(s, m, after(d))
		return ok
	}
	c.Mark("s1", f1, AuthFailed, ttl, after(0))
	if r, ok := c.Lookup("s1", f1, after(30*time.Second)); !ok || r != AuthFailed {
		t.Errorf("at 30 s: %q, %v; want the stored reason (sc-130)", r, ok)
	}
	if !hit("s1", Model{" Anthropic ", "f1"}, 30*time.Second) {
		t.Error("provider ids are compared normalised (12.2)")
	}
	if hit("s2", f1, 0) || hit("s1", Model{"anthropic", "f2"}, 0) {
		t.Error("another session, another model: not refused")
	}
	if !hit("s1", f1, ttl-time.Millisecond) || hit("s1", f1, ttl) {
		t.Error("it ends at its time and is not renewed by being asked (12.5, 12.6, sc-131)")
	}
	c.Mark("s1", f1, AuthPermanent, ttl, after(0))
	c.Mark("s1", Model{"groq", "b"}, RateLimit, ttl, after(0))
	c.Mark("", f1, AuthFailed, ttl, after(0))
	c.Mark("s3", f1, AuthFailed, 0, after(0))
	if got := len(c.refused); got != 1 {
		t.Errorf("%d entries, want only the refused credential of a named session with the cache on (12.3)", got)
	}
}

// "Opportunistic global pruning at most every 5 s" (12.6).
func TestSkipCacheForgets(t *testing.T) {
	c := new(SkipCache)
	f1 := Model{"anthropic", "f1"}
	c.Mark("s1", f1, AuthFailed, time.Second, after(0))
	c.Lookup("s2", f1, after(4*time.Second))
	if len(c.refused) != 1 {
		t.Error("swept before five seconds had passed")
	}
	c.Lookup("s2", f1, after(5*time.Second))
	if len(c.refused) != 0 {
		t.Error("what is over is still there")
	}
}
