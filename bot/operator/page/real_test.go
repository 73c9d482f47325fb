package page_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"standin/channels"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

const realConfig = `
agents:
  defaults:
    workspace: ${WORKSPACE}
    model: {primary: main-vendor/first, fallbacks: [other-vendor/second]}
    heartbeat: {every: 30m}
session:
  reset: {mode: "off"}
models:
  providers:
    main-vendor: {baseUrl: "${VENDORS}", api: anthropic-messages, apiKey: staged-no-key}
    other-vendor: {baseUrl: "${VENDORS}/v1", api: openai-completions, apiKey: staged-no-key}
gateway:
  auth: {token: the-token-of-the-test}
`

// realDaemon runs the daemon itself; only the vendors are staged. down says that
// the first of them refuses.
func realDaemon(t *testing.T) (url string, down *atomic.Bool) {
	t.Helper()
	down = new(atomic.Bool)
	stage := &providertest.Stage{Answer: func(model string, messages []provider.Message) providertest.StageReply {
		if strings.Contains(model, "first") && down.Load() {
			return providertest.StageReply{Status: 429, Message: "Number of requests has exceeded your limit."}
		}
		return providertest.StageReply{Text: "This is " + model + "."}
	}}
	vendors := http.NewServeMux()
	vendors.Handle("/v1/messages", stage.Anthropic())
	vendors.Handle("/", stage.OpenAI())
	behind := httptest.NewServer(vendors)
	t.Cleanup(behind.Close)

	dir := t.TempDir()
	conf, faults := config.Parse("config of the test", []byte(realConfig), func(name string) string {
		return map[string]string{"VENDORS": behind.URL, "WORKSPACE": filepath.Join(dir, "workspace")}[name]
	}, dir)
	if conf == nil {
		t.Fatal(faults)
	}
	ctx, stop := context.WithCancel(context.Background())
	a, err := daemon.New(ctx, daemon.Parts{State: dir, Config: conf, Channels: []channels.Channel{silence{}}, Vendors: provider.New(provider.Options{Log: slog.New(slog.DiscardHandler)}),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Sleep: daemon.Sleep})
	if err != nil {
		stop()
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Listen(dir, addr); err != nil {
		stop()
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-left; err != nil {
			t.Errorf("the daemon ends with %v", err)
		}
	})
	return "http://" + addr, down
}

// silence is a surface on which nobody says anything: the daemon stays.
type silence struct{}

func (silence) Name() string { return "silence" }

func (silence) Run(ctx context.Context, _ channels.Receiver) error { <-ctx.Done(); return nil }

func (silence) Send(context.Context, channels.Outbound) (channels.Receipt, error) {
	return channels.Receipt{}, errors.New("nobody is here")
}

// An evening of an operator, with nothing between the page and the daemon: the
// first vendor fails, another stands in, the operator sees it, looks into it, and
// sends the first one back to work.
func TestAnOutageIsSeenThroughAndEndedFromThePage(t *testing.T) {
	b := browser(t)
	url, down := realDaemon(t)
	p := open(t, b, url, "#/chat", style{})
	says := func(text string) {
		t.Helper()
		p.does(chromedp.SendKeys(chromedp.ID("text"), text+kb.Enter))
	}
	goes := func(hash string) {
		t.Helper()
		js[string](p, `location.hash = "`+hash+`"`)
	}
	p.sees("The token stands in the config")
	p.does(chromedp.SendKeys(chromedp.CSS("input[name=name]"), "Olga"), chromedp.SendKeys(chromedp.CSS("input[name=token]"), "the-token-of-the-test"+kb.Enter))

	p.sees("Nothing has been said yet.")
	says("are you there?")
	p.sees("This is first.")
	down.Store(true)
	says("and now?")
	p.sees("This is second.")
	p.sees("Model Fallback: other-vendor/second (selected main-vendor/first; rate limit)")
	p.until(`!!document.querySelector(".message.notice")`, "the notice stands apart")
	p.looksWell("real chat")

	goes("#/now")
	p.sees("other-vendor/second stands in for main-vendor/first. It rests (rate limit) until")
	p.sees("1 session on a stand-in")
	p.sees("agent:main:page:direct:main")
	p.sees("left)")
	p.looksWell("real now")

	goes("#/timeline")
	p.sees("fell back")
	p.until(`document.querySelectorAll(".lane .bar.plain").length > 0 && document.querySelectorAll(".lane .bar.stand").length > 0`, "the picture has both models")
	if !js[bool](p, `[...document.querySelectorAll(".track")].every((t) => [...t.children].every((b) => b.getBoundingClientRect().right <= t.getBoundingClientRect().right + 0.5))`) {
		t.Error("what happened just now stands outside of the picture")
	}
	p.looksWell("real timeline")
	p.does(chromedp.Click(`//a[normalize-space()="Steps"]`, chromedp.NodeVisible))
	p.sees("Number of requests has exceeded your limit.")
	p.sees("HTTP 429")
	p.looksWell("real run")

	goes("#/sessions?state=standin")
	p.sees("stand-in: rate limit")
	p.does(chromedp.Click(`//main//a[normalize-space()="agent:main:page:direct:main"]`, chromedp.NodeVisible))
	p.sees("Another model stands in")
	p.sees("and now?")
	p.looksWell("real session")

	down.Store(false)
	goes("#/now")
	p.sees("Sessions on a stand-in")
	name := js[string](p, `[...document.querySelectorAll("main button")].find((b) => b.textContent === "Use again now").getAttribute("aria-label")`)
	p.clicks(name)
	p.clicks("Use again now")
	p.sees("(by Olga)")
	p.sees("main-vendor/first answers.")
	p.sees("credential.clear")

	// The session looks for its model by itself in five minutes; it need not wait.
	goes("#/session/agent%3Amain%3Apage%3Adirect%3Amain")
	p.sees("Another model stands in")
	p.clicks("Choose model")
	p.does(chromedp.SetValue(chromedp.CSS("#ask select"), "default"))
	p.clicks("Choose")
	p.sees("main-vendor/first is selected. (by Olga)")
	goes("#/chat")
	p.sees("Message to main")
	says("and at last?")
	p.until(`document.querySelector("#log > li:last-child").innerText.includes("This is first.")`, "the first vendor answers again")
	p.looksWell("real chat again")

	goes("#/jobs")
	p.sees("heartbeat of main")
	p.looksWell("real jobs")
	goes("#/cost")
	p.until(`document.querySelector("main").innerText.includes("main-vendor/first") || document.querySelector("main").innerText.includes("Costs are not kept")`, "it says what it cost")
	p.looksWell("real cost")
	goes("#/rehearse")
	p.sees("No vendor is asked")
	p.quiet()
}

// The daemon's tokens, and what vendors were given, are nowhere in the page.
func TestTheRealDaemonTellsNoSecret(t *testing.T) {
	b := browser(t)
	url, _ := realDaemon(t)
	p := open(t, b, url, "#/now", style{})
	p.sees("The token stands in the config")
	p.does(chromedp.SendKeys(chromedp.CSS("input[name=token]"), "the-token-of-the-test"+kb.Enter))
	p.sees("main-vendor/first answers.")
	for _, secret := range []string{"staged-no-key", "the-token-of-the-test"} {
		if strings.Contains(js[string](p, `document.documentElement.outerHTML + document.cookie`), secret) {
			t.Errorf("the page holds %s", secret)
		}
	}
	p.quiet()
}
