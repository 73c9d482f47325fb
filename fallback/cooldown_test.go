package fallback

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback/provider"
)

// usageStart is time 0 of the tables of this room.
var usageStart = time.UnixMilli(1_700_000_000_000)

func after(d time.Duration) time.Time { return usageStart.Add(d) }

// hit is one failure of a history.
type hit struct {
	at     time.Duration
	reason Reason
	model  string
	with   func(*Failed)
}

func (h hit) failed() Failed {
	f := Failed{Provider: "openai", Model: h.model, Reason: h.reason, Status: 429}
	if h.with != nil {
		h.with(&f)
	}
	return f
}

// fail plays a history on a fresh profile.
func fail(cfg CooldownConfig, hits ...hit) Usage {
	var u Usage
	for _, h := range hits {
		u = u.After(h.failed(), cfg, after(h.at))
	}
	return u
}

func retryAfter(d time.Duration) func(*Failed) { return func(f *Failed) { f.RetryAfter = d } }

// The windows that stand after a history, as usageStats shows them.
func TestCooldownWindows(t *testing.T) {
	const min = time.Minute
	type want struct {
		whole    Window // zero: no window over all models
		m1, m2   Window
		disabled Window
		errors   int
	}
	w := func(d time.Duration, r Reason) Window { return Window{after(d), r} }
	tests := []struct {
		name string
		cfg  CooldownConfig
		hits []hit
		want want
	}{
		{
			name: "a rate limit cools its model for a minute (sc-055)",
			hits: []hit{{0, RateLimit, "m1", nil}},
			want: want{m1: w(min, RateLimit), errors: 1},
		},
		{
			name: "an active window is never moved, the counter rises (sc-056, 7.4)",
			hits: []hit{{0, RateLimit, "m1", nil}, {5 * time.Second, RateLimit, "m1", nil}, {10 * time.Second, RateLimit, "m1", nil}},
			want: want{m1: w(min, RateLimit), errors: 3},
		},
		{
			name: "an auth failure inside the window widens it to the whole profile, its end stays (sc-060)",
			hits: []hit{{0, RateLimit, "m1", nil}, {10 * time.Second, AuthFailed, "m1", nil}},
			want: want{whole: w(min, AuthFailed), errors: 2},
		},
		{
			name: "overloaded cools the whole profile (sc-062, D13a)",
			hits: []hit{{0, Overloaded, "m1", nil}},
			want: want{whole: w(min, Overloaded), errors: 1},
		},
		{
			name: "each model keeps a window of its own (D2, IL-063, IL-099)",
			hits: []hit{{0, RateLimit, "m1", nil}, {10 * time.Second, Timeout, "m2", nil}},
			want: want{m1: w(min, RateLimit), m2: w(70*time.Second, Timeout), errors: 2},
		},
		{
			name: "a rate limit of an unknown model covers all of them (D2, 7.6)",
			hits: []hit{{0, RateLimit, "", nil}},
			want: want{whole: w(min, RateLimit), errors: 1},
		},
		{
			name: "inside a window over the whole profile a model opens none of its own (7.6)",
			hits: []hit{{0, Overloaded, "m1", nil}, {10 * time.Second, RateLimit, "m1", nil}},
			want: want{whole: w(min, RateLimit), errors: 2},
		},
		{
			name: "each scope climbs its own ladder (D13a)",
			hits: []hit{{0, RateLimit, "m1", nil}, {61 * time.Second, RateLimit, "m1", nil}, {62 * time.Second, RateLimit, "m2", nil}},
			want: want{m1: w(61*time.Second+5*min, RateLimit), m2: w(122*time.Second, RateLimit), errors: 3},
		},
		{
			name: "billing stays five hours however often it fails in them (sc-067)",
			hits: []hit{{0, Billing, "m1", nil}, {time.Hour, Billing, "m1", nil}, {2 * time.Hour, Billing, "m2", nil}},
			want: want{disabled: w(5*time.Hour, Billing), errors: 3},
		},
		{
			name: "the second billing window is twice the first (sc-068)",
			hits: []hit{{0, Billing, "m1", nil}, {5*time.Hour + time.Second, Billing, "m1", nil}},
			want: want{disabled: w(15*time.Hour+time.Second, Billing), errors: 2},
		},
		{
			name: "a provider's own billing value wins, keys are normalised (sc-070)",
			cfg:  CooldownConfig{BillingBackoff: 7 * time.Hour, BillingBackoffByProvider: map[string]time.Duration{"OpenAI ": 3 * time.Hour}},
			hits: []hit{{0, Billing, "m1", nil}},
			want: want{disabled: w(3*time.Hour, Billing), errors: 1},
		},
		{
			name: "the billing cap is never below the base (sc-071)",
			cfg:  CooldownConfig{BillingBackoff: 30 * time.Hour, BillingMax: 24 * time.Hour},
			hits: []hit{{0, Billing, "m1", nil}},
			want: want{disabled: w(30*time.Hour, Billing), errors: 1},
		},
		{
			name: "a value that is not positive is ignored (sc-072, 7.10)",
			cfg:  CooldownConfig{BillingBackoff: -time.Hour, BillingBackoffByProvider: map[string]time.Duration{"openai": 0}},
			hits: []hit{{0, Billing, "m1", nil}},
			want: want{disabled: w(5*time.Hour, Billing), errors: 1},
		},
		{
			name: "permanent auth disables for ten minutes, doubling to an hour (7.8)",
			hits: []hit{{0, AuthPermanent, "m1", nil}, {10 * min, AuthPermanent, "m1", nil}, {30 * min, AuthPermanent, "m1", nil}, {70 * min, AuthPermanent, "m1", nil}},
			want: want{disabled: w(130*min, AuthPermanent), errors: 4},
		},
		{
			name: "cooldown and disable are lanes of their own (7.5)",
			hits: []hit{{0, RateLimit, "m1", nil}, {time.Second, Billing, "m1", nil}, {2 * time.Second, Overloaded, "m2", nil}},
			want: want{whole: w(min, Overloaded), disabled: w(5*time.Hour+time.Second, Billing), errors: 3},
		},
		{
			name: "counters restart after more than 24 h without a failure (sc-076)",
			hits: []hit{{0, RateLimit, "m1", nil}, {2 * min, RateLimit, "m1", nil}, {24*time.Hour + 2*min + time.Millisecond, RateLimit, "m1", nil}},
			want: want{m1: w(24*time.Hour+3*min+time.Millisecond, RateLimit), errors: 1},
		},
		{
			name: "at 24 h exactly they go on (7.3b)",
			hits: []hit{{0, RateLimit, "m1", nil}, {24 * time.Hour, RateLimit, "m1", nil}},
			want: want{m1: w(24*time.Hour+5*min, RateLimit), errors: 2},
		},
		{
			name: "a model without failure for a day starts again although others failed meanwhile (D1, D13a)",
			hits: []hit{{0, RateLimit, "m1", nil}, {13 * time.Hour, RateLimit, "m2", nil}, {25 * time.Hour, RateLimit, "m1", nil}},
			want: want{m1: w(25*time.Hour+min, RateLimit), errors: 3},
		},
		{
			name: "a hint ends the window no earlier than it says (D14, IL-237)",
			hits: []hit{{0, RateLimit, "m1", retryAfter(30 * min)}},
			want: want{m1: w(30*min, RateLimit), errors: 1},
		},
		{
			name: "a hint shorter than the step changes nothing (IL-292)",
			hits: []hit{{0, RateLimit, "m1", retryAfter(7 * time.Second)}},
			want: want{m1: w(min, RateLimit), errors: 1},
		},
		{
			name: "a hint extends an active window (D2)",
			hits: []hit{{0, RateLimit, "m1", nil}, {10 * time.Second, RateLimit, "m1", retryAfter(3 * time.Hour)}},
			want: want{m1: w(3*time.Hour+10*time.Second, RateLimit), errors: 2},
		},
		{
			name: "a hint counts for 24 h at most (D14)",
			hits: []hit{{0, RateLimit, "m1", retryAfter(6 * 24 * time.Hour)}},
			want: want{m1: w(24*time.Hour, RateLimit), errors: 1},
		},
		{
			name: "a model's long hint inside a whole window is that model's alone",
			hits: []hit{{0, Overloaded, "m1", nil}, {time.Second, RateLimit, "m1", retryAfter(3 * time.Hour)}},
			want: want{whole: w(min, Overloaded), m1: w(3*time.Hour+time.Second, RateLimit), errors: 2},
		},
		{
			name: "a model's long hint is not widened to all the others",
			hits: []hit{{0, RateLimit, "m1", retryAfter(3 * time.Hour)}, {time.Second, AuthFailed, "m2", nil}},
			want: want{whole: w(61*time.Second, AuthFailed), m1: w(3*time.Hour, RateLimit), errors: 2},
		},
		{
			name: "nor is it when that very model fails for another reason",
			hits: []hit{{0, RateLimit, "m1", retryAfter(3 * time.Hour)}, {time.Second, AuthFailed, "m1", nil}},
			want: want{whole: w(61*time.Second, AuthFailed), m1: w(3*time.Hour, RateLimit), errors: 2},
		},
		{
			name: "a billing base is at least a minute (7.7)",
			cfg:  CooldownConfig{BillingBackoff: time.Second},
			hits: []hit{{0, Billing, "m1", nil}},
			want: want{disabled: w(min, Billing), errors: 1},
		},
		{
			name: "openrouter and kilocode store nothing (sc-075)",
			hits: []hit{{0, Billing, "m1", func(f *Failed) { f.Provider = "OpenRouter" }}, {0, RateLimit, "m1", func(f *Failed) { f.Provider = "kilocode" }}},
			want: want{},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := fail(tt.cfg, tt.hits...)
			now := after(0)
			if n := len(tt.hits); n > 0 {
				now = after(tt.hits[n-1].at)
			}
			open := func(w Window) Window {
				if !w.Active(now) {
					return Window{}
				}
				return w
			}
			got := want{open(u.Whole.Window), open(u.Scopes["m1"].Window), open(u.Scopes["m2"].Window), open(u.Disabled), u.Errors}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("after the history (-want +got):\n%s", diff)
			}
		})
	}
}

