package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// magic opens every SQLite file.
const magic = "SQLite format 3\x00"

// checkLimit is the largest file in bytes whose pages are all checked at a start:
// a cold start stays under 100 ms. DB.Check looks at larger ones, and a damaged
// page that a statement meets is named all the same.
const checkLimit = 8 << 20

// inspect says which schema version the file has, 0 when there is nothing in
// it yet. It looks without changing: what is not ours, newer than we are or
// damaged gives a *FileError. pages asks for a look at every page of a file that
// is not too large.
func inspect(ctx context.Context, path string, k kind, pages bool) (version int, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, &FileError{path, "cannot be looked at", "check that the folder belongs to this user", err}
	case info.IsDir():
		return 0, foreign(path, "is a folder, not a database file", nil)
	case info.Size() == 0:
		return 0, nil
	}
	if err := startsWithMagic(path); err != nil {
		return 0, err
	}

	db, err := sql.Open("sqlite3", dsn(path, looking(path), "_query_only=1", "_busy_timeout=3000"))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var app, tables int
	err = db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
		Scan(&app, &version, &tables)
	switch {
	case err != nil:
		return 0, trouble(path, interrupted(ctx, err))
	case app == 0 && tables == 0 && version == 0:
		return 0, nil // made by a start that was cut short before its first transaction
	case app != k.application:
		return 0, foreign(path, "is the database of another program", nil)
	case version > k.version():
		return 0, &FileError{path, fmt.Sprintf("was written by a newer standin (schema %d, this one knows %d)", version, k.version()),
			"it was left as it is: run the newer version, or restore the backup made before the upgrade", nil}
	}
	if !pages || info.Size() > checkLimit {
		return version, nil
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return 0, trouble(path, interrupted(ctx, err))
	}
	if verdict != "ok" {
		return 0, corrupt(path, errors.New(verdict))
	}
	return version, nil
}

func startsWithMagic(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &FileError{path, "cannot be read", "make the file readable by this user", err}
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return foreign(path, "is not an SQLite database", nil)
	}
	return nil
}
