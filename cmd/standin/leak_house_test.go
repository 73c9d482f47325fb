package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"standin/channels/slack/slacktest"
	"standin/fallback/provider/providertest"
)

// leakHouse has a secret in all that a daemon talks to but its vendors.
const leakHouse = `
agents: {defaults: {workspace: "WORK", model: {primary: openai/gpt-5.5}, heartbeat: {every: 12h}}}
models:
  providers:
    openai: {baseUrl: "VENDOR/v1", api: openai-completions, apiKey: {source: env, id: HOUSE_KEY}}
    echo: {baseUrl: "BAD/v1", api: openai-completions, apiKey: {source: env, id: ECHO_KEY}, headers: {X-Gateway: "${ECHO_HEADER}"}, models: [{id: m}]}
gateway: {port: PORT, auth: {token: {source: env, id: GATE_TOKEN}}, otel: {endpoint: "BAD", headers: {x-otlp: {source: env, id: OTLP_TOKEN}}}}
messages: {tts: {auto: always, url: "BAD/speak", headers: {Authorization: {source: env, id: SPEECH}}}}
cron: {webhookAllowHosts: [127.0.0.1], webhookToken: {source: env, id: CRON_WEBHOOK_TOKEN}}
tools: {web: {allowHosts: [127.0.0.1]}}
mcp:
  servers:
    shop: {url: "SHOP", headers: {Authorization: {source: env, id: SHOP_AUTH}}, everyone: true, trusted: true}
    shut: {url: "BAD/mcp", headers: {Authorization: {source: env, id: SHUT_AUTH}}}
    babble: {command: sh, args: [-c, 'echo "no login with $BABBLE_TOKEN" >&2; exit 3'], env: {BABBLE_TOKEN: {source: env, id: BABBLE_TOKEN}}}
`

// talker is a server of tools that says whatever it was sent.
func talker(t *testing.T) string {
	var last atomic.Value
	last.Store("")
	s := sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, nil)
	tell := func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the shop was sent " + last.Load().(string)}}}, nil, nil
	}
	fail := func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("the shop refuses %s", last.Load())
	}
	sdk.AddTool(s, &sdk.Tool{Name: "tell"}, tell)
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, fail)
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.Header.Get("Authorization"))
		serve.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// The same holds for all that came to stand beside the vendors: tools and their
