package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
	"standin/fallback/provider"
)

// credentials gives the config's own profiles as text, with their secrets.
func credentials(c *Compiled) []string {
	var out []string
	for _, p := range c.Profiles {
		if _, known, _ := provider.Known(p.Provider); known == "" && p.Keyless && p.Provider != "near" {
			continue // the local servers that are always there
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", p.ID, p.Type, p.Key.Reveal(), p.Account)))
	}
	return out
}

// Where a credential of the config comes from.
func TestCredentialsOfTheConfig(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key.txt"), []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = `
agents: {defaults: {model: openai/gpt-5.5}}
auth:
  profiles:
    openai:work: {keyRef: {source: env, id: WORK}, email: a@example.com}
    openai:second: {mode: token, keyRef: "${SECOND}"}
    anthropic:default: {mode: api_key}
models:
  providers:
    near: {baseUrl: http://127.0.0.1:9/v1}
    far: {baseUrl: https://far.example/v1}
    box: {baseUrl: https://box.example/v1, apiKey: {source: file, id: key.txt}}
    groq: {apiKey: "${MINE}"}
`
	c, faults := Parse("config.yaml", []byte(text), env(
		"WORK", "work-key", "SECOND", "second-key", "MINE", "my-groq", "GROQ_API_KEY", "usual-groq", "OPENAI_API_KEY", " usual-openai\n"), dir)
	if c == nil {
		t.Fatal(faults)
	}
	want := []string{
		"openai:second token second-key",
		"openai:work api_key work-key a@example.com",
		"box:default api_key from-file",
		"groq:default api_key my-groq",        // the config goes before the usual variable
		"near:default api_key",                // a server on this machine wants no key
		"openai:default api_key usual-openai", // the vendor's usual variable
	}
	if diff := cmp.Diff(want, credentials(c)); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
	if !c.Fallback.Providers["near"].NoKey || c.Fallback.Providers["far"].NoKey {
		t.Error("only a server on this machine is asked without a key")
	}
	if m := c.Fallback.Profiles["openai:second"]; m.Mode != fallback.Token || m.Provider != "openai" {
		t.Errorf("meta of openai:second: %+v", m)
	}
}

// STANDIN_FALLBACK_SKIP_TTL_MS: "leading integer of the text; unset, blank,
// negative or unparsable off; positive clamped to 1 000…600 000" (12.1).
func TestSkipTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "x": 0, "0.5": 0, "  ": 0,
		"60s": time.Second, "1": time.Second, "1500": 1500 * time.Millisecond, " 30000 ": 30 * time.Second,
		"600001": 10 * time.Minute, "99999999999999999999": 10 * time.Minute,
	} {
		if got, _ := skipTTL(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, told := skipTTL("60s"); told == "" {
		t.Error("60s means 1 s here, which a person should be told")
	}
	if _, told := skipTTL("60000"); told != "" {
		t.Error("60000 is what it says, but we were told:", told)
	}
}

// STANDIN_SDK_RETRY_MAX_WAIT_SECONDS (21.B.5); 0 is no cap.
func TestRetryMaxWait(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": time.Minute, "x": time.Minute, "-1": time.Minute, "1e3": time.Minute, "1.2.3": time.Minute,
		"0": 0, "OFF": 0, "none": 0, "disabled": 0, "false": 0,
		"90": 90 * time.Second, "1.5": 1500 * time.Millisecond,
	} {
		if got, _ := retryMaxWait(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// "The same names with the prefix OPENCLAW_ are honoured when these are unset" [D15].
func TestKnobsOfOpenClaw(t *testing.T) {
	const text = "agents: {defaults: {model: openai/gpt-5.5}}"
	old := must(t, text, env("OPENCLAW_FALLBACK_SKIP_TTL_MS", "2000", "OPENCLAW_SDK_RETRY_MAX_WAIT_SECONDS", "5"))
	if old.Fallback.SkipTTL != 2*time.Second || old.RetryMaxWait != 5*time.Second {
		t.Errorf("skip %s, wait %s", old.Fallback.SkipTTL, old.RetryMaxWait)
	}
	both := must(t, text, env("OPENCLAW_FALLBACK_SKIP_TTL_MS", "2000", "STANDIN_FALLBACK_SKIP_TTL_MS", "3000"))
	if both.Fallback.SkipTTL != 3*time.Second {
		t.Errorf("skip %s", both.Fallback.SkipTTL)
	}
}
