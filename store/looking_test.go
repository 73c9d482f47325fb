package store

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// A command that only looks leaves the folder as it was, beside a daemon and
// without one: not even SQLite's own helper files appear.
func TestLookingLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	names := func() (all []string) {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			all = append(all, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	look := func() {
		t.Helper()
		before := names()
		r, err := OpenReadOnly(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		creds := ReadCredentials(Options{Dir: dir}, nil)
		for _, c := range []*Credentials{r.Credentials(nil), creds} {
			if list, err := c.Profiles(t.Context(), "main", "openai"); err != nil || len(list) != 1 {
				t.Errorf("read %d credentials: %v", len(list), err)
			}
		}
		if _, err := r.Selection(t.Context(), mainSession); err != nil {
			t.Error(err)
		}
		if err := creds.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if after := names(); !slices.Equal(before, after) {
			t.Errorf("looking left behind:\n%v\nbefore:\n%v", after, before)
		}
	}
	d := open(t, dir)
	put(t, d.Credentials(nil), "main", NewAPIKey("openai:default", "k"))
	look()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	look()
}