// servers, jobs, heartbeats, the ledger, transcripts, voices, traces, doctor, and
// the operator's port with and without its token [I12].
func TestNoSecretLeaksFromTheRestOfTheHouse(t *testing.T) {
	w := newWire(t)
	bad := httptest.NewServer(echo(400))
	defer bad.Close()
	vendors := httptest.NewServer(w.vendor)
	defer vendors.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	canaries := map[string]string{
		"HOUSE_KEY": "canary1houseQ7", "ECHO_KEY": "canary2echoQ7", "ECHO_HEADER": "canary3headerQ7", "GATE_TOKEN": "canary4gatetokenQ7", "OTLP_TOKEN": "canary5otlpQ7",
		"SPEECH": "canary6speechQ7", "CRON_WEBHOOK_TOKEN": "canary7hookQ7", "SHOP_AUTH": "canary8shopQ7", "SHUT_AUTH": "canary9shutQ7", "BABBLE_TOKEN": "canary10babbleQ7",
	}
	for name, value := range canaries {
		w.env[name] = value
	}
	w.env["PATH"], w.env["STANDIN_STATE_DIR"], w.env["HOME"] = os.Getenv("PATH"), w.dir, w.dir
	canaries["Slack bot token"], canaries["Slack app token"], canaries["Discord token"] = slacktest.BotToken, slacktest.AppToken, w.discord.Token
	work := filepath.Join(w.dir, "workspace")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "HEARTBEAT.md"), []byte("- look at the shop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.models = strings.NewReplacer("WORK", work, "VENDOR", vendors.URL, "BAD", bad.URL, "PORT", strings.TrimPrefix(addr, "127.0.0.1:"), "SHOP\"", talker(t)+"\"").Replace(leakHouse)
	path := w.config(fmt.Sprintf("channels: {slack: {apiUrl: SLACK, streaming: 'off', allowFrom: [%s]}, discord: {apiUrl: DISCORD}}\ncommands: {ownerAllowFrom: [\"slack:%s\"]}\n", slacktest.Alice, slacktest.Alice))
	surfaces := map[string]string{}
	verb := func(args ...string) string {
		_, out := w.run(append(args, "--state", w.dir)...)
		surfaces["standin "+strings.Join(args, " ")] += out
		return out
	}
	end := w.leakServe(t, path)
	w.ready("slack", "discord")
	said := 0
	say := func(text string) {
		w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
		said++
		w.await(text+" is answered", func() bool { return len(w.slack.Posts(slacktest.DM)) >= said })
	}
	w.await("the shop's tools are there", func() bool { return strings.Contains(w.log.String(), `"mcp server ready"`) })
	w.await("the others complain", func() bool { return strings.Count(w.log.String(), "mcp server failed") >= 2 })

	// Tools whose results, errors and pages repeat what they were sent.
	w.vendor.On(providertest.When{}, uses("shop__tell", `{}`), uses("shop__fail", `{}`), uses("web_fetch", `{"url":"`+bad.URL+`/page"}`), providertest.Answer("The shop answers, and there is enough of it to be spoken aloud."))
	say("ask the shop")
	w.await("the voice fails", func() bool { return strings.Contains(w.log.String(), "an answer was not spoken") })
	for _, text := range []string{"/status", "/why", "/cron list", "/auth", "/export", "/context"} {
		say(text)
	}
	for i, p := range w.slack.Posts(slacktest.DM) {
		surfaces[fmt.Sprintf("chat: post %d", i+1)] = p.Read()
	}

	// Jobs that fail at a vendor which repeats its key, and a heartbeat that does.
	verb("cron", "add", "--name", "echoing", "--every", "20h", "--message", "work", "--model", "echo/m", "--fallbacks", "none", "--no-deliver")
	verb("cron", "add", "--name", "hooked", "--every", "20h", "--message", "work", "--webhook", bad.URL+"/hook")
	for _, job := range []string{"echoing", "hooked"} {
		for _, args := range [][]string{{"run", job, "--wait"}, {"show", job}, {"get", job}, {"explain", job}, {"runs", "--id", job}, {"runs", "--id", job, "--json"}} {
			verb(append([]string{"cron"}, args...)...)
		}
	}
	for _, args := range [][]string{{"cron", "list"}, {"cron", "list", "--json"}, {"cron", "status"}, {"heartbeat", "run"}, {"heartbeat", "status", "--json"}, {"doctor"}, {"doctor", "--json"},
		{"doctor", "--lint"}, {"doctor", "--online"}, {"slack", "check"}, {"discord", "check"}, {"cost"}, {"cost", "--json", "--by", "profile,session"}, {"sessions", "list"},
		{"sessions", "show", "agent:main:main"}, {"why"}, {"why", "--json"}, {"check"}, {"explain"}, {"channels", "status", "--json"}} {
		verb(args...)
	}
	transcript := verb("sessions", "export", "agent:main:main")

	// The port: all that there is to read, the sums, and every refusal.
	fetch := func(path, token string) string {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		surfaces[fmt.Sprintf("GET %s as %.7s", path, token)] = fmt.Sprint(answer.StatusCode, answer.Header, string(body))
		return string(body)
	}
	api := []string{"/me", "/openapi.json", "/now", "/sessions", "/sessions/agent:main:main", "/sessions/agent:main:main/transcript", "/decisions", "/runs", "/timeline", "/acts",
		"/credentials", "/orders", "/cron", "/calendar", "/heartbeats", "/cost", "/budgets", "/explain", "/chat", "/credentials/echo:default"}
	for _, p := range api {
		for _, token := range []string{canaries["GATE_TOKEN"], "", "wrong-token-of-a-stranger"} {
			fetch("/api/v1"+p, token)
		}
	}
	var jobs struct{ Items []struct{ ID string } }
	_ = json.Unmarshal([]byte(fetch("/api/v1/cron", canaries["GATE_TOKEN"])), &jobs)
	for _, j := range jobs.Items {
		fetch("/api/v1/cron/"+j.ID, canaries["GATE_TOKEN"])
		fetch("/api/v1/cron/"+j.ID+"/runs", canaries["GATE_TOKEN"])
	}
	for _, p := range []string{"/", "/metrics", "/healthz", "/readyz", "/nothing"} {
		fetch(p, canaries["GATE_TOKEN"])
		fetch(p, "")
	}
	end()
	surfaces["log at debug"] = w.log.String()
	err = filepath.WalkDir(w.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || p == path {
			return err
		}
		data, err := os.ReadFile(p)
		surfaces["file "+strings.TrimPrefix(p, w.dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	for what, text := range map[string]string{
		"the shop was sent [secret]":     transcript,
		"the shop refuses [secret]":      transcript,
		"no login with [secret]":         surfaces["log at debug"],
		"cannot do /v1/chat":             surfaces["standin cron runs --id echoing --json"],
		"Authorization: Bearer [secret]": surfaces["standin cron runs --id hooked --json"],
		`"agent:main:main"`:              surfaces["GET /api/v1/sessions as canary4"],
	} {
		if !strings.Contains(text, what) {
			t.Errorf("%q is not told, so this looks at nothing:\n%.3000s", what, text)
		}
	}
	judge(t, canaries, surfaces)
}
