package bot

import (
	"testing"
	"time"
)

// A session that stays on a stand-in hears of it once per stretch, with the
// first answer after it, however many messages come; a fresh move is announced
// and not reminded of [D12].
func TestRemind(t *testing.T) {
	moved := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return moved.Add(d) }
	for _, c := range []struct {
		name        string
		every       time.Duration
		since       time.Time
		before, now time.Duration
		want        bool
	}{
		{"off by default", 0, moved, time.Hour, 9 * time.Hour, false},
		{"on no stand-in there is nothing to say", time.Hour, time.Time{}, 0, 9 * time.Hour, false},
		{"within the first stretch", time.Hour, moved, 10 * time.Minute, 59 * time.Minute, false},
		{"the first message after it", time.Hour, moved, 59 * time.Minute, 61 * time.Minute, true},
		{"not the second", time.Hour, moved, 61 * time.Minute, 62 * time.Minute, false},
		{"after the next stretch again", time.Hour, moved, 62 * time.Minute, 2 * time.Hour, true},
		{"a message before the move does not count as a stretch", time.Hour, moved, -3 * time.Hour, time.Minute, false},
	} {
		if got := remind(c.every, c.since, at(c.before), at(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
