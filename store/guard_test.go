package store

import (
	"testing"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
)

// stored writes a session and its selection.
func stored(t *testing.T, d *DB, s fallback.SessionID, v fallback.Selection) {
	t.Helper()
	if err := d.PutSession(t.Context(), SessionState{Session: bot.Session{Key: s, Epoch: "e"}, Selection: v}); err != nil {
		t.Fatal(err)
	}
}

// "Only while provider, model and source are still those that were read": one
// that differs is enough for each of the three writes to miss [I5, D7].
func TestOneFieldThatDiffersIsEnough(t *testing.T) {
	was := fallback.Selection{Model: fallback.Model{Provider: "openai", Name: "b"}, Source: fallback.Auto, Origin: modelA}
	for field, row := range map[fallback.SessionID]fallback.Selection{
		"provider": {Model: fallback.Model{Provider: "azure", Name: "b"}, Source: fallback.Auto, Origin: modelA},
		"model":    {Model: fallback.Model{Provider: "openai", Name: "c"}, Source: fallback.Auto, Origin: modelA},
		"source":   {Model: fallback.Model{Provider: "openai", Name: "b"}, Source: fallback.ByUser},
	} {
		d := open(t, t.TempDir())
		stored(t, d, field, row)
		if ok, err := d.Swap(t.Context(), field, was, fallback.Selection{}); ok || err != nil {
			t.Errorf("%s: swapped=%v %v", field, ok, err)
		}
		if ok, err := d.Keep(t.Context(), field, was, fallback.Pin{Profile: "openai:x", Source: fallback.Auto}); ok || err != nil {
			t.Errorf("%s: kept=%v %v", field, ok, err)
		}
		posted := end(t, d, bot.Ending{Session: field, Epoch: "e", Turn: "t1", How: bot.Answered, At: noon,
			Settle: &fallback.Settle{Session: field, Told: toldOf(was.Model), Model: was.Model, Source: was.Source},
			Notice: &channels.Outbound{ID: "n", To: room("C1"), Kind: channels.Notice, Text: "moved"}})
		if len(posted) != 0 {
			t.Errorf("%s: a notice was written: %v", field, idsOf(posted))
		}
		if got := selectionOf(t, d, field); got != row {
			t.Errorf("%s: the row became %+v", field, got)
		}
	}
}

// "Announced once on each change" [I3]: whichever part of the told pair moves is
// a change, and the pair is stored whole.
func TestAnyPartOfTheToldPairIsAChange(t *testing.T) {
	now := fallback.Told{Selected: modelA, Active: modelB, Reason: "timeout"}
	other := func(change func(*fallback.Told)) fallback.Told {
		was := now
		change(&was)
		return was
	}
	for part, was := range map[fallback.SessionID]fallback.Told{
		"selected provider": other(func(w *fallback.Told) { w.Selected.Provider = "azure" }),
		"selected model":    other(func(w *fallback.Told) { w.Selected.Name = "x" }),
		"active provider":   other(func(w *fallback.Told) { w.Active.Provider = "azure" }),
		"active model":      other(func(w *fallback.Told) { w.Active.Name = "x" }),
		"reason":            other(func(w *fallback.Told) { w.Reason = "billing" }),
	} {
		d := open(t, t.TempDir())
		row := autoOf(modelB)
		row.Told = was
		stored(t, d, part, row)
		posted := end(t, d, bot.Ending{Session: part, Epoch: "e", Turn: "t1", How: bot.Answered, At: noon,
			Settle: &fallback.Settle{Session: part, Told: now, Model: row.Model, Source: row.Source},
			Notice: &channels.Outbound{ID: "n", To: room("C1"), Kind: channels.Notice, Text: "moved"}})
		if got := selectionOf(t, d, part).Told; len(posted) != 1 || got != now {
			t.Errorf("%s: posted %q, told %+v", part, idsOf(posted), got)
		}
	}
}

// A thread is an address of its own: it does not wait for its neighbour [N31].
func TestThreadsOfARoomDoNotWaitForEachOther(t *testing.T) {
	d := open(t, t.TempDir())
	var posts []channels.Outbound
	for _, id := range []string{"a", "b"} {
		to := room("C1")
		to.Thread = id
		posts = append(posts, channels.Outbound{ID: id, To: to, Kind: channels.Reply, Text: id})
	}
	end(t, d, bot.Ending{Session: mainSession, How: bot.Answered, At: noon, Turn: "t", Posts: posts})
	if got := due(t, d, noon); got != "a b" {
		t.Errorf("due %q", got)
	}
}

// A post is written once and told of once: who is given it waits for it [I2].
func TestAPostThatIsThereIsNotGivenAgain(t *testing.T) {
	d := open(t, t.TempDir())
	e := bot.Ending{Session: mainSession, How: bot.Answered, At: noon, Turn: "t", Posts: []channels.Outbound{reply("r", "hi")}}
	if first, again := idsOf(end(t, d, e)), idsOf(end(t, d, e)); first != "r" || again != "" {
		t.Errorf("posted %q and then %q", first, again)
	}
}

// "Exactly one ending" [I1] holds also for a message that is answered together
// with another: one that was stopped meanwhile stays so.
func TestAMessageThatEndedIsNotAnsweredWithAnother(t *testing.T) {
	d := open(t, t.TempDir())
	first, second := accept(t, d, hello("1")), accept(t, d, hello("2"))
	end(t, d, bot.Ending{Accepted: first.ID, Session: mainSession, How: bot.Silent, Why: "aborted", At: noon})
	end(t, d, bot.Ending{Accepted: second.ID, With: []int64{first.ID}, Session: mainSession, How: bot.Answered, At: noon})
	var how, why string
	found, err := d.main.row(t.Context(), `SELECT how, why FROM inbox WHERE id = ?`, []any{first.ID}, &how, &why)
	if err != nil || !found || how != string(bot.Silent) || why != "aborted" {
		t.Errorf("the first message ended as %q, %q (%v)", how, why, err)
	}
}
