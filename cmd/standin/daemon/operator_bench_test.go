package daemon

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"standin/store"
)

// The installation of the benchmark: a busy month.
const (
	manySessions = 10_000
	manySteps    = 1_000_000
)

// crowded makes a state folder with so many sessions and steps, behind the store's
// back: by its front door that takes minutes.
func crowded(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	d, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "standin.sqlite")+"?_synchronous=OFF&_journal_mode=OFF")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	now := time.Now().UnixMilli()
	// Three steps to a run: an attempt that fails in one of ten, the answer, a decision.
	for _, fill := range []string{
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO sessions (key, agent, epoch, started, last_interaction, turns, channel, conversation)
			SELECT 'agent:main:slack:channel:c' || i, 'main', 'e' || i, %d - i*1000, %d - i*1000, 30, 'slack', 'C' || i FROM n`, manySessions-1, now, now),
		`INSERT INTO selection (session, provider, model, source, origin_provider, origin_model, since)
			SELECT key, 'anthropic', 'claude-sonnet-5', 'auto', 'openai', 'gpt-5.5', last_interaction FROM sessions WHERE rowid_of(key) % 10 = 0`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO run_log (run, session, agent, kind, began, ended, outcome, requested, answered, reason, attempts, skips, probes)
			SELECT 'run' || i, 'agent:main:slack:channel:c' || (i %% %d), 'main', CASE WHEN i %% 97 = 0 THEN 'cron' ELSE 'chat' END, %d - (%d-i)*7000, %d - (%d-i)*7000 + 2000,
				CASE WHEN i %% 1000 = 0 THEN 'failed' ELSE 'answered' END, 'openai/gpt-5.5', CASE WHEN i %% 1000 = 0 THEN '' WHEN i %% 10 = 0 THEN 'anthropic/claude-sonnet-5' ELSE 'openai/gpt-5.5' END,
				CASE WHEN i %% 10 = 0 THEN 'rate_limit' ELSE '' END, 2, 0, 0 FROM n`, manySteps/3-1, manySessions, now, manySteps/3, now, manySteps/3),
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO steps (at, session, run, what, model, reason, step)
			SELECT %d - (%d-i)*7000/3, 'agent:main:slack:channel:c' || (i/3 %% %d), 'run' || (i/3),
				CASE WHEN i %% 3 = 2 THEN CASE WHEN i/3 %% 50 = 0 THEN 'override' ELSE 'decision' END ELSE 'attempt' END,
				CASE WHEN i %% 3 = 2 THEN '' WHEN i %% 30 = 0 THEN 'openai/gpt-5.5' ELSE 'anthropic/claude-sonnet-5' END, CASE WHEN i %% 30 = 0 THEN 'rate_limit' ELSE '' END,
				CASE WHEN i %% 3 = 2 AND i/3 %% 50 = 0 THEN printf('{"At":"2026-01-05T12:00:00Z","Run":"run%%d","Session":"agent:main:slack:channel:c%%d","Agent":"main","Kind":"chat","What":"override","Write":{"Act":"set","Was":{},"Now":{"Model":{"Provider":"anthropic","Name":"claude-sonnet-5"},"Source":"auto","Origin":{"Provider":"openai","Name":"gpt-5.5"}}}}', i/3, i/3 %% %d)
				ELSE printf('{"At":"2026-01-05T12:00:00Z","Run":"run%%d","Session":"agent:main:slack:channel:c%%d","Agent":"main","Kind":"chat","What":"attempt","Attempt":{"Model":{"Provider":"openai","Name":"gpt-5.5"},"Profile":"openai:default","Reason":"rate_limit","Status":429,"Detail":"Rate limit reached for requests per minute, please slow down and try again later","Position":1,"Total":2,"At":"2026-01-05T12:00:00Z","Took":1000000000}}', i/3, i/3 %% %d) END FROM n`,
			manySteps-1, now, manySteps, manySessions, manySessions, manySessions),
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < %d)
			INSERT INTO stretches (session, agent, model, reason, began, ended, turns)
			SELECT 'agent:main:slack:channel:c' || (i/4), 'main', CASE WHEN i %% 2 = 0 THEN 'openai/gpt-5.5' ELSE 'anthropic/claude-sonnet-5' END, '', %d - (4 - i %% 4)*3600000*10, %d - (3 - i %% 4)*3600000*10 - 60000, 9 FROM n`,
			4*manySessions-1, now, now),
	} {
		fill = strings.Replace(fill, "rowid_of(key) % 10 = 0", "substr(key, -1) = '0'", 1)
		if _, err := db.Exec(fill); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// Each look at a crowded installation takes a moment: less than 200 ms, however
// long the record is.
func BenchmarkOperator(b *testing.B) {
	dir := crowded(b)
	a := newApp(b, dir)
	h := a.desk.Local()
	since := time.Now().Add(-20 * 24 * time.Hour).UTC().Format(time.RFC3339)
	for _, path := range []string{
		"/now", "/sessions", "/sessions?state=standin", "/sessions?q=c9999", "/sessions/agent:main:slack:channel:c77", "/sessions/agent:main:slack:channel:c77/transcript",
		"/decisions", "/decisions?model=openai/gpt-5.5", "/decisions?reason=rate_limit", "/decisions?reason=none_has_it", "/decisions?model=anthropic/claude-sonnet-5&reason=rate_limit",
		"/decisions?session=agent:main:slack:channel:c77&reason=rate_limit", "/decisions?what=override", "/decisions?from=" + since, "/decisions?to=" + since, "/decisions?model=openai/gpt-5.5&to=" + since,
		"/runs", "/runs?outcome=failed", "/runs?kind=cron", "/runs?model=anthropic/claude-sonnet-5", "/runs?reason=rate_limit&kind=cron", "/runs?reason=none_has_it", "/runs?agent=nobody", "/runs?session=agent:main:slack:channel:c77", "/runs/run777",
		"/timeline", "/timeline?from=" + since, "/timeline?session=agent:main:slack:channel:c77", "/cost", "/acts", "/credentials", "/cron", "/calendar",
	} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/api/v1"+path, nil))
				if w.Code != 200 {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
				b.ReportMetric(float64(w.Body.Len()), "answer-B")
			}
		})
	}
	b.Run("metrics", func(b *testing.B) {
		for b.Loop() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
			if w.Code != 200 {
				b.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	})
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heap-MB")
}
