package incidents_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"standin/bot/incidents"
	"standin/channels"
)

// night is when the tests begin.
var night = time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)

// desk plays looks, one each half minute, and keeps what they come to as a store
// does.
type desk struct {
	now  time.Time
	rows []incidents.Incident
	told []string // news, kind and time
	text []string
}

func newDesk() *desk { return &desk{now: night} }

// look decides on what is wrong now.
func (d *desk) look(looked func(incidents.Kind) bool, signs ...incidents.Sign) {
	lately := d.now.Add(-incidents.Lately(30 * time.Minute))
	known := slices.DeleteFunc(slices.Clone(d.rows), func(i incidents.Incident) bool { return !i.Closed.IsZero() && i.Closed.Before(lately) })
	for _, c := range incidents.Decide(known, signs, looked, d.now) {
		at := slices.IndexFunc(d.rows, func(i incidents.Incident) bool { return i.ID == c.ID })
		switch {
		case c.Drop:
			d.rows = slices.Delete(d.rows, at, at+1)
		case c.ID == 0:
			c.ID = 1
			for _, i := range d.rows {
				c.ID = max(c.ID, i.ID+1)
			}
			d.rows = append(d.rows, c.Incident)
		default:
			d.rows[at] = c.Incident
		}
		if c.News != incidents.Nothing {
			d.told = append(d.told, fmt.Sprintf("%s %s %s", c.News, c.Kind, d.now.Format("15:04:05")))
			text := c.Text
			if c.News == incidents.Over {
				text = incidents.SayOver(c.Incident, d.now)
			}
			d.text = append(d.text, text)
		}
	}
}

// pass lets time pass with a look each half minute.
func (d *desk) pass(span time.Duration, signs ...incidents.Sign) {
	for end := d.now.Add(span); d.now.Before(end); d.now = d.now.Add(30 * time.Second) {
		d.look(all, signs...)
	}
}

func all(incidents.Kind) bool { return true }

func (d *desk) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(d.told, lines) {
		t.Errorf("told:\n  %s\nwant:\n  %s", strings.Join(d.told, "\n  "), strings.Join(lines, "\n  "))
	}
}

func sign(k incidents.Kind) incidents.Sign {
	return incidents.Sign{Kind: k, Subject: "x", Title: "thing x is broken", Was: "thing x was broken", Detail: "no luck", Meanwhile: "Others do it.", Mend: "standin status says why."}
}

// Each sort of trouble is told once when it begins, not again while it lasts, once
// when it is over, and is another one when it comes again later.
func TestEachTroubleIsToldOnceAndItsEndOnce(t *testing.T) {
	for _, k := range incidents.Kinds() {
		d := newDesk()
		d.pass(8*time.Hour, sign(k))
		d.pass(time.Hour)
		d.pass(time.Hour, sign(k))
		d.pass(time.Hour)
		d.want(t, "began "+string(k)+" 22:00:00", "over "+string(k)+" 06:00:00", "began "+string(k)+" 07:00:00", "over "+string(k)+" 08:00:00")
		if len(d.rows) != 2 {
			t.Errorf("%s: %d incidents, want two", k, len(d.rows))
		}
	}
}

// What passes before it has lasted its time was no incident, and nothing stays of
// it; what lasts is told with when it really began.
func TestWhatPassesSoonIsNoIncident(t *testing.T) {
	d, s := newDesk(), sign(incidents.Channel)
	s.Hold = time.Minute
	for range 20 {
		d.pass(30*time.Second, s)
		d.pass(time.Minute)
	}
	if d.want(t); len(d.rows) != 0 {
		t.Errorf("it left %+v", d.rows)
	}
	s.Since = d.now.Add(-40 * time.Second) // its source has known for longer
	d.pass(10*time.Minute, s)
	d.want(t, "began channel 22:30:30")
	if got := d.rows[0].Since; !got.Equal(s.Since) {
		t.Errorf("it began at %s, want %s", got, s.Since)
	}
}

