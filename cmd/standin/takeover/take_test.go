package takeover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"standin/fallback"
	"standin/fallback/provider"
	"standin/store"
)

var noon = time.UnixMilli(1767614400000)

// folder is an older state folder of testdata, unpacked.
type folder struct {
	dir      string
	readOnly bool
	creds    *store.Credentials
	want     map[string]string // told, stored, files
	secrets  []string          // all that the files hold
}

var secretMark = regexp.MustCompile(`s3cret-[a-z-]*[a-z]`)

func unpack(t *testing.T, path string) folder {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := folder{dir: t.TempDir(), want: map[string]string{}}
	f.creds = store.OpenCredentials(store.Options{Dir: f.dir})
	t.Cleanup(func() { _ = f.creds.Close() })
	write := func(name string, do func(path string) error) {
		path := filepath.Join(f.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := do(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range a.Files {
		switch file.Name {
		case "told", "stored", "files":
			f.want[file.Name] = string(file.Data)
			continue
		}
		f.secrets = append(f.secrets, secretMark.FindAllString(string(file.Data), -1)...)
		write(file.Name, func(path string) error { return os.WriteFile(path, file.Data, 0o644) })
	}
	for line := range strings.Lines(string(a.Comment)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "link "):
			write(words[1], func(path string) error { return os.Symlink(filepath.Join(f.dir, words[2]), path) })
		case strings.HasPrefix(line, "store "):
			f.secrets = append(f.secrets, secretMark.FindAllString(line, -1)...)
			one := store.Credential{ID: fallback.ProfileID(words[2]), Type: fallback.CredentialType(words[3]), Secret: provider.NewKey(words[4])}
			if err := f.creds.PutCredential(t.Context(), fallback.AgentID(words[1]), one); err != nil {
				t.Fatal(err)
			}
		case line == "read-only\n":
			f.readOnly = true
		}
	}
	return f
}

func (f folder) job() Job {
	j := Job{Vault: f.creds, Write: true, Own: true, Who: "kim", Now: noon,
		Named: func(p fallback.ProfileID) bool { return p == "named:env" }}
	if f.readOnly { // a mode would not stop root, who may run this
		j.rename = func(from, to string) error {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EROFS}
		}
	}
	return j
}

