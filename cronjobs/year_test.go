package cronjobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/cronjobs"
	"standin/fallback"
)

// calendar is a zone's year, minute by minute: what its clocks show. It is all
// that the test knows of time zones, and knows nothing of cron expressions.
type calendar struct {
	zone  *time.Location
	from  time.Time // of shown[0]
	shown []int     // what the clocks show in each real minute, as minutes of a plain calendar
	first map[int]int
}

func plainMinute(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC).Unix() / 60)
}

func newCalendar(t *testing.T, name string, from, to time.Time) *calendar {
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &calendar{zone: zone, from: from, first: map[int]int{}}
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		shows := plainMinute(at.In(zone))
		if _, seen := c.first[shows]; !seen {
			c.first[shows] = len(c.shown)
		}
		c.shown = append(c.shown, shows)
	}
	return c
}

// when gives the real minute in which a plain time of day is due: the first one
// in which the clocks show it, or as much after the jump as the time lies after
// what the clocks showed last.
func (c *calendar) when(plain int) (int, bool) {
	if i, shown := c.first[plain]; shown {
		return i, true
	}
	for i := 1; i < len(c.shown); i++ {
		if c.shown[i-1] < plain && c.shown[i] > plain {
			return i + plain - (c.shown[i-1] + 1), true
		}
	}
	return 0, false
}

// wish is a schedule as numbers; the expression that a job gets is made of it.
type wish struct {
	minutes, hours, days, months, weekdays []int // nil: every one
}

func field(ns []int) string {
	if ns == nil {
		return "*"
	}
	var s []string
	for _, n := range ns {
		s = append(s, strconv.Itoa(n))
	}
	return strings.Join(s, ",")
}

func (w wish) expr() string {
	return strings.Join([]string{field(w.minutes), field(w.hours), field(w.days), field(w.months), field(w.weekdays)}, " ")
}

func (w wish) matches(plain int) bool {
	t := time.Unix(int64(plain)*60, 0).UTC()
	in := func(ns []int, n int) bool { return ns == nil || slices.Contains(ns, n) }
	day, week := in(w.days, t.Day()), in(w.weekdays, int(t.Weekday())) || t.Weekday() == time.Sunday && slices.Contains(w.weekdays, 7)
	date := day && week
	if w.days != nil && w.weekdays != nil {
		date = day || week
	}
	return date && in(w.minutes, t.Minute()) && in(w.hours, t.Hour()) && in(w.months, int(t.Month()))
}

