package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// typed runs a command line in an empty world.
func typed(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	w, o, e := lent(t.Context(), strings.NewReader(""))
	code = run(w, args)
	return code, o.String(), e.String()
}

// leaves are the verbs of v that do something, and v.
func leaves(v *verb) []*verb {
	all := []*verb{v}
	for _, one := range v.verbs {
		all = append(all, leaves(one)...)
	}
	return all
}

func TestWordsThatCannotBeDoneAreRefusedWithAMend(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serv"}, `unexpected argument serv, did you mean "serve"?`},
		{[]string{"xyz"}, `unexpected argument xyz`},
		{[]string{"xyz", "--help"}, `unexpected argument xyz`},
		{[]string{"help", "xyz"}, `unexpected argument xyz`},
		{[]string{"pairing", "aprove"}, `unexpected argument aprove, did you mean "approve"?`},
		{[]string{"pairing"}, `expected one of "list", "approve", "deny", "remove"`},
		{[]string{"channels"}, `expected "status"`},
		{[]string{"auth", "add"}, `expected "<provider>"`},
		{[]string{"pairing", "approve", "slack"}, `expected "<code>"`},
		{[]string{"rehearse"}, `expected "<script> ..."`},
		{[]string{"version", "extra"}, `unexpected argument extra`},
		{[]string{"why", "a", "b"}, `unexpected argument b`},
		{[]string{"auth", "list", "--jsno"}, `unknown flag --jsno, did you mean "--json"?`},
		{[]string{"--nope"}, `unknown flag --nope`},
		{[]string{"version", "--help", "--nope"}, `unknown flag --nope`},
		{[]string{"version", "-x"}, `unknown flag -x`},
		{[]string{"check", "-c"}, `--config: expected a value`},
		{[]string{"auth", "list", "--json=maybe"}, `--json: expected true or false but got "maybe"`},
		{[]string{"classify", "--status", "abc"}, `--status: expected a number but got "abc"`},
		{[]string{"why", "--state", "--json"}, `--state: expected a value but got "--json"; if that is the value, write --state=--json`},
		{[]string{"why", "-c", "--json"}, `--config: expected a value but got "--json"; if that is the value, write --config=--json`},
	} {
		code, out, errs := typed(t, c.args...)
		if want := "standin: " + c.want + "\nTry: standin --help\n"; code != exitUsage || out != "" || errs != want {
			t.Errorf("%q: exit %d, prints %q and says %q, want %q", c.args, code, out, errs, want)
		}
	}
}

func TestAValueMayBeginWithADashInOneWord(t *testing.T) {
	for _, args := range [][]string{
		{"classify", "--message=-x"},
		{"auth", "list", "--state=-", "--agent", "main"},
		{"auth", "list", "--state", "-"},
	} {
		if code, _, errs := typed(t, args...); code != exitOK {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}

func TestHelpGoesToStandardOutputAndIsNoFault(t *testing.T) {
	_, top, _ := typed(t, "--help")
	_, one, _ := typed(t, "auth", "add", "--help")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, top},
		{[]string{"-h"}, top},
		{[]string{"help"}, top},
		{[]string{"auth", "add", "-h"}, one},
		{[]string{"auth", "add", "openai", "--env", "KEY", "--help"}, one},
		{[]string{"help", "auth", "add"}, one},
	} {
		if code, out, errs := typed(t, c.args...); code != exitOK || errs != "" || out != c.want {
			t.Errorf("%q: exit %d, says %q (-want +got):\n%s", c.args, code, errs, cmp.Diff(c.want, out))
		}
	}
}

func TestHelpShowsArgumentsFlagsAndTheirDefaults(t *testing.T) {
	const want = `Usage: standin pairing remove <channel> <user> [flags]

Take an approval back.

Arguments:
  <channel>    slack or discord.
  <user>       The person's id, as standin pairing list shows it.

Flags:
  -h, --help                 Show context-sensitive help.

      --state=DIR            State folder (default: $STANDIN_STATE_DIR, then
                             ~/.standin).
      --account="default"    Account of the channel.
`
	if _, out, _ := typed(t, "pairing", "remove", "--help"); out != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, out))
	}
}

