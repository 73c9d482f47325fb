package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
	"standin/fallback/provider"
)

// "Existing entries win" (failover.md 21.C.4): the stored login and its windows
// stay as they are, what is missing comes in [IL-210].
func TestStoredCredentialsWinOverIncomingOnes(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", NewAPIKey("o:x", "newer"))
	window := fallback.Usage{Disabled: fallback.Window{Until: noon, Reason: fallback.Billing}}
	taken, err := c.TakeIn(t.Context(), "main", Incoming{
		Credentials: []Credential{NewAPIKey("o:x", "older"), NewAPIKey("p:default", "k")},
		Usage:       map[fallback.ProfileID]fallback.Usage{"o:x": window, "p:default": window},
		Order:       map[string][]fallback.ProfileID{"p": {"p:default", "p:other"}},
		Deed:        fallback.Deed{At: noon, Who: "kim", Via: "command line"},
	})
	if diff := cmp.Diff([]fallback.ProfileID{"p:default"}, taken); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	if got := profiles(t, c, "main", "o"); len(got) != 1 || got[0].Key != "newer" {
		t.Errorf("the stored one became %v", got)
	}
	states, err := c.States(t.Context(), "main")
	if _, has := states["o:x"]; err != nil || has || !states["p:default"].Disabled.Until.Equal(noon) {
		t.Errorf("routing state: %v %v", states, err)
	}
	ids, _, _, err := c.Order(t.Context(), "main", "p")
	if diff := cmp.Diff([]fallback.ProfileID{"p:default", "p:other"}, ids); err != nil || diff != "" {
		t.Errorf("order: %v %s", err, diff)
	}
	deeds, err := c.Deeds(t.Context(), "main", DeedFilter{})
	want := []fallback.Deed{{At: noon, Profile: "p:default", Provider: "p", What: fallback.DeedImport, Who: "kim", Via: "command line"}}
	if diff := cmp.Diff(want, deeds); err != nil || diff != "" {
		t.Errorf("record: %v %s", err, diff)
	}
	if taken, err := c.TakeIn(t.Context(), "main", Incoming{
		Credentials: []Credential{NewAPIKey("p:default", "k")}, Order: map[string][]fallback.ProfileID{"p": {"p:default"}},
	}); err != nil || taken != nil {
		t.Errorf("a second time takes %v %v", taken, err)
	}
	if again, _, _, err := c.Order(t.Context(), "main", "p"); err != nil || len(again) != 2 {
		t.Errorf("the order that was kept became %v (%v)", again, err)
	}
}

