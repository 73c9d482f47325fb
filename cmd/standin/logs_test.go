package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const someLog = `{"time":"2026-01-05T12:00:00Z","level":"INFO","msg":"ready","channels":["slack"]}
{"time":"2026-01-05T12:00:01Z","level":"WARN","msg":"slow","channel":"slack","took":"3 s"}
no line of ours
{"time":"2026-01-05T12:00:02Z","level":"ERROR","msg":"failed","session":"agent:main:main","err":"line\nbreak \u001b[2J"}
`

func logFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "standin.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The log is shown by what its lines hold, and nothing in a line can look like
// another one or move the cursor.
func TestLogsAreFiltered(t *testing.T) {
	path := logFile(t, someLog)
	for name, c := range map[string]struct {
		args []string
		want string // the messages, in order
	}{
		"all":                {nil, "ready slow no failed"},
		"the last two":       {[]string{"-n", "2"}, "no failed"},
		"none":               {[]string{"-n", "0"}, ""},
		"at least a warning": {[]string{"--level", "warn"}, "slow failed"},
		"by field":           {[]string{"session=agent:main:main"}, "failed"},
		"by two fields":      {[]string{"channel=slack", "level=WARN"}, "slow"},
		"by text":            {[]string{"--grep", "READY"}, "ready"},
		"by what is nowhere": {[]string{"run=x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, out, errs := lent(t.Context(), strings.NewReader(""))
			if code := run(w, append([]string{"logs", "--file", path}, c.args...)); code != exitOK {
				t.Fatalf("%d %s", code, errs)
			}
			var have []string
			for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
				for _, word := range []string{"ready", "slow", "no line", "failed"} {
					if strings.Contains(l, word) {
						have = append(have, strings.Fields(word)[0])
					}
				}
			}
			if got := strings.Join(have, " "); got != c.want {
				t.Errorf("%q, want %q\n%s", got, c.want, out)
			}
			if strings.ContainsRune(out.String(), '\x1b') {
				t.Error("a line moves the cursor")
			}
		})
	}
	for _, args := range [][]string{{"--level", "loud"}, {"nonsense"}, {"-n", "-1"}, {"--file", path + "x"}} {
		w, _, errs := lent(t.Context(), strings.NewReader(""))
		if code := run(w, append([]string{"logs", "--file", path}, args...)); code == exitOK || errs.Len() == 0 {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

// A log that is followed is followed into the file that takes its place, and into
// one that was cut short; a line that comes in two pieces is one.
func TestALogIsFollowed(t *testing.T) {
	path := logFile(t, "before\n")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	l := &logReader{path: path, f: f, show: func(text []byte) error { shown.Write(append(text, ' ')); return nil }}
	defer func() { _ = l.f.Close() }()
	if err := l.tail(1, func([]byte) bool { return true }); err != nil {
		t.Fatal(err)
	}
	write := func(name string, flag int, text string) {
		out, err := os.OpenFile(name, flag|os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = out.WriteString(text)
			err = errors.Join(err, out.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	steps := []func(){
		func() { write(path, os.O_APPEND, "two pi") },
		func() { write(path, os.O_APPEND, "eces\nthree\n") },
		func() { write(path, os.O_APPEND, "last\n"); _ = os.Rename(path, path+".1"); write(path, 0, "new\n") },
		func() { write(path, os.O_APPEND, "more\nand more\n") },
		func() { write(path, os.O_TRUNC, "cut\n") },
		func() {},
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = l.follow(ctx, func(ctx context.Context, _ time.Duration) error {
		if len(steps) == 0 {
			cancel()
			return ctx.Err()
		}
		steps[0]()
		steps = steps[1:]
		return nil
	})
	if got := shown.String(); err != nil || got != "before two pieces three last new more and more cut " {
		t.Errorf("%v %q", err, got)
	}
}
