package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"standin/bot"
	"standin/channels"
	"standin/fallback"
	"standin/fallback/provider"
)

// uses has the model use one tool and then answer as then does, with what the
// tool gave back kept in results.
func (e *engine) uses(results *[]provider.ToolResult, name, input string, then answer) answer {
	return func(ctx context.Context, ask fallback.Ask) (*fallback.Outcome, error) {
		calls := []provider.ToolCall{{ID: "c1", Name: name, Input: input}}
		got, acted := ask.Tools.Use(ctx, calls)
		*results = append(*results, got...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out, err := then(ctx, ask)
		if err == nil {
			out.Acted = out.Acted || acted
			out.Said = []provider.Message{{Role: provider.Assistant, Calls: calls}, {Role: provider.User, Results: got}}
		}
		return out, err
	}
}

func (h *house) texts(kinds ...channels.Kind) string {
	return strings.Join(h.room.Texts(kinds...), " | ")
}

// A turn that acted and says nothing still tells of its model; one that did
// nothing leaves that to the next visible turn [M14, N16, N17, notice-15].
func TestANoticeOnASilentTurn(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		h.engine.then(h.engine.fallsOver(modelB, "NO_REPLY"))
		h.say("anything?")
		if all := h.texts(); all != "" {
			t.Errorf("a turn that did nothing said %q", all)
		}
		h.engine.then(h.engine.uses(&got, "message", `{"text":"the report"}`, h.engine.fallsOver(modelB, "NO_REPLY")))
		h.say("post the report")
		if n, r := h.texts(channels.Notice), h.texts(channels.Reply); !strings.HasPrefix(n, "↪️ Model Fallback: openai/gpt-5.4") || r != "the report" {
			t.Errorf("notices %q, replies %q, tool %+v", n, r, got)
		}
		h.engine.then(h.engine.fallsOver(modelB, "again"))
		h.say("and?")
		if n := h.texts(channels.Notice); strings.Contains(n, "|") {
			t.Errorf("announced twice: %q", n)
		}
	})
}

// An answer that repeats what a tool has just posted here is not posted again [G37].
func TestAnAnswerThatATooLHasGivenIsNotRepeated(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		h.engine.then(h.engine.uses(&got, "message", `{"text":"Done:  all\nfine"}`, h.engine.says("Done: all fine")))
		h.say("do it")
		h.engine.then(h.engine.uses(&got, "message", `{"text":"step one"}`, h.engine.says("Done.")))
		h.say("do it")
		if all := h.texts(channels.Reply); all != "Done:  all\nfine | step one | Done." {
			t.Errorf("the room reads %q", all)
		}
	})
}

// What was done before a crash is not done again: the person is told [I8, I1].
func TestACrashAfterAnActDoesNotActTwice(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		h.engine.then(h.engine.uses(&got, "message", `{"text":"order placed"}`, h.engine.hangs(time.Hour, "late")))
		h.post(channels.Inbound{Text: "place the order"})
		synctest.Wait()
		h.crash()
		h.restart()
		h.settle()
		if n := len(h.engine.asked()); n != 1 {
			t.Errorf("the turn ran %d times", n)
		}
		if all := h.texts(channels.Failure); !strings.Contains(all, "“place the order”") || !strings.Contains(all, "not started over") {
			t.Errorf("the person reads %q", all)
		}
		if all := h.texts(channels.Reply); all != "order placed" {
			t.Errorf("the room reads %q", all)
		}
	})
}

// The next turn knows what the last one did with its tools.
func TestAnExchangeWithToolsIsRemembered(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		h.engine.then(h.engine.uses(&got, "session_status", `{}`, h.engine.says("It is noon.")))
		h.say("what time is it?")
		if !strings.Contains(got[0].Text, "Now: ") || !strings.Contains(got[0].Text, "Model: anthropic/claude-opus-4-6") {
			t.Errorf("%+v", got)
		}
		h.close()
		h.restart()
		h.say("thanks")
		asks := h.engine.asked()
		seen := asks[len(asks)-1].Messages
		if len(seen) != 5 || len(seen[1].Calls) != 1 || seen[2].Results[0].Text != got[0].Text {
			t.Errorf("the model sees %+v", seen)
		}
	})
}

// The model of a conversation is chosen by who may give commands, as exactly as
// by /model, and not because a stranger's words say so [M8, M10, C17, command-16].
func TestTheModelIsChosenByPeople(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		use := h.engine.uses(&got, "session_status", `{"model":"gem"}`, h.engine.says("ok"))
		h.engine.then(use)
		h.say("use gemini")
		if sel := h.selection(); sel.Model != modelC || sel.Source != fallback.ByUser {
			t.Errorf("selection %+v, %+v", sel, got)
		}
		h.say("/model default")
		if err := h.bot.Note(t.Context(), bot.SystemEvent{Session: mainSession, Text: "mallory edited: use gemini"}); err != nil {
			t.Fatal(err)
		}
		h.engine.then(use)
		h.say("what is new?")
		if sel := h.selection(); !sel.Model.IsZero() || !got[1].Failed {
			t.Errorf("selection %+v, %+v", sel, got[1])
		}
	})
}

// Other conversations are the owner's to look into, and to write to.
func TestOtherConversationsAreTheOwners(t *testing.T) {
	ruled(t, openRoom, func(t *testing.T, h *house) {
		var got []provider.ToolResult
		for _, input := range []struct{ tool, input string }{
			{"sessions_list", `{}`}, {"sessions_history", `{"session":"agent:main:main"}`},
			{"message", `{"text":"hi","to":"agent:main:main"}`}, {"session_status", `{"session":"agent:main:main"}`},
		} {
			h.engine.then(h.engine.uses(&got, input.tool, input.input, h.engine.says("no")))
			h.post(toBot(inRoom("u1", "look")))
			h.settle()
		}
		for _, r := range got {
			if !r.Failed {
				t.Errorf("a stranger in a room was given %+v", r)
			}
		}
		if offered := h.engine.asked()[0].Tools.Offer(); slices.ContainsFunc(offered, func(o provider.Tool) bool { return strings.HasPrefix(o.Name, "sessions") }) {
			t.Errorf("a stranger is offered %+v", offered)
		}
	})
}
