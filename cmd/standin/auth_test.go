package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"standin/channels"
	"standin/channels/channeltest"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
	"standin/store"
)

// clinic is a running daemon with one room and one vendor on loopback, and the
// command line beside it.
type clinic struct {
	t      *testing.T
	dir    string
	env    map[string]string
	vendor *providertest.Vendor
	room   *channeltest.Room
	log    *loud
	app    *daemon.App
	stop   func()
	said   int
}

const (
	onlyOne  = "agents: {defaults: {model: openai/gpt-5.5}}\n"
	withNext = "agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [groq/llama]}}}\n"
)

// newClinic makes state, config and vendor; agents is the config's first part.
func newClinic(t *testing.T, agents string) *clinic {
	t.Helper()
	c := &clinic{t: t, dir: t.TempDir(), vendor: &providertest.Vendor{}, log: &loud{}, env: map[string]string{}}
	server := httptest.NewServer(c.vendor)
	t.Cleanup(server.Close)
	c.write(agents + strings.ReplaceAll("models: {providers: {openai: {baseUrl: \"URL/v1\", api: openai-completions}, groq: {baseUrl: \"URL/v1\", apiKey: groqkey}}}\n", "URL", server.URL))
	t.Cleanup(func() {
		if c.stop != nil {
			c.stop()
		}
	})
	return c
}

func (c *clinic) path() string { return filepath.Join(c.dir, "config.yaml") }

func (c *clinic) write(text string) {
	c.t.Helper()
	if err := os.WriteFile(c.path(), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clinic) getenv(name string) string {
	if name == "STANDIN_STATE_DIR" {
		return c.dir
	}
	return c.env[name]
}

// begin starts the daemon, or gives the error with which it refuses to.
func (c *clinic) begin() error {
	c.t.Helper()
	conf, faults := config.Load(c.path(), c.getenv)
	if conf == nil {
		c.t.Fatal(faults)
	}
	log := newLog(c.log, slog.LevelDebug)
	c.room = channeltest.NewRoom("room")
	app, err := daemon.New(c.t.Context(), daemon.Parts{State: c.dir, Config: conf, Channels: []channels.Channel{c.room},
		Vendors: provider.New(provider.Options{Log: log}), Log: log, Now: time.Now, Sleep: daemon.Sleep})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx) }()
	c.app = app
	c.stop = func() { cancel(); <-ended; c.stop = nil }
	return nil
}

// say has alice write, and gives what the room reads of it.
func (c *clinic) say(text string) string {
	c.t.Helper()
	before := len(c.room.Posted())
	c.said++
	in := channels.Inbound{ID: strconv.Itoa(c.said), Text: text, To: channels.Address{Channel: "room", Conversation: "one"},
		Chat: channels.Direct, From: channels.User{ID: "U1", Name: "Alice"}, Authorized: true}
	if err := c.room.Say(c.t.Context(), in); err != nil {
		c.t.Fatal(err)
	}
	if err := c.app.Bot.Wait(c.t.Context(), in); err != nil {
		c.t.Fatal(err)
	}
	var lines []string
	for _, m := range c.room.Posted()[before:] {
		lines = append(lines, m.Text)
	}
	return strings.Join(lines, "\n")
}

// auth runs a verb of standin auth beside the daemon.
func (c *clinic) auth(stdin string, args ...string) (code int, out, errs string) {
	c.t.Helper()
	var o, e bytes.Buffer
	w := world{ctx: c.t.Context(), getenv: c.getenv, stdin: strings.NewReader(stdin), stdout: &o, stderr: &e}
	code = run(w, append([]string{"auth"}, args...))
	return code, o.String(), e.String()
}

// must is auth that is to succeed.
func (c *clinic) must(stdin string, args ...string) string {
	c.t.Helper()
	code, out, errs := c.auth(stdin, args...)
	if code != exitOK {
		c.t.Fatalf("auth %v: exit %d\n%s%s", args, code, out, errs)
	}
	return out
}

// keys are those that the vendor was asked with, since the last look.
func (c *clinic) keys() string {
	var list []string
	for _, r := range c.vendor.Requests() {
		list = append(list, r.Key)
	}
	return strings.Join(list, " ")
}

func (c *clinic) want(what, got string, parts ...string) {
	c.t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			c.t.Errorf("%s: %q is missing in:\n%s", what, p, got)
		}
	}
}

