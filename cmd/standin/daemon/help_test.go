package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

func noEnv(string) string { return "" }

// written gives the path of a config file with that text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
