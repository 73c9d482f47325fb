package main

import (
	"bytes"
	"context"
	"flag"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"standin/fallback"
	"standin/store"
)

var updateScripts = flag.Bool("update", false, "rewrite the outputs that testdata/explain compares")

// The scripts of testdata/explain read the daemon's state with the verbs that
// explain it, beside the running daemon, and compare what a person is shown. To
// the words of testdata/scenario they add:
//
//	tells VERB ARGS…                  run explain or why on this house; stdout is what it prints
//	credential ID                     store an API key
//	rests ID SPAN REASON [MODEL]      a credential's window; billing and auth_permanent disable it
func TestExplained(t *testing.T) {
	defer func(local *time.Location) { time.Local = local }(time.Local)
	time.Local = time.UTC // what is printed must not depend on where the test runs
	commands := scenarioCommands()
	for name, run := range map[string]func(*house, *testscript.TestScript, []string){
		"tells": (*house).scriptTells, "credential": (*house).scriptCredential, "rests": (*house).scriptRests,
	} {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s has no negation", name)
			}
			run(ts.Value(houseKey{}).(*house), ts, args)
		}
	}
	testscript.RunT(bubble{t}, testscript.Params{
		Dir: "testdata/explain", Cmds: commands, Setup: setUpHouse, UpdateScripts: *updateScripts,
	})
}

// storedSecret is in the state of every script, and in no output [I12].
const storedSecret = "sk-n0t-to-be-printed"

func (h *house) scriptTells(ts *testscript.TestScript, args []string) {
	var out, errs bytes.Buffer
	w := world{ctx: context.Background(), getenv: env("HOME", h.dir), stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	code := run(w, append([]string{args[0], "-c", filepath.Join(h.dir, "config.yaml"), "--state", h.dir}, args[1:]...))
	_, _ = ts.Stdout().Write([]byte(strings.ReplaceAll(out.String(), h.dir, "DIR")))
	if strings.Contains(out.String()+errs.String(), storedSecret) {
		ts.Fatalf("a secret was printed")
	}
	if code != exitOK {
		_, _ = ts.Stdout().Write([]byte(strings.ReplaceAll(errs.String(), h.dir, "DIR")))
	}
}

func (h *house) scriptCredential(ts *testscript.TestScript, args []string) {
	creds := store.OpenCredentials(store.Options{Dir: h.dir})
	ts.Check(creds.PutCredential(context.Background(), "main", store.NewAPIKey(fallback.ProfileID(args[0]), storedSecret)))
	ts.Check(creds.Close())
}

func (h *house) scriptRests(ts *testscript.TestScript, args []string) {
	span, err := time.ParseDuration(args[1])
	ts.Check(err)
	id, reason := fallback.ProfileID(args[0]), fallback.Reason(args[2])
	w := fallback.Window{Until: time.Now().Add(span), Reason: reason}
	creds := store.OpenCredentials(store.Options{Dir: h.dir})
	_, _, err = creds.Update(context.Background(), "main", id, func(u fallback.Usage) fallback.Usage {
		u.Errors, u.Failures, u.LastFailure = u.Errors+1, map[fallback.Reason]int{reason: 1}, time.Now()
		switch {
		case reason == fallback.Billing || reason == fallback.AuthPermanent:
			u.Disabled = w
		case len(args) > 3:
			u.Scopes = map[string]fallback.Cooldown{args[3]: {Window: w, Errors: 1, Last: time.Now()}}
		default:
			u.Whole = fallback.Cooldown{Window: w, Errors: 1, Last: time.Now()}
		}
		return u
	})
	ts.Check(err)
	ts.Check(creds.Close())
}
