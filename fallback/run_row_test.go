package fallback_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"standin/fallback"
	"standin/fallback/provider"
)

// The walks of this file look at what is left in the session's row: each needs
// one guard and nothing else, without which the rest still looks right.

// put stores a session's row.
func (d *desk) put(t *testing.T, s fallback.SessionID, row fallback.Selection) {
	t.Helper()
	if ok, err := d.db.Swap(t.Context(), s, fallback.Selection{}, row); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

// row reads a session's row, without the time of its change.
func (d *desk) row(t *testing.T, s fallback.SessionID) fallback.Selection {
	t.Helper()
	row, err := d.db.Selection(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	row.Since = time.Time{}
	return row
}

// stuck is a session on its first fallback.
func stuck() fallback.Selection {
	return fallback.Selection{Model: model("anthropic/claude-opus-4-6"), Source: fallback.Auto, Origin: model("openai/gpt-5.5")}
}

func acts(writes []fallback.Write) (list []fallback.Act) {
	for _, w := range writes {
		list = append(list, w.Act)
	}
	return list
}

const room, thread = "agent:main:slack:channel:c1", "agent:main:slack:channel:c1:thread:t1"

// (3.8) [T4].
func TestWhatIsInherited(t *testing.T) {
	chosen := func(m string) fallback.Selection { return fallback.Selection{Model: model(m), Source: fallback.ByUser} }
	for _, c := range []struct {
		name   string
		source fallback.Source // of the parent's row
		own    fallback.Selection
		kind   fallback.Kind
		want   string
	}{
		{"the parent's choice while there is none", fallback.ByUser, fallback.Selection{}, fallback.Chat, "anthropic/claude-opus-4-6"},
		{"the session's own choice first", fallback.ByUser, chosen("groq/b"), fallback.Chat, "groq/b"},
		{"not what nobody knows the origin of", fallback.Auto, fallback.Selection{}, fallback.Chat, "openai/gpt-5.5"},
		{"nothing for a job", fallback.ByUser, fallback.Selection{}, fallback.Cron, "openai/gpt-5.5"},
	} {
		d := newDesk(t, func(string) error { return nil })
		parent := chosen("anthropic/claude-opus-4-6")
		parent.Source = c.source
		d.put(t, room, parent)
		d.put(t, thread, c.own)
		a := ask()
		a.Session, a.Parent, a.Kind = thread, room, c.kind
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Used != model(c.want) {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
	}
}

// that says so may be another's, or say something else.
func TestOnlyAnotherModelIsWrittenDown(t *testing.T) {
	t.Run("the model that was inherited", func(t *testing.T) {
		d := newDesk(t, func(string) error { return nil })
		d.put(t, room, stuck())
		a := ask()
		a.Session, a.Parent, a.NoProbe = thread, room, true
		if out, err := d.Run(t.Context(), a); err != nil || out.Used != stuck().Model || len(d.writes) != 0 {
			t.Errorf("%+v, %v, wrote %+v", out, err, d.writes)
		}
	})
	t.Run("what an inherited one stands in for stays the origin", func(t *testing.T) {
		d := newDesk(t, only("anthropic/claude-opus-4-6", &provider.Error{Status: 503}))
		d.put(t, room, stuck())
		a := ask()
		a.Session, a.Parent, a.NoProbe = thread, room, true
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if row := d.row(t, thread); row.Model != model("groq/b") || row.Origin != stuck().Origin || d.row(t, room) != stuck() {
			t.Errorf("the thread has %+v, the room %+v", row, d.row(t, room))
		}
	})
	t.Run("the origin, where the list leads back to it", func(t *testing.T) {
		d := newDesk(t, only("anthropic/claude-opus-4-6", &provider.Error{Status: 503}))
		a := ask()
		a.NoProbe = true
		a.Config.Default.Fallbacks = []fallback.Model{stuck().Model, stuck().Origin}
		d.put(t, a.Session, stuck())
		if out, err := d.Run(t.Context(), a); err != nil || out.Used != stuck().Origin || !slices.Equal(acts(d.writes), []fallback.Act{fallback.ActClear}) {
			t.Errorf("%+v, %v, wrote %+v", out, err, d.writes)
		}
	})
}

// meddled is a store in which somebody else changes the row when a fallback
// wants to.
type meddled struct {
	fallback.Selections
	swap func() error // before the first Swap; an error is that Swap's
}

func (m *meddled) Swap(ctx context.Context, s fallback.SessionID, was, now fallback.Selection) (bool, error) {
	if f := m.swap; f != nil {
		m.swap = nil
		if err := f(); err != nil {
			return false, err
		}
	}
	return m.Selections.Swap(ctx, s, was, now)
}

// what the room was told of.
func TestABackgroundRunLeavesNoTrace(t *testing.T) {
	for _, kind := range []fallback.Kind{fallback.Cron, fallback.Heartbeat, fallback.Compaction, fallback.ProbeRun} {
		d := newDesk(t, only("openai/gpt-5.5", &provider.Error{Status: 503}))
		a := ask()
		a.Kind = kind
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Used != model("anthropic/claude-opus-4-6") || out.Settle != nil || out.Notice != "" {
			t.Errorf("%s: %+v, %v", kind, out, err)
		}
		if row := d.row(t, a.Session); row != (fallback.Selection{}) || len(d.writes) != 0 {
			t.Errorf("%s: %+v after %+v", kind, row, d.writes)
		}
	}
}

// person's [T15].
func TestClearingAndPins(t *testing.T) {
	auto := fallback.Pin{Profile: "anthropic:default", Source: fallback.Auto, Compactions: 2}
	person := fallback.Pin{Profile: "groq:default", Source: fallback.ByUser, Compactions: -1}
	for pin, want := range map[fallback.Pin]fallback.Pin{auto: {}, person: person} {
		d := newDesk(t, func(string) error { return nil })
		a := ask()
		a.Kind = fallback.Heartbeat // it clears and keeps nothing of its own
		stale := stuck()
		stale.Origin, stale.Pin = model("openai/gpt-4"), pin
		d.put(t, a.Session, stale)
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if row := d.row(t, a.Session); row != (fallback.Selection{Pin: want}) || len(d.writes) != 1 || d.writes[0].Rule != fallback.ClearOrigin {
			t.Errorf("%s: %+v after %+v", pin.Source, row, d.writes)
		}
	}
}

// one that answers instead is kept.
func TestAPinWhoseProfileHasGoneIsReplaced(t *testing.T) {
	for profile, want := range map[fallback.ProfileID]fallback.Pin{
		"openai:gone":    {Profile: "openai:default", Source: fallback.Auto},
		"openai:default": {Profile: "openai:default", Source: fallback.ByUser, Compactions: -1},
		"groq:default":   {Profile: "groq:default", Source: fallback.ByUser, Compactions: -1}, // of another provider than the one that answers
	} {
		d := newDesk(t, func(string) error { return nil })
		a := ask()
		d.put(t, a.Session, fallback.Selection{Pin: fallback.Pin{Profile: profile, Source: fallback.ByUser, Compactions: -1}})
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if row := d.row(t, a.Session); row.Pin != want {
			t.Errorf("%s: %+v, want %+v", profile, row.Pin, want)
		}
	}
}

// done with: a job in between leaves the flag to the next message [M30].
func TestAJobLeavesTheLiveSwitchPending(t *testing.T) {
	for kind, pending := range map[fallback.Kind]bool{fallback.Cron: true, fallback.Heartbeat: true, fallback.Chat: false} {
		d := newDesk(t, func(string) error { return nil })
		a := ask()
		a.Kind = kind
		d.put(t, a.Session, fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Pending: true})
		if _, err := d.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if row := d.row(t, a.Session); row.Pending != pending {
			t.Errorf("after a %s run: %+v", kind, row)
		}
	}
}

// A new reason for the same pair moves what is stored and is not said (19.4).
func TestAnotherReasonForTheSamePairIsQuiet(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	a := ask()
	a.NoProbe = true
	row := stuck()
	row.Told = fallback.Told{Selected: row.Origin, Active: row.Model, Reason: "timeout"}
	d.put(t, a.Session, row)
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Notice != "" || out.Settle == nil || !out.Settle.Quiet || out.Settle.Told.Reason == "timeout" {
		t.Errorf("%+v, %v", out, err)
	}
}

// [D12].
func TestSinceIsOfAStandIn(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	theirs := fallback.Selection{Model: model("groq/b"), Source: fallback.ByUser, Since: at}
	auto := stuck()
	auto.Since = at
	for _, row := range []fallback.Selection{theirs, auto} {
		d := newDesk(t, func(string) error { return nil })
		a := ask()
		a.NoProbe = true
		d.put(t, a.Session, row)
		out, err := d.Run(t.Context(), a)
		if err != nil || out.Since.Equal(at) != (row.Source == fallback.Auto) {
			t.Errorf("%s: since %v, %v", row.Source, out.Since, err)
		}
	}
}

// A run with a model of its own "neither uses nor touches what is stored", even
// if that model is what the session waits for [M10, H18].
func TestAOneOffRunLeavesNoTrace(t *testing.T) {
	d := newDesk(t, func(string) error { return nil })
	a := ask()
	row := stuck()
	row.Told = fallback.Told{Selected: row.Origin, Active: row.Model, Reason: "timeout"}
	d.put(t, a.Session, row)
	a.OneOff, a.Model = true, row.Origin
	out, err := d.Run(t.Context(), a)
	if err != nil || out.Used != row.Origin || out.Settle != nil || out.Notice != "" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := d.row(t, a.Session); got != row {
		t.Errorf("the row became %+v", got)
	}
}
