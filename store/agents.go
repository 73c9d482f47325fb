package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"standin/fallback"
)

// MainAgent owns the credentials that the other agents read through to
// (failover.md 21.C.2).
const MainAgent fallback.AgentID = "main"

// agents opens the agents' files as they are asked for.
type agents struct {
	dir      string
	readOnly bool
	hasty    bool // see Options.Throwaway
	vault    *vault

	mu    sync.Mutex
	files map[fallback.AgentID]*file
}

func newAgents(dir string, readOnly bool) *agents {
	return &agents{dir: dir, readOnly: readOnly, files: map[fallback.AgentID]*file{}, vault: newVault(Sealing{})}
}

// under makes a open and write secrets as s says.
func (a *agents) under(s Sealing) *agents {
	a.vault = newVault(s)
	return a
}

// path is agents/<agentId>/agent/standin-agent.sqlite [D15].
func (a *agents) path(id fallback.AgentID) (string, error) {
	if !filepath.IsLocal(string(id)) || strings.ContainsAny(string(id), `/\`) || strings.HasPrefix(string(id), ".") {
		return "", fmt.Errorf("agent id %q cannot name a folder", id)
	}
	return filepath.Join(a.dir, "agents", string(id), "agent", "standin-agent.sqlite"), nil
}

// existing gives the agent's file, nil when it has none: to look for a
// credential makes no file.
func (a *agents) existing(ctx context.Context, id fallback.AgentID) (*file, error) {
	return a.open(ctx, id, false)
}

// owned gives the agent's file and makes it when it is missing.
func (a *agents) owned(ctx context.Context, id fallback.AgentID) (*file, error) {
	return a.open(ctx, id, true)
}

func (a *agents) open(ctx context.Context, id fallback.AgentID, make bool) (*file, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.files[id]; ok {
		return f, nil
	}
	if a.files == nil {
		return nil, errClosed
	}
	path, err := a.path(id)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && (!make || a.readOnly) {
		if make {
			return nil, ErrReadOnly
		}
		return nil, nil
	}
	var f *file
	if a.readOnly {
		f, err = openFileReadOnly(ctx, path, agentKind())
	} else if _, err = stateFile(path); err == nil {
		f, err = openFile(ctx, path, agentKind())
	}
	if err == nil && a.hasty {
		err = f.makeHasty(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.files[id] = f
	return f, nil
}

// named gives the agents that have a file.
func (a *agents) named() ([]fallback.AgentID, error) {
	paths, err := fs.Glob(os.DirFS(a.dir), "agents/*/agent/standin-agent.sqlite")
	var ids []fallback.AgentID
	for _, path := range paths {
		ids = append(ids, fallback.AgentID(filepath.Base(filepath.Dir(filepath.Dir(path)))))
	}
	return ids, err
}

func (a *agents) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, f := range a.files {
		errs = append(errs, f.close())
	}
	a.files = nil
	return errors.Join(errs...)
}
