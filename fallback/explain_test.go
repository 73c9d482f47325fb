package fallback

import (
	"testing"
	"time"

	"standin/fallback/provider"
)

// "At most one transient probe per provider per run" [M29]: of two cooling
// models of one provider the second is not promised a try that it will not get.
func TestExplainGivesAProviderOneProbe(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	big, small, other := Model{"anthropic", "big"}, Model{"anthropic", "small"}, Model{"openai", "other"}
	cfg := &Config{Default: ModelChoice{Primary: big, Fallbacks: []Model{small, other}, Listed: true}, Cooldowns: DefaultCooldowns()}
	creds := func(p string) ([]Profile, map[ProfileID]Usage) {
		id := ProfileID(p + ":default")
		rests := Usage{Whole: Cooldown{Window: Window{Until: now.Add(time.Minute), Reason: Overloaded}}, Failures: map[Reason]int{Overloaded: 1}}
		return []Profile{{ID: id, Provider: p, Type: APIKey, Key: provider.NewKey("k")}}, map[ProfileID]Usage{id: rests}
	}
	got := Explain(Ask{Agent: "main", Kind: Chat, Config: cfg}, Selection{}, false, creds, now)
	for i, want := range []struct {
		do  Do
		why SkipWhy
	}{{Probe, ""}, {Skip, SkipProbeUsed}, {Probe, ""}} {
		if v := got.Candidates[i].Verdict; v.Do != want.do || v.Why != want.why {
			t.Errorf("%s: %s %s, want %s %s", got.Candidates[i].Model, v.Do, v.Why, want.do, want.why)
		}
	}
}
