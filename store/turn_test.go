package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// turn does all that the store does for one message: accept, read, engage,
// end, claim, mark. n makes its ids.
func turn(t testing.TB, d *DB, c *Credentials, s fallback.SessionID, n int) {
	check := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	at := noon.Add(time.Duration(n) * time.Second)
	in := hello(fmt.Sprint("m", n))
	row, _, err := d.Accept(ctx, in, s, "main", at)
	check(err)
	session, err := d.Session(ctx, s)
	check(err)
	_, err = d.History(ctx, s, session.Epoch, 20)
	check(err)
	was, err := d.Selection(ctx, s)
	check(err)
	_, err = c.Profiles(ctx, "main", "openai")
	check(err)
	_, err = c.Usage(ctx, "main", "openai")
	check(err)
	if was.Model.IsZero() {
		_, err = d.Swap(ctx, s, was, autoOf(modelB))
		check(err)
	}
	_, _, err = c.Update(ctx, "main", "openai:default", func(u fallback.Usage) fallback.Usage { u.LastUsed = at; return u })
	check(err)
	_, err = d.Keep(ctx, s, autoOf(modelB), fallback.Pin{Profile: "openai:default", Source: fallback.Auto})
	check(err)
	d.Journal().Record(ctx, fallback.Step{At: at, Run: in.ID, Session: s, What: fallback.StepAttempt})
	writeTurn(t, d, row, session.Epoch, n)
}

// writeTurn is the part after the answer: end, claim, mark.
func writeTurn(t testing.TB, d *DB, row bot.Accepted, epoch string, n int) {
	ctx := t.Context()
	at := noon.Add(time.Duration(n) * time.Second)
	turn := fmt.Sprint("t", n)
	posted, err := d.End(ctx, bot.Ending{
		Accepted: row.ID, Session: row.Session, Epoch: epoch, Turn: turn, How: bot.Answered, At: at,
		Entries: []bot.Entry{{Turn: turn, Role: provider.User, Text: "hello", At: at}, {Turn: turn, Role: provider.Assistant, Text: "hi", Model: modelB, At: at}},
		Settle:  &fallback.Settle{Session: row.Session, Told: toldOf(modelB), Model: modelB, Source: fallback.Auto},
		Notice:  &channels.Outbound{ID: turn + "-n", To: row.In.To, Kind: channels.Notice, Text: "moved"},
		Posts:   []channels.Outbound{{ID: turn + "-r", To: row.In.To, Kind: channels.Reply, Text: "hi"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range posted {
		if ok, err := d.Claim(ctx, v.ID); !ok || err != nil {
			t.Fatal(ok, err)
		}
		v.State = bot.Sent
		if err := d.Mark(ctx, v); err != nil {
			t.Fatal(err)
		}
	}
}

// The cost of a turn does not depend on the number of stored sessions or the
// length of the logs: no statement that a turn runs walks a table.
func TestNoStatementOfATurnScans(t *testing.T) {
	d := open(t, t.TempDir())
	c := d.Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	for n := range 3 {
		turn(t, d, c, mainSession, n)
	}
	if _, err := d.Due(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Owed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Unended(t.Context()); err != nil {
		t.Fatal(err)
	}
	stepsOfDB(t, d, StepFilter{Session: mainSession})
	stepsOfDB(t, d, StepFilter{Run: "m1"})
	if _, err := d.Prune(t.Context(), noon, Retention{time.Hour, time.Hour, time.Hour, 10, 0}); err != nil {
		t.Fatal(err)
	}
	if err := d.Consume(t.Context(), mainSession); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Interrupted(t.Context()); err != nil {
		t.Fatal(err)
	}
	end(t, d, bot.Ending{Session: mainSession, At: noon, Choose: &bot.Choice{Session: mainSession}, Renew: &bot.Renewal{Session: mainSession}})

	agent, err := d.agents.existing(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range []*file{d.main, agent} {
		queries := map[string]bool{}
		for q := range f.prepared {
			queries[q] = true
		}
		for q := range f.w.prepared {
			queries[q] = true
		}
		for q := range queries {
			verb, _, _ := strings.Cut(strings.TrimSpace(q), " ")
			if verb == "BEGIN" || verb == "COMMIT" || verb == "ROLLBACK" || verb == "PRAGMA" {
				continue
			}
			seen++
			// Owed rows are few; the index over them holds nothing else.
			plan := planOf(t, f, q)
			for _, few := range []string{"SCAN outbox USING INDEX outbox_owed", "SCAN outbox USING COVERING INDEX outbox_owed", "SCAN CONSTANT ROW"} {
				plan = strings.ReplaceAll(plan, few, "")
			}
			if strings.Contains(plan, "SCAN") {
				t.Errorf("%s\n%s", q, plan)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d statements were looked at", seen)
	}
}

func planOf(t *testing.T, f *file, query string) (plan string) {
	t.Helper()
	n := 0
	for n < 30 && strings.Contains(query, fmt.Sprintf("?%d", n+1)) {
		n++
	}
	if n == 0 {
		n = strings.Count(query, "?")
	}
	rows, err := f.reads.Query("EXPLAIN QUERY PLAN "+query, make([]any, n)...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan += detail + "\n"
	}
	return plan
}

// What the store writes for one message: Accept, End, Claim and Mark.
func BenchmarkTurnWrites(b *testing.B) {
	for _, sessions := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			d := open(b, b.TempDir())
			fill(b, d, sessions)
			n := 0
			var took []time.Duration
			defer func() { report(b, took) }()
			for b.Loop() {
				begin := time.Now()
				n++
				s := fallback.SessionID(fmt.Sprint("agent:main:s", n%sessions))
				row, _, err := d.Accept(b.Context(), hello(fmt.Sprint("b", n)), s, "main", noon)
				if err != nil {
					b.Fatal(err)
				}
				writeTurn(b, d, row, "e", n)
				took = append(took, time.Since(begin))
			}
		})
	}
}

// All that the store does for one message, reads included.
func BenchmarkTurn(b *testing.B) {
	for _, sessions := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			d := open(b, b.TempDir())
			fill(b, d, sessions)
			c := d.Credentials(nil)
			put(b, c, "main", NewAPIKey("openai:default", "k"))
			n := 0
			var took []time.Duration
			defer func() { report(b, took) }()
			for b.Loop() {
				begin := time.Now()
				n++
				turn(b, d, c, fallback.SessionID(fmt.Sprint("agent:main:s", n%sessions)), n)
				took = append(took, time.Since(begin))
			}
		})
	}
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// A start on a directory that 10,000 sessions have been using.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	d := open(b, dir)
	fill(b, d, 10_000)
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d, err := Open(b.Context(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Unended(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// fill makes sessions with a turn of history and a step each.
func fill(tb testing.TB, d *DB, sessions int) {
	tb.Helper()
	err := d.main.write(tb.Context(), "fill", func(t *tx) error {
		for i := range sessions {
			s := fallback.SessionID(fmt.Sprint("agent:main:s", i))
			if err := t.ensureSession(s, "main", "e", noon, true, room("C1")); err != nil {
				return err
			}
			if err := t.putSelection(s, autoOf(modelB)); err != nil {
				return err
			}
			if err := t.addEntries(s, "e", []bot.Entry{{Role: provider.User, Text: "hello", At: noon}, {Role: provider.Assistant, Text: "hi", At: noon}}); err != nil {
				return err
			}
			if _, err := t.exec(`INSERT INTO steps (at, session, run, what, step) VALUES (?,?,?,?,?)`, millis(noon), s, "r", "attempt", "{}"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}
