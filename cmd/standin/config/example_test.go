package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	invopop "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// sameKeys compares secrets by what they hide.
var sameKeys = cmp.Comparer(func(a, b provider.Key) bool { return a.Reveal() == b.Reveal() })

func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "config.example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// exampleEnv has the variables that the example refers to.
var exampleEnv = env("WORKSHOP_API_KEY", "k", "OPENAI_WORK_KEY", "w", "TICKETS_TOKEN", "t", "WIKI_AUTHORIZATION", "Bearer w", "SPEECH_AUTHORIZATION", "Bearer s", "WORKSHOP_CLIENT_SECRET", "s",
	"SLACK_BOT_TOKEN", "xoxb-1", "SLACK_APP_TOKEN", "xapp-1", "SLACK_SIGNING_SECRET", "s", "WORK_BOT_TOKEN", "xoxb-2", "WORK_APP_TOKEN", "xapp-2",
	"CRON_WEBHOOK_TOKEN", "c", "DISCORD_BOT_TOKEN", "d", "WORK_DISCORD_TOKEN", "w",
	"STANDIN_GATEWAY_TOKEN", "a-token-of-the-operator", "OTLP_TOKEN", "o", "OPERATORS_WEBHOOK_TOKEN", "p")

// uncommented sets every key that stands in the example without being set: #
// stands directly before it, or before the section that it belongs to.
func uncommented(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		body, commented := strings.CutPrefix(trimmed, "#")
		// Inside a section that is not set, "#  # words" explains and
		// "#  key: value" is a key.
		if word := strings.TrimLeft(body, " "); commented && (body == word && word != "" || strings.HasPrefix(body, "  ") && !strings.HasPrefix(word, "#")) {
			out = append(out, strings.Repeat(" ", len(line)-len(trimmed))+body)
			continue
		}
		if !commented {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// config.example.yaml can be used as it is, and each default that it shows is
// the default.
func TestExampleShowsTheDefaults(t *testing.T) {
	got := must(t, example(t), env())
	want := must(t, "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}}}", env())
	if diff := cmp.Diff(want, got, sameKeys); diff != "" {
		t.Errorf("the example differs from the defaults (-default +example):\n%s", diff)
	}
}

// The defaults themselves, as the rules name them [D4, D12, D21, D23, M23, M24].
func TestDefaults(t *testing.T) {
	c := must(t, "agents: {defaults: {model: openai/gpt-5.5}}", env())
	f, b := *c.Fallback, *c.Bot
	if f.RunTimeout != 600*time.Second || f.Attempt != (provider.Limits{Connect: 10 * time.Second, FirstToken: 120 * time.Second, Idle: 60 * time.Second}) {
		t.Errorf("limits: %s, %+v", f.RunTimeout, f.Attempt)
	}
	cool := fallback.DefaultCooldowns()
	cool.BillingBackoffByProvider = map[string]time.Duration{}
	if diff := cmp.Diff(cool, f.Cooldowns); diff != "" {
		t.Error(diff)
	}
	if b.MaxConcurrent != 4 || b.Notices != bot.NoticesAll || !b.ResetKeepsModel || b.ReplayMaxAge != 15*time.Minute || f.SkipTTL != 0 || c.RetryMaxWait != time.Minute {
		t.Errorf("%+v", b)
	}
}

// Every key of the schema stands in the example, and all of them together can
// be used.
func TestExampleShowsEveryKey(t *testing.T) {
	text := uncommented(example(t))
	doc := newDocument()
	root, faults := decodeYAML("config.example.yaml", []byte(text), exampleEnv, &doc)
	if len(faults) > 0 {
		t.Fatalf("%v\n%s", faults, text)
	}
	var look func(n *Node, s *invopop.Schema, at string)
	look = func(n *Node, s *invopop.Schema, at string) {
		for _, one := range append(slices.Clone(s.OneOf), s) {
			switch {
			case n.Kind == Object && one.Properties != nil:
				for pair := one.Properties.Oldest(); pair != nil; pair = pair.Next() {
					e := n.Entry(pair.Key)
					if e == nil && at == ".agents.list[].heartbeat" {
						continue // it has those of agents.defaults.heartbeat
					}
					if e == nil && at == ".mcp.servers.tickets" && (pair.Key == "url" || pair.Key == "headers") {
						continue // a program has neither; the server behind it has both
					}
					if e == nil && at == ".operators.notify[]" && pair.Key == "token" {
						continue // a chat has none; the webhook behind it has
					}
					if e == nil {
						t.Errorf("%s.%s is not in config.example.yaml", at, pair.Key)
						continue
					}
					look(e.Value, pair.Value, at+"."+pair.Key)
				}
			case n.Kind == Object && one.AdditionalProperties != nil && one.Type == "object":
				for i, e := range n.Entries {
					// One is enough for its keys to be seen; an account has those of
					// the channel around it.
					if i == 0 && !strings.HasSuffix(at, ".accounts") {
						look(e.Value, one.AdditionalProperties, at+"."+e.Key)
					}
				}
			case n.Kind == List && one.Items != nil && len(n.Items) > 0:
				look(n.Items[0], one.Items, at+"[]")
			}
		}
	}
	look(root, schemaOf(), "")
	if _, faults := Parse("config.example.yaml", []byte(text), exampleEnv, "."); Broken(faults) {
		t.Errorf("with every key set the example cannot be used:\n%v\n%s", lines(faults), text)
	}
}

// The default in the schema, which editors show, is the default in the code.
func TestSchemaDefaults(t *testing.T) {
	code, err := json.Marshal(newDocument())
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := json.Unmarshal(code, &values); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var look func(s *invopop.Schema, v any, at string)
	look = func(s *invopop.Schema, v any, at string) {
		if s.Properties == nil {
			if v == nil || s.OneOf != nil || s.Type == "array" || s.Type == "object" {
				return
			}
			switch s.Type {
			case "string":
				if s.Format == "go-duration" {
					if d, err := time.ParseDuration(fmt.Sprint(s.Default)); err != nil || float64(d) != v {
						t.Errorf("%s: the schema says %v, the code %v", at, s.Default, time.Duration(v.(float64)))
					}
					seen++
				} else if s.Default != nil && s.Default != v {
					t.Errorf("%s: the schema says %v, the code %v", at, s.Default, v)
				}
			default:
				if code, _ := json.Marshal(v); fmt.Sprint(s.Default) != string(code) {
					t.Errorf("%s: the schema says %v, the code %v", at, s.Default, v)
				}
				seen++
			}
			return
		}
		object, _ := v.(map[string]any)
		for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
			look(pair.Value, object[pair.Key], at+"."+pair.Key)
		}
	}
	look(schemaOf(), values, "")
	if seen < 15 {
		t.Errorf("only %d defaults were compared", seen)
	}
}

// `standin config schema` prints a JSON Schema that a validator of others
// takes, and that validator judges configs as we do.
func TestSchemaIsASchema(t *testing.T) {
	var out bytes.Buffer
	if err := WriteSchema(&out); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("standin.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("standin.json")
	if err != nil {
		t.Fatal(err)
	}
	judge := func(text string) error {
		body := parseYAML([]byte(text), FileBounds, func(line, col int, p Path, msg, mend string) { t.Fatalf("%d:%d %s", line, col, msg) })
		p := Planter{Within: FileBounds, Getenv: env("WORKSHOP_API_KEY", "k"), anchors: map[string]*Node{}, fault: func(int, int, Path, string, string) {}}
		data, err := json.Marshal(p.plant(body, nil, 1, 1).Plain())
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for _, good := range []string{example(t), uncommented(example(t)), "agents: {defaults: {model: a/b}}"} {
		if err := judge(good); err != nil {
			t.Errorf("the schema refuses a good config: %v", err)
		}
	}
	for _, bad := range []string{
		"agents: {defaults: {modle: a/b}}", "agents: {defaults: {maxConcurrent: '4'}}", "agents: {list: [{name: x}]}",
		"inbox: {replayMaxAge: soon}", "messages: {fallbackNotices: al}", "models: {providers: {x: {apiKey: {source: exec, id: x}}}}",
	} {
		if judge(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}
