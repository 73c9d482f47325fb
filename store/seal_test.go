package store

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"standin/fallback"
	"standin/fallback/provider"
)

// canary is a secret that must not be found anywhere in a sealed state.
const canary = "sk-canary-5f1e0c7b"

// holds tells which files under dir hold the text.
func holds(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func sealings(t *testing.T) map[string]Sealing {
	path := filepath.Join(t.TempDir(), "keys", "credentials.key")
	if made, err := MakeKeyFile(path); err != nil || !made {
		t.Fatal(made, err)
	}
	return map[string]Sealing{
		"key file":   {KeyFile: path},
		"passphrase": {Passphrase: provider.NewKey("correct horse"), PassphraseEnv: "STANDIN_PASSPHRASE"},
	}
}

// Rows of before are migrated, read back before the old ones go, and nothing of
// them is left in the files; unsealing is the way back. Unknown fields survive
// both [M16].
func TestSealAndUnsealKeepEverySecretAndLeaveNoTrace(t *testing.T) {
	for name, s := range sealings(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			secret := `{"access":"` + canary + `","refresh":"r","enterpriseUrl":"kept"}`
			plain := OpenCredentials(Options{Dir: dir})
			for _, a := range []fallback.AgentID{"main", "ops"} {
				put(t, plain, a, Credential{ID: "openai:me", Type: fallback.OAuth, Secret: provider.NewKey(secret)})
			}
			if err := plain.Close(); err != nil {
				t.Fatal(err)
			}
			n, err := Reseal(t.Context(), Options{Dir: dir, Sealing: s}, s, byAlice)
			if err != nil || n.Secrets != 2 {
				t.Fatalf("sealed %+v: %v", n, err)
			}
			if names := holds(t, dir, canary); names != nil {
				t.Errorf("the secret still stands in %v", names)
			}
			if n, err := Reseal(t.Context(), Options{Dir: dir, Sealing: s}, s, byAlice); err != nil || n.Secrets != 0 {
				t.Errorf("a second time: %+v, %v", n, err)
			}
			read := func(s Sealing) string {
				t.Helper()
				c := OpenCredentials(Options{Dir: dir, Sealing: s})
				defer c.Close()
				one, _, found, err := c.Get(t.Context(), "ops", "openai:me")
				if err != nil || !found {
					t.Fatal(found, err)
				}
				return one.Secret.Reveal()
			}
			if got := read(s); got != secret {
				t.Errorf("sealed secret reads as another")
			}
			if n, err := Reseal(t.Context(), Options{Dir: dir, Sealing: s}, Sealing{}, byAlice); err != nil || n.Secrets != 2 {
				t.Fatalf("unsealed %+v: %v", n, err)
			}
			if got := read(Sealing{}); got != secret {
				t.Errorf("unsealed secret reads as another")
			}
		})
	}
}

