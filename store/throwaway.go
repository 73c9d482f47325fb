package store

import "context"

// neverSync makes the file's writes return without waiting for the disk: for
// state that nobody needs after a crash of the machine (Options.Throwaway).
func (f *file) neverSync(ctx context.Context) error {
	if f.w == nil {
		return nil
	}
	f.hasty = true
	_, err := f.w.conn.ExecContext(ctx, "PRAGMA synchronous = OFF")
	return err
}
