package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/bot/mcp"
	"standin/bot/policy"
	"standin/bot/tools"
	"standin/fallback"
	"standin/fallback/provider"
)

const plainly = "agents: {defaults: {model: openai/gpt-5.5}}\n"

// What config says of a model counts, and the catalogue where it is silent [G13].
func TestFactsOfModels(t *testing.T) {
	c := must(t, `
agents: {defaults: {model: shop/large}}
models:
  providers:
    shop:
      baseUrl: https://shop.example.com/v1
      models:
        - small
        - {id: large, contextWindow: 32000, maxTokens: 4000, cost: {input: 2.5, output: 10, cacheRead: 0.25}, input: [text, image]}
        - {id: shop/gratis, cost: {input: 0, output: 0}}
    openai: {models: [{id: gpt-5.5, input: [text]}]}
`, env("SHOP_API_KEY", "k"))
	shop := func(name string) provider.Facts {
		return c.Fallback.FactsOf(fallback.Model{Provider: "shop", Name: name})
	}
	want := provider.Facts{Window: 32000, MaxOutput: 4000, Images: true, Price: provider.Price{Input: 2.5, Output: 10, CacheRead: 0.25, Priced: true}}
	if diff := cmp.Diff(want, shop("large")); diff != "" {
		t.Error(diff)
	}
	if shop("small") != (provider.Facts{}) || !shop("gratis").Price.Free() {
		t.Errorf("small %+v, gratis %+v", shop("small"), shop("gratis"))
	}
	gpt := fallback.Model{Provider: "openai", Name: "gpt-5.5"}
	known, _ := provider.CatalogFacts(gpt.Provider, gpt.Name)
	if f := c.Fallback.FactsOf(gpt); f.Images || f.Window != known.Window || f.Price != known.Price {
		t.Errorf("%+v, the catalogue says %+v", f, known)
	}
}

func TestConversationsAreSummedUpAsConfigSays(t *testing.T) {
	usual := must(t, plainly, env())
	if got, want := usual.Bot.Compaction.Fits(100_000), (policy.Compaction{}).Fits(100_000); got != want || usual.Bot.Compaction.Off || usual.Fallback.MaxToolRounds != 24 {
		t.Errorf("usual %+v, want %+v", got, want)
	}
	c := must(t, "agents: {defaults: {model: openai/gpt-5.5, maxToolRounds: 3, contextTokens: 9000, models: {openai/gpt-5.5: {alias: gpt}}, compaction: {mode: 'off', reserveTokens: 1000, reserveTokensFloor: 0, keepRecentTokens: 500, model: gpt, notifyUser: true}}}", env())
	want := policy.Compaction{Off: true, Reserve: 1000, Floor: -1, Keep: 500, Notify: true}
	if c.Bot.Compaction != want || c.Bot.ContextTokens != 9000 || c.Bot.CompactionModel.Name != "gpt-5.5" || c.Fallback.MaxToolRounds != 3 {
		t.Errorf("%+v, %d, %s, %d", c.Bot.Compaction, c.Bot.ContextTokens, c.Bot.CompactionModel, c.Fallback.MaxToolRounds)
	}
}

