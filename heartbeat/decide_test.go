package heartbeat

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"standin/bot/policy"
	"standin/channels"
	"standin/fallback"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func hours(t testing.TB, start, end, zone string) Hours {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	from, err := ParseClock(start)
	if err != nil {
		t.Fatal(err)
	}
	to, err := ParseClock(end)
	if err != nil {
		t.Fatal(err)
	}
	return Hours{Set: true, Start: from, End: to, Zone: z}
}

// "activeHours {start inclusive, end exclusive}; 24:00 allowed for end; overnight
// wrap; start==end ⇒ never" [H11, heartbeat-10].
func TestActiveHours(t *testing.T) {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	at := func(clock string) time.Time {
		v, _ := time.ParseInLocation("2006-01-02 15:04:05", "2026-01-15 "+clock, berlin)
		return v
	}
	for _, c := range []struct {
		name, start, end, at string
		in                   bool
	}{
		{"overnight, before midnight", "22:00", "06:00", "23:30:00", true},
		{"overnight, after midnight", "22:00", "06:00", "05:59:59", true},
		{"the end is not in", "22:00", "06:00", "06:00:00", false},
		{"the start is", "22:00", "06:00", "22:00:00", true},
		{"by day", "08:00", "18:00", "07:59:59", false},
		{"by day, at the start", "08:00", "18:00", "08:00:00", true},
		{"until midnight", "08:00", "24:00", "23:59:59", true},
		{"until midnight, and not after", "08:00", "24:00", "00:00:00", false},
		{"the whole day", "00:00", "24:00", "00:00:00", true},
		{"equal is never", "08:00", "08:00", "08:00:00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := hours(t, c.start, c.end, "Europe/Berlin").Contains(at(c.at)); got != c.in {
				t.Errorf("%s in %s to %s: %t", c.at, c.start, c.end, got)
			}
		})
	}
	if !(Hours{}).Contains(noon) {
		t.Error("without hours any time is in")
	}
	for _, bad := range []string{"", "8", "8:0", "25:00", "24:01", "08:60", "-1:00", "noon"} {
		if m, err := ParseClock(bad); err == nil {
			t.Errorf("%q is read as %d", bad, m)
		}
	}
}

// "Phase: deterministic hash of (instance seed, agent) mod interval" [H3]: slots
// are one interval apart, the same whenever they are asked for, and agents and
// installations do not beat together.
func TestSlotsStandStill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		every := time.Duration(rapid.Int64Range(1, 3*24*60).Draw(t, "minutes")) * time.Minute
		seed, agent := rapid.String().Draw(t, "seed"), fallback.AgentID(rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "agent"))
		after := time.UnixMilli(rapid.Int64Range(-1e12, 4e12).Draw(t, "after"))
		phase := Phase(seed, agent, every)
		if phase < 0 || phase >= every || phase != Phase(seed, agent, every) {
			t.Fatalf("phase %s of %s", phase, every)
		}
		slot, ok := Next(after, every, phase, Hours{})
		if !ok || !slot.After(after) || slot.Sub(after) > every {
			t.Fatalf("after %s comes %s", after, slot)
		}
		if again, _ := Next(slot.Add(-1), every, phase, Hours{}); !again.Equal(slot) {
			t.Fatalf("asked a moment before it, %s is %s", slot, again)
		}
		if next, _ := Next(slot, every, phase, Hours{}); next.Sub(slot) != every {
			t.Fatalf("%s and %s are not %s apart", slot, next, every)
		}
	})
	seen := map[time.Duration]bool{}
	for _, a := range []fallback.AgentID{"main", "ops", "sales"} {
		seen[Phase("here", a, time.Hour)], seen[Phase("there", a, time.Hour)] = true, true
	}
	if len(seen) != 6 {
		t.Errorf("six schedules have %d phases", len(seen))
	}
}

