package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"standin/bot"
	"standin/fallback"
	"standin/fallback/provider"
)

// Given a long read (status export of 10k rows) in progress; then a cooldown
// write commits within 100 ms.
func TestALongReadDoesNotBlockAWrite(t *testing.T) {
	d := open(t, t.TempDir())
	entries := make([]bot.Entry, 10_000)
	for i := range entries {
		entries[i] = bot.Entry{Role: provider.User, Text: "x", At: noon}
	}
	end(t, d, bot.Ending{Session: mainSession, At: noon, Epoch: "e", Entries: entries})
	read := 0
	err := d.main.each(t.Context(), `SELECT seq FROM transcript`, nil, func(scan func(...any) error) error {
		if read++; read == 100 {
			begin := time.Now()
			if _, err := d.Swap(t.Context(), mainSession, fallback.Selection{}, autoOf(modelB)); err != nil {
				return err
			}
			if took := time.Since(begin); took > 100*time.Millisecond {
				t.Errorf("the write took %v", took)
			}
		}
		return scan(new(int))
	})
	if err != nil || read != len(entries) {
		t.Errorf("read %d rows: %v", read, err)
	}
}

// lockOutside takes the write lock of the file as another process would.
func lockOutside(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, "mode=rw"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() { _, _ = conn.ExecContext(context.Background(), "ROLLBACK"); _ = conn.Close(); _ = db.Close() }
}

// Given an external process holding a write lock; then the success record is
// written after it, within the bound, and no update is lost.
func TestAWriteWaitsForAForeignLock(t *testing.T) {
	if busyBound <= 3*time.Second {
		t.Errorf("a lock of three seconds is not waited for: %v", busyBound)
	}
	d := open(t, t.TempDir())
	c := d.Credentials(nil)
	count := func() error {
		_, _, err := c.Update(t.Context(), "main", "openai:default", func(u fallback.Usage) fallback.Usage { u.Errors++; return u })
		return err
	}
	if err := count(); err != nil {
		t.Fatal(err)
	}
	path, err := c.agents.path("main")
	if err != nil {
		t.Fatal(err)
	}
	unlock := lockOutside(t, path)
	time.AfterFunc(400*time.Millisecond, unlock)
	var wg sync.WaitGroup
	begin := time.Now()
	for range 4 {
		wg.Go(func() {
			if err := count(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begin); took < 300*time.Millisecond || took > busyBound {
		t.Errorf("written after %v", took)
	}
	if states, err := c.States(t.Context(), "main"); err != nil || states["openai:default"].Errors != 5 {
		t.Errorf("counted %d of 5: %v", states["openai:default"].Errors, err)
	}
}

// A lock that is held longer than the bound is an error that says what holds
// it up; a caller who leaves earlier is let go.
func TestAWriteGivesUp(t *testing.T) {
	d := open(t, t.TempDir())
	unlock := lockOutside(t, d.main.path)
	defer unlock()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("the user left"))
	defer cancel()
	if err := d.Consume(ctx, mainSession); err == nil || !errors.Is(err, context.Cause(ctx)) {
		t.Errorf("caller who leaves: %v", err)
	}
	begin := time.Now()
	err := d.Consume(t.Context(), mainSession)
	var fe *FileError
	if !errors.As(err, &fe) || fe.Path != d.main.path {
		t.Errorf("error: %v", err)
	}
	if took := time.Since(begin); took < busyBound/2 || took > busyBound+time.Second {
		t.Errorf("gave up after %v", took)
	}
	unlock()
	if err := d.Consume(t.Context(), mainSession); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Given the daemon under write load; when a tool looks many times in parallel;
// then integrity_check is ok, nothing was busy, and the schema is untouched.
func TestToolsLookBesideABusyDaemon(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	accept(t, d, hello("1"))
	before := schemaOf(t, d.main.path)
	ctx, stop := context.WithCancel(t.Context())
	var daemon, tools sync.WaitGroup
	written := 0
	daemon.Go(func() {
		for ; ctx.Err() == nil; written++ {
			if _, _, err := d.Accept(t.Context(), hello(fmt.Sprint("load", written)), mainSession, "main", noon); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 4 {
		tools.Go(func() {
			for range 25 {
				r, err := OpenReadOnly(t.Context(), Options{Dir: dir})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := r.Stats(t.Context()); err != nil {
					t.Error(err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	tools.Wait()
	stop()
	daemon.Wait()
	if err := d.Check(t.Context()); err != nil || written == 0 {
		t.Errorf("%d written: %v", written, err)
	}
	if after := schemaOf(t, d.main.path); len(after) != len(before) {
		t.Error("the schema was touched")
	}
}

func TestAClosedStoreRefuses(t *testing.T) {
	d := open(t, t.TempDir())
	accept(t, d, hello("1"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Consume(t.Context(), mainSession); !errors.Is(err, errClosed) {
		t.Errorf("write: %v", err)
	}
	if _, err := d.Unended(t.Context()); err == nil {
		t.Error("read from a closed store")
	}
	if err := d.Credentials(nil).PutCredential(t.Context(), "main", NewAPIKey("openai:default", "k")); !errors.Is(err, errClosed) {
		t.Errorf("credential: %v", err)
	}
}