// An agent's lists lie over the general ones, and what is denied for all stays
// denied.
func TestToolsOfAgents(t *testing.T) {
	c := must(t, `
agents: {defaults: {model: openai/gpt-5.5, userTimezone: UTC, workspace: /srv/w}, list: [{id: main}, {id: ops, workspace: ~/ops, tools: {allow: ["*"], deny: [ls], rooms: {deny: [message]}}}]}
tools: {allow: [read, ls], deny: [write], rooms: {allow: [session_status]}, timeoutSeconds: 5, maxResultChars: 1000, web: {allowHosts: [wiki.internal]}}
`, env("HOME", "/home/u"))
	main, ops := c.Bot.Agents["main"], c.Bot.Agents["ops"]
	if diff := cmp.Diff(tools.Policy{Allow: []string{"read", "ls"}, Deny: []string{"write"}, Rooms: &tools.Policy{Allow: []string{"session_status"}}}, main.Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(tools.Policy{Allow: []string{"*"}, Deny: []string{"write", "ls"}, Rooms: &tools.Policy{Allow: []string{"session_status"}, Deny: []string{"message"}}}, ops.Tools); diff != "" {
		t.Error(diff)
	}
	if main.Workspace != "/srv/w" || ops.Workspace != "/home/u/ops" || main.Zone != time.UTC {
		t.Errorf("%q, %q, %v", main.Workspace, ops.Workspace, main.Zone)
	}
	if l := c.Bot.Tools.Limits; !c.Bot.Tools.On || l.Time != 5*time.Second || l.Chars != 1000 || l.Side != tools.DefaultLimits.Side || !c.Web.On || !slices.Equal(c.Web.Hosts, []string{"wiki.internal"}) {
		t.Errorf("%+v, %+v", c.Bot.Tools, c.Web)
	}
	if off := must(t, plainly+"tools: {enabled: false, web: {enabled: false}}", env()); off.Bot.Tools.On || off.Web.On {
		t.Error("tools are on")
	}
}

// Secrets of servers come from where secrets come from, spaces and all.
func TestServersOfTools(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("Bearer w2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, faults := Reader{Getenv: env("TICKETS", "t1"), Base: dir}.Parse("config.yaml", []byte(plainly+`
mcp:
  servers:
    tickets: {command: tickets-mcp, args: [--stdio], env: {TOKEN: "${TICKETS}", LEVEL: debug}, cwd: sub, allow: ["get_*"], everyone: true, trusted: true, startTimeoutSeconds: 5, callTimeoutSeconds: 7}
    wiki: {url: "https://wiki.example.com/mcp", headers: {Authorization: {source: file, id: token}}}
`))
	if c == nil || len(faults) > 0 {
		t.Fatal(faults)
	}
	want := []mcp.Server{
		{Name: "tickets", Command: []string{"tickets-mcp", "--stdio"}, Env: []string{"LEVEL=debug", "TOKEN=t1"}, Dir: filepath.Join(dir, "sub"), Allow: []string{"get_*"},
			Secrets: []provider.Key{provider.NewKey("t1")}, Everyone: true, Trusted: true, Start: 5 * time.Second, Call: 7 * time.Second},
		{Name: "wiki", URL: "https://wiki.example.com/mcp", Headers: map[string]provider.Key{"Authorization": provider.NewKey("Bearer w2")}, Secrets: []provider.Key{provider.NewKey("Bearer w2")}},
	}
	if diff := cmp.Diff(want, c.Servers, sameKeys); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfTools(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a list that allows nothing would allow all", "tools: {allow: []}", `config.yaml:2:16: tools.allow: is empty, which would allow every tool; write deny: ["*"] for none, or remove the line for all`},
		{"a pattern that is none", "tools: {deny: ['[x']}", `config.yaml:2:16: tools.deny[0]: "[x" is no name of a tool; write a name, with * for any letters`},
		{"a modality", "models: {providers: {openai: {models: [{id: gpt-5.5, input: [smell]}]}}}", `config.yaml:2:62: models.providers.openai.models[0].input[0]: "smell" is nothing that a model can be shown; write text, image, or both`},
		{"half a price", "models: {providers: {openai: {models: [{id: gpt-5.5, cost: {input: 1}}]}}}", `config.yaml:2:60: models.providers.openai.models[0].cost.output: is missing`},
		{"a longer answer than fits", "models: {providers: {openai: {models: [{id: gpt-5.5, contextWindow: 2000, maxTokens: 3000}]}}}", `config.yaml:2:86: models.providers.openai.models[0].maxTokens: is more than contextWindow, which holds the answer too`},
		{"a server without anything", "mcp: {servers: {a: {}}}", `config.yaml:2:17: mcp.servers.a: it needs a command to run, or a url`},
		{"a name that is none", "mcp: {servers: {A_b: {command: x}}}", `config.yaml:2:17: mcp.servers.A_b: "A_b" cannot name a server: small letters, digits and -, at most 31`},
		{"a secret that leads nowhere", "mcp: {servers: {a: {url: 'https://x.example.com', headers: {Authorization: {source: env, id: NOPE}}}}}", `config.yaml:2:94: mcp.servers.a.headers.Authorization.id: the variable "NOPE" is not set, or empty; set it in the environment of standin`},
		{"a variable that is none", "mcp: {servers: {a: {command: x, env: {'A-B': c}}}}", `config.yaml:2:39: mcp.servers.a.env.A-B: is no name of an environment variable; use letters, digits and _`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, faults := read(plainly+c.text, env())
			if diff := cmp.Diff(c.want, strings.Join(lines(faults), "|")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	_, faults := read(plainly+"mcp: {servers: {a: {command: x, env: {API_TOKEN: hunter2hunter2, LEVEL: debug}, headers: {X: y}}}}", env())
	text := ""
	for _, f := range faults {
		text += f.String() + f.excerpt()
	}
	if strings.Count(text, "plain text") != 1 || !strings.Contains(text, "API_TOKEN}") || !strings.Contains(text, "is not used with command") || strings.Contains(text, "hunter2") {
		t.Errorf("warnings:\n%s", text)
	}
}
