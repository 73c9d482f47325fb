package cronjobs

import (
	"testing"
	"time"
	_ "time/tzdata"
)

func slots(t *testing.T, expr, zone, from string, n int) (got []string) {
	t.Helper()
	c, err := readClock(expr, zone, time.UTC)
	if err != nil {
		t.Fatalf("%q: %v", expr, err)
	}
	at, err := time.Parse(time.RFC3339, from)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if at = c.next(at); at.IsZero() {
			break
		}
		got = append(got, at.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return got
}

// Spec, R16 and R20, and D22: what an expression means where clocks jump and
// where cron programs differ.
func TestSlots(t *testing.T) {
	const ny = "America/New_York"
	for _, c := range []struct {
		says, expr, zone, from string
		want                   []string
	}{
		{"cron-19, IL-248: a time in the gap comes as much later as the clocks jump", "30 2 * * *", ny, "2026-03-07T08:00:00Z",
			[]string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}},
		{"cron-20: a time shown twice counts the first time", "30 1 * * *", ny, "2026-10-31T06:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"cron-21: a job of every hour follows real hours", "30 * * * *", ny, "2026-11-01T05:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:30:00Z"}},
		{"and skips an hour that the clocks do not show", "30 * * * *", ny, "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T06:30:00Z", "2026-03-08T07:30:00Z"}},
		{"two times that the gap moves to one moment are one slot", "30 2,3 * * *", ny, "2026-03-08T06:00:00Z",
			[]string{"2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}},
		{"a step of hours follows the clocks like a star", "0 */2 * * *", "Europe/Berlin", "2026-10-24T21:00:00Z",
			[]string{"2026-10-24T22:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T03:00:00Z"}},
		{"midnight that does not exist", "0 0 * * *", "Asia/Beirut", "2026-03-27T23:00:00Z",
			[]string{"2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z"}},
		{"half an hour's jump", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
			[]string{"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"}},
		{"half an hour back", "45 1 * * *", "Australia/Lord_Howe", "2026-04-03T22:00:00Z",
			[]string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
		{"cron-24: Sunday is 7 as well", "0 9 * * 7", "UTC", "2026-06-01T00:00:00Z", []string{"2026-06-07T09:00:00Z", "2026-06-14T09:00:00Z"}},
		{"and ends a range", "0 9 * * 5-7", "UTC", "2026-06-01T00:00:00Z", []string{"2026-06-05T09:00:00Z", "2026-06-06T09:00:00Z", "2026-06-07T09:00:00Z", "2026-06-12T09:00:00Z"}},
		{"by name too", "0 9 * * SAT-SUN", "UTC", "2026-06-01T00:00:00Z", []string{"2026-06-06T09:00:00Z", "2026-06-07T09:00:00Z"}},
		{"day and weekday mean either", "0 9 13 * 5", "UTC", "2026-06-01T00:00:00Z", []string{"2026-06-05T09:00:00Z", "2026-06-12T09:00:00Z", "2026-06-13T09:00:00Z"}},
		{"seconds stand in front", "30 0 9 * * *", "UTC", "2026-06-01T00:00:00Z", []string{"2026-06-01T09:00:30Z"}},
		{"29 February", "0 0 29 2 *", "UTC", "2026-06-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
	} {
		t.Run(c.says, func(t *testing.T) {
			got := slots(t, c.expr, c.zone, c.from, len(c.want))
			for i := range c.want {
				if i >= len(got) || got[i] != c.want[i] {
					t.Fatalf("%q in %s gives %v, want %v", c.expr, c.zone, got, c.want)
				}
			}
		})
	}
}

// D22: what cron programs read differently is refused, with the reason.
func TestRefusedExpressions(t *testing.T) {
	for _, expr := range []string{
		"0 9 13 * +5", "0 9 L * *", "0 9 * * 5L", "0 9 * * L", "0 9 15W * *", "0 9 * * 1#2", "0 9 ? * 5", "0 0 30 2 *", "0 9 31 2 *", "H 9 * * *",
		"", "* * * *", "* * * * * * *", "@daily", "@every 500ms", "@nonsense", "CRON_TZ=UTC", "TZ=UTC 0 9 * * *", "61 * * * *", "0 24 * * *",
		"0 9 0 * *", "0 9 * 13 *", "0 9 * * 8", "5-1 * * * *", "*/0 * * * *", "0 9 * * 5-2", "a b c d e", "1-2-3 * * * *", "1/2/3 * * * *", "-1 * * * *", "0 9 * * 1,x",
	} {
		if _, err := readClock(expr, "UTC", time.UTC); err == nil {
			t.Errorf("%q is taken", expr)
		} else {
			t.Log(err)
		}
	}
	if _, err := readClock("0 9 * * *", "Europe/Berln", time.UTC); err == nil {
		t.Error("a zone that does not exist is taken")
	}
}

// next and last agree: the last slot up to a moment is the one that next gave.
func TestLastIsTheNewestSlot(t *testing.T) {
	for _, expr := range []string{"* * * * *", "* 9 * * *", "30 2 * * *", "0 0 29 2 *", "0 */5 * * 1"} {
		c, err := readClock(expr, "Europe/Berlin", time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		slot := c.next(from)
		for range 200 {
			following := c.next(slot)
			if following.IsZero() { // 29 February 2100 does not exist, and 2104 is too far away
				break
			}
			if got := c.last(from.Add(-1), following.Add(-time.Second)); !got.Equal(slot) {
				t.Fatalf("%q: last before %v is %v, want %v", expr, following, got, slot)
			}
			slot = following
		}
	}
}