// "Scheduler may seek next in-window slot ≤7 days" [H11].
func TestTheNextSlotLiesInTheHours(t *testing.T) {
	h := hours(t, "22:00", "06:00", "Europe/Berlin")
	slot, ok := Next(noon, 30*time.Minute, 0, h)
	if want := time.Date(2026, 6, 1, 20, 0, 0, 0, time.UTC); !ok || !slot.Equal(want) {
		t.Errorf("%s, want %s", slot, want)
	}
	if n := PerDay(noon, 30*time.Minute, 0, h); n != 16 {
		t.Errorf("%d a day, want 16", n)
	}
	if slot, ok := Next(noon, 30*time.Minute, 0, hours(t, "08:00", "08:00", "UTC")); ok {
		t.Errorf("there is a slot at %s", slot)
	}
	if _, ok := Next(noon, 0, 0, Hours{}); ok {
		t.Error("an interval of nothing has slots")
	}
}

// "HEARTBEAT.md missing ⇒ run; effectively empty ⇒ skip" [H9, heartbeat-08,
// heartbeat-09].
func TestAFileWithNothingToDo(t *testing.T) {
	for text, empty := range map[string]bool{
		"":                                       true,
		"# Tasks\n- [ ]\n":                       true,
		"# Tasks\n\n- [ ] \n* \n1.\n- [x]\n":     true,
		"<!-- notes\nover lines -->\n\n## Later": true,
		"<!-- never closed\nstill a comment":     true,
		"```yaml\n```\n~~~\n~~~":                 true,
		"tasks:\n":                               true,
		"tasks: []\n":                            true,
		"#hashtag without a blank":               false,
		"- [ ] look at the mail":                 false,
		"```\nlook at the mail\n```":             false,
		"<!-- a --> look at the mail <!-- b -->": false,
		"tasks:\n- name: a\n  interval: 5m\n  prompt: b\n": false,
	} {
		if f := ParseFile(text); f.Empty() != empty {
			t.Errorf("%q: empty %t", text, !empty)
		}
	}
	if f := ReadFile("x", func(string) ([]byte, error) { return nil, fs.ErrNotExist }); !f.Missing || f.Empty() {
		t.Errorf("a missing file: %+v", f)
	}
	if f := ReadFile("x", func(string) ([]byte, error) { return nil, os.ErrPermission }); !errors.Is(f.Err, os.ErrPermission) || f.Empty() {
		t.Errorf("a file that may not be read: %+v", f)
	}
}

// "tasks: list with name, interval, prompt" [H9].
func TestTasksOfTheFile(t *testing.T) {
	f := ParseFile(`# Standing orders
Be kind.

tasks:
  - name: inbox
    interval: 30m
    prompt: "Look for mail: that cannot wait."
  # a remark
  - name: 'weather'
    interval: 1d
    prompt: Say whether it rains.

  - interval: 5m
    prompt: nameless
  - name: never
    prompt: without interval
  - name: odd
    interval: often
    prompt: x
  - name: silent
    interval: 2h
  - name: inbox
    interval: 90
    prompt: again
    colour: red
After the list.
`)
	want := []Task{{"inbox", 30 * time.Minute, "Look for mail: that cannot wait."}, {"weather", 24 * time.Hour, "Say whether it rains."}}
	if diff := cmp.Diff(want, f.Tasks); diff != "" {
		t.Error(diff)
	}
	if want := "# Standing orders\nBe kind.\n\nAfter the list."; f.Text != want {
		t.Errorf("the rest is %q", f.Text)
	}
	for i, want := range []string{"line 13: the task has no name", "line 15: the task never has no interval", "line 17: the interval of the task odd",
		"line 20: the task silent has no prompt", `line 25: "colour: red"`, "line 22: a task inbox stands above"} {
		if i >= len(f.Faults) || !strings.HasPrefix(f.Faults[i], want) {
			t.Errorf("fault %d of %q, want %s", i, f.Faults, want)
		}
	}
	stamps := map[string]time.Time{"inbox": noon.Add(-30 * time.Minute), "weather": noon.Add(-23 * time.Hour)}
	if due := Due(f.Tasks, stamps, noon); len(due) != 1 || due[0].Name != "inbox" {
		t.Errorf("due: %+v", due)
	}
	if due := Due(f.Tasks, nil, noon); len(due) != 2 {
		t.Errorf("what was never done is due: %+v", due)
	}
}

// Whatever stands in the file, reading it neither fails nor takes long.
func FuzzParseFile(f *testing.F) {
	f.Add("tasks:\n- name: a\n  interval: 5m\n  prompt: b\n")
	f.Add("<!-- # \n- [ ]\n```")
	f.Fuzz(func(t *testing.T, text string) {
		file := ParseFile(text)
		file.Empty()
		for _, task := range file.Tasks {
			if task.Name == "" || task.Every <= 0 || task.Prompt == "" {
				t.Errorf("%+v", task)
			}
		}
	})
}