// Every change acts on a running daemon at once: the very next turn goes by it.
func TestTheVeryNextTurnGoesByWhatWasChanged(t *testing.T) {
	c := newClinic(t, withNext)
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	c.must("key-a\n", "add", "openai", "--id", "a")
	c.must("key-b\n", "add", "openai", "--id", "b")
	c.say("one")
	c.must("", "disable", "openai:a")
	c.say("two")
	if got := c.keys(); got != "key-a key-b" {
		t.Errorf("asked with %q, want the first key and then, once that was switched off, the other", got)
	}
	c.must("", "enable", "openai:a")
	c.must("", "order", "set", "openai", "openai:a", "openai:b")
	c.say("three")
	if got := c.keys(); got != "key-a key-b key-a" {
		t.Errorf("asked with %q, want the order's first at last", got)
	}
	c.must("", "disable", "openai:a")
	c.must("", "disable", "openai:b")
	c.want("with all switched off", c.say("four"), "↪️ Model Fallback: groq/llama (selected openai/gpt-5.5; operator)", "answer of llama")
	steps, err := c.app.DB.Steps(t.Context(), store.StepFilter{What: fallback.StepSkip})
	if err != nil || len(steps) != 1 || steps[0].Attempt.Reason != fallback.Operator || steps[0].Attempt.Skipped != fallback.SkipOperator {
		t.Errorf("skip record: %+v, %v", steps, err)
	}
	c.want("/why", c.say("/why"), "its credential was switched off by hand", "Done to credentials by hand:", ", openai:b: ", " switched it off (command line)")
	var out bytes.Buffer
	w := world{ctx: t.Context(), getenv: c.getenv, stdin: strings.NewReader(""), stdout: &out, stderr: &out}
	if code := run(w, []string{"why", "-c", c.path()}); code != exitOK {
		t.Errorf("why: exit %d", code)
	}
	c.want("standin why", out.String(), "Done to credentials by hand:", ", openai:a: ", " switched it off (command line)")
}

// The same for a clear: a key that is out of credit is used again with the next
// message, hours before its window would have ended.
func TestAClearIsObeyedByTheNextTurn(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.vendor.On(providertest.When{}, providertest.Status(402, `{"error":{"message":"Your credit balance is too low","type":"insufficient_quota","code":"insufficient_quota"}}`))
	c.must("key-a\n", "add", "openai")
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	c.want("without credit", c.say("one"), "run out of credit")
	c.want("list", c.must("", "list"), "disabled (out of credit), back ", "(in 5 h)")
	c.want("clear", c.must("", "clear", "openai:default"), "openai:default rests no more (it would have until ", "out of credit")
	c.want("after the clear", c.say("two"), "answer of gpt-5.5")
	c.must("", "disable", "openai:default")
	c.want("switched off", c.say("three"), "openai/gpt-5.5 could not be asked: whoever runs this bot has switched its credential off. They can switch it on again with: standin auth enable openai:default.")
	c.must("", "enable", "openai:default")
	c.want("switched on", c.say("four"), "answer of gpt-5.5")
	if n := len(c.vendor.Requests()); n != 3 {
		t.Errorf("%d requests, want 3: none while it was switched off", n)
	}
	c.want("show", c.must("", "show", "openai:default"), "State: usable", "ended its rests (command line)", "switched it off (command line)", "switched it on (command line)",
		"Sessions that keep to it: agent:main:main")
}

