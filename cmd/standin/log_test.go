package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// Whatever a line is made of, what looks like a key does not reach the log [I12].
func TestTheLogMasksKeys(t *testing.T) {
	const key = "sk-proj-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
	var out strings.Builder
	log := newLog(&out, slog.LevelDebug).With("held", "a "+key)
	log.Info("message with "+key, "text", key, "err", errors.New("refused: "+key), "lines", []string{"one", "two " + key}, slog.Group("in", "it", key))
	if got := out.String(); strings.Contains(got, key) || !strings.Contains(got, `"lines":["one","two`) {
		t.Error(got)
	}
}
