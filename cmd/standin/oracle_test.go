package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/bot/operator"
	"standin/cmd/standin/config"
	"standin/cmd/standin/daemon"
	"standin/fallback/provider"
)

// oracleHouse is a daemon with an oracle, by a config that refers to its keys and
// to the operator's token in both ways there are.
func oracleHouse(t *testing.T) oracle {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	const text = `
agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/claude-sonnet-5]}}}
models:
  providers:
    openai: {apiKey: {source: env, id: KEY}}
    anthropic: {apiKey: "${KEY}"}
gateway: {auth: {token: {source: env, id: STANDIN_GATEWAY_TOKEN}}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		return map[string]string{"KEY": "key-of-both", "STANDIN_GATEWAY_TOKEN": "a-token-of-the-operator"}[name]
	}
	conf, faults := config.Load(path, getenv)
	if conf == nil {
		t.Fatal(faults)
	}
	log := slog.New(slog.DiscardHandler)
	a, err := daemon.New(context.Background(), daemon.Parts{State: filepath.Join(dir, "state"), Config: conf, Vendors: provider.New(provider.Options{Log: log}), Log: log, Now: time.Now, Sleep: daemon.Sleep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return oracle{app: a, path: path, getenv: func(string) string { return "" }} // a rehearsal needs no key
}

// Each outage that the page offers can be played against a usual chain, tells the
// messages that it begins with, what becomes of them, and says each in a sentence.
func TestEveryOutageCanBePlayed(t *testing.T) {
	o := oracleHouse(t)
	for i, one := range drills {
		t.Run(one.ID, func(t *testing.T) {
			out, err := o.Rehearse(t.Context(), one.ID, "main")
			if err != nil {
				t.Fatal(err)
			}
			said, ended, last := 0, 0, int64(0)
			for _, s := range out.Steps {
				switch s.Event {
				case "say":
					said++
				case "reply", "failure":
					ended++
				}
				if s.Text == "" || s.AtMs < last || !json.Valid(s.Facts) {
					t.Errorf("step %+v", s)
				}
				last = s.AtMs
			}
			if said != len(drills[i].says) || ended != said || len(out.Chain) != 2 {
				t.Errorf("%d messages, %d ended, chain %v", said, ended, out.Chain)
			}
			if out.Steps[0].Event != "say" || out.Steps[1].Event != "attempt" || out.Steps[1].Model != "openai/gpt-5.5" {
				t.Errorf("it begins with %+v, %+v", out.Steps[0], out.Steps[1])
			}
		})
	}
	var wrong *operator.Wrong
	if _, err := o.Rehearse(t.Context(), "flood", "main"); !errors.As(err, &wrong) || !strings.Contains(wrong.Says, "rate-limit") {
		t.Errorf("an outage that there is not: %v", err)
	}
}

// What a message would do is told by the running config, and what is wrong with a
// question is said.
func TestTheOracleExplains(t *testing.T) {
	o := oracleHouse(t)
	raw, err := o.Explain(t.Context(), operator.Question{Simulate: "openai/*=429"})
	if err != nil || !bytes.Contains(raw, []byte(`"answeredBy":"anthropic/claude-sonnet-5"`)) || bytes.Contains(raw, []byte("key-of-both")) {
		t.Errorf("%v %s", err, raw)
	}
	for _, q := range []operator.Question{{Simulate: "nonsense"}, {Agent: "eve"}, {Model: "nobody/x"}} {
		var wrong *operator.Wrong
		if _, err := o.Explain(t.Context(), q); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