// What comes back within 15 minutes is the same incident: that it does is told
// once, however often, and its end only when it has stayed away for 15 minutes.
func TestWhatComesAndGoesIsOneIncident(t *testing.T) {
	d, s := newDesk(), sign(incidents.Channel)
	for range 12 { // an hour long five minutes there, five away
		d.pass(5*time.Minute, s)
		d.pass(5 * time.Minute)
	}
	d.pass(time.Hour)
	d.want(t, "began channel 22:00:00", "over channel 22:05:00", "again channel 22:10:00", "over channel 00:10:00")
	if len(d.rows) != 1 || d.rows[0].Times != 12 || !d.rows[0].Since.Equal(night) {
		t.Errorf("%+v", d.rows)
	}
	if got := d.text[3]; got != "✅ Over after 1 h 55 min: thing x was broken (29 Nov 22:00 UTC – 29 Nov 23:55 UTC). It came and went, 12 times in all." {
		t.Error(got)
	}
	d.pass(15*time.Minute, s) // an hour later it is another one
	d.want(t, append(d.told[:4:4], "began channel 01:00:00")...)
}

// A return that has to last as well before it counts is told when it has.
func TestAReturnHasToLastToo(t *testing.T) {
	d, s := newDesk(), sign(incidents.Channel)
	s.Hold = time.Minute
	d.pass(5*time.Minute, s)
	d.pass(2 * time.Minute)
	d.pass(30*time.Second, s) // a hiccup
	d.pass(2 * time.Minute)
	d.want(t, "began channel 22:01:00", "over channel 22:05:00")
	d.pass(5*time.Minute, s)
	d.want(t, append(d.told[:2:2], "again channel 22:10:30")...)
}

// A trouble that grows is told at each step, and not when it shrinks.
func TestEachStepIsToldOnce(t *testing.T) {
	d, s := newDesk(), sign(incidents.Budget)
	s.Quiet = true
	for _, share := range []int{50, 50, 75, 50, 75, 90} {
		s.Stage = share
		d.pass(10*time.Minute, s)
	}
	d.pass(time.Hour)
	d.want(t, "began budget 22:00:00", "worse budget 22:20:00", "worse budget 22:50:00") // its end is no news
}

// A source that cannot be read says nothing: what was open stays open, untold.
func TestWhatCannotBeLookedAtStaysAsItIs(t *testing.T) {
	d := newDesk()
	d.pass(time.Minute, sign(incidents.Auth), sign(incidents.Channel))
	for range 100 {
		d.look(func(k incidents.Kind) bool { return k != incidents.Auth })
		d.now = d.now.Add(30 * time.Second)
	}
	d.want(t, "began auth 22:00:00", "began channel 22:00:00", "over channel 22:01:00")
}

// A clock that is set back, or a source whose time lies ahead, makes no incident
// end before it began and tells of nothing twice.
func TestAClockThatIsSetBack(t *testing.T) {
	d, s := newDesk(), sign(incidents.Auth)
	s.Since = night.Add(time.Hour)
	d.pass(time.Minute, s)
	d.now = d.now.Add(-3 * time.Hour)
	d.pass(time.Hour, s)
	d.pass(time.Hour)
	d.want(t, "began auth 22:00:00", "over auth 20:01:00")
	if got := d.text[1]; !strings.HasPrefix(got, "✅ Over after 0 s: ") {
		t.Error(got)
	}
}

// Whatever comes and goes: news of one incident begin with its begin, an end
// follows a begin or a return, nothing is told twice in a row, and one who has read
// all of it is right about how things are, a quarter of an hour later at most.
func TestAnyHistoryIsToldTruly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, s := newDesk(), sign(incidents.Channel)
		s.Hold = time.Duration(rapid.IntRange(0, 4).Draw(t, "hold")) * 30 * time.Second
		steps := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 20).Draw(t, "half minutes")
		for i, n := range steps {
			if i%2 == 0 {
				d.pass(time.Duration(n)*30*time.Second, s)
			} else {
				d.pass(time.Duration(n) * 30 * time.Second)
			}
		}
		broken := len(steps)%2 == 1
		if broken {
			d.pass(incidents.Damping+s.Hold+time.Minute, s)
		} else {
			d.pass(incidents.Damping + s.Hold + time.Minute)
		}
		bad := false
		for i, line := range d.told {
			news := incidents.News(strings.Fields(line)[0])
			if was := bad; (news == incidents.Over) != was {
				t.Fatalf("line %d of %q does not follow", i, d.told)
			}
			bad = news != incidents.Over
		}
		if bad != broken {
			t.Fatalf("told %q, and it is broken: %v", d.told, broken)
		}
	})
}

