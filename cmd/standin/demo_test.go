package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTheDemosOwnLinesFitEightyColumns(t *testing.T) {
	for line := range strings.Lines(demoHello + demoNext) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n >= 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestSkipStaysWithinAYear(t *testing.T) {
	p, err := openPlay(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	skip := skipCommand(p, func() {})
	for _, step := range []struct {
		args string
		want string // begins with
		far  time.Duration
	}{
		{"5m", "5m have passed.", 5 * time.Minute},
		{"2000000h", "The demo's clock goes at most a year ahead.", 5 * time.Minute},
		{"8783h", "8783h have passed.", 8783*time.Hour + 5*time.Minute},
		{"1h", "The demo's clock goes at most a year ahead.", 8783*time.Hour + 5*time.Minute},
		{"-5m", "How long?", 8783*time.Hour + 5*time.Minute},
		{"", "How long?", 8783*time.Hour + 5*time.Minute},
		{"soon", "How long?", 8783*time.Hour + 5*time.Minute},
	} {
		got, err := skip.Run(t.Context(), step.args)
		if err != nil || !strings.HasPrefix(got, step.want) || p.state.Skipped != step.far {
			t.Errorf("/skip %s: %q, %v, %v ahead; want %q, %v ahead", step.args, got, err, p.state.Skipped, step.want, step.far)
		}
	}
}

// The staged stand-in speaks of an outage only while there is one.
func TestTheStagedStandInKnowsWhetherItWasChosen(t *testing.T) {
	p, err := openPlay(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	_, primary, _ := strings.Cut(stagedPrimary, "/")
	_, standIn, _ := strings.Cut(stagedStandin, "/")
	n := 0
	say := func(model string) string {
		n++
		return p.answer(model, asked(fmt.Sprint("hello ", n))).Text
	}
	if got := say(standIn); !strings.Contains(got, "as you chose") {
		t.Errorf("chosen before any outage, it says %q", got)
	}
	say(primary)
	say(primary) // fails
	if got := say(standIn); !strings.Contains(got, "primary is away") {
		t.Errorf("during the outage it says %q", got)
	}
	if err := p.Skip(outage); err != nil {
		t.Fatal(err)
	}
	if got := say(standIn); !strings.Contains(got, "as you chose") {
		t.Errorf("chosen after the outage, it says %q", got)
	}
}
