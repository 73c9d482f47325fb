package store

import (
	"context"
	"errors"

	"standin/fallback"
)

// CopyTo writes a whole copy of the state, credentials and their routing state
// included, into dir, which must hold none yet: what the next process would
// find if this one died now. Steps that the journal still holds are in it.
func (d *DB) CopyTo(ctx context.Context, dir string) error {
	path, err := stateFile(dir, mainFile)
	if err != nil {
		return err
	}
	if d.journal != nil {
		if err := d.journal.flush(ctx); err != nil {
			return err
		}
	}
	errs := []error{d.main.backup(ctx, path)}
	ids, err := d.agents.named()
	errs = append(errs, err)
	to := newAgents(dir, false)
	for _, id := range ids {
		errs = append(errs, d.copyAgent(ctx, to, id))
	}
	return errors.Join(errs...)
}

func (d *DB) copyAgent(ctx context.Context, to *agents, id fallback.AgentID) error {
	from, err := d.agents.existing(ctx, id)
	if err != nil || from == nil {
		return err
	}
	path, err := to.path(id)
	if err != nil {
		return err
	}
	if path, err = stateFile(path); err != nil {
		return err
	}
	return from.backup(ctx, path)
}