func TestHelpNamesEveryVerbOnce(t *testing.T) {
	_, out, _ := typed(t, "--help")
	w, _, _ := lent(t.Context(), nil)
	for _, v := range leaves(w.commandLine()) {
		path := strings.TrimPrefix(v.CommandPath(), "standin ")
		want := 1
		if len(v.verbs) > 0 || v.Hidden {
			want = 0
		}
		if got := strings.Count(out, "\n  "+path+"  "); got != want {
			t.Errorf("%s is named %d times, want %d", path, got, want)
		}
	}
}

func TestEveryVerbAndFlagHasHelpThatFitsATerminal(t *testing.T) {
	w, _, _ := lent(t.Context(), nil)
	for _, v := range leaves(w.commandLine()) {
		if v.Short == "" {
			t.Errorf("%s has no help", v.CommandPath())
		}
		v.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no help", v.CommandPath(), f.Name)
			}
		})
		for line := range strings.Lines(v.help()) {
			if len(strings.Fields(line)) > 1 && utf8.RuneCountInString(strings.TrimSpace(line)) > helpWidth {
				t.Errorf("%s: %q is too wide", v.CommandPath(), line)
			}
		}
	}
}

// "config.yaml in the state folder" is the one of the folder that is named: a verb
// that reads the config lets a folder be named, and reads that one's [D16].
func TestTheNamedFoldersConfigIsRead(t *testing.T) {
	w, _, _ := lent(t.Context(), nil)
	for _, v := range leaves(w.commandLine()) {
		if f := v.Flags(); f.Lookup("config") != nil && f.Lookup("state") == nil && v.Name() != "rehearse" {
			t.Errorf("%s has --config and no --state", v.CommandPath())
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("agents: {colour: red}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"check", "serve", "explain", "doctor", "auth list", "pairing approve slack AAAAAAAA", "cron add --at 1h --message x"} {
		if _, out, errs := typed(t, append(strings.Fields(args), "--state", dir)...); !strings.Contains(out+errs, path) {
			t.Errorf("%s does not speak of %s:\n%s%s", args, path, out, errs)
		}
	}
}

func TestOnlyVerbsThatDrainOutliveASignal(t *testing.T) {
	var drain []string
	w, _, _ := lent(t.Context(), nil)
	for _, v := range leaves(w.commandLine()) {
		if v.drains {
			drain = append(drain, v.Name())
		}
	}
	if want := []string{"demo", "serve", "rehearse"}; !slices.Equal(drain, want) {
		t.Errorf("%q drain, want %q", drain, want)
	}
}

func TestAShellIsOfferedWhatFits(t *testing.T) {
	const noFiles, files = ":4\n", ":0\n"
	for _, c := range []struct {
		typed []string
		want  string // the names and, after them, whether files fit
	}{
		{[]string{"pairing", ""}, "approve deny list remove " + noFiles},
		{[]string{"pairing", "approve", ""}, "slack discord " + noFiles},
		{[]string{"pairing", "approve", "slack", ""}, noFiles},
		{[]string{"pairing", "approve", "slack", "CODE", ""}, noFiles},
		{[]string{"completion", ""}, "bash zsh fish " + noFiles},
		{[]string{"rehearse", "one.yaml", ""}, files},
		{[]string{"check", "--config", ""}, files},
		{[]string{"serve", ""}, noFiles},
		{[]string{"serve", "--d"}, "--debug " + noFiles},
	} {
		_, out, _ := typed(t, append([]string{"__completeNoDesc"}, c.typed...)...)
		got := strings.ReplaceAll(strings.TrimSuffix(out, "\n"), "\n", " ") + "\n"
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestCompletionPrintsAScriptForEachShell(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "complete -o default -F __start_standin standin",
		"zsh":  "#compdef standin",
		"fish": "complete -c standin",
	} {
		if code, out, errs := typed(t, "completion", shell); code != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s", shell, code, errs)
		}
	}
	if code, out, errs := typed(t, "completion", "powershell"); code != exitUsage || out != "" || !strings.Contains(errs, "bash, zsh and fish") {
		t.Errorf("powershell: exit %d, prints %q and says %q", code, out, errs)
	}
}
