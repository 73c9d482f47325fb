package fallback

import (
	"fmt"
	"testing"
	"time"
)

func TestVisit(t *testing.T) {
	gpt := Model{"openai", "gpt-5.5"}
	of := func(u Usage) map[ProfileID]Usage { return map[ProfileID]Usage{"openai:a": u} }
	cool := func(left time.Duration, r Reason) map[ProfileID]Usage {
		return of(cooling(left, r, map[Reason]int{r: 1}))
	}
	billing := func(left time.Duration) map[ProfileID]Usage { return of(Usage{Disabled: Window{after(left), Billing}}) }
	blocked := func(left time.Duration, model string) map[ProfileID]Usage {
		return of(Usage{Blocked: Window{after(left), SubscriptionLimit}, BlockSource: "codex_rate_limits", BlockedModel: model})
	}
	ago := func(d time.Duration) time.Time { return usageStart.Add(-d) }
	const primary, other = 1, 2
	skip := func(why SkipWhy, r Reason) Verdict { return Verdict{Do: Skip, Why: why, Reason: r} }
	probe := func(r Reason) Verdict { return Verdict{Do: Probe, Reason: r, Transient: true} }
	try := Verdict{Do: Try}
	tests := []struct {
		name     string
		position int
		usage    map[ProfileID]Usage
		with     func(*Standing)
		want     Verdict
	}{
		{"a usable profile: run normally (11.2)", primary, nil, nil, try},
		{"rate limited for 30 minutes: the primary is probed at once, not only near expiry", primary, cool(30*time.Minute, RateLimit), nil, probe(RateLimit)},
		{"probed 31 s ago: again (sc-112)", primary, cool(30*time.Minute, RateLimit), func(s *Standing) { s.LastProbe = ago(31 * time.Second) }, probe(RateLimit)},
		{"probed 30 s ago: again (11.4)", primary, cool(30*time.Minute, RateLimit), func(s *Standing) { s.LastProbe = ago(30 * time.Second) }, probe(RateLimit)},
		{"probed less than 30 s ago: not now", primary, cool(30*time.Minute, RateLimit), func(s *Standing) { s.LastProbe = ago(30*time.Second - 1) }, skip(SkipProbeThrottled, RateLimit)},
		{"billing with 5 h left: skipped with its reason (sc-115)", primary, billing(5 * time.Hour), nil, skip(SkipBilling, Billing)},
		{"billing with 100 s left: probed, and the slot stays free (sc-116, 11.7)", primary, billing(100 * time.Second), nil, Verdict{Do: Probe, Reason: Billing}},
		{"billing with 120 s left: within the margin", primary, billing(120 * time.Second), nil, Verdict{Do: Probe, Reason: Billing}},
		{"billing of the only candidate: the throttle is all that counts (sc-117)", primary, billing(5 * time.Hour), func(s *Standing) { s.Total = 1 }, Verdict{Do: Probe, Reason: Billing}},
		{"and when that is closed: skipped (11.9)", primary, billing(5 * time.Hour), func(s *Standing) { s.Total, s.LastProbe = 1, ago(time.Second) }, skip(SkipProbeThrottled, Billing)},
		{"billing of another candidate: always skipped", other, billing(100 * time.Second), nil, skip(SkipBilling, Billing)},
		{"an auth window: never probed (sc-118, D13c)", primary, cool(time.Minute, AuthFailed), nil, skip(SkipPersistentAuth, AuthFailed)},
		{"an auth window of the only candidate: not probed either", primary, cool(time.Minute, AuthFailed), func(s *Standing) { s.Total = 1 }, skip(SkipPersistentAuth, AuthFailed)},
		{"an auth window keeps every candidate of the provider away (sc-118)", other, cool(time.Minute, AuthFailed), nil, skip(SkipPersistentAuth, AuthFailed)},
		{"permanent auth likewise", other, of(Usage{Disabled: Window{after(time.Minute), AuthPermanent}}), nil, skip(SkipPersistentAuth, AuthPermanent)},
		{"overloaded with three minutes left: left alone", primary, cool(3*time.Minute, Overloaded), nil, skip(SkipCooldown, Overloaded)},
		{"overloaded with one minute left: probed", primary, cool(time.Minute, Overloaded), nil, probe(Overloaded)},
		{"overloaded, but within the throttle", primary, cool(time.Minute, Overloaded), func(s *Standing) { s.LastProbe = ago(time.Second) }, skip(SkipProbeThrottled, Overloaded)},
		{"timeout keeps its reason (IL-004)", primary, cool(30*time.Minute, Timeout), nil, skip(SkipCooldown, Timeout)},
		{"another candidate is tried once while it cools", other, cool(30*time.Minute, Overloaded), nil, probe(Overloaded)},
		{"the throttle is the primary's alone", other, cool(30*time.Minute, RateLimit), func(s *Standing) { s.LastProbe = ago(time.Second) }, probe(RateLimit)},
		{"one transient probe per provider per run (sc-119, sc-122)", other, cool(30*time.Minute, RateLimit), func(s *Standing) { s.ProbeUsed = true }, skip(SkipProbeUsed, RateLimit)},
		{"a sibling's rate limit is no cooldown of this model (sc-120)", other, of(fail(CooldownConfig{}, hit{0, RateLimit, "gpt-5.4", nil})), func(s *Standing) { s.ProbeUsed = true }, try},
		{"a subscription's reset in 2 h turns the immediate probe off (sc-124)", primary, blocked(2*time.Hour, ""), nil, skip(SkipCooldown, RateLimit)},
		{"a subscription's reset in 100 s: probed (sc-125)", primary, blocked(100*time.Second, ""), nil, probe(RateLimit)},
		{"a subscription's block of another model does not (11.5)", primary, blocked(2*time.Hour, "gpt-5.4"), nil, probe(RateLimit)},
		{"a blocked subscription as another candidate: one attempt", other, blocked(2*time.Hour, ""), nil, probe(RateLimit)},
		{"format, from older counts: no permission to probe", other, cool(time.Minute, Format), nil, skip(SkipCooldown, Format)},
		{"no stored profiles: never gated (11.1)", primary, cool(time.Hour, AuthFailed), func(s *Standing) { s.Stored = false }, try},
		{"openrouter: old windows are ignored (sc-075)", primary, billing(time.Hour), func(s *Standing) { s.Model.Provider = "openrouter" }, try},
		{"no profile at all", primary, nil, func(s *Standing) { s.Order = nil }, skip(SkipNoProfile, AuthFailed)},
		{"a refused fallback is passed over (sc-130)", other, nil, func(s *Standing) { s.Cached = AuthFailed }, skip(SkipAuthCache, AuthFailed)},
		{"a primary never is (sc-130, 12.4)", primary, nil, func(s *Standing) { s.Cached = AuthFailed }, try},
		{"the gate is asked before the cache (6.1)", other, billing(time.Hour), func(s *Standing) { s.Cached = AuthFailed }, skip(SkipBilling, Billing)},
		{"a user's pin is tried although it cools (D3)", primary, billing(time.Hour), func(s *Standing) { s.Pin = userPin("a") }, try},
		{"a user's pin that is no use is passed over by name (9.7)", primary, nil, func(s *Standing) { s.Pin = userPin("x") }, skip(SkipNoProfile, AuthFailed)},
		{"an automatic pin is not", primary, billing(time.Hour), func(s *Standing) { s.Pin = autoPin("a", 0) }, skip(SkipBilling, Billing)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Standing{Model: gpt, Position: tt.position, Total: 3, Order: stored("a"), Usage: tt.usage, Stored: true}
			if tt.with != nil {
				tt.with(&s)
			}
			got := Visit(s, usageStart)
			if (got.Detail != "") != (got.Do == Skip) {
				t.Errorf("detail %q of a %s", got.Detail, got.Do)
			}
			got.Detail = ""
			if got != tt.want {
				t.Errorf("Visit = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// One profile that is free for the model is enough (11.2), and a probe goes by
// the soonest end of all (11.3).
func TestVisitLooksAtAllProfiles(t *testing.T) {
	s := Standing{Model: Model{"openai", "m1"}, Position: 1, Total: 2, Order: stored("a", "b"), Stored: true}
	s.Usage = map[ProfileID]Usage{"openai:a": cooling(time.Hour, AuthFailed, nil)}
	if got := Visit(s, usageStart); got.Do != Try {
		t.Errorf("Visit = %+v, want try", got)
	}
	s.Usage = map[ProfileID]Usage{"openai:a": cooling(time.Hour, Overloaded, nil), "openai:b": cooling(time.Minute, Overloaded, nil)}
	if got := Visit(s, usageStart); got.Do != Probe {
		t.Errorf("Visit = %+v, want a probe near the soonest end", got)
	}
	s.Order[0], s.Order[1] = s.Order[1], s.Order[0]
	if got := Visit(s, usageStart); got.Do != Probe {
		t.Errorf("Visit = %+v, want a probe near the soonest end", got)
	}
}

// "The probe slot stays free" (sc-121, 11.7).
func TestFreesSlot(t *testing.T) {
	for r, want := range map[Reason]bool{
		ModelNotFound: true, Format: true, AuthFailed: true, AuthPermanent: true, SessionExpired: true,
		RateLimit: false, Overloaded: false, Timeout: false, Billing: false, ServerError: false, NoReason: false,
	} {
		if got := FreesSlot(r); got != want {
			t.Errorf("FreesSlot(%q) = %v, want %v", r, got, want)
		}
	}
}

func TestAdvance(t *testing.T) {
	tests := []struct {
		name string
		c    Class
		left int
		want Move
	}{
		{"a classified failure goes on (6.2)", Class{Reason: RateLimit, Failover: true}, 1, GoOn},
		{"a format error goes on although nothing rotates (sc-039, D5)", Class{Reason: Format, Failover: true}, 1, GoOn},
		{"a missing model goes on (sc-038)", Class{Reason: ModelNotFound, Failover: true}, 1, GoOn},
		{"an empty answer goes on (sc-045)", Class{Reason: EmptyResponse, Label: LabelEmpty, Failover: true}, 1, GoOn},
		{"an unclassified failure goes on while a fallback is left (sc-033)", Class{Label: LabelUnclassified}, 1, GoOn},
		{"an unclassified failure of the last one ends it (sc-034, D5)", Class{Label: LabelUnclassified}, 0, Stop},
		{"a failure without any word goes on (sc-042)", Class{}, 2, GoOn},
		{"an overflow stops at once (sc-037, D10)", Class{Reason: ContextOverflow}, 2, Stop},
		{"a safety refusal stops (M28)", Class{Refusal: true}, 2, Stop},
		{"nothing is left", Class{Reason: AuthFailed, Failover: true}, 0, Stop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Advance(tt.c, tt.left); got != tt.want {
				t.Errorf("Advance = %s, want %s", got, tt.want)
			}
		})
	}
}

func BenchmarkVisit(b *testing.B) {
	for _, n := range []int{10, 1000} {
		ps, usage := crowd(n)
		for id, u := range usage { // the longest way: every profile cools
			usage[id] = u.After(Failed{Provider: "openai", Reason: Overloaded, Status: 529}, CooldownConfig{}, usageStart)
		}
		s := Standing{Model: Model{"openai", "m1"}, Position: 1, Total: 3, Order: ps, Usage: usage, Stored: true}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Visit(s, usageStart)
			}
		})
	}
}
