package store

import (
	"context"
	"path/filepath"
	"testing"

	"standin/bot"
	"standin/fallback"
)

// A throwaway store keeps what any other keeps, and its copy is what the next
// process would find.
func TestAThrowawayStoreAndItsCopy(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, err := Open(ctx, Options{Dir: filepath.Join(dir, "1"), Throwaway: true})
	if err != nil {
		t.Fatal(err)
	}
	row := SessionState{
		Session:   bot.Session{Key: "agent:main:room:thread:1", Agent: "main", Epoch: "e", Parent: "agent:main:room"},
		Selection: fallback.Selection{Model: fallback.Model{Provider: "groq", Name: "b"}, Source: fallback.ByUser},
	}
	if err := db.PutSession(ctx, row); err != nil {
		t.Fatal(err)
	}
	if err := db.Credentials(nil).PutCredential(ctx, "main", NewAPIKey("openai:a", "k")); err != nil {
		t.Fatal(err)
	}
	db.Journal().Record(ctx, fallback.Step{Run: "t1", What: fallback.StepSkip})

	copied := filepath.Join(dir, "2")
	if err := db.CopyTo(ctx, copied); err != nil {
		t.Fatal(err)
	}
	later := row
	later.Selection.Model.Name = "c"
	if err := db.PutSession(ctx, later); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	next, err := Open(ctx, Options{Dir: copied, Throwaway: true})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if got, err := next.Session(ctx, row.Key); err != nil || got.Parent != row.Parent || got.Epoch != "e" {
		t.Errorf("session %+v, %v", got, err)
	}
	if got, err := next.Selection(ctx, row.Key); err != nil || got.Model.Name != "b" {
		t.Errorf("selection %+v, %v: want the one of the moment of the copy", got, err)
	}
	if list, err := next.Credentials(nil).List(ctx, "main"); err != nil || len(list) != 1 {
		t.Errorf("credentials %v, %v", list, err)
	}
	if steps, err := next.Steps(ctx, StepFilter{Run: "t1"}); err != nil || len(steps) != 1 {
		t.Errorf("steps %v, %v", steps, err)
	}
}