func (f folder) take(t *testing.T, j Job) []Outcome {
	t.Helper()
	sources, err := Find(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	return j.Take(t.Context(), sources)
}

func told(list []Outcome) string {
	var b strings.Builder
	for _, o := range list {
		var parts []string
		say := func(what string, ids []string) {
			if len(ids) > 0 {
				parts = append(parts, what+" "+strings.Join(ids, " "))
			}
		}
		say("taken", o.Taken)
		say("same", o.Same)
		say("kept", o.Kept)
		for _, r := range o.Refused {
			parts = append(parts, fmt.Sprintf("refused %s: %s (%s)", r.Entry, r.Why, r.Mend))
		}
		if o.Err != nil {
			parts = append(parts, "left: "+o.Err.Error())
		}
		if parts == nil {
			parts = append(parts, "nothing")
		}
		if o.Stays != nil {
			parts = append(parts, "stays: "+o.Stays.Error())
		}
		if o.Backup != "" {
			parts = append(parts, "now "+filepath.Base(o.Backup))
		}
		fmt.Fprintf(&b, "%s %s: %s\n", o.Agent, filepath.Base(o.Path), strings.Join(parts, "; "))
	}
	return b.String()
}

// stored is all that the stores of the folder hold, as text.
func (f folder) stored(t *testing.T) string {
	t.Helper()
	var lines []string
	agents, err := f.creds.Agents()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		list, err := f.creds.List(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		states, err := f.creds.States(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, one := range list {
			line := fmt.Sprintf("%s %s %s %s", a, one.ID, one.Type, one.Secret.Reveal())
			if d := states[one.ID].Disabled; d.Active(noon) {
				line += fmt.Sprintf(" disabled %s", d.Reason)
			}
			lines = append(lines, line)
			seen[one.Provider] = true
		}
		for p := range seen {
			if ids, owner, found, err := f.creds.Order(t.Context(), a, p); err != nil {
				t.Fatal(err)
			} else if found && owner == a {
				lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s order %s: %s", a, p, strings.Trim(fmt.Sprint(ids), "[]")), " "))
			}
		}
	}
	slices.SortFunc(lines, func(a, b string) int {
		if x, y := strings.Contains(a, " order "), strings.Contains(b, " order "); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return strings.Join(append(lines, ""), "\n")
}

// files lists the folder without the databases.
func (f folder) files(t *testing.T) (names []string, texts string) {
	t.Helper()
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), ".sqlite") && !strings.HasSuffix(d.Name(), ".bak") {
			return err
		}
		rel, _ := filepath.Rel(f.dir, path)
		names = append(names, rel)
		data, err := os.ReadFile(path)
		texts += string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, texts
}

// Older folders of every shape are taken over or refused with a clear line, and
// nothing is lost: each secret that was there before is stored or still in a
// file after (failover.md 21.C.3, 21.C.4).
func TestOlderFoldersAreTakenOverOrRefusedAndNothingIsLost(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 12 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			f := unpack(t, path)
			before := f.stored(t)
			dry := f.job()
			dry.Write = false
			f.take(t, dry)
			if diff := cmp.Diff(before, f.stored(t)); diff != "" {
				t.Errorf("only to look changed the store: %s", diff)
			}

			out := f.take(t, f.job())
			got := told(out)
			if diff := cmp.Diff(f.want["told"], got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			stored := f.stored(t)
			if diff := cmp.Diff(f.want["stored"], stored); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			names, texts := f.files(t)
			if diff := cmp.Diff(f.want["files"], strings.Join(append(names, ""), "\n")); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			for _, s := range f.secrets {
				if !strings.Contains(stored+texts, s) {
					t.Errorf("%s is lost", s)
				}
				if strings.Contains(got, s) {
					t.Errorf("%s is said aloud", s)
				}
			}
			for _, o := range out {
				for _, name := range []string{o.Backup, o.Saved} {
					if info, err := os.Stat(name); name != "" && (err != nil || info.Mode().Perm() != 0o600) {
						t.Errorf("%s: %v %v", name, info.Mode(), err)
					}
				}
			}

			// Once more: what is done stays done.
			f.take(t, f.job())
			if diff := cmp.Diff(stored, f.stored(t)); diff != "" {
				t.Errorf("a second time changed the store: %s", diff)
			}
			if lost, err := f.job().Lost(t.Context(), f.dir); err != nil || len(lost) > 0 {
				t.Errorf("called lost after the import: %s %v", told(lost), err)
			}
		})
	}
}

// forgetful says that it has stored what it has not.
type forgetful struct{ *store.Credentials }

func (forgetful) TakeIn(context.Context, fallback.AgentID, store.Incoming) ([]fallback.ProfileID, error) {
	return nil, nil
}

// broken fails between write and commit.
type broken struct{ *store.Credentials }

func (broken) TakeIn(context.Context, fallback.AgentID, store.Incoming) ([]fallback.ProfileID, error) {
	return nil, errors.New("the disk is full")
}

// busy is a store beside which somebody else writes to the file.
type busy struct {
	*store.Credentials
	path string
}

func (b busy) TakeIn(ctx context.Context, a fallback.AgentID, in store.Incoming) ([]fallback.ProfileID, error) {
	if err := os.WriteFile(b.path, []byte(`{"late":{"apiKey":"s3cret-late"}}`), 0o600); err != nil {
		return nil, err
	}
	return b.Credentials.TakeIn(ctx, a, in)
}

// What another program writes into the file meanwhile is not put away unread.
func TestAFileThatChangedMeanwhileStays(t *testing.T) {
	f := unpack(t, "testdata/02-flat.txtar")
	j := f.job()
	j.Vault = busy{f.creds, filepath.Join(f.dir, "agents/main/agent/auth-profiles.json")}
	out := told(f.take(t, j))
	want := "main auth-profiles.json: taken openrouter:default groq:default; stays: somebody wrote to it meanwhile; run doctor --fix once more\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	f.take(t, f.job())
	if got := f.stored(t); !strings.Contains(got, "s3cret-late") || !strings.Contains(got, "s3cret-groq") {
		t.Errorf("stored %q", got)
	}
}

