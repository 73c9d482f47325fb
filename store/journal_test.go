package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"standin/fallback"
)

func stepsOfDB(t testing.TB, d *DB, want StepFilter) []fallback.Step {
	t.Helper()
	list, err := d.Steps(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The journal tells a run's story after the fact, newest first, whole [I10].
func TestStepsSurvive(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	j := d.Journal()
	attempt := &fallback.Attempt{Model: modelB, Profile: "openai:default", Reason: fallback.RateLimit, Status: 429, Detail: "slow down", Position: 1, Total: 2, At: noon, Took: time.Second}
	told := []fallback.Step{
		{At: noon, Run: "r1", Session: mainSession, Agent: "main", Kind: fallback.Chat, What: fallback.StepAttempt, Attempt: attempt},
		{At: noon, Run: "r1", Session: mainSession, What: fallback.StepOverride, Write: &fallback.Write{Act: fallback.ActSet, Now: autoOf(modelB)}},
		{At: noon, Run: "r2", Session: "agent:main:other", What: fallback.StepCooldown, Window: &fallback.WindowEvent{Profile: "openai:default", Window: fallback.Window{Until: noon, Reason: fallback.RateLimit}}},
		{At: noon, Run: "r3", Session: mainSession, What: fallback.StepDecision, Record: &fallback.Decision{Event: "model_fallback_decision", RunID: "r3"}},
	}
	for _, s := range told {
		j.Record(t.Context(), s)
	}
	want := []fallback.Step{told[3], told[2], told[1], told[0]}
	copied := *attempt
	want[3].Attempt = &copied
	attempt.Detail = "changed after it was recorded"
	if diff := cmp.Diff(want, stepsOfDB(t, d, StepFilter{})); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		filter StepFilter
		want   []fallback.Step
	}{
		"of a session":          {StepFilter{Session: mainSession}, []fallback.Step{want[0], want[2], want[3]}},
		"the latest of it":      {StepFilter{Session: mainSession, Limit: 2}, []fallback.Step{want[0], want[2]}},
		"of a kind":             {StepFilter{What: fallback.StepDecision}, want[:1]},
		"of a run and a kind":   {StepFilter{Run: "r1", What: fallback.StepOverride}, want[2:3]},
		"of a run":              {StepFilter{Run: "r1"}, want[2:]},
		"of an unknown session": {StepFilter{Session: "x"}, nil},
	} {
		if diff := cmp.Diff(c.want, stepsOfDB(t, d, c.filter)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	j.Record(t.Context(), told[1])
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	j.Record(t.Context(), told[1]) // too late: dropped, no harm
	if got := stepsOfDB(t, open(t, dir), StepFilter{}); len(got) != 5 {
		t.Errorf("%d steps after a restart", len(got))
	}
}

// Steps are written without anybody asking, and many share a transaction.
func TestTheJournalWritesByItself(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for i := range 100 {
			d.Journal().Record(t.Context(), fallback.Step{Run: fmt.Sprint(i)})
		}
		time.Sleep(2 * journalLinger)
		synctest.Wait()
		var n int
		if _, err := d.main.row(t.Context(), `SELECT count(*) FROM steps`, nil, &n); err != nil || n != 100 {
			t.Errorf("%d steps: %v", n, err)
		}
	})
}

// While the disk is stuck no turn waits for the journal; the oldest steps are
// dropped, counted and reported once.
func TestAStuckDiskDoesNotHoldUpTurns(t *testing.T) {
	var out bytes.Buffer
	var mu sync.Mutex
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(b)
	}), nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.main.w.turn <- struct{}{} // the writer is taken
	const all = 3 * journalRoom // one room may be on its way to the disk, one waits
	begin := time.Now()
	for i := range all {
		d.Journal().Record(context.Background(), fallback.Step{Run: fmt.Sprint(i)})
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("recording took %v", took)
	}
	<-d.main.w.turn
	list := stepsOfDB(t, d, StepFilter{Limit: 2 * journalRoom})
	if len(list) < journalRoom/2 || list[0].Run != fmt.Sprint(all-1) {
		t.Fatalf("%d steps, the newest is %q", len(list), list[0].Run)
	}
	d.journal.report(nil)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Count(out.String(), "decision log is behind"); got != 1 || !strings.Contains(out.String(), "dropped=") {
		t.Errorf("reported %d times: %s", got, out.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
