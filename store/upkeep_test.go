package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"standin/bot"
	"standin/channels"
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
	if want := int64(1 + 1 + 1400 + 200); n != want || err != nil {
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