// sc-201, IL-042: what is not found again, or was not stored at all, keeps its
// file, and the next run takes everything in.
func TestAFileStaysUntilItsRowsAreReadBack(t *testing.T) {
	for name, vault := range map[string]func(*store.Credentials) Vault{
		"not found again": func(c *store.Credentials) Vault { return forgetful{c} },
		"not committed":   func(c *store.Credentials) Vault { return broken{c} },
	} {
		f := unpack(t, "testdata/01-profiles.txtar")
		j := f.job()
		j.Vault = vault(f.creds)
		for _, o := range f.take(t, j) {
			if o.Err == nil || o.Backup != "" || o.Done() {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if names, _ := f.files(t); !slices.Contains(names, "agents/main/agent/auth-profiles.json") {
			t.Errorf("%s: the file is gone: %v", name, names)
		}
		f.take(t, f.job())
		if got := f.stored(t); got != f.want["stored"] {
			t.Errorf("%s: the second run stored %s", name, got)
		}
	}
}

// IL-236: an import whose backup is there and whose rows are not is done once
// more; what a person removed is not.
func TestAnImportWhoseRowsAreGoneIsReopened(t *testing.T) {
	f := unpack(t, "testdata/02-flat.txtar")
	f.take(t, f.job())
	if _, err := f.creds.RemoveCredential(t.Context(), "main", "groq:default", fallback.Deed{At: noon}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.creds.DeleteCredential(t.Context(), "main", "openrouter:default"); err != nil { // nobody's deed
		t.Fatal(err)
	}
	dry := f.job()
	dry.Write = false
	for _, j := range []Job{dry, f.job()} {
		lost, err := j.Lost(t.Context(), f.dir)
		want := "main auth-profiles.json.legacy-flat.1767614400000.bak: taken openrouter:default\n"
		if diff := cmp.Diff(want, told(lost)); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	if got, want := f.stored(t), "main openrouter:default api_key {\"key\":\"s3cret-or\"}\n"; got != want {
		t.Errorf("stored %q, want %q", got, want)
	}
	if lost, err := f.job().Lost(t.Context(), f.dir); err != nil || len(lost) > 0 {
		t.Errorf("still lost: %s %v", told(lost), err)
	}
}

// Another program's folder is read and left as it is, links included.
func TestAnotherProgramsFilesStay(t *testing.T) {
	for _, name := range []string{"01-profiles", "07-symlink"} {
		f, own := unpack(t, "testdata/"+name+".txtar"), t.TempDir()
		before, _ := f.files(t)
		creds := store.OpenCredentials(store.Options{Dir: own})
		j := f.job()
		j.Vault, j.Own = creds, false
		for _, o := range f.take(t, j) {
			if o.Err != nil || len(o.Taken) == 0 || o.Backup != "" {
				t.Errorf("%s: %s", name, told([]Outcome{o}))
			}
		}
		after, _ := f.files(t)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if all, err := creds.List(t.Context(), "main"); err != nil || len(all) == 0 {
			t.Errorf("%s: %v %v", name, all, err)
		}
		_ = creds.Close()
	}
}

// M15, sc-202, IL-011: a daemon takes oauth.json over on first use, keeps what is
// stored, and tells its log of the other files once, by name and with the command.
func TestFirstUse(t *testing.T) {
	f := unpack(t, "testdata/03-state-and-auth.txtar")
	if err := f.creds.PutCredential(t.Context(), "main", store.NewAPIKey("openai-codex:default", "s3cret-kept")); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	waiting := FirstUse(t.Context(), f.dir, f.creds, slog.New(slog.NewTextHandler(&log, nil)), noon)
	if len(waiting) != 2 { // auth-state.json brings nothing by itself
		t.Errorf("%v wait", waiting)
	}
	if got, want := f.stored(t), "main openai-codex:default api_key {\"key\":\"s3cret-kept\"}\n"; got != want {
		t.Errorf("stored %q, want %q", got, want)
	}
	for _, name := range []string{"auth-profiles.json", "auth.json"} {
		if strings.Count(log.String(), "agent/"+name) != 1 || !strings.Contains(log.String(), "standin doctor --fix") {
			t.Errorf("%s is not told once with its command:\n%s", name, &log)
		}
	}
	if names, _ := f.files(t); !slices.Contains(names, "credentials/oauth.json.sqlite-import.1767614400000.bak") {
		t.Errorf("oauth.json is not put away: %v", names)
	}
	fresh := unpack(t, "testdata/03-state-and-auth.txtar")
	FirstUse(t.Context(), fresh.dir, fresh.creds, slog.New(slog.DiscardHandler), noon)
	if got := fresh.stored(t); !strings.Contains(got, `openai-codex:default oauth {"access":"s3cret-a"`) {
		t.Errorf("stored %q", got)
	}
}
