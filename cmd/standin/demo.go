package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider"
	"standin/fallback/provider/providertest"
)

// demoCmd is `standin demo`: the whole daemon on embedded defaults. Only the
// vendors are staged, and they speak the real wire formats over loopback, so
// that the real SDKs, store and rules run.
type demoCmd struct {
	State string
}

func (w world) demoVerb() *verb {
	var c demoCmd
	v := w.verb(&c, "demo", "Talk to an agent in this terminal, with two staged models: see one fail and the other stand in. Needs no account and no key.")
	v.drains = true
	v.Flags().Var(text{&c.State, "DIR"}, "state", "Keep the state here; without it the demo leaves nothing behind.")
	return v
}

// demoConfig is the demo's config file. The two addresses are filled in when
// the staged vendors listen.
const demoConfig = `
agents:
  defaults:
    workspace: ${DEMO_WORKSPACE}
    model:
      primary: ` + stagedPrimary + `
      fallbacks: [` + stagedStandin + `]
session:
  reset: {mode: "off"} # the play must not depend on the time of day
models:
  providers:
    staged-openai:
      baseUrl: ${DEMO_OPENAI}/v1
      api: openai-completions
      apiKey: staged-no-key
    staged-anthropic:
      baseUrl: ${DEMO_ANTHROPIC}
      api: anthropic-messages
      apiKey: staged-no-key
`

// demoHello is what a person reads first, demoNext when they leave. Their lines
// fit a terminal of 80 columns.
const (
	demoHello = `This is standin. Both models are staged, and nothing leaves this machine.
The primary answers once, then fails, and is back five minutes later.
/skip 5m lets that time pass, /status tells where you are, /help the rest.
Try tools, too: "what time is it", "remember that my tea is green",
"remind me in 5m to drink it". /fail has the next turn break off in the middle.
`
	demoNext = `That was the demo. For the real thing write config.yaml (config.example.yaml
has every key), put a key into OPENAI_API_KEY or ANTHROPIC_API_KEY, then:
standin check, standin serve.
`
)

// Run plays the demo in the terminal, or line by line in a pipe.
func (c demoCmd) Run(w world) error {
	dir := c.State
	if dir == "" {
		tmp, err := os.MkdirTemp("", "standin-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return exit{exitUsage, err.Error()}
	}
	stage, err := openPlay(dir, time.Now)
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	vendors := &providertest.Stage{Answer: stage.answer}
	openai, err := listen(vendors.OpenAI())
	if err != nil {
		return err
	}
	defer openai.Close()
	anthropic, err := listen(vendors.Anthropic())
	if err != nil {
		return err
	}
	defer anthropic.Close()

	conf, faults := config.Parse("demo config", []byte(demoConfig), func(name string) string {
		switch name {
		case "DEMO_WORKSPACE":
			return filepath.Join(dir, "workspace")
		case "DEMO_OPENAI":
			return "http://" + openai.Addr
		case "DEMO_ANTHROPIC":
			return "http://" + anthropic.Addr
		}
		return w.getenv(name)
	}, dir)
	if conf == nil {
		return fmt.Errorf("the demo's own config: %v", faults)
	}
	log, closeLog, err := fileLog(filepath.Join(dir, "standin.log"), slog.LevelInfo)
	if err != nil {
		return err
	}
	defer closeLog()

	var a *daemon.App
	room := w.console(filepath.Join(dir, "history"), stage.Now, func(ctx context.Context, in channels.Inbound) error { return a.Bot.Wait(ctx, in) })
	a, err = daemon.New(w.ctx, daemon.Parts{
		State: dir, Config: conf, Channels: []channels.Channel{room},
		Vendors: provider.New(provider.Options{Log: log}),
		Local:   []bot.Command{skipCommand(stage, func() { a.Skip() }), failCommand(stage), w.cronCommand(dir, "")},
		Log:     log, Now: stage.Now, Sleep: daemon.Sleep,
	})
	if err != nil {
		return err
	}
	if err := a.Listen(dir, ""); err != nil { // so that standin cron and the like work beside it
		return errors.Join(err, a.Close())
	}
	terminal := w.terminal()
	if terminal {
		fmt.Fprint(w.stdout, demoHello, "\n")
	}
	if err := a.Run(w.ctx); err != nil {
		return err
	}
	if terminal {
		fmt.Fprint(w.stdout, "\n", demoNext)
	}
	return nil
}

// listen serves a staged vendor on a free loopback port; Addr of the server is
// the one it got.
func listen(h http.Handler) (*http.Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the staged vendors need a loopback port: %w", err)
	}
	s := &http.Server{Addr: l.Addr().String(), Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // ends with Close
	return s, nil
}

// failCommand is the demo's /fail: whoever answers next breaks off.
func failCommand(p *demoPlay) bot.Command {
	return bot.Command{
		Name: "fail", Help: "have the model that answers next fail in the middle",
		Run: func(context.Context, string) (string, error) {
			if err := p.Fail(); err != nil {
				return "", fmt.Errorf("the play did not change: %w", err)
			}
			return "The model that is asked next will break off in the middle of its turn, after what it does with its tools.", nil
		},
	}
}

// skipCommand is the demo's /skip: its time passes, nobody waits. passed is told.
func skipCommand(p *demoPlay, passed func()) bot.Command {
	return bot.Command{
		Name: "skip", Args: "5m", Help: "let the demo's time pass",
		Run: func(_ context.Context, args string) (string, error) {
			args = strings.TrimSpace(args)
			d, err := time.ParseDuration(args)
			if err != nil || d <= 0 {
				return "How long? For example: /skip 5m", nil
			}
			if err := p.Skip(d); errors.Is(err, errTooFar) {
				return "The demo's clock goes at most a year ahead. Nothing has changed.", nil
			} else if err != nil {
				return "", fmt.Errorf("the clock did not move: %w", err)
			}
			passed()
			return fmt.Sprintf("%s have passed. It is now %s in the demo.", args, p.Now().Format(time.DateTime)), nil
		},
	}
}