// "Windows of 1 min, 5 min, 25 min, 60 min, 60 min" (sc-058) and "5 h, 10 h,
// 20 h, 24 h (cap)" (sc-069): an expired window alone does not restart [D1].
func TestLaddersClimbWindowByWindow(t *testing.T) {
	tests := []struct {
		name   string
		reason Reason
		want   []time.Duration
	}{
		{"rate limit", RateLimit, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour, time.Hour}},
		{"auth", AuthFailed, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour, time.Hour}},
		{"billing", Billing, []time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour, 24 * time.Hour}},
		{"permanent auth", AuthPermanent, []time.Duration{10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var u Usage
			now := usageStart
			for i, d := range tt.want {
				u = u.After(Failed{Provider: "openai", Model: "m1", Reason: tt.reason, Status: 401}, CooldownConfig{}, now)
				w, _ := u.Blocking("m1", now)
				if got := w.Until.Sub(now); got != d {
					t.Errorf("window %d is %s long, want %s", i+1, got, d)
				}
				now = w.Until // usable from this very millisecond (7.9)
				if !u.Usable("m1", now) {
					t.Errorf("not usable at the end of window %d", i+1)
				}
			}
		})
	}
}

// "A success in between brings it back to step 1" (IL-103, 7.15, IL-068).
func TestSuccessForgetsEverythingButItsTime(t *testing.T) {
	u := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil}, hit{time.Second, Billing, "m1", nil}, hit{2 * time.Second, Overloaded, "", nil})
	u = u.Success(after(time.Minute))
	if diff := cmp.Diff(Usage{LastUsed: after(time.Minute)}, u); diff != "" {
		t.Errorf("after a success (-want +got):\n%s", diff)
	}
	u = u.After(hit{reason: RateLimit, model: "m1"}.failed(), CooldownConfig{}, after(31*time.Minute))
	if got := u.Scopes["m1"].Until; !got.Equal(after(32 * time.Minute)) {
		t.Errorf("the window after a success ends at %s, want the first step again", got.Sub(usageStart))
	}
}

