package rehearsal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rehearsed plays a script, after the flags --json and --config FILE, and gives
// what was said of it.
func rehearsed(t *testing.T, args ...string) (how Verdict, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	s := Script{Getenv: noEnv, Out: &stdout, Err: &stderr}
	for len(args) > 1 {
		switch args[0] {
		case "--json":
			s.JSON, args = true, args[1:]
		case "--config":
			s.Config, args = args[1], args[2:]
		}
	}
	s.File = args[0]
	how = Play(t.Context(), s)
	return how, stdout.String(), stderr.String()
}

// written writes a script into a file of the test.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each rehearsal of the rule book, of ours, and of those that operators are
// given as examples, comes out as it says. Each names the rules that it covers.
func TestRehearsals(t *testing.T) {
	files := 0
	for _, pattern := range []string{"testdata/given/*.yaml", "testdata/own/*.yaml", "../../../examples/rehearsals/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(found))
		}
		for _, file := range found {
			files++
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				if verdict, out, errs := rehearsed(t, file); verdict != Held {
					t.Errorf("verdict %d\n%s%s", verdict, out, errs)
				}
			})
		}
	}
	if files < 80 {
		t.Errorf("only %d rehearsals were found", files)
	}
}

// The same script gives the same events, to the byte.
func TestARehearsalTellsTheSameStoryEachTime(t *testing.T) {
	for _, file := range []string{"testdata/own/r7-sessions-side-by-side.yaml", "testdata/own/6.3-a-crash-in-the-middle.yaml",
		"testdata/own/r7-restart-with-queue.yaml", "testdata/given/012-auth-skip-cache.yaml", "../../../examples/rehearsals/flapping-vendor.yaml"} {
		_, first, _ := rehearsed(t, "--json", file)
		for range 5 {
			if _, again, _ := rehearsed(t, "--json", file); again != first {
				t.Fatalf("%s:\n%s", file, cmp.Diff(first, again))
			}
		}
	}
}

const limited = `
config: {agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/a]}}}}
vendors:
- {model: openai/*, error: {status: 429, code: rate_limit_exceeded, message: slow down}}
script:
- {at: 90s, say: hello}
`