// "Skips: …", in order, and what a wake and a person get past [H10, H12].
func TestWhyABeatDoesNotRun(t *testing.T) {
	day := Defaults()
	day.Every = 30 * time.Minute
	night := day
	night.Hours = hours(t, "22:00", "06:00", "UTC")
	polite := day
	polite.SkipWhenBusy = true
	idle := day
	idle.IdleAfter = 7 * 24 * time.Hour
	place := Place{To: channels.Address{Channel: "room", Conversation: "dm"}}
	tasks := []Task{{"a", time.Hour, "x"}}
	fresh := map[string]time.Time{"a": noon.Add(-time.Minute)}
	rests := noon.Add(20 * time.Minute)
	for _, c := range []struct {
		name string
		c    Config
		s    Standing
		why  Why
	}{
		{"nothing speaks against it", day, Standing{Reason: Interval}, ""},
		{"HEARTBEAT.md is missing [heartbeat-09]", day, Standing{Reason: Interval, File: File{Missing: true}}, ""},
		{"switched off", day, Standing{Reason: Interval, Off: true}, WhyOff},
		{"a wake while it is switched off", day, Standing{Reason: Cron, Off: true, Tells: true}, WhyOff},
		{"outside of the hours [heartbeat-10]", night, Standing{Reason: Interval}, WhyQuiet},
		{"a wake outside of the hours", night, Standing{Reason: Cron, Tells: true}, WhyQuiet},
		{"an empty file [heartbeat-08]", day, Standing{Reason: Interval, File: File{Text: "# Tasks\n- [ ]"}}, WhyEmptyFile},
		{"a file that cannot be read", day, Standing{Reason: Interval, File: File{Err: fs.ErrPermission}}, WhyUnreadable},
		{"a wake does not ask the file [H10]", day, Standing{Reason: Hook, Tells: true, File: File{Text: "# Tasks\n- [ ]"}}, ""},
		{"a wake whose event was told already", day, Standing{Reason: Cron}, WhyTaken},
		{"no task is due", day, Standing{Reason: Interval, File: File{Tasks: tasks}, Stamps: fresh}, WhyNoTasks},
		{"a task is due", day, Standing{Reason: Interval, File: File{Tasks: tasks}}, ""},
		{"a wake does not ask for tasks", day, Standing{Reason: Exec, Tells: true, File: File{Tasks: tasks}, Stamps: fresh}, ""},
		{"nothing is shown there", day, Standing{Reason: Interval, Place: place}, WhyAlertsOff},
		{"nothing is shown, and it goes nowhere", day, Standing{Reason: Interval, Place: Place{Why: WhyNoTarget}}, ""},
		{"alerts alone are off: the turn runs", day, Standing{Reason: Interval, Place: place, Seen: Visibility{Indicator: true}}, ""},
		{"nobody has spoken for 8 days [IL-161]", idle, Standing{Reason: Interval, Spoke: noon.Add(-8 * 24 * time.Hour)}, WhyIdle},
		{"somebody spoke yesterday", idle, Standing{Reason: Interval, Spoke: noon.Add(-24 * time.Hour)}, ""},
		{"an event is told to the idle, too", idle, Standing{Reason: Cron, Tells: true, Spoke: noon.Add(-8 * 24 * time.Hour)}, ""},
		{"every model rests", day, Standing{Reason: Interval, Rests: rests}, WhyCooling},
		{"the session is busy [heartbeat-11]", day, Standing{Reason: Interval, Busy: true}, WhyBusy},
		{"a job runs", day, Standing{Reason: Interval, Cron: true}, WhyCron},
		{"the job's own wake", day, Standing{Reason: Cron, Tells: true, Cron: true}, ""},
		{"other sessions are busy", day, Standing{Reason: Interval, Others: true}, ""},
		{"other sessions are busy, and it waits for them", polite, Standing{Reason: Interval, Others: true}, WhyLanes},
		{"a person asks", night, Standing{Reason: Manual, Off: true, Busy: true, Cron: true, Rests: rests, File: File{Text: "# x"}, Place: place}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if cmp.Equal(c.s.File, File{}) {
				c.s.File.Text = "Look for mail."
			}
			d := Decide(c.c, c.s, noon)
			if d.Why != c.why {
				t.Fatalf("why %q, want %q", d.Why, c.why)
			}
			want := time.Time{}
			switch {
			case c.why == WhyCooling:
				want = rests
			case c.why.passes():
				want = noon.Add(time.Second)
			}
			if !d.Again.Equal(want) {
				t.Errorf("tried again at %s, want %s", d.Again, want)
			}
		})
	}
}

