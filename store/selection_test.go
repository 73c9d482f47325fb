package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

var (
	modelA = fallback.Model{Provider: "anthropic", Name: "a"}
	modelB = fallback.Model{Provider: "openai", Name: "b"}
	modelC = fallback.Model{Provider: "google", Name: "c"}
)

// autoOf is the row of an automatic fallback from modelA.
func autoOf(m fallback.Model) fallback.Selection {
	return fallback.Selection{Model: m, Source: fallback.Auto, Origin: modelA}
}

func toldOf(active fallback.Model) fallback.Told {
	return fallback.Told{Selected: modelA, Active: active, Reason: "rate_limit"}
}

func selectionOf(t testing.TB, d *DB, s fallback.SessionID) fallback.Selection {
	t.Helper()
	v, err := d.Selection(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func end(t testing.TB, d *DB, e bot.Ending) []bot.Delivery {
	t.Helper()
	posted, err := d.End(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return posted
}

func TestAllFieldsOfASelectionSurvive(t *testing.T) {
	d := open(t, t.TempDir())
	want := fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA,
		Pin:  fallback.Pin{Profile: "openai:me", Source: fallback.Auto, Compactions: 3},
		Told: toldOf(modelB), Pending: true, Since: noon}
	if ok, err := d.Swap(t.Context(), mainSession, fallback.Selection{}, want); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(want, selectionOf(t, d, mainSession)); diff != "" {
		t.Error(diff)
	}
	if err := d.Consume(t.Context(), mainSession); err != nil {
		t.Fatal(err)
	}
	want.Pending, want.Pin = false, fallback.Pin{Profile: "openai:other", Source: fallback.ByUser, Compactions: -1}
	if ok, err := d.Keep(t.Context(), mainSession, autoOf(modelB), want.Pin); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if ok, err := d.Keep(t.Context(), mainSession, autoOf(modelC), fallback.Pin{Profile: "x:y"}); err != nil || ok {
		t.Errorf("a pin was kept for a selection that is gone: %v %v", ok, err)
	}
	if diff := cmp.Diff(want, selectionOf(t, d, mainSession)); diff != "" {
		t.Error(diff)
	}
}

// Swap applies only over the selection that the caller read, whatever differs.
func TestSwapComparesProviderModelAndSource(t *testing.T) {
	d := open(t, t.TempDir())
	rows := map[fallback.SessionID]fallback.Selection{
		"free":   {},
		"auto b": autoOf(modelB),
		"user b": {Model: modelB, Source: fallback.ByUser},
		"legacy": {Model: modelB},
		"auto c": autoOf(modelC),
		"other":  {Model: fallback.Model{Provider: "azure", Name: "b"}, Source: fallback.Auto},
	}
	for stored, row := range rows {
		for expected, was := range rows {
			s := stored + " / " + expected
			if err := d.PutSession(t.Context(), SessionState{Session: bot.Session{Key: s}, Selection: row}); err != nil {
				t.Fatal(err)
			}
			ok, err := d.Swap(t.Context(), s, was, fallback.Selection{Model: modelA, Source: fallback.ByUser})
			if want := stored == expected; ok != want || err != nil {
				t.Errorf("%s: swapped=%v %v", s, ok, err)
			}
			if !ok && !cmp.Equal(selectionOf(t, d, s), row) {
				t.Errorf("%s: the row changed", s)
			}
		}
	}
	if ok, err := d.Swap(t.Context(), "no row", autoOf(modelB), fallback.Selection{}); ok || err != nil {
		t.Errorf("swap over a row that is not there: %v %v", ok, err)
	}
}

// Automatic overrides, all pins and the told pair end with the epoch; a user's
// or legacy model stays unless it is dropped [D3, D4, M9].
func TestRenewal(t *testing.T) {
	pin := fallback.Pin{Profile: "openai:me", Source: fallback.ByUser, Compactions: -1}
	dirty := func(v fallback.Selection) fallback.Selection {
		v.Pin, v.Told, v.Pending, v.Since = pin, toldOf(modelB), true, noon
		return v
	}
	user, legacy := fallback.Selection{Model: modelB, Source: fallback.ByUser}, fallback.Selection{Model: modelB}
	kept := func(v fallback.Selection) fallback.Selection { v.Since = noon; return v }
	for name, c := range map[string]struct {
		was, want fallback.Selection
		drop      bool
	}{
		"free":                             {was: dirty(fallback.Selection{})},
		"automatic":                        {was: dirty(autoOf(modelB))},
		"automatic, origin lost":           {was: dirty(fallback.Selection{Model: modelB, Source: fallback.Auto})},
		"recovered automatic":              {was: dirty(fallback.Selection{Model: modelB, Origin: modelA})},
		"user":                             {was: dirty(user), want: kept(user)},
		"legacy":                           {was: dirty(legacy), want: kept(legacy)},
		"user with resetKeepsModel: false": {was: dirty(user), drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			row := bot.Session{Key: mainSession, Agent: "main", Epoch: "e1", StartedAt: noon, LastInteraction: noon, Compactions: 2, Turns: 5, Aborted: true, Route: room("C1")}
			if err := d.PutSession(t.Context(), SessionState{Session: row, Selection: c.was}); err != nil {
				t.Fatal(err)
			}
			at := noon.Add(time.Hour)
			end(t, d, bot.Ending{Session: mainSession, How: bot.Commanded, At: at, Epoch: "e1",
				Renew: &bot.Renewal{Session: mainSession, Epoch: "e2", Drop: c.drop}})
			if diff := cmp.Diff(c.want, selectionOf(t, d, mainSession)); diff != "" {
				t.Error(diff)
			}
			got, err := d.Session(t.Context(), mainSession)
			want := bot.Session{Key: mainSession, Agent: "main", Epoch: "e2", StartedAt: at, LastInteraction: at, Route: room("C1"), Seeded: true}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// story plays the table of transitions against the database: a lane in which
// one run at a time engages, fails, answers or recovers, and a user who writes
// whenever they like.
type story struct {
	d       *DB
	attempt *attempt       // a fallback's attempt that runs
	heard   fallback.Model // what the room believes: the active fallback of the last notice
	turns   int
	notices []fallback.Model // zero: cleared
}

type attempt struct {
	was, now fallback.Selection
	foreign  *fallback.Selection // what a user wrote meanwhile
}

// Notices alternate per change of state, and a rollback never touches what a
// user wrote [M2, M3, M11, I3, I5].
func TestTransitions(t *testing.T) {
	d := open(t, t.TempDir())
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s := &story{d: d}
		session := fallback.SessionID(time.Unix(int64(n), 0).UTC().Format("agent:main:150405"))
		now := func() fallback.Selection {
			v, err := d.Selection(t.Context(), session)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		finish := func(e bot.Ending) (noticed bool) {
			s.turns++
			e.Session, e.Turn, e.At = session, t.Name(), noon
			if e.Settle != nil {
				e.Settle.Session = session
				e.Notice = &channels.Outbound{To: room("C1"), Kind: channels.Notice, Text: "notice"}
			}
			posted, err := d.End(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			if noticed = len(posted) == 1; noticed {
				if n := len(s.notices); n > 0 && s.notices[n-1] == e.Settle.Told.Active && s.heard == e.Settle.Told.Active {
					t.Fatalf("the room was told twice of %v", e.Settle.Told.Active)
				}
				s.notices = append(s.notices, e.Settle.Told.Active)
				s.heard = e.Settle.Told.Active
			}
			return noticed
		}
		swap := func(was, now fallback.Selection) bool {
			ok, err := d.Swap(t.Context(), session, was, now)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		userWrote := func() {
			v := now()
			s.heard = fallback.Model{} // the command's own answer says which model is active
			if s.attempt != nil {
				s.attempt.foreign = &v
			}
		}
		choose := func(v fallback.Selection) {
			finish(bot.Ending{How: bot.Commanded, Choose: &bot.Choice{Session: session, Now: v}})
			userWrote()
		}
		candidates := rapid.SampledFrom([]fallback.Model{modelB, modelC})

		t.Repeat(map[string]func(*rapid.T){
			"engage": func(t *rapid.T) {
				was := now()
				if s.attempt != nil || was.Source == fallback.ByUser {
					t.Skip()
				}
				next := was
				next.Model, next.Source, next.Origin = candidates.Draw(t, "candidate"), fallback.Auto, modelA
				if !swap(was, next) {
					t.Fatal("nobody else wrote, but the swap did not apply")
				}
				s.attempt = &attempt{was: was, now: next}
			},
			"the attempt fails": func(t *rapid.T) {
				a := s.attempt
				if a == nil {
					t.Skip()
				}
				s.attempt = nil
				swapped, want := swap(a.now, a.was), a.was
				if a.foreign != nil {
					want = *a.foreign
				}
				if swapped != (a.foreign == nil) {
					t.Fatalf("rolled back: %v, a user wrote: %v", swapped, a.foreign != nil)
				}
				if diff := cmp.Diff(want, now()); diff != "" {
					t.Fatalf("after the rollback:\n%s", diff)
				}
			},
			"the attempt answers": func(t *rapid.T) {
				a := s.attempt
				if a == nil {
					t.Skip()
				}
				s.attempt = nil
				news := a.foreign == nil && s.heard != a.now.Model
				before := now()
				if got := finish(bot.Ending{How: bot.Answered, Settle: &fallback.Settle{Told: toldOf(a.now.Model), Model: a.now.Model, Source: fallback.Auto}}); got != news {
					t.Fatalf("notice: %v, news: %v", got, news)
				}
				if a.foreign != nil && !cmp.Equal(before, now()) {
					t.Fatal("the settle touched what a user wrote")
				}
			},
			"a sticky turn answers": func(t *rapid.T) {
				v := now()
				if s.attempt != nil || !v.IsAuto() {
					t.Skip()
				}
				if finish(bot.Ending{How: bot.Answered, Settle: &fallback.Settle{Told: toldOf(v.Model), Model: v.Model, Source: fallback.Auto}}) {
					t.Fatal("a sticky turn told the room again")
				}
			},
			"the primary is back": func(t *rapid.T) {
				was := now()
				if s.attempt != nil || !was.IsAuto() {
					t.Skip()
				}
				if !swap(was, fallback.Selection{Told: was.Told}) {
					t.Fatal("nobody else wrote, but the clear did not apply")
				}
				news := s.heard != fallback.Model{}
				if rapid.Bool().Draw(t, "a user chooses in between") {
					choose(fallback.Selection{Model: modelB, Source: fallback.ByUser, Pending: true})
					news = false
				}
				if got := finish(bot.Ending{How: bot.Answered, Settle: &fallback.Settle{}}); got != news {
					t.Fatalf("cleared notice: %v, news: %v", got, news)
				}
			},
			"/model x": func(t *rapid.T) {
				choose(fallback.Selection{Model: candidates.Draw(t, "x"), Source: fallback.ByUser, Pending: true, Since: noon})
			},
			"/model default": func(t *rapid.T) { choose(fallback.Selection{Pending: true}) },
			"/reset": func(t *rapid.T) {
				finish(bot.Ending{How: bot.Commanded, Renew: &bot.Renewal{Session: session}})
				userWrote()
			},
			"": func(t *rapid.T) {
				v := now()
				if s.attempt == nil && v.IsAuto() && v.Told.Active != s.heard {
					t.Fatalf("the row says that the room heard of %v, it heard of %v", v.Told.Active, s.heard)
				}
				if v.Source == fallback.ByUser && v.Told != (fallback.Told{}) {
					t.Fatal("a user's choice has a told pair")
				}
			},
		})
	})
}
