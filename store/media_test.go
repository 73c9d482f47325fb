package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// Who deletes a conversation deletes what was sent in it, at once, and nothing
// that was sent elsewhere; a file that is kept a second time takes the place of
// the first.
func TestFilesGoWithTheirSession(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	keep := func(id string, s, content string) int64 {
		t.Helper()
		row, _, err := db.Accept(ctx, channels.Inbound{ID: id, To: channels.Address{Channel: "x", Conversation: s}}, fallback.SessionID("agent:main:x:direct:"+s), "main", now)
		if err == nil {
			err = db.KeepMedia(ctx, bot.Media{Message: row.ID, Name: id, Type: "text/plain", At: now}, []byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
		return row.ID
	}
	a, b := keep("1", "a", "mine"), keep("2", "b", "yours")
	if err := db.KeepMedia(ctx, bot.Media{Message: a, Name: "again", At: now}, []byte("newer")); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		files, err := os.ReadDir(filepath.Join(dir, mediaFolder))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	all, err := db.Media(ctx, []int64{b, a})
	if err != nil || len(all) != 2 || all[1].Name != "again" || count() != 2 {
		t.Fatalf("%+v, %v, %d files", all, err, count())
	}
	if data, err := all[1].Read(); string(data) != "newer" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	const ofA = "agent:main:x:direct:a"
	if gone, err := db.Forget(ctx, ofA, now); gone || err != nil || count() != 2 {
		t.Errorf("a message waits, and: %v, %v, %d files", gone, err, count())
	}
	end(t, db, bot.Ending{Accepted: a, Session: ofA, How: bot.Silent, At: now})
	if gone, err := db.Forget(ctx, ofA, now); !gone || err != nil {
		t.Fatal(gone, err)
	}
	all, err = db.Media(ctx, []int64{a, b})
	if err != nil || len(all) != 1 || all[0].Message != b || count() != 1 {
		t.Errorf("%+v, %v, %d files are left", all, err, count())
	}
}

// A deletion that the store does not take leaves rows and files as they were.
func TestFilesStayWithTheirRows(t *testing.T) {
	d := open(t, t.TempDir())
	row, _, err := d.Accept(t.Context(), hello("1"), mainSession, "main", noon)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if err := d.KeepMedia(t.Context(), bot.Media{Message: row.ID, N: n, Name: "f", At: noon}, []byte("kept")); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.main.write(t.Context(), "a disk that fails in the middle", func(t *tx) error {
		_, err := t.exec(`CREATE TRIGGER fails BEFORE DELETE ON media WHEN old.n = 1 BEGIN SELECT raise(ABORT, 'no'); END`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.ForgetMedia(t.Context(), mainSession); err == nil {
		t.Fatal("nothing failed")
	}
	all, err := d.Media(t.Context(), []int64{row.ID})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
	for _, m := range all {
		if _, err := m.Read(); err != nil {
			t.Errorf("file %d: %v", m.N, err)
		}
	}
}
