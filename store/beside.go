package store

import (
	"context"
	"errors"
	"path/filepath"
)

// OpenBeside opens the state directory for a small write whether or not its
// owner runs: a person approves a pairing at a terminal while the daemon serves.
// SQLite sees to it that the two do not write at one moment. It does no schema
// work and no journal's; credentials can be read, not written. A file that the
// daemon of this version never had open gives a *FileError.
func OpenBeside(ctx context.Context, o Options) (*DB, error) {
	path := filepath.Join(o.Dir, mainFile)
	looked, err := openFileReadOnly(ctx, path, mainKind()) // of our version, or an error that says so
	if err != nil {
		return nil, err
	}
	main, err := openFile(ctx, path, mainKind())
	if err = errors.Join(err, looked.close()); err != nil {
		return nil, err
	}
	return &DB{dir: o.Dir, log: o.logger(), main: main, agents: newAgents(o.Dir, true).under(o.Sealing)}, nil
}
