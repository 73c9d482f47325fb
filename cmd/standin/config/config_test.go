package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
)

// env is a getenv of fixed variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// read parses a config text as `standin check` does.
func read(text string, getenv func(string) string) (*Compiled, []Fault) {
	return Reader{Getenv: getenv, Catalogue: true}.Parse("config.yaml", []byte(text))
}

// lines gives the faults as they are printed, without the warnings.
func lines(faults []Fault) []string {
	var out []string
	for _, f := range faults {
		if !f.Warning {
			out = append(out, f.String())
		}
	}
	return out
}

// must gives the config of a text without faults.
func must(t *testing.T, text string, getenv func(string) string) *Compiled {
	t.Helper()
	c, faults := read(text, getenv)
	if c == nil {
		t.Fatalf("faults in a good config:\n%s", strings.Join(lines(faults), "\n"))
	}
	return c
}

// Whoever mends a config in the middle of an outage wants to do it once.
func TestAllFaultsAreReportedInOneRun(t *testing.T) {
	c, faults := read(`agents:
  defaults:
    modle: openai/gpt-5.5
    timeoutSeconds: soon
    model:
      primary: opneai/gpt-5.5
      fallbacks: [anthropic/claude-sonnet-5, fats]
    models:
      openai/gpt-5.5: {alias: fast}
      opneai/gpt-5.5: {}
auth:
  order:
    openai: [openai:wrok]
  profiles:
    openai:work: {}
`, env())
	if c != nil {
		t.Error("a config with faults was accepted")
	}
	want := []string{
		`config.yaml:3:5: agents.defaults.modle: unknown key; did you mean "model"?`,
		`config.yaml:4:21: agents.defaults.timeoutSeconds: wants a number, found text; write it without quotes or unit`,
		`config.yaml:6:16: agents.defaults.model.primary: "opneai/gpt-5.5": no provider of that name is known; did you mean "openai/gpt-5.5"? Or describe it in models.providers`,
		`config.yaml:7:46: agents.defaults.model.fallbacks[1]: "fats" is neither an alias nor provider/model; did you mean "fast"?`,
		`config.yaml:10:7: agents.defaults.models["opneai/gpt-5.5"]: "opneai/gpt-5.5": no provider of that name is known; did you mean "openai/gpt-5.5"? Or describe it in models.providers`,
		`config.yaml:13:14: auth.order.openai[0]: there is no profile "openai:wrok"; did you mean "openai:work"?`,
	}
	if diff := cmp.Diff(want, lines(faults)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// Each line is a text, and the one fault that it has.
func TestFaultsOfForm(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", `config.yaml:1:1: the file is empty; standin config schema lists the keys; config.example.yaml shows them`},
		{"only comments", "# later\n", `config.yaml:1:1: the file is empty; standin config schema lists the keys; config.example.yaml shows them`},
		{"a list at the top", "- a\n- b\n", `config.yaml:1:1: wants keys with values, found a list; begin with a key, such as "agents:"`},
		{"a word at the top", "hello\n", `config.yaml:1:1: wants keys with values, found text; begin with a key, such as "agents:"`},
		{"a tab in the indentation", "agents:\n\tdefaults: {}\n", `config.yaml:2:1: a tab stands in the indentation; YAML is indented with spaces`},
		{"a second document, which YAML readers skip silently", "messages: {}\n---\nagents: {}\n", `config.yaml:2:1: a second document begins here and would not be read; remove the line ---`},
		{"a key that stands twice", "messages: {}\nsession: {}\nmessages: {}\n", `config.yaml:3:1: messages: is given twice, first in line 1; keep one of them`},
		{"a bracket that is not closed", "agents: [1\nauth: {}\n", `config.yaml:2:1: ',' or ']' must be specified`},
		{"a key with a colon in braces", "auth: {profiles: {openai:work: {}}}\n", `config.yaml:1:32: ',' or '}' must be specified; between { and } a word that holds a colon wants quotes`},
		{"an alias without anchor", "agents: *none\n", `config.yaml:1:9: agents: *none names no anchor that stands before it`},
		{"a tag of another language", "agents: !!python/name {}\n", `config.yaml:1:9: agents: the tag !!python/name is not used here; remove it`},
		{"a binary file", "\x7fELF\x00\x01", `config.yaml:1:1: is not text in UTF-8; is it the right file, saved as UTF-8?`},
		{"Latin-1", "agents: {}\n# caf\xe9\n", `config.yaml:2:1: is not text in UTF-8; is it the right file, saved as UTF-8?`},
		{"a huge file", strings.Repeat("# comment\n", 110_000), `config.yaml: is larger than 1024 KB; is it the right file?`},
		{"very many words", strings.Repeat("a: b\n", 7_000), `config.yaml: holds more than 20000 words of YAML; is it the right file?`},
		{"deep nesting", "agents: " + strings.Repeat("[", 60) + strings.Repeat("]", 60), `config.yaml:1:9: agents: wants an object, found a list|config.yaml:1:48: agents: is nested too deeply`},
		{"text where a number is wanted", "agents: {defaults: {maxConcurrent: \"4\"}}", `config.yaml:1:36: agents.defaults.maxConcurrent: wants a number, found text; write it without quotes or unit`},
		{"a fraction where turns are counted", "agents: {defaults: {maxConcurrent: 1.5}}", `config.yaml:1:36: agents.defaults.maxConcurrent: wants a whole number`},
		{"less than the least", "agents: {defaults: {maxConcurrent: 0}}", `config.yaml:1:36: agents.defaults.maxConcurrent: must be at least 1`},
		{"more than the most", "auth: {cooldowns: {billingMaxHours: 9000}}", `config.yaml:1:37: auth.cooldowns.billingMaxHours: must be at most 8760`},
		{"no rest at all", "auth: {cooldowns: {billingBackoffHours: 0}}", `config.yaml:1:41: auth.cooldowns.billingBackoffHours: must be greater than 0`},
		{"infinity", "auth: {cooldowns: {billingBackoffHours: .inf}}", `config.yaml:1:41: auth.cooldowns.billingBackoffHours: wants a number, found text; write it without quotes or unit`},
		{"a duration without unit", "inbox: {replayMaxAge: 900}", `config.yaml:1:23: inbox.replayMaxAge: wants a duration, found a number; write a duration with its unit, such as "900s"`},
		{"a duration backwards", "inbox: {replayMaxAge: -5m}", `config.yaml:1:23: inbox.replayMaxAge: "-5m" is not a duration; write a number with its unit, such as "90s", "10m" or "1h30m"`},
		{"a word that is none of the words", "messages: {fallbackNotices: al}", `config.yaml:1:29: messages.fallbackNotices: "al" is not one of all, direct, off; did you mean "all"?`},
		{"yes for true", "session: {resetKeepsModel: yes}", `config.yaml:1:28: session.resetKeepsModel: wants true or false, found text; write true or false, without quotes`},
		{"a number where a name is wanted", "agents: {list: [{id: 7}]}", `config.yaml:1:22: agents.list[0].id: wants text, found a number; write it in quotes: "7"`},
		{"a text where a list is wanted", "session: {resetTriggers: again}", `config.yaml:1:26: session.resetTriggers: wants a list, found text; write it as a list: ["again"]`},
		{"a list of fallbacks that was left empty by mistake", "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: }}}", `config.yaml:1:54: agents.defaults.model.fallbacks: has no value; write [] for none, or remove the line`},
		{"an agent without id", "agents: {list: [{name: x}]}", `config.yaml:1:17: agents.list[0].id: is missing`},
		{"a variable that is not set", "agents: {defaults: {systemPrompt: \"${NOBODY}\"}}", `config.yaml:1:35: agents.defaults.systemPrompt: the variable NOBODY is not set, or empty; set it in the environment, or write $${NOBODY} for the plain text`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(c.text, env())
			if diff := cmp.Diff(c.want, strings.Join(lines(faults), "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Faults of meaning: the form is right, a name leads nowhere.
func TestFaultsOfMeaning(t *testing.T) {
	const provider = "models: {providers: {box: {baseUrl: 'https://box.example/v1', models: [small, {id: large}]}}}\n"
	for _, c := range []struct{ name, text, want string }{
		{"a model that the provider's list lacks", provider + "agents: {defaults: {model: box/lrge}}",
			`config.yaml:2:28: agents.defaults.model: "box/lrge" is not in models.providers.box.models; did you mean "box/large"?`},
		{"half a reference", "agents: {defaults: {model: openai/}}",
			`config.yaml:1:28: agents.defaults.model: "openai/" names no model; write provider/model`},
		{"an empty primary", "agents: {defaults: {model: {primary: ''}}}",
			`config.yaml:1:38: agents.defaults.model.primary: is empty; write provider/model`},
		{"a primary that is not among the permitted models [IL-031]", "agents: {defaults: {model: openai/gpt-5.5, models: {anthropic/*: {}}}}",
			`config.yaml:1:28: agents.defaults.model: openai/gpt-5.5 is not among agents.defaults.models, the models that may be used; add "openai/gpt-5.5" there, or "openai/*"`},
		{"an agent's primary is held to the same list", "agents: {defaults: {model: openai/gpt-5.5, models: {openai/*: {}}}, list: [{id: a, model: anthropic/claude-sonnet-5}]}",
			`config.yaml:1:91: agents.list[0].model: anthropic/claude-sonnet-5 is not among agents.defaults.models, the models that may be used; add "anthropic/claude-sonnet-5" there, or "anthropic/*"`},
		{"one alias for two models", "agents: {defaults: {model: openai/a, models: {openai/a: {alias: X}, openai/b: {alias: x}}}}",
			`config.yaml:1:87: agents.defaults.models["openai/b"].alias: "x" is the alias of openai/a too`},
		{"an alias that /model takes for something else", "agents: {defaults: {model: openai/a, models: {openai/a: {alias: default}}}}",
			`config.yaml:1:65: agents.defaults.models["openai/a"].alias: "default" means something else after /model; choose another word`},
		{"two agents of one name", "agents: {defaults: {model: openai/a}, list: [{id: a}, {id: a}]}",
			`config.yaml:1:60: agents.list[1].id: an agent "a" stands before it; give each agent an id of its own`},
		{"two default agents", "agents: {defaults: {model: openai/a}, list: [{id: a, default: true}, {id: b, default: true}]}",
			`config.yaml:1:87: agents.list[1].default: "a" is marked default too; mark one agent`},
		{"a fault behind an agent that could not be read keeps its number", "agents: {defaults: {model: openai/a}, list: [{name: x}, {id: b, model: nope/x}]}",
			`config.yaml:1:46: agents.list[0].id: is missing|config.yaml:1:72: agents.list[1].model: "nope/x": no provider of that name is known; describe it in models.providers`},
		{"a provider of one's own without address", "models: {providers: {opnai: {}}}",
			`config.yaml:1:22: models.providers.opnai: is no provider that standin knows, and has no baseUrl; give its baseUrl, or did you mean "openai"?`},
		{"plain http to another machine", "models: {providers: {box: {baseUrl: 'http://10.0.0.1/v1', apiKey: k}}}",
			`config.yaml:1:37: models.providers.box.baseUrl: plain http would send the key in the clear; use https, or a server on this machine`},
		{"a key in the address", "models: {providers: {box: {baseUrl: 'https://u:hunter2hunter2@box.example/v1'}}}",
			`config.yaml:1:37: models.providers.box.baseUrl: holds more than host and path; put a key into apiKey or headers`},
		{"a profile id without name", "auth: {profiles: {work: {}}}",
			`config.yaml:1:19: auth.profiles.work: is no profile id; write provider:name, such as openai:default`},
		{"a profile of two providers", "auth: {profiles: {'openai:a': {provider: anthropic}}}",
			`config.yaml:1:42: auth.profiles["openai:a"].provider: differs from openai, which the profile id begins with; make them equal`},
		{"a foreign profile in an order", "auth: {order: {openai: [anthropic:a]}}",
			`config.yaml:1:25: auth.order.openai[0]: "anthropic:a" is a profile of anthropic; list profiles of openai here`},
		{"an order of an unknown provider", "auth: {order: {opnai: []}}",
			`config.yaml:1:16: auth.order.opnai: no provider of that name is known; did you mean "openai"?`},
		{"a secret reference that leads nowhere", "auth: {profiles: {'openai:a': {keyRef: {source: env, id: NOPE}}}}",
			`config.yaml:1:58: auth.profiles["openai:a"].keyRef.id: the variable "NOPE" is not set, or empty; set it in the environment of standin`},
		{"a secret file that is not there", "models: {providers: {openai: {apiKey: {source: file, id: no/such}}}}",
			`config.yaml:1:58: models.providers.openai.apiKey.id: the file cannot be read: no such file or directory; its path is relative to the config file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(c.text, env())
			if diff := cmp.Diff(c.want, strings.Join(lines(faults), "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be known for sure is a warning: the config is used.
func TestDoubtsAreWarnings(t *testing.T) {
	const ok = "agents: {defaults: {model: openai/gpt-5.5}}\n"
	for _, c := range []struct{ name, text, want string }{
		{"no model at all", "messages: {}", `agents.defaults.model.primary: is not set: openai/gpt-5.5 is used`},
		{"a model that only the catalogue lacks", "agents: {defaults: {model: openai/gpt-5.55}}", `"openai/gpt-5.55" is not in the catalogue; did you mean "openai/gpt-5.5"?`},
		{"the same model twice", "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5, OpenAI/gpt-5.5]}}}", `fallbacks[1]: "OpenAI/gpt-5.5" is in this chain already and is passed over`},
		{"an empty fallback", "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: ['']}}}", `fallbacks[0]: is empty and is passed over`},
		{"a profile in a model's name", "agents: {defaults: {model: 'openai/gpt-5.5@openai:work'}}", `the profile after @ is not used here`},
		{"a profile that may be stored", ok + "auth: {order: {openai: [openai:work]}}", `"openai:work" is not in auth.profiles`},
		{"a secret in the open", ok + "models: {providers: {openai: {apiKey: abcdefgh}}}", `the secret stands in the file as plain text; put it into a variable and write ${OPENAI_API_KEY}`},
		{"a longest rest below the first", ok + "auth: {cooldowns: {billingMaxHours: 2}}", `is shorter than billingBackoffHours, which is used instead`},
		{"/v1 for Anthropic's protocol", ok + "models: {providers: {anthropic: {baseUrl: 'https://x.example/v1'}}}", `ends in /v1, which is added for this protocol`},
		{"three models on one nail", "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.4, openai/gpt-5.4-mini]}}}",
			`single point of failure: profile openai:default, on which all of openai/gpt-5.5, openai/gpt-5.4, openai/gpt-5.4-mini depend`},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, faults := read(c.text, env())
			if config == nil {
				t.Fatalf("refused: %v", lines(faults))
			}
			var all []string
			for _, f := range faults {
				all = append(all, f.String())
				if strings.Contains(f.String(), c.want) && f.Warning && strings.HasPrefix(f.String(), "config.yaml:") {
					return
				}
			}
			t.Errorf("no warning %q among:\n%s", c.want, strings.Join(all, "\n"))
		})
	}
}

// A word that a server on this machine takes for a key is no secret.
func TestLocalKeysMayStandInTheFile(t *testing.T) {
	_, faults := read("agents: {defaults: {model: near/x}}\nmodels: {providers: {near: {baseUrl: 'http://127.0.0.1:9/v1', apiKey: any}}}", env())
	if len(faults) > 0 {
		t.Error(faults)
	}
}

// What looks like a vendor's key is hidden wherever it stands.
func TestKeysInStrangePlacesAreHidden(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz"
	for _, text := range []string{"agents: {defaults: {systemPrompt: [" + key + "]}}", "agents: {" + key + ": 1}", "agents: {defaults: {model: " + key + "}}"} {
		_, faults := read(text, env())
		for _, f := range faults {
			if strings.Contains(f.String()+f.excerpt(), key) {
				t.Errorf("%s%s", f, f.excerpt())
			}
		}
		if len(faults) == 0 {
			t.Errorf("no fault in %s", text)
		}
	}
}

// A second provider takes the single point of failure away [IL-305].
func TestSecondProviderIsNoSinglePoint(t *testing.T) {
	_, faults := read("agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.4, anthropic/claude-sonnet-5]}}}", env())
	for _, f := range faults {
		if strings.Contains(f.Msg, "single point") {
			t.Error(f)
		}
	}
}

// "Attempt budget is strictly less than the run budget" [D23, IL-168].
func TestATurnThatIsShorterThanAnAttemptIsWarnedOf(t *testing.T) {
	for times, warns := range map[string]bool{
		"timeoutSeconds: 120": true, "timeoutSeconds: 121": false, "timeoutSeconds: 0": false,
		"timeoutSeconds: 60, attempt: {firstTokenTimeout: 60s}": true, "timeoutSeconds: 60, attempt: {firstTokenTimeout: 20s}": false,
	} {
		_, faults := read("agents: {defaults: {model: openai/gpt-5.5, "+times+"}}", env())
		if warned := slices.ContainsFunc(faults, func(f Fault) bool { return f.Warning && strings.Contains(f.Msg, "silent model") }); warned != warns {
			t.Errorf("%s: warned %v: %v", times, warned, faults)
		}
	}
}

// What other systems write into files does not change what they mean.
func TestFormsOfOneConfig(t *testing.T) {
	const plain = "agents:\n  defaults:\n    model:\n      primary: openai/gpt-5.5\n      fallbacks: [anthropic/claude-sonnet-5]\n"
	want := must(t, plain, env()).Fallback
	for name, text := range map[string]string{
		"byte order mark":           "\ufeff" + plain,
		"Windows lines":             strings.ReplaceAll(plain, "\n", "\r\n"),
		"JSON":                      `{"agents": {"defaults": {"model": {"primary": "openai/gpt-5.5", "fallbacks": ["anthropic/claude-sonnet-5"]}}}}`,
		"one document":              "---\n" + plain,
		"anchor and merge":          "agents:\n  defaults:\n    model: &m\n      primary: openai/gpt-5.5\n      fallbacks: [anthropic/claude-sonnet-5]\n      <<: {primary: nope/x}\n",
		"an alias":                  "agents:\n  defaults:\n    models: &all\n    model:\n      primary: &p openai/gpt-5.5\n      fallbacks: [*p, anthropic/claude-sonnet-5]\n",
		"sections that say nothing": plain + "auth:\nsession:\ninbox:\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, must(t, text, env()).Fallback, sameKeys); diff != "" {
				t.Errorf("means something else (-plain +this):\n%s", diff)
			}
		})
	}
}

// "A plain string is strict aloud, [] says strict aloud, a list opts in" [M5].
func TestAgentModels(t *testing.T) {
	c := must(t, `
agents:
  defaults:
    model: {primary: openai/gpt-5.5, fallbacks: [opus]}
    models: {anthropic/claude-opus-4-5: {alias: Opus}, "openai/*": {}}
    systemPrompt: be brief
  list:
    - id: plain
      model: openai/gpt-5.4
    - {id: aloud, model: {primary: openai/gpt-5.4, fallbacks: []}}
    - {id: lists, default: true, model: {fallbacks: [OPUS]}, systemPrompt: ""}
    - {id: shares, name: Share, model: {}}
`, env())
	opus := fallback.Model{Provider: "anthropic", Name: "claude-opus-4-5"}
	gpt := fallback.Model{Provider: "openai", Name: "gpt-5.4"}
	want := map[fallback.AgentID]fallback.ModelChoice{
		"plain": {Primary: gpt},
		"aloud": {Primary: gpt, Listed: true},
		"lists": {Fallbacks: []fallback.Model{opus}, Listed: true},
	}
	if diff := cmp.Diff(want, c.Fallback.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if c.Fallback.DefaultAgent != "lists" || c.Bot.DefaultAgent != "lists" {
		t.Errorf("default agent %q", c.Fallback.DefaultAgent)
	}
	if got := c.Bot.Agents["lists"].System + "|" + c.Bot.Agents["plain"].System + "|" + c.Bot.Agents["shares"].Name; got != "|be brief|Share" {
		t.Errorf("prompts and names: %s", got)
	}
}

// What stands in the file, and the chain that a message walks [M27].
func TestChainsOfAConfig(t *testing.T) {
	const known = "\nmodels: {providers: {groq: {apiKey: x, api: openai-completions, baseUrl: \"http://127.0.0.1:9/v1\"}}}"
	for _, c := range []struct{ rule, defaults, want string }{
		{"fallbacks in their order, the primary not twice", "model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-opus-4-6, groq/b]}",
			"openai/gpt-5.5 anthropic/claude-opus-4-6 groq/b"},
		{"an alias is matched without regard to case (2.7)", "model: {primary: openai/gpt-5.5, fallbacks: [Opus]}, models: {anthropic/claude-opus-4-6: {alias: opus}, \"openai/*\": {}}",
			"openai/gpt-5.5 anthropic/claude-opus-4-6"},
		{"a profile at the end of a reference is no part of the model (2.5)", "model: {primary: openai/gpt-5.5, fallbacks: [\"anthropic/claude-opus-4-6@anthropic:work\"]}",
			"openai/gpt-5.5 anthropic/claude-opus-4-6"},
		{"duplicates vanish, whatever the spelling of the provider (2.4)", "model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.5, anthropic/a, anthropic/a, OpenAI/gpt-5.5]}",
			"openai/gpt-5.5 anthropic/a"},
		{"a plain string has no fallbacks (2.10)", "model: openai/gpt-5.5", "openai/gpt-5.5"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			cfg := must(t, "agents: {defaults: {"+c.defaults+"}}"+known, env()).Fallback
			ask := fallback.Ask{Config: cfg, Agent: "main", Kind: fallback.Chat}
			if got := ChainText(fallback.Chain(cfg, fallback.Resolve(ask, fallback.Selection{}, false)), " "); got != c.want {
				t.Errorf("chain %s\n want %s", got, c.want)
			}
		})
	}
}

// "${VAR} only for [A-Z_][A-Z0-9_]*, $${VAR} literal" [G5], and never more YAML.
func TestVariables(t *testing.T) {
	c := must(t, `
agents:
  defaults:
    model: ${MODEL}
    maxConcurrent: ${TURNS}
    systemPrompt: "a ${WORD} $${WORD} ${lower} $WORD"
session: {resetKeepsModel: "${KEEP}"}
`, env("MODEL", "openai/gpt-5.5", "TURNS", "7", "WORD", "x: {y: [", "KEEP", "false"))
	if got := c.Bot.Agents["main"].System; got != "a x: {y: [ ${WORD} ${lower} $WORD" {
		t.Errorf("system prompt %q", got)
	}
	if c.Bot.MaxConcurrent != 7 || c.Bot.ResetKeepsModel || c.Fallback.Default.Primary.Name != "gpt-5.5" {
		t.Errorf("numbers, truth values and models may come from variables: %+v", c.Bot)
	}
}

// A bare fallback belongs to the primary's provider (2.8), if it can be one of
// its models; in a rehearsal anything can (R2).
func TestBareModels(t *testing.T) {
	c := must(t, "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [gpt-5.4-mini]}}}", env())
	if got := c.Fallback.Default.Fallbacks[0].String(); got != "openai/gpt-5.4-mini" {
		t.Error(got)
	}
	lax, faults := Reader{Getenv: env(), AnyModel: true}.Parse("script", []byte("agents: {defaults: {model: {primary: x/y, fallbacks: [z, w/v]}}}"))
	if lax == nil {
		t.Fatal(faults)
	}
	if got := ChainText(lax.Plans[0].Chain, " "); got != "x/y x/z w/v" {
		t.Error(got)
	}
}

// The order in which a config is looked for [D16].
func TestFindConfig(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	look := func(flag string, getenv func(string) string) string { p, _ := Find(flag, dir, getenv); return p }
	state := env()
	if p, tried := Find("", dir, state); p != "" || len(tried) != 2 {
		t.Errorf("found %q, tried %q", p, tried)
	}
	touch := func(p string) string {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	touch("config.yaml")
	if got := look("", state); got != "config.yaml" {
		t.Error(got)
	}
	inState := touch(filepath.Join(dir, "config.yaml"))
	if got := look("", state); got != inState {
		t.Error(got)
	}
	if got := look("", env("STANDIN_CONFIG", "/named.yaml")); got != "/named.yaml" {
		t.Error("STANDIN_CONFIG is taken as it is:", got)
	}
	if got := look("flag.yaml", state); got != "flag.yaml" {
		t.Error("the flag goes before all:", got)
	}
}
