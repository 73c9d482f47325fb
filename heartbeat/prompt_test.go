package heartbeat

import (
	"strings"
	"testing"
	"time"
)

// H6, H10: what a beat asks. A prompt of the config replaces the usual one as a
// whole; what happened has one of its own, whatever the config says; the time
// stands behind each, and what HEARTBEAT.md says with the instructions.
func TestWhatABeatAsks(t *testing.T) {
	now := time.Date(2026, 6, 1, 9, 30, 0, 0, time.UTC)
	own := Config{Prompt: "Anything new?"}
	tasks := []Task{{Name: "mail", Prompt: "Look for mail."}}
	for _, c := range []struct {
		says   string
		c      Config
		reason Reason
		tells  bool
		tasks  []Task
		begins string
		holds  []string
		never  []string
	}{
		{"the usual one", Config{}, Interval, false, nil, usual, []string{"HEARTBEAT.md", "Do not infer tasks", "HEARTBEAT_OK", "Monday, 1 June 2026, 09:30 UTC"}, []string{"due:"}},
		{"the config's own", own, Interval, false, nil, "Anything new?\n", []string{"09:30 UTC"}, []string{"HEARTBEAT_OK", "HEARTBEAT.md"}},
		{"with tasks", own, Interval, false, tasks, "Anything new?\n", []string{"These tasks are due:\n- mail: Look for mail."}, nil},
		{"something happened", own, Cron, true, nil, told, []string{"HEARTBEAT_OK"}, []string{"Anything new?"}},
		{"a wake that has nothing to tell", own, Event, false, nil, "Anything new?\n", nil, nil},
		{"by hand", Config{}, Manual, false, tasks, usual, []string{"- mail"}, nil},
	} {
		text, system := prompt(c.c, c.reason, c.tells, c.tasks, File{Text: "Water the plants."}, now)
		if !strings.HasPrefix(text, c.begins) || system != "HEARTBEAT.md says:\n\nWater the plants." {
			t.Errorf("%s: %q, %q", c.says, text, system)
		}
		for _, part := range c.holds {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is missing in %q", c.says, part, text)
			}
		}
		for _, part := range c.never {
			if strings.Contains(text, part) {
				t.Errorf("%s: %q stands in %q", c.says, part, text)
			}
		}
	}
	if _, system := prompt(own, Interval, false, nil, File{Missing: true}, now); system != "" {
		t.Errorf("a file that is not there says %q", system)
	}
}