// "Remainder ≤ ackMaxChars and no media ⇒ dropped; longer ⇒ delivered without
// the token; in the middle ⇒ ordinary text" [H7, heartbeat-05, heartbeat-07,
// IL-062].
func TestWhatBecomesOfAnAnswer(t *testing.T) {
	long := strings.Repeat("x", 301)
	c, seen := Defaults(), Visible()
	said := Row{Text: hash("the disk is full"), TextAt: noon.Add(-2 * time.Hour)}
	old := Row{Text: hash("the disk is full"), TextAt: noon.Add(-24 * time.Hour)}
	for _, k := range []struct {
		name   string
		row    Row
		seen   Visibility
		answer string
		text   string
		why    Why
	}{
		{"the token alone", Row{}, seen, "HEARTBEAT_OK", "", WhyOK},
		{"in another case", Row{}, seen, " heartbeat_ok\n", "", WhyOK},
		{"with a full stop", Row{}, seen, "HEARTBEAT_OK.", "", WhyOK},
		{"in bold", Row{}, seen, "**HEARTBEAT_OK**", "", WhyOK},
		{"in a code block", Row{}, seen, "```\nHEARTBEAT_OK\n```", "", WhyOK},
		{"in HTML", Row{}, seen, "<b>HEARTBEAT_OK</b>", "", WhyOK},
		{"with 120 characters behind it [heartbeat-05]", Row{}, seen, "HEARTBEAT_OK " + strings.Repeat("y", 120), "", WhyOK},
		{"with a little in front of it", Row{}, seen, "All is well. HEARTBEAT_OK", "", WhyOK},
		{"with 301 characters", Row{}, seen, "HEARTBEAT_OK " + long, long, WhyPosted},
		{"with 301 characters in front", Row{}, seen, long + "\nHEARTBEAT_OK!!", long, WhyPosted},
		{"in the middle [heartbeat-07]", Row{}, seen, "all good HEARTBEAT_OK today is fine", "all good HEARTBEAT_OK today is fine", WhyPosted},
		{"as part of a word", Row{}, seen, "HEARTBEAT_OKAY then", "HEARTBEAT_OKAY then", WhyPosted},
		{"no text at all [IL-062]", Row{}, seen, " \n", "", WhyEmpty},
		{"something to say", Row{}, seen, "the disk is full", "the disk is full", WhyPosted},
		{"said two hours ago [heartbeat-13]", said, seen, "the  disk is full\n", "", WhyDuplicate},
		{"said a day ago", old, seen, "the disk is full", "the disk is full", WhyPosted},
		{"alerts are not shown", Row{}, Visibility{OK: true, Indicator: true}, "the disk is full", "", WhyHidden},
		{"acknowledgements are shown", Row{}, Visibility{OK: true}, "HEARTBEAT_OK all well", policy.OKToken, WhyShownOK},
	} {
		t.Run(k.name, func(t *testing.T) {
			v := Judge(c, k.seen, k.row, k.answer, noon)
			if v.Text != k.text || v.Why != k.why {
				t.Errorf("%+v, want %q for %q", v, k.text, k.why)
			}
			if keeps := k.why == WhyPosted || k.why == WhyHidden; v.Forget == keeps {
				t.Errorf("forgotten: %t", v.Forget)
			}
		})
	}
}

