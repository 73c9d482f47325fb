package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A database that was migrated step by step and a fresh one are the same.
func TestFreshAndMigratedAreEqual(t *testing.T) {
	for name, k := range map[string]kind{"main": mainKind(), "agent": agentKind()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fresh, stepwise := filepath.Join(dir, "fresh"), filepath.Join(dir, "stepwise")
			migrateFile(t, fresh, k)
			first := k
			first.fresh, first.steps = k.steps[0], k.steps[:1]
			migrateFile(t, stepwise, first)
			migrateFile(t, stepwise, k)
			if diff := cmp.Diff(schemaOf(t, fresh), schemaOf(t, stepwise)); diff != "" {
				t.Errorf("fresh (-) and migrated (+) differ:\n%s", diff)
			}
		})
	}
}

// Each released version is reached in one transaction per start: a step that
// fails leaves the file at the version it had.
func TestAFailedStepChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	k := mainKind()
	migrateFile(t, path, k)
	before := schemaOf(t, path)
	k.steps = append(k.steps[:len(k.steps):len(k.steps)], "CREATE TABLE extra (x TEXT) STRICT", "CREATE TABLE sessions (x TEXT) STRICT")
	if err := tryMigrate(t, path, k); err == nil || !strings.Contains(err.Error(), "schema step") {
		t.Fatalf("error: %v", err)
	}
	if diff := cmp.Diff(before, schemaOf(t, path)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}

func migrateFile(t *testing.T, path string, k kind) {
	t.Helper()
	if err := tryMigrate(t, path, k); err != nil {
		t.Fatal(err)
	}
}

func tryMigrate(t *testing.T, path string, k kind) error {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return migrate(context.Background(), conn, k)
}

var (
	blanks, remarks = regexp.MustCompile(`\s+`), regexp.MustCompile(`--[^\n]*`)
	layout          = strings.NewReplacer(" ,", ",", " )", ")") // where ALTER TABLE breaks its lines
)

// schemaOf reads sqlite_schema and the file's marks, without layout and remarks.
func schemaOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, "mode=ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	rows, err := db.Query(`SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema
		UNION ALL SELECT 'application_id', application_id FROM pragma_application_id
		UNION ALL SELECT 'user_version', user_version FROM pragma_user_version`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			t.Fatal(err)
		}
		all[name] = layout.Replace(strings.TrimSpace(blanks.ReplaceAllString(remarks.ReplaceAllString(text, ""), " ")))
	}
	if rows.Err() != nil || len(all) < 5 {
		t.Fatalf("%d entries: %v", len(all), rows.Err())
	}
	return all
}
