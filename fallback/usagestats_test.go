package fallback

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameUsage compares what a store must give back. An absent map and an empty
// one are the same.
var sameUsage = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(time.Time.Equal)}

func TestStatsUseTheNamesOfUsageStats(t *testing.T) {
	tests := []struct {
		name string
		u    Usage
		now  time.Time
		want string
	}{
		{"a fresh profile has nothing to say", Usage{}, usageStart, `{}`},
		{
			"one scope shows as cooldownModel (sc-055, D2)",
			fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil}), usageStart,
			`{"cooldownUntil":1700000060000,"cooldownReason":"rate_limit","cooldownModel":"m1",
			  "cooldownModels":{"m1":{"until":1700000060000,"reason":"rate_limit"}},
			  "errorCount":1,"failureCounts":{"rate_limit":1},"lastFailureAt":1700000000000,
			  "ladders":{"m1":{"errorCount":1,"lastFailureAt":1700000000000}}}`,
		},
		{
			"two scopes show as cooldownModels alone: no single field may claim the whole profile (IL-099)",
			fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil}, hit{0, RateLimit, "m2", nil}), usageStart,
			`{"cooldownModels":{"m1":{"until":1700000060000,"reason":"rate_limit"},"m2":{"until":1700000060000,"reason":"rate_limit"}},
			  "errorCount":2,"failureCounts":{"rate_limit":2},"lastFailureAt":1700000000000,
			  "ladders":{"m1":{"errorCount":1,"lastFailureAt":1700000000000},"m2":{"errorCount":1,"lastFailureAt":1700000000000}}}`,
		},
		{
			"what has passed is not shown, its step is (D1, 7.9)",
			fail(CooldownConfig{}, hit{0, Overloaded, "m1", nil}), after(time.Minute),
			`{"errorCount":1,"failureCounts":{"overloaded":1},"lastFailureAt":1700000000000,
			  "ladders":{"*":{"errorCount":1,"lastFailureAt":1700000000000}}}`,
		},
		{
			"disabled and blocked",
			Usage{
				LastUsed: usageStart, Disabled: Window{after(time.Hour), Billing},
				Blocked: Window{after(time.Hour), SubscriptionLimit}, BlockSource: "codex_rate_limits", BlockedModel: "m1",
			}, usageStart,
			`{"lastUsed":1700000000000,"disabledUntil":1700003600000,"disabledReason":"billing",
			  "blockedUntil":1700003600000,"blockedReason":"subscription_limit","blockedSource":"codex_rate_limits","blockedModel":"m1"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := json.Marshal(tt.u.Stats(tt.now))
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Stats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatsOfAnOlderFileOrAScript(t *testing.T) {
	read := func(t *testing.T, text string) Usage {
		t.Helper()
		var s UsageStats
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		return s.Usage()
	}
	next := func(u Usage, r Reason, model string) time.Duration {
		now := after(time.Hour)
		u = u.After(hit{reason: r, model: model}.failed(), CooldownConfig{}, now)
		w, _ := u.Blocking(model, now)
		return w.Until.Sub(now)
	}
	t.Run("a cooldown without a model is over all models", func(t *testing.T) {
		u := read(t, `{"cooldownUntil":1700000180000,"cooldownReason":"overloaded","errorCount":1,"failureCounts":{"overloaded":1},"lastFailureAt":1699999940000}`)
		if u.Usable("m1", usageStart) || u.Whole.Errors != 1 {
			t.Errorf("read as %+v", u)
		}
		if got := next(u, Overloaded, "m1"); got != 5*time.Minute {
			t.Errorf("the next overload cools for %s, want the second step", got)
		}
	})
	t.Run("a cooldown with a model is that model's", func(t *testing.T) {
		u := read(t, `{"cooldownUntil":1700000180000,"cooldownReason":"rate_limit","cooldownModel":"m1","errorCount":2,"lastFailureAt":1699999940000}`)
		if u.Usable("m1", usageStart) || !u.Usable("m2", usageStart) {
			t.Errorf("read as %+v", u)
		}
		if got := next(u, RateLimit, "m1"); got != 25*time.Minute {
			t.Errorf("the next rate limit cools for %s, want the third step", got)
		}
	})
	t.Run("counts without a window go on with whichever model fails next (D1)", func(t *testing.T) {
		u := read(t, `{"errorCount":1,"failureCounts":{"rate_limit":1},"lastFailureAt":1699999940000}`)
		if got := next(u, RateLimit, "m1"); got != 5*time.Minute {
			t.Errorf("the next rate limit cools for %s, want the second step", got)
		}
		if got := next(u, AuthFailed, "m1"); got != time.Minute {
			t.Errorf("an auth failure cools for %s: rate limits are not its steps", got)
		}
	})
	t.Run("reasons that are not ours are dropped, their windows stay", func(t *testing.T) {
		u := read(t, `{"cooldownUntil":1700000180000,"cooldownReason":"tired","failureCounts":{"tired":3,"timeout":1},"errorCount":4}`)
		if u.Whole.Reason != NoReason || u.Usable("m1", usageStart) {
			t.Errorf("read as %+v", u)
		}
		if diff := cmp.Diff(map[Reason]int{Timeout: 1}, u.Failures); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStatsThereAndBack(t *testing.T) {
	histories := [][]hit{
		nil,
		{{0, RateLimit, "m1", nil}},
		{{0, RateLimit, "m1", nil}, {time.Second, Timeout, "m2", nil}},
		{{0, RateLimit, "m1", nil}, {time.Second, AuthFailed, "", nil}, {2 * time.Second, Billing, "m1", nil}},
		{{0, RateLimit, "m1", nil}, {time.Second, RateLimit, "m1", func(f *Failed) { f.Reset, f.ResetSource = after(time.Hour), "codex_rate_limits" }}},
		{{0, Overloaded, "m1", nil}, {time.Second, RateLimit, "m1", retryAfter(time.Hour)}},
	}
	for _, h := range histories {
		want := fail(CooldownConfig{}, h...)
		if diff := cmp.Diff(want, want.Stats(time.Time{}).Usage(), sameUsage); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", h, diff)
		}
	}
}
