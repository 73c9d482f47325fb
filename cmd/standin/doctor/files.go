package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// File is a file or folder of the state folder.
type File struct {
	Path string // relative to the folder, "." for itself
	Mode fs.FileMode
}

// want is the mode that the file should have at most [D15].
func (f File) want() fs.FileMode {
	if f.Mode.IsDir() {
		return 0o700
	}
	return 0o600
}

// Modes finds what others can read or write. The config is its owner's affair as
// long as the folder is shut.
func Modes(files []File) (found []Finding) {
	for _, f := range files {
		if f.Mode.Perm()&^f.want() == 0 {
			continue
		}
		who := "others on this machine can read it"
		switch {
		case f.Mode.Perm()&0o022 != 0:
			who = "others on this machine can change it"
		case f.Mode.Perm()&0o077 == 0:
			who = "it can be run as a program"
		}
		level := Warning
		if f.Path == "." || f.Mode.Perm()&0o022 != 0 {
			level = Error
		}
		found = append(found, Finding{Area: Files, Level: level, Where: f.Path, Fixable: true,
			What: fmt.Sprintf("has the mode %04o: %s", f.Mode.Perm(), who),
			Mend: fmt.Sprintf("standin doctor --fix, or chmod %04o", f.Mode.Perm()&f.want())})
	}
	return found
}

// The bounds of the look at the folder.
const (
	maxDepth   = 4
	maxEntries = 20_000
)

// filesOf lists what standin itself keeps in the folder: not an agent's
// workspace, whose files are for people, and no links.
func filesOf(dir string) (files []File, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be looked at is told by what needs it
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if len(files) >= maxEntries {
			return fs.SkipAll
		}
		depth := strings.Count(rel, string(filepath.Separator))
		if d.IsDir() && (depth >= maxDepth || strings.HasPrefix(d.Name(), "workspace") || d.Name() == ".git") {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || strings.HasPrefix(rel, "config.yaml") {
			return nil
		}
		if info.Mode()&fs.ModeSocket != 0 {
			return nil // the folder guards it
		}
		files = append(files, File{rel, info.Mode()})
		return nil
	})
	return files, err
}

// tighten takes from a file what others may do with it.
func tighten(dir string, f File) error {
	return os.Chmod(filepath.Join(dir, f.Path), f.Mode.Perm()&f.want())
}

// Disk finds a disk that is, or soon will be, full. free is in bytes.
func Disk(dir string, free uint64) []Finding {
	const mega = 1 << 20
	f := Finding{Area: Machine, Where: dir, What: fmt.Sprintf("%d MB are free on its disk", free/mega), Mend: "free some space"}
	switch {
	case free < 100*mega:
		f.Level, f.What = Error, f.What+": standin stops taking messages when nothing can be written"
	case free < 1024*mega:
		f.Level = Warning
	default:
		return nil
	}
	return []Finding{f}
}

// freeOn gives the bytes that this user can still write on the folder's disk.
func freeOn(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
