package fallback

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A profile that its operator has switched off is used by nobody, whatever
// happens to it, until the operator switches it on again.
func TestNoSuccessFailureOrExpirySwitchesAProfileOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(1_700_000_000_000)
		u := Usage{}.Switched(true, now)
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Hour)).Draw(t, "wait")))
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				u = u.Success(now)
			case 1:
				f := Failed{Provider: "openai", Model: "gpt-5", Status: 429, Reason: rapid.SampledFrom(causes[:]).Draw(t, "reason")}
				u = u.After(f, DefaultCooldowns(), now)
			case 2:
				u = u.Clear(now)
			case 3:
				u = u.Stats(time.Time{}).Usage() // through the store
			}
			order, dropped := Order(&Config{}, "openai", stored("work"), map[ProfileID]Usage{"openai:work": u}, now)
			if len(order) != 0 || len(dropped) != 1 || dropped[0].Why != SwitchedOff {
				t.Fatalf("order %v, dropped %v", order, dropped)
			}
		}
		if order, _ := Order(&Config{}, "openai", stored("work"), map[ProfileID]Usage{"openai:work": u.Switched(false, now)}, now); len(order) != 1 {
			t.Fatal("switched on again, and still not used")
		}
	})
}

// IL-094: a clear resets cooldowns, disables, counters and scopes, and keeps
// lastUsed; the next failure starts at step 1.
func TestAClearLeavesOnlyLastUsed(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	u := UsageStats{
		LastUsed: now.Add(-time.Hour).UnixMilli(), ErrorCount: 7, LastFailureAt: now.UnixMilli(),
		DisabledUntil: now.Add(20 * time.Hour).UnixMilli(), DisabledReason: "billing", FailureCounts: map[string]int{"billing": 3, "rate_limit": 4},
		CooldownModels: map[string]ScopeStats{"gpt-5": {Until: now.Add(time.Hour).UnixMilli(), Reason: "rate_limit"}},
		BlockedUntil:   now.Add(time.Hour).UnixMilli(), BlockedReason: "subscription_limit", BlockedSource: "x",
	}.Usage()
	u = u.Clear(now)
	if diff := cmp.Diff(UsageStats{LastUsed: now.Add(-time.Hour).UnixMilli()}, u.Stats(time.Time{})); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	later := now.Add(time.Second)
	if until := u.After(Failed{Provider: "openai", Reason: Billing, Status: 402}, DefaultCooldowns(), later).Disabled.Until; !until.Equal(later.Add(5 * time.Hour)) {
		t.Errorf("the next billing failure disables for %v, not for the first step's 5 h", until.Sub(later))
	}
	limited := u.After(Failed{Provider: "openai", Model: "gpt-5", Reason: RateLimit, Status: 429}, DefaultCooldowns(), later)
	if until := limited.Scopes["gpt-5"].Until; !until.Equal(later.Add(time.Minute)) {
		t.Errorf("the next rate limit cools for %v, not for the first step's minute", until.Sub(later))
	}
}

// A call that had begun before the clear speaks of what was mended since; one
// that began after it counts.
func TestAFailureOfBeforeTheClearDoesNotCount(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	u := Usage{}.Clear(now)
	for name, c := range map[string]struct {
		asked time.Time
		count int
	}{
		"begun before": {now.Add(-time.Second), 0},
		"begun after":  {now.Add(time.Second), 1},
		"not known":    {time.Time{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := u.After(Failed{Provider: "openai", Reason: Billing, Status: 402, Asked: c.asked}, DefaultCooldowns(), now.Add(2*time.Second))
			if got.Errors != c.count || got.Disabled.Active(now.Add(3*time.Second)) != (c.count > 0) {
				t.Errorf("errors %d, disabled %v", got.Errors, got.Disabled)
			}
		})
	}
}

// A candidate whose credentials are all switched off is passed over for that
// reason; a person's pin to such a credential is no way around the operator.
func TestASwitchedOffCandidateIsPassedOverForThatReason(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	m := Model{"openai", "gpt-5"}
	all := stored("a", "b")
	use := func(ids ...ProfileID) map[ProfileID]Usage {
		usage := map[ProfileID]Usage{}
		for _, id := range ids {
			usage[id] = Usage{}.Switched(true, now)
		}
		return usage
	}
	pin := Pin{Profile: "openai:a", Source: ByUser}
	for name, c := range map[string]struct {
		off    map[ProfileID]Usage
		pin    Pin
		do     Do
		why    SkipWhy
		reason Reason
		about  ProfileID
	}{
		"one of two":             {off: use("openai:a"), do: Try},
		"both":                   {off: use("openai:a", "openai:b"), do: Skip, why: SkipOperator, reason: Operator, about: "openai:a"},
		"the one that is wanted": {off: use("openai:a"), pin: pin, do: Skip, why: SkipOperator, reason: Operator, about: "openai:a"},
		"the other one":          {off: use("openai:b"), pin: pin, do: Try},
	} {
		t.Run(name, func(t *testing.T) {
			order, _ := Order(&Config{}, "openai", all, c.off, now)
			s := standing(Ask{Config: &Config{}}, Plan{Pin: c.pin}, []Model{m}, 0, all, order, c.off, now)
			v := Visit(s, now)
			if v.Do != c.do || v.Why != c.why || v.Reason != c.reason || v.Profile != c.about {
				t.Errorf("got %+v", v)
			}
		})
	}
}
