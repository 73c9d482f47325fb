package store

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

func reply(id, text string) channels.Outbound {
	return channels.Outbound{ID: id, To: room("C1"), Kind: channels.Reply, Text: text, ReplyTo: "1"}
}

// answered is the ending of a turn that a fallback answered.
func answered(row bot.Accepted, epoch string) bot.Ending {
	return bot.Ending{
		Accepted: row.ID, Session: mainSession, Epoch: epoch, Turn: "t1", How: bot.Answered, At: noon.Add(time.Minute),
		Entries: []bot.Entry{
			{Turn: "t1", Role: provider.User, Text: "hello", At: noon},
			{Turn: "t1", Role: provider.Assistant, Text: "hi", Model: modelB, At: noon.Add(time.Minute)},
		},
		Settle: &fallback.Settle{Session: mainSession, Told: toldOf(modelB), Model: modelB, Source: fallback.Auto},
		Notice: &channels.Outbound{ID: "t1-n", To: room("C1"), Kind: channels.Notice, Text: "moved"},
		Posts:  []channels.Outbound{reply("t1-r", "hi")},
	}
}

func sessionOf(t testing.TB, d *DB, s fallback.SessionID) bot.Session {
	t.Helper()
	v, err := d.Session(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func historyOf(t testing.TB, d *DB, s fallback.SessionID, epoch string, turns int) (texts string) {
	t.Helper()
	list, err := d.History(t.Context(), s, epoch, turns)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		texts += " " + e.Text
	}
	return strings.TrimSpace(texts)
}

func idsOf(list []bot.Delivery) (ids string) {
	for _, v := range list {
		ids += " " + v.ID
	}
	return strings.TrimSpace(ids)
}

// A message delivered twice by the platform is one row [I2].
func TestAMessageIsAcceptedOnce(t *testing.T) {
	d := open(t, t.TempDir())
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			row, isNew, err := d.Accept(t.Context(), hello("1"), mainSession, "main", noon)
			if err != nil || row.ID != 1 {
				t.Error(row.ID, err)
			}
			if isNew {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Errorf("fresh %d times", fresh.Load())
	}

	// Slack tells of a mention in a thread twice, as message and as app_mention.
	again := hello("1")
	again.To.Thread, again.Text = "T1", "other words"
	row, isNew, err := d.Accept(t.Context(), again, "agent:main:other", "main", noon.Add(time.Hour))
	want := bot.Accepted{ID: 1, In: hello("1"), Session: mainSession, Agent: "main", At: noon}
	if diff := cmp.Diff(want, row); diff != "" || isNew || err != nil {
		t.Error(isNew, err, diff)
	}
	elsewhere := hello("1")
	elsewhere.To.Conversation = "C2"
	if _, isNew, err := d.Accept(t.Context(), elsewhere, mainSession, "main", noon); !isNew || err != nil {
		t.Errorf("the same id in another conversation: %v %v", isNew, err)
	}
	if _, _, err := d.Accept(t.Context(), hello(""), mainSession, "main", noon); err == nil {
		t.Error("a message without an id was accepted")
	}
}

func TestAcceptMakesTheSession(t *testing.T) {
	d := open(t, t.TempDir())
	if got := sessionOf(t, d, mainSession); got.Epoch != "" {
		t.Errorf("before: %+v", got)
	}
	accept(t, d, hello("1"))
	got := sessionOf(t, d, mainSession)
	want := bot.Session{Key: mainSession, Agent: "main", Epoch: got.Epoch, StartedAt: noon, LastInteraction: noon, Route: room("C1")}
	if diff := cmp.Diff(want, got); diff != "" || got.Epoch == "" {
		t.Error(diff)
	}
	// Whether a session is stale is judged by what was said before this message.
	if _, _, err := d.Accept(t.Context(), hello("2"), mainSession, "main", noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, sessionOf(t, d, mainSession)); diff != "" {
		t.Error(diff)
	}
}

// The end of a turn is one transaction: fate, transcript, told pair with its
// notice first, posts, books [I1, I3].
func TestEnd(t *testing.T) {
	d := open(t, t.TempDir())
	row := accept(t, d, hello("1"))
	epoch := sessionOf(t, d, mainSession).Epoch
	if ok, err := d.Swap(t.Context(), mainSession, fallback.Selection{}, autoOf(modelB)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	e := answered(row, epoch)
	posted := end(t, d, e)
	if idsOf(posted) != "t1-n t1-r" || posted[1].State != bot.Pending || !posted[1].Created.Equal(e.At) || posted[1].Turn != "t1" {
		t.Errorf("posted %+v", posted)
	}
	if rows, err := d.Unended(t.Context()); err != nil || len(rows) != 0 {
		t.Errorf("unended: %v %v", rows, err)
	}
	got, err := d.History(t.Context(), mainSession, epoch, 10)
	if diff := cmp.Diff(e.Entries, got, cmpopts.IgnoreFields(bot.Entry{}, "Seq")); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got := selectionOf(t, d, mainSession).Told; got != toldOf(modelB) {
		t.Errorf("told %+v", got)
	}
	s := sessionOf(t, d, mainSession)
	if s.Turns != 1 || s.Aborted || !s.LastInteraction.Equal(e.At) {
		t.Errorf("books %+v", s)
	}

	// A second ending does nothing.
	e.Posts = []channels.Outbound{reply("t2-r", "again")}
	if posted, err := d.End(t.Context(), e); !errors.Is(err, bot.ErrEnded) || posted != nil {
		t.Errorf("second ending: %v %v", posted, err)
	}
	if all, _ := d.Owed(t.Context()); idsOf(all) != "t1-n t1-r" || sessionOf(t, d, mainSession).Turns != 1 {
		t.Errorf("the second ending left %s", idsOf(all))
	}
}

// Of an answer and a /stop that cross each other one ending counts.
func TestOneEndingCounts(t *testing.T) {
	d := open(t, t.TempDir())
	row := accept(t, d, hello("1"))
	var counted atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := d.End(t.Context(), bot.Ending{Accepted: row.ID, Session: mainSession, How: bot.Silent, Why: "aborted", At: noon})
			if err == nil {
				counted.Add(1)
			} else if !errors.Is(err, bot.ErrEnded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if counted.Load() != 1 {
		t.Errorf("%d endings counted", counted.Load())
	}
}

func TestNoticeIsWrittenOnlyWithItsChange(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*bot.Ending)
		stored fallback.Selection
		posted string
	}{
		"moved":                            {stored: autoOf(modelB), posted: "t1-n t1-r"},
		"told already":                     {stored: fallback.Selection{Model: modelB, Source: fallback.Auto, Origin: modelA, Told: toldOf(modelB)}, posted: "t1-r"},
		"the user chose meanwhile":         {stored: fallback.Selection{Model: modelC, Source: fallback.ByUser}, posted: "t1-r"},
		"the same model, now the user's":   {stored: fallback.Selection{Model: modelB, Source: fallback.ByUser}, posted: "t1-r"},
		"only the reason moves":            {stored: autoOf(modelB), posted: "t1-r", change: func(e *bot.Ending) { e.Settle.Quiet = true }},
		"the room is not concerned":        {stored: autoOf(modelB), posted: "t1-r", change: func(e *bot.Ending) { e.Settle = nil }},
		"nothing to say":                   {stored: autoOf(modelB), posted: "t1-r", change: func(e *bot.Ending) { e.Notice = nil }},
		"a free session without a row":     {posted: "t1-n t1-r", change: func(e *bot.Ending) { e.Settle.Model, e.Settle.Source = fallback.Model{}, "" }},
		"cleared, but there was no notice": {posted: "t1-r", change: func(e *bot.Ending) { e.Settle = &fallback.Settle{Session: mainSession} }},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			row := accept(t, d, hello("1"))
			if c.stored != (fallback.Selection{}) {
				if ok, err := d.Swap(t.Context(), mainSession, fallback.Selection{}, c.stored); !ok || err != nil {
					t.Fatal(ok, err)
				}
			}
			e := answered(row, sessionOf(t, d, mainSession).Epoch)
			if c.change != nil {
				c.change(&e)
			}
			if got := idsOf(end(t, d, e)); got != c.posted {
				t.Errorf("posted %q, want %q", got, c.posted)
			}
		})
	}
}

