package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/channels/slack/slacktest"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

// echo is a vendor that answers every request with a refusal which repeats all
// that was sent: address, headers and body [IL-303].
func echo(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var sent []string
		for name, values := range r.Header {
			sent = append(sent, name+": "+strings.Join(values, ", "))
		}
		slices.Sort(sent)
		text, _ := json.Marshal(map[string]any{"error": map[string]any{"type": "invalid_request_error", "code": "bad",
			"message": "cannot do " + r.URL.String() + " with " + strings.Join(sent, "; ") + " and " + string(body)}})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}
}

// leakConfig names every kind of secret that a config can lead to.
const leakConfig = `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [groq/llama, box/x, gone/y]}}}
models:
  providers:
    openai: {baseUrl: "BAD/v1", api: openai-completions}
    groq: {baseUrl: "REFUSED/v1", api: openai-completions}
    box: {baseUrl: "BAD/v1", apiKey: {source: env, id: BOX_KEY}, headers: {X-Gateway: "${GATEWAY_HEADER}"}}
    gone: {baseUrl: "http://127.0.0.1:1/v1", apiKey: {source: file, id: gone.txt}}
auth:
  encryption: {passphraseEnv: STANDIN_PASSPHRASE}
  oauth:
    openai: {tokenUrl: "BAD/token", clientId: me, clientSecret: {source: env, id: CLIENT_SECRET}, baseUrl: "BAD/codex"}
cron: {webhookToken: {source: env, id: CRON_WEBHOOK_TOKEN}}
channels:
  slack: {apiUrl: SLACK, streaming: 'off', dmPolicy: open, allowFrom: ['*']}
  discord: {apiUrl: DISCORD/api}
commands: {ownerAllowFrom: ["slack:ALICE"]}
`

