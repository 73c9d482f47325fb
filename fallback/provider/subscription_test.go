package provider

import (
	"net/http"
	"testing"
	"time"
)

// A time that no usage window has is none: it must not keep a login away for
// years, whatever a body or a header says.
func TestAResetBeyondAYearIsNone(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]bool{"1700007200": true, "1790000000": false, "99999999999": false, "1e300": false, "inf": false} {
		h := http.Header{"X-Codex-Primary-Used-Percent": {"100"}, "X-Codex-Primary-Reset-At": {text}}
		reset := ErrorFrom("openai", "gpt-5.5", 429, h, nil).Windows[0].Reset(now)
		if got := reset.After(now); got != want {
			t.Errorf("reset at %s: %v", text, reset)
		}
	}
}

// A subscription's refusal says when it can be used again, in its body or in
// its headers (failover.md 7.13).
func TestErrorKeepsUsageWindows(t *testing.T) {
	now := time.Unix(1_700_000_000, 0).UTC()
	for _, c := range []struct {
		name, body string
		header     http.Header
		want       []UsageWindow
	}{
		{"the reset of the limit that was reached, as a point in time",
			`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1700007200}}`, nil,
			[]UsageWindow{{Used: 100, ResetAt: now.Add(2 * time.Hour)}}},
		{"as seconds from now",
			`{"error":{"type":"usage_limit_reached","resets_in_seconds":60}}`, nil,
			[]UsageWindow{{Used: 100, ResetAfter: time.Minute}}},
		{"a window with its used percent",
			`{"rate_limits":[{"used_percent":42,"reset_after_seconds":30}]}`, nil,
			[]UsageWindow{{Used: 42, ResetAfter: 30 * time.Second}}},
		{"headers, one window each", ``,
			http.Header{"X-Codex-Primary-Used-Percent": {"100"}, "X-Codex-Primary-Reset-After-Seconds": {"90"}, "X-Codex-Secondary-Used-Percent": {"10"}},
			[]UsageWindow{{Used: 100, ResetAfter: 90 * time.Second}}},
		{"milliseconds are seen for what they are", `{"error":{"resetsAt":1700007200000}}`, nil,
			[]UsageWindow{{ResetAt: now.Add(2 * time.Hour)}}},
		{"no reset, no window", `{"error":{"message":"slow down","used_percent":100}}`, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ErrorFrom("openai", "gpt-5.5", 429, c.header, []byte(c.body)).Windows
			if len(got) != len(c.want) {
				t.Fatalf("windows %+v, want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("window %d is %+v, want %+v", i, got[i], c.want[i])
				}
			}
		})
	}
}
