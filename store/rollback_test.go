package store

import (
	"errors"
	"testing"
)

// "In one transaction": what fails halfway leaves nothing, and a panic neither
// [I1, I3].
func TestAFailedWriteLeavesNothing(t *testing.T) {
	d := open(t, t.TempDir())
	no := errors.New("no")
	for name, end := range map[string]func() error{"an error": func() error { return no }, "a panic": func() error { panic(no) }} {
		func() {
			defer func() { _ = recover() }()
			err := d.main.write(t.Context(), "test", func(tx *tx) error {
				if _, err := tx.exec(`INSERT INTO selection (session) VALUES ('s')`); err != nil {
					return err
				}
				return end()
			})
			if !errors.Is(err, no) {
				t.Errorf("%s: %v", name, err)
			}
		}()
		if found, err := d.main.row(t.Context(), `SELECT 1 FROM selection WHERE session = 's'`, nil, new(int)); found || err != nil {
			t.Errorf("after %s the row is there: %v %v", name, found, err)
		}
	}
}
