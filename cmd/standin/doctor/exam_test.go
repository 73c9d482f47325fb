package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
	"standin/store"
)

// messy is a state folder with something wrong in each part, and a folder of
// OpenClaw's beside it.
func messy(t *testing.T) (dir, from string) {
	t.Helper()
	dir, from = filepath.Join(t.TempDir(), "state"), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	creds := db.Credentials(nil)
	if err := creds.PutCredential(t.Context(), "main", store.NewAPIKey("p:default", "s3cret-p")); err != nil {
		t.Fatal(err)
	}
	billing := func(u fallback.Usage) fallback.Usage {
		u.Disabled = fallback.Window{Until: noon.Add(time.Hour), Reason: fallback.Billing}
		return u
	}
	if _, _, err := creds.Update(t.Context(), "main", "p:default", billing); err != nil {
		t.Fatal(err)
	}
	for key, sel := range map[string]fallback.Selection{
		"agent:main:stale": {Model: model("p/b"), Source: fallback.Auto, Origin: model("p/old"), Told: fallback.Told{Selected: model("p/old"), Active: model("p/b")}},
		"agent:main:kim":   {Model: model("p/b"), Source: fallback.ByUser},
	} {
		s := store.SessionState{Selection: sel}
		s.Key, s.Agent = fallback.SessionID(key), "main"
		if err := db.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "config.yaml"), "agents: {defaults: {model: {primary: p/a, fallbacks: [p/b, lonely/c]}}}\nmodels: {providers: {p: {baseUrl: http://127.0.0.1:9/v1, apiKey: x}, lonely: {baseUrl: https://lonely.example.com/v1}}}\n")
	write(filepath.Join(dir, "agents/main/agent/auth-profiles.json"), `{"version":1,"profiles":{"q:default":{"type":"api_key","provider":"q","key":"s3cret-q"}}}`)
	write(filepath.Join(dir, "credentials/oauth.json"), `{"r":{"access":"s3cret-a","refresh":"s3cret-r","expires":1}}`)
	for path, mode := range map[string]fs.FileMode{"": 0o755, "standin.sqlite": 0o644, "credentials/oauth.json": 0o666} {
		if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(from, "openclaw.json"), `{ agents: { defaults: { model: "p/z" } }, models: { providers: { z: { apiKey: "s3cret-z" } } }, channels: { discord: { token: "s3cret.discord.token" } }, wizard: { lastRun: 1 } }`)
	write(filepath.Join(from, "agents/coder/agent/auth.json"), `{"w":{"type":"oauth","access":"s3cret-w","refresh":"s3cret-x"}}`)
	return dir, from
}

func exam1(dir, from string) Exam {
	return Exam{Dir: dir, Config: filepath.Join(dir, "config.yaml"), From: from, Getenv: func(string) string { return "" }, Who: "kim", Now: noon}
}

func examined(t *testing.T, e Exam) Report {
	t.Helper()
	r, err := e.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// print of a folder: every name with its mode, times and content.
func print(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %x", info.Size(), sha256.Sum256(data))
		}
		rel, _ := filepath.Rel(dir, path)
		all[rel] = line
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// G22: "a dry inspect must not write": no file, no time, nothing beside a
// database, also when a killed process left its log there.
func TestALookChangesNothing(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir, from := messy(t)
		if killed {
			leaveLog(t, dir)
		}
		before, other := print(t, dir), print(t, from)
		r := examined(t, exam1(dir, from))
		if r.Errors == 0 || r.Warnings == 0 || r.Mended != 0 {
			t.Errorf("%d errors, %d warnings, %d mended: the test looks at nothing", r.Errors, r.Warnings, r.Mended)
		}
		if diff := cmp.Diff(before, print(t, dir)); diff != "" {
			t.Errorf("killed %v: the folder changed:\n%s", killed, diff)
		}
		if diff := cmp.Diff(other, print(t, from)); diff != "" {
			t.Errorf("the other folder changed:\n%s", diff)
		}
	}
}

