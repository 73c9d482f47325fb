package fallback

import (
	"fmt"
	"testing"
	"time"

	"standin/fallback/provider"
)

func autoPin(name string, compactions int) Pin {
	return Pin{Profile: ProfileID("openai:" + name), Source: Auto, Compactions: compactions}
}

func userPin(name string) Pin { return Pin{Profile: ProfileID("openai:" + name), Source: ByUser} }

// ranked is the same profiles under an explicit order.
func ranked(ps []Profile) []Profile {
	for i := range ps {
		ps[i].Rank = i + 1
	}
	return ps
}

func TestStick(t *testing.T) {
	cool := map[ProfileID]Usage{"openai:a": cooling(time.Minute, RateLimit, nil)}
	allCool := map[ProfileID]Usage{"openai:a": cooling(time.Minute, RateLimit, nil), "openai:b": cooling(time.Hour, RateLimit, nil), "openai:c": cooling(time.Hour, RateLimit, nil)}
	abc := stored("a", "b", "c")
	tests := []struct {
		name        string
		pin         Pin
		order       []Profile
		usage       map[ProfileID]Usage
		compactions int
		newSession  bool
		want        Pin
	}{
		{"no pin stored: the first is pinned, source auto (sc-098)", Pin{}, abc, nil, 0, false, autoPin("a", 0)},
		{"a pin stays although another was used longer ago: no rotation per request (sc-099)", autoPin("a", 0), stored("b", "c", "a"), nil, 0, false, autoPin("a", 0)},
		{"a completed compaction moves to the next profile and stores its count (sc-100, session-12)", autoPin("a", 0), abc, nil, 1, false, autoPin("b", 1)},
		{"without a stored count a compaction is not seen", Pin{Profile: "openai:a", Source: Auto, Compactions: -1}, abc, nil, 1, false, autoPin("a", 1)},
		{"a new session moves to the next profile (sc-102)", autoPin("a", 0), abc, nil, 0, true, autoPin("b", 0)},
		{"the next one wraps around", autoPin("c", 0), abc, nil, 0, true, autoPin("a", 0)},
		{"the next one is a usable one", autoPin("c", 0), abc, cool, 0, true, autoPin("b", 0)},
		{"a cooling profile releases its pin (sc-103)", autoPin("a", 0), stored("b", "c", "a"), cool, 0, false, autoPin("b", 0)},
		{"a model's cooldown releases it as well (9.2)", autoPin("a", 0), stored("b", "a"), map[ProfileID]Usage{"openai:a": fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})}, 0, false, autoPin("b", 0)},
		{"when nothing is usable the current one stays", autoPin("b", 0), abc, allCool, 0, true, autoPin("b", 0)},
		{"when nothing is usable and nothing pinned: the first", Pin{}, abc, allCool, 0, false, autoPin("a", 0)},
		{"a pin that is not in the order any more is picked afresh (sc-108)", autoPin("x", 0), abc, nil, 0, false, autoPin("a", 0)},
		{"a user's pin stays, cooling or not (D3)", userPin("a"), abc, cool, 3, false, userPin("a")},
		{"without a source but with a count it is automatic (sc-109)", Pin{Profile: "openai:a", Compactions: 0}, abc, nil, 1, false, autoPin("b", 1)},
		{"without a source and without a count it is the user's (sc-109)", Pin{Profile: "openai:a", Compactions: -1}, abc, cool, 1, false, Pin{Profile: "openai:a", Compactions: -1}},
		{"under an explicit order a better place that is usable again wins (IL-045, IL-208)", autoPin("c", 0), ranked(stored("a", "b", "c")), nil, 0, false, autoPin("a", 0)},
		{"under an explicit order a new session starts at the top (IL-152)", autoPin("a", 0), ranked(stored("a", "b", "c")), nil, 0, true, autoPin("a", 0)},
		{"no profiles, no pin", autoPin("a", 0), nil, nil, 0, false, Pin{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Stick(tt.pin, tt.order, tt.usage, tt.compactions, tt.newSession, usageStart); got != tt.want {
				t.Errorf("Stick = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// "Override names a profile that no longer exists or belongs to another
// provider: cleared" (sc-108, 9.4).
func TestPinAmongStoredProfiles(t *testing.T) {
	if got := userPin("a").Among("openai", stored("a")); got != userPin("a") {
		t.Errorf("a stored profile's pin became %+v", got)
	}
	if got := userPin("x").Among("openai", stored("a")); got != (Pin{}) {
		t.Errorf("a missing profile's pin stayed: %+v", got)
	}
	if got := userPin("a").Among("anthropic", stored("a")); got != (Pin{}) {
		t.Errorf("another provider's pin stayed: %+v", got)
	}
}

func TestRotate(t *testing.T) {
	cool := func(names ...string) map[ProfileID]Usage {
		m := map[ProfileID]Usage{}
		for i, n := range names {
			m[ProfileID("openai:"+n)] = cooling(time.Duration(i+1)*time.Minute, RateLimit, nil)
		}
		return m
	}
	scoped := map[ProfileID]Usage{"openai:a": fail(CooldownConfig{}, hit{0, RateLimit, "m1", nil})}
	tests := []struct {
		name    string
		usage   map[ProfileID]Usage
		pin     Pin
		model   string
		cooling bool
		want    string
	}{
		{"the order as it is", nil, Pin{}, "m1", false, "a b c"},
		{"the session's pin first", nil, autoPin("b", 0), "m1", false, "b a c"},
		{"a preferred profile that cools is left out (sc-091)", cool("b"), autoPin("b", 0), "m1", false, "a c"},
		{"unusable ones are left out (10.9)", cool("a"), Pin{}, "m1", false, "b c"},
		{"a sibling's rate limit is none of this model's (11.10)", scoped, Pin{}, "m2", false, "a b c"},
		{"its own is", scoped, Pin{}, "m1", false, "b c"},
		{"all cool, no probe: nothing", cool("a", "b", "c"), Pin{}, "m1", false, ""},
		{"all cool, a probe is permitted: exactly the first (10.9)", cool("a", "b", "c"), autoPin("b", 0), "m1", true, "a"},
		{"a permitted probe does not bring cooling ones back beside usable ones", cool("a"), Pin{}, "m1", true, "b c"},
		{"a user's pin is the only one, cooling or not (D3, 9.7)", cool("b"), userPin("b"), "m1", false, "b"},
		{"a user's pin that cannot be used is not replaced (9.7)", nil, userPin("x"), "m1", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := names(Rotate(stored("a", "b", "c"), tt.usage, tt.pin, tt.model, tt.cooling, usageStart)); got != tt.want {
				t.Errorf("Rotate = [%s], want [%s]", got, tt.want)
			}
		})
	}
}

// Old windows of a provider that never cools keep no profile away (sc-075).
func TestRotateIgnoresWindowsOfBypassingProviders(t *testing.T) {
	ps := []Profile{{ID: "kilocode:a", Provider: "kilocode"}}
	usage := map[ProfileID]Usage{"kilocode:a": cooling(time.Hour, RateLimit, nil)}
	if got := Rotate(ps, usage, Pin{}, "m1", false, usageStart); len(got) != 1 {
		t.Errorf("Rotate = %v", got)
	}
}

func TestMayRotate(t *testing.T) {
	cfg := DefaultCooldowns()
	zero := cfg
	zero.RateLimitedRotation, zero.OverloadedProfileRotation = 0, 0
	wrong := cfg
	wrong.RateLimitedRotation = -1
	tests := []struct {
		name      string
		reason    Reason
		times     int
		cfg       CooldownConfig
		fallbacks bool
		pin       Pin
		want      bool
	}{
		{"the first rate limit rotates (sc-095)", RateLimit, 1, cfg, true, Pin{}, true},
		{"the second goes to the next model (sc-095)", RateLimit, 2, cfg, true, Pin{}, false},
		{"without fallbacks all profiles are tried (sc-094)", Overloaded, 7, cfg, false, Pin{}, true},
		{"one overload rotates (M25)", Overloaded, 1, cfg, true, autoPin("a", 0), true},
		{"two do not", Overloaded, 2, cfg, true, Pin{}, false},
		{"a limit of 0 means none", RateLimit, 1, zero, true, Pin{}, false},
		{"a negative limit is ignored (7.10)", RateLimit, 1, wrong, true, Pin{}, true},
		{"dead keys do not eat the budget (IL-082)", AuthFailed, 4, cfg, true, Pin{}, true},
		{"nor do empty accounts", Billing, 4, cfg, true, Pin{}, true},
		{"a format error would fail again (D5)", Format, 1, cfg, false, Pin{}, false},
		{"so would a missing model", ModelNotFound, 1, cfg, false, Pin{}, false},
		{"an overflow stays (10.10)", ContextOverflow, 1, cfg, false, Pin{}, false},
		{"an empty answer is the model's (IL-144)", EmptyResponse, 1, cfg, false, Pin{}, false},
		{"nobody knows what an unclassified failure needs", NoReason, 1, cfg, false, Pin{}, false},
		{"a timeout goes to the next model (10.3)", Timeout, 1, cfg, true, Pin{}, false},
		{"a timeout without another model rotates", Timeout, 1, cfg, false, Pin{}, true},
		{"a user's pin never rotates (D3)", RateLimit, 1, cfg, false, userPin("a"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			done := map[Reason]int{tt.reason: tt.times}
			if got := MayRotate(tt.reason, done, tt.cfg, tt.fallbacks, tt.pin); got != tt.want {
				t.Errorf("MayRotate = %v, want %v", got, tt.want)
			}
		})
	}
}

// "Like prompt, but an assistant timeout rotates" (10.4).
func TestATimeoutInTheAnswerRotates(t *testing.T) {
	cfg, done := DefaultCooldowns(), map[Reason]int{Timeout: 1}
	middle := Failed{Reason: Timeout, Streamed: true}
	if !middle.MayRotate(done, cfg, true, Pin{}) {
		t.Error("a broken answer moves to the next profile")
	}
	if middle.MayRotate(done, cfg, true, userPin("a")) {
		t.Error("but never off a user's pin")
	}
	if !(Failed{Reason: Timeout, Transport: provider.IdleTimeout}).MayRotate(done, cfg, true, Pin{}) {
		t.Error("an answer that falls silent is broken too")
	}
	if (Failed{Reason: Timeout, Transport: provider.FirstTokenTimeout}).MayRotate(done, cfg, true, Pin{}) {
		t.Error("silence from the start goes to the next model (10.3)")
	}
}

// "Base 24 + 8 per profile, clamped to 32…160" (10.2).
func TestLoopGuard(t *testing.T) {
	for profiles, want := range map[int]int{0: 32, 1: 32, 2: 40, 17: 160, 1000: 160} {
		if got := LoopGuard(profiles); got != want {
			t.Errorf("LoopGuard(%d) = %d, want %d", profiles, got, want)
		}
	}
}

// crowd is n profiles of one provider, every other one cooling.
func crowd(n int) ([]Profile, map[ProfileID]Usage) {
	var specs []string
	for i := range n {
		specs = append(specs, fmt.Sprintf("p%04d", i))
	}
	ps := stored(specs...)
	usage := map[ProfileID]Usage{}
	for i, p := range ps {
		u := used(int64(i * 7919 % n))
		if i%2 == 1 {
			u.Whole.Window = Window{after(time.Duration(n-i) * time.Second), RateLimit}
		}
		usage[p.ID] = u
	}
	return ps, usage
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ps, usage := crowd(n)
			b.ReportAllocs()
			for b.Loop() {
				Order(&Config{}, "openai", ps, usage, usageStart)
			}
		})
	}
}

func BenchmarkRotate(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ps, usage := crowd(n)
			b.ReportAllocs()
			for b.Loop() {
				Rotate(ps, usage, autoPin("p0002", 0), "m1", false, usageStart)
			}
		})
	}
}