// No secret of any kind reaches a log, an error, a page, a record, a file or
// what a command prints [I12, G22, IL-030, IL-303]. The vendors here repeat every
// secret that they are sent.
func TestNoSecretLeaks(t *testing.T) {
	w := newWire(t)
	bad, refused := httptest.NewServer(echo(400)), httptest.NewServer(echo(401))
	defer bad.Close()
	defer refused.Close()
	canaries := map[string]string{
		"stored API key": "canary1apikeyQ7", "access token": "canary2accessQ7", "refresh token": "canary3refreshQ7", "id token": "canary4idtokenQ7",
		"client secret": "canary5clientQ7", "header value": "canary6headerQ7", "key by reference": "canary7boxkeyQ7", "key of a file": "canary8filekeyQ7",
		"environment key": "canary9groqkeyQ7", "passphrase": "canary10passQ7", "webhook token": "canary11webhookQ7", "URL user": "canary12userQ7",
		"URL query key": "canary13queryQ7", "replaced API key": "canary14formerQ7", "pasted key": "sk-canary15pastedQ7aBcDeFgH",
		"Slack bot token": slacktest.BotToken, "Slack app token": slacktest.AppToken, "Discord token": w.discord.Token,
	}
	maps.Copy(w.env, map[string]string{"GROQ_API_KEY": canaries["environment key"], "BOX_KEY": canaries["key by reference"], "GATEWAY_HEADER": canaries["header value"],
		"CLIENT_SECRET": canaries["client secret"], "STANDIN_PASSPHRASE": canaries["passphrase"], "CRON_WEBHOOK_TOKEN": canaries["webhook token"],
		"OLD_KEY": canaries["replaced API key"], "NEW_KEY": canaries["stored API key"], "STANDIN_STATE_DIR": w.dir, "HOME": w.dir})
	keyFile := filepath.Join(w.dir, "gone.txt")
	if err := os.WriteFile(keyFile, []byte(canaries["key of a file"]), 0o600); err != nil {
		t.Fatal(err)
	}
	w.models = strings.NewReplacer("BAD", bad.URL, "REFUSED", refused.URL, "ALICE", slacktest.Alice).Replace(leakConfig)
	models, rooms, _ := strings.Cut(w.models, "channels:")
	w.models = models
	path := w.config("channels:" + rooms)
	where := []string{"--state", w.dir, "-c", path}
	surfaces := map[string]string{}
	verb := func(args ...string) {
		_, out := w.run(append(args, where...)...)
		surfaces["standin "+strings.Join(args, " ")] = out
	}

	// Credentials of all types, sealed; the second key replaces the first.
	verb("auth", "add", "openai", "--id", "work", "--env", "OLD_KEY")
	verb("auth", "add", "openai", "--id", "work", "--env", "NEW_KEY", "--json")
	conf, faults := config.Load(path, func(name string) string { return w.env[name] })
	if conf == nil {
		t.Fatal(faults)
	}
	options := store.Options{Dir: w.dir, Sealing: store.Sealing(conf.Encryption)}
	login, _ := json.Marshal(map[string]any{"access": canaries["access token"], "refresh": canaries["refresh token"], "idToken": canaries["id token"],
		"expires": time.Now().Add(time.Minute).UnixMilli(), "email": "kim@example.com", "accountId": "acc"})
	creds := store.OpenCredentials(options)
	one := store.Credential{ID: "openai:kim@example.com", Type: fallback.OAuth, Secret: provider.NewKey(string(login))}
	if err := creds.PutCredential(t.Context(), "main", one); err != nil {
		t.Fatal(err)
	}
	surfaces["%v of a credential, a config and a sealing"] = fmt.Sprintf("%v %+v %#v %v %+v %#v %+v", one, one, one, *conf, conf.Encryption, options, conf.Profiles)
	_ = creds.Close()
	verb("auth", "seal")

	// A daemon with its log at debug, and people who talk to it.
	serve := w.leakServe(t, path)
	w.ready("slack")
	said := 0
	say := func(text string) {
		w.slack.Say(slacktest.Say{Room: slacktest.DM, User: slacktest.Alice, Text: text})
		said++
		w.await(text+" is answered", func() bool { return len(w.slack.Posts(slacktest.DM)) >= said })
	}
	for _, text := range []string{"hello", "/status", "/why", "/auth", "/auth show openai:work", "/auth show openai:kim@example.com", "/auth probe openai:kim@example.com yes",
		"/auth probe box:default yes", "/auth add openai " + canaries["pasted key"], "/model status", "/models", "/whoami", "/auth clear openai:work"} {
		say(text)
	}
	for i, p := range w.slack.Posts(slacktest.DM) {
		surfaces[fmt.Sprintf("chat: post %d", i+1)] = p.Read()
	}
	if status, err := daemon.AskStatus(t.Context(), w.dir); err == nil {
		text, _ := json.Marshal(status)
		surfaces["socket: status"] = string(text)
	}
	for _, args := range [][]string{{"channels", "status", "--state", w.dir}, {"channels", "status", "--json", "--state", w.dir}} {
		_, out := w.run(args...)
		surfaces["standin "+strings.Join(args[:3], " ")] = out
	}
	serve()
	surfaces["log at debug"] = w.log.String()

	// The same under a key file, which costs less time than a passphrase.
	verb("auth", "unseal")
	w.models = strings.Replace(w.models, "passphraseEnv: STANDIN_PASSPHRASE", "keyFile: my.key", 1)
	w.config("channels:" + rooms)
	verb("auth", "seal")
	for _, args := range [][]string{{"auth", "list"}, {"auth", "list", "--json"}, {"auth", "show", "openai:work"}, {"auth", "show", "openai:kim@example.com", "--json"},
		{"auth", "order", "get", "openai"}, {"auth", "order", "set", "openai", "openai:work"}, {"auth", "probe", "openai:work", "--yes"}, {"auth", "probe", "groq:default", "--yes", "--json"},
		{"auth", "disable", "openai:work"}, {"auth", "enable", "openai:work", "--json"}, {"auth", "clear", "openai:work", "--json"}, {"auth", "show", canaries["pasted key"]},
		{"auth", "probe", canaries["pasted key"], "--yes"}, {"explain"}, {"explain", "--json"}, {"explain", "--simulate", "*=401"}, {"why"}, {"why", "--json"}, {"why", "--list"}} {
		verb(args...)
	}
	for _, args := range [][]string{{"check", "-c", path}, {"pairing", "list", "--state", w.dir},
		{"rehearse", "../../examples/rehearsals/flapping-vendor.yaml"}, {"auth", "add", "openai", canaries["pasted key"]}, {"config", "schema"}} {
		_, out := w.run(args...)
		surfaces["standin "+strings.Join(args[:2], " ")] = out
	}
	options.Sealing = store.Sealing{KeyFile: filepath.Join(w.dir, "my.key")}
	key, err := os.ReadFile(options.Sealing.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	canaries["sealing key"] = strings.TrimSpace(string(key))

	// What is kept: decisions, transcript, and every file as it lies on the disk.
	db, err := store.OpenReadOnly(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := db.Steps(t.Context(), store.StepFilter{Limit: 1000})
	if err != nil || len(steps) < 4 {
		t.Fatalf("%d steps: %v", len(steps), err)
	}
	text, _ := json.Marshal(steps)
	surfaces["decision log"] = string(text)
	_ = db.Close()
	err = filepath.WalkDir(w.dir, func(p string, e os.DirEntry, err error) error {
		surfaces["names of files"] += p + "\n"
		if err != nil || !e.Type().IsRegular() || p == path || p == keyFile || p == options.Sealing.KeyFile {
			return err
		}
		data, err := os.ReadFile(p)
		surfaces["file "+strings.TrimPrefix(p, w.dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	// Errors: another key, and configs that cannot be used.
	if err := os.Rename(options.Sealing.KeyFile, options.Sealing.KeyFile+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.MakeKeyFile(options.Sealing.KeyFile); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"auth", "list"}, {"auth", "show", "openai:work"}, {"auth", "unseal"}, {"explain"}} {
		code, out := w.run(append(args, where...)...)
		if surfaces["another key: standin "+strings.Join(args, " ")] = out; code == exitOK {
			t.Errorf("%v works with another key", args)
		}
	}
	for name, value := range map[string]string{
		"URL with a user": "models: {providers: {far: {baseUrl: 'https://me:" + canaries["URL user"] + "@far.example/v1'}}}",
		"URL with a key":  "models: {providers: {far: {baseUrl: 'ftp://far.example/v1?key=" + canaries["URL query key"] + "'}}}",
		"key in a place":  "models: {providers: {far: {apiKey: '" + canaries["stored API key"] + " ', baseUrl: 7}}}",
		"passphrase":      "auth: {encryption: {passphraseEnv: '" + canaries["passphrase"] + "-!'}}",
		"token":           "channels: {slack: {botToken: '" + canaries["webhook token"] + " x', appToken: 5}}",
	} {
		broken := filepath.Join(t.TempDir(), "broken.yaml")
		if err := os.WriteFile(broken, []byte("agents: {defaults: {model: far/x}}\n"+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{"check", "explain"} {
			code, out := w.run(v, "-c", broken)
			surfaces["standin "+v+" on "+name] = fmt.Sprint(code, out)
		}
	}

	if !strings.Contains(surfaces["decision log"], "cannot do") || !strings.Contains(surfaces["decision log"], "[secret]") {
		t.Errorf("the vendors' echo is not in the record, so this looks at nothing:\n%s", surfaces["decision log"])
	}
	judge(t, canaries, surfaces)
}

// judge looks for each canary on each surface.
func judge(t *testing.T, canaries, surfaces map[string]string) {
	t.Helper()
	names := slices.Sorted(maps.Keys(surfaces))
	for _, surface := range names {
		for kind, secret := range canaries {
			if at := strings.Index(surfaces[surface], secret); at >= 0 {
				t.Errorf("%s stands in %s: …%s…", kind, surface, surfaces[surface][max(0, at-160):at+len(secret)])
			}
		}
	}
	t.Logf("%d canaries looked for on %d surfaces:\n  %s", len(canaries), len(names), strings.Join(names, "\n  "))
}

// leakServe runs the daemon with its log at debug; the function that it gives
// ends it.
func (w *wire) leakServe(t *testing.T, path string) func() {
	t.Helper()
	w.hup = make(chan os.Signal, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- serveCmd{Config: path, stateFlag: stateFlag{State: w.dir}, Log: "-", Debug: true}.Run(w.world(ctx))
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