// leaveLog gives the main database a log, as a process leaves it that was killed.
func leaveLog(t *testing.T, dir string) {
	t.Helper()
	db, err := store.OpenBeside(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s := store.SessionState{}
	s.Key, s.Agent = "agent:main:late", "main"
	if err := db.PutSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "standin.sqlite-wal")
	wal, err := os.ReadFile(path)
	if err != nil || len(wal) == 0 {
		t.Fatal("no log to leave", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, wal, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "standin.lock"), []byte("999999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The whole of it: what is told, what --fix mends, and that nothing is left for a
// second --fix.
func TestFixMends(t *testing.T) {
	dir, from := messy(t)
	e := exam1(dir, from)
	e.Fix = true
	r := examined(t, e)
	var mended, left []string
	for _, f := range r.Findings {
		line := strings.ReplaceAll(string(f.Area)+": "+f.line(), from, "FROM")
		if f.Mended {
			mended = append(mended, line)
		} else {
			left = append(left, string(f.Level)+" "+line)
		}
	}
	wantMended := []string{
		"files: .: had the mode 0755, and now has 0700",
		"files: credentials/oauth.json: had the mode 0666, and now has 0600",
		"files: standin.sqlite: had the mode 0644, and now has 0600",
		"older files: FROM/agents/coder/agent/auth.json: w:default taken over",
		"older files: FROM/openclaw.json: z:default taken over, and no part of the config any more",
		"older files: secrets/discord.token: holds channels.discord.token now; the config refers to it",
		"older files: config.yaml.new: written beside the config that is there, which stays; compare the two and take what you want",
		"older files: agents/main/agent/auth-profiles.json: q:default taken over; the file is now auth-profiles.json.sqlite-import.1767614400000.bak",
		"older files: credentials/oauth.json: r:default taken over; the file is now oauth.json.sqlite-import.1767614400000.bak",
		"sessions: agent:main:stale: stayed on the stand-in p/b, and has its own model again",
	}
	if diff := cmp.Diff(wantMended, mended); diff != "" {
		t.Errorf("mended (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"error credentials: lonely: has no credential, so lonely/c cannot stand in for agent main",
		"warning credentials: p:default: rests for another 1 h 0 min",
		"note older files: FROM/openclaw.json: wizard has no counterpart",
		"warning older files: FROM/agents/coder/agent/auth.json: w:default is a login that renews itself: two programs that do so lock each other out",
	} {
		level, text, _ := strings.Cut(want, " ")
		ok := false
		for _, line := range left {
			ok = ok || strings.Contains(line, text) && (strings.HasPrefix(line, level) || level == "error")
		}
		if !ok {
			t.Errorf("not told: %s\nbut %q", want, left)
		}
	}

	db, err := store.OpenReadOnly(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	stale, err := db.Selection(t.Context(), "agent:main:stale")
	if err != nil || !stale.Model.IsZero() || stale.Told.Active != model("p/b") {
		t.Errorf("the stale override became %+v (%v)", stale, err)
	}
	if kim, err := db.Selection(t.Context(), "agent:main:kim"); err != nil || kim.Model != model("p/b") || kim.Source != fallback.ByUser {
		t.Errorf("a person's choice became %+v (%v)", kim, err)
	}
	_ = db.Close()

	again := examined(t, e)
	if again.Mended != 0 {
		t.Errorf("a second --fix mends %q", said(again.Findings))
	}
	text, err := json.Marshal([]Report{r, again})
	if err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("a secret is said aloud: %s %v", text, err)
	}
}

// A config that is there is never overwritten, nor is the one beside it.
func TestAConfigIsNeverOverwritten(t *testing.T) {
	dir, from := messy(t)
	own, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(dir, "config.yaml.new")
	if err := os.WriteFile(beside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := exam1(dir, from)
	e.Fix = true
	r := examined(t, e)
	if got, _ := os.ReadFile(filepath.Join(dir, "config.yaml")); string(got) != string(own) {
		t.Error("the config was overwritten")
	}
	if got, _ := os.ReadFile(beside); string(got) != "mine" {
		t.Error("the file beside it was overwritten")
	}
	if !strings.Contains(strings.Join(said(r.Findings), "\n"), "error config.yaml.new: is there already and says something else; nothing was overwritten") {
		t.Errorf("%q", said(r.Findings))
	}
	if err := os.Remove(filepath.Join(dir, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	e.Config = ""
	r = examined(t, e)
	info, err := os.Stat(filepath.Join(dir, "config.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 || r.Config == "" {
		t.Errorf("where no config is, one is written: %v %v", err, said(r.Findings))
	}
}

// A damaged database is told with its name, and everything else goes on.
func TestADamagedDatabase(t *testing.T) {
	dir, _ := messy(t)
	path := filepath.Join(dir, "standin.sqlite")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r := examined(t, exam1(dir, ""))
	text := strings.Join(said(r.Findings), "\n")
	if !strings.Contains(text, "error standin.sqlite: is damaged") || !strings.Contains(text, "p:default: rests") {
		t.Errorf("%s", text)
	}
	if err := os.WriteFile(path, []byte("a letter to grandmother, and no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(said(examined(t, exam1(dir, "")).Findings), "\n"); !strings.Contains(text, "error standin.sqlite: is not an SQLite database") {
		t.Errorf("%s", text)
	}
}

// Providers are asked for the time with --online alone, and without a credential.
func TestTheClockIsComparedOnlineAlone(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "" || r.Method != http.MethodHead {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	dir, _ := messy(t)
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("agents: {defaults: {model: {primary: p/a, fallbacks: [dead/b]}}}\nmodels: {providers: {p: {baseUrl: "+server.URL+"/v1, apiKey: s3cret}, dead: {baseUrl: http://127.0.0.1:1/v1}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := exam1(dir, "")
	if examined(t, e); asked > 0 {
		t.Error("a provider was asked without --online")
	}
	e.Online = true
	text := strings.Join(said(examined(t, e).Findings), "\n")
	if !strings.Contains(text, "error clock: is ") || !strings.Contains(text, " behind that of p") || !strings.Contains(text, "warning dead: its server does not answer: ") {
		t.Errorf("%s", text)
	}
}

func TestAnEndedExamSaysSo(t *testing.T) {
	dir, _ := messy(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := exam1(dir, "").Examine(ctx); err == nil {
		t.Error("an exam that was cut short looks like a whole one")
	}
}

// Checks of other rooms are asked with the exam's word and told like our own.
func TestChecksOfOtherRooms(t *testing.T) {
	dir, _ := messy(t)
	e := exam1(dir, "")
	e.Extras = []Extra{func(_ context.Context, e Exam, at string) []Finding {
		return []Finding{{Area: Import, Level: Warning, What: fmt.Sprint("jobs, fix ", e.Fix, " ", at == dir)}}
	}}
	if text := strings.Join(said(examined(t, e).Findings), "\n"); !strings.Contains(text, "warning jobs, fix false true") {
		t.Errorf("%s", text)
	}
}

func TestReportForPeopleAndScripts(t *testing.T) {
	r := Report{State: "/s", Daemon: 7}
	r.add(
		Finding{Area: Machine, Level: Note, What: "a note", Mend: "sk-abcdefgh is masked"},
		Finding{Area: Files, Level: Warning, Where: "x", What: "was loose", Mended: true},
		Finding{Area: Files, Level: Warning, Where: "y", What: "is loose", Mend: "tighten it", Fixable: true},
		Finding{Area: Config, Level: Error, What: "is broken"},
	)
	r.close([]Area{Config, Files, Sessions, Databases})
	var people, script strings.Builder
	if err := r.Print(&people); err != nil {
		t.Fatal(err)
	}
	if err := r.Lint(&script); err != nil {
		t.Fatal(err)
	}
	const want = `State folder /s (process 7 runs on it)

Config
  WRONG   is broken

Files
  watch   y: is loose
          → tighten it
  mended  x: was loose

Machine
  note    a note
          → [secret] is masked

Nothing to say about databases and sessions.

1 thing is wrong, 1 thing to watch and 1 thing was mended. standin doctor --fix mends 1 of them.
`
	if diff := cmp.Diff(want, people.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("error: config: is broken\nwarning: files: y: is loose (tighten it)\nwarning: files: x: was loose\n", script.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none strings.Builder
	if err := (Report{State: "/s"}).Print(&none); err != nil || !strings.HasSuffix(none.String(), "\nAll is well.\n") {
		t.Errorf("%q %v", none.String(), err)
	}
}