// "No shared profile penalty" (sc-079, D13a, 7.12).
func TestWhatReachesTheProfile(t *testing.T) {
	tests := []struct {
		name string
		f    Failed
		want bool
	}{
		{"format", Failed{Reason: Format, Status: 400}, false},
		{"server error", Failed{Reason: ServerError, Status: 500}, false},
		{"empty response", Failed{Reason: EmptyResponse, Status: 200}, false},
		{"no error details", Failed{Reason: NoErrorDetails}, false},
		{"context overflow", Failed{Reason: ContextOverflow, Status: 413}, false},
		{"model not found (D13a)", Failed{Reason: ModelNotFound, Status: 404}, false},
		{"our own budget", Failed{Reason: Budget}, false},
		{"no class at all", Failed{Status: 418}, false},
		{"connection refused", Failed{Reason: Timeout, Transport: provider.Refused}, false},
		{"reset before any answer", Failed{Reason: Timeout, Transport: provider.Reset}, false},
		{"tls failed", Failed{Reason: Timeout, Transport: provider.TLSFailed}, false},
		{"silence until the first token (7.12)", Failed{Reason: Timeout, Transport: provider.FirstTokenTimeout}, false},
		{"silence in the middle of the answer", Failed{Reason: Timeout, Transport: provider.IdleTimeout}, true},
		{"reset in the middle of the answer", Failed{Reason: Timeout, Transport: provider.Reset, Streamed: true}, true},
		{"a 5xx answer that is classed timeout (D13a)", Failed{Reason: Timeout, Status: 502}, true},
		{"a timeout in the vendor's own words", Failed{Reason: Timeout}, true},
		{"auth", Failed{Reason: AuthFailed, Status: 401}, true},
		{"billing", Failed{Reason: Billing, Status: 402}, true},
		{"overloaded", Failed{Reason: Overloaded, Status: 529}, true},
		{"session expired", Failed{Reason: SessionExpired, Status: 410}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.f.Provider, tt.f.Model = "openai", "m1"
			if got := tt.f.Penalises(); got != tt.want {
				t.Errorf("Penalises() = %v, want %v", got, tt.want)
			}
			if got := (Usage{}).After(tt.f, CooldownConfig{}, usageStart).Errors == 1; got != tt.want {
				t.Errorf("counted = %v, want %v", got, tt.want)
			}
		})
	}
}

