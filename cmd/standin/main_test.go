package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// lent is a world without environment whose outputs can be read.
func lent(ctx context.Context, stdin io.Reader) (w world, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return world{ctx: ctx, getenv: func(string) string { return "" }, stdin: stdin, stdout: out, stderr: errs}, out, errs
}

func TestASignalEndsAVerbThatHasNothingToDrain(t *testing.T) {
	for _, args := range [][]string{
		{"classify"},
		{"auth", "add", "openai", "--state", t.TempDir()},
	} {
		stdin, typist := io.Pipe() // nobody types
		ctx, signal := context.WithCancel(t.Context())
		w, _, _ := lent(ctx, stdin)
		code := make(chan int, 1)
		go func() { code <- run(w, args) }()
		signal()
		select {
		case got := <-code:
			if got != exitStopped {
				t.Errorf("%v ends with %d, want %d", args, got, exitStopped)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v goes on after the signal", args)
		}
		typist.Close()
	}
}

func TestAKeyGivenAsAnArgumentIsNotSaidAloud(t *testing.T) {
	const key = "sk-proj-0123456789abcdefghijklmnop"
	w, out, errs := lent(t.Context(), strings.NewReader(""))
	if got := run(w, []string{"auth", "add", "openai", key}); got != exitUsage {
		t.Errorf("exit %d, want %d", got, exitUsage)
	}
	if strings.Contains(out.String()+errs.String(), key) {
		t.Errorf("the key is repeated: %s%s", out, errs)
	}
}

func TestACredentialNeedsANameThatCanBeTyped(t *testing.T) {
	for name, want := range map[string]int{
		"":                exitOK,
		"work":            exitOK,
		"openai:work":     exitOK,
		"me@example.com":  exitOK,
		"two words":       exitUsage,
		"anthropic:work":  exitUsage,
		"a/b":             exitUsage,
		"line\nbreak":     exitUsage,
		"openai:":         exitOK, // the default one
		"openai:a:b":      exitUsage,
		"openai:\x1b[31m": exitUsage,
	} {
		w, _, errs := lent(t.Context(), strings.NewReader("sk-test-key\n"))
		if got := run(w, []string{"auth", "add", "openai", "--id=" + name, "--state", t.TempDir()}); got != want {
			t.Errorf("--id %q: exit %d, want %d (%s)", name, got, want, errs)
		}
	}
}