// R9–R16: one object per line, at, event and session first, durations as Go
// writes them, absent fields left out.
func TestEventsAreOneObjectPerLine(t *testing.T) {
	verdict, out, errs := rehearsed(t, "--json", written(t, limited))
	if verdict != Held || errs != "" {
		t.Fatalf("verdict %d: %s", verdict, errs)
	}
	var lines []string
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
		if !strings.Contains(line, `"event":"decision"`) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{
		`{"at":"1m30s","event":"attempt","session":"agent:main:main","turn":"t1","purpose":"chat","model":"openai/gpt-5.5","profile":"openai:default","outcome":"failed","reason":"rate_limit","status":429,"code":"rate_limit_exceeded","position":1,"total":2}`,
		`{"at":"1m30s","event":"cooldown","session":"agent:main:main","profile":"openai:default","until":"2m30s","reason":"rate_limit","model":"gpt-5.5","errorCount":1}`,
		`{"at":"1m30s","event":"override","session":"agent:main:main","model":"anthropic/a","source":"auto","origin":"openai/gpt-5.5","act":"set"}`,
		`{"at":"1m30s","event":"attempt","session":"agent:main:main","turn":"t1","purpose":"chat","model":"anthropic/a","profile":"anthropic:default","outcome":"ok","position":2,"total":2}`,
		`{"at":"1m30s","event":"notice","session":"agent:main:main","text":"↪️ Model Fallback: anthropic/a (selected openai/gpt-5.5; rate limit)","threaded":false,"usesReplySlot":false}`,
		`{"at":"1m30s","event":"reply","session":"agent:main:main","model":"anthropic/a","text":"ok","threaded":false}`,
		`{"at":"1m30s","event":"end","sessions":[{"key":"agent:main:main","providerOverride":"anthropic","modelOverride":"a","modelOverrideSource":"auto","modelOverrideFallbackOriginProvider":"openai","modelOverrideFallbackOriginModel":"gpt-5.5","authProfileOverride":"anthropic:default","authProfileOverrideSource":"auto","authProfileOverrideCompactionCount":0,"fallbackNoticeSelectedModel":"openai/gpt-5.5","fallbackNoticeActiveModel":"anthropic/a","fallbackNoticeReason":"rate limit"}],"profiles":[{"id":"anthropic:default","type":"api_key","provider":"anthropic","lastUsed":"1m30s"},{"id":"openai:default","type":"api_key","provider":"openai","cooldownUntil":"2m30s","cooldownReason":"rate_limit","cooldownModel":"gpt-5.5","cooldownModels":{"gpt-5.5":{"until":"2m30s","reason":"rate_limit"}},"errorCount":1,"failureCounts":{"rate_limit":1},"lastFailureAt":"1m30s"}]}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// The timeline reads from top to bottom: when, where, who, what.
func TestTheTimelineIsForPeople(t *testing.T) {
	_, out, _ := rehearsed(t, written(t, "title: A slow morning"+limited))
	want := `A slow morning
     1m30s  — agent:main:main
            user: hello
                1/2 openai/gpt-5.5 (openai:default) fails: rate_limit HTTP 429 rate_limit_exceeded
                openai:default is cooling until 2m30s (rate_limit) for gpt-5.5
                the session is set to anthropic/a (auto, for openai/gpt-5.5)
                2/2 anthropic/a (anthropic:default) answers
            bot: ↪️ Model Fallback: anthropic/a (selected openai/gpt-5.5; rate limit)
            bot: ok   [anthropic/a]
`
	if !strings.HasPrefix(out, want) {
		t.Errorf("timeline:\n%s\nwant it to begin with:\n%s", out, want)
	}
	if !strings.HasSuffix(out, "script.yaml: played; it expects nothing\n") {
		t.Errorf("its last line:\n%s", out)
	}
}

// The verdict says whether what was expected held (R8), and a broken
// expectation is shown with the events that come nearest.
func TestExpectationsDecideTheVerdict(t *testing.T) {
	cases := []struct {
		name, expect string
		verdict      Verdict
		says         []string
	}{
		{"a field that differs", `expect: [{event: reply, model: openai/gpt-5.5}]`, Missed,
			[]string{"script.yaml:7: {event: reply, model: openai/gpt-5.5}\n    not found", "near: {at: 1m30s, event: reply,", "1 of 1 expectation did not hold"}},
		{"the order counts", `expect: [{event: reply}, {event: notice}]`, Missed, []string{"not found after {at: 1m30s, event: reply", "only before it"}},
		{"others may stand between", `expect: [{event: attempt}, {event: reply}]`, Held, []string{"all 2 expectations held"}},
		{"never", `never: [{event: failure}, {event: notice}]`, Missed, []string{"{event: notice}\n    happened although it never should", "near: {at: 1m30s, event: notice"}},
		{"never held", `never: [{event: failure}]`, Held, []string{"the one expectation held"}},
		{"count", `expect: [{count: {event: attempt, n: 2}}]`, Held, nil},
		{"count of another number", `expect: [{count: {event: attempt, n: 3}}]`, Missed, []string{"found 2 times, not 3"}},
		{"count of none", `expect: [{count: {event: failure, n: 0}}]`, Held, nil},
		{"a count does not move the place", `expect: [{count: {event: reply, n: 1}}, {event: attempt, position: 1}]`, Held, nil},
		{"a regular expression", `expect: [{event: notice, text: '~rate.limit\)$'}]`, Held, nil},
		{"a regular expression of a number", `expect: [{event: attempt, status: ~^4}]`, Held, nil},
		{"null is absent", `expect: [{event: attempt, reason: null, model: anthropic/a}]`, Held, nil},
		{"null is not there", `expect: [{event: attempt, model: openai/gpt-5.5, status: null}]`, Missed, nil},
		{"durations are values", `expect: [{event: cooldown, until: 150s}, {event: reply, at: 1.5m}]`, Held, nil},
		{"at is exact", `expect: [{event: reply, at: 90001ms}]`, Missed, nil},
		{"after is a bound, and outside", `never: [{event: reply, after: 90s}]`, Held, nil},
		{"before is a bound, and outside", `never: [{event: reply, before: 90s}]`, Held, nil},
		{"after and before", `expect: [{event: reply, after: 89s, before: 91s}]`, Held, nil},
		{"a truth value", `expect: [{event: notice, usesReplySlot: false}]`, Held, nil},
		{"a truth value that differs", `expect: [{event: notice, usesReplySlot: true}]`, Missed, nil},
		{"rows by key", `expect: [{event: end, sessions: [{key: 'agent:main:main', modelOverride: a, compactionCount: null}]}]`, Held, nil},
		{"a row that is not there", `expect: [{event: end, sessions: [{key: 'agent:other:main'}]}]`, Missed, nil},
		{"rows by id, in any order", `expect: [{event: end, profiles: [{id: 'openai:default', cooldownUntil: 150s, failureCounts: {rate_limit: 1}}, {id: 'anthropic:default'}]}]`, Held, nil},
		{"a profile in the form of the seeds", `expect: [{event: end, profiles: [{id: 'openai:default', usage: {cooldownModels: {gpt-5.5: {until: 150s, reason: rate_limit}}}}]}]`, Held, nil},
		{"each row must match one element", `expect: [{event: end, profiles: [{id: 'openai:default', lastUsed: 90s}]}]`, Missed, nil},
		{"a list inside a record", `expect: [{event: decision, previousAttempts: [{provider: openai, status: 429}]}]`, Held, nil},
		{"a session", `expect: [{event: reply, session: 'agent:main:main'}]`, Held, nil},
		{"nothing is expected", ``, Held, []string{"expects nothing"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict, out, errs := rehearsed(t, written(t, limited+c.expect+"\n"))
			if verdict != c.verdict {
				t.Errorf("verdict %d, want %d\n%s%s", verdict, c.verdict, out, errs)
			}
			for _, s := range c.says {
				if !strings.Contains(out, s) {
					t.Errorf("it does not say %q:\n%s", s, out)
				}
			}
			if verdict, events, errs := rehearsed(t, "--json", written(t, limited+c.expect+"\n")); verdict != c.verdict || strings.Contains(events, "not found") || (verdict == Missed) != (errs != "") {
				t.Errorf("with --json the verdict is %d, and on standard error stands %q", verdict, errs)
			}
		})
	}
}

// A script or config that cannot be used is refused with place and mend.
func TestBadScriptsAreRefused(t *testing.T) {
	cases := []struct{ name, text, says string }{
		{"unknown key", "scrpt: []\n", `script.yaml:1:1: scrpt: unknown key; did you mean "script"?`},
		{"unknown key of a step", "script:\n- {at: 0s, sya: hello}\n", `script.yaml:2:12: script[0].sya: unknown key; did you mean "say"?`},
		{"unknown effect", "vendors:\n- {model: '*', hangs: true}\n", `:2:16: vendors[0].hangs: unknown key; did you mean "hang"?`},
		{"no time", "script:\n- {say: hello}\n", "script[0].at: is missing"},
		{"a time without a unit", "script:\n- {at: 5, say: hello}\n", `:2:8: script[0].at: wants a duration, found a number; write a duration with its unit, such as "5s"`},
		{"no duration", "script:\n- {at: soon, say: hello}\n", `script[0].at: "soon" is not a duration`},
		{"against the order of time", "script:\n- {at: 5s, say: a}\n- {at: 4s, say: b}\n", ":3:8: script[1].at: stands behind a step at 5s"},
		{"a step without an act", "script:\n- {at: 0s}\n", "script[0]: does nothing; give it one of say,"},
		{"two acts", "script:\n- {at: 0s, say: a, restart: true}\n", ":2:20: script[0].restart: is a second act"},
		{"a key of another act", "script:\n- {at: 0s, restart: true, thread: x}\n", "script[0].thread: belongs to say"},
		{"a during without a turn", "script:\n- {at: 0s, say: a}\n- {at: 0s, during: {attempt: 1, do: {say: /stop}}}\n", ":3:12: script[1].during: no step behind it starts a turn"},
		{"a during of nothing", "script:\n- {at: 0s, during: {attempt: 1, do: {}}}\n- {at: 0s, say: a}\n", "script[0].during.do: does nothing"},
		{"no such attempt", "script:\n- {at: 0s, during: {attempt: 0, do: {say: /stop}}}\n- {at: 0s, say: a}\n", "during.attempt: must be at least 1"},
		{"a matcher that matches nothing", "vendors:\n- {model: gpt-5.5, hang: true}\n", `:2:11: vendors[0].model: "gpt-5.5" matches no model; write provider/model, provider/* or "*"`},
		{"half a wildcard", "vendors:\n- {model: openai/gpt-*, hang: true}\n", "matches no model"},
		{"two effects", "vendors:\n- {model: '*', hang: true, empty: true}\n", "vendors[0].empty: is a second effect beside hang"},
		{"what a failing vendor uses", "vendors:\n- {model: '*', hang: true, tokens: {input: 1}}\n", "vendors[0].tokens: is not told by a vendor that fails"},
		{"more of the cache than of all", "vendors:\n- {model: '*', tokens: {input: 1, cacheRead: 2}}\n", "vendors[0].tokens.input: is less than the cached ones"},
		{"a window that never opens", "vendors:\n- {model: '*', from: 5m, until: 5m, hang: true}\n", "vendors[0].until: is not behind from"},
		{"no such failure of a network", "vendors:\n- {model: '*', network: timeout}\n", "is not one of reset, refused, dns, eof"},
		{"input of a tool", "vendors:\n- {model: '*', tool: {name: x, args: [1]}}\n", "vendors[0].tool.args: is no object"},
		{"a profile id", "profiles:\n- {id: work, type: api_key}\n", `profiles[0].id: "work" is no profile id`},
		{"a profile twice", "profiles:\n- {id: 'a:b', type: api_key}\n- {id: 'a:b', type: token}\n", `:3:8: profiles[1].id: "a:b" stands twice`},
		{"a profile of no type", "profiles:\n- {id: 'a:b', type: key}\n", `"key" is not one of api_key, oauth, token`},
		{"a session twice", "sessions:\n- {key: a}\n- {key: a}\n", `sessions[1].key: "a" stands twice`},
		{"a start that is no time", "start: tomorrow\n", `start: "tomorrow" is not a time`},
		{"an event that does not exist", "expect:\n- {event: replied}\n", `expect[0].event: "replied" is no event; known: attempt, blocked`},
		{"a field that no event has", "never:\n- {event: reply, txet: x}\n", `:2:18: never[0].txet: is no field of an event; did you mean "text"?`},
		{"a regular expression", "expect:\n- {event: reply, text: '~('}\n", "expect[0].text: is no regular expression: missing closing )"},
		{"a count without n", "expect:\n- {count: {event: reply}}\n", "expect[0].count.n: is missing"},
		{"a count in never", "never:\n- {count: {event: reply, n: 1}}\n", "never[0].count: belongs to expect"},
		{"a bound that is no duration", "never:\n- {event: reply, after: 5}\n", `never[0].after: "5" is not a duration`},
		{"a config that is wrong", "config: {agents: {defaults: {modle: x/y}}}\n", `:1:30: agents.defaults.modle: unknown key; did you mean "model"?`},
		{"a reload that is wrong", "config: {agents: {defaults: {model: x/y}}}\nscript:\n- {at: 0s, reload: {messages: {fallbackNotices: loud}}}\n", `:3:49: messages.fallbackNotices: "loud" is not one of all, direct, off`},
		{"a variable that is not set", "config: {models: {providers: {openai: {apiKey: '${MY_KEY}'}}}}\n", "the variable MY_KEY is not set"},
		{"no YAML", "script: [\n", "script.yaml:"},
		{"a patch of no model", "script:\n- {at: 0s, patch: {session: s, model: 5}}\n", "script[0].patch.model: wants a model or null, found a number"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict, out, errs := rehearsed(t, written(t, c.text))
			if verdict != Unusable || !strings.Contains(errs, c.says) || out != "" {
				t.Errorf("verdict %d\n%s%s\nwant %d and %q", verdict, out, errs, Unusable, c.says)
			}
		})
	}
	if verdict, _, errs := rehearsed(t, filepath.Join(t.TempDir(), "none.yaml")); verdict != Unusable || !strings.Contains(errs, "cannot be read") {
		t.Errorf("a file that is not there: verdict %d, %q", verdict, errs)
	}
}

// expectError asks that the config be refused, with these words.
func TestExpectError(t *testing.T) {
	wrong := "config: {agents: {defaults: {modle: x/y}}}\n"
	for _, c := range []struct {
		name, text string
		verdict    Verdict
		says       string
	}{
		{"refused with these words", wrong + "expectError: '~unknown key'\n", Held, "refused as expected: "},
		{"refused with other words", wrong + "expectError: '~not a duration'\n", Missed, "refused, but not with ~not a duration"},
		{"accepted", "config: {}\nexpectError: '~unknown key'\n", Missed, "the config was accepted"},
		{"the script is wrong, not the config", wrong + "scrpt: []\nexpectError: '~unknown key'\n", Unusable, "scrpt: unknown key"},
		{"beside expect", wrong + "expect: [{event: reply}]\nexpectError: '~unknown key'\n", Unusable, "stands beside expect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			verdict, out, errs := rehearsed(t, written(t, c.text))
			if verdict != c.verdict || !strings.Contains(out+errs, c.says) {
				t.Errorf("verdict %d\n%s%s\nwant %d and %q", verdict, out, errs, c.verdict, c.says)
			}
		})
	}
}

// --config plays the script with an operator's own config; secrets that it
// refers to need not be there.
func TestTheOperatorsOwnConfig(t *testing.T) {
	own := filepath.Join(t.TempDir(), "config.yaml")
	text := `
agents: {defaults: {model: {primary: mistral/large, fallbacks: [groq/b]}}}
models: {providers: {mistral: {apiKey: '${MISTRAL_SECRET}'}}}
`
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	played := written(t, `
config: {agents: {defaults: {model: openai/gpt-5.5}}}
vendors: [{model: mistral/*, network: refused}]
script: [{at: 0s, say: hello}, {at: 1s, reload: {messages: {fallbackNotices: 'off'}}}, {at: 2s, say: again}]
expect: [{event: attempt, model: mistral/large, outcome: failed}, {event: reply, model: groq/b}, {event: reply, model: groq/b, at: 2s}]
`)
	if verdict, out, errs := rehearsed(t, "--config", own, played); verdict != Held {
		t.Errorf("verdict %d\n%s%s", verdict, out, errs)
	}
	if verdict, _, errs := rehearsed(t, "--config", own+".not", played); verdict != Unusable || !strings.Contains(errs, "cannot be read") {
		t.Errorf("a config that is not there: verdict %d, %q", verdict, errs)
	}
	if err := os.WriteFile(own, []byte("agents: {defaults: {modle: x/y}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if verdict, _, errs := rehearsed(t, "--config", own, played); verdict != Unusable || !strings.Contains(errs, "config.yaml:1:21: agents.defaults.modle: unknown key") {
		t.Errorf("a config that is wrong: verdict %d, %q", verdict, errs)
	}
}
