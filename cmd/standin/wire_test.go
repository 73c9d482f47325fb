package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"standin/channels/discord/discordtest"
	"standin/channels/slack/slacktest"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider/providertest"
)

// wire is the daemon as `standin serve` wires it, on loopback: the platforms and
// the vendors are stand-ins that speak the real wire, and the only thing that is
// set to reach them is their address [D24].
type wire struct {
	t       *testing.T
	dir     string
	slack   *slacktest.Server
	discord *discordtest.Server
	vendor  *providertest.Vendor
	models  string // block of the config that leads to the vendor
	env     map[string]string
	hup     chan os.Signal
	log     *loud
	stop    context.CancelFunc
	done    chan error
}

// loud is an output that many write to and the test reads.
type loud struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *loud) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newWire makes the stand-ins; serve starts the daemon.
func newWire(t *testing.T) *wire {
	t.Helper()
	dir, err := os.MkdirTemp("", "wire") // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &wire{t: t, dir: dir, slack: slacktest.Start(t), discord: discordtest.Start(t), vendor: &providertest.Vendor{}, log: &loud{}}
	vendors := httptest.NewServer(w.vendor)
	t.Cleanup(vendors.Close)
	w.models = strings.ReplaceAll(`
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [openai/gpt-5.5-mini]}}}
models: {providers: {openai: {baseUrl: "URL/v1", api: openai-completions, apiKey: k1}}}
`, "URL", vendors.URL)
	w.env = map[string]string{"SLACK_BOT_TOKEN": slacktest.BotToken, "SLACK_APP_TOKEN": slacktest.AppToken, "DISCORD_BOT_TOKEN": w.discord.Token}
	t.Cleanup(func() {
		if w.stop != nil {
			w.end()
		}
		for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, w.discord.Token} {
			if strings.Contains(w.log.String(), secret) {
				t.Error("a token stands in the log") // [I12]
			}
		}
	})
	return w
}

// config writes the config: the models, and channels with the stand-ins'
// addresses for SLACK and DISCORD.
func (w *wire) config(channels string) string {
	w.t.Helper()
	text := w.models + strings.NewReplacer("SLACK", w.slack.API(), "DISCORD", w.discord.URL).Replace(channels)
	path := filepath.Join(w.dir, "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *wire) world(ctx context.Context) world {
	return world{ctx: ctx, getenv: func(name string) string { return w.env[name] }, stdin: strings.NewReader(""), stdout: w.log, stderr: w.log, hup: w.hup}
}

// serve starts the daemon.
func (w *wire) serve(channels string) {
	w.t.Helper()
	path := w.config(channels)
	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.done, w.hup = cancel, make(chan error, 1), make(chan os.Signal, 1)
	go func(done chan error) {
		done <- serveCmd{Config: path, stateFlag: stateFlag{State: w.dir}, Log: "-"}.Run(w.world(ctx))
	}(w.done)
}

// end stops the daemon as a signal does, and wants a clean end [G33].
func (w *wire) end() {
	w.t.Helper()
	w.stop()
	select {
	case err := <-w.done:
		if err != nil {
			w.t.Errorf("the daemon ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		w.t.Error("the daemon does not end")
	}
	w.stop = nil
}

// run runs a verb beside the daemon and gives its exit code and what it says.
func (w *wire) run(args ...string) (int, string) {
	out := &loud{}
	one := w.world(w.t.Context())
	one.stdout, one.stderr = out, out
	return run(one, args), out.String()
}

// await waits for what has to come to pass.
func (w *wire) await(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			w.t.Fatalf("it did not come to this: %s\nSlack:\n%s\nlog:\n%s", what, w.slack.Seen(slacktest.General)+w.slack.Seen(slacktest.DM), w.log)
		}
		ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Millisecond)
		w.slack.Await(ctx, ok) // wakes when Slack sees something, else after its time
		cancel()
	}
}

// states asks the daemon for its channels.
func (w *wire) states() map[string]daemon.Report {
	list, _ := daemon.AskStatus(w.t.Context(), w.dir)
	states := map[string]daemon.Report{}
	for _, r := range list {
		states[config.Place{Channel: r.Channel, Account: strings.TrimPrefix(r.Account, "default")}.String()] = r
	}
	return states
}

func (w *wire) ready(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.await(name+" is ready", func() bool { return w.states()[name].State == "ready" })
	}
}

// onSlack waits until the bot's posts in a conversation read like this, and
// gives them. A post that still grows does not read like its end.
func (w *wire) onSlack(room string, texts ...string) []slacktest.Message {
	w.t.Helper()
	w.awaitPosts(texts, func() (got []string) {
		for _, p := range w.slack.Posts(room) {
			got = append(got, p.Read())
		}
		return got
	})
	return w.slack.Posts(room)
}

func (w *wire) onDiscord(channel string, texts ...string) []discordtest.Message {
	w.t.Helper()
	w.awaitPosts(texts, func() (got []string) {
		for _, p := range w.discord.Posts(channel) {
			got = append(got, p.Content)
		}
		return got
	})
	return w.discord.Posts(channel)
}

// awaitPosts compares posts with texts; one that ends in … only has to begin so.
func (w *wire) awaitPosts(want []string, posts func() []string) {
	w.t.Helper()
	w.await(fmt.Sprintf("the posts are %q", want), func() bool {
		return slices.EqualFunc(posts(), want, func(got, want string) bool {
			begin, open := strings.CutSuffix(want, "…")
			return got == want || open && strings.HasPrefix(got, begin)
		})
	})
}
