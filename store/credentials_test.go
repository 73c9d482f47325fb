package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"standin/fallback"
	"standin/fallback/provider"
)

// seen is what a test compares of a profile.
type seen struct {
	ID, Provider, Type, Key, Account string
	Refresh, Keyless                 bool
	Expires                          time.Time
}

func profiles(t testing.TB, c *Credentials, a fallback.AgentID, providerID string) (list []seen) {
	t.Helper()
	all, err := c.Profiles(t.Context(), a, providerID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		list = append(list, seen{string(p.ID), p.Provider, string(p.Type), p.Key.Reveal(), p.Account, p.Refresh, p.Keyless, p.Expires})
	}
	return list
}

func put(t testing.TB, c *Credentials, a fallback.AgentID, one Credential) {
	t.Helper()
	if err := c.PutCredential(t.Context(), a, one); err != nil {
		t.Fatal(err)
	}
}

// Types: api_key {key}; token {token, expires}; oauth {access, refresh, expires, email} [M16].
func TestEachTypeBecomesAProfile(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", Credential{ID: "openai:me@example.org", Type: fallback.OAuth,
		Secret: provider.NewKey(`{"access":"a","refresh":"r","expires":1767614400000,"email":"me@example.org","enterpriseUrl":"kept"}`)})
	put(t, c, "main", Credential{ID: "openai:static", Provider: " OpenAI ", Type: fallback.Token, Secret: provider.NewKey(`{"token":"t"}`)})
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	put(t, c, "main", NewAPIKey("anthropic:default", "other"))
	want := []seen{
		{ID: "openai:default", Provider: "openai", Type: "api_key", Key: "k"},
		{ID: "openai:me@example.org", Provider: "openai", Type: "oauth", Key: "a", Account: "me@example.org", Refresh: true, Expires: noon},
		{ID: "openai:static", Provider: "openai", Type: "token", Key: "t"},
	}
	if diff := cmp.Diff(want, profiles(t, c, "main", "OpenAI")); diff != "" {
		t.Error(diff)
	}
	if one, _, _, err := c.Get(t.Context(), "main", "openai:me@example.org"); err != nil || !strings.Contains(one.Secret.Reveal(), `"enterpriseUrl":"kept"`) {
		t.Errorf("unknown fields: %v", err)
	}
}

