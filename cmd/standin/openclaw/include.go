package openclaw

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of $include [G4].
const (
	maxIncludes = 10      // levels
	maxFile     = 2 << 20 // bytes of one file
	maxFiles    = 200     // in all: a file may be included in many places
)

// FileError says which file cannot be used, and why.
type FileError struct {
	Path string
	Err  error
}

// Error gives both in one line.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// including reads a config with what it includes. Only files below the folder
// of the outermost one are read, links included [G4]: os.Root sees to that.
type including struct {
	root  *os.Root
	dir   string
	files int
}

// load reads the file at p, slashes between its elements, relative to the root.
// chain are the files that lead to it.
func (i *including) load(p string, chain []string) (*value, error) {
	shown := filepath.Join(i.dir, filepath.FromSlash(p))
	fail := func(err error) (*value, error) { return nil, &FileError{shown, err} }
	switch {
	case slices.Contains(chain, p):
		return fail(errors.New("it includes itself, by way of " + strings.Join(append(chain[slices.Index(chain, p):], p), " → ")))
	case len(chain) > maxIncludes:
		return fail(fmt.Errorf("$include goes deeper than %d levels", maxIncludes))
	}
	if i.files++; i.files > maxFiles {
		return fail(fmt.Errorf("more than %d files are included", maxFiles))
	}
	f, err := i.root.Open(p)
	if err != nil {
		var bad *fs.PathError
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return fail(fmt.Errorf("cannot be read: %w", err))
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fail(errors.New("is no plain file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return fail(errors.New("cannot be read"))
	case len(data) > maxFile:
		return fail(fmt.Errorf("is larger than %d MB", maxFile>>20))
	}
	v, err := parseJSON5(data)
	if err != nil {
		return fail(err)
	}
	if v, err = i.resolve(v, path.Dir(p), append(slices.Clone(chain), p)); err != nil {
		var inner *FileError
		if errors.As(err, &inner) {
			return nil, err
		}
		return fail(err)
	}
	return v, nil
}

// resolve puts included values in the place of their $include.
func (i *including) resolve(v *value, folder string, chain []string) (*value, error) {
	for n := range v.items {
		item, err := i.resolve(v.items[n], folder, chain)
		if err != nil {
			return nil, err
		}
		v.items[n] = item
	}
	if v.form != object {
		return v, nil
	}
	ask := v.take("$include")
	for n := range v.members {
		below, err := i.resolve(v.members[n].value, folder, chain)
		if err != nil {
			return nil, err
		}
		v.members[n].value = below
	}
	if ask == nil {
		return v, nil
	}
	names := []*value{ask}
	if ask.form == list {
		names = ask.items
	}
	var got *value
	for _, name := range names {
		if name.form != text {
			return nil, errors.New("$include wants a path, or a list of paths")
		}
		at := filepath.ToSlash(name.text)
		if rel, err := filepath.Rel(i.dir, name.text); err == nil && filepath.IsAbs(name.text) {
			at = filepath.ToSlash(rel)
		} else {
			at = path.Join(folder, at)
		}
		one, err := i.load(path.Clean(at), chain)
		if err != nil {
			return nil, err
		}
		got = merge(got, one)
	}
	switch {
	case got == nil:
		return v, nil
	case len(v.members) == 0:
		return got, nil
	case got.form != object:
		return nil, errors.New("keys beside $include want an object from it")
	}
	return merge(got, v), nil
}

// merge lays b over a: objects key by key, lists one behind the other, anything
// else replaced [G4].
func merge(a, b *value) *value {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.form == list && b.form == list:
		return &value{form: list, items: append(slices.Clone(a.items), b.items...)}
	case a.form == object && b.form == object:
		out := &value{form: object, members: slices.Clone(a.members)}
		for _, m := range b.members {
			out.set(m.key, merge(out.get(m.key), m.value))
		}
		return out
	}
	return b
}
