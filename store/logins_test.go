package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/auth"
	"standin/fallback/provider"
)

func loginOf(t *testing.T, c *Credentials, agent string) auth.Stored {
	t.Helper()
	one, err := FromLogin(auth.Credential{Provider: "OpenAI", Email: "ada@example.com", Access: provider.NewKey("a1"), Refresh: provider.NewKey("r1")})
	if err == nil {
		err = c.PutCredential(t.Context(), fallback.AgentID(agent), one)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, found, err := c.Login(t.Context(), agent, "openai:ada@example.com")
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return s
}

// "Single flight per profile across processes": of two that claim at once one
// has it, until it gives it back, its time ends, or the login is another.
func TestAClaimIsHeldByOne(t *testing.T) {
	dir, now := t.TempDir(), time.UnixMilli(1_700_000_000_000).UTC()
	one, two := OpenCredentials(Options{Dir: dir}), OpenCredentials(Options{Dir: dir})
	defer one.Close()
	defer two.Close()
	s := loginOf(t, one, "main")
	claim := func(c *Credentials, holder, spent string, at time.Time) (auth.Claim, bool) {
		t.Helper()
		held, ok, err := c.Claim(t.Context(), s, auth.Claim{Holder: holder, Until: at.Add(20 * time.Second), Spent: spent}, at)
		if err != nil {
			t.Fatal(err)
		}
		return held, ok
	}
	if _, ok := claim(one, "A", "r1", now); !ok {
		t.Fatal("the first has it")
	}
	if held, ok := claim(two, "B", "r1", now.Add(19*time.Second)); ok || held.Holder != "A" || !held.Until.Equal(now.Add(20*time.Second)) {
		t.Errorf("the second has it too: %+v", held)
	}
	if _, ok := claim(two, "B", "r1", now.Add(20*time.Second)); !ok {
		t.Error("a claim that has ended keeps others away")
	}
	if err := one.Unclaim(t.Context(), s, "A", auth.Claim{}); err != nil {
		t.Fatal(err)
	}
	if _, ok := claim(one, "C", "r1", now.Add(21*time.Second)); ok {
		t.Error("the former holder gave away what is another's")
	}
	if _, ok := claim(one, "C", "r2", now.Add(21*time.Second)); !ok {
		t.Error("a claim on an older login keeps the newer one from being renewed")
	}
	after := auth.Claim{Spent: "r2", After: now.Add(time.Minute), Code: "invalid_grant", Said: "no"}
	if err := one.Unclaim(t.Context(), s, "C", after); err != nil {
		t.Fatal(err)
	}
	if held, ok := claim(two, "D", "r2", now.Add(59*time.Second)); ok || held != after {
		t.Errorf("what the last try met: %+v", held)
	}
	if _, ok := claim(two, "D", "r2", now.Add(time.Minute)); !ok {
		t.Error("the rest after a try has no end")
	}
}

// A secondary agent reads a login through: its claim and its renewal are the
// owner's.
func TestALoginIsTheOwners(t *testing.T) {
	c := OpenCredentials(Options{Dir: t.TempDir()})
	defer c.Close()
	loginOf(t, c, "main")
	s, found, err := c.Login(t.Context(), "second", "openai:ada@example.com")
	if err != nil || !found || s.Owner != "main" || s.Provider != "openai" {
		t.Fatalf("%+v, %v, %v", s, found, err)
	}
	if done, err := c.Swap(t.Context(), s, s.Secret, provider.NewKey(`{"access":"a2"}`)); !done || err != nil {
		t.Fatal(done, err)
	}
	if done, err := c.Swap(t.Context(), s, s.Secret, provider.NewKey(`{"access":"a3"}`)); done || err != nil {
		t.Error("a login that has changed was replaced", err)
	}
	if agents, _ := c.Agents(); len(agents) != 1 {
		t.Errorf("a file was made for the reader: %v", agents)
	}
}

// What is no OAuth login is none to renew.
func TestAKeyIsNoLogin(t *testing.T) {
	c := OpenCredentials(Options{Dir: t.TempDir()})
	defer c.Close()
	if err := c.PutCredential(t.Context(), "main", NewAPIKey("openai:default", "k")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"openai:default", "openai:nobody"} {
		if _, found, err := c.Login(t.Context(), "main", id); found || err != nil {
			t.Errorf("%s: %v, %v", id, found, err)
		}
	}
}

// A renewal that comes after all ends the window that its absence caused, and
// nothing else [IL-176].
func TestARenewalEndsTheWindowsOfTheFormerToken(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000).UTC()
	for _, tt := range []struct {
		reason fallback.Reason
		ends   bool
	}{{fallback.AuthFailed, true}, {fallback.AuthPermanent, true}, {fallback.Billing, false}, {fallback.RateLimit, false}} {
		c := OpenCredentials(Options{Dir: t.TempDir()})
		defer c.Close()
		s := loginOf(t, c, "main")
		f := fallback.Failed{Provider: "openai", Model: "gpt-5.5", Reason: tt.reason, Status: 401}
		id := fallback.ProfileID(s.Profile)
		_, was, err := c.Update(t.Context(), "main", id, func(u fallback.Usage) fallback.Usage { return u.After(f, fallback.DefaultCooldowns(), now) })
		if err != nil || was.Usable("gpt-5.5", now) {
			t.Fatal(was, err)
		}
		if done, err := c.Swap(t.Context(), s, s.Secret, provider.NewKey(`{"access":"a2","refresh":"r2"}`)); !done || err != nil {
			t.Fatal(done, err)
		}
		is, err := c.States(t.Context(), "main")
		if err != nil || is[id].Usable("gpt-5.5", now) != tt.ends || is[id].Errors != was.Errors {
			t.Errorf("%s: %+v, %v", tt.reason, is[id], err)
		}
	}
}

// A login under auth.encryption is renewed as any other, and lies sealed after
// it too.
func TestASealedLoginIsRenewed(t *testing.T) {
	dir := t.TempDir()
	sealing := Sealing{Passphrase: provider.NewKey("correct horse battery"), PassphraseEnv: "PASS"}
	c := OpenCredentials(Options{Dir: dir, Sealing: sealing})
	defer c.Close()
	s := loginOf(t, c, "main")
	next := provider.NewKey(`{"access":"a2-canary","refresh":"r2-canary"}`)
	if done, err := c.Swap(t.Context(), s, s.Secret, next); !done || err != nil {
		t.Fatal(done, err)
	}
	again, _, err := c.Login(t.Context(), "main", s.Profile)
	if err != nil || again.Secret.Reveal() != next.Reveal() {
		t.Errorf("%v", err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "agents", "main", "agent", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "canary") {
			t.Errorf("%s holds the secret in the clear: %v", filepath.Base(path), err)
		}
	}
}
