package fallback

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// historyOf draws failures of two models at random distances.
var penalties = []Reason{AuthFailed, AuthPermanent, RateLimit, Overloaded, Billing, Timeout, SessionExpired, Unclassified}

func drawFailure(t *rapid.T) (Failed, time.Duration) {
	f := Failed{
		Provider: "openai", Status: 429,
		Model:      rapid.SampledFrom([]string{"m1", "m2", ""}).Draw(t, "model"),
		Reason:     rapid.SampledFrom(penalties).Draw(t, "reason"),
		RetryAfter: time.Duration(rapid.SampledFrom([]int{0, 0, 7, 3600, 900000}).Draw(t, "hint")) * time.Second,
	}
	gap := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute, 10 * time.Minute, 6 * time.Hour, 25 * time.Hour}).Draw(t, "gap")
	return f, gap
}

// "An active window is neither extended nor shortened by later failures (a
// reset time given by the vendor may extend it)" [D2]: whoever was kept away
// stays away as long as was said, and no failure frees a model.
func TestWindowsNeverShrink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u Usage
		now := usageStart
		for range rapid.IntRange(1, 12).Draw(t, "failures") {
			f, gap := drawFailure(t)
			now = now.Add(gap)
			if rapid.IntRange(0, 9).Draw(t, "block") == 0 {
				f.Reset = now.Add(rapid.SampledFrom([]time.Duration{time.Minute, 50 * time.Hour}).Draw(t, "reset"))
			}
			next := u.After(f, CooldownConfig{}, now)
			for _, m := range []string{"m1", "m2", "m3", ""} {
				was, _ := u.Blocking(m, now)
				is, blocked := next.Blocking(m, now)
				if is.Until.Before(was.Until) {
					t.Fatalf("%q was kept away until %s, now %s", m, was.Until, is.Until)
				}
				if m == f.Model && !blocked {
					t.Fatalf("a %s failure of %q did not keep it away", f.Reason, m)
				}
			}
			if next.Errors < 1 || next.Failures[f.Reason] < 1 || !next.LastFailure.Equal(now) {
				t.Fatalf("not counted: %+v", next)
			}
			if c := Changes("openai:default", u, next, now); len(c) != 1 {
				t.Fatalf("%d events of one failure", len(c))
			}
			u = next
		}
		free := u.Success(now)
		for _, m := range []string{"m1", "m2", ""} {
			if !free.Usable(m, now) {
				t.Fatalf("%q is kept away after a success", m)
			}
		}
	})
}

// A window that is open without a vendor's hint does not grow either.
func TestWindowsDoNotGrowWithoutAHint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reason := rapid.SampledFrom(penalties).Draw(t, "reason")
		u := fail(CooldownConfig{}, hit{0, reason, "m1", nil})
		want, _ := u.Blocking("m1", usageStart)
		for range rapid.IntRange(1, 5).Draw(t, "more") {
			u = u.After(hit{reason: reason, model: "m1"}.failed(), CooldownConfig{}, after(time.Second))
		}
		if got, _ := u.Blocking("m1", after(time.Second)); !got.Until.Equal(want.Until) {
			t.Fatalf("%s: until %s, was %s", reason, got.Until, want.Until)
		}
	})
}

// "A billing window blocks every model, a rate limit only its own" [M22].
func TestBillingBlocksAllModelsARateLimitItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		failing := rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "failing")
		sibling := rapid.StringMatching(`[A-Z]{1,6}`).Draw(t, "sibling")
		at := rapid.Int64Range(0, 59_999).Draw(t, "ms")
		now := after(time.Duration(at) * time.Millisecond)
		limited := fail(CooldownConfig{}, hit{0, RateLimit, failing, nil})
		if limited.Usable(failing, now) || !limited.Usable(sibling, now) {
			t.Fatal("a rate limit concerns its own model and no other")
		}
		broke := fail(CooldownConfig{}, hit{0, Billing, failing, nil})
		if broke.Usable(failing, now) || broke.Usable(sibling, now) {
			t.Fatal("billing concerns every model")
		}
	})
}

// "A user-pinned profile never rotates" [D3].
func TestAUserPinNeverRotates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := stored("a", "b", "c")
		usage := map[ProfileID]Usage{}
		for _, p := range order {
			f, _ := drawFailure(t)
			if rapid.Bool().Draw(t, "cooling") {
				usage[p.ID] = Usage{}.After(f, CooldownConfig{}, usageStart)
			}
		}
		pin := userPin(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pin"))
		reason := rapid.SampledFrom(causes[:]).Draw(t, "reason")
		compactions, renewed := rapid.IntRange(0, 3).Draw(t, "compactions"), rapid.Bool().Draw(t, "new")
		if got := Stick(pin, order, usage, compactions, renewed, usageStart); got != pin {
			t.Fatalf("the pin moved to %+v", got)
		}
		try := Rotate(order, usage, pin, "m1", rapid.Bool().Draw(t, "probe"), usageStart)
		if len(try) != 1 || try[0].ID != pin.Profile {
			t.Fatalf("tried %s", names(try))
		}
		if MayRotate(reason, map[Reason]int{reason: 1}, DefaultCooldowns(), rapid.Bool().Draw(t, "fallbacks"), pin) {
			t.Fatalf("%s rotates off the user's pin", reason)
		}
		s := Standing{Model: Model{"openai", "m1"}, Position: 1, Total: 1, Order: order, Usage: usage, Pin: pin, Stored: true}
		if v := Visit(s, usageStart); v.Do != Try {
			t.Fatalf("the user's choice met %+v", v)
		}
	})
}

// Whatever stands in the windows, Order loses and invents nothing.
func TestOrderIsAPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := stored("a", "b:oauth", "c:token", "d", "e:oauth")
		usage := map[ProfileID]Usage{}
		for _, p := range ps {
			f, _ := drawFailure(t)
			usage[p.ID] = used(rapid.Int64Range(0, 5).Draw(t, "used")).After(f, CooldownConfig{}, usageStart)
		}
		now := after(time.Duration(rapid.Int64Range(0, 7200).Draw(t, "later")) * time.Second)
		order, dropped := Order(&Config{}, "openai", ps, usage, now)
		seen := map[ProfileID]bool{}
		blocked := false
		for _, p := range order {
			seen[p.ID] = true
			usable := usage[p.ID].Usable("", now)
			if usable && blocked {
				t.Fatalf("a usable profile stands behind an unusable one: %s", names(order))
			}
			blocked = blocked || !usable
		}
		if len(order) != len(ps) || len(seen) != len(ps) || len(dropped) != 0 {
			t.Fatalf("order %s, dropped %v", names(order), dropped)
		}
	})
}
