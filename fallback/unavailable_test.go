package fallback

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func cooling(d time.Duration, r Reason, counts map[Reason]int) Usage {
	return Usage{Whole: Cooldown{Window: Window{after(d), r}, Errors: 1}, Failures: counts, Errors: 1}
}

// unavailable is why none of the profiles can be used for the model.
func unavailable(us []Usage, model string, now time.Time) Reason {
	s := Standing{Model: Model{"openai", model}, Usage: map[ProfileID]Usage{}}
	for i, u := range us {
		id := ProfileID(fmt.Sprintf("openai:%d", i))
		s.Order, s.Usage[id] = append(s.Order, Profile{ID: id}), u
	}
	reason, _ := s.cooling(now)
	return reason
}

func TestUnavailableScores(t *testing.T) {
	billing := Usage{Disabled: Window{after(time.Hour), Billing}}
	blocked := Usage{Blocked: Window{after(time.Hour), SubscriptionLimit}, BlockSource: "codex_rate_limits"}
	tests := []struct {
		name string
		us   []Usage
		want Reason
	}{
		{"a disable outweighs any cooldown (sc-127)", []Usage{billing, cooling(time.Hour, RateLimit, map[Reason]int{RateLimit: 900})}, Billing},
		{"a block counts as rate_limit", []Usage{blocked, cooling(time.Hour, Overloaded, map[Reason]int{Overloaded: 3})}, RateLimit},
		{"equal weights go to the earlier cause: billing before rate_limit", []Usage{blocked, billing}, Billing},
		{"cooldowns score their failure counts", []Usage{cooling(time.Hour, RateLimit, map[Reason]int{RateLimit: 1, Timeout: 3})}, Timeout},
		{"counts of several profiles add up", []Usage{
			cooling(time.Hour, Overloaded, map[Reason]int{Overloaded: 2}),
			cooling(time.Hour, RateLimit, map[Reason]int{RateLimit: 1}), cooling(time.Hour, RateLimit, map[Reason]int{RateLimit: 2}),
		}, RateLimit},
		{"a tie: overloaded before timeout before rate_limit", []Usage{cooling(time.Hour, RateLimit, map[Reason]int{RateLimit: 1, Timeout: 1, Overloaded: 1})}, Overloaded},
		{"an auth window is auth whatever failed before it (D13c)", []Usage{cooling(time.Hour, AuthFailed, map[Reason]int{RateLimit: 3, AuthFailed: 1})}, AuthFailed},
		{"without counts the window's own reason", []Usage{cooling(time.Hour, Timeout, nil)}, Timeout},
		{"without either: unknown", []Usage{cooling(time.Hour, NoReason, nil)}, Unknown},
		{"no window is open: nothing", []Usage{cooling(0, RateLimit, map[Reason]int{RateLimit: 1}), {}}, NoReason},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := unavailable(tt.us, "m1", usageStart); got != tt.want {
				t.Errorf("unavailable for %q, want %q", got, tt.want)
			}
		})
	}
}

// The window of another model keeps nobody away from this one (M22).
func TestUnavailableIsOfThisModel(t *testing.T) {
	u := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})
	if got := unavailable([]Usage{u}, "m2", usageStart); got != NoReason {
		t.Errorf("m2 is unavailable for %q", got)
	}
}

// "They follow the attempt that caused them" (R12): one event for each failure,
// about the window that it concerned, moved or not.
func TestChangesTellTheWindowOfTheFailure(t *testing.T) {
	block := func(f *Failed) { f.Reset, f.ResetSource = after(2*time.Hour), "codex_rate_limits" }
	event := func(what StepKind, until time.Duration, r Reason, model string, errors int) []WindowChange {
		return []WindowChange{{what, WindowEvent{Profile: "openai:default", Window: Window{after(until), r}, Model: model, Errors: errors}}}
	}
	tests := []struct {
		name   string
		before []hit
		last   hit
		want   []WindowChange
	}{
		{"a first rate limit", nil, hit{0, RateLimit, "m1", nil}, event(StepCooldown, time.Minute, RateLimit, "m1", 1)},
		{"a window that did not move", []hit{{0, RateLimit, "m1", nil}}, hit{5 * time.Second, RateLimit, "m1", nil}, event(StepCooldown, time.Minute, RateLimit, "m1", 2)},
		{"the count is the profile's total (D13a)", []hit{{0, RateLimit, "m1", nil}}, hit{0, RateLimit, "m2", nil}, event(StepCooldown, time.Minute, RateLimit, "m2", 2)},
		{"a widened window", []hit{{0, RateLimit, "m1", nil}}, hit{5 * time.Second, AuthFailed, "m1", nil}, event(StepCooldown, time.Minute, AuthFailed, "", 2)},
		{"a billing failure beside a cooldown", []hit{{0, Overloaded, "m1", nil}}, hit{time.Second, Billing, "m1", nil}, event(StepDisabled, 5*time.Hour+time.Second, Billing, "", 2)},
		{"a block", []hit{{0, RateLimit, "m1", nil}}, hit{time.Second, RateLimit, "m1", block}, event(StepBlocked, 2*time.Hour, SubscriptionLimit, "m1", 2)},
		{"the same block again", []hit{{0, RateLimit, "m1", block}}, hit{time.Second, RateLimit, "m1", block}, event(StepBlocked, 2*time.Hour, SubscriptionLimit, "m1", 2)},
		{"a restarted count", []hit{{0, Billing, "m1", nil}}, hit{48 * time.Hour, Billing, "m1", nil}, event(StepDisabled, 53*time.Hour, Billing, "", 1)},
		{"two failures in the same instant", []hit{{0, RateLimit, "m1", nil}}, hit{0, RateLimit, "m1", nil}, event(StepCooldown, time.Minute, RateLimit, "m1", 2)},
		{"a failure that cools nothing", []hit{{0, RateLimit, "m1", nil}}, hit{5 * time.Second, Format, "m1", nil}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was := fail(CooldownConfig{}, tt.before...)
			at := after(tt.last.at)
			now := was.After(tt.last.failed(), CooldownConfig{}, at)
			if diff := cmp.Diff(tt.want, Changes("openai:default", was, now, at)); diff != "" {
				t.Errorf("Changes (-want +got):\n%s", diff)
			}
		})
	}
	was := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})
	if got := Changes("openai:default", was, was.Success(after(1)), after(1)); got != nil {
		t.Errorf("a success tells of %v", got)
	}
}

// One refusal of this morning does not make an overload of now an auth issue:
// waiting mends it, so the provider is probed and the room hears the real cause.
func TestAnOldRefusalIsNotTheCauseOfALaterCooldown(t *testing.T) {
	cfg := DefaultCooldowns()
	u := Usage{}.After(Failed{Provider: "openai", Model: "m", Reason: AuthFailed, Status: 401}, cfg, after(0))
	u = u.After(Failed{Provider: "openai", Model: "m", Reason: Overloaded, Status: 503}, cfg, after(time.Hour))
	if got := unavailable([]Usage{u}, "m", after(time.Hour+time.Second)); got != Overloaded {
		t.Errorf("unavailable for %s, want overloaded", got)
	}
}
