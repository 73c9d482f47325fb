package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// OpenClawFile is where OpenClaw keeps an agent's credentials, beside its older
// JSON files (failover.md 21.C.1).
const OpenClawFile = "openclaw-agent.sqlite"

// OpenClawCredentials reads an agent's database of OpenClaw's: the JSON that
// stands in it for auth-profiles.json and auth-state.json, nil where there is
// none. The database may be in use, and nothing beside it changes: one with a
// log is read from a copy that is gone when this returns.
func OpenClawCredentials(ctx context.Context, path string) (profiles, state []byte, err error) {
	if err := startsWithMagic(path); err != nil {
		return nil, nil, err
	}
	at := path
	if looking(path) == "mode=ro" {
		dir, err := os.MkdirTemp("", "standin-look-") // mode 0700
		if err != nil {
			return nil, nil, err
		}
		defer os.RemoveAll(dir)
		at = filepath.Join(dir, OpenClawFile)
		for _, suffix := range []string{"", "-wal"} {
			if err := copyFile(path+suffix, at+suffix); err != nil {
				return nil, nil, &FileError{path, "cannot be read", "make the file readable by this user", err}
			}
		}
	}
	db, err := sql.Open("sqlite3", dsn(at, looking(at), "_query_only=1", "_busy_timeout=3000"))
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	read := func(table, key, column string) (text []byte, err error) {
		var there bool
		if there, err = one(db.QueryRowContext(ctx, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, table).Scan(new(int))); err != nil || !there {
			return nil, trouble(path, interrupted(ctx, err))
		}
		_, err = one(db.QueryRowContext(ctx, `SELECT `+column+` FROM `+table+` WHERE `+key+` = 'primary'`).Scan(&text))
		return text, trouble(path, interrupted(ctx, err))
	}
	profiles, errProfiles := read("auth_profile_store", "store_key", "store_json")
	state, errState := read("auth_profile_state", "state_key", "state_json")
	return profiles, state, errors.Join(errProfiles, errState)
}

// copyFile copies a file for this user's eyes only.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
