// Package takeover brings the credentials of older files into the store: those
// that lie in standin's own state folder, which are then put away as backups,
// and those of another folder, such as OpenClaw's, which stays as it is. What
// the files say is package legacy's to know, and what the rows look like is
// package store's; here is what happens to a file, and in which order
// (failover.md 21.C.4).
package takeover

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"standin/fallback"
	"standin/fallback/auth/legacy"
	"standin/store"
)

// Source is a file that holds credentials, or held them.
type Source struct {
	Path  string
	Kind  legacy.Kind // "" for a database of OpenClaw's
	Agent fallback.AgentID
}

// Find lists the older files under a state folder, agent by agent (main first)
// and in the order in which they count. It looks at names only.
func Find(dir string) ([]Source, error) {
	var all []Source
	add := func(agent fallback.AgentID, kind legacy.Kind, elems ...string) {
		path := filepath.Join(append([]string{dir}, elems...)...)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			all = append(all, Source{path, kind, agent})
		}
	}
	ids, err := agentFolders(dir)
	for _, id := range ids {
		folders := [][]string{{"agents", string(id), "agent"}}
		if id == store.MainAgent {
			folders = append(folders, []string{"agent"}) // before there were several
		}
		for _, f := range folders {
			add(id, "", append(slices.Clone(f), store.OpenClawFile)...)
			for _, kind := range []legacy.Kind{legacy.Profiles, legacy.State, legacy.Auth} {
				add(id, kind, append(slices.Clone(f), string(kind))...)
			}
		}
		if id == store.MainAgent {
			add(id, legacy.OAuth, "credentials", string(legacy.OAuth))
		}
	}
	return all, err
}

// agentFolders gives the agents by name, main first even when it has no folder.
func agentFolders(dir string) ([]fallback.AgentID, error) {
	ids := []fallback.AgentID{store.MainAgent}
	list, err := os.ReadDir(filepath.Join(dir, "agents"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range list {
		if id := fallback.AgentID(e.Name()); id != store.MainAgent && !strings.HasPrefix(e.Name(), ".") {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// read gives the text of a source, and refuses what is no plain file: a link is
// followed only where nothing will be moved, since the secret would stay behind
// where the link points to.
func (s Source) read(links bool) ([]byte, error) {
	info, err := os.Lstat(s.Path)
	if err != nil {
		return nil, errors.New("cannot be looked at: " + reason(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 && !links {
		return nil, errors.New("is a link to another file, and would leave the secrets there; put the file itself in its place")
	}
	// Without O_NONBLOCK a pipe of that name would wait for a writer.
	f, err := os.OpenFile(s.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.New("cannot be read: " + reason(err) + "; make it readable by this user")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("is no plain file")
	}
	data, err := io.ReadAll(io.LimitReader(f, legacy.MaxFile+1))
	if err != nil {
		return nil, errors.New("cannot be read: " + reason(err))
	}
	return data, nil
}

// reason is an error of a file without the file's name.
func reason(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}

// archives finds the backups that this package has made of files of the agent.
// A backup is the receipt of its import: what it holds is what must be stored.
func archives(dir string) ([]Source, error) {
	var all []Source
	ids, err := agentFolders(dir)
	for _, id := range ids {
		patterns := []string{filepath.Join("agents", string(id), "agent")}
		if id == store.MainAgent {
			patterns = append(patterns, "agent", "credentials")
		}
		for _, folder := range patterns {
			list, err := os.ReadDir(filepath.Join(dir, folder))
			if err != nil {
				continue // no such folder
			}
			for _, e := range list {
				if kind, ok := archived(e.Name()); ok && e.Type().IsRegular() {
					all = append(all, Source{filepath.Join(dir, folder, e.Name()), kind, id})
				}
			}
		}
	}
	return all, err
}

// The marks of a backup's name, between the file's and the time (21.C.3, 21.C.4).
const (
	imported     = ".sqlite-import."
	importedFlat = ".legacy-flat."
)

func archived(name string) (legacy.Kind, bool) {
	if !strings.HasSuffix(name, ".bak") {
		return "", false
	}
	for _, mark := range []string{imported, importedFlat} {
		kind, _, ok := strings.Cut(name, mark)
		if ok && slices.Contains([]legacy.Kind{legacy.Profiles, legacy.Auth, legacy.OAuth}, legacy.Kind(kind)) {
			return legacy.Kind(kind), true
		}
	}
	return "", false
}

// backupName gives a name for the backup that no file has.
func backupName(path string, flat bool, ms int64) (string, error) {
	mark := imported
	if flat {
		mark = importedFlat
	}
	for range 100 {
		name := fmt.Sprintf("%s%s%d.bak", path, mark, ms)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		ms++
	}
	return "", errors.New("there are backups of every name")
}