// "A Codex subscription and an API key stand in one order" [M19], under whichever
// of the two names each was stored; windows are seen with them.
func TestACodexLoginServesOpenAI(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", Credential{ID: "openai-codex:me", Type: fallback.OAuth, Secret: provider.NewKey(`{"access":"a","refresh":"r"}`)})
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	put(t, c, "main", NewAPIKey("anthropic:default", "other"))
	fails := func(u fallback.Usage) fallback.Usage {
		return u.After(fallback.Failed{Provider: "openai", Reason: fallback.Overloaded, Status: 529}, fallback.DefaultCooldowns(), noon)
	}
	if _, _, err := c.Update(t.Context(), "main", "openai-codex:me", fails); err != nil {
		t.Fatal(err)
	}
	want := []seen{
		{ID: "openai-codex:me", Provider: "openai-codex", Type: "oauth", Key: "a", Refresh: true},
		{ID: "openai:default", Provider: "openai", Type: "api_key", Key: "k"},
	}
	for _, name := range []string{"openai", "openai-codex"} {
		if diff := cmp.Diff(want, profiles(t, c, "main", name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if usage, err := c.Usage(t.Context(), "main", name); err != nil || usage["openai-codex:me"].Errors != 1 {
			t.Errorf("%s: %+v, %v", name, usage, err)
		}
	}
}

// Secondary agents read through to the main agent's store (21.C.2); a stored
// profile wins over one that config names.
func TestReadThrough(t *testing.T) {
	d := open(t, t.TempDir())
	extra := []fallback.Profile{
		{ID: "openai:env", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("from config")},
		{ID: "openai:default", Provider: "openai", Type: fallback.APIKey, Key: provider.NewKey("loses")},
		{ID: "ollama:default", Provider: "ollama", Keyless: true},
	}
	c := d.Credentials(extra)
	put(t, c, "main", NewAPIKey("openai:default", "main's"))
	put(t, c, "main", NewAPIKey("openai:work", "main's work"))
	put(t, c, "ops", NewAPIKey("openai:work", "ops' work"))
	want := []seen{
		{ID: "openai:work", Provider: "openai", Type: "api_key", Key: "ops' work"},
		{ID: "openai:default", Provider: "openai", Type: "api_key", Key: "main's"},
		{ID: "openai:env", Provider: "openai", Type: "api_key", Key: "from config"},
	}
	if diff := cmp.Diff(want, profiles(t, c, "ops", "openai")); diff != "" {
		t.Error(diff)
	}
	if got := profiles(t, c, "other", "ollama"); len(got) != 1 || !got[0].Keyless {
		t.Errorf("keyless profile of config: %v", got)
	}

	// One key is one state: ops and main share the windows of main's credential
	// and of config's, and each has its own for what it owns itself.
	limit := func(a fallback.AgentID, p fallback.ProfileID, n int) {
		t.Helper()
		if _, _, err := c.Update(t.Context(), a, p, func(u fallback.Usage) fallback.Usage { u.Errors += n; return u }); err != nil {
			t.Fatal(err)
		}
	}
	limit("ops", "openai:default", 1)
	limit("main", "openai:work", 2)
	limit("ops", "openai:work", 3)
	limit("ops", "openai:env", 4)
	for a, want := range map[fallback.AgentID]map[fallback.ProfileID]int{
		"main": {"openai:default": 1, "openai:work": 2, "openai:env": 4},
		"ops":  {"openai:default": 1, "openai:work": 3, "openai:env": 4},
		"new":  {"openai:default": 1, "openai:work": 2, "openai:env": 4},
	} {
		all, err := c.Usage(t.Context(), a, "openai")
		got := map[fallback.ProfileID]int{}
		for p, u := range all {
			got[p] = u.Errors
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("usage of %s: %v\n%s", a, err, diff)
		}
	}
	if names, err := c.Agents(); err != nil || len(names) != 2 {
		t.Errorf("looking made a file: %v %v", names, err)
	}
}

// "When the key's value changes, it is tried at once": a mended key has none of
// the former one's windows, the same key entered again keeps them, and so does a
// token that renews itself.
func TestAnotherSecretStartsAfresh(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:default", "refused"))
	errors := func() int {
		t.Helper()
		states, err := c.States(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		return states["openai:default"].Errors
	}
	refuse := func() {
		t.Helper()
		if _, _, err := c.Update(t.Context(), "main", "openai:default", func(u fallback.Usage) fallback.Usage { u.Errors++; return u }); err != nil {
			t.Fatal(err)
		}
	}
	refuse()
	put(t, c, "main", NewAPIKey("openai:default", "refused"))
	if errors() != 1 {
		t.Error("the same key entered again is as good as before")
	}
	if ok, err := c.SwapCredential(t.Context(), "main", NewAPIKey("openai:default", "refused").Secret, NewAPIKey("openai:default", "renewed")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if errors() != 1 {
		t.Error("a renewed token is the same account")
	}
	put(t, c, "main", NewAPIKey("openai:default", "mended"))
	if errors() != 0 {
		t.Error("the mended key pays for the former one")
	}
}

func TestAgentIdsStayInsideTheStateDirectory(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	for _, a := range []fallback.AgentID{"../evil", "a/b", `a\b`, "/abs", "..", ".", ".hidden"} {
		if err := c.PutCredential(t.Context(), a, NewAPIKey("openai:default", "k")); err == nil {
			t.Errorf("agent %q was given a folder", a)
		}
	}
}

// Of two that refresh the same token one stores its answer [M16].
func TestSwapCredential(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	was := NewAPIKey("openai:default", "old")
	put(t, c, "main", was)
	for i, want := range []bool{true, false} {
		ok, err := c.SwapCredential(t.Context(), "main", was.Secret, NewAPIKey("openai:default", fmt.Sprint("new", i)))
		if err != nil || ok != want {
			t.Errorf("swap %d: %v %v", i, ok, err)
		}
	}
	if got := profiles(t, c, "main", "openai"); got[0].Key != "new0" {
		t.Errorf("stored: %v", got)
	}
	if ok, err := c.SwapCredential(t.Context(), "main", was.Secret, NewAPIKey("openai:gone", "x")); ok || err != nil {
		t.Errorf("swap of a missing one: %v %v", ok, err)
	}
}

func TestDeleteCredential(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	if _, _, err := c.Update(t.Context(), "main", "openai:default", func(u fallback.Usage) fallback.Usage { u.Errors = 1; return u }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if found, err := c.DeleteCredential(t.Context(), "main", "openai:default"); err != nil || found != want {
			t.Errorf("delete: %v %v", found, err)
		}
	}
	if states, err := c.States(t.Context(), "main"); err != nil || len(states) != 0 {
		t.Errorf("state left behind: %v %v", states, err)
	}
}

// Secrets reach neither log nor error [I12].
func TestSecretsDoNotPrint(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	one := NewAPIKey("openai:default", "sk-very-secret")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if s := fmt.Sprintf(verb, one) + fmt.Sprintf(verb, struct{ c Credential }{one}); strings.Contains(s, "very-secret") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	one.Secret = provider.NewKey(`"sk-very-secret"`)
	if err := c.PutCredential(t.Context(), "main", one); err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("error: %v", err)
	}
}

// Each change of a profile's state sees the one before it, also when another
// process writes (two stores on one folder stand for two processes).
func TestUpdatesAreNotLost(t *testing.T) {
	dir := t.TempDir()
	daemon := open(t, dir).Credentials(nil)
	tool := OpenCredentials(Options{Dir: dir})
	defer tool.Close()
	var wg sync.WaitGroup
	for range 4 {
		for _, c := range []*Credentials{daemon, tool} {
			wg.Go(func() {
				for range 25 {
					if _, _, err := c.Update(t.Context(), "main", "openai:default", func(u fallback.Usage) fallback.Usage { u.Errors++; return u }); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	all, err := daemon.Usage(t.Context(), "main", "openai")
	if err != nil || all["openai:default"].Errors != 200 {
		t.Errorf("counted %d of 200: %v", all["openai:default"].Errors, err)
	}
}

// What is stored is what was decided, whatever failures and successes led to it;
// the end of a window is never earlier.
func TestUsageSurvives(t *testing.T) {
	reasons := []fallback.Reason{fallback.RateLimit, fallback.Timeout, fallback.Overloaded, fallback.Billing, fallback.AuthFailed, fallback.AuthPermanent}
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		var u fallback.Usage
		for range rapid.IntRange(0, 12).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.Int64Range(0, 30*3600*1000).Draw(t, "ms")) * time.Millisecond)
			if rapid.IntRange(0, 5).Draw(t, "success") == 0 {
				u = u.Success(now)
				continue
			}
			f := fallback.Failed{Provider: "openai", Model: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "model"),
				Reason: rapid.SampledFrom(reasons).Draw(t, "reason"), Status: 500}
			if rapid.Bool().Draw(t, "reset") {
				f.Reset, f.ResetSource = now.Add(time.Hour), "codex_rate_limits"
			}
			u = u.After(f, fallback.DefaultCooldowns(), now)
		}
		text, err := encodeUsage(u)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeUsage(text)
		if diff := cmp.Diff(u, back, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
	text, _ := encodeUsage(fallback.Usage{Disabled: fallback.Window{Until: noon.Add(1), Reason: fallback.Billing}})
	if back, _ := decodeUsage(text); !back.Disabled.Until.Equal(noon.Add(time.Millisecond)) {
		t.Errorf("a window was cut: %v", back.Disabled.Until)
	}
}
