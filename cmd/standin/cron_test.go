package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ago is what moves from day to day.
var ago = regexp.MustCompile(`was \d+ days ago`)

var updateCron = flag.Bool("update-cron", false, "rewrite testdata/cron/wrong.txt")

// What cron add refuses: each line names the flag, what is wrong with it, and
// what to do. The file reads as a session at a terminal.
func TestCronAddRefuses(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(conf, []byte(`
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.5-mini]}
    models: {openai/gpt-5.5: {}, openai/gpt-5.5-mini: {alias: mini}}
models: {providers: {openai: {apiKey: "${KEY}"}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	usual := []string{"--name", "Brief", "--message", "What is new?"}
	var got bytes.Buffer
	for _, args := range [][]string{
		append(usual, "--cron", "61 * * * *"),
		append(usual, "--cron", "0 9 13 * +5"),
		append(usual, "--cron", "0 0 30 2 *"),
		append(usual, "--cron", "0 9 * *"),
		append(usual, "--cron", "0 9 * * *", "--tz", "Europe/Berln"),
		append(usual, "--at", "2020-01-01T09:00"),
		append(usual, "--at", "tomorrow"),
		append(usual, "--every", "10 minutes"),
		append(usual, "--every", "10m", "--cron", "0 9 * * *"),
		usual,
		{"--name", "Brief", "--every", "10m"},
		{"--every", "10m", "--message", "x"},
		append(usual, "--every", "10m", "--session", "main"),
		append(usual, "--every", "10m", "--session", "session:a/b"),
		append(usual, "--every", "10m", "--model", "opneai/gpt-5.5"),
		append(usual, "--every", "10m", "--model", "openai/gpt-9"),
		append(usual, "--every", "10m", "--fallbacks", "mini,nobody/x"),
		append(usual, "--every", "10m", "--webhook", "ftp://example.org"),
		append(usual, "--every", "10m", "--channel", "irc", "--to", "channel:1"),
		append(usual, "--every", "10m", "--channel", "slack"),
		append(usual, "--every", "10m", "--agent", "nobody"),
		append(usual, "--every", "10m", "--stagger", "5m"),
		append(usual, "--every", "10m", "--timeout-seconds", "ten"),
		{"--name", "", "--cron", "0 24 * * *", "--message", " ", "--agent", "nobody"},
	} {
		var out bytes.Buffer
		w := world{ctx: t.Context(), getenv: env("HOME", dir, "KEY", "k"), stdin: strings.NewReader(""), stdout: &out, stderr: &out}
		code := run(w, append(append([]string{"cron", "add"}, args...), "--state", filepath.Join(dir, "state"), "-c", conf))
		if code != exitUsage {
			t.Errorf("%q: exit code %d\n%s", args, code, out.String())
		}
		got.WriteString("$ standin cron add")
		for _, a := range args {
			if strings.ContainsAny(a, " ?*") || a == "" {
				a = "'" + a + "'"
			}
			got.WriteString(" " + a)
		}
		got.WriteString("\n" + out.String() + "\n")
	}
	path := filepath.Join("testdata", "cron", "wrong.txt")
	if *updateCron {
		if err := os.WriteFile(path, ago.ReplaceAll(got.Bytes(), []byte("was N days ago")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if now := ago.ReplaceAll(got.Bytes(), []byte("was N days ago")); !bytes.Equal(now, want) {
		t.Errorf("the answers are now (see them with -update-cron and git diff):\n%s", now)
	}
}
