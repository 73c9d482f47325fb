package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"standin/bot"
	"standin/fallback"
)

// Files that came with messages are beside the database, in the folder media:
// they are large, and are thrown away long before the rows around them [G40]. A
// file is written whole before its row; one without a row is swept.
const mediaFolder = "media"

// orphanAge is how old a file without a row must be to go: a younger one may be
// about to get its row.
const orphanAge = time.Hour

// KeepMedia stores the n-th file of a message, mode 0600.
func (d *DB) KeepMedia(ctx context.Context, m bot.Media, data []byte) (err error) {
	folder := filepath.Join(d.dir, mediaFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep %s: %w", m.Name, err)
	}
	name := strings.ToLower(rand.Text())
	path := filepath.Join(folder, name)
	if err := writeNew(path, data); err != nil {
		return fmt.Errorf("keep %s: %w", m.Name, err)
	}
	former := ""
	err = d.main.write(ctx, "keep file "+m.Name, func(t *tx) error {
		if _, err := t.row(`SELECT file FROM media WHERE message = ? AND n = ?`, []any{m.Message, m.N}, &former); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO media (message, n, name, type, size, file, at) VALUES (?1,?2,?3,?4,?5,?6,?7)
			ON CONFLICT (message, n) DO UPDATE SET name=?3, type=?4, size=?5, file=?6, at=?7`, m.Message, m.N, m.Name, m.Type, len(data), name, millis(m.At))
		return err
	})
	if err != nil {
		former = name // nobody will find it
	}
	if former != "" {
		_ = os.Remove(filepath.Join(folder, former)) // what stays is swept
	}
	return err
}

// writeNew writes a file that must not exist yet, and half of which is none.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

// Media gives the stored files of messages, in the order of the messages and of
// their files.
func (d *DB) Media(ctx context.Context, messages []int64) (all []bot.Media, err error) {
	for _, id := range messages {
		err := d.main.each(ctx, `SELECT n, name, type, size, file, at FROM media WHERE message = ? ORDER BY n`, []any{id}, func(scan func(...any) error) error {
			m := bot.Media{Message: id}
			var file string
			var at int64
			if err := scan(&m.N, &m.Name, &m.Type, &m.Size, &file, &at); err != nil {
				return err
			}
			m.At = moment(at)
			path := filepath.Join(d.dir, mediaFolder, filepath.Base(file))
			m.Read = func() ([]byte, error) { return os.ReadFile(path) }
			all = append(all, m)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("files of message %d: %w", id, err)
		}
	}
	return all, nil
}

// SweepMedia deletes files that were kept longer than age, those whose message is
// gone, and files that belong to nothing. It gives how many went. 0 keeps them as
// long as their messages.
func (d *DB) SweepMedia(ctx context.Context, now time.Time, age time.Duration) (gone int, err error) {
	for done := false; !done; {
		err := d.main.write(ctx, "delete old files", func(t *tx) error {
			cutoff := int64(0)
			if age > 0 {
				cutoff = millis(now.Add(-age))
			}
			n, err := t.exec(`DELETE FROM media WHERE (message, n) IN (SELECT message, n FROM media WHERE at < ? OR message NOT IN (SELECT id FROM inbox) LIMIT ?)`, cutoff, pruneBatch)
			done = n < pruneBatch
			return err
		})
		if err != nil {
			return gone, err
		}
	}
	return d.sweepOrphans(ctx, now)
}

// sweepOrphans deletes the files in the folder that no row names.
func (d *DB) sweepOrphans(ctx context.Context, now time.Time) (gone int, err error) {
	folder := filepath.Join(d.dir, mediaFolder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for old files: %w", err)
	}
	named := map[string]bool{}
	err = d.main.each(ctx, `SELECT file FROM media`, nil, func(scan func(...any) error) error {
		var file string
		err := scan(&file)
		named[file] = true
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("look for old files: %w", err)
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if named[e.Name()] || err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < orphanAge {
			continue
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
			errs = append(errs, err)
			continue
		}
		gone++
	}
	return gone, errors.Join(errs...)
}

// ForgetMedia deletes the files of a session's messages, at once: somebody who
// deletes a conversation means what was sent in it, too.
func (d *DB) ForgetMedia(ctx context.Context, s fallback.SessionID) error {
	var names []string
	err := d.main.write(ctx, "delete the files of "+string(s), func(t *tx) error {
		names = nil
		for {
			var name string
			found, err := t.row(`DELETE FROM media WHERE (message, n) IN (SELECT m.message, m.n FROM media m JOIN inbox i ON i.id = m.message WHERE i.session = ? LIMIT 1) RETURNING file`,
				[]any{s}, &name)
			if err != nil || !found {
				return err
			}
			names = append(names, name)
		}
	})
	if err != nil {
		return err // the rows stand, and so do their files
	}
	for _, name := range names {
		if gone := os.Remove(filepath.Join(d.dir, mediaFolder, filepath.Base(name))); gone != nil && !errors.Is(gone, fs.ErrNotExist) && err == nil {
			err = gone
		}
	}
	return err
}
