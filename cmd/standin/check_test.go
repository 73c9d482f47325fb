package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/cmd/standin/config"
)

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checked runs `standin check` and gives what a person sees.
func checked(r config.Reader, path string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = check(r, path, "", &o, &e)
	if path == "" {
		return code, o.String(), e.String()
	}
	short := strings.NewReplacer(path, "config.yaml")
	return code, short.Replace(o.String()), short.Replace(e.String())
}

// The plan says for each agent what answers, why, and with which credentials.
func TestCheckPrintsThePlanOfEachAgent(t *testing.T) {
	path := written(t, `
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}
  list:
    - {id: main, name: Concierge}
    - {id: exact, model: openai/gpt-5.5}
    - {id: alone, model: {primary: near/tiny, fallbacks: []}}
    - {id: night, model: {primary: openai/gpt-5.5, fallbacks: [groq/llama-3.3-70b-versatile]}}
auth:
  profiles: {"openai:work": {}, "openai:spare": {keyRef: "${SPARE}"}}
  order: {openai: ["openai:work", "openai:spare"], groq: []}
models: {providers: {near: {baseUrl: "http://localhost:9/v1"}}}
`)
	stored := func(provider string) []string {
		return map[string][]string{"openai": {"openai:work"}}[provider]
	}
	code, out, errs := checked(config.Reader{Getenv: env("SPARE", "s3cret"), Stored: stored}, path)
	if code != exitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	want := `main "Concierge" (default): openai/gpt-5.5 → anthropic/claude-sonnet-5
    may fall back (agents.defaults.model has fallbacks)
    1. openai/gpt-5.5             with openai:work, then openai:spare
    2. anthropic/claude-sonnet-5  no credential here: set ANTHROPIC_API_KEY, or models.providers.anthropic.apiKey

exact: openai/gpt-5.5
    strict, no other model answers (agents.list[exact].model names a model without fallbacks)
    1. openai/gpt-5.5  with openai:work, then openai:spare

alone: near/tiny
    strict, no other model answers (agents.list[alone].model says fallbacks: [])
    1. near/tiny  with near:default (no key needed)

night: openai/gpt-5.5 → groq/llama-3.3-70b-versatile
    may fall back (agents.list[night].model has fallbacks)
    1. openai/gpt-5.5                with openai:work, then openai:spare
    2. groq/llama-3.3-70b-versatile  no credential here: auth.order.groq is empty, so none is used

heartbeat: off

budgets: none; nothing bounds what is spent

config.yaml: can be used
`
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// "A config order whose profiles are all missing is empty; a list of
// auth.profiles that are all missing gives way to what is stored" (8.7).
func TestCheckFollowsTheOrderOfProfiles(t *testing.T) {
	stored := func(string) []string { return []string{"openai:stored"} }
	for _, c := range []struct{ name, auth, want string }{
		{"nothing configured: variable and store", "{}", "with openai:default, then openai:stored"},
		{"configured and there", "{profiles: {'openai:stored': {}}}", "with openai:stored"},
		{"configured and nowhere", "{profiles: {'openai:gone': {}}}", "with openai:default, then openai:stored"},
		{"ordered", "{order: {openai: ['openai:stored', 'openai:default']}}", "with openai:stored, then openai:default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := written(t, "agents: {defaults: {model: openai/gpt-5.5}}\nauth: "+c.auth)
			_, out, errs := checked(config.Reader{Getenv: env("OPENAI_API_KEY", "k"), Stored: stored}, path)
			if !strings.Contains(out, c.want) {
				t.Errorf("no %q in:\n%s%s", c.want, out, errs)
			}
		})
	}
}

// 0: can be used, warnings or not. 1: cannot. 2: there is none to read.
func TestCheckExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	here := env("STANDIN_STATE_DIR", t.TempDir())
	for _, c := range []struct {
		name, path string
		want       int
		says       string
	}{
		{"good", written(t, "agents: {defaults: {model: openai/gpt-5.5}}"), exitOK, "config.yaml: can be used\n"},
		{"a warning", written(t, "agents: {defaults: {model: openai/gpt-5.55}}"), exitOK, "config.yaml: can be used, 1 warning\n"},
		{"a fault", written(t, "agents:\n  defaults:\n    modle: x\n"), exitFault, "    3 |     modle: x\n      |     ^\nconfig.yaml: 1 fault\n"},
		{"two faults", written(t, "agent: {}\nauht: {}"), exitFault, "config.yaml: 2 faults\n"},
		{"named and not there", filepath.Join(t.TempDir(), "none.yaml"), exitUsage, "cannot be read: no such file or directory"},
		{"a folder", t.TempDir(), exitUsage, "is a directory"},
		{"none at all", "", exitUsage, "Three lines are enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := checked(config.Reader{Getenv: here, Catalogue: true}, c.path)
			if all := out + errs; code != c.want || !strings.Contains(all, c.says) {
				t.Errorf("exit %d, want %d, with %q in:\n%s", code, c.want, c.says, all)
			}
		})
	}
}

// "A config value of type secret is never printed": neither by faults, with
// their excerpts, nor by the plan, whatever is wrong beside it [I12].
func TestSecretsNeverPrint(t *testing.T) {
	const hidden = "Tr0ub4dor-and-3-more"
	for _, text := range []string{
		"models: {providers: {openai: {apiKey: " + hidden + ", bseUrl: x}}}",
		"models:\n  providers:\n    openai:\n      apiKey: [" + hidden + "]\n",
		"models:\n  providers:\n    openai:\n      apiKey: \"" + hidden + " with space\"\n",
		"models:\n  providers:\n    openai:\n      apikey: '" + hidden + "'\n",
		"models: {providers: {openai: {headers: {Authorization: Bearer " + hidden + ", x: [1]}}}}",
		"models: {providers: {openai: {headers: {X-Gate: " + hidden + ", x: [1]}, bseUrl: x}}}",
		"models: {providers: {openai: {headers: {bad name: " + hidden + ", \n",
		"models:\n  providers:\n    openai:\n      headers:\n        X-Auth: [" + hidden + "]\n",
		"agents: {defaults: {model: \"${OPENAI_API_KEY}\"}}",
		"agents: {defaults: {model: \"openai/${OPENAI_API_KEY}/\", timeoutSeconds: \"${OPENAI_API_KEY}\"}}",
		"agents: {defaults: {models: {openai/gpt-5.5: {alias: \"${OPENAI_API_KEY}!/\"}}}}",
		"auth: {order: {openai: [\"${OPENAI_API_KEY}\"]}}",
		"auth: {profiles: {'openai:a': {provider: \"${OPENAI_API_KEY}\", keyRef: {source: \"${OPENAI_API_KEY}\", id: \"${OPENAI_API_KEY}\"}}}}",
		"models: {providers: {box: {baseUrl: \"https://${OPENAI_API_KEY}@x.example/\"}}}",
		"models: {providers: {box: {baseUrl: \"${OPENAI_API_KEY}\"}}}",
		"inbox: {replayMaxAge: \"${OPENAI_API_KEY}\"}\nmessages: {fallbackNotices: \"${OPENAI_API_KEY}\"}",
		"models:\n  providers:\n    openai:\n      apiKey: " + hidden + "\n     bad\n",
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		runCheck(file, "", &out, &out, env("OPENAI_API_KEY", hidden), nil)
		if strings.Contains(out.String(), hidden) {
			t.Errorf("%s\nprints the secret:\n%s", text, &out)
		}
		if out.Len() == 0 {
			t.Error("nothing was printed at all")
		}
	}
}
