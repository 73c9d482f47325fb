package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/channels"
	"standin/channels/channeltest"
)

func TestContract(t *testing.T) {
	t.Run("terminal", func(t *testing.T) {
		channeltest.Contract(t, func(t *testing.T) channeltest.Rig {
			in, keys := io.Pipe()
			t.Cleanup(func() { _ = keys.Close() })
			p, files := newPaper(200, 30), t.TempDir()
			return channeltest.Rig{
				Channel: New(Options{In: in, Out: p, Terminal: true, NoColor: true, Files: files}),
				Files:   func() []string { return saved(t, files) },
				To:      here,
				Seen:    func() string { return p.text(false, false) },
				Say:     func(_ int, text string) { _, _ = io.WriteString(keys, text+"\r") },
			}
		}, channeltest.Failing) // a screen takes what it is given
	})
	t.Run("piped", func(t *testing.T) {
		channeltest.Contract(t, func(t *testing.T) channeltest.Rig {
			in, lines := io.Pipe()
			t.Cleanup(func() { _ = lines.Close() })
			var out bytes.Buffer
			files := t.TempDir()
			return channeltest.Rig{
				Channel: New(Options{In: in, Out: &out, Files: files}), To: here, Seen: out.String,
				Files: func() []string { return saved(t, files) },
			}
			// A filter's input has no second try: the line that was not accepted ends
			// it. What it hands over is the other tests' of this file.
		}, channeltest.Failing, channeltest.Saying)
	})
}

// saved gives what files are in a folder, each as "name: content", by name, and
// wants them to be their owner's alone.
func saved(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
		data, err := os.ReadFile(path)
		all = append(all, e.Name()+": "+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A console says where a file was saved, and that it has none to save it in.
func TestAFileOnTheConsole(t *testing.T) {
	out := channels.Outbound{ID: "d1", To: here, Kind: channels.Reply, Text: "see here", Files: []channels.File{
		channeltest.TextFile("a.txt", "one"), channeltest.TextFile("A.TXT", "two"),
	}}
	for name, folder := range map[string]string{"saved": t.TempDir(), "none": ""} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := New(Options{In: strings.NewReader(""), Out: &b, Files: folder}).Send(t.Context(), out); err != nil {
				t.Fatal(err)
			}
			want := "see here\nFile a.txt was saved as " + folder + "/d1/a.txt\nFile 2-A.TXT was saved as " + folder + "/d1/2-A.TXT\n"
			if folder == "" {
				want = "see here\n\n(Not sent: a.txt, A.TXT. This console has no folder for files.)\n"
			}
			if b.String() != want {
				t.Errorf("printed %q, want %q", b.String(), want)
			}
		})
	}
}

// pipe runs the filter over the input; the bot answers each message twice, a
// notice and an echo, some time after it was accepted.
func pipe(t *testing.T, input string, adapt func(*Options)) (output string, heard []channels.Inbound, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ended := map[string]chan struct{}{}
		var c *Console
		o := Options{In: strings.NewReader(input), Out: &out}
		o.Wait = func(ctx context.Context, in channels.Inbound) error { <-ended[in.ID]; return nil }
		if adapt != nil {
			adapt(&o)
		}
		c = New(o)
		err = c.Run(t.Context(), func(ctx context.Context, in channels.Inbound) error {
			heard = append(heard, in)
			end := make(chan struct{})
			ended[in.ID] = end
			go func() {
				defer close(end)
				time.Sleep(time.Second)
				for i, k := range []channels.Kind{channels.Notice, channels.Reply} {
					text := map[channels.Kind]string{channels.Notice: "↪️ moved", channels.Reply: "echo: " + in.Text}[k]
					_, _ = c.Send(t.Context(), channels.Outbound{ID: in.ID + fmt.Sprint(i), To: here, Kind: k, Text: text})
				}
			}()
			return nil
		})
		output = out.String()
	})
	return output, heard, err
}

func texts(in []channels.Inbound) []string {
	var all []string
	for _, m := range in {
		all = append(all, m.Text)
	}
	return all
}

// Strictly one message at a time: the answer to a line stands before the next
// line is read, and the end of the input waits for the last answer.
func TestPipedTakesOneMessageAtATime(t *testing.T) {
	out, heard, err := pipe(t, "one\ntwo", nil)
	want := "↪️ moved\necho: one\n↪️ moved\necho: two\n"
	if d := cmp.Diff(want, out); d != "" || err != nil {
		t.Error(d, err)
	}
	if d := cmp.Diff([]string{"one", "two"}, texts(heard)); d != "" {
		t.Error(d)
	}
}

func TestInboundSaysWhoAndWhere(t *testing.T) {
	_, heard, _ := pipe(t, "one\ntwo\n", func(o *Options) { o.User = "ann" })
	a, b := heard[0], heard[1]
	if len(a.ID) != 26 || a.ID >= b.ID {
		t.Errorf("ids %q, %q", a.ID, b.ID)
	}
	want := channels.Inbound{
		ID: a.ID, At: a.At, To: here, Chat: channels.Direct, From: channels.User{ID: "ann", Name: "ann"},
		Text: "one", Mentioned: true, Authorized: true,
	}
	if d := cmp.Diff(want, a); d != "" || a.At.IsZero() {
		t.Error(d)
	}
}

func TestPipedLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		name, input string
		want        []string
		says        string
	}{
		{"blank lines are ignored", "\n  \na\n\t\n", []string{"a"}, ""},
		{"Windows line ends are fine", "a\r\nb\r\n", []string{"a", "b"}, ""},
		{"a byte order mark is no text", "\uFEFFa\n", []string{"a"}, ""},
		{"invalid UTF-8 is replaced", "a\xffb\n", []string{"a�b"}, ""},
		{"the last line needs no end", "a", []string{"a"}, ""},
		{"an empty input ends at once", "", nil, ""},
		{"a line of 1 MB is a message", long + "\r\nb\n", []string{long, "b"}, ""},
		{"a longer one is left out, the next is read", "a\n" + long + "y\nb\n", []string{"a", "b"}, "Line 2 is longer than 1 MB"},
		{"also as the last line", long + "yy", nil, "Line 1 is longer than 1 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, heard, err := pipe(t, c.input, nil)
			if d := cmp.Diff(c.want, texts(heard)); d != "" || err != nil {
				t.Error(d, err)
			}
			if !strings.Contains(out, c.says) || (c.says == "") == strings.Contains(out, "longer than") {
				t.Errorf("says %q", out)
			}
		})
	}
}

// No spinner, no colour, no drafts.
func TestPipedPrintsPlainText(t *testing.T) {
	out, _, _ := pipe(t, "a\x1b[31m\n", func(o *Options) {
		o.Local = func(line string) (string, bool) { return "", false }
	})
	if strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("%q", out)
	}
	var b bytes.Buffer
	d := New(Options{In: strings.NewReader(""), Out: &b}).Draft(t.Context(), here, "", nil)
	d.Working()
	d.Show("growing")
	d.Close()
	if b.Len() > 0 {
		t.Errorf("a draft printed %q", b.String())
	}
}

func TestPipedLocalCommand(t *testing.T) {
	out, heard, _ := pipe(t, "/clock\na\n", func(o *Options) {
		o.Local = func(line string) (string, bool) { return "12:00", line == "/clock" }
	})
	if d := cmp.Diff("12:00\n↪️ moved\necho: a\n", out); d != "" || len(heard) != 1 {
		t.Error(d, texts(heard))
	}
}

// closing is an output whose reader leaves after some bytes.
type closing struct{ room int }

func (c *closing) Write(b []byte) (int, error) {
	n := min(len(b), c.room)
	if c.room -= n; n < len(b) {
		return n, syscall.EPIPE
	}
	return n, nil
}

// A closed output loses nothing: the delivery stays owed, and Run ends although
// the answer it waits for cannot arrive.
func TestClosedOutput(t *testing.T) {
	for _, c := range []struct {
		name string
		room int
		want channels.Outcome
	}{
		{"nothing got out: certainly not sent", 0, channels.NotSent},
		{"a part got out: look first", 3, channels.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				console := New(Options{
					In: strings.NewReader("a\nb\n"), Out: &closing{c.room},
					Wait: func(ctx context.Context, _ channels.Inbound) error { <-ctx.Done(); return ctx.Err() },
				})
				heard := 0
				err := console.Run(t.Context(), func(ctx context.Context, in channels.Inbound) error {
					heard++
					go func() {
						_, err := console.Send(t.Context(), channels.Outbound{ID: "d", To: here, Kind: channels.Reply, Text: "hello"})
						if got := channels.OutcomeOf(err); got != c.want {
							t.Errorf("Send gave %q", got)
						}
					}()
					return nil
				})
				synctest.Wait()
				if !errors.Is(err, syscall.EPIPE) || heard != 1 {
					t.Errorf("Run gave %v after %d messages", err, heard)
				}
			})
		})
	}
}

func TestPipedEndsWithItsContextWhileItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, w := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := New(Options{In: in, Out: io.Discard}).Run(ctx, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		_ = w.Close()
	})
}

// I1: what the store did not take is not acknowledged, and no later line is read.
func TestPipedStopsWhenAMessageIsNotAccepted(t *testing.T) {
	full := errors.New("disk full")
	err := New(Options{In: strings.NewReader("a\nb\n"), Out: io.Discard}).Run(t.Context(), func(_ context.Context, in channels.Inbound) error {
		if in.Text != "a" {
			t.Error(in.Text)
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Error(err)
	}
}

func TestSendRefusesOtherPlaces(t *testing.T) {
	c := New(Options{Out: io.Discard})
	for _, to := range []channels.Address{{Channel: "slack", Conversation: "local"}, {Channel: Name, Conversation: "C1"}} {
		_, err := c.Send(t.Context(), channels.Outbound{ID: "d", To: to, Text: "x"})
		if channels.OutcomeOf(err) != channels.Refused {
			t.Errorf("%v: %v", to, err)
		}
	}
}

func TestFindKnowsOnlyThisProcess(t *testing.T) {
	c := New(Options{Out: io.Discard})
	out := channels.Outbound{ID: "d", To: here, Text: "x"}
	if _, _, err := c.Find(t.Context(), out); err == nil {
		t.Error("it claims to know what an earlier process printed")
	}
	if _, err := c.Send(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if r, posted, err := c.Find(t.Context(), out); err != nil || !posted || r.MessageID != "d" {
		t.Error(r, posted, err)
	}
}
