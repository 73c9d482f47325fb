package openclaw

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"standin/cmd/standin/config"
)

var update = flag.Bool("update", false, "write what is found into testdata; look at the difference")

func unpack(t *testing.T, a *txtar.Archive) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func nothingSet(string) string { return "" }

// Each openclaw.json becomes the config that stands beside it, each key without a
// counterpart is told, and no secret is in either.
func TestConversion(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 4 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Read(filepath.Join(unpack(t, a), "openclaw.json"))
			if err != nil {
				t.Fatal(err)
			}
			d.Settle(config.Reader{Getenv: nothingSet})
			got := map[string]string{"config.yaml": string(d.YAML())}
			for _, n := range d.Notes {
				line := n.Path + ": " + n.Why
				if n.Mend != "" {
					line += "; " + n.Mend
				}
				if n.Must {
					line = "MEND " + line
				}
				got["notes"] += line + "\n"
			}
			for _, s := range d.Secrets {
				got["secrets"] += fmt.Sprintf("%s → %s%s %d characters\n", s.Path, s.Profile, s.File, len(s.Key.Reveal()))
			}
			if strings.Contains(got["config.yaml"]+got["notes"], "s3cret") {
				t.Errorf("a secret is said aloud:\n%s", got)
			}
			for i, f := range a.Files {
				want, known := got[f.Name]
				if _, about := map[string]bool{"config.yaml": true, "notes": true, "secrets": true}[f.Name]; !about || !known && len(f.Data) == 0 {
					continue
				}
				if *update {
					a.Files[i].Data = []byte(want)
					continue
				}
				if diff := cmp.Diff(string(f.Data), want); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			// With its variables and secrets there, the reader accepts it, but for
			// what a person was told to mend.
			base := t.TempDir()
			for _, s := range d.Secrets {
				if s.File != "" {
					if err := os.MkdirAll(filepath.Join(base, "secrets"), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(base, filepath.FromSlash(s.File)), []byte(s.Key.Reveal()), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			set := func(name string) string {
				if strings.HasPrefix(name, "STANDIN_") || strings.HasPrefix(name, "OPENCLAW_") {
					return ""
				}
				return "value-of-" + name
			}
			_, faults := config.Reader{Getenv: set, Base: base}.Parse("config.yaml", d.YAML())
			for _, f := range faults {
				told := f.Warning
				for _, n := range d.Notes {
					told = told || n.Must && n.Path == f.Path
				}
				if !told {
					t.Errorf("the reader says: %s", f)
				}
			}
		})
	}
}

// "≤10 levels; relative to the including file; confined to config dir; cycle or
// missing: an error" [G4].
func TestIncludesThatCannotBe(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "x.json5")
	if err := os.WriteFile(outside, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := []txtar.File{}
	for i := range 13 {
		deep = append(deep, txtar.File{Name: fmt.Sprintf("f%d", i), Data: fmt.Appendf(nil, `{$include: "f%d"}`, i+1)})
	}
	for name, c := range map[string]struct {
		files []txtar.File
		want  string
	}{
		"itself":             {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{a: {$include: "b"}}`)}, {Name: "b", Data: []byte(`{$include: "./openclaw.json"}`)}}, `openclaw.json: it includes itself, by way of openclaw.json → b → openclaw.json$`},
		"missing":            {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "b"}`)}}, `/b: cannot be read: no such file or directory$`},
		"above":              {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "../b"}`)}}, `/b: cannot be read: path escapes from parent$`},
		"absolute":           {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "` + outside + `"}`)}}, `cannot be read: path escapes from parent$`},
		"too deep":           {append(deep, txtar.File{Name: "openclaw.json", Data: []byte(`{$include: "f0"}`)}), `\$include goes deeper than 10 levels$`},
		"a number":           {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: 7}`)}}, `\$include wants a path, or a list of paths$`},
		"broken":             {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "b"}`)}, {Name: "b", Data: []byte("{a: }")}}, `/b: line 1, column 5: a value is missing here; texts want quotes$`},
		"a list beside keys": {[]txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "b", c: 1}`)}, {Name: "b", Data: []byte("[]")}}, `keys beside \$include want an object from it$`},
	} {
		dir := unpack(t, &txtar.Archive{Files: c.files})
		_, err := Read(filepath.Join(dir, "openclaw.json"))
		var at *FileError
		if !errors.As(err, &at) || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	dir := unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "openclaw.json", Data: []byte(`{$include: "link"}`)}}})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "openclaw.json")); err == nil {
		t.Error("a link leads out of the folder")
	}
}
