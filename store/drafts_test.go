package store

import (
	"testing"

	"standin/bot"
	"standin/channels"
)

func drawn(t *testing.T, d *DB, id, message, turn string) {
	t.Helper()
	m := channels.DraftMark{ID: id, To: room("A"), MessageID: message, Text: "half of " + id, At: noon}
	if err := d.KeepDraft(t.Context(), bot.Drafted{DraftMark: m, Turn: turn}); err != nil {
		t.Fatal(err)
	}
}

func abandoned(t *testing.T, d *DB) (ids string, list []bot.Drafted) {
	t.Helper()
	list, err := d.Abandoned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		ids += v.ID + " "
	}
	return ids, list
}

// A draft is nobody's business while its process lives, and everybody's after
// that; what it showed first is kept, and the id of its message once known [I8].
func TestDraftsOutliveTheirProcess(t *testing.T) {
	d := open(t, t.TempDir())
	drawn(t, d, "d1", "", "t1")
	drawn(t, d, "d2", "", "t2")
	drawn(t, d, "d3", "", "t3")
	drawn(t, d, "d1", "m1", "t1")
	if ids, _ := abandoned(t, d); ids != "" {
		t.Errorf("while the process lives: %q", ids)
	}
	if err := d.DropDraft(t.Context(), "d2"); err != nil {
		t.Fatal(err)
	}
	if err := d.AbandonDraft(t.Context(), "d3"); err != nil {
		t.Fatal(err)
	}
	if ids, _ := abandoned(t, d); ids != "d3 " {
		t.Errorf("given up: %q", ids)
	}
	if _, err := d.Interrupted(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids, list := abandoned(t, d)
	if ids != "d1 d3 " {
		t.Fatalf("after the process: %q", ids)
	}
	if v := list[0]; v.MessageID != "m1" || v.Text != "half of d1" || v.To != room("A") || v.Turn != "t1" || !v.At.Equal(noon) || v.Owed {
		t.Errorf("read back as %+v", v)
	}
}

// The mark of a delivery ends the draft that it has become, whose turn that ever
// was: a late answer takes over what stands at its place. Another message, and a
// delivery that is not through, end nothing.
func TestTheMarkEndsTheDraft(t *testing.T) {
	for _, c := range []struct {
		name    string
		state   bot.DeliveryState
		message string
		want    string
	}{
		{"it stands as the draft's message", bot.Sent, "m1", ""},
		{"it stands as another", bot.Sent, "m2", "d1 "},
		{"it may stand", bot.Unknown, "m1", "d1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, t.TempDir())
			post(t, d, "a1", "A")
			drawn(t, d, "d1", "m1", "of another turn")
			drawn(t, d, "d2", "", "of another turn")
			if err := d.DropDraft(t.Context(), "d2"); err != nil {
				t.Fatal(err)
			}
			if ok, err := d.Claim(t.Context(), "a1"); !ok || err != nil {
				t.Fatal(ok, err)
			}
			v := bot.Delivery{Outbound: channels.Outbound{ID: "a1", To: room("A")}, State: c.state, MessageID: c.message}
			if err := d.Mark(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Interrupted(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ids, _ := abandoned(t, d); ids != c.want {
				t.Errorf("left: %q, want %q", ids, c.want)
			}
		})
	}
}

// A draft whose turn still owes something waits for that.
func TestADraftKnowsWhetherItsTurnOwes(t *testing.T) {
	d := open(t, t.TempDir())
	post(t, d, "a1", "A") // of turn t
	drawn(t, d, "d1", "m1", "t")
	drawn(t, d, "d2", "m2", "u")
	if _, err := d.Interrupted(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, list := abandoned(t, d); len(list) != 2 || !list[0].Owed || list[1].Owed {
		t.Errorf("%+v", list)
	}
}
