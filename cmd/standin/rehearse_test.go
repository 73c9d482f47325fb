package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rehearsed runs the verb and gives what it said.
func rehearsed(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	w := world{ctx: context.Background(), getenv: env(), stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr}
	status = run(w, append([]string{"rehearse"}, args...))
	return status, stdout.String(), stderr.String()
}

// scriptFile writes a script into a file of the test.
func scriptFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// limited is a script of a vendor that has had enough, without an expectation.
const limited = `
config: {agents: {defaults: {model: {primary: openai/gpt-5.5, fallbacks: [anthropic/a]}}}}
vendors:
- {model: openai/*, error: {status: 429, code: rate_limit_exceeded, message: slow down}}
script:
- {at: 90s, say: hello}
`

// Several scripts are played one after the other; the exit status is the worst.
func TestTheWorstOfSeveralScripts(t *testing.T) {
	good := scriptFile(t, limited+"expect: [{event: reply}]\n")
	broken := scriptFile(t, limited+"expect: [{event: failure}]\n")
	bad := scriptFile(t, "scrpt: []\n")
	for _, c := range []struct {
		files  []string
		status int
	}{{[]string{good, good}, exitOK}, {[]string{good, broken, good}, exitFault}, {[]string{bad, broken, good}, exitUsage}} {
		status, out, _ := rehearsed(t, c.files...)
		if status != c.status {
			t.Errorf("exit status %d, want %d", status, c.status)
		}
		if want := len(c.files); strings.Count(out, "hello") < want-1 {
			t.Errorf("not all of %d scripts were played:\n%s", want, out)
		}
	}
	if status, _, _ := rehearsed(t); status != exitUsage {
		t.Errorf("without a script the exit status is %d", status)
	}
}
