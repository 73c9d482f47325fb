package heartbeat_test

import (
	"testing"
	"time"

	"standin/channels/channeltest"
	"standin/heartbeat"
)

// A clock that was a month ahead and is set right: the agent beats at once by the
// new time, also where it beats in some hours alone, and what the wrong clock
// stamped holds up nothing [H3, H8, H9].
func TestAClockThatIsSetBack(t *testing.T) {
	for _, hours := range []heartbeat.Hours{{}, {Set: true, Start: 0, End: 24 * 60, Zone: time.UTC}} {
		inHouse(t, func(h *house) {
			h.files.write("tasks:\n  - name: mail\n    interval: 1h\n    prompt: Look for mail.\n")
			h.set(func(c *heartbeat.Config) { c.Hours = hours })
			h.skew.Store(int64(30 * 24 * time.Hour))
			h.begin(true)
			h.say("hello")
			h.posted()
			for range 6 {
				h.vendors.then(primary, answer{text: "the disk is full"})
			}
			h.pass(3 * time.Hour)
			if got := h.posted(); len(got) != 1 {
				t.Fatalf("by the wrong clock: %v", got)
			}
			h.beatTimes()
			h.skew.Store(0)
			h.pass(2*time.Hour + time.Minute)
			if n := len(h.beatTimes()); n < 2 {
				t.Errorf("%d beats in the two hours after", n)
			}
			if got := h.posted(); len(got) != 1 {
				t.Errorf("the same alert is news again: %v", got)
			}
		})
	}
}

// Typing is shown where a beat's answer goes and only there: with a target, in
// the session's own room, unless that is switched off [H24, H14].
func TestWhereABeatShowsThatItIsAtWork(t *testing.T) {
	for _, c := range []struct {
		says  string
		set   func(*heartbeat.Config)
		seen  heartbeat.Visibility
		shown bool
	}{
		{"a target", func(*heartbeat.Config) {}, heartbeat.Visible(), true},
		{"no target", func(c *heartbeat.Config) { c.Target = heartbeat.TargetNone }, heartbeat.Visible(), false},
		{"another room", func(c *heartbeat.Config) { c.Target, c.To = "room", "elsewhere" }, heartbeat.Visible(), false},
		{"useIndicator: false", func(*heartbeat.Config) {}, heartbeat.Visibility{Alerts: true}, false},
		{"an isolated session", func(c *heartbeat.Config) { c.Isolated = true }, heartbeat.Visible(), true},
	} {
		inHouse(t, func(h *house) {
			h.set(c.set)
			s := *h.s
			s.Seen.Default = c.seen
			h.s = &s
			h.begin(false)
			h.say("hello")
			before := h.room.Count(channeltest.Working)
			h.beat()
			if shown := h.room.Count(channeltest.Working) > before; shown != c.shown {
				t.Errorf("%s: at work is shown: %v", c.says, shown)
			}
			if left := h.room.Standing(); len(left) != 0 {
				t.Errorf("%s: %q is left standing", c.says, left)
			}
		})
	}
}
