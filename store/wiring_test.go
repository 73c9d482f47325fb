package store

import (
	"maps"
	"strings"
	"testing"
	"time"

	"standin/channels"
)

// A platform is asked for what came after the newest message that was taken,
// conversation by conversation and account by account.
func TestLastTakenIsTheNewestOfEachConversation(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i, m := range []struct{ account, conversation, id string }{
		{"", "hall", "3"}, {"", "hall", "1"}, {"", "cellar", "2"}, {"work", "hall", "9"},
	} {
		at := time.Unix(1000-int64(i), 0) // taken late: a former message comes behind a later one
		in := channels.Inbound{ID: m.id, At: at, To: channels.Address{Channel: "discord", Account: m.account, Conversation: m.conversation}, Chat: channels.Room}
		if _, _, err := db.Accept(t.Context(), in, "", "", time.Unix(2000, 0)); err != nil {
			t.Fatal(err)
		}
	}
	last, err := db.LastTaken(t.Context(), "discord", "")
	if want := map[string]string{"hall": "3", "cellar": "2"}; err != nil || !maps.Equal(last, want) {
		t.Errorf("%v, %v; want %v", last, err, want)
	}
}

// A store that was closed, as one whose disk is gone, does not pass for alive.
func TestPingTellsAStoreThatDoesNotWork(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db.Ping(t.Context()) == nil {
		t.Error("a closed store passes for alive")
	}
}

// The look is made along an index, so that a long history costs nothing.
func TestLastTakenDoesNotWalkTheMessages(t *testing.T) {
	d := open(t, t.TempDir())
	err := d.main.each(t.Context(), "EXPLAIN QUERY PLAN "+lastTaken, []any{"discord", ""}, func(scan func(...any) error) error {
		var id, parent, unused int
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		if strings.Contains(detail, "SCAN inbox") {
			t.Errorf("a step is %q", detail)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
