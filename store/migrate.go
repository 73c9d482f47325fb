package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

// kind is a sort of file: how it is told from others, and its schema twice.
// fresh makes a new file at once; steps[i] brings version i to i+1. Steps that
// were released are never edited.
type kind struct {
	application int // PRAGMA application_id
	fresh       string
	steps       []string
}

// version is the schema version that this program writes (PRAGMA user_version).
func (k kind) version() int { return len(k.steps) }

//go:embed schema.sql
var mainSchema string

//go:embed agent.sql
var agentSchema string

//go:embed migrations
var migrations embed.FS

// mainKind is standin.sqlite, agentKind an agent's standin-agent.sqlite.
func mainKind() kind  { return kind{0x5374446e, mainSchema, stepsOf("main")} }
func agentKind() kind { return kind{0x53744167, agentSchema, stepsOf("agent")} }

// stepsOf reads migrations/<folder>/0001.sql, 0002.sql … in order.
func stepsOf(folder string) []string {
	names, _ := fs.Glob(migrations, "migrations/"+folder+"/*.sql") // sorted; the pattern is well formed
	var steps []string
	for _, name := range names {
		text, _ := migrations.ReadFile(name) // it was just listed
		steps = append(steps, string(text))
	}
	return steps
}

// migrate brings the file behind conn to k's version in one transaction. The
// version is read inside it, so of two processes that open a fresh file at the
// same moment one makes the schema and the other finds it made.
func migrate(ctx context.Context, conn *sql.Conn, k kind) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	todo := []string{k.fresh}
	if version > 0 {
		todo = k.steps[min(version, len(k.steps)):]
	}
	for i, step := range todo {
		if _, err := conn.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("schema step %d: %w", version+i+1, err)
		}
	}
	if len(todo) > 0 {
		mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", k.application, k.version())
		if _, err := conn.ExecContext(ctx, mark); err != nil {
			return err
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