// Where secrets are sealed at rest, what comes in is.
func TestWhatComesInIsSealed(t *testing.T) {
	o := Options{Dir: t.TempDir(), Sealing: Sealing{Passphrase: provider.NewKey("open sesame"), PassphraseEnv: "P"}}
	c := OpenCredentials(o)
	defer c.Close()
	for range 2 { // the second time it is the stored one
		if _, err := c.TakeIn(t.Context(), "main", Incoming{
			Credentials: []Credential{NewAPIKey("p:default", "s3cret-p")},
			Usage:       map[fallback.ProfileID]fallback.Usage{"p:default": {LastUsed: noon}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := c.agents.existing(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if _, err := f.row(t.Context(), `SELECT secret FROM credentials`, nil, &text); err != nil || !isSealed(text) {
		t.Errorf("the row holds %s (%v)", text, err)
	}
	if list, err := c.List(t.Context(), "main"); err != nil || len(list) != 1 || list[0].Secret.Reveal() != `{"key":"s3cret-p"}` {
		t.Errorf("%v %v", list, err)
	}
	if states, err := c.States(t.Context(), "main"); err != nil || !states["p:default"].LastUsed.Equal(noon) {
		t.Errorf("%v %v", states, err)
	}
}

// One transaction: of several credentials, one of which cannot be, none comes in.
func TestHalfAFileIsNotTakenIn(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir).Credentials(nil)
	for _, bad := range []Credential{{ID: "a:b", Secret: provider.NewKey("{")}, {Secret: provider.NewKey("{}")}} {
		if _, err := c.TakeIn(t.Context(), "main", Incoming{Credentials: []Credential{NewAPIKey("p:default", "k"), bad}}); err == nil {
			t.Errorf("%s is taken", bad.ID)
		}
	}
	if all, err := c.List(t.Context(), "main"); err != nil || len(all) > 0 {
		t.Errorf("left behind: %v %v", all, err)
	}
	if _, err := c.TakeIn(t.Context(), "other", Incoming{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "agents", "other")); err == nil {
		t.Error("nothing made a file")
	}
}

// [IL-042] "Read-back verification inside the transaction": a row that reads
// otherwise than it was written ends the whole import.
func TestARowThatReadsOtherwiseKeepsNothing(t *testing.T) {
	c := open(t, t.TempDir()).Credentials(nil)
	put(t, c, "main", NewAPIKey("x:x", "x"))
	f, err := c.agents.owned(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	err = f.write(t.Context(), "fault", func(t *tx) error {
		_, err := t.exec(`CREATE TRIGGER fault AFTER INSERT ON credentials WHEN new.profile = 'p:default' BEGIN
			UPDATE credentials SET secret = '{}' WHERE profile = new.profile; END`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := c.TakeIn(t.Context(), "main", Incoming{Credentials: []Credential{NewAPIKey("o:x", "k"), NewAPIKey("p:default", "k")}}); err == nil || taken != nil {
		t.Errorf("taken %v", taken)
	}
	if all, err := c.List(t.Context(), "main"); err != nil || len(all) != 1 {
		t.Errorf("%d rows are left (%v), want the one that was there", len(all), err)
	}
}

// The database of a running OpenClaw is read without leaving anything beside it.
func TestOpenClawsDatabaseIsReadWithoutTouchingIt(t *testing.T) {
	for name, mode := range map[string]string{"closed": "", "in use": "_journal_mode=WAL"} {
		path := filepath.Join(t.TempDir(), OpenClawFile)
		db, err := sql.Open("sqlite3", dsn(path, mode))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`CREATE TABLE auth_profile_store (store_key TEXT PRIMARY KEY, store_json TEXT NOT NULL, updated_at INTEGER)`,
			`INSERT INTO auth_profile_store VALUES ('primary', '{"version":1,"profiles":{}}', 1)`,
		} {
			if _, err := db.ExecContext(t.Context(), line); err != nil {
				t.Fatal(err)
			}
		}
		if name == "closed" {
			_ = db.Close()
		}
		before := entries(t, filepath.Dir(path))
		profiles, state, err := OpenClawCredentials(t.Context(), path)
		if err != nil || string(profiles) != `{"version":1,"profiles":{}}` || state != nil {
			t.Errorf("%s: %s %s %v", name, profiles, state, err)
		}
		if diff := cmp.Diff(before, entries(t, filepath.Dir(path))); diff != "" {
			t.Errorf("%s: the folder changed: %s", name, diff)
		}
		_ = db.Close()
	}
	other := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(other, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenClawCredentials(t.Context(), other); err == nil {
		t.Error("any file is read")
	}
}

// entries gives names, sizes and times of a folder.
func entries(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = info.ModTime()
	}
	return all
}

// A log that a killed process left stays as it is when somebody looks.
func TestStillLeavesTheLogOfADeadProcess(t *testing.T) {
	dir, dead := t.TempDir(), t.TempDir()
	d := open(t, dir)
	if err := d.Credentials(nil).PutCredential(t.Context(), "main", NewAPIKey("o:x", "k")); err != nil {
		t.Fatal(err)
	}
	if err := d.PutSession(t.Context(), SessionState{}); err != nil {
		t.Fatal(err)
	}
	paths, err := Databases(dir)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	for _, path := range paths { // as a kill -9 leaves them, without a lock
		rel, _ := filepath.Rel(dir, path)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dead, rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal"} {
			if err := copyFile(path+suffix, filepath.Join(dead, rel)+suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
	agent := filepath.Join(dead, "agents", "main", "agent")
	before := []map[string]time.Time{entries(t, dead), entries(t, agent)}
	at, done, err := Still(dead)
	if err != nil || at == dead {
		t.Fatal(at, err)
	}
	c := ReadCredentials(Options{Dir: at}, nil)
	if all, err := c.List(t.Context(), "main"); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
	_ = c.Close()
	done()
	if diff := cmp.Diff(before, []map[string]time.Time{entries(t, dead), entries(t, agent)}); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(at); err == nil {
		t.Error("the copy stays")
	}
	if Owner(dir) != os.Getpid() || Owner(dead) != 0 {
		t.Errorf("owners: %d and %d", Owner(dir), Owner(dead))
	}
}
