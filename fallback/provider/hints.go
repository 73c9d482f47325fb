package provider

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads how long a vendor asks to wait (failover.md 21.B.2):
// retry-after-ms as a plain decimal in milliseconds, else retry-after as
// digits in seconds or as one of the three HTTP dates. Any other text is no
// hint. A number too large for a Duration is the largest Duration. now is used
// for dates when the answer has no Date of its own: the vendor's clock and
// ours may differ, the wait it means does not.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if wait, ok := decimal(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait, true
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		return decimal(value, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, until.Sub(now)), true
}

// decimal reads digits with an optional fraction as a number of units.
func decimal(s string, unit time.Duration) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	whole, fraction, dotted := strings.Cut(s, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && n == 0 { // out of range gives +Inf, which is capped below
		return 0, false
	}
	if n *= float64(unit); n >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(n), true
}

// keptHeaders are the answer headers worth keeping: hints, limits, the ids a
// vendor's support asks for. Cookies and everything unknown stay out.
var keptHeaders = map[string]bool{
	"Retry-After": true, "Retry-After-Ms": true, "X-Should-Retry": true,
	"Content-Type": true, "Date": true, "Openai-Processing-Ms": true,
	"Request-Id": true, "X-Request-Id": true, "X-Correlation-Id": true, "X-Amzn-Requestid": true,
	"X-Goog-Request-Id": true, "Apim-Request-Id": true, "Cf-Ray": true,
	"Ratelimit": true, "Ratelimit-Policy": true,
}

var keptPrefixes = []string{"X-Ratelimit-", "Anthropic-Ratelimit-", "Ratelimit-"}

// keepHeader copies the safe headers of an answer, nil when there are none.
func keepHeader(h http.Header, secrets []string) http.Header {
	var kept http.Header
	for name, values := range h {
		canonical := http.CanonicalHeaderKey(name)
		if !keptHeaders[canonical] && !hasAnyPrefix(canonical, keptPrefixes) {
			continue
		}
		if kept == nil {
			kept = make(http.Header)
		}
		for _, v := range values {
			kept[canonical] = append(kept[canonical], scrub(v, secrets))
		}
	}
	return kept
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
