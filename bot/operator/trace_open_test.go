package operator

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"standin/fallback"
)

// However often credentials are tried, runs are traced: what has no end is not
// kept for one.
func TestTriesOfCredentialsAreNoTraces(t *testing.T) {
	traces := newTraces(TraceSettings{Endpoint: "http://127.0.0.1:0"}, "test", slog.New(slog.DiscardHandler))
	defer traces.close()
	step := func(kind fallback.Kind, run string) {
		traces.step(fallback.Step{Run: run, Kind: kind, What: fallback.StepAttempt, At: time.Unix(1, 0), Attempt: &fallback.Attempt{OK: true}})
	}
	for i := range 2 * tracedRuns {
		step(fallback.ProbeRun, fmt.Sprint("try", i))
	}
	step(fallback.Chat, "run")
	if n := len(traces.open); n != 1 || len(traces.open["run"]) != 1 {
		t.Errorf("%d runs are kept", n)
	}
}