// Two subscriptions and three keys, one of them the environment's: how each
// stands, when it comes back, which is next, who keeps to it.
func TestListIsReadAtAGlance(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.env["OPENAI_API_KEY"] = "sk-env-key-0123456789"
	now := time.Now()
	creds := store.OpenCredentials(store.Options{Dir: c.dir})
	defer creds.Close()
	login := func(mail string) store.Credential {
		secret, _ := json.Marshal(map[string]any{"access": "at-" + mail, "refresh": "rt-" + mail, "email": mail, "expires": now.Add(time.Hour).UnixMilli()})
		return store.Credential{ID: fallback.ProfileID("openai:" + mail), Type: fallback.OAuth, Secret: provider.NewKey(string(secret))}
	}
	for _, one := range []store.Credential{login("kim@example.com"), login("lee@example.com"), store.NewAPIKey("openai:team", "sk-team"), store.NewAPIKey("openai:spare", "sk-spare")} {
		if err := creds.PutCredential(t.Context(), "main", one); err != nil {
			t.Fatal(err)
		}
	}
	for id, change := range map[fallback.ProfileID]func(fallback.Usage) fallback.Usage{
		"openai:kim@example.com": func(u fallback.Usage) fallback.Usage {
			return u.After(fallback.Failed{Provider: "openai", Model: "gpt-5.5", Reason: fallback.RateLimit, Status: 429, Reset: now.Add(4 * time.Hour), ResetSource: "codex_rate_limits"}, fallback.DefaultCooldowns(), now)
		},
		"openai:lee@example.com": func(u fallback.Usage) fallback.Usage { return u.Success(now.Add(-10 * time.Minute)) },
		"openai:spare":           func(u fallback.Usage) fallback.Usage { return u.Switched(true, now) },
		"openai:team": func(u fallback.Usage) fallback.Usage {
			return u.After(fallback.Failed{Provider: "openai", Model: "gpt-5.5", Reason: fallback.RateLimit, Status: 429}, fallback.DefaultCooldowns(), now)
		},
	} {
		if _, _, err := creds.Update(t.Context(), "main", id, change); err != nil {
			t.Fatal(err)
		}
	}
	out := c.must("", "list")
	for _, want := range []string{
		"PROFILE ", "openai:lee@example.com  oauth    lee@example.com  usable ", "next, used last", "10 min ago",
		"openai:kim@example.com  oauth    kim@example.com  at its usage limit, back ", "(in 4 h)",
		"openai:team             api_key  -                rests for gpt-5.5 (rate limit), back ", "(in 60 s)",
		"openai:spare            api_key  -                switched off by hand since ",
		"openai:default          api_key  -                usable ", "$OPENAI_API_KEY",
		"No order is kept for openai: its credentials take turns.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
	lines := strings.Split(strings.TrimSpace(c.must("", "list", "--json")), "\n")
	states := map[string]string{}
	for _, line := range lines {
		var v struct{ Profile, State string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		states[v.Profile] = v.State
	}
	if len(lines) != 6 || states["openai:kim@example.com"] != "blocked" || states["openai:team"] != "partly" || states["openai:spare"] != "off" {
		t.Errorf("states %v", states)
	}
}

// A probe says what it will do and cost before it does it, counts like a call,
// and tells in words what came of it.
func TestProbe(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.must("key-a\n", "add", "openai")
	code, _, errs := c.auth("n\n", "probe", "openai:default")
	if code != exitUsage || len(c.vendor.Requests()) != 0 {
		t.Errorf("declined: exit %d, %d requests", code, len(c.vendor.Requests()))
	}
	c.want("asked", errs, "one real request to openai/gpt-5.5 with openai:default", "a few tokens are charged", "Go on?")
	c.vendor.On(providertest.When{}, providertest.Status(401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`))
	code, out, _ := c.auth("y\n", "probe", "openai:default", "--json")
	if code != exitFault {
		t.Errorf("refused: exit %d", code)
	}
	c.want("refused", out, `"ok":false`, `"status":401`, `"what":"probe"`, "does not work with openai/gpt-5.5: credential refused", "standin auth add openai")
	c.want("list", c.must("", "list"), "credential refused")
	c.must("", "disable", "openai:default")
	c.want("answered", c.must("", "probe", "openai:default", "--yes"), "openai:default works: openai/gpt-5.5 answered in ")
	c.want("show", c.must("", "show", "openai:default"), "switched off by hand", "tried it (command line): works with openai/gpt-5.5", "tried it (command line): credential refused with openai/gpt-5.5")
}

// What cannot be done is refused with a reason and exit 1; what is no way to say
// it with exit 2. Nothing is changed either way.
func TestWhatAuthRefuses(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.must("key-a\n", "add", "openai")
	for _, r := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"show", "openai:nobody"}, exitFault, "There is no credential openai:nobody. There are: groq:default, openai:default."},
		{[]string{"clear", "openai:nobody"}, exitFault, "There is no credential openai:nobody"},
		{[]string{"disable", "openai:nobody"}, exitFault, "There is no credential openai:nobody"},
		{[]string{"probe", "openai:nobody", "--yes"}, exitFault, "there is no credential openai:nobody"},
		{[]string{"probe", "openai:default", "--yes", "--model", "groq/llama"}, exitFault, "openai:default is no credential for groq/llama"},
		{[]string{"remove", "groq:default"}, exitFault, "groq:default is not stored: it comes from the config"},
		{[]string{"order", "set", "openai", "groq:default"}, exitFault, "groq:default is a credential of groq, not of openai. Nothing was changed."},
		{[]string{"order", "set", "openai", "openai:default", "openai:default"}, exitFault, "stands twice"},
		{[]string{"order", "set", "openai"}, exitUsage, `expected "<profile> ..."`},
		{[]string{"login", "groq"}, exitFault, "there is no login for groq; there is one for: openai"},
		{[]string{"login", "openai", "--paste", "--device"}, exitUsage, "take one"},
		{[]string{"add", "openai", "--env", "NOT_SET"}, exitUsage, "the variable NOT_SET is not set, or empty; nothing was stored"},
		{[]string{"seal"}, exitUsage, "the config names no key: write auth: {encryption:"},
	} {
		if code, out, errs := c.auth("", r.args...); code != r.code || out != "" || !strings.Contains(errs, r.says) {
			t.Errorf("auth %v: exit %d, prints %q and says %q, want exit %d and %q", r.args, code, out, errs, r.code, r.says)
		}
	}
}

// A key can be stored although the config cannot be used where it is mended: the
// variables that it names may be the daemon's alone.
func TestAKeyIsMendedBesideAFaultyConfig(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.write(onlyOne + "auth: {profiles: {'openai:work': {keyRef: {source: env, id: ONLY_THE_DAEMONS}}}}\n")
	c.env["KEY"] = "key-a"
	code, out, errs := c.auth("", "add", "openai", "--env", "KEY")
	if code != exitOK || !strings.Contains(out, "Stored openai:default.") || !strings.Contains(errs, "standin check says why") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// One key under two names is no second chance, and whoever stores it is told so.
func TestAKeyThatIsThereAlreadyIsTold(t *testing.T) {
	c := newClinic(t, onlyOne)
	if out := c.must("key-a\n", "add", "openai", "--id", "work"); strings.Contains(out, "same key") {
		t.Error(out)
	}
	if out := c.must("key-a\n", "add", "openai", "--id", "home"); !strings.Contains(out, "the same key as openai:work") {
		t.Error(out)
	}
	if out := c.must("key-a\n", "add", "openai", "--id", "work"); !strings.Contains(out, "Replaced openai:work") || !strings.Contains(out, "the same key as openai:home") {
		t.Error(out)
	}
}

// Secrets are sealed with the daemon stopped; it then starts with the key, and
// refuses to start without it, saying what is missing.
func TestSealFromTheCommandLine(t *testing.T) {
	c := newClinic(t, onlyOne)
	c.must("key-canary-a\n", "add", "openai")
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(c.path())
	if err != nil {
		t.Fatal(err)
	}
	c.write(string(text) + "auth: {encryption: {keyFile: my.key}}\n")
	if code, _, errs := c.auth("", "seal"); code != exitUsage || !strings.Contains(errs, "a daemon runs on this state") {
		t.Errorf("under a daemon: exit %d: %s", code, errs)
	}
	c.stop()
	if err := c.begin(); err == nil || !strings.Contains(err.Error(), "if nothing was ever sealed, make one with: standin auth seal") {
		t.Errorf("before the key was made: %v", err)
	}
	c.want("seal", c.must("", "seal"), "Made the key file "+filepath.Join(c.dir, "my.key"), "1 secrets are sealed now.")
	if names := found(t, c.dir, "key-canary-a"); names != nil {
		t.Errorf("the key still stands in %v", names)
	}
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	c.want("with the key", c.say("one"), "answer of gpt-5.5")
	c.stop()
	if got := c.keys(); got != "key-canary-a" {
		t.Errorf("asked with %q", got)
	}
	if err := os.Remove(filepath.Join(c.dir, "my.key")); err != nil {
		t.Fatal(err)
	}
	err = c.begin()
	if err == nil || !strings.Contains(err.Error(), "my.key, which auth.encryption.keyFile names, does not exist") {
		t.Errorf("without the key: %v", err)
	}
}

// found gives the files under dir that hold the text.
func found(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