// A turn that /new overtook posts its answer, but neither counts in the new
// epoch nor leaves entries there.
func TestAnOvertakenTurn(t *testing.T) {
	d := open(t, t.TempDir())
	row := accept(t, d, hello("1"))
	old := sessionOf(t, d, mainSession).Epoch
	end(t, d, bot.Ending{Session: mainSession, How: bot.Commanded, Epoch: old, At: noon, Renew: &bot.Renewal{Session: mainSession, Epoch: "new"}})
	e := answered(row, old)
	e.Aborted = true
	if got := idsOf(end(t, d, e)); got != "t1-r" {
		t.Errorf("posted %q", got)
	}
	if s := sessionOf(t, d, mainSession); s.Turns != 0 || s.Aborted || s.Epoch != "new" {
		t.Errorf("books %+v", s)
	}
	if got := historyOf(t, d, mainSession, "new", 10) + historyOf(t, d, mainSession, old, 10); got != "" {
		t.Errorf("history %q", got)
	}
}

// Which endings count as turns, and what they do to the books.
func TestBooks(t *testing.T) {
	entries := []bot.Entry{{Role: provider.User, Text: "x", At: noon}}
	for name, c := range map[string]struct {
		e       bot.Ending
		turns   int
		aborted bool
		heard   bool
	}{
		"an answer":                         {bot.Ending{How: bot.Answered}, 1, false, true},
		"a failure":                         {bot.Ending{How: bot.Failed}, 1, false, true},
		"a command leaves the abort mark":   {bot.Ending{How: bot.Commanded}, 0, true, true},
		"a message that is passed over":     {bot.Ending{How: bot.Silent}, 0, true, true},
		"a silent answer":                   {bot.Ending{How: bot.Silent, Entries: entries}, 1, false, true},
		"an aborted run":                    {bot.Ending{How: bot.Silent, Aborted: true}, 0, true, true},
		"a run that no person started [S8]": {bot.Ending{How: bot.Answered, Background: true}, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, t.TempDir())
			row := bot.Session{Key: mainSession, Epoch: "e1", LastInteraction: noon, Aborted: true, Route: room("C1")}
			if err := d.PutSession(t.Context(), SessionState{Session: row}); err != nil {
				t.Fatal(err)
			}
			c.e.Session, c.e.Epoch, c.e.At = mainSession, "e1", noon.Add(time.Minute)
			end(t, d, c.e)
			s := sessionOf(t, d, mainSession)
			if s.Turns != c.turns || s.Aborted != c.aborted || s.LastInteraction.After(noon) != c.heard || s.Route != room("C1") {
				t.Errorf("books %+v", s)
			}
		})
	}
}

