package provider

import (
	"net/http"
	"testing"
	"time"
)

// "Any provider's reset hint sets the deadline" [D2, IL-292, IL-293].
func TestALimitSaysWhenItStartsAfresh(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		header []string // name, value, …
		want   time.Duration
	}{
		{"OpenAI: a duration", []string{"x-ratelimit-reset-requests", "7s"}, 7 * time.Second},
		{"OpenAI: the limit that is used up, not the other", []string{
			"x-ratelimit-remaining-requests", "59", "x-ratelimit-reset-requests", "1s",
			"x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"}, 6 * time.Minute},
		{"both used up: the later", []string{
			"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1s",
			"x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"}, 6 * time.Minute},
		{"nobody says what is left: the first", []string{"x-ratelimit-reset-requests", "20ms", "x-ratelimit-reset-tokens", "6m0s"}, 20 * time.Millisecond},
		{"nothing is used up: no word about this refusal", []string{"x-ratelimit-remaining-requests", "59", "x-ratelimit-reset-requests", "1s"}, 0},
		{"Anthropic: the plan's window, epoch seconds", []string{"anthropic-ratelimit-unified-reset", "1767625200"}, 3 * time.Hour},
		{"Anthropic: a date", []string{"anthropic-ratelimit-tokens-remaining", "0", "anthropic-ratelimit-tokens-reset", "2026-01-05T12:00:30Z"}, 30 * time.Second},
		{"OpenRouter: epoch milliseconds", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1767614460000"}, time.Minute},
		{"IETF: seconds from now", []string{"RateLimit-Remaining", "0", "RateLimit-Reset", "50"}, 50 * time.Second},
		{"by the vendor's clock", []string{"Date", "Mon, 05 Jan 2026 11:59:00 GMT", "X-RateLimit-Reset", "1767614400"}, time.Minute},
		{"in the past", []string{"X-RateLimit-Reset", "1767614399"}, 0},
		{"words", []string{"X-RateLimit-Reset", "soon"}, 0},
		{"absurd", []string{"X-RateLimit-Reset", "999999999999999999999"}, 0},
		{"another header", []string{"X-Password-Reset", "60"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(c.header); i += 2 {
				h.Set(c.header[i], c.header[i+1])
			}
			if got := limitReset(h, now); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// It is a 429's word only, and Retry-After comes before it (21.B.2).
func TestALimitsResetStandsBehindRetryAfter(t *testing.T) {
	h := http.Header{}
	h.Set("X-Ratelimit-Reset-Requests", "7s")
	if e := ErrorFrom("openai", "m", 429, h, nil); e.RetryAfter != 7*time.Second {
		t.Errorf("hint %v", e.RetryAfter)
	}
	if e := ErrorFrom("openai", "m", 401, h, nil); e.RetryAfter != 0 {
		t.Errorf("a refused key waits for nothing: %v", e.RetryAfter)
	}
	h.Set("Retry-After", "90")
	if e := ErrorFrom("openai", "m", 429, h, nil); e.RetryAfter != 90*time.Second {
		t.Errorf("hint %v", e.RetryAfter)
	}
}
