package page_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/look.js
var look string

// patience is how long a browser gets for what it does in a moment, on a machine
// that does much else.
const patience = 30 * time.Second

// browser starts a Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("The page was not looked at: there is no Chromium here. On Debian: apt-get install chromium")
	}
	ctx, stop := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("force-color-profile", "srgb")))
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	return ctx
}

// tab is one tab of it, which looks at a daemon.
type tab struct {
	*testing.T
	ctx     context.Context
	console func() []string
}

// style is how a person has set up their machine.
type style struct {
	dark, still bool
	width       int64
}

// open opens a view in a tab of its own.
func open(t *testing.T, browser context.Context, url, hash string, s style) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(cancel)
	p := &tab{T: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	p.watchConsole()
	if s.width == 0 {
		s.width = 1280
	}
	scheme, motion := "light", "no-preference"
	if s.dark {
		scheme = "dark"
	}
	if s.still {
		motion = "reduce"
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(s.width, 900), chromedp.Navigate(url+"/"+hash)); err != nil {
		t.Fatal(err)
	}
	return p
}

// watchConsole keeps what the page and the browser complain of.
func (p *tab) watchConsole() {
	ctx, stop := context.WithCancel(p.ctx)
	var said []string
	done := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() {
				said = append(said, fmt.Sprintf("%s (%s)", m, m.URL))
			}
		}
	}()
	p.console = func() []string {
		stop()
		<-done
		return said
	}
}

// js evaluates an expression in the page.
func js[T any](p *tab, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// sees waits until the text stands somewhere in the page.
func (p *tab) sees(text string) {
	p.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text), "the page shows "+text)
}

// until waits until an expression holds.
func (p *tab) until(expression, meaning string) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		p.Fatalf("it does not come to pass that %s: %v\nThe page says:\n%s", meaning, err, js[string](p, "document.body.innerText"))
	}
}

// does runs steps in the page.
func (p *tab) does(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatalf("%v\nThe page says:\n%s", err, js[string](p, "document.body.innerText"))
	}
}

// clicks presses the button of this name.
func (p *tab) clicks(name string) {
	p.Helper()
	p.does(chromedp.Click(fmt.Sprintf(`//button[@aria-label=%q or (not(@aria-label) and normalize-space()=%q)]`, name, name), chromedp.NodeVisible))
}

// looksWell holds the page to what people need, and takes its picture when the
// variable STANDIN_TEST_SHOTS names a folder.
func (p *tab) looksWell(name string) {
	p.Helper()
	for _, fault := range js[[]string](p, look) {
		p.Errorf("%s: %s", name, fault)
	}
	folder := os.Getenv("STANDIN_TEST_SHOTS")
	if folder == "" {
		return
	}
	shot, err := chromedp.Call(p.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".png"), shot.Data, 0o600); err != nil {
		p.Fatal(err)
	}
}

// quiet holds that neither the page nor the browser had anything to complain of.
func (p *tab) quiet() {
	p.Helper()
	for _, m := range p.console() {
		p.Errorf("the console says: %s", m)
	}
}
