package provider

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// limitReset is how long a 429 without Retry-After says that its limit lasts,
// 0 when it does not. Vendors tell each limit by itself, with what is left of
// it; the last reset of those that are used up counts. Where nobody says what
// is left, it is the first one, since any of them may be the cause.
//
// Sources: the rate limit pages of OpenAI (x-ratelimit-reset-requests: 6m0s),
// Groq (the same), Anthropic (anthropic-ratelimit-tokens-reset: RFC 3339,
// anthropic-ratelimit-unified-reset: epoch seconds) and OpenRouter
// (X-RateLimit-Reset: epoch milliseconds), and the IETF's RateLimit fields.
func limitReset(h http.Header, now time.Time) time.Duration {
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	var spent, unknown []time.Duration
	for name, values := range h {
		left, isReset := remainingOf(http.CanonicalHeaderKey(name))
		if !isReset || len(values) == 0 {
			continue
		}
		wait, ok := resetIn(values[0], now)
		if !ok {
			continue
		}
		switch remaining := strings.TrimSpace(h.Get(left)); {
		case remaining == "":
			unknown = append(unknown, wait)
		case strings.Trim(remaining, "0.") == "":
			spent = append(spent, wait)
		}
	}
	switch {
	case len(spent) > 0:
		return slices.Max(spent)
	case len(unknown) > 0:
		return slices.Min(unknown)
	}
	return 0
}

// remainingOf gives the header that tells what is left of the limit whose reset
// this one tells, in canonical spelling; false when it is none of a limit.
func remainingOf(name string) (string, bool) {
	if name != "Ratelimit-Reset" && !strings.HasPrefix(name, "X-Ratelimit-") && !strings.HasPrefix(name, "Anthropic-Ratelimit-") {
		return "", false
	}
	for _, part := range []string{"-Reset-", "-Reset"} { // the vendor's own place of the word
		if i := strings.LastIndex(name, part); i >= 0 && (part == "-Reset-" || i+len(part) == len(name)) {
			return name[:i] + strings.Replace(part, "Reset", "Remaining", 1) + name[i+len(part):], true
		}
	}
	return "", false
}

// resetIn reads a reset in any of the vendors' forms: a duration (1m30s, 7ms),
// a date, epoch seconds or milliseconds, or seconds from now. What lies in the
// past or more than a year ahead says nothing.
func resetIn(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	wait, err := time.ParseDuration(value)
	if err != nil {
		at, isDate := time.Parse(time.RFC3339, value)
		n, isNumber := number(value)
		switch {
		case isDate == nil:
			wait = at.Sub(now)
		case isNumber && n >= 1e9:
			wait = epochSeconds(n).Sub(now)
		case isNumber && n >= 0:
			wait = seconds(n)
		default:
			return 0, false
		}
	}
	return wait, wait > 0 && wait <= farthest
}