// due lists the real times at which the wish comes true in a zone.
func (w wish) due(c *calendar, from, to time.Time) (all []time.Time) {
	found := map[int]bool{}
	if w.hours == nil {
		for i, plain := range c.shown {
			if w.matches(plain) {
				found[i] = true
			}
		}
	} else {
		last := c.shown[len(c.shown)-1]
		for plain := c.shown[0]; plain <= last; plain++ {
			if w.matches(plain) {
				if i, ok := c.when(plain); ok {
					found[i] = true
				}
			}
		}
	}
	for i := range found {
		if at := c.from.Add(time.Duration(i) * time.Minute); at.After(from) && !at.After(to) {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// quick answers at once and keeps nothing.
type quick struct {
	mu    sync.Mutex
	begun map[string]int // turns by id
}

func (q *quick) Turn(_ context.Context, t bot.Turn) (bot.Result, error) {
	q.mu.Lock()
	q.begun[t.ID]++
	q.mu.Unlock()
	return bot.Result{Turn: t.ID, Text: "done", Outcome: &fallback.Outcome{Used: primary}}, nil
}
func (q *quick) Note(context.Context, bot.SystemEvent) error      { return nil }
func (q *quick) Post(context.Context, ...channels.Outbound) error { return nil }

// A year of 200 jobs in eight zones: each slot runs once, none is lost where
// clocks jump, none runs twice where they go back, and each runs at its time.
// What is due is worked out here by looking at clocks minute by minute.
func TestAYearOfJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("a year takes a while")
	}
	zones := []string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Beirut", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago", "Pacific/Auckland"}
	shapes := []wish{
		{minutes: []int{30}, hours: []int{2}},
		{minutes: []int{30}, hours: []int{1}},
		{minutes: []int{0}, hours: []int{0}},
		{minutes: []int{15}, hours: []int{2, 3}},
		{minutes: []int{0, 20, 40}, hours: []int{2}, weekdays: []int{0}},
		{minutes: []int{45}, hours: []int{1}, weekdays: []int{7}},
		{minutes: []int{5}, hours: []int{9}, weekdays: []int{1, 2, 3, 4, 5}},
		{minutes: []int{0}, hours: []int{12}, days: []int{1, 15}},
		{minutes: []int{59}, hours: []int{23}, days: []int{28, 29, 30, 31}},
		{minutes: []int{10}, hours: []int{3}, days: []int{13}, weekdays: []int{5}},
		{minutes: []int{0}, hours: []int{6}, months: []int{3, 10, 11}},
		{minutes: []int{0}, hours: []int{0}, days: []int{29}, months: []int{2}},
		{minutes: []int{0}, months: []int{3, 4, 10, 11}, weekdays: []int{6, 0}}, // of every hour, spread
		{minutes: []int{30}, months: []int{3, 4, 10, 11}, weekdays: []int{6, 0}},
		{minutes: []int{17, 47}, hours: []int{0, 1, 2, 3, 4}, weekdays: []int{0}},
		{minutes: []int{0}, hours: []int{8, 20}, weekdays: []int{1}},
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC))) // a bubble begins in 2000
		h := newHouse(t)
		q := &quick{begun: map[string]int{}}
		h.cfg.KeepLines = 0
		options := h.options(h.db)
		options.Turns, options.Log = q, slog.New(slog.DiscardHandler)
		h.s = cronjobs.New(options)
		begin := time.Now()
		end := begin.AddDate(1, 0, 0)
		calendars := map[string]*calendar{}
		for _, z := range zones {
			calendars[z] = newCalendar(t, z, begin.Truncate(time.Minute).Add(-48*time.Hour), end.Add(48*time.Hour))
		}
		jobs, wishes := []cronjobs.Job{}, []wish{}
		for i := range 200 {
			w, zone := shapes[i/len(zones)%len(shapes)], zones[i%len(zones)]
			if i >= len(zones)*len(shapes) { // the second round at other minutes
				w.minutes = []int{(w.minutes[0] + 1 + i%50) % 60}
			}
			j := task(fmt.Sprintf("%d %s %s", i, w.expr(), zone), cronjobs.Schedule{Kind: cronjobs.KindCron, Expr: w.expr(), Zone: zone})
			j.Delivery.Place = cronjobs.Place{Mode: cronjobs.None}
			jobs, wishes = append(jobs, h.add(j)), append(wishes, w)
		}
		h.start()
		time.Sleep(time.Until(end))
		total, late := 0, 0
		for i, j := range jobs {
			want := wishes[i].due(calendars[j.Schedule.Zone], begin, end.Add(-10*time.Minute)) // the last may still wait in its spread
			var got []time.Time
			for _, r := range h.runs(j.ID) {
				slot := r.Slot.Time()
				if slot.After(end.Add(-10 * time.Minute)) {
					continue
				}
				got = append(got, slot)
				delay := r.Started.Time().Sub(slot)
				if spread := wishes[i].hours == nil && wishes[i].minutes[0] == 0 && len(wishes[i].minutes) == 1; delay < 0 || !spread && delay > time.Second || delay > 5*time.Minute {
					late++
					t.Errorf("%s: the slot %v began %v later", j.Name, slot, delay)
				}
				if r.Trigger != cronjobs.OnSchedule || r.Status != cronjobs.OK {
					t.Errorf("%s: %s %s for %v", j.Name, r.Trigger, r.Status, slot)
				}
			}
			total += len(got)
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("%s: %d runs, %d are due; %s", j.Name, len(got), len(want), difference(got, want))
			}
			if late > 20 || t.Failed() && i > 30 {
				break
			}
		}
		for id, n := range q.begun {
			if n != 1 {
				t.Errorf("turn %s ran %d times", id, n)
			}
		}
		t.Logf("%d slots of %d jobs, each once", total, len(jobs))
		h.stop()
	})
}

func difference(got, want []time.Time) string {
	for i := 0; i < max(len(got), len(want)); i++ {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%v is missing", want[i])
		case i >= len(want):
			return fmt.Sprintf("%v is too many", got[i])
		case !got[i].Equal(want[i]):
			return fmt.Sprintf("at %d it is %v and not %v", i, got[i], want[i])
		}
	}
	return ""
}