// A subscription's reset time (sc-080, M19).
func TestSubscriptionBlock(t *testing.T) {
	limit := func(at, reset time.Duration) hit {
		return hit{at, RateLimit, "m1", func(f *Failed) { f.Reset, f.ResetSource = after(reset), "codex_rate_limits" }}
	}
	t.Run("is the exact time, for all models, and drops the short cooldown", func(t *testing.T) {
		u := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil}, limit(time.Second, 2*time.Hour))
		want := Window{after(2 * time.Hour), SubscriptionLimit}
		if u.Blocked != want || u.BlockSource != "codex_rate_limits" || u.BlockedModel != "m1" {
			t.Errorf("blocked %v by %q for %q", u.Blocked, u.BlockSource, u.BlockedModel)
		}
		if u.Scopes["m1"].Active(after(time.Second)) {
			t.Error("the short cooldown is still there")
		}
		if u.Usable("m2", after(time.Hour)) || !u.Usable("m2", after(2*time.Hour)) {
			t.Error("a block holds for every model, to the millisecond")
		}
		if u.Failures[RateLimit] != 2 {
			t.Errorf("rate limits counted: %d, want 2", u.Failures[RateLimit])
		}
	})
	t.Run("is never moved to an earlier time", func(t *testing.T) {
		u := fail(CooldownConfig{}, limit(0, 4*time.Hour), limit(time.Minute, 2*time.Hour))
		if !u.Blocked.Until.Equal(after(4 * time.Hour)) {
			t.Errorf("blocked until %s", u.Blocked.Until.Sub(usageStart))
		}
	})
	t.Run("that has passed is no block", func(t *testing.T) {
		u := fail(CooldownConfig{}, limit(time.Hour, time.Hour))
		if !u.Blocked.Until.IsZero() || !u.Scopes["m1"].Active(after(time.Hour)) {
			t.Errorf("want an ordinary cooldown, got %+v", u)
		}
	})
}

