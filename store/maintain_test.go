package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"standin/bot"
	"standin/cronjobs"
	"standin/fallback"
	"standin/fallback/provider"
)

// aged puts a session that was last used at a time, with one exchange.
func aged(t *testing.T, d *DB, key string, used time.Time) {
	t.Helper()
	s := SessionState{Session: bot.Session{Key: fallback.SessionID(key), Agent: "main", Epoch: "e-" + key, StartedAt: used, LastInteraction: used},
		Selection: fallback.Selection{Model: modelB, Source: fallback.ByUser}}
	if err := d.PutSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	end(t, d, bot.Ending{Session: s.Key, Epoch: s.Epoch, Background: true, How: bot.Answered, At: used,
		Entries: []bot.Entry{{Turn: "t", Role: provider.User, Text: "hi", At: used}}})
}

func keys(t *testing.T, d *DB) (all []string) {
	t.Helper()
	list, err := d.Sessions(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		all = append(all, string(s.Key))
	}
	slices.Sort(all)
	return all
}

func entriesLeft(t *testing.T, d *DB) (n int) {
	t.Helper()
	if _, err := d.main.row(t.Context(), `SELECT count(*) FROM transcript`, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Of more sessions than are kept the one that was unused for longest goes, with
// all that is its own; one that is answered, or that a message waits for, never
// does, and an agent's main one stays [S15, session-13].
func TestTooManySessions(t *testing.T) {
	d := open(t, t.TempDir())
	for i := range 6 {
		aged(t, d, fmt.Sprint("agent:main:slack:channel:c", i), noon.Add(time.Duration(i)*time.Minute))
	}
	aged(t, d, "agent:main:main", noon.Add(-time.Hour))
	in := hello("m1")
	if _, _, err := d.Accept(t.Context(), in, "agent:main:slack:channel:c1", "main", noon); err != nil {
		t.Fatal(err)
	}
	busy := func(s fallback.SessionID) bool { return s == "agent:main:slack:channel:c0" }
	keep := Keeping{Most: 5, Busy: busy}
	if n, err := d.Maintain(t.Context(), noon.Add(time.Hour), Keeping{Most: 5, Busy: busy, Dry: true}); n != 2 || err != nil || len(keys(t, d)) != 7 {
		t.Errorf("a dry run forgot: %d, %v", n, err)
	}
	if n, err := d.Maintain(t.Context(), noon.Add(time.Hour), keep); n != 2 || err != nil {
		t.Errorf("%d forgotten, %v", n, err)
	}
	want := []string{"agent:main:main", "agent:main:slack:channel:c0", "agent:main:slack:channel:c1", "agent:main:slack:channel:c4", "agent:main:slack:channel:c5"}
	if got := keys(t, d); !slices.Equal(got, want) {
		t.Errorf("kept %q", got)
	}
	if n := entriesLeft(t, d); n != 5 {
		t.Errorf("%d entries left", n)
	}
	if sel := selectionOf(t, d, "agent:main:slack:channel:c2"); sel != (fallback.Selection{}) {
		t.Errorf("the choice of a forgotten session stays: %+v", sel)
	}
}

// What nobody has used for pruneAfter is forgotten; a job's session counts by
// its runs [S15].
func TestUnusedSessionsAreForgotten(t *testing.T) {
	d := open(t, t.TempDir())
	now := noon.Add(40 * 24 * time.Hour)
	aged(t, d, "agent:main:slack:channel:old", noon)
	aged(t, d, "agent:main:slack:channel:new", now.Add(-29*24*time.Hour))
	aged(t, d, "agent:main:cron:job", noon)
	end(t, d, bot.Ending{Session: "agent:main:cron:job", Epoch: "e-agent:main:cron:job", Background: true, How: bot.Answered, At: now,
		Entries: []bot.Entry{{Turn: "t2", Role: provider.User, Text: "again", At: now.Add(-time.Hour)}}})
	if n, err := d.Maintain(t.Context(), now, Keeping{After: 30 * 24 * time.Hour}); n != 1 || err != nil {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if got := keys(t, d); !slices.Equal(got, []string{"agent:main:cron:job", "agent:main:slack:channel:new"}) {
		t.Errorf("kept %q", got)
	}
}

// R64: what a job's session said goes after a day, and the model that somebody
// chose for it stays for as long as the job does, however seldom it runs.
func TestAJobsSessionStaysWithItsJob(t *testing.T) {
	d := open(t, t.TempDir())
	const session = "agent:main:cron:yearly"
	if err := d.AddJob(t.Context(), cronjobs.Job{ID: "yearly", Name: "yearly"}); err != nil {
		t.Fatal(err)
	}
	aged(t, d, session, noon)
	if n, err := d.PruneSaid(t.Context(), noon.Add(24*time.Hour)); n != 1 || err != nil {
		t.Fatalf("%d entries went, %v", n, err)
	}
	now, keep := noon.Add(300*24*time.Hour), Keeping{After: 30 * 24 * time.Hour, Most: 1}
	aged(t, d, "agent:main:slack:channel:new", now)
	if n, err := d.Maintain(t.Context(), now, keep); n != 1 || err != nil { // the chat, for Most
		t.Errorf("%d forgotten, %v", n, err)
	}
	if got := keys(t, d); !slices.Equal(got, []string{session}) || selectionOf(t, d, session).Model != modelB {
		t.Errorf("kept %q with %+v", got, selectionOf(t, d, session))
	}
	if _, err := d.ChangeJob(t.Context(), "yearly", func(*cronjobs.Job) (cronjobs.Change, error) { return cronjobs.Change{Remove: true}, nil }); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Maintain(t.Context(), now, keep); n != 1 || err != nil {
		t.Errorf("without its job: %d forgotten, %v", n, err)
	}
}

// What a session has put behind it stays readable for pruneAfter, and goes then;
// the session itself stays [S9].
func TestEndedEpochsArePruned(t *testing.T) {
	d := open(t, t.TempDir())
	aged(t, d, "agent:main:main", noon)
	end(t, d, bot.Ending{Session: mainSession, Epoch: "e-agent:main:main", How: bot.Commanded, At: noon.Add(time.Hour), Renew: &bot.Renewal{Session: mainSession, Epoch: "e2"}})
	end(t, d, bot.Ending{Session: mainSession, Epoch: "e2", How: bot.Answered, At: noon.Add(2 * time.Hour), Entries: []bot.Entry{{Turn: "t2", Role: provider.User, Text: "new", At: noon}}})
	for _, c := range []struct {
		later time.Duration
		want  int
	}{{29 * 24 * time.Hour, 2}, {31 * 24 * time.Hour, 1}} {
		if _, err := d.Maintain(t.Context(), noon.Add(c.later), Keeping{After: 30 * 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		if n := entriesLeft(t, d); n != c.want {
			t.Errorf("after %v %d entries are left, want %d", c.later, n, c.want)
		}
	}
	if list, err := d.History(t.Context(), mainSession, "e2", 10); err != nil || len(list) != 1 {
		t.Errorf("the present conversation has %d entries, %v", len(list), err)
	}
}