// Where what is down is the place itself that would be told, the others are told,
// and it hears of the end. Events pick what a place hears of; a place that stands
// twice is told once.
func TestWhoIsTold(t *testing.T) {
	ops := incidents.Target{To: channels.Address{Channel: "slack", Conversation: "C1"}}
	work := incidents.Target{To: channels.Address{Channel: "slack", Account: "work", Conversation: "C1"}}
	hook := incidents.Target{URL: "https://example.org/T0/secret", Events: []incidents.Kind{incidents.Channel}}
	s := incidents.Settings{Targets: []incidents.Target{ops, work, ops, hook}}
	down := incidents.Change{News: incidents.Began, Incident: incidents.Incident{ID: 7, Lines: 1, Kind: incidents.Channel, Channel: "slack"}}
	over := down
	over.News, over.Lines = incidents.Over, 2
	for _, c := range []struct {
		what   string
		change incidents.Change
		want   []incidents.Target
	}{
		{"down", down, []incidents.Target{work, hook}},
		{"over", over, []incidents.Target{ops, work, hook}},
		{"another event", incidents.Change{News: incidents.Began, Incident: incidents.Incident{ID: 8, Kind: incidents.Auth}}, []incidents.Target{ops, work}},
		{"nothing", incidents.Change{Incident: down.Incident}, nil},
	} {
		var got, want []string
		ids := map[string]bool{}
		for _, p := range s.Posts(c.change, night) {
			p = p.For(c.change.Incident)
			got, ids[p.ID] = append(got, p.Target), true
			if strings.Contains(p.ID+p.Target, "secret") {
				t.Error("a URL's path stands in", p.ID)
			}
		}
		for _, w := range c.want {
			want = append(want, w.Name())
		}
		if !slices.Equal(got, want) || len(ids) != len(got) {
			t.Errorf("%s: %q, want %q; ids %v", c.what, got, want, ids)
		}
	}
}

// A line says what, since when, why, what happens meanwhile and what to do; it is
// one line, and no secret stands in it.
func TestLines(t *testing.T) {
	now := night.Add(7*time.Hour + 12*time.Minute)
	for _, c := range []struct {
		i    incidents.Incident
		s    incidents.Sign
		news incidents.News
		want string
	}{
		{incidents.Incident{Since: night}, sign(incidents.Auth), incidents.Began,
			"⚠️ Thing x is broken, since 29 Nov 22:00 UTC (7 h 12 min): no luck. Others do it. standin status says why."},
		{incidents.Incident{Since: now}, incidents.Sign{Title: "openai:x is broken", Detail: "key sk-proj-abcdefghijklmnopqrstuvwx\nrefused."}, incidents.Worse,
			"⚠️ openai:x is broken: key [secret] refused."},
		{incidents.Incident{Since: now.Add(-12 * time.Minute), Times: 2}, sign(incidents.Channel), incidents.Again,
			"⚠️ Again: thing x is broken, for the second time since 05:00 UTC: no luck. Others do it. standin status says why. It comes and goes: you hear of it when it has stayed away for 15 min."},
	} {
		if got := incidents.Say(c.i, c.s, c.news, now); got != c.want {
			t.Errorf("\n%s\nwant\n%s", got, c.want)
		}
	}
	long := incidents.Line(strings.Repeat("é ", 5000))
	if n := len([]rune(long)); n != 600 {
		t.Errorf("a line of %d characters", n)
	}
}
