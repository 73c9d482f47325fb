package provider

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// UsageWindow is one usage window of a subscription as its vendor reports it
// with a refusal: the Codex backend in the body of usage_limit_reached and in
// its x-codex-* headers (failover.md 7.13).
type UsageWindow struct {
	Used       float64       // percent; 100 and more is exhausted
	ResetAt    time.Time     // when it starts afresh; zero when only ResetAfter is known
	ResetAfter time.Duration // from the answer on
}

// Reset is when the window starts afresh, for an answer that came at now; zero
// for a time that no usage window has.
func (w UsageWindow) Reset(now time.Time) time.Time {
	if w.ResetAt.IsZero() {
		return now.Add(w.ResetAfter)
	}
	if w.ResetAt.After(now.Add(farthest)) {
		return time.Time{}
	}
	return w.ResetAt
}

// The names of the fields; vendors' own spellings and those of their clients.
var (
	resetAtNames    = []string{"resets_at", "resetsAt", "reset_at", "resetAt"}                                     // epoch seconds
	resetAfterNames = []string{"reset_after_seconds", "resetAfterSeconds", "resets_in_seconds", "resetsInSeconds"} // seconds from now
	usedNames       = []string{"used_percent", "usedPercent"}
)

// maxWindowDepth bounds how deep a body is searched.
const maxWindowDepth = 8

// usageWindows reads the windows out of a refusal's body and headers.
func usageWindows(body []byte, header http.Header) []UsageWindow {
	var windows []UsageWindow
	if v, ok := decode(body); ok {
		windows = windowsIn(v, maxWindowDepth, windows)
	}
	for _, name := range []string{"primary", "secondary"} {
		field := func(suffix string) (float64, bool) { return number(header.Get("x-codex-" + name + "-" + suffix)) }
		w := UsageWindow{}
		w.Used, _ = field("used-percent")
		if at, ok := field("reset-at"); ok {
			w.ResetAt = epochSeconds(at)
		} else if after, ok := field("reset-after-seconds"); ok && after > 0 {
			w.ResetAfter = seconds(after)
		} else {
			continue
		}
		windows = append(windows, w)
	}
	return windows
}

// windowsIn collects the objects that name a reset.
func windowsIn(v any, depth int, windows []UsageWindow) []UsageWindow {
	if depth == 0 {
		return windows
	}
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			windows = windowsIn(one, depth-1, windows)
		}
	case map[string]any:
		if w, ok := windowOf(v); ok {
			windows = append(windows, w)
		}
		for _, one := range v {
			windows = windowsIn(one, depth-1, windows)
		}
	}
	return windows
}

func windowOf(m map[string]any) (UsageWindow, bool) {
	var w UsageWindow
	at, isAt := firstNumber(m, resetAtNames)
	after, isAfter := firstNumber(m, resetAfterNames)
	switch {
	case isAt && at > 0:
		w.ResetAt = epochSeconds(at)
	case isAfter && after > 0:
		w.ResetAfter = seconds(after)
	default:
		return w, false
	}
	used, known := firstNumber(m, usedNames)
	if !known && strings.Contains(text(m["type"])+text(m["code"]), "usage_limit") {
		used = 100 // the refusal itself says which window it is about
	}
	w.Used = used
	return w, true
}

func firstNumber(m map[string]any, names []string) (float64, bool) {
	for _, name := range names {
		switch v := m[name].(type) {
		case json.Number:
			return number(v.String())
		case string:
			return number(v)
		}
	}
	return 0, false
}

func number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil
}

// farthest bounds what a reset may say: more than a year is no usage window.
const farthest = 366 * 24 * time.Hour

func seconds(f float64) time.Duration {
	return time.Duration(min(f, farthest.Seconds()) * float64(time.Second))
}

// epochSeconds also takes milliseconds, which some clients report.
func epochSeconds(f float64) time.Time {
	if f > 1e11 {
		f /= 1000
	}
	return time.UnixMilli(int64(f * 1000)).UTC()
}
