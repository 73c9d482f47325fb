package store

import (
	"context"
	"math"
	"slices"
	"testing"

	"standin/bot"
	"standin/fallback/provider"
)

// A summary stands for what it has taken in, which stays in the store; a later
// one takes its place, and a session that has moved on is left alone [S19, S22].
func TestASummaryStandsForWhatItTakesIn(t *testing.T) {
	ctx := context.Background()
	d := openIn(t, t.TempDir())
	defer d.Close()
	const s = "agent:main:main"
	for _, text := range []string{"one", "two", "three"} {
		_, err := d.End(ctx, bot.Ending{Session: s, Epoch: "e", Turn: text, How: bot.Answered, At: asked, Entries: []bot.Entry{
			{Turn: text, Role: provider.User, Text: text, At: asked}, {Turn: text, Role: provider.Assistant, Text: "re " + text, At: asked}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	shown := func() (texts []string) {
		t.Helper()
		all, err := d.History(ctx, s, "e", math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			texts = append(texts, e.Text)
			if e.Summary != (e.Seq == 0) {
				t.Errorf("%+v", e)
			}
		}
		return texts
	}
	for _, c := range []struct {
		epoch string
		since int64
		text  string
		done  bool
		want  []string
	}{
		{"e", 3, "S1", true, []string{"S1", "two", "re two", "three", "re three"}},
		{"old", 5, "never", false, []string{"S1", "two", "re two", "three", "re three"}},
		{"e", 5, "S2", true, []string{"S2", "three", "re three"}},
	} {
		done, err := d.Summarise(ctx, s, c.epoch, bot.Summary{Turn: "c", Text: c.text, Since: c.since, At: asked})
		if err != nil || done != c.done {
			t.Fatalf("%s: %v, %v", c.text, done, err)
		}
		if got := shown(); !slices.Equal(got, c.want) {
			t.Errorf("%s: shown %q, want %q", c.text, got, c.want)
		}
	}
	if sess, err := d.Session(ctx, s); err != nil || sess.Compactions != 2 || sess.Turns != 3 {
		t.Errorf("%+v, %v", sess, err)
	}
	// A bound in turns counts what people asked, behind the summary.
	if all, err := d.History(ctx, s, "e", 1); err != nil || len(all) != 3 || all[1].Text != "three" {
		t.Errorf("%+v, %v", all, err)
	}
}
