package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"standin/fallback"
	"standin/fallback/provider"
)

// narrow gives the primary a window of so many tokens.
func narrow(h *house, window int64) {
	h.cfg.Fallback.Facts = map[fallback.Model]provider.Facts{modelA: {Window: window}}
	h.cfg.Tools.On = false
}

// long is an answer or a question of n tokens.
func long(word string, n int) string { return strings.Repeat(word+" ", n*4/(len(word)+1)) }

// sums has every compaction give a summary, and other asks answered by then, "" an echo.
func (h *house) sums(then func(ask fallback.Ask) (*fallback.Outcome, error)) {
	h.engine.every = func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		if ask.Kind == fallback.Compaction {
			return &fallback.Outcome{Reply: provider.Reply{Text: "SUMMARY"}, Used: modelA}, nil
		}
		if then != nil {
			if out, err := then(ask); out != nil || err != nil {
				return out, err
			}
		}
		return h.engine.says("fine")(ctx, ask)
	}
}

func tokensOf(ask fallback.Ask) (n int) {
	for _, m := range ask.Messages {
		n += len(m.Text)/4 + 1
	}
	return n
}

// A conversation is summed up before its model's window is full: no ask goes
// beyond it, the latest stays word for word, and the count rises [S19, S22].
func TestAConversationIsSummedUpInTime(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		narrow(h, 8000)
		h.sums(nil)
		compactions := 0
		for i := range 40 {
			h.say(fmt.Sprintf("question %d %s", i, long("word", 400)))
		}
		for _, ask := range h.engine.asked() {
			if n := tokensOf(ask); n > 6000 {
				t.Errorf("an ask of %d tokens went out (%s)", n, ask.Kind)
			}
			if ask.Kind == fallback.Compaction {
				compactions++
				continue
			}
			if compactions > 0 && !strings.Contains(ask.Messages[0].Text, "SUMMARY") {
				t.Errorf("the summary is missing: %.80q", ask.Messages[0].Text)
			}
		}
		sess, _ := h.db.Session(t.Context(), mainSession)
		if compactions < 2 || sess.Compactions != compactions {
			t.Errorf("%d compactions, the session counts %d", compactions, sess.Compactions)
		}
		last := h.engine.asked()[len(h.engine.asked())-1]
		if !strings.Contains(fmt.Sprint(last.Messages), "question 38 ") {
			t.Error("the question before the last is gone")
		}
	})
}

// What a vendor finds too long is summed up more tightly and asked again; the
// same candidates are asked, and nobody is told [D10].
func TestAnOverflowIsShortenedAndAskedAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		narrow(h, 0) // nobody knows the window
		h.sums(func(ask fallback.Ask) (*fallback.Outcome, error) {
			if tokensOf(ask) > 3000 {
				return nil, &fallback.SummaryError{Attempts: []fallback.Attempt{
					{Model: modelA, Reason: fallback.RateLimit}, {Model: modelB, Reason: fallback.ContextOverflow}}}
			}
			return nil, nil
		})
		for i := range 30 {
			h.say(fmt.Sprintf("question %d %s", i, long("word", 300)))
		}
		if all := h.texts("failure"); all != "" {
			t.Errorf("the person reads %q", all)
		}
		if n := len(h.room.Texts("reply")); n != 30 {
			t.Errorf("%d answers", n)
		}
	})
}

// A summary that cannot be had does not cost the answer: the beginning is left
// out for once. A question that is too long by itself is told.
func TestWithoutASummaryTheBeginningIsLeftOut(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		narrow(h, 4000)
		h.engine.every = func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
			if ask.Kind == fallback.Compaction || tokensOf(ask) > 4000 {
				return nil, &fallback.SummaryError{Attempts: []fallback.Attempt{{Model: modelA, Reason: fallback.ContextOverflow}}}
			}
			return h.engine.says("fine")(ctx, ask)
		}
		for range 20 {
			h.say(long("word", 500))
		}
		if n := len(h.room.Texts("reply")); n != 20 {
			t.Errorf("%d answers, failures %q", n, h.texts("failure"))
		}
		h.say(long("word", 9000))
		if all := h.texts("failure"); !strings.Contains(all, "too long") {
			t.Errorf("the person reads %q", all)
		}
	})
}

// compaction.model is exact; without it the session's own chain sums up, and a
// call of a tool is never parted from its result [S19, S20].
func TestWhoSumsUp(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		narrow(h, 8000)
		h.cfg.CompactionModel = modelC
		h.sums(nil)
		h.cfg.Compaction.Notify = true
		for range 20 {
			h.say(long("word", 500))
		}
		if told := h.room.Texts("notice"); len(told) == 0 || !strings.Contains(told[0], "summed up its beginning") {
			t.Errorf("the room was told %q", told)
		}
		for _, ask := range h.engine.asked() {
			if ask.Kind == fallback.Compaction && (ask.Model != modelC || !ask.OneOff) {
				t.Errorf("%+v", ask.Model)
			}
		}
	})
}

// /compact sums up at once and says what that came to; what a person wants it to
// look at goes along. With nothing to sum up it says so [C14].
func TestCompactByCommand(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.sums(nil)
		h.say("/compact")
		for i := range 12 {
			h.say(fmt.Sprintf("question %d %s", i, long("word", 300)))
		}
		h.say("/compact the prices")
		answers := h.room.Texts("command")
		if len(answers) != 2 || !strings.HasPrefix(answers[0], "There is nothing to sum up") || !strings.Contains(answers[1], "tokens before, ") {
			t.Errorf("%q", answers)
		}
		asks := h.engine.asked()
		if last := asks[len(asks)-1]; last.Kind != fallback.Compaction || !strings.Contains(last.System, "above all: the prices") {
			t.Errorf("%s %q", last.Kind, last.System)
		}
		h.say("and now?")
		asks = h.engine.asked()
		if n := tokensOf(asks[len(asks)-1]); n > 1500 {
			t.Errorf("the next turn shows %d tokens", n)
		}
	})
}
