package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"standin/bot"
	"standin/channels"
)

func textFile(name, content string) channels.File {
	return channels.File{Name: name, Type: "text/plain", Size: int64(len(content)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func withFiles(id string, files ...channels.File) bot.Ending {
	out := channels.Outbound{ID: id, To: room("A"), Kind: channels.Reply, Text: "see here", Files: files}
	return bot.Ending{Session: mainSession, How: bot.Answered, At: noon, Turn: "t", Posts: []channels.Outbound{out}}
}

func countFiles(t *testing.T, d *DB) (n int) {
	t.Helper()
	if _, err := d.main.row(t.Context(), `SELECT count(*) FROM outbox_files`, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A delivery keeps its files' bytes beyond the process, and what the platform
// calls them; they go with the mark that ends it, in the same transaction.
func TestFilesOfADelivery(t *testing.T) {
	for _, c := range []struct {
		state bot.DeliveryState
		left  int
	}{{bot.Pending, 2}, {bot.Unknown, 2}, {bot.Sent, 0}, {bot.Refused, 0}} {
		t.Run(string(c.state), func(t *testing.T) {
			dir := t.TempDir()
			d := open(t, dir)
			end(t, d, withFiles("d1", textFile("one.txt", "first"), textFile("two.txt", "second")))
			due, err := d.Due(t.Context(), noon)
			if err != nil || len(due) != 1 || len(due[0].Files) != 2 {
				t.Fatalf("due %+v %v", due, err)
			}
			if err := due[0].Files[1].Keep(t.Context(), "F2"); err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = open(t, dir)
			due, err = d.Due(t.Context(), noon)
			if err != nil {
				t.Fatal(err)
			}
			for n, want := range []struct{ name, content, ref string }{{"one.txt", "first", ""}, {"two.txt", "second", "F2"}} {
				f := due[0].Files[n]
				data, err := channels.ReadFile(t.Context(), f, 100)
				if err != nil || string(data) != want.content || f.Name != want.name || f.Type != "text/plain" || f.Size != int64(len(want.content)) || f.Ref != want.ref {
					t.Errorf("file %d is %+v with %q, %v", n, f, data, err)
				}
			}
			if ok, err := d.Claim(t.Context(), "d1"); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if err := d.Mark(t.Context(), bot.Delivery{Outbound: channels.Outbound{ID: "d1", To: room("A")}, State: c.state}); err != nil {
				t.Fatal(err)
			}
			if n := countFiles(t, d); n != c.left {
				t.Errorf("%d files are kept, want %d", n, c.left)
			}
			if c.left == 0 {
				if _, err := due[0].Files[0].Open(t.Context()); err == nil || !strings.Contains(err.Error(), "not stored any more") {
					t.Errorf("opening one that is gone gave %v", err)
				}
			}
		})
	}
}

// A file that cannot be read leaves no half an ending, and no half a file.
func TestAnEndingWithABrokenFile(t *testing.T) {
	d := open(t, t.TempDir())
	broken := channels.File{Name: "b.txt", Open: func(context.Context) (io.ReadCloser, error) { return nil, errors.New("it was moved") }}
	if _, err := d.End(t.Context(), withFiles("d1", textFile("one.txt", "first"), broken)); err == nil || !strings.Contains(err.Error(), "b.txt") {
		t.Errorf("gave %v", err)
	}
	if got := due(t, d, noon); got != "" || countFiles(t, d) != 0 {
		t.Errorf("due %q, %d files", got, countFiles(t, d))
	}
}