// A log that somebody reads keeps its pages, and with them the secrets of before:
// that is said, and the next run ends what this one has begun.
func TestSealingWhileSomebodyReads(t *testing.T) {
	dir, s := t.TempDir(), sealings(t)["key file"]
	plain := OpenCredentials(Options{Dir: dir})
	put(t, plain, "main", Credential{ID: "openai:me", Type: fallback.OAuth, Secret: provider.NewKey(`{"access":"` + canary + `"}`)})
	path, err := plain.File("main")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := sql.Open("sqlite3", dsn(path, "mode=ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reads, err := reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := reads.QueryRowContext(t.Context(), `SELECT profile FROM credentials`).Scan(new(string)); err != nil {
		t.Fatal(err)
	}
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	n, err := Reseal(t.Context(), Options{Dir: dir, Sealing: s}, s, byAlice)
	if n.Secrets != 1 || err == nil || !strings.Contains(err.Error(), "run it once more") || strings.Contains(err.Error(), "stay as they were") {
		t.Errorf("%+v, %v", n, err)
	}
	if names := holds(t, dir, canary); names == nil {
		t.Error("nothing of before is left, so this shows nothing")
	}
	if err := errors.Join(reads.Rollback(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	if n, err := Reseal(t.Context(), Options{Dir: dir, Sealing: s}, s, byAlice); err != nil || n.Secrets != 0 {
		t.Errorf("once more: %+v, %v", n, err)
	}
	if names := holds(t, dir, canary); names != nil {
		t.Errorf("the secret still stands in %v", names)
	}
}

// A refresh swaps a sealed secret as it does a plain one: by what it is, not by
// how it is kept.
func TestARefreshSwapsASealedSecret(t *testing.T) {
	for name, s := range sealings(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := OpenCredentials(Options{Dir: dir, Sealing: s})
			defer c.Close()
			was := provider.NewKey(`{"access":"` + canary + `","refresh":"r1"}`)
			put(t, c, "main", Credential{ID: "openai:me", Type: fallback.OAuth, Secret: was})
			now := Credential{ID: "openai:me", Type: fallback.OAuth, Secret: provider.NewKey(`{"access":"` + canary + `","refresh":"r2"}`)}
			for i, want := range []bool{true, false} {
				if done, err := c.SwapCredential(t.Context(), "main", was, now); err != nil || done != want {
					t.Errorf("swap %d: %v, %v", i+1, done, err)
				}
			}
			if one, _, _, err := c.Get(t.Context(), "main", "openai:me"); err != nil || one.Secret.Reveal() != now.Secret.Reveal() {
				t.Errorf("stored: %v", err)
			}
			if names := holds(t, dir, canary); names != nil {
				t.Errorf("the secret stands in %v", names)
			}
		})
	}
}

// A key that is missing, another one, and a row that was moved or changed each
// give an error that says which, where and what to do, and no secret.
func TestWhatDoesNotOpenSaysWhy(t *testing.T) {
	kinds := sealings(t)
	other := filepath.Join(t.TempDir(), "other.key")
	if _, err := MakeKeyFile(other); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open.key")
	if _, err := MakeKeyFile(open); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	words := filepath.Join(t.TempDir(), "words.key")
	if err := os.WriteFile(words, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sealed, read Sealing
		spoil        string
		want         []string
	}{
		"config names no key": {sealed: kinds["key file"], want: []string{"openai:work", "names no key", "auth.encryption"}},
		"file is missing":     {sealed: kinds["key file"], read: Sealing{KeyFile: "/nowhere/credentials.key"}, want: []string{"/nowhere/credentials.key", "does not exist", "put it back"}},
		"another file":        {sealed: kinds["key file"], read: Sealing{KeyFile: other}, want: []string{"openai:work", "another key than " + other, "put the key of before back"}},
		"file for all to see": {sealed: kinds["key file"], read: Sealing{KeyFile: open}, want: []string{"chmod 600 " + open}},
		"no key in the file":  {sealed: kinds["key file"], read: Sealing{KeyFile: words}, want: []string{words, "holds no key"}},
		"another passphrase":  {sealed: kinds["passphrase"], read: Sealing{Passphrase: provider.NewKey("wrong"), PassphraseEnv: "PASS"}, want: []string{"openai:work", "the variable PASS"}},
		"passphrase not set":  {sealed: kinds["passphrase"], read: Sealing{PassphraseEnv: "PASS"}, want: []string{"PASS", "is not set"}},
		"file for passphrase": {sealed: kinds["passphrase"], read: kinds["key file"], want: []string{"sealed with a passphrase", "names a key file"}},
		"row was moved":       {sealed: kinds["key file"], read: kinds["key file"], spoil: `UPDATE credentials SET profile = 'openai:other'`, want: []string{"openai:other", "changed or moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writer := OpenCredentials(Options{Dir: dir, Sealing: c.sealed})
			put(t, writer, "main", NewAPIKey("openai:work", canary))
			if c.spoil != "" {
				f, err := writer.agents.owned(t.Context(), "main")
				if err == nil {
					err = f.write(t.Context(), "spoil", func(x *tx) error { _, err := x.exec(c.spoil); return err })
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			reader := OpenCredentials(Options{Dir: dir, Sealing: c.read})
			defer reader.Close()
			_, err := reader.Profiles(t.Context(), "main", "openai")
			var seal *SealError
			if !errors.As(err, &seal) {
				t.Fatalf("error: %v", err)
			}
			if errors.As(reader.Check(t.Context()), &seal); seal == nil {
				t.Error("a check finds nothing")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), canary) {
				t.Error("the error tells the secret")
			}
			if ids, err := reader.IDs(t.Context(), "main", "openai"); err != nil || len(ids) != 1 {
				t.Errorf("ids need no key: %v, %v", ids, err)
			}
		})
	}
}

// Who seals must be alone: a daemon that runs holds the key of before.
func TestNobodySealsUnderARunningDaemon(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	var locked *LockedError
	if _, err := Reseal(t.Context(), Options{Dir: dir}, sealings(t)["key file"], byAlice); !errors.As(err, &locked) {
		t.Errorf("error: %v", err)
	}
}
