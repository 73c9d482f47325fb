package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/bot/operator/rows"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
)

// What is old and over goes; what is owed an ending or a post stays, however old.
func TestPrune(t *testing.T) {
	d := open(t, t.TempDir())
	old, now := noon.Add(-48*time.Hour), noon
	for i, at := range []time.Time{old, old, now} {
		id := string(rune('1' + i))
		row, _, err := d.Accept(t.Context(), hello(id), mainSession, "main", at)
		if err != nil {
			t.Fatal(err)
		}
		if i != 1 { // the second one has no ending yet
			end(t, d, bot.Ending{Accepted: row.ID, Session: mainSession, How: bot.Silent, At: at,
				Posts: []channels.Outbound{reply("owed"+id, ""), {ID: "sent" + id, To: room("C2")}}})
		}
		if ok, err := d.Claim(t.Context(), "sent"+id); err != nil {
			t.Fatal(err)
		} else if ok {
			if err := d.Mark(t.Context(), bot.Delivery{Outbound: channels.Outbound{ID: "sent" + id}, State: bot.Sent}); err != nil {
				t.Fatal(err)
			}
		}
		for range 700 {
			d.Journal().Record(t.Context(), fallback.Step{At: at, Run: id})
		}
		stepsOfDB(t, d, StepFilter{}) // written
	}
	if n, err := d.Prune(t.Context(), now, Retention{}); n != 0 || err != nil {
		t.Errorf("kept for ever: %d %v", n, err)
	}
	n, err := d.Prune(t.Context(), now, Retention{Messages: 24 * time.Hour, Posts: 24 * time.Hour, Steps: 24 * time.Hour, MaxSteps: 500})
	if want := int64(1 + 1 + 1400 + 200 + 2); n != want || err != nil {
		t.Errorf("deleted %d, want %d: %v", n, want, err)
	}
	s, err := d.Stats(t.Context())
	if err != nil || s.Sessions != 1 || s.Unended != 1 || s.Owed != 2 || s.Steps != 500 || s.Bytes == 0 {
		t.Errorf("left: %+v %v", s, err)
	}
	if _, fresh, _ := d.Accept(t.Context(), hello("3"), mainSession, "main", now); fresh {
		t.Error("a late repeat of a young message runs again")
	}
}

// The lists that the operator reads are kept as long as what they are made of, and
// the lines of a reminder do not outlive it for ever.
func TestPruneOfLists(t *testing.T) {
	d := open(t, t.TempDir())
	old := noon.Add(-500 * 24 * time.Hour)
	for i, at := range []time.Time{old, noon} {
		s := paid(at, fallback.Chat, 1)
		s.Run, s.Session = string(rune('1'+i)), fallback.SessionID(rune('1'+i))
		d.Journal().Record(t.Context(), s)
		stepsOfDB(t, d, StepFilter{}) // written
		if err := d.NoteAct(t.Context(), rows.KeptAct{At: at, What: "clear"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.AddJob(t.Context(), cronjobs.Job{ID: "daily"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []cronjobs.Run{
		{ID: "a", Job: "reminder", Ended: cronjobs.At(old)},
		{ID: "b", Job: "reminder", Ended: cronjobs.At(noon)},
		{ID: "c", Job: "reminder", Ended: cronjobs.At(old), Delivery: cronjobs.Delivers{Status: cronjobs.Unclear}},
		{ID: "d", Job: "reminder"},
		{ID: "e", Job: "daily", Ended: cronjobs.At(old)},
	} {
		if err := d.PutRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		keep Retention
		want int64
	}{
		{Retention{Steps: 30 * 24 * time.Hour}, 3},   // the step, its run and its stretch
		{Retention{Ledger: 400 * 24 * time.Hour}, 4}, // the call, its hour, the act, and the reminder's line that is known to be over
	} {
		if n, err := d.Prune(t.Context(), noon, c.keep); err != nil || n != c.want {
			t.Errorf("%+v: deleted %d, want %d: %v", c.keep, n, c.want, err)
		}
	}
}

func TestBackup(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	d := open(t, dir)
	accept(t, d, hello("1"))
	c := d.Credentials(nil)
	put(t, c, "main", NewAPIKey("openai:default", "k"))
	path := filepath.Join(copied, mainFile)
	if err := d.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if rows, err := open(t, copied).Unended(t.Context()); err != nil || len(rows) != 1 {
		t.Errorf("restored: %d rows, %v", len(rows), err)
	}
	if err := d.Backup(t.Context(), path); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a backup is not written over another file: %v", err)
	}
	if err := c.Backup(t.Context(), "main", filepath.Join(copied, "agent")); err != nil {
		t.Error(err)
	}
	if err := c.Backup(t.Context(), "ops", filepath.Join(copied, "ops")); err == nil {
		t.Error("an agent without credentials was backed up")
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSessionsForPeople(t *testing.T) {
	d := open(t, t.TempDir())
	for i, key := range []fallback.SessionID{"agent:main:a", "agent:main:b", "agent:main:c"} {
		s := SessionState{Session: bot.Session{Key: key, LastInteraction: noon.Add(time.Duration(i) * time.Hour)}, Selection: autoOf(modelB)}
		if err := d.PutSession(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	list, err := d.Sessions(t.Context(), 2)
	if err != nil || len(list) != 2 || list[0].Key != "agent:main:c" || list[0].Selection != autoOf(modelB) {
		t.Errorf("%+v %v", list, err)
	}
	if list, _ := d.Sessions(t.Context(), 0); len(list) != 3 {
		t.Errorf("all: %d", len(list))
	}
}
