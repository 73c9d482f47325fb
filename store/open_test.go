package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// noon is the moment at which the stories of these tests begin.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

const mainSession fallback.SessionID = "agent:main:main"

// open opens a state directory as the daemon does, until the test ends.
func open(t testing.TB, dir string) *DB {
	t.Helper()
	d, err := Open(context.Background(), Options{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// hello is a message of alice in a Slack room.
func hello(id string) channels.Inbound {
	return channels.Inbound{ID: id, To: room("C1"), Chat: channels.Room,
		From: channels.User{ID: "U1", Name: "alice"}, Text: "hello", Mentioned: true, At: noon}
}

func room(conversation string) channels.Address {
	return channels.Address{Channel: "slack", Conversation: conversation}
}

// accept stores the message in the main session and gives its row.
func accept(t testing.TB, d *DB, in channels.Inbound) bot.Accepted {
	t.Helper()
	row, fresh, err := d.Accept(context.Background(), in, mainSession, "main", noon)
	if err != nil || !fresh {
		t.Fatalf("accept %s: fresh=%v err=%v", in.ID, fresh, err)
	}
	return row
}

// raw runs statements on the file behind the store's back.
func raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// overwrite damages the bytes from begin to end.
func overwrite(t testing.TB, path string, begin, end int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", int(end-begin))), begin); err != nil {
		t.Fatal(err)
	}
}

// A file that cannot serve as a store is named together with the mend, and
// nothing in it is changed.
func TestWhatCannotServeIsRefusedAndLeftAlone(t *testing.T) {
	ours := func(t *testing.T, path string, statements ...string) {
		d, err := Open(t.Context(), Options{Dir: filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 300 { // some pages to damage
			accept(t, d, hello(strings.Repeat("x", 20)+string(rune('a'+i%26))+string(rune('a'+i/26))))
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		raw(t, path, append(statements, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE")...)
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		says []string
	}{
		{"the database of another program", func(t *testing.T, path string) {
			raw(t, path, "CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('x')")
		}, []string{"another program", "move it away"}},
		{"a newer schema", func(t *testing.T, path string) {
			ours(t, path, "PRAGMA user_version = 999")
		}, []string{"newer standin (schema 999", "newer version"}},
		{"a text file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("dear diary, this is no database at all"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"not an SQLite database", "move it away"}},
		{"a file cut short in its first bytes", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("SQLite"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"not an SQLite database"}},
		{"a damaged schema", func(t *testing.T, path string) {
			ours(t, path)
			overwrite(t, path, 200, 4096)
		}, []string{"is damaged", "backup", ".recover"}},
		{"a damaged page that no start reads", func(t *testing.T, path string) {
			ours(t, path)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, info.Size()-4096, info.Size())
		}, []string{"is damaged", "backup", ".recover"}},
		{"a folder in its place", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, []string{"is a folder"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), mainFile)
			c.make(t, path)
			before, _ := os.ReadFile(path)
			for range 2 { // a second try finds the same, and no lock in its way
				d, err := Open(t.Context(), Options{Dir: filepath.Dir(path)})
				if err == nil {
					_ = d.Close()
					t.Fatal("it was opened")
				}
				var fe *FileError
				if !errors.As(err, &fe) || fe.Path != path {
					t.Errorf("error %v does not name %s", err, path)
				}
				for _, s := range c.says {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("error does not say %q: %v", s, err)
					}
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestAFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file in place of the folder: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "writable") {
		t.Errorf("a folder without write permission: %v", err)
	}
}

// A start that was killed before its first transaction leaves an empty file, or
// one with a header and no tables: the next start goes on from there.
func TestAnInterruptedFirstStartIsTakenUp(t *testing.T) {
	empty, header := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, mainFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	raw(t, filepath.Join(header, mainFile), "PRAGMA journal_mode = WAL", "VACUUM")
	for _, dir := range []string{empty, header} {
		accept(t, open(t, dir), hello("1"))
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	_, err := Open(t.Context(), Options{Dir: dir})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID == "" || !strings.Contains(err.Error(), "STANDIN_STATE_DIR") {
		t.Fatalf("second owner: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// State lives in files of mode 0600 in folders of mode 0700 [D15].
func TestOnlyTheOwnerMayRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d := open(t, dir)
	accept(t, d, hello("1"))
	if err := d.Credentials(nil).PutCredential(t.Context(), "main", NewAPIKey("openai:default", "k")); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		seen++
		return nil
	})
	if err != nil || seen < 10 {
		t.Fatalf("walked %d files: %v", seen, err)
	}

	loose := filepath.Join(dir, mainFile)
	if err := errors.Join(d.Close(), os.Chmod(loose, 0o644)); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if info, _ := os.Stat(loose); info.Mode().Perm() != 0o600 {
		t.Errorf("a loose mode stays: %o", info.Mode().Perm())
	}
}

func TestPathsMayHoldAnyCharacter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "what? 100% #1 &mode=memory ü")
	accept(t, open(t, dir), hello("1"))
	if _, err := os.Stat(filepath.Join(dir, mainFile)); err != nil {
		t.Error(err)
	}
}

// A command line tool reads beside a running daemon, and without one.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenReadOnly(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "start the daemon once") {
		t.Errorf("nothing there yet: %v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("looking made %v", names)
	}
	d := open(t, dir)
	accept(t, d, hello("1"))
	look := func() {
		t.Helper()
		r, err := OpenReadOnly(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if rows, err := r.Unended(t.Context()); err != nil || len(rows) != 1 {
			t.Errorf("read %d rows: %v", len(rows), err)
		}
		if _, _, err := r.Accept(t.Context(), hello("2"), mainSession, "main", noon); !errors.Is(err, ErrReadOnly) {
			t.Errorf("write: %v", err)
		}
		if err := r.Credentials(nil).PutCredential(t.Context(), "main", NewAPIKey("openai:default", "k")); !errors.Is(err, ErrReadOnly) {
			t.Errorf("write credential: %v", err)
		}
		r.Journal().Record(t.Context(), fallback.Step{})
	}
	look()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	look()
	raw(t, filepath.Join(dir, mainFile), "PRAGMA user_version = 999")
	if _, err := OpenReadOnly(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("newer schema: %v", err)
	}
}

// A full disk loses the write that did not fit, says so, and nothing else.
func TestAFullDisk(t *testing.T) {
	d := open(t, t.TempDir())
	accept(t, d, hello("1"))
	limit := func(pages string) {
		if _, err := d.main.w.conn.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // SQLite takes the present size
	big := hello("2")
	big.Text = strings.Repeat("long ", 100_000)
	_, _, err := d.Accept(t.Context(), big, mainSession, "main", noon)
	var fe *FileError
	if !errors.As(err, &fe) || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), mainFile) {
		t.Fatalf("full disk: %v", err)
	}
	if rows, err := d.Unended(t.Context()); err != nil || len(rows) != 1 {
		t.Errorf("after the failed write: %d rows, %v", len(rows), err)
	}
	limit("100000")
	if _, fresh, err := d.Accept(t.Context(), big, mainSession, "main", noon); err != nil || !fresh {
		t.Errorf("with space again: fresh=%v %v", fresh, err)
	}
}
