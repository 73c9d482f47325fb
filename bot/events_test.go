package bot_test

import (
	"context"
	"strings"
	"testing"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// What happened is told once, with the next turn that reaches a model; it
// survives a restart and a turn that failed [R26, R54].
func TestASystemEventIsToldWithTheNextTurn(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		note := func(key, text string) {
			t.Helper()
			if err := h.bot.Note(t.Context(), bot.SystemEvent{Session: mainSession, Key: key, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		note("", "alice edited a message")
		note("job", "the report is late")
		note("job", "the report is [here]")
		h.engine.then(fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
		h.say("hello")
		h.close()
		h.restart()
		h.say("again")
		told := h.engine.last()
		if !strings.Contains(told, "alice edited a message\n") || !strings.Contains(told, "the report is (here)\n\nagain") || strings.Contains(told, "late") {
			t.Errorf("the model was told %q", told)
		}
		h.say("and now?")
		if h.engine.last() != "and now?" {
			t.Errorf("told again: %q", h.engine.last())
		}
	})
}

// Of many events the latest are told.
func TestSystemEventsAreBounded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		for range 30 {
			if err := h.bot.Note(t.Context(), bot.SystemEvent{Session: mainSession, Text: "a reaction"}); err != nil {
				t.Fatal(err)
			}
		}
		h.say("hello")
		if n := strings.Count(h.engine.last(), "a reaction"); n != 20 {
			t.Errorf("%d events were told, want 20", n)
		}
	})
}

// A background run's answer is what its caller makes of it: posted under the
// caller's id once, or forgotten [R52, H7, H16].
func TestABackgroundAnswerIsJudged(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		turn := bot.Turn{ID: "beat-1", Session: mainSession, Agent: "main", Kind: fallback.Heartbeat, Text: "beat",
			To:    channels.Address{Channel: "room", Conversation: "dm"},
			Judge: func(r bot.Result) bot.Verdict { return bot.Verdict{Text: "judged: " + r.Text} }}
		for range 2 { // the second one after a crash that nobody saw
			res, err := h.bot.Turn(t.Context(), turn)
			if err != nil {
				t.Fatal(err)
			}
			if res.Posted != "beat-1-r" {
				t.Errorf("posted as %q", res.Posted)
			}
		}
		h.settle()
		if n := len(h.room.Posted()); n != 1 {
			t.Errorf("%d posts, want one: the same run is posted once", n)
		}
		turn.ID, turn.Judge = "beat-2", func(bot.Result) bot.Verdict { return bot.Verdict{Why: "nothing to say", Forget: true} }
		before := len(h.entries())
		res, err := h.bot.Turn(t.Context(), turn)
		if err != nil || res.Why != "nothing to say" || res.Posted != "" {
			t.Errorf("%+v, %v", res, err)
		}
		if now := len(h.entries()); now != before {
			t.Errorf("a forgotten exchange left %d entries", now-before)
		}
	})
}

// entries is the main session's transcript.
func (h *house) entries() []bot.Entry {
	h.t.Helper()
	sess, err := h.db.Session(h.t.Context(), mainSession)
	if err != nil {
		h.t.Fatal(err)
	}
	all, err := h.db.History(h.t.Context(), mainSession, sess.Epoch, 50)
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}

// What a failed run's tools have done is known to the session's next turn [I8].
func TestAFailedRunsDeedsAreRemembered(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		said := []provider.Message{{Role: provider.Assistant, Calls: []provider.ToolCall{{ID: "c", Name: "message", Input: "{}"}}},
			{Role: provider.User, Results: []provider.ToolResult{{ID: "c", Name: "message", Text: "sent"}}}}
		h.engine.then(func(context.Context, fallback.Ask) (*fallback.Outcome, error) {
			return nil, &fallback.SummaryError{Attempts: []fallback.Attempt{{Model: modelA, Reason: fallback.Timeout}}, Said: said, Acted: true}
		}, fails(fallback.Plan{}, fallback.Attempt{Model: modelA, Reason: fallback.RateLimit}))
		for range 2 {
			if _, err := h.bot.Turn(t.Context(), bot.Turn{Session: mainSession, Agent: "main", Kind: fallback.Cron, Text: "order tea"}); err == nil {
				t.Fatal("no failure")
			}
		}
		if all := h.entries(); len(all) != 4 || all[0].Text != "order tea" || len(all[2].Results) != 1 || !strings.Contains(all[3].Text, "cut off") {
			t.Errorf("the session knows %+v", all)
		}
	})
}