// The first run of a session that no message began, such as a job's.
func TestABackgroundRunMakesItsSession(t *testing.T) {
	d := open(t, t.TempDir())
	const job fallback.SessionID = "agent:ops:cron:nightly"
	e := bot.Ending{Session: job, How: bot.Answered, Background: true, At: noon, Entries: []bot.Entry{{Role: provider.Assistant, Text: "done", At: noon}}}
	end(t, d, e)
	s := sessionOf(t, d, job)
	want := bot.Session{Key: job, Agent: "ops", Epoch: s.Epoch, StartedAt: noon, Turns: 1}
	if diff := cmp.Diff(want, s); diff != "" || s.Epoch == "" {
		t.Error(diff)
	}
	if got := historyOf(t, d, job, s.Epoch, 1); got != "done" {
		t.Errorf("history %q", got)
	}
}

func TestTheRouteFollowsTheLastMessage(t *testing.T) {
	d := open(t, t.TempDir())
	accept(t, d, hello("1"))
	in := hello("2")
	in.To = channels.Address{Channel: "discord", Account: "b", Conversation: "D9", Thread: "T"}
	row := accept(t, d, in)
	end(t, d, bot.Ending{Accepted: row.ID, Session: mainSession, How: bot.Silent, At: noon})
	if got := sessionOf(t, d, mainSession).Route; got != in.To {
		t.Errorf("route %+v", got)
	}
}

// The history holds at most so many user entries and starts with one of them [S17].
func TestHistory(t *testing.T) {
	d := open(t, t.TempDir())
	if err := d.PutSession(t.Context(), SessionState{Session: bot.Session{Key: mainSession, Epoch: "e1"}}); err != nil {
		t.Fatal(err)
	}
	said := func(epoch, user, assistant string) {
		end(t, d, bot.Ending{Session: mainSession, Epoch: epoch, How: bot.Answered, At: noon, Entries: []bot.Entry{
			{Role: provider.User, Text: user, At: noon}, {Role: provider.Assistant, Text: assistant, At: noon}}})
	}
	for _, n := range []string{"1", "2", "3"} {
		said("e1", "u"+n, "a"+n)
	}
	for turns, want := range map[int]string{0: "", 1: "u3 a3", 2: "u2 a2 u3 a3", 3: "u1 a1 u2 a2 u3 a3", 99: "u1 a1 u2 a2 u3 a3"} {
		if got := historyOf(t, d, mainSession, "e1", turns); got != want {
			t.Errorf("%d turns: %q, want %q", turns, got, want)
		}
	}
	if got := historyOf(t, d, mainSession, "e2", 9) + historyOf(t, d, "agent:other:main", "e1", 9); got != "" {
		t.Errorf("another epoch or session: %q", got)
	}
}

func TestCompactions(t *testing.T) {
	d := open(t, t.TempDir())
	accept(t, d, hello("1"))
	for _, epoch := range []string{sessionOf(t, d, mainSession).Epoch, "older"} {
		if err := d.Compacted(t.Context(), mainSession, epoch); err != nil {
			t.Fatal(err)
		}
	}
	if got := sessionOf(t, d, mainSession).Compactions; got != 1 {
		t.Errorf("counted %d", got)
	}
}

// A user's choice is written as it is given, over whatever is there [M8].
func TestChoice(t *testing.T) {
	d := open(t, t.TempDir())
	row := accept(t, d, hello("1"))
	stored := autoOf(modelB)
	stored.Told = toldOf(modelB)
	if ok, err := d.Swap(t.Context(), mainSession, fallback.Selection{}, stored); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := fallback.Selection{Model: modelC, Source: fallback.ByUser, Pending: true, Since: noon}
	end(t, d, bot.Ending{Accepted: row.ID, Session: mainSession, How: bot.Commanded, At: noon, Choose: &bot.Choice{Session: mainSession, Now: want}})
	if diff := cmp.Diff(want, selectionOf(t, d, mainSession)); diff != "" {
		t.Error(diff)
	}
}
