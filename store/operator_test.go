package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/bot/operator/rows"
	"standin/channels"
	"standin/fallback"

	"github.com/google/go-cmp/cmp"
)

// attempted is a step in which a model answered, or failed for a reason.
func attempted(at time.Time, run string, s fallback.SessionID, m fallback.Model, position int, reason fallback.Reason) fallback.Step {
	return fallback.Step{At: at, Run: run, Session: s, Agent: "main", Kind: fallback.Chat, What: fallback.StepAttempt,
		Attempt: &fallback.Attempt{Model: m, Reason: reason, OK: reason == "", Position: position, Total: 2, At: at}}
}

// usesTool makes the answer of a step one that asks for tools.
func usesTool(s fallback.Step) fallback.Step {
	s.Attempt.Asks = true
	return s
}

func exhausted(at time.Time, run string, s fallback.SessionID) fallback.Step {
	return fallback.Step{At: at, Run: run, Session: s, Agent: "main", Kind: fallback.Chat, What: fallback.StepDecision, Record: &fallback.Decision{StepOutcome: "chain_exhausted"}}
}

// journalled writes steps, each in a batch of its own if apart is set.
func journalled(t testing.TB, d *DB, apart bool, steps ...fallback.Step) {
	t.Helper()
	for _, s := range steps {
		d.Journal().Record(context.Background(), s)
		if apart {
			d.settleJournal(t.Context())
		}
	}
	d.settleJournal(t.Context())
}