// "The later of the exhausted ones; when none is exhausted, the earliest future
// reset" (sc-081).
func TestResetTime(t *testing.T) {
	w := func(used float64, d time.Duration) LimitWindow { return LimitWindow{used, after(d)} }
	tests := []struct {
		name    string
		windows []LimitWindow
		want    time.Time
	}{
		{"two exhausted: the later", []LimitWindow{w(100, 96*time.Hour), w(100, 2*time.Hour)}, after(96 * time.Hour)},
		{"one exhausted: that one", []LimitWindow{w(99, 96*time.Hour), w(120, 2*time.Hour)}, after(2 * time.Hour)},
		{"none exhausted: the earliest to come", []LimitWindow{w(50, 96*time.Hour), w(50, 2*time.Hour), w(50, -time.Hour)}, after(2 * time.Hour)},
		{"nothing to come", []LimitWindow{w(100, 0)}, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ResetTime(tt.windows, usageStart); !got.Equal(tt.want) {
				t.Errorf("ResetTime = %s, want %s", got, tt.want)
			}
		})
	}
}

// "Billing or auth_permanent windows and subscription blocks cancel the model
// bypass" (sc-065), and otherwise a model's window is its own (M22).
func TestUsableByModel(t *testing.T) {
	scoped := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})
	if scoped.Usable("m1", after(0)) || !scoped.Usable("m2", after(0)) {
		t.Error("a rate limit concerns its own model and no other")
	}
	if scoped.Usable("", after(0)) {
		t.Error("for the order any window counts (8.5)")
	}
	disabled := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil}, hit{0, Billing, "m1", nil})
	if disabled.Usable("m2", after(0)) {
		t.Error("a disabled profile serves no model")
	}
	if w, _ := disabled.Blocking("m1", after(0)); w.Reason != Billing {
		t.Errorf("the longest window of m1 is %v, want billing", w)
	}
}

// "Expiry clearing is per field" (7.9): what is over is gone at the next
// failure, with its reason, whatever else still stands.
func TestWhatIsOverIsGone(t *testing.T) {
	u := Usage{
		Whole: Cooldown{Window{after(time.Minute), AuthFailed}, 1, usageStart}, Disabled: Window{after(time.Minute), Billing},
		Blocked: Window{after(time.Minute), SubscriptionLimit}, BlockSource: "codex_rate_limits", BlockedModel: "m1",
		Scopes: map[string]Cooldown{"m1": {Window{after(time.Minute), Timeout}, 1, usageStart}}, LastFailure: usageStart,
	}
	got := u.After(hit{reason: RateLimit, model: "m2"}.failed(), CooldownConfig{}, after(time.Minute))
	want := Usage{
		Whole: Cooldown{Errors: 1, Last: usageStart},
		Scopes: map[string]Cooldown{
			"m1": {Errors: 1, Last: usageStart},
			"m2": {Window{after(2 * time.Minute), RateLimit}, 1, after(time.Minute)},
		},
		Errors: 1, Failures: map[Reason]int{RateLimit: 1}, LastFailure: after(time.Minute),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the next failure (-want +got):\n%s", diff)
	}
}

// A lane that doubles stops at its top, whatever an operator writes there.
func TestDoublingDoesNotOverflow(t *testing.T) {
	const base, top = 100_000 * time.Hour, 2_000_000 * time.Hour
	for n := range 100 {
		if d := doubling(base, top, n); d < base || d > top {
			t.Fatalf("window %d is %s long", n, d)
		}
	}
}

// After must not reach into the value it was made from: a store compares both.
func TestAfterLeavesTheFormerValueAlone(t *testing.T) {
	was := fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})
	scopes, counts := maps.Clone(was.Scopes), maps.Clone(was.Failures)
	was.After(hit{reason: RateLimit, model: "m1"}.failed(), CooldownConfig{}, after(time.Second))
	was.After(hit{reason: Overloaded, model: "m1"}.failed(), CooldownConfig{}, after(time.Second))
	if diff := cmp.Diff(scopes, was.Scopes) + cmp.Diff(counts, was.Failures); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}