// "target none | last | a channel name; to; accountId"; what keeps an answer
// from being posted is a reason and no skip [H4, H5, H12].
func TestWhereAnAnswerGoes(t *testing.T) {
	dm := channels.Address{Channel: "slack", Conversation: "D1"}
	room := channels.Address{Channel: "slack", Account: "work", Conversation: "C1"}
	for _, k := range []struct {
		name string
		c    Config
		last channels.Address
		want Place
	}{
		{"none", Config{Target: "none"}, dm, Place{Why: WhyNoTarget}},
		{"not said is none", Config{}, dm, Place{Why: WhyNoTarget}},
		{"the last place", Config{Target: "last"}, dm, Place{To: dm}},
		{"nobody has spoken yet", Config{Target: "last"}, channels.Address{}, Place{Why: WhyNoTarget}},
		{"a room by id", Config{Target: "slack", To: "C1", Account: "work"}, dm, Place{To: room}},
		{"the default account by name", Config{Target: "slack", To: "D1", Account: "default"}, room, Place{To: dm}},
		{"a channel without id is the last place there", Config{Target: "slack"}, dm, Place{To: dm}},
		{"a channel where nobody has spoken", Config{Target: "discord"}, dm, Place{Why: WhyNoTarget}},
		{"an account that is not there", Config{Target: "slack", To: "C1", Account: "gone"}, dm, Place{Why: WhyNoAccount}},
		{"a direct chat, which is not wanted", Config{Target: "last", BlockDirect: true}, dm, Place{Why: WhyDirect}},
		{"a room is", Config{Target: "last", BlockDirect: true}, room, Place{To: room}},
	} {
		t.Run(k.name, func(t *testing.T) {
			got := k.c.place(k.last,
				func(to channels.Address) channels.ChatType {
					if to.Conversation == "D1" {
						return channels.Direct
					}
					return channels.Room
				},
				func(to channels.Address) bool { return to.Account != "gone" })
			if got != k.want {
				t.Errorf("%+v, want %+v", got, k.want)
			}
		})
	}
}

// "Visibility …; most specific wins" [H14].
func TestTheMostExactVisibilityCounts(t *testing.T) {
	v := Visibilities{Default: Visible(), Channels: map[string]Visibility{"slack": {OK: true}},
		Accounts: map[string]map[string]Visibility{"slack": {"work": {Alerts: true}}}}
	for to, want := range map[channels.Address]Visibility{
		{Channel: "room"}: Visible(), {Channel: "slack"}: {OK: true}, {Channel: "slack", Account: "work"}: {Alerts: true},
	} {
		if got := v.At(to); got != want {
			t.Errorf("%+v: %+v", to, got)
		}
	}
}

// "Wakes coalesce in 250 ms; the highest priority reason wins; min spacing 30 s
// for event wakes; flood guard 5 runs per 60 s; manual never deferred" [H13].
func TestWhenAWakeRuns(t *testing.T) {
	var q *request
	for _, r := range []Reason{Retry, Interval, Cron, Hook, Interval, Retry} {
		q = q.join(r, noon)
	}
	if q.reason != Hook {
		t.Errorf("the reason is %s", q.reason)
	}
	ago := func(d ...time.Duration) (ran []time.Time) {
		for _, one := range d {
			ran = append(ran, noon.Add(-one))
		}
		return ran
	}
	for _, k := range []struct {
		name string
		why  Reason
		ran  []time.Time
		want time.Duration
	}{
		{"the first", Cron, nil, 250 * time.Millisecond},
		{"long after the last", Cron, ago(time.Hour), 250 * time.Millisecond},
		{"10 s after the last", Cron, ago(10 * time.Second), 20 * time.Second},
		{"the sixth in a minute", Cron, ago(50*time.Second, 40*time.Second, 39*time.Second, 38*time.Second, 37*time.Second), 10 * time.Second},
		{"a person's", Manual, ago(5*time.Second, 4*time.Second, 3*time.Second, 2*time.Second, time.Second), 0},
	} {
		t.Run(k.name, func(t *testing.T) {
			one := (*request)(nil).join(k.why, noon)
			if got := one.at(k.ran, 30*time.Second).Sub(noon); got != k.want {
				t.Errorf("after %s, want %s", got, k.want)
			}
		})
	}
}

// What only accompanies a message wakes nobody.
func TestWhatWakes(t *testing.T) {
	for key, want := range map[string]bool{"cron:1": true, "exec:1": true, "hook:x": true, "wake:1": true, "": false, "edit:1": false, "cron": false} {
		if Wakes(key) != want {
			t.Errorf("%q: %t", key, !want)
		}
	}
}