// A run has one row, whether its steps came in one batch or many: what was asked
// first, who answered, why not the first.
func TestARunHasOneRow(t *testing.T) {
	for _, apart := range []bool{false, true} {
		d := open(t, t.TempDir())
		skip := attempted(noon, "skips", mainSession, modelA, 1, fallback.Billing)
		skip.What, skip.Attempt.Skipped = fallback.StepSkip, fallback.SkipBilling
		chosen := fallback.Step{At: noon, Run: "chosen", Session: mainSession, Agent: "main", Kind: fallback.Chat, What: fallback.StepOverride, Write: &fallback.Write{By: &fallback.Person{Name: "ada"}}}
		journalled(t, d, apart,
			attempted(noon, "good", mainSession, modelA, 1, ""),
			attempted(noon, "fell", mainSession, modelA, 1, fallback.RateLimit), attempted(noon.Add(time.Second), "fell", mainSession, modelB, 2, ""),
			attempted(noon, "bad", mainSession, modelA, 1, fallback.RateLimit), attempted(noon, "bad", mainSession, modelB, 2, fallback.Overloaded), exhausted(noon, "bad", mainSession),
			skip, attempted(noon, "skips", mainSession, modelB, 2, ""),
			usesTool(attempted(noon, "tools", mainSession, modelA, 1, "")), attempted(noon, "tools", mainSession, modelA, 1, ""),
			usesTool(attempted(noon, "half", mainSession, modelA, 1, "")), attempted(noon, "half", mainSession, modelA, 1, fallback.Overloaded), exhausted(noon, "half", mainSession),
			usesTool(attempted(noon, "working", mainSession, modelA, 1, "")),
			attempted(noon, "stopped", mainSession, modelA, 1, fallback.Timeout),
			chosen,
		)
		list, err := d.RunsBack(t.Context(), rows.RunsOf{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, r := range list {
			have = append(have, fmt.Sprintf("%s %s %s→%s %s %d+%d", r.Run, r.Outcome, r.Requested, r.Answered, r.Reason, r.Attempts, r.Skips))
		}
		a, b := modelA.String(), modelB.String()
		want := []string{
			"chosen changed →  0+0",
			"stopped open " + a + "→ timeout 1+0",
			"working open " + a + "→  1+0",
			"half failed " + a + "→ overloaded 2+0",
			"tools answered " + a + "→" + a + "  2+0",
			"skips answered " + a + "→" + b + " billing 1+1",
			"bad failed " + a + "→ rate_limit 2+0",
			"fell answered " + a + "→" + b + " rate_limit 2+0",
			"good answered " + a + "→" + a + "  1+0",
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("apart: %v\n%s", apart, diff)
		}
	}
}

// A stretch goes on for as long as one model answers a session, and ends when
// another does, or none.
func TestStretches(t *testing.T) {
	d := open(t, t.TempDir())
	at := func(m int) time.Time { return noon.Add(time.Duration(m) * time.Minute) }
	other := fallback.SessionID("agent:main:other")
	journalled(t, d, true,
		attempted(at(0), "r0", mainSession, modelA, 1, ""),
		attempted(at(1), "o1", other, modelA, 1, ""),
		usesTool(attempted(at(2), "r2", mainSession, modelA, 1, "")), attempted(at(2), "r2", mainSession, modelA, 1, ""), // uses a tool
		attempted(at(5), "r5", mainSession, modelA, 1, fallback.RateLimit), attempted(at(5), "r5", mainSession, modelB, 2, ""),
		attempted(at(9), "r9", mainSession, modelB, 1, ""),
		usesTool(attempted(at(10), "r10", mainSession, modelA, 1, "")), attempted(at(10), "r10", mainSession, modelA, 1, fallback.Overloaded), attempted(at(10), "r10", mainSession, modelB, 2, ""), // fails behind a tool
		attempted(at(12), "r12", mainSession, modelB, 1, fallback.Overloaded), exhausted(at(12), "r12", mainSession),
	)
	list, err := d.Stretches(t.Context(), rows.StretchesOf{From: noon, To: at(60), Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, s := range list {
		have = append(have, fmt.Sprintf("%s %s %v-%v %d %s", s.Session, s.Model, s.Began.Sub(noon), s.Ended.Sub(noon), s.Turns, s.Reason))
	}
	want := []string{
		fmt.Sprintf("%s  12m0s-12m0s 1 overloaded", mainSession),
		fmt.Sprintf("%s %s 5m0s-10m0s 3 rate_limit", mainSession, modelB),
		fmt.Sprintf("%s %s 0s-2m0s 2 ", mainSession, modelA),
		fmt.Sprintf("%s %s 1m0s-1m0s 1 ", other, modelA),
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if list, _ := d.Stretches(t.Context(), rows.StretchesOf{From: at(3), To: at(8), Limit: 10}); len(list) != 1 || list[0].Model != modelB.String() {
		t.Errorf("between: %+v", list)
	}
	agents, err := d.AgentStretches(t.Context(), rows.StretchesOf{From: noon, To: at(60)}, 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	turns := map[string]int{}
	for _, a := range agents {
		turns[a.Model] += a.Turns
	}
	if diff := cmp.Diff(map[string]int{modelA.String(): 3, modelB.String(): 3, "": 1}, turns); diff != "" {
		t.Errorf("of the agent: %s\n%+v", diff, agents)
	}
}

// Steps and runs are found by what they are about and by time, page by page, and
// no page has a row that another one had.
func TestStepsAndRunsAreFoundInPages(t *testing.T) {
	d := open(t, t.TempDir())
	var steps []fallback.Step
	for i := range 40 {
		reason := fallback.Reason("")
		if i%4 == 0 {
			reason = fallback.RateLimit
		}
		steps = append(steps, attempted(noon.Add(time.Duration(i)*time.Minute), fmt.Sprintf("r%d", i), mainSession, []fallback.Model{modelA, modelB}[i%2], 1, reason))
	}
	journalled(t, d, false, steps...)
	count := func(of rows.StepsOf) (n int) {
		of.Limit = 7
		seen := map[int64]bool{}
		for {
			page, err := d.StepsBack(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				if seen[s.ID] || of.Before != 0 && s.ID >= of.Before {
					t.Fatalf("step %d comes again", s.ID)
				}
				seen[s.ID], of.Before = true, s.ID
			}
			if len(page) < of.Limit {
				return len(seen)
			}
		}
	}
	for name, c := range map[string]struct {
		of   rows.StepsOf
		want int
	}{
		"all":                       {rows.StepsOf{}, 40},
		"of a session":              {rows.StepsOf{Session: mainSession}, 40},
		"of another":                {rows.StepsOf{Session: "x"}, 0},
		"of a model":                {rows.StepsOf{Model: modelB.String()}, 20},
		"of a reason":               {rows.StepsOf{Reason: "rate_limit"}, 10},
		"of both":                   {rows.StepsOf{Model: modelA.String(), Reason: "rate_limit"}, 10},
		"of a reason it never had":  {rows.StepsOf{Model: modelB.String(), Reason: "rate_limit"}, 0},
		"from a time":               {rows.StepsOf{From: noon.Add(30 * time.Minute)}, 10},
		"up to a time":              {rows.StepsOf{To: noon.Add(10 * time.Minute)}, 10},
		"between, and of a model":   {rows.StepsOf{From: noon.Add(10 * time.Minute), To: noon.Add(20 * time.Minute), Model: modelA.String()}, 5},
		"from the future":           {rows.StepsOf{From: noon.Add(24 * time.Hour)}, 0},
		"of a kind that nothing is": {rows.StepsOf{What: fallback.StepOverride}, 0},
		"of a run":                  {rows.StepsOf{Run: "r3"}, 1},
	} {
		if got := count(c.of); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	runs, err := d.RunsBack(t.Context(), rows.RunsOf{Answered: modelB.String(), From: noon.Add(30 * time.Minute), Limit: 3})
	if err != nil || len(runs) != 3 || runs[0].Run != "r39" || runs[2].Run != "r35" {
		t.Errorf("%v %+v", err, runs)
	}
}

// What lists are found by is an index, not a walk over all steps.
func TestTheOperatorsQueriesUseIndexes(t *testing.T) {
	d := open(t, t.TempDir())
	for name, c := range map[string]struct{ query, index string }{
		"model":     {`SELECT step FROM steps WHERE model = 'a' AND model <> '' ORDER BY id DESC LIMIT 9`, "steps_by_model"},
		"reason":    {`SELECT step FROM steps WHERE reason = 'a' AND reason <> '' ORDER BY id DESC LIMIT 9`, "steps_by_reason"},
		"kind":      {`SELECT step FROM steps WHERE what = 'override' AND what NOT IN ('attempt', 'decision') ORDER BY id DESC LIMIT 9`, "steps_by_kind"},
		"answer":    {`SELECT run FROM run_log WHERE answered = 'a' ORDER BY seq DESC LIMIT 9`, "run_log_by_answer"},
		"outcome":   {`SELECT run FROM run_log WHERE outcome = 'failed' AND outcome <> 'answered' ORDER BY seq DESC LIMIT 9`, "run_log_by_outcome"},
		"stretches": {`SELECT id FROM stretches WHERE session = 'a' ORDER BY id DESC LIMIT 1`, "stretches_by_session"},
		"unsent":    {`SELECT count(*) FROM outbox INDEXED BY outbox_owed WHERE ` + owed, "outbox_owed"},
		"the chat":  {`SELECT seq FROM outbox WHERE channel = 'page' AND conversation = 'c' AND created < 9`, "outbox_of_page"},
	} {
		var plan []string
		err := d.main.each(t.Context(), "EXPLAIN QUERY PLAN "+c.query, nil, func(scan func(...any) error) error {
			var id, parent, n int
			var detail string
			err := scan(&id, &parent, &n, &detail)
			plan = append(plan, detail)
			return err
		})
		text := strings.Join(plan, "; ")
		if err != nil || !strings.Contains(text, c.index) || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
}

// Sessions come page by page, the last spoken to first; stand-ins and choices are
// told apart as the rule book does [M9].
func TestSessionsInPages(t *testing.T) {
	d := open(t, t.TempDir())
	for i := range 25 {
		s := SessionState{Session: bot.Session{Key: fallback.SessionID(fmt.Sprintf("agent:main:s%02d", i)), Agent: "main", LastInteraction: noon.Add(time.Duration(i/2) * time.Minute), Route: channels.Address{Channel: "slack"}}}
		switch i {
		case 3:
			s.Selection = fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA, Since: noon}
		case 4:
			s.Selection = fallback.Selection{Model: modelB, Source: fallback.ByUser, Since: noon}
		case 5:
			s.Selection = fallback.Selection{Model: modelB} // legacy: a person's
		}
		if err := d.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	var seen []fallback.SessionID
	of := rows.SessionsOf{Limit: 4}
	for {
		page, err := d.SessionsBack(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			seen = append(seen, s.Key)
			of.After, of.AfterID = s.LastInteraction, s.Key
		}
		if len(page) < of.Limit {
			break
		}
	}
	if len(seen) != 25 || seen[0] != "agent:main:s24" || seen[1] != "agent:main:s22" || seen[24] != "agent:main:s01" {
		t.Errorf("%d: %v", len(seen), seen)
	}
	for name, c := range map[string]struct {
		of   rows.SessionsOf
		want int
	}{
		"on a stand-in": {rows.SessionsOf{StandIn: true}, 1},
		"chosen":        {rows.SessionsOf{Chosen: true}, 2},
		"by part":       {rows.SessionsOf{Part: "s1"}, 10},
		"by channel":    {rows.SessionsOf{Channel: "discord"}, 0},
		"by key":        {rows.SessionsOf{Keys: []fallback.SessionID{"agent:main:s03", "x"}}, 1},
		"by no key":     {rows.SessionsOf{Keys: []fallback.SessionID{}}, 0},
	} {
		c.of.Limit = 100
		if page, err := d.SessionsBack(t.Context(), c.of); err != nil || len(page) != c.want {
			t.Errorf("%s: %d %v, want %d", name, len(page), err, c.want)
		}
	}
	list, counts, err := d.StandIns(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].Key != "agent:main:s03" || counts["main"] != 1 {
		t.Errorf("%v %v %v", list, counts, err)
	}
	if gone, err := d.Forget(t.Context(), "agent:main:s03", noon); err != nil || !gone {
		t.Errorf("forget: %v %v", gone, err)
	}
	if sel, _ := d.Selection(t.Context(), "agent:main:s03"); !sel.Model.IsZero() {
		t.Errorf("its choice stays: %+v", sel)
	}
}

// A chat of the page is its messages and their answers in order, page by page.
func TestAPagesChat(t *testing.T) {
	d := open(t, t.TempDir())
	to := channels.Address{Channel: "page", Conversation: "main.main"}
	for i := range 3 {
		in := channels.Inbound{ID: fmt.Sprintf("m%d", i), To: to, Chat: channels.Direct, From: channels.User{ID: "operator", Name: "ada"}, Text: fmt.Sprintf("q%d", i), At: noon}
		row, _, err := d.Accept(t.Context(), in, "agent:main:page:direct:main", "main", noon)
		if err != nil {
			t.Fatal(err)
		}
		end(t, d, bot.Ending{Accepted: row.ID, Session: row.Session, Turn: fmt.Sprintf("t%d", i), How: bot.Answered, At: noon,
			Posts: []channels.Outbound{{ID: fmt.Sprintf("t%d-r", i), To: to, Kind: channels.Reply, Text: fmt.Sprintf("a%d", i)}}})
	}
	var have []string
	var before rows.ChatPlace
	for {
		page, err := d.PageChat(t.Context(), "main.main", before, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		var texts []string
		for _, l := range page {
			texts = append(texts, l.Text)
		}
		have, before = append(texts, have...), page[0].ChatPlace
	}
	if got := strings.Join(have, " "); got != "q0 q1 q2 a0 a1 a2" {
		t.Errorf("%s", got)
	}
	if n, oldest, err := d.Unsent(t.Context()); err != nil || n != 3 || !oldest.Equal(noon) {
		t.Errorf("unsent: %d %v %v", n, oldest, err)
	}
}

// Acts are kept and read back, the latest first.
func TestActsOfOperators(t *testing.T) {
	d := open(t, t.TempDir())
	for i := range 3 {
		if err := d.NoteAct(t.Context(), rows.KeptAct{At: noon, Who: "ada", Via: "page", What: "job.run", About: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := d.ActsBack(t.Context(), 0, 2)
	if err != nil || len(list) != 2 || list[0].About != "2" {
		t.Fatalf("%v %+v", err, list)
	}
	if list, err = d.ActsBack(t.Context(), list[1].ID, 2); err != nil || len(list) != 1 || list[0].About != "0" {
		t.Errorf("%v %+v", err, list)
	}
}

// The run log goes with its steps, what operators did stays as long as the ledger.
func TestTheOperatorsRowsArePruned(t *testing.T) {
	d := open(t, t.TempDir())
	journalled(t, d, false, attempted(noon, "old", mainSession, modelA, 1, ""), attempted(noon.Add(48*time.Hour), "new", "agent:main:other", modelA, 1, ""))
	for _, at := range []time.Time{noon, noon.Add(48 * time.Hour)} {
		if err := d.NoteAct(t.Context(), rows.KeptAct{At: at, Who: "ada", What: "job.run"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Prune(t.Context(), noon.Add(72*time.Hour), Retention{Steps: 48 * time.Hour, Ledger: 96 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	runs, _ := d.RunsBack(t.Context(), rows.RunsOf{Limit: 9})
	stretches, _ := d.Stretches(t.Context(), rows.StretchesOf{From: noon.Add(-time.Hour), To: noon.Add(time.Hour * 100), Limit: 9})
	acts, _ := d.ActsBack(t.Context(), 0, 9)
	if len(runs) != 1 || runs[0].Run != "new" || len(stretches) != 1 || len(acts) != 2 {
		t.Errorf("kept: %+v %+v %+v", runs, stretches, acts)
	}
}
