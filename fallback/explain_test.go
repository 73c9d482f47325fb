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

// "A pin concerns its own provider" (9.7), and a Codex login is OpenAI's: the
// person who chose it gets it and nothing else [M18, M19, D3].
func TestAChosenCodexLoginIsKeptToForOpenAI(t *testing.T) {
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	cfg := &Config{Default: ModelChoice{Primary: Model{"openai", "m"}, Fallbacks: []Model{{"anthropic", "b"}}, Listed: true}, Cooldowns: DefaultCooldowns()}
	creds := func(p string) ([]Profile, map[ProfileID]Usage) {
		all := []Profile{{ID: ProfileID(p + ":default"), Provider: p, Type: APIKey, Key: provider.NewKey("k")}}
		if p == "openai" {
			all = append(all, Profile{ID: "openai-codex:me", Provider: "openai-codex", Type: OAuth, Refresh: true, Key: provider.NewKey("k")})
		}
		return all, nil
	}
	stored := Selection{Pin: Pin{Profile: "openai-codex:me", Source: ByUser, Compactions: -1}}
	got := Explain(Ask{Agent: "main", Kind: Chat, Config: cfg}, stored, false, creds, now)
	for i, want := range []ProfileID{"openai-codex:me", "anthropic:default"} {
		var tried []ProfileID
		for _, p := range got.Candidates[i].Profiles {
			if p.Tried {
				tried = append(tried, p.ID)
			}
		}
		if len(tried) != 1 || tried[0] != want {
			t.Errorf("%s: tries %v, want %s alone", got.Candidates[i].Model, tried, want)
		}
	}
}
