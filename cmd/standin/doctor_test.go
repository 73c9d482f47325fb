package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/channels/discord/discordtest"
)

// "0: all is well, 1: something is wrong, 3: something to watch"; 2 is for flags
// that say nothing that can be done.
func TestDoctorsExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		args   []string
		want   int
	}{
		"well":   {"agents: {defaults: {model: p/a}}\nmodels: {providers: {p: {baseUrl: http://127.0.0.1:9/v1}}}\n", nil, exitOK},
		"watch":  {"agents: {defaults: {model: p/a, timeoutSeconds: 100}}\nmodels: {providers: {p: {baseUrl: http://127.0.0.1:9/v1}}}\n", nil, exitWatch},
		"wrong":  {"agents: {defaults: {model: nowhere/a}}\n", nil, exitFault},
		"lint":   {"agents: {defaults: {model: nowhere/a}}\n", []string{"--lint"}, exitFault},
		"json":   {"agents: {defaults: {model: nowhere/a}}\n", []string{"--json"}, exitFault},
		"both":   {"", []string{"--lint", "--fix"}, exitUsage},
		"repair": {"", []string{"--lint", "--repair"}, exitUsage},
		"twice":  {"", []string{"--lint", "--json"}, exitUsage},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := typed(t, append([]string{"doctor", "--state", dir}, c.args...)...)
		if code != c.want {
			t.Errorf("%s: exit %d, want %d\n%s%s", name, code, c.want, out, errs)
		}
		switch name {
		case "well":
			if !strings.HasSuffix(out, "\nAll is well.\n") {
				t.Errorf("%s", out)
			}
		case "lint":
			if out != "error: config: config.yaml:1:28: agents.defaults.model: \"nowhere/a\": no provider of that name is known (describe it in models.providers)\n" {
				t.Errorf("%s", out)
			}
		case "json":
			var r struct {
				Errors   int
				Findings []struct{ Area, Level, Where, What, Mend string }
			}
			if err := json.Unmarshal([]byte(out), &r); err != nil || r.Errors != 1 || len(r.Findings) != 1 || r.Findings[0].Area != "config" || r.Findings[0].Level != "error" {
				t.Errorf("%v %s", err, out)
			}
		}
	}
}

// The platforms are asked with --online alone: a revoked token, and for Discord
// the intent without which messages come empty (discord-03).
func TestDoctorAsksThePlatformsOnlineAlone(t *testing.T) {
	w := newWire(t)
	w.discord = discordtest.StartWith(t, discordtest.Options{Intents: -1})
	w.env["DISCORD_BOT_TOKEN"] = w.discord.Token
	path := w.config("\nchannels: {slack: {apiUrl: SLACK}, discord: {apiUrl: DISCORD}}\n")
	w.slack.Revoke("token_revoked")
	_, out := w.run("doctor", "--state", w.dir, "-c", path, "--lint")
	if strings.Contains(out, "channels:") {
		t.Errorf("without --online it says\n%s", out)
	}
	code, out := w.run("doctor", "--state", w.dir, "-c", path, "--lint", "--online")
	for _, want := range []string{"error: channels: slack: bot token: token_revoked", "error: channels: discord: ", "ntent"} {
		if !strings.Contains(out, want) {
			t.Errorf("exit %d, nothing is said of %q:\n%s", code, want, out)
		}
	}
}

// A port that somebody else has is told before the daemon trips over it.
func TestDoctorFindsAPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	dir := t.TempDir()
	text := "agents: {defaults: {model: p/a}}\nmodels: {providers: {p: {baseUrl: http://127.0.0.1:9/v1}}}\ngateway: {port: " + port + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := typed(t, "doctor", "--state", dir, "--lint"); code != exitFault || !strings.Contains(out, "error: machine: 127.0.0.1:"+port+": another program listens there") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// The config that goes with the folder that is named is looked at, and --config
// goes before it.
func TestDoctorLooksAtTheConfigOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	own, other := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "other.yaml")
	for _, path := range []string{own, other} {
		if err := os.WriteFile(path, []byte("agents: {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, out, _ := typed(t, "doctor", "--state", dir); !strings.Contains(out, "Config       "+own+"\n") {
		t.Errorf("%s", out)
	}
	if _, out, _ := typed(t, "doctor", "--state", dir, "-c", other); !strings.Contains(out, "Config       "+other+"\n") {
		t.Errorf("%s", out)
	}
}
