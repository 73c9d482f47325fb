package store

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
	"standin/fallback/provider"
)

var byAlice = fallback.Deed{At: noon, Who: "alice", Via: "command line"}

// What a person does to a credential is one transaction with its record, and
// what was so already is no deed.
func TestEachDeedLeavesItsRecord(t *testing.T) {
	c := open(t, t.TempDir()).Credentials([]fallback.Profile{{ID: "groq:default", Provider: "groq"}})
	replaced, err := c.AddCredential(t.Context(), "main", NewAPIKey("openai:work", "one"), byAlice)
	if err != nil || replaced {
		t.Fatalf("first key: replaced %v, %v", replaced, err)
	}
	if replaced, err = c.AddCredential(t.Context(), "main", NewAPIKey("openai:work", "two"), byAlice); err != nil || !replaced {
		t.Fatalf("second key: replaced %v, %v", replaced, err)
	}
	for _, off := range []bool{true, true, false} {
		if _, known, err := c.Switch(t.Context(), "ops", "openai:work", off, byAlice); err != nil || !known {
			t.Fatalf("switch: known %v, %v", known, err)
		}
	}
	if _, known, err := c.Clear(t.Context(), "main", "groq:default", byAlice); err != nil || !known {
		t.Fatalf("a key of the environment: known %v, %v", known, err)
	}
	if _, known, err := c.Clear(t.Context(), "main", "openai:nobody", byAlice); err != nil || known {
		t.Fatalf("nobody's: known %v, %v", known, err)
	}
	if err := c.SetOrder(t.Context(), "main", "openai-codex", []fallback.ProfileID{"openai:work"}, byAlice); err != nil {
		t.Fatal(err)
	}
	if err := c.SetOrder(t.Context(), "main", "groq", nil, byAlice); err != nil { // there was none
		t.Fatal(err)
	}
	if found, err := c.RemoveCredential(t.Context(), "main", "openai:work", byAlice); err != nil || !found {
		t.Fatalf("remove: %v, %v", found, err)
	}
	deeds, err := c.Deeds(t.Context(), "ops", DeedFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range deeds {
		if d.Who != "alice" || !d.At.Equal(noon) || d.Via != "command line" {
			t.Errorf("record: %+v", d)
		}
		got = append(got, string(d.What)+" "+string(d.Profile)+"|"+d.Provider)
	}
	want := []string{"remove openai:work|openai", "order |openai", "clear groq:default|groq",
		"enable openai:work|openai", "disable openai:work|openai", "replace openai:work|openai", "add openai:work|openai"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Source of the list, first hit: the order stored for the agent (8.1); an agent
// without one goes by main's.
func TestAStoredOrderGivesTheProfilesTheirPlaces(t *testing.T) {
	c := open(t, t.TempDir()).Credentials([]fallback.Profile{{ID: "openai:env", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("k")}})
	for _, id := range []fallback.ProfileID{"openai:a", "openai:b"} {
		put(t, c, "main", NewAPIKey(id, "k"))
	}
	places := func(a fallback.AgentID) map[fallback.ProfileID]int {
		t.Helper()
		all, err := c.Profiles(t.Context(), a, "openai")
		if err != nil {
			t.Fatal(err)
		}
		got := map[fallback.ProfileID]int{}
		for _, p := range all {
			got[p.ID] = p.Rank
		}
		return got
	}
	set := func(a fallback.AgentID, ids ...fallback.ProfileID) {
		t.Helper()
		if err := c.SetOrder(t.Context(), a, "openai", ids, byAlice); err != nil {
			t.Fatal(err)
		}
	}
	set("main", "openai:env", "openai:b")
	want := map[fallback.ProfileID]int{"openai:env": 1, "openai:b": 2, "openai:a": 0}
	for _, a := range []fallback.AgentID{"main", "ops"} {
		if diff := cmp.Diff(want, places(a)); diff != "" {
			t.Errorf("%s: %s", a, diff)
		}
	}
	set("ops", "openai:a")
	if diff := cmp.Diff(map[fallback.ProfileID]int{"openai:env": 0, "openai:b": 0, "openai:a": 1}, places("ops")); diff != "" {
		t.Errorf("ops' own: %s", diff)
	}
	set("ops")
	if diff := cmp.Diff(want, places("ops")); diff != "" {
		t.Errorf("ops' own is gone, main's counts: %s", diff)
	}
}

// Of two secrets under one name the second starts without the first one's
// windows, whatever calls with the first still come back; the switch stays.
func TestAReplacedSecretIsNotBlamedForTheFormer(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:work", "old"))
	if _, _, err := c.Switch(t.Context(), "main", "openai:work", true, byAlice); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddCredential(t.Context(), "main", NewAPIKey("openai:work", "new"), byAlice); err != nil {
		t.Fatal(err)
	}
	refused := fallback.Failed{Provider: "openai", Reason: fallback.AuthPermanent, Status: 401, Asked: noon.Add(-time.Second)}
	_, u, err := c.Update(t.Context(), "main", "openai:work", func(u fallback.Usage) fallback.Usage {
		return u.After(refused, fallback.DefaultCooldowns(), noon.Add(time.Second))
	})
	if err != nil || u.Disabled.Active(noon.Add(2*time.Second)) {
		t.Errorf("the new key is disabled for the old one's refusal: %+v, %v", u, err)
	}
	if u.SwitchedOff.IsZero() {
		t.Error("the new key switched the profile on")
	}
}

// Daemon and command line write side by side, through files of their own, and
// the operator's word is never lost: neither the switch nor a clear.
func TestConcurrentWritesKeepTheOperatorsWord(t *testing.T) {
	dir := t.TempDir()
	daemon := open(t, dir).Credentials(nil)
	put(t, daemon, "main", NewAPIKey("openai:work", "k"))
	hand := OpenCredentials(Options{Dir: dir})
	defer hand.Close()
	begun := noon.Add(-time.Minute) // all of the daemon's calls began before the operator's words

	var both sync.WaitGroup
	for w := range 4 {
		both.Go(func() {
			for i := range 25 {
				_, _, err := daemon.Update(t.Context(), "main", "openai:work", func(u fallback.Usage) fallback.Usage {
					if w%2 == 0 {
						return u.Success(noon)
					}
					return u.After(fallback.Failed{Provider: "openai", Reason: fallback.Billing, Status: 402, Asked: begun}, fallback.DefaultCooldowns(), noon.Add(time.Duration(i)))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, _, err := hand.Clear(t.Context(), "main", "openai:work", byAlice); err != nil {
		t.Fatal(err)
	}
	if _, _, err := hand.Switch(t.Context(), "main", "openai:work", true, byAlice); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	states, err := daemon.States(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if u := states["openai:work"]; u.SwitchedOff.IsZero() || u.Disabled.Active(noon.Add(time.Hour)) || u.Errors != 0 {
		t.Errorf("after both: %+v", u)
	}
}

// State lives in a folder of 0700 and files of 0600, made so from the first
// moment on [D15].
func TestFilesAreMadeForThisUserOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	c := open(t, dir).Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:work", "k"))
	put(t, c, "ops", NewAPIKey("openai:work", "k"))
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := os.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
